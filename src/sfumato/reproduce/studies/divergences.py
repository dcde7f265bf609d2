"""How far views are apart, and how near their centroid is to each (Wright and Augenstein 2024, 5.4)."""

from __future__ import annotations

__all__ = ["Divergences", "Setting", "data_of", "measure", "seconds_of"]

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sfumato.aggregate import average, centroid
from sfumato.aggregate.views import views
from sfumato.core.simplex import jensen_shannon_divergence
from sfumato.errors import ConvergenceWarning
from sfumato.reproduce.outcome import Measured, Outcome
from sfumato.reproduce.sources import judged


@dataclass(frozen=True)
class Divergences:
    """Which crowds, and which views of them.

    ``sets`` maps what a set is called in the table to its name (or to a file of votes); ``options`` are theirs, by that
    name. ``methods`` are the views with their options, ``names`` what the table calls them.
    """

    sets: Mapping[str, Any] = field(default_factory=lambda: {"RTE": "rte"}, metadata={"path": True})
    options: Mapping[str, Any] = field(default_factory=dict)
    methods: Mapping[str, Any] = field(
        default_factory=lambda: {"standard": {}, "softmax": {}, "mace": {}, "dawid_skene": {}}
    )
    names: Mapping[str, Any] = field(default_factory=dict)


Setting = Divergences


def measure(setting: Divergences, *, seed: int = 0, device: str = "cpu") -> Outcome:
    """Return the mean divergence (nats) of every two views, and the correlation of section 5.4 over all of them.

    The correlation is that between JSD(Q‖p_m), Q the centroid, and the mean of JSD(p_m‖p_k) over the other views k;
    over the views of all sets (each a mean over items), and over the single items of each set.
    """
    numbers: list[Measured] = []
    points: list[tuple[float, float]] = []
    for on, name in setting.sets.items():
        votes, _ = judged(str(name), setting.options.get(on, {}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the published settings stop early
            found = views(votes, setting.methods, seed=seed)
        said = {str(setting.names.get(view, view)): soft.probs for view, soft in found.items()}
        middle = centroid(found).soft_labels.probs
        near = {name: jensen_shannon_divergence(probs, middle) for name, probs in said.items()}
        shown = {**said, "average": average(found).soft_labels.probs, "centroid": middle}
        apart = {
            (a, b): jensen_shannon_divergence(shown[a], shown[b])
            for place, a in enumerate(shown)
            for b in list(shown)[place + 1 :]
        }
        numbers += [Measured("jensen_shannon_divergence", float(each.mean()), on, f"{a} · {b}", n=len(each))
                    for (a, b), each in apart.items()]  # fmt: skip
        others = {
            name: np.mean([each for pair, each in apart.items() if name in pair and set(pair) <= set(said)], axis=0)
            for name in said
        }
        points += [(float(near[name].mean()), float(others[name].mean())) for name in said]
        every = np.corrcoef(np.concatenate(list(near.values())), np.concatenate(list(others.values())))
        n_points = sum(map(len, near.values()))
        numbers.append(Measured("correlation_of_divergences", float(every[0, 1]), on, "all items", n=n_points))
    if len(points) > 2:
        found_in = float(np.corrcoef(np.array(points).T)[0, 1])
        numbers.append(Measured("correlation_of_divergences", found_in, "", "all views", n=len(points)))
    return Outcome(tuple(numbers))


def data_of(setting: Divergences) -> tuple[str, ...]:
    """Return what is read."""
    return tuple(str(name) for name in setting.sets.values())


def seconds_of(setting: Divergences) -> float:
    """Return about how long a run takes."""
    return 4.0
