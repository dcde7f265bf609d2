"""The hybrid is what its name says: temperatures, then the centroid."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sfumato as sf
from sfumato.aggregate.centroid import centroid
from sfumato.aggregate.hybrid import hybrid
from sfumato.aggregate.temperature import temperature
from sfumato.core.simplex import temper
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import OptionError


def _views() -> list[SoftLabels]:
    rng = np.random.default_rng(0)
    probs = [rng.dirichlet(np.full(3, alpha), 30) for alpha in (0.3, 1.0, 4.0)]
    probs[0][:5] = np.eye(3)[[0, 1, 2, 0, 1]]
    return [SoftLabels(p, items=[f"i{i}" for i in range(30)], classes=tuple("KLM")) for p in probs]


@pytest.mark.parametrize("options", [{}, {"min_temperature": 0.1}, {"as_published": True, "learning_rate": 0.1}])
def test_temperatures_then_the_centroid(options: dict[str, object]) -> None:
    views = _views()
    result = hybrid(views, weights=[1, 2, 3], **options)  # type: ignore[arg-type]
    first = temperature(views, weights=[1, 2, 3], **options)  # type: ignore[arg-type]
    assert result.temperatures is not None
    assert first.temperatures is not None
    assert np.array_equal(result.temperatures, first.temperatures)
    assert (result.trace, result.notes) == (first.trace, first.notes)
    softened = [
        SoftLabels(temper(view.probs, heat), items=view.items, classes=view.classes)
        for view, heat in zip(views, first.temperatures, strict=True)
    ]
    second = centroid(softened, weights=[1, 2, 3])
    np.testing.assert_allclose(result.soft_labels.probs, second.soft_labels.probs, rtol=0, atol=1e-13)
    assert result.residuals is not None
    assert result.residuals.max() <= 1e-9
    assert result.soft_labels.origin.method == "hybrid"


def test_it_is_as_converged_as_both_parts() -> None:
    assert hybrid(_views()).converged
    short = hybrid(_views(), as_published=True, learning_rate=1e-3)
    assert not short.converged
    assert short.n_iter > 0


def test_options_are_those_of_the_temperatures() -> None:
    with pytest.raises(OptionError, match="'learning_rate' belongs to the published schedule"):
        hybrid(_views(), learning_rate=0.1)


def test_textual_entailment_as_published(load_data: Callable[[str], sf.data.DataSet]) -> None:
    data = load_data("rte")
    assert data.annotations is not None
    assert data.gold is not None
    names = {"standard": {}, "softmax": {}, "dawid_skene": {"prior": "ml"}, "mace": {}}
    result = hybrid(data.annotations, names=names, as_published=True)
    gold = data.gold.aligned(result.soft_labels.items, result.soft_labels.classes)
    assert (result.soft_labels.probs.argmax(axis=1) == gold).mean() == 0.93
