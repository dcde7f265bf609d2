"""Soft labels in the Trainer of Hugging Face: its loss is ours, whatever the parts, and never BCE."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from sfumato.errors import InputError, OptionError
from sfumato.evaluate import compute_metrics, soft_cross_entropy_loss
from sfumato.train import SoftLabelCollator, losses, trainer_loss

transformers = pytest.importorskip("transformers")

RNG = np.random.default_rng(0)
K = 3
TEXTS = [RNG.integers(5, 40, RNG.integers(3, 9)).tolist() for _ in range(16)]
PEOPLE = RNG.dirichlet(np.ones(K), 16)


def pad(features: list[dict[str, Any]]) -> dict[str, Any]:
    """Pad as a tokenizer does, without one."""
    length = max(len(feature["input_ids"]) for feature in features)
    ids = torch.zeros(len(features), length, dtype=torch.int64)
    for place, feature in enumerate(features):
        ids[place, : len(feature["input_ids"])] = torch.tensor(feature["input_ids"])
    return {"input_ids": ids, "attention_mask": (ids > 0).long()}


def model(tokens: bool = False, dropout: float = 0.0) -> Any:
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
        max_position_embeddings=16, num_labels=K, hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout,
    )  # fmt: skip
    kind = transformers.BertForTokenClassification if tokens else transformers.BertForSequenceClassification
    return kind(config)


def trainer(tmp_path: Path, data: list[dict[str, Any]], one: Any, **arguments: Any) -> Any:
    settings = {
        "output_dir": str(tmp_path), "report_to": [], "use_cpu": True, "save_strategy": "no", "max_grad_norm": 0.0,
        "num_train_epochs": 1, "per_device_train_batch_size": 8, "learning_rate": 0.05, "optim": "sgd",
        "lr_scheduler_type": "constant", "logging_steps": 1, "disable_tqdm": True, "dataloader_pin_memory": False,
        **arguments,
    }  # fmt: skip
    return transformers.Trainer(
        model=one, args=transformers.TrainingArguments(**settings), train_dataset=data, eval_dataset=data,
        data_collator=SoftLabelCollator(pad), compute_loss_func=trainer_loss(),
        compute_metrics=compute_metrics(["soft_cross_entropy_loss"]),
    )  # fmt: skip


ITEMS = [{"input_ids": text, "labels": row.tolist()} for text, row in zip(TEXTS, PEOPLE, strict=True)]


@pytest.fixture(autouse=True)
def _quiet() -> None:
    transformers.utils.logging.set_verbosity_error()


def test_it_trains_and_evaluates_the_soft_cross_entropy(tmp_path: Path) -> None:
    one = model()
    with torch.no_grad():
        logits = one(**pad(ITEMS)).logits
    expected = losses.soft_cross_entropy_loss(logits, torch.tensor(PEOPLE).float()).item()
    ours = trainer(tmp_path, ITEMS, one, per_device_train_batch_size=16)
    before = ours.evaluate()
    assert before["eval_loss"] == pytest.approx(expected, rel=1e-5)
    assert before["eval_soft_cross_entropy_loss"] == pytest.approx(expected, rel=1e-5)
    ours.train()
    (first, *_) = [record["loss"] for record in ours.state.log_history if "loss" in record]
    assert first == pytest.approx(expected, abs=1e-4)
    assert ours.evaluate()["eval_loss"] < expected
    # What the model would have done with such labels, had it been given them.
    bce = model()(**pad(ITEMS), labels=torch.tensor(PEOPLE).float()).loss.item()
    assert abs(bce - expected) > 0.1
    assert one.config.problem_type is None


def test_parts_of_a_step_make_the_same_step(tmp_path: Path) -> None:
    weights = []
    for size, parts in ((16, 1), (2, 8)):
        one = model()
        trainer(tmp_path, ITEMS, one, per_device_train_batch_size=size, gradient_accumulation_steps=parts).train()
        weights.append(torch.cat([parameter.detach().flatten() for parameter in one.parameters()]))
    torch.testing.assert_close(*weights, rtol=1e-4, atol=1e-6)
    start = torch.cat([parameter.detach().flatten() for parameter in model().parameters()])
    assert float((weights[0] - start).abs().max()) > 1e-3


def test_tokens_without_a_label_count_for_nothing(tmp_path: Path) -> None:
    soft = [RNG.dirichlet(np.ones(K), len(text)).tolist() for text in TEXTS]
    for row in soft:
        row[0] = None
    data = [{"input_ids": text, "labels": row} for text, row in zip(TEXTS, soft, strict=True)]
    one = model(tokens=True)
    with torch.no_grad():
        logits = one(**pad(data)).logits.double()
    predicted = [logits[i, j].softmax(-1) for i, row in enumerate(soft) for j, p in enumerate(row) if p is not None]
    people = [p for row in soft for p in row if p is not None]
    expected = soft_cross_entropy_loss(torch.stack(predicted).numpy(), people)
    found = trainer(tmp_path, data, one).evaluate()
    assert found["eval_soft_cross_entropy_loss"] == pytest.approx(expected, rel=1e-5)
    losses_of_parts = []
    for size, parts in ((16, 1), (4, 4)):
        ours = trainer(
            tmp_path, data, model(tokens=True), per_device_train_batch_size=size, gradient_accumulation_steps=parts
        )
        ours.train()
        losses_of_parts += [record["loss"] for record in ours.state.log_history if "loss" in record]
    assert losses_of_parts == pytest.approx([expected, expected], abs=2e-4)


class PadsLeft:
    """Pads as a tokenizer with padding_side="left" does."""

    def __init__(self, masked: bool) -> None:
        self.masked = masked
        self.tokenizer = SimpleNamespace(padding_side="left")

    def __call__(self, features: list[dict[str, Any]]) -> dict[str, Any]:
        length = max(len(feature["input_ids"]) for feature in features)
        rows = [[0] * (length - len(f["input_ids"])) + list(f["input_ids"]) for f in features]
        ids = torch.tensor(rows)
        return {"input_ids": ids, **({"attention_mask": (ids > 0).long()} if self.masked else {})}


@pytest.mark.parametrize("masked", [True, False])
def test_labels_of_tokens_lie_on_their_tokens_on_whichever_side_is_padded(masked: bool) -> None:
    data = [
        {"input_ids": [5, 6, 7], "labels": [None, [1.0, 0.0], [0.5, 0.5]]},
        {"input_ids": [8], "labels": [[0.25, 0.75]]},
    ]
    batch = SoftLabelCollator(PadsLeft(masked))(data)
    assert batch["labels"][1].tolist() == [[-100, -100], [-100, -100], [0.25, 0.75]]
    assert batch["labels"][0].tolist() == [[-100, -100], [1, 0], [0.5, 0.5]]
    right = SoftLabelCollator(pad)(data)
    assert right["labels"][1].tolist() == [[0.25, 0.75], [-100, -100], [-100, -100]]
    # Items may come padded already: each place has a label then.
    whole = SoftLabelCollator(pad)([{"input_ids": [0, 5], "labels": [None, [1.0, 0.0]]}, data[1]])
    assert whole["labels"].tolist() == [[[-100, -100], [1, 0]], [[0.25, 0.75], [-100, -100]]]


@pytest.mark.parametrize("n_labels", [1, 3, 9])
def test_tokens_and_their_labels_are_as_many(n_labels: int) -> None:
    data = [
        {"input_ids": [5, 6, 7, 8], "labels": [[0.5, 0.5]] * 4},
        {"input_ids": [5, 6], "labels": [[1, 0]] * n_labels},
    ]
    with pytest.raises(InputError, match=rf"Item 2 of this batch has 2 tokens and {n_labels} soft labels"):
        SoftLabelCollator(pad)(data)


def test_classes_and_other_losses_work_too() -> None:
    logits = torch.tensor(RNG.normal(size=(4, K))).float()
    outputs, gold = {"logits": logits}, torch.tensor([0, 2, -100, 1])
    found = trainer_loss("hard_cross_entropy")(outputs, gold)
    torch.testing.assert_close(found, torch.nn.functional.cross_entropy(logits, gold))
    found = trainer_loss("hard_cross_entropy")(outputs, gold, num_items_in_batch=torch.tensor(3))
    torch.testing.assert_close(found, torch.nn.functional.cross_entropy(logits, gold))
    soft = torch.tensor(PEOPLE[:4]).float()
    found = trainer_loss("kl", direction="inverse")(outputs, soft, num_items_in_batch=4 * K)
    torch.testing.assert_close(found, losses.kl_loss(logits, soft, direction="inverse"))


def test_what_cannot_be_used_is_said() -> None:
    with pytest.raises(OptionError, match="'loss' must be one of soft_cross_entropy, kl"):
        trainer_loss("crowd_layer")
    with pytest.raises(InputError, match="The batch has no 'labels'"):
        trainer_loss()({"logits": torch.zeros(1, K)}, None)
    with pytest.raises(InputError, match=r"Item 2 of this batch has no 'labels'\. It has: input_ids"):
        SoftLabelCollator(pad)([ITEMS[0], {"input_ids": [1]}])
    with pytest.raises(InputError, match=r"as many classes each. Got \[2, 3\]"):
        SoftLabelCollator(pad)([ITEMS[0], {"input_ids": [1], "labels": [0.5, 0.5]}])
