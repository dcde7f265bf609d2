"""Systems side by side: the runs of each, over the same items and classes, beside what people and gold say."""

from __future__ import annotations

__all__ = ["Given", "Systems", "line_up", "vote_shares"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sfumato.core.alphabetical import alphabetical
from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.core.origin import Origin, fingerprint_of
from sfumato.core.simplex import normalise
from sfumato.core.soft_labels import SoftLabels
from sfumato.core.vocabulary import Vocabulary, counted
from sfumato.errors import InputError, OptionError, check_choice
from sfumato.evaluate.pairing import aligned

# Letters of a name that a sentence quotes.
_NAME = 60
# One model, several runs of one, or several by name, each with one run or several.
Given = SoftLabels | Sequence[SoftLabels] | Mapping[str, SoftLabels | Sequence[SoftLabels]]


@dataclass(frozen=True)
class Systems:
    """Systems by name, a table for each run; all tables hold the same items (in alphabetical order) and classes.

    ``gold`` keeps only items that the systems predict; it may be fewer. ``notes`` say what was left out.
    """

    runs: Mapping[str, tuple[SoftLabels, ...]]
    labels: SoftLabels | None
    gold: Gold | None
    notes: tuple[str, ...]

    @property
    def first(self) -> SoftLabels:
        """The first run of the first system."""
        return next(iter(self.runs.values()))[0]

    @property
    def items(self) -> Vocabulary:
        return self.first.items

    @property
    def classes(self) -> Vocabulary:
        return self.first.classes

    @property
    def fingerprint(self) -> str:
        """A short hash of everything that is compared; the order of the items does not enter it."""
        tables = [run for runs in self.runs.values() for run in runs] + ([self.labels] if self.labels else [])
        gold = () if self.gold is None else self.gold.names()
        gold_items = () if self.gold is None else self.gold.items
        names = (self.items, self.classes, tuple(self.runs), gold_items, gold)
        return fingerprint_of(names, [table.probs for table in tables])


def line_up(
    predictions: Given,
    *,
    labels: SoftLabels | None = None,
    gold: Gold | None = None,
    annotations: Annotations | None = None,
    missing: Literal["error", "drop"] = "error",
) -> Systems:
    """Return the systems with the same items and classes everywhere, aligned by name, never by position.

    An item that one of the tables lacks is an error, or is dropped from all and counted in the notes. Gold may lack
    items: they are left out of what needs gold alone. Where there are *annotations* and no *labels*, the shares of the
    annotations are the labels.

    >>> a = SoftLabels([[0.9, 0.1], [0.2, 0.8]], items=["q", "p"], classes=["x", "y"])
    >>> found = line_up({"A": a, "B": a.take(["p"])}, labels=a, missing="drop")
    >>> found.items, found.notes
    (('p',), ('1 of 2 items stand in every table; the others were left out.',))
    """
    check_choice(missing, ("error", "drop"), option="missing")
    if labels is None and gold is None and annotations is None:
        raise OptionError(
            "There is nothing to compare the predictions with. Give soft labels, the annotations (votes) of people, "
            "gold, or several of these."
        )
    runs = _named(predictions)
    notes = []
    if labels is None and annotations is not None:
        labels = vote_shares(annotations, classes=next(iter(runs.values()))[0].classes)
        notes.append("What people say are the shares of their votes, as there are no other soft labels.")
    tables = {f"run {r + 1} of {name!r}" if len(each) > 1 else repr(name): run
              for name, each in runs.items() for r, run in enumerate(each)}  # fmt: skip
    if labels is not None:
        tables["labels"] = labels
    shared = set.intersection(*(set(table.items) for table in tables.values()))
    every = set.union(*(set(table.items) for table in tables.values()))
    if len(shared) < len(every):
        sizes = ", ".join(f"{name} {table.n_items:,}" for name, table in tables.items())
        if missing == "error":
            raise InputError(
                f"The tables are not about the same items: {sizes}; {len(shared):,} stand in all of them. "
                'Give the missing ones, or leave them out with missing="drop" (--missing drop).'
            )
        if not shared:
            raise InputError(f"No item stands in all of the tables ({sizes}). Are they named in the same way?")
    if len(shared) < len(every):
        notes.append(f"{len(shared):,} of {len(every):,} items stand in every table; the others were left out.")
    model = labels if labels is not None else next(iter(runs.values()))[0]
    names = [name for name in model.items if name in shared]
    items = tuple(names[place] for place in alphabetical(names))
    base = model if model.items == items else model.take(items)
    lined = {}
    for name, each in runs.items():
        taken = [run if run.items == items else run.take(items) for run in each]
        lined[name] = tuple(_with_classes(run, base, name) for run in taken)
    kept = None
    if gold is not None:
        codes = gold.aligned(items, gold.classes)
        known = np.flatnonzero(codes >= 0)
        if not len(known):
            raise InputError(f"None of the {len(items):,} predicted items is among the {gold.n_items:,} with gold.")
        kept = Gold(tuple(items[row] for row in known), codes[known], gold.classes)
        if len(known) < len(items):
            notes.append(f"{len(known):,} of {len(items):,} items have gold; what needs gold is about these.")
        if gold.n_items > len(known):
            notes.append(f"Gold has {counted(gold.n_items - len(known), 'more item')}, which nobody predicted.")
        unknown = sorted(set(kept.names()) - set(base.classes))
        if unknown:
            name = unknown[0] if len(unknown[0]) <= _NAME else f"{unknown[0][:_NAME]}…"
            more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
            notes.append(f"The gold class {name!r}{more} is none of the predicted ones; its items count as missed.")
    return Systems(lined, None if labels is None else base, kept, tuple(notes))


def vote_shares(annotations: Annotations, *, classes: Sequence[str]) -> SoftLabels:
    """Return the shares of the annotations of each item that has any, over *classes*, which may be more than were said.

    >>> votes = Annotations.from_rows(["a", "a"], ["ann", "bob"], ["x", "y"])
    >>> vote_shares(votes, classes=["x", "y", "z"])["a"].tolist()
    [0.5, 0.5, 0.0]
    """
    odd = next((name for name in annotations.classes if name not in classes), None)
    if odd is not None:
        raise InputError(f"The annotators' class {odd!r} is none of the predicted ones: {', '.join(classes)}.")
    rows = np.flatnonzero(annotations.per_item() > 0)
    shares = np.zeros((len(rows), len(classes)))
    shares[:, [classes.index(name) for name in annotations.classes]] = normalise(annotations.counts()[rows])
    items = tuple(annotations.items[row] for row in rows)
    origin = Origin("votes", fingerprint=annotations.fingerprint)
    return SoftLabels(shares, items=items, classes=tuple(classes), origin=origin)


def _with_classes(run: SoftLabels, base: SoftLabels, name: str) -> SoftLabels:
    """Return the run with the classes in the order of *base*, or say that they are others."""
    if run.classes == base.classes:
        return run
    if set(run.classes) == set(base.classes):
        return run.with_classes(base.classes)
    try:
        aligned(run, base)
    except InputError as error:
        raise InputError(f"System {name!r}: {error}") from None
    return run


def _named(predictions: Given) -> dict[str, tuple[SoftLabels, ...]]:
    given = predictions if isinstance(predictions, Mapping) else {"model": predictions}
    runs = {
        name: (each,) if isinstance(each, SoftLabels) else tuple(each) if isinstance(each, Sequence) else (each,)
        for name, each in given.items()
    }
    for name, each in runs.items():
        wrong = next((run for run in each if not isinstance(run, SoftLabels)), None)
        if wrong is not None:
            raise InputError(
                f"System {name!r}: Predictions are wanted, one table for each run. Got {type(wrong).__name__}."
            )
    taken = next((name for name in runs if name == "people" or name.startswith(("people: ", "baseline: "))), None)
    if taken is not None:
        raise InputError(f"A system cannot be called {taken!r}: people and baselines stand beside it. Rename it.")
    if not runs or not all(runs.values()):
        raise InputError("There are no predictions to evaluate. Give at least one run of one system.")
    return runs
