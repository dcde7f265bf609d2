"""Learning curves: the numbers of each epoch, those of one measure in one figure."""

from __future__ import annotations

__all__ = ["History", "learning", "learning_curves"]

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.errors import InputError
from sfumato.evaluate.report import figures
from sfumato.evaluate.report.figure import Figure
from sfumato.evaluate.report.page import Section

# The records of each training by name; a record holds the numbers of one epoch (or step).
History = Mapping[str, Sequence[Mapping[str, Any]]]

# What counts the epochs, the first that a record has.
_COUNTERS = ("epoch", "step", "global_step", "iteration")
_PARTS = ("train", "training", "dev", "val", "valid", "validation", "eval", "test")
# What is measured of the machine and not of the model.
_MACHINE = ("seconds", "runtime", "per_second", "time", "flos", "seed")
_MOST = 6


def learning(history: History) -> Section:
    """Return the part of a page that shows *history*."""
    drawn = learning_curves(history)
    named = f" of {', '.join(history)}" if len(history) > 1 else ""
    return Section("How it learnt", f"The numbers after each epoch of the training{named}.", (drawn,))


def learning_curves(history: History) -> tuple[Figure, ...]:
    """Return a figure for each measure, with a line for each training and part of the data; six measures at most.

    A record counts its epoch in ``epoch`` (else ``step``, else its place). ``train_loss`` and ``dev_loss`` are one
    measure of two parts, and stand together, and so are ``loss`` and ``dev`` with a ``loss`` in it. What is no number,
    and times, are left out.

    >>> epochs = [{"epoch": 1, "train_loss": 0.9, "dev_loss": 1.0}, {"epoch": 2, "train_loss": 0.5, "dev_loss": 0.8}]
    >>> made = learning_curves({"A": epochs})
    >>> [(figure.title, len(figure.drawings)) for figure in made]
    [('Loss', 1)]
    """
    measures: dict[str, dict[str, tuple[list[float], list[float]]]] = {}
    for name, records in history.items():
        for place, record in enumerate(records, start=1):
            counter = next((key for key in _COUNTERS if _is_number(record.get(key))), None)
            at = float(record[counter]) if counter is not None else float(place)
            for key, value in _flat(record).items():
                if key in _COUNTERS or key.endswith(_MACHINE) or not _is_number(value):
                    continue
                part, measure = _split(key)
                line = " · ".join(word for word in (name if len(history) > 1 else "", part) if word) or measure
                x, y = measures.setdefault(measure, {}).setdefault(line, ([], []))
                x.append(at)
                y.append(float(value))
    if not measures:
        raise InputError("The history holds no numbers to draw. Each record is the numbers of one epoch, by name.")
    drawn = []
    for measure, series in list(measures.items())[:_MOST]:
        title = measure.replace("_", " ")
        drawn.append(
            figures.curves(
                series, x_name="epoch", y_name=title, name=f"learning-{measure.replace('_', '-')}",
                title=title[:1].upper() + title[1:], caption="After each epoch.",
            )
        )  # fmt: skip
    return tuple(drawn)


def _split(key: str) -> tuple[str, str]:
    """Return the part of the data and the measure that a name stands for: dev_loss, loss/dev, eval_accuracy."""
    words = key.replace("/", "_").replace(".", "_").split("_")
    if len(words) > 1 and words[0] in _PARTS:
        return words[0], "_".join(words[1:])
    if len(words) > 1 and words[-1] in _PARTS:
        return words[-1], "_".join(words[:-1])
    return "", "_".join(words)


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record with the numbers of each part of the data beside the others: dev_loss for loss in dev."""
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, Mapping):
            flat |= {f"{key}_{inner}": each for inner, each in value.items()}
        else:
            flat[key] = value
    return flat


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
