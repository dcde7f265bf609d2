"""Attacks: equal to the formula where the gradient is known, never outside their bounds, and harmless to the model."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from sfumato import SoftLabels, evaluate
from sfumato.core.simplex import softmax
from sfumato.errors import InputError, OptionError

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(0)
WEIGHT = RNG.normal(size=(12, 3))
PIXELS = RNG.random((40, 3, 2, 2))
PEOPLE = RNG.dirichlet(np.ones(3), 40)
GOLD = PEOPLE.argmax(axis=1)
EPSILON = 4 / 255


class Linear(torch.nn.Module):
    """Logits that are a product, so that the gradient of its loss is known: (q − p) Wᵀ."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.tensor(WEIGHT))
        self.dropout = torch.nn.Dropout(0.5)
        self.seen: list[Any] = []

    def forward(self, x: Any) -> Any:
        self.seen.append(x.detach())
        return self.dropout(x).flatten(start_dim=1) @ self.weight


def by_hand(x: Any, p: Any, epsilon: float = EPSILON) -> Any:
    flat = x.reshape(len(x), -1)
    gradient = (softmax(flat @ WEIGHT) - p) @ WEIGHT.T
    return np.clip(flat + epsilon * np.sign(gradient), 0, 1) @ WEIGHT


def test_fgsm_is_its_formula() -> None:
    logits = evaluate.attacked_logits(Linear(), PIXELS, PEOPLE, batch_size=7)
    np.testing.assert_allclose(logits, by_hand(PIXELS, PEOPLE), rtol=1e-12)
    expected = evaluate.soft_cross_entropy_loss(softmax(by_hand(PIXELS, PEOPLE)), PEOPLE)
    assert evaluate.fgsm_loss(Linear(), PIXELS, PEOPLE) == pytest.approx(expected, rel=1e-12)
    named = SoftLabels(PEOPLE, items=[str(i) for i in range(40)], classes=["a", "b", "c"])
    assert evaluate.fgsm_loss(Linear(), PIXELS, named) == pytest.approx(expected, rel=1e-12)


def test_classes_are_soft_labels_that_are_certain() -> None:
    certain = np.eye(3)[GOLD]
    one = evaluate.fgsm_loss(Linear(), PIXELS, GOLD)
    assert one == pytest.approx(evaluate.fgsm_loss(Linear(), PIXELS, certain), rel=1e-12)
    expected = (by_hand(PIXELS, certain).argmax(axis=1) == GOLD).mean()
    assert evaluate.fgsm_accuracy_score(Linear(), PIXELS, GOLD) == expected
    against_people = (by_hand(PIXELS, PEOPLE).argmax(axis=1) == GOLD).mean()
    assert evaluate.fgsm_accuracy_score(Linear(), PIXELS, GOLD, people=PEOPLE) == against_people


def test_more_steps_are_worse_for_the_model() -> None:
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Flatten(), torch.nn.Linear(12, 30), torch.nn.ReLU(), torch.nn.Linear(30, 3)
    ).double()
    clean = evaluate.fgsm_loss(model, PIXELS, PEOPLE, epsilon=0.0)
    fgsm = evaluate.fgsm_loss(model, PIXELS, PEOPLE, epsilon=0.3)
    pgd = evaluate.pgd_loss(model, PIXELS, PEOPLE, epsilon=0.3, n_steps=40)
    assert clean == pytest.approx(
        evaluate.soft_cross_entropy_loss(softmax(model(torch.tensor(PIXELS)).detach()), PEOPLE)
    )
    assert clean < fgsm < pgd


def test_on_a_line_between_two_classes_both_attacks_end_in_one_corner() -> None:
    weight = torch.tensor(WEIGHT[:, :2])

    def model(x: Any) -> Any:
        return x.flatten(start_dim=1) @ weight

    gold = (PEOPLE[:, 0] > 0.5).astype(int)
    one = evaluate.attacked_logits(model, PIXELS, gold)
    far = evaluate.attacked_logits(model, PIXELS, gold, attack="pgd", n_steps=50)
    np.testing.assert_allclose(far, one, rtol=1e-9)
    scores = [
        score(model, PIXELS, gold, epsilon=0.05)
        for score in (evaluate.fgsm_accuracy_score, evaluate.pgd_accuracy_score)
    ]
    assert scores[0] == scores[1]
    assert 0 < scores[0] < 1


@pytest.mark.parametrize("attack", ["fgsm", "pgd"])
def test_nothing_moves_farther_than_epsilon_or_out_of_bounds(attack: Any) -> None:
    model = Linear()
    evaluate.attacked_logits(model, PIXELS, PEOPLE, attack=attack, epsilon=0.1)
    moved = torch.stack(model.seen)
    assert float((moved - torch.tensor(PIXELS)).abs().max()) <= 0.1 + 1e-12
    assert float(moved.min()) >= 0
    assert float(moved.max()) <= 1
    assert float((model.seen[-1] - torch.tensor(PIXELS)).abs().max()) > 0.09
    free = Linear()
    evaluate.attacked_logits(free, PIXELS, PEOPLE, attack=attack, epsilon=0.1, bounds=None)
    assert float(torch.stack(free.seen).min()) < 0


def test_the_seed_decides_and_the_size_of_batches_does_not() -> None:
    def pgd(**options: Any) -> Any:
        return evaluate.attacked_logits(Linear(), PIXELS, PEOPLE, attack="pgd", n_steps=1, step_size=1e-6, **options)

    np.testing.assert_allclose(pgd(batch_size=3), pgd(batch_size=40), rtol=1e-12)
    assert np.abs(pgd(seed=1) - pgd()).max() > 1e-4


def test_the_model_is_left_as_it_was() -> None:
    model = Linear().train()
    model.dropout.eval()
    before = PIXELS.copy()
    evaluate.pgd_loss(model, PIXELS, PEOPLE)
    assert model.training
    assert not model.dropout.training
    assert model.weight.grad is None
    np.testing.assert_array_equal(PIXELS, before)
    with pytest.raises(ZeroDivisionError):
        evaluate.fgsm_loss(Broken(), PIXELS, PEOPLE)
    assert Broken.last.training
    # Dropout would have made these differ.
    assert evaluate.fgsm_loss(model, PIXELS, PEOPLE) == evaluate.fgsm_loss(model, PIXELS, PEOPLE)


class Broken(torch.nn.Module):
    last: Any

    def forward(self, x: Any) -> Any:
        Broken.last = self
        raise ZeroDivisionError


class Text(torch.nn.Module):
    """As a Hugging Face model: embeddings in, an object with logits out; padding is masked."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.embedding, self.head = torch.nn.Embedding(9, 4), torch.nn.Linear(4, 3)

    def get_input_embeddings(self) -> Any:
        return self.embedding

    def forward(self, input_ids: Any = None, attention_mask: Any = None, inputs_embeds: Any = None) -> Any:
        x = self.embedding(input_ids) if inputs_embeds is None else inputs_embeds
        mean = (x * attention_mask[..., None]).sum(dim=1) / attention_mask.sum(dim=1, keepdim=True)
        return SimpleNamespace(logits=self.head(mean))


def test_texts_are_moved_in_the_space_of_their_embeddings() -> None:
    ids, mask = RNG.integers(0, 9, (40, 5)), np.ones((40, 5), dtype=np.int64)
    mask[:, 3:] = 0
    model, batch = Text(), {"input_ids": ids, "attention_mask": mask}
    clean = model(torch.tensor(ids), torch.tensor(mask)).logits.detach().double().numpy()
    np.testing.assert_allclose(evaluate.attacked_logits(model, batch, PEOPLE, epsilon=0), clean, rtol=1e-6)
    # Each of three tokens moves by ε·sign of the same gradient, and so does their mean.
    weight = model.head.weight.detach().double().numpy()
    step = 0.05 * np.sign((softmax(clean) - PEOPLE) @ weight)
    moved = evaluate.attacked_logits(model, batch, PEOPLE, epsilon=0.05, batch_size=16)
    np.testing.assert_allclose(moved, clean + step @ weight.T, rtol=1e-5, atol=1e-6)


def test_half_precision_is_scored_in_single() -> None:
    model = Linear().to(torch.bfloat16)
    found = evaluate.fgsm_loss(model, torch.tensor(PIXELS).bfloat16(), PEOPLE)
    assert found == pytest.approx(evaluate.fgsm_loss(Linear(), PIXELS, PEOPLE), rel=0.02)


@pytest.mark.parametrize(
    ("inputs", "people", "options", "error", "match"),
    [
        (PIXELS * 255, PEOPLE, {}, InputError, "must lie between 0 and 1.*Put the normalisation inside the model"),
        ((PIXELS * 255).astype(np.uint8), PEOPLE, {}, InputError, "Inputs must be floating point"),
        (PIXELS, PEOPLE[:3], {}, InputError, "40 inputs and 3 labels"),
        (PIXELS, PEOPLE * 2, {}, InputError, "soft labels of item in row 1 sum to 2"),
        (PIXELS, PEOPLE[:, :2] / PEOPLE[:, :2].sum(axis=1, keepdims=True), {}, InputError, r"\(40, 2\) here"),
        (PIXELS, GOLD + 3, {}, InputError, "a label 5, and the model knows the classes 0 to 2"),
        (PIXELS, GOLD - 1, {}, InputError, "class numbers from 0 on"),
        ({"tokens": PIXELS}, PEOPLE, {}, InputError, "must have 'input_ids'.*Got tokens"),
        (PIXELS, PEOPLE, {"epsilon": -1}, OptionError, "'epsilon' must be 0 or more"),
        (PIXELS, PEOPLE, {"n_steps": 3}, OptionError, "belong to the attack pgd"),
        (PIXELS, PEOPLE, {"attack": "pgd", "n_steps": 0}, OptionError, "'n_steps' must be 1 or more"),
        (PIXELS, PEOPLE, {"attack": "pgd", "step_size": 0.0}, OptionError, "'step_size' must be above 0"),
        (PIXELS, PEOPLE, {"attack": "cw"}, OptionError, "one of fgsm, pgd"),
        (PIXELS, PEOPLE, {"bounds": (1, 0)}, OptionError, "a lower and a higher number"),
    ],
)  # fmt: skip
def test_what_cannot_be_used_is_said(inputs: Any, people: Any, options: Any, error: Any, match: str) -> None:
    with pytest.raises(error, match=match):
        evaluate.attacked_logits(Linear(), inputs, people, **options)


def test_torch_is_loaded_by_the_call_and_its_lack_is_one_sentence() -> None:
    code = (
        "import sys; from sfumato import evaluate; assert 'torch' not in sys.modules; sys.modules['torch'] = None\n"
        "try: evaluate.fgsm_loss(lambda x: x, [[0.5]], [0])\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith('needs the extra "train". Install it with: pip install "sfumato[train]"')
