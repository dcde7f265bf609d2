"""Crowd layers: each is its formula, reads and changes only what a batch needs, and learns what annotators do."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from sfumato.core.simplex import softmax
from sfumato.errors import OptionError
from sfumato.train.crowd_layers import AnnotatorHeads, CommonConfusions, MatrixLayer, ScaleLayer, VectorLayer
from sfumato.train.crowd_objectives import CROWD_OBJECTIVES
from sfumato.train.objective import Shape
from sfumato.train.outputs import Outputs
from sfumato.train.row_optimizer import RowAdam, RowOptimizer, clip_gradients, row_parameters

K, R, D = 3, 7, 5
RNG = np.random.default_rng(0)
LOGITS = RNG.normal(size=(9, K))
EMBEDDING = RNG.normal(size=(9, D))
WHO = np.array([4, 0, 4, 4, 6, 0, 1, 4, 6])  # nobody has heard 2, 3 and 5
SAID = RNG.integers(0, K, 9)


def layers() -> dict[str, Callable[[bool], nn.Module]]:
    return {
        "mw": lambda sparse: MatrixLayer(K, R, sparse=sparse),
        "mw on logits": lambda sparse: MatrixLayer(K, R, on="logits", sparse=sparse),
        "vw": lambda sparse: VectorLayer(K, R, sparse=sparse),
        "vwb": lambda sparse: VectorLayer(K, R, bias=True, sparse=sparse),
        "s": lambda sparse: ScaleLayer(K, R, sparse=sparse),
        "conal": lambda sparse: CommonConfusions(K, R, width=D, sparse=sparse),
        "heads": lambda sparse: AnnotatorHeads(K, R, width=D, sparse=sparse),
        "leanings": lambda sparse: AnnotatorHeads(K, R, width=D, linear=False, sparse=sparse),
    }


def made(name: str, sparse: bool = False) -> nn.Module:
    """Return a layer in double precision whose numbers are anything but those of the start."""
    torch.manual_seed(1)
    layer = layers()[name](sparse).double()
    for parameter in layer.parameters():
        parameter.data += torch.randn_like(parameter)
    return layer


def answers(name: str, layer: nn.Module, logits: Any = LOGITS, who: Any = WHO, embedding: Any = EMBEDDING) -> Any:
    given = [torch.as_tensor(logits), torch.as_tensor(who)]
    return layer(*given, torch.as_tensor(embedding)) if name in ("conal", "heads", "leanings") else layer(*given)


def by_hand(name: str, layer: nn.Module) -> Any:
    """Return the formula, annotation by annotation."""
    numbers = {key: value.detach().numpy() for key, value in layer.state_dict().items()}
    rows, found = numbers.get("rows.weight", numbers.get("own.rows.weight")), []
    for logit, who, e in zip(LOGITS, WHO, EMBEDDING, strict=True):
        seen, row = softmax(logit), rows[who]
        match name:
            case "mw":
                found.append(row.reshape(K, K) @ seen)
            case "mw on logits":
                found.append(row.reshape(K, K) @ logit)
            case "vw" | "s":
                found.append(row * seen)
            case "vwb":
                found.append(row[:K] * seen + row[K:])
            case "heads":
                found.append(logit + row.reshape(K, D + 1)[:, :D] @ e + row.reshape(K, D + 1)[:, D])
            case "leanings":
                found.append(logit + row)
            case "conal":
                u, v = numbers["annotator.weight"][who], numbers["item.weight"] @ e + numbers["item.bias"]
                share = 1 / (1 + np.exp(-(u @ v) / np.linalg.norm(u) / np.linalg.norm(v)))
                found.append((share * numbers["common"] + (1 - share) * row.reshape(K, K)) @ seen)
    return np.array(found)


@pytest.mark.parametrize("name", layers())
def test_each_is_its_formula(name: str) -> None:
    layer = made(name)
    np.testing.assert_allclose(answers(name, layer).detach().numpy(), by_hand(name, layer), rtol=1e-12)


@pytest.mark.parametrize("name", layers())
def test_the_start_says_what_the_model_says(name: str) -> None:
    found = answers(name, layers()[name](False).double()).detach().numpy()
    expected = LOGITS if name in ("mw on logits", "heads", "leanings") else softmax(LOGITS) * (1 + (name == "conal"))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("name", layers())
def test_one_annotation_keeps_its_shape_and_none_has_one(name: str) -> None:
    layer = made(name)
    whole = answers(name, layer)
    one = answers(name, layer, LOGITS[3:4], WHO[3:4], EMBEDDING[3:4])
    assert one.shape == (1, K)
    torch.testing.assert_close(one, whole[3:4])
    assert answers(name, layer, LOGITS[:0], WHO[:0], EMBEDDING[:0]).shape == (0, K)


@pytest.mark.parametrize("name", layers())
def test_gradients_are_those_of_finite_differences(name: str) -> None:
    layer = made(name)
    given = torch.tensor(LOGITS, requires_grad=True)
    parameters = dict(layer.named_parameters())

    def loss(logits: Any, *values: Any) -> Any:
        called = dict(zip(parameters, values, strict=True))
        rest = (torch.tensor(EMBEDDING),) if name in ("conal", "heads", "leanings") else ()
        out = torch.func.functional_call(layer, called, (logits, torch.tensor(WHO), *rest))
        return nn.functional.cross_entropy(out, torch.tensor(SAID))

    values = [value.detach().requires_grad_() for value in parameters.values()]
    assert torch.autograd.gradcheck(loss, (given, *values), fast_mode=True)


@pytest.mark.parametrize("name", layers())
def test_a_step_reads_and_changes_the_rows_of_its_annotators_alone(name: str) -> None:
    found = {}
    for sparse in (False, True):
        layer = made(name, sparse)
        nn.functional.cross_entropy(answers(name, layer), torch.tensor(SAID)).backward()
        found[sparse] = {key: value.grad for key, value in layer.named_parameters()}
        if sparse:
            tables = row_parameters(layer)
            assert len(tables) == 1 + (name == "conal")
            for table in tables:
                assert set(table.grad.coalesce().indices()[0].tolist()) == set(WHO.tolist())
            before = [table.detach().clone() for table in tables]
            RowAdam(tables, lr=0.1).step()
            for old, table in zip(before, tables, strict=True):
                changed = (table.detach() != old).any(dim=-1)
                assert set(torch.nonzero(changed).flatten().tolist()) == set(WHO.tolist())
    for key, gradient in found[True].items():
        dense = gradient.to_dense() if gradient.is_sparse else gradient
        torch.testing.assert_close(dense, found[False][key], rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("name", layers())
def test_half_precision_is_computed_in_single(name: str) -> None:
    layer, exact = made(name).float(), made(name)
    half = [torch.tensor(values).bfloat16() for values in (LOGITS, EMBEDDING)]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = answers(name, layer, half[0], WHO, half[1])
    assert found.dtype == torch.float32
    truth = answers(name, exact, half[0].double(), WHO, half[1].double())
    torch.testing.assert_close(found.double(), truth, rtol=1e-5, atol=1e-5)


def test_unknown_choices_are_refused() -> None:
    with pytest.raises(OptionError, match="'on' must be one of probabilities, logits"):
        MatrixLayer(K, R, on="softmax")  # type: ignore[arg-type]
    for options in ({"distance": -1.0}, {"directions": 0}):
        with pytest.raises(OptionError, match="must be"):
            CROWD_OBJECTIVES["conal"](Shape(K, R, D), **options)
    with pytest.raises(OptionError, match="there are no annotations"):
        CROWD_OBJECTIVES["crowd_mw"](Shape(K, 0, D))


# ── as objectives of the loop ────────────────────────────────────────────────────────────────────────────────────────

BATCH = {"annotator": torch.tensor([4, 0, 4]), "label": torch.tensor([0, 2, 1]), "row": torch.tensor([0, 0, 3])}
NOBODY = {name: values[:0] for name, values in BATCH.items()}


def outputs() -> Outputs:
    return Outputs((torch.tensor(LOGITS[:4]).float().requires_grad_(),), torch.tensor(EMBEDDING[:4]).float())


@pytest.mark.parametrize("name", CROWD_OBJECTIVES)
def test_what_nobody_annotated_costs_nothing(name: str) -> None:
    objective = CROWD_OBJECTIVES[name](Shape(K, R, D))
    given, mask = outputs(), torch.ones(4, dtype=torch.bool)
    sums = objective(given, BATCH, mask)
    assert sums.shape == objective.counts(BATCH, mask).shape == (1,)
    assert float(objective.counts(BATCH, mask)) == 3
    sums.sum().backward()
    assert given.logits[0].grad[1:3].abs().sum() == 0
    assert given.logits[0].grad[[0, 3]].abs().sum() > 0
    empty = objective(outputs(), NOBODY, mask)
    assert empty.tolist() == [0]
    assert objective.counts(NOBODY, mask).tolist() == [0]


@pytest.mark.parametrize("name", CROWD_OBJECTIVES)
def test_sums_of_parts_add_up(name: str) -> None:
    torch.manual_seed(0)
    objective = CROWD_OBJECTIVES[name](Shape(K, R, D))
    mask = torch.ones(4, dtype=torch.bool)
    parts = [{key: values[rows] for key, values in BATCH.items()} for rows in (slice(0, 2), slice(2, 3))]
    whole = objective(outputs(), BATCH, mask)
    torch.testing.assert_close(whole, sum(objective(outputs(), part, mask) for part in parts))


@pytest.mark.parametrize("name", CROWD_OBJECTIVES)
def test_annotations_may_be_distributions(name: str) -> None:
    torch.manual_seed(0)
    objective = CROWD_OBJECTIVES[name](Shape(K, R, D))
    mask = torch.ones(4, dtype=torch.bool)
    certain = {**BATCH, "label": nn.functional.one_hot(BATCH["label"], K).float()}
    torch.testing.assert_close(objective(outputs(), certain, mask), objective(outputs(), BATCH, mask))


@pytest.mark.parametrize("name", CROWD_OBJECTIVES)
def test_predictions_for_one_annotator_have_the_shape_of_the_batch(name: str) -> None:
    torch.manual_seed(0)
    objective = CROWD_OBJECTIVES[name](Shape(K, R, D))
    for parameter in objective.parameters():
        parameter.data += torch.randn_like(parameter)
    tokens = Outputs(
        (torch.tensor(LOGITS[:8]).float().reshape(2, 4, K),), torch.tensor(EMBEDDING[:8]).float().reshape(2, 4, D)
    )
    torch.testing.assert_close(objective.predict(tokens), tokens.logits[0])
    who = torch.tensor(WHO[:8]).reshape(2, 4)
    found = objective.predict(tokens, who)
    flat = Outputs((tokens.logits[0].flatten(end_dim=1),), tokens.embedding.flatten(end_dim=1))
    torch.testing.assert_close(found, objective.predict(flat, who.flatten()).reshape(2, 4, K))
    one = Outputs((tokens.logits[0][0, :1],), tokens.embedding[0, :1])
    torch.testing.assert_close(objective.predict(one, who[0, :1]), found[0, :1])
    assert not torch.allclose(found, objective.predict(tokens, (who + 1) % R))


def test_conal_keeps_the_confusions_of_one_from_those_of_all() -> None:
    torch.manual_seed(0)
    objective = CROWD_OBJECTIVES["conal"](Shape(K, R, D), distance=0.5)
    plain = CROWD_OBJECTIVES["conal"](Shape(K, R, D), distance=0.0)
    objective.layer.own.rows.weight.data += torch.randn(R, K * K)
    plain.load_state_dict(objective.state_dict())
    mask = torch.ones(4, dtype=torch.bool)
    less = plain(outputs(), BATCH, mask) - objective(outputs(), BATCH, mask)
    apart = (objective.layer.own.rows.weight - objective.layer.common.flatten()).norm(dim=-1)
    # λ Σʳ‖W − Wʳ‖ with the annotators of the batch in the place of all: R/m of their sum, here a sum of m.
    torch.testing.assert_close(less, 0.5 * R * apart[BATCH["annotator"]].sum().reshape(1))


def test_heads_pay_for_what_they_add() -> None:
    free, paid = (CROWD_OBJECTIVES["annotator_heads"](Shape(K, R, D), pull=pull) for pull in (0.0, 0.1))
    mask = torch.ones(4, dtype=torch.bool)
    torch.testing.assert_close(free(outputs(), BATCH, mask), paid(outputs(), BATCH, mask))  # heads start at 0
    for objective in (free, paid):
        torch.manual_seed(3)
        objective.layer.rows.weight.data = torch.randn(R, K * (D + 1))
    more = paid(outputs(), BATCH, mask) - free(outputs(), BATCH, mask)
    torch.testing.assert_close(more, 0.1 * free.layer.rows.weight[BATCH["annotator"]].square().sum().reshape(1))


# ── the optimiser that goes with them ────────────────────────────────────────────────────────────────────────────────


def both(sparse: bool) -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.ModuleDict({"table": nn.Embedding(R, K, sparse=sparse), "head": nn.Linear(D, K)})
    if not sparse:
        return model, torch.optim.Adam(model.parameters(), lr=0.01)
    dense = torch.optim.Adam(model["head"].parameters(), lr=0.01)
    return model, RowOptimizer(dense, RowAdam(row_parameters(model), lr=0.01))


def stepped(model: nn.Module, optimizer: torch.optim.Optimizer, n_steps: int = 4, clip: float | None = None) -> None:
    for step in range(n_steps):
        who = torch.arange(R).repeat(2)
        x = torch.tensor(np.random.default_rng(step).normal(size=(2 * R, D))).float()
        (model["head"](x) * model["table"](who)).square().sum().backward()
        if clip is not None:
            clip_gradients(model.parameters(), clip)
        optimizer.step()
        optimizer.zero_grad()


@pytest.mark.parametrize("clip", [None, 0.5])
def test_rows_that_are_in_every_batch_are_trained_as_whole_tables_are(clip: float | None) -> None:
    models = []
    for sparse in (False, True):
        model, optimizer = both(sparse)
        stepped(model, optimizer, clip=clip)
        models.append(model.state_dict())
    for name, value in models[0].items():
        torch.testing.assert_close(models[1][name], value, rtol=1e-5, atol=1e-6)


def test_rows_that_are_now_and_then_in_a_batch_are_trained_as_pytorch_trains_them() -> None:
    tables = [nn.Embedding(R, K, sparse=True) for _ in range(2)]
    tables[1].load_state_dict(tables[0].state_dict())
    ours, theirs = RowAdam([tables[0].weight], lr=0.1), torch.optim.SparseAdam([tables[1].weight], lr=0.1)
    for who in ([0, 3, 3], [5], [*range(R)], [3, 0, 6, 6], []):
        for table, optimizer in zip(tables, (ours, theirs), strict=True):
            (table(torch.tensor(who, dtype=torch.int64)) - 1).square().sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    torch.testing.assert_close(tables[0].weight, tables[1].weight, rtol=1e-5, atol=1e-6)


def test_its_state_comes_back_and_goes_on_exactly() -> None:
    model, optimizer = both(True)
    stepped(model, optimizer, 2)
    kept = deepcopy({"model": model.state_dict(), "optimizer": optimizer.state_dict()})
    again, other = both(True)
    again.load_state_dict(kept["model"])
    other.load_state_dict(kept["optimizer"])
    for group in other.param_groups:
        group["lr"] = 0.02
    assert [group["lr"] for group in (*other.dense.param_groups, *other.rows.param_groups)] == [0.02, 0.02]
    for group in optimizer.param_groups:
        group["lr"] = 0.02
    stepped(model, optimizer, 2)
    stepped(again, other, 2)
    for name, value in model.state_dict().items():
        assert torch.equal(value, again.state_dict()[name])


def test_clipping_is_that_of_pytorch() -> None:
    found = []
    for clip in (lambda parameters: nn.utils.clip_grad_norm_(parameters, 0.3), lambda p: clip_gradients(p, 0.3)):
        model, _ = both(False)
        model["head"](torch.ones(1, D)).square().sum().backward()
        norm = clip(list(model.parameters()))
        found.append((norm, model["head"].weight.grad))
    torch.testing.assert_close(found[0], found[1])
