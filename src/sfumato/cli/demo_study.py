"""The demo's study: simulated annotators judge real images, scikit-learn's handwritten digits."""

from __future__ import annotations

__all__ = ["Study", "fit_and_predict", "simulate_study"]

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.origin import Origin
from sfumato.core.predictions import Predictions
from sfumato.core.seeds import generator
from sfumato.core.simplex import temper
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import MissingExtraError

PER_ITEM = 5
N_ANNOTATORS = 40
N_CARELESS = 6


@dataclass(frozen=True)
class Study:
    """Images, what the crowd said of them, what was drawn, and what people at large would say (the planted truth)."""

    images: NDArray[np.uint8]
    votes: Annotations
    gold: Gold
    people: SoftLabels
    careless: frozenset[str]


def simulate_study(*, seed: int) -> Study:
    """Let annotators judge the digits, five to an image: most carefully, some carelessly, a few without looking.

    What people at large would say of an image is planted: what a blurred eye (a linear model on the image at a
    quarter of its pixels, out of sample) makes of it, pulled towards the digit that was drawn.
    """
    try:
        from sklearn.datasets import load_digits
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import cross_val_predict
    except ImportError:
        raise MissingExtraError("The demo", "sklearn") from None
    digits = load_digits()
    images, drawn = digits.images / 16.0, digits.target
    blurred = images.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(len(images), -1)
    with _one_thread():
        eye = cross_val_predict(LogisticRegression(max_iter=500), blurred, drawn, cv=5, method="predict_proba")
    truth = 0.35 * np.eye(10)[drawn] + 0.65 * eye
    names = [f"digit-{number:04d}" for number in range(len(images))]
    classes = [str(k) for k in range(10)]

    rng = generator(seed)
    # A careful annotator sees what is there; a careless one flattens it; the last few press the key under the thumb.
    care = np.concatenate([rng.uniform(0.5, 1.3, N_ANNOTATORS - N_CARELESS), np.full(N_CARELESS, np.inf)])
    habit = rng.integers(0, 10, N_ANNOTATORS)
    annotator = np.argsort(rng.random((len(images), N_ANNOTATORS)), axis=1)[:, :PER_ITEM].ravel()
    item = np.repeat(np.arange(len(images)), PER_ITEM)
    seen = np.empty((len(item), 10))
    for j, temperature in enumerate(care):
        mine = annotator == j
        seen[mine] = temper(truth[item[mine]], temperature)
        if np.isinf(temperature):
            seen[mine] = 0.3 / 10 + 0.7 * np.eye(10)[habit[j]]
    label = (seen.cumsum(axis=1) > rng.random((len(item), 1)) * seen.sum(axis=1, keepdims=True)).argmax(axis=1)
    annotators = [f"annotator-{j + 1:02d}" for j in range(N_ANNOTATORS)]
    return Study(
        images=(255 - 255 * images).astype(np.uint8),
        votes=Annotations.from_codes(item, annotator, label, items=names, annotators=annotators, classes=classes),
        gold=Gold.from_names(names, [classes[k] for k in drawn], classes=classes),
        people=SoftLabels(truth, items=tuple(names), classes=tuple(classes), origin=Origin("planted", seed=seed)),
        careless=frozenset(annotators[-N_CARELESS:]),
    )


def fit_and_predict(study: Study, labels: SoftLabels, train: Sequence[str], test: Sequence[str]) -> Predictions:
    """Train a linear model on the labels of *train* and return what it predicts for *test*.

    Each image enters once for each class that has mass, weighted by it: a model that knows only hard labels learns
    from soft ones.
    """
    from sklearn.linear_model import LogisticRegression

    row = {name: place for place, name in enumerate(study.people.items)}
    pixels = (study.images / 255).reshape(len(study.images), -1)
    probs = labels.take(train).probs
    place, label = np.nonzero(probs > 1e-3)
    features = pixels[[row[name] for name in train]]
    model = LogisticRegression(C=0.3, tol=1e-3, max_iter=500)
    with _one_thread():
        model.fit(features[place], label, sample_weight=probs[place, label])
    predicted = np.zeros((len(test), labels.n_classes))
    predicted[:, model.classes_] = model.predict_proba(pixels[[row[name] for name in test]])
    origin = Origin("logistic_regression", options={"labels": labels.origin.method}, fingerprint=labels.fingerprint)
    return Predictions(predicted, items=tuple(test), classes=labels.classes, origin=origin)


def _one_thread() -> AbstractContextManager[object]:
    """Keep linear algebra on one thread: threads that wait for each other cost more than these small products."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[object] = threadpool_limits(1)
    return limits
