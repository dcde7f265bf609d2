"""Table 1 of Wright and Augenstein: the accuracy of each view against gold, to the last printed digit."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import sfumato as sf
from sfumato.aggregate.temperature_loss import tempered

# The authors' D&S is maximum likelihood from vote shares, stopped by the change of the class prior; their MACE is the
# variational fit of its own authors; their temperatures end after 1,000 steps of a learning rate.
_VIEWS = {
    "standard": {},
    "softmax": {},
    "dawid_skene": {"prior": "ml", "stop": "class_prior", "tolerance": 1e-4, "max_iter": 100},
    "mace": {"fit": "variational", "restarts": 10, "max_iter": 50},
}
_PRINTED = {
    "rte": {
        "standard": "0.919", "softmax": "0.919", "mace": "0.926", "dawid_skene": "0.927",
        "average": "0.927", "centroid": "0.927", "temperature": "0.930", "hybrid": "0.930",
    },
    "pos": {
        "standard": "0.799", "softmax": "0.799", "mace": "0.799", "dawid_skene": "0.779",
        "average": "0.799", "centroid": "0.799", "temperature": "0.799", "hybrid": "0.799",
    },
}  # fmt: skip
_LEARNING_RATE = {"rte": 1e-2, "pos": 1e-3}


@pytest.mark.filterwarnings("ignore::sfumato.errors.ConvergenceWarning")
@pytest.mark.parametrize("name", _PRINTED)
def test_all_eight_cells(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(os.environ.get("SFUMATO_DATA") or Path(__file__).parents[3] / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"the public data sets are not in {folder}; set SFUMATO_DATA to where they are")
    monkeypatch.setenv("SFUMATO_DATA", str(folder))
    data = sf.data.load(name)
    assert data.annotations is not None
    assert data.gold is not None
    views = sf.aggregate.views(data.annotations, _VIEWS)
    probs: dict[str, NDArray[np.floating]] = {view: soft.probs for view, soft in views.items()}
    probs["average"] = sf.aggregate.average(views).soft_labels.probs
    probs["centroid"] = sf.aggregate.centroid(views).soft_labels.probs
    hybrid = sf.aggregate.hybrid(views, as_published=True, learning_rate=_LEARNING_RATE[name])
    probs["hybrid"] = hybrid.soft_labels.probs
    # What `temperature` returns, without the thousand steps once more.
    assert hybrid.temperatures is not None
    softened = zip(views.values(), hybrid.temperatures, strict=True)
    probs["temperature"] = np.mean([tempered(view.probs, heat, floor=-15.0) for view, heat in softened], axis=0)
    gold = data.gold.aligned(data.annotations.items, data.annotations.classes)
    assert (gold >= 0).all()
    found = {view: f"{(p.argmax(axis=1) == gold).mean():.3f}" for view, p in probs.items()}
    assert found == _PRINTED[name]


def test_the_mean_over_temperatures_is_that_of_the_join() -> None:
    """The mean that the table's test takes for `temperature` is the one that `temperature` takes."""
    rng = np.random.default_rng(0)
    views = [
        sf.SoftLabels(rng.dirichlet(np.full(3, a), 20), items=[f"i{i}" for i in range(20)], classes=tuple("KLM"))
        for a in (0.3, 1.0, 4.0)
    ]
    joined = sf.aggregate.temperature(views, as_published=True)
    assert joined.temperatures is not None
    softened = zip(views, joined.temperatures, strict=True)
    expected = np.mean([tempered(view.probs, heat, floor=-15.0) for view, heat in softened], axis=0)
    np.testing.assert_allclose(joined.soft_labels.probs, expected, rtol=0, atol=1e-15)
