"""How sure people were of what which system got right (Fornaciari et al. 2021, table 3), from kept predictions."""

from __future__ import annotations

__all__ = ["ErrorAnalysis", "Setting", "behind", "data_of", "measure", "seconds_of"]

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sfumato.core import storage
from sfumato.core.predictions import Predictions
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError
from sfumato.evaluate import bootstrap_interval, by_correctness, soft_label_kurtosis
from sfumato.reproduce.experiment import Experiment, Run, Size
from sfumato.reproduce.outcome import Measured, Outcome
from sfumato.reproduce.results import Results
from sfumato.reproduce.sources import content_fingerprint, judged


@dataclass(frozen=True)
class ErrorAnalysis:
    """Whose predictions: those of the rows ``first`` and ``second`` of an ``experiment`` ``on`` a set, over all seeds.

    ``data`` is the set, or the file of votes, with people's annotations of the same items and with gold. ``of_size`` is
    the size of the experiment. The soft labels are the softmax of the counts of votes, as the paper's.
    """

    experiment: str = "fornaciari/table1"
    first: str = "STL"
    second: str = "MTL + Cross-Entropy"
    on: str = "POS, 5-fold CV"
    data: str = field(default="pos", metadata={"path": True})
    gold: str = field(default="", metadata={"path": True})
    of_size: Size = field(default="full", metadata={"size": True})


Setting = ErrorAnalysis

_ROWS = {
    "both": "both right",
    "only A": "only STL right",
    "only B": "only MTL right",
    "none": "both wrong",
}


def measure(setting: ErrorAnalysis, *, seed: int = 0, device: str = "cpu", folder: Path) -> Outcome:
    """Return the mean kurtosis of the soft labels in each group, and whether the two in the middle differ."""
    from sfumato.aggregate import softmax

    votes, gold = judged(setting.data, {}, gold=setting.gold)
    if gold is None:
        raise InputError(f"{setting.data} has no gold, so nobody is right or wrong. Name a file of it.")
    people = softmax(votes).soft_labels
    pairs = list(_pairs(setting, Results(folder)))
    probs, right = [], []
    for both in pairs:
        items = tuple(item for item in both[0].items if item in set(people.items))
        truth = gold.aligned(items, people.classes)
        taken = [each.take(items).with_classes(people.classes).probs.argmax(axis=1) == truth for each in both]
        probs.append(people.take(items).probs[truth >= 0])
        right.append([each[truth >= 0] for each in taken])
    pooled = SoftLabels(
        np.concatenate(probs), items=tuple(map(str, range(sum(map(len, probs))))), classes=people.classes
    )
    a, b = (np.concatenate([pair[side] for pair in right]) for side in (0, 1))
    groups, tests = by_correctness(pooled, a, b)
    kurtosis = soft_label_kurtosis(pooled)
    members = {"both": a & b, "only A": a & ~b, "only B": b & ~a, "none": ~(a | b)}
    numbers = []
    for group in groups:
        values = kurtosis[members[group.name]]
        bounds = bootstrap_interval(values[~np.isnan(values)]) if group.n else None
        low, high = (bounds.low, bounds.high) if bounds else (None, None)
        numbers.append(Measured("kurtosis", group.kurtosis, "", _ROWS[group.name], low, high, group.n))
        numbers.append(Measured("mean_entropy", group.entropy, "", _ROWS[group.name], n=group.n))
        numbers.append(Measured("n_items", float(group.n), "", _ROWS[group.name], n=group.n))
    middle = next(test for test in tests if (test.measure, test.first, test.second) == ("kurtosis", "only A", "only B"))
    numbers.append(Measured("kurtosis_p", middle.p_value, "", _ROWS["only B"], n=len(a)))
    return Outcome(tuple(numbers))


def _pairs(setting: ErrorAnalysis, results: Results) -> Iterator[tuple[Predictions, Predictions]]:
    """Give the predictions of both rows for the same items, seed by seed and fold by fold."""
    found = {row: _predictions(setting, results, row) for row in (setting.first, setting.second)}
    for key in found[setting.first]:
        if key in found[setting.second]:
            yield found[setting.first][key], found[setting.second][key]


def _predictions(setting: ErrorAnalysis, results: Results, row: str) -> dict[tuple[int, str], Predictions]:
    found = {}
    for run in _runs(setting):
        if run.row == row:
            path = results.predictions(run, content_fingerprint(run.data), setting.on)
            if not path.is_file():
                raise InputError(
                    f"The predictions of {row!r} on {setting.on!r} are not in {results.folder}: run "
                    f"{setting.experiment} at the size {setting.of_size!r} first."
                )
            found[run.seed, run.unit] = storage.load(Predictions, path)
    return found


def _runs(setting: ErrorAnalysis) -> list[Run]:
    """Return the runs whose predictions are read: those of both rows that are tested on the set."""
    rows = (setting.first, setting.second)
    return [
        run
        for run in _experiment(setting).runs(setting.of_size)
        if run.row in rows and run.variant == "corrected" and getattr(run.setting, "on", "") == setting.on
    ]


def _experiment(setting: ErrorAnalysis) -> Experiment:
    # The catalogue reads experiments, which name studies: it cannot be imported before those.
    from sfumato.reproduce.catalogue import find

    return find(setting.experiment)[0]


def behind(setting: ErrorAnalysis) -> list[str]:
    """Return the runs that are read: where they change, so does this."""
    return [f"{run.config}-{run.seed}" for run in _runs(setting)]


def data_of(setting: ErrorAnalysis) -> tuple[str, ...]:
    """Return what is read."""
    return tuple(filter(None, (setting.data, setting.gold)))


def seconds_of(setting: ErrorAnalysis) -> float:
    """Return about how long a run takes; the predictions are there already."""
    return 5.0
