"""The paper's numbers beside ours: rows with intervals, and whether each claim shows itself."""

from __future__ import annotations

__all__ = ["Cell", "Ours", "Row", "Table", "Verdict", "compare", "lower_is_better"]

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from sfumato.evaluate.metrics import METRICS
from sfumato.evaluate.significance import holm
from sfumato.reproduce.experiment import SIZES, Claim, Experiment, Run, Size
from sfumato.reproduce.outcome import Measured
from sfumato.reproduce.published import Printed
from sfumato.reproduce.results import Found, Key, Results
from sfumato.reproduce.sources import fingerprint_or_missing

# Numbers that are no metric of a model, and for which less is better.
_LOWER = ("_loss", "_error", "_divergence")
# These, too, are never below 0.
_AMOUNTS = (*_LOWER, "_entropy", "_seconds")
_LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Ours:
    """A number of ours over its runs, with the bounds of a 95 % interval: Student's t over runs, or that of one run."""

    value: float
    low: float | None
    high: float | None
    n_runs: int
    runs: Mapping[tuple[int, str], float]


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the table. ``same_digits`` says whether ours, corrected or as published, rounds to what is printed,
    ``same_sign`` whether it lies on the same side of the reference row. ``p_value`` is that of a paired t test against
    the reference row over the runs that both have, corrected by Holm over all places of the table."""

    row: str
    on: str
    metric: str
    printed: Printed | None
    ours: Ours | None
    as_published: Ours | None
    same_digits: bool | None
    same_sign: bool | None
    absent: str = ""
    p_value: float | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim, the difference between its two rows in the paper and here (better − worse), and what follows."""

    claim: Claim
    printed: float | None
    difference: float
    low: float | None
    high: float | None
    n_pairs: int
    word: str


@dataclass(frozen=True, slots=True)
class Table:
    """All that is known of an experiment at a size. ``places`` are the series and the x of each row of a figure.

    ``made_at`` are the sizes at which its runs were made: another one, too, where that has the same settings.
    ``measured`` are all numbers that its runs gave, shown or not; ``took`` are the seconds of each run, by its settings
    and its seed, so that those which tables share can be counted once. ``devices`` are where they were made.
    """

    experiment: Experiment
    size: Size
    cells: tuple[Cell, ...]
    verdicts: tuple[Verdict, ...]
    made_with: tuple[str, ...]
    versions: tuple[str, ...]
    n_runs: int
    n_wanted: int
    seconds: float
    places: Mapping[str, tuple[str, float]]
    made_at: tuple[Size, ...] = ()
    measured: tuple[str, ...] = ()
    took: Mapping[tuple[str, int], float] = field(default_factory=dict)
    devices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured in one run, ready to be grouped."""

    number: Measured
    row: str
    seed: int
    unit: str
    variant: str


def compare(experiment: Experiment, folder: Path, *, size: Size | None = None, seeds: int | None = None) -> Table:
    """Return the table of an experiment from the results in *folder*; without a size, the largest that made any."""
    known = Results(folder).known()
    chosen, stored = (
        _largest(experiment, seeds, known) if size is None else (size, _stored(experiment, size, seeds, known))
    )
    rows = [
        Row(number, number.row or run.row, run.seed, run.unit, run.variant)
        for run, found in stored
        for number in found.numbers
        if not experiment.shows or number.metric in experiment.shows
    ]
    cells = _cells(experiment, rows)
    return Table(
        experiment, chosen, cells, tuple(_verdict(claim, cells) for claim in experiment.claims),
        _once(found.made_with for _, found in stored), _once(found.versions for _, found in stored),
        len(stored), len(experiment.runs(chosen, seeds=seeds)), sum(found.seconds for _, found in stored),
        _places(experiment, stored), _made_at(stored),
        _once(number.metric for _, found in stored for number in found.numbers),
        {(run.config, run.seed): found.seconds for run, found in stored}, _once(found.device for _, found in stored),
    )  # fmt: skip


def _largest(
    experiment: Experiment, seeds: int | None, known: Mapping[Key, Found]
) -> tuple[Size, list[tuple[Run, Found]]]:
    """Return the largest size that made runs which are stored; what a larger one shares with it is not that one's."""
    shared: tuple[Size, list[tuple[Run, Found]]] | None = None
    for size in reversed(SIZES):
        stored = _stored(experiment, size, seeds, known)
        if size in _made_at(stored):
            return size, stored
        if stored and shared is None:
            shared = size, stored
    return shared or ("small", [])


def _made_at(stored: Iterable[tuple[Run, Found]]) -> tuple[Size, ...]:
    made = {found.size for _, found in stored}
    return tuple(size for size in SIZES if size in made)


def _places(experiment: Experiment, stored: list[tuple[Run, Found]]) -> dict[str, tuple[str, float]]:
    """Return where each row stands in a figure: along a setting of its runs, or along a number that they gave."""
    places: dict[str, tuple[str, float]] = {}
    for run, found in stored if experiment.x else ():
        for number in found.numbers:
            x = number.value if number.metric == experiment.x else getattr(run.setting, experiment.x, None)
            if isinstance(x, int | float):
                series = number.row.partition(", ")[0] if number.row else run.series
                places[number.row or run.row] = series, float(x)
    return places


def _stored(
    experiment: Experiment, size: Size, seeds: int | None, known: Mapping[Key, Found]
) -> list[tuple[Run, Found]]:
    """Return the runs of a size that are stored, each with what was found."""
    by_config: dict[tuple[str, int], list[str]] = {}
    for config, seed, data in known:
        by_config.setdefault((config, seed), []).append(data)
    stored = []
    looked_at: dict[tuple[str, ...], tuple[str, str]] = {}
    for run in experiment.runs(size, seeds=seeds):
        held = by_config.get((run.config, run.seed), [])
        if held and run.data not in looked_at:
            looked_at[run.data] = fingerprint_or_missing(run.data)
        data, missing = looked_at.get(run.data, ("", ""))
        # Where the data are gone, results that were made of them can still be shown.
        data = next(iter(held), "") if missing else data
        if data in held:
            stored.append((run, known[run.config, run.seed, data]))
    return stored


def _cells(experiment: Experiment, rows: list[Row]) -> tuple[Cell, ...]:
    measured: dict[tuple[str, str, str], dict[str, list[Row]]] = {}
    for one in rows:
        measured.setdefault((one.row, one.number.on, one.number.metric), {}).setdefault(one.variant, []).append(one)
    places = dict.fromkeys([*experiment.published, *measured])
    ours = {place: {variant: _ours(of) for variant, of in found.items()} for place, found in measured.items()}
    reference = experiment.reference
    cells = []
    for place in places:
        row, on, metric = place
        printed = experiment.published.get(place)
        plain, odd = (ours.get(place, {}).get(name) for name in ("corrected", "as published"))
        base = ours.get((reference, on, metric), {}).get("corrected")
        base_printed = experiment.published.get((reference, on, metric))
        same_sign = None
        if row != reference and printed and plain and base and base_printed and printed.value != base_printed.value:
            same_sign = bool((plain.value - base.value) * (printed.value - base_printed.value) > 0)
        absent = next(
            (one.why for one in experiment.absent if one.row in ("", row) and one.on in ("", on) and plain is None), ""
        )
        found = [each for each in (plain, odd) if each]
        digits = any(printed.matches(each.value) for each in found) if printed and found else None
        cells.append(Cell(row, on, metric, printed, plain, odd, digits, same_sign, absent))
    cells = _with_p_values(cells, reference)
    order = {row: number for number, row in enumerate(_row_order(experiment))}
    return tuple(sorted(cells, key=lambda cell: order.get(cell.row, len(order))))


def _with_p_values(cells: list[Cell], reference: str) -> list[Cell]:
    base = {(cell.on, cell.metric): cell.ours for cell in cells if cell.row == reference}
    found = [
        math.nan if cell.row == reference else _p_value(cell.ours, base.get((cell.on, cell.metric))) for cell in cells
    ]
    return [
        replace(cell, p_value=None if math.isnan(p_value) else float(p_value))
        for cell, p_value in zip(cells, holm(found), strict=True)
    ]


def _p_value(ours: Ours | None, base: Ours | None) -> float:
    """Return how likely chance alone makes a mean difference over the shared runs as large; NaN with fewer than two."""
    if ours is None or base is None:
        return math.nan
    apart = np.array([ours.runs[key] - base.runs[key] for key in ours.runs if key in base.runs])
    apart = apart[~np.isnan(apart)]
    if len(apart) < 2 or not apart.std():
        return math.nan
    from scipy.stats import ttest_1samp

    return float(ttest_1samp(apart, 0).pvalue)


def _row_order(experiment: Experiment) -> list[str]:
    return list(dict.fromkeys([*(row for row, _, _ in experiment.published), *experiment.rows()]))


def _ours(rows: Iterable[Row]) -> Ours:
    runs = {(row.seed, row.unit): row.number.value for row in rows}
    first = next(iter(rows)).number
    values = np.array([value for value in runs.values() if not math.isnan(value)])
    if not len(values):
        return Ours(math.nan, None, None, 0, runs)
    if len(values) > 1:
        low, high = _possible(*_t_interval(values), float(values.mean()), first.metric)
        return Ours(float(values.mean()), low, high, len(values), runs)
    return Ours(float(values[0]), first.low, first.high, 1, runs)


def _t_interval(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> tuple[float, float]:
    from scipy.stats import t

    half = float(t.ppf((1 + _LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values)))
    return float(values.mean()) - half, float(values.mean()) + half


def _possible(low: float, high: float, mean: float, metric: str) -> tuple[float, float]:
    """Return bounds cut to what the number can be: a t interval of few runs may reach below an error of 0."""
    known = METRICS.get(metric)
    least = known.low if known else 0.0 if metric.endswith(_AMOUNTS) else None
    most = known.high if known else None
    return (
        low if least is None else max(low, min(least, mean)),
        high if most is None else min(high, max(most, mean)),
    )


def lower_is_better(metric: str) -> bool:
    """Return whether less of a number is better, as its name says.

    >>> lower_is_better("fgsm_loss"), lower_is_better("accuracy_score")
    (True, False)
    """
    return not METRICS[metric].higher_is_better if metric in METRICS else metric.endswith(_LOWER)


def _verdict(claim: Claim, cells: tuple[Cell, ...]) -> Verdict:
    found = {cell.row: cell for cell in cells if cell.metric == claim.metric and cell.on == claim.on}
    better, worse = found.get(claim.better), found.get(claim.worse)
    printed = None
    if better and worse and better.printed and worse.printed:
        printed = better.printed.value - worse.printed.value
    if not (better and worse and better.ours and worse.ours):
        return Verdict(claim, printed, math.nan, None, None, 0, "not run")
    shared = [key for key in better.ours.runs if key in worse.ours.runs]
    apart = np.array([better.ours.runs[key] - worse.ours.runs[key] for key in shared])
    if not len(apart):
        return Verdict(claim, printed, math.nan, None, None, 0, "no paired runs")
    mean = float(apart.mean())
    low, high = _t_interval(apart) if len(apart) > 1 else _apart(better.ours, worse.ours)
    good = mean < 0 if lower_is_better(claim.metric) else mean > 0
    settled = low is not None and high is not None and (low > 0 or high < 0)
    word = ("shown" if good else "the opposite is shown") if settled else ("same direction" if good else "not shown")
    return Verdict(claim, printed, mean, low, high, len(apart), word)


def _apart(better: Ours, worse: Ours) -> tuple[float, float] | tuple[None, None]:
    """Return bounds of the difference of two numbers that have an interval over items each, and one run."""
    if better.low is None or better.high is None or worse.low is None or worse.high is None:
        return None, None
    # As if the items were different ones: over the same items the difference is known better than that.
    half = math.hypot(better.high - better.low, worse.high - worse.low) / 2
    mean = better.value - worse.value
    return mean - half, mean + half


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(text for text in dict.fromkeys(texts) if text)
