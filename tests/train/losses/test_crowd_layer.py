"""The loss of annotations: by what each annotator makes of the model, and by nothing that nobody said."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from sfumato.errors import InputError
from sfumato.train.losses import crowd_layer_loss

# Annotator 0 repeats the model, annotator 1 swaps the first two classes.
SWAP = torch.tensor([[0, 1, 2], [1, 0, 2]])


def layer(logits: Tensor, annotator: Tensor) -> Tensor:
    return logits.gather(1, SWAP[annotator])


LOGITS = torch.tensor([[2.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 5.0]], dtype=torch.float64)
ANNOTATOR, LABEL, ROW = torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]), torch.tensor([0, 0, 1])


def by_hand() -> list[float]:
    q = np.exp(LOGITS.numpy()) / np.exp(LOGITS.numpy()).sum(axis=1, keepdims=True)
    # Annotator 1 says class 0 of the first item where the model has class 1, and so on; nobody judged the third item.
    return [-np.log(q[0, 0]), -np.log(q[0, 1]), -np.log(q[1, 0])]


def test_it_is_the_mean_over_annotations() -> None:
    found = crowd_layer_loss(LOGITS, ANNOTATOR, LABEL, ROW, layer=layer, reduction="none")
    np.testing.assert_allclose(found.numpy(), by_hand())
    found = crowd_layer_loss(LOGITS, ANNOTATOR, LABEL, ROW, layer=layer, base=2)
    assert found.item() == pytest.approx(np.mean(by_hand()) / np.log(2))
    weighted = crowd_layer_loss(
        LOGITS, ANNOTATOR, LABEL, ROW, layer=layer, item_weight=torch.tensor([1.0, 0.0, 3.0]),
        weight=torch.tensor([2.0, 1.0, 1.0]),
    )  # fmt: skip
    assert weighted.item() == pytest.approx((2 * by_hand()[0] + 3 * by_hand()[2]) / 4)


def test_an_item_that_nobody_judged_gets_no_gradient() -> None:
    logits = LOGITS.clone().requires_grad_()
    crowd_layer_loss(logits, ANNOTATOR, LABEL, ROW, layer=layer).backward()
    assert logits.grad[2].tolist() == [0, 0, 0]
    assert bool((logits.grad[:2] != 0).all())


def test_a_batch_without_annotations_costs_nothing() -> None:
    logits, none = LOGITS.clone().requires_grad_(), torch.zeros(0, dtype=torch.int64)
    loss = crowd_layer_loss(logits, none, none, none, layer=layer)
    loss.backward()
    assert loss.item() == 0
    assert logits.grad.abs().sum() == 0


def test_items_of_sequences_are_told_by_their_place_in_the_flattened_batch() -> None:
    tokens = LOGITS[[0, 2, 2, 1]].reshape(2, 2, 3)
    found = crowd_layer_loss(tokens, ANNOTATOR, LABEL, torch.tensor([0, 0, 3]), layer=layer)
    assert found.item() == pytest.approx(np.mean(by_hand()))


def test_annotations_may_be_distributions() -> None:
    label = torch.tensor([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], dtype=torch.float64)
    found = crowd_layer_loss(LOGITS, ANNOTATOR, label, ROW, layer=layer, reduction="none")
    first = (by_hand()[0] + by_hand()[1]) / 2
    np.testing.assert_allclose(found.numpy(), [first, *by_hand()[1:]])


def test_rows_of_differing_length_are_refused() -> None:
    with pytest.raises(InputError, match=r"three rows of one length.*Got the shapes \(2,\), \(3,\) and \(3,\)"):
        crowd_layer_loss(LOGITS, ANNOTATOR[:2], LABEL, ROW, layer=layer)
