"""How a study stands: what the admin pages show, as plain data, kept up to date by reading only what is new."""

from __future__ import annotations

__all__ = ["Overview"]

import math
import time
from array import array
from collections import Counter
from collections.abc import Mapping
from statistics import median
from typing import TYPE_CHECKING, Any

from sfumato.collect.answers import first_classes
from sfumato.collect.bonus import bonus_of
from sfumato.collect.exclusions import check_answers
from sfumato.collect.items import Item
from sfumato.collect.redistribution import redistribution_of
from sfumato.collect.store import ExclusionRun, PersonRow, ResponseRow, Store, response_of
from sfumato.collect.study import Study
from sfumato.errors import check_choice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sfumato.collect.labels import Labels

_MAIN, _REPEAT, _CHECK = 0, 1, 2
_KINDS = {"main": _MAIN, "repeat": _REPEAT, "check": _CHECK}
# With more classes than this, a distribution is told by its most probable ones.
_MANY, _MOST_PROBABLE = 24, 12
_LONGEST_TEXT = 500


class Overview:
    """The state of a study as it is asked for. Not for two threads at once."""

    def __init__(self, study: Study, store: Store, items: Mapping[str, Item]) -> None:
        """Keep hold of the study, its store and its items; nothing is read before it is asked for."""
        self._study, self._store, self._items = study, store, items
        self._said = _Said(study)
        self._checks = check_answers(study)

    def overview(self) -> dict[str, Any]:
        """Return the progress of the study and its numbers so far."""
        study, store, said = self._study, self._store, self._read()
        people, usable, run = store.people(), store.usable(), self._run()
        panel = store.panel() or study.batches.panel
        per_item = [usable.get(item, 0) for item in self._items]
        counted = said.counted(store.left_out())
        labels = said.labels()
        repeats = [pair for each in said.repeats().values() for pair in each]
        checks = [right for each in said.checks(self._checks).values() for right in each]
        seconds = [value for value in said.seconds if value == value]
        return {
            "title": study.title,
            "mode": study.mode,
            "strategy": study.assignment.strategy,
            "state": store.state(),
            "panel": panel,
            "n_items": len(self._items),
            "at": _now(),
            "people": dict(Counter(person.state for person in people)),
            "answers": {
                "usable": sum(usable.values()),
                "needed": panel * len(self._items),
                "surplus": said.n_surplus,
                "all": said.n_main,
            },
            "per_item": {
                "least": min(per_item, default=0),
                "most": max(per_item, default=0),
                "counts": {str(n): count for n, count in sorted(Counter(per_item).items())},
            },
            "agreement": _mean(labels.agreement_of_items(counted)),
            "entropy": _mean(_entropies(*labels.panel_sums(counted))),
            "seconds": median(seconds) if seconds else None,
            "repeat_change": sum(repeats) / len(repeats) if repeats else None,
            "checks": {"asked": len(checks), "wrong": checks.count(False)},
            "exclusions": {
                "run": None if run is None else run.number,
                "at": None if run is None else run.at,
                "leave_out": 0 if run is None else sum(verdict.leave_out for verdict in run.verdicts),
                "do_not_pay": 0 if run is None else sum(verdict.do_not_pay for verdict in run.verdicts),
            },
        }

    def people(self) -> dict[str, Any]:
        """Return everybody with their times, their consistency, and what the last run of the rules says of them."""
        store, said, run = self._store, self._read(), self._run()
        bonus = bonus_of(self._study)
        places = Counter(place.person for place in store.places() if not place.lapsed)
        verdicts = {verdict.person: verdict for verdict in run.verdicts} if run else {}
        labels = said.labels()
        agreement, n_items = labels.agreement_of_people(said.counted(store.left_out()), least_others=bonus.least_others)
        agreements = {
            person: float(value) for person, value, n in zip(labels.people, agreement, n_items, strict=True) if n
        }
        seconds, repeats, checks = said.seconds_of_people(), said.repeats(), said.checks(self._checks)
        answered = said.answered()
        told = []
        for person in store.people():
            verdict, agreed = verdicts.get(person.id), agreements.get(person.id)
            changed, checked = repeats.get(person.id, []), checks.get(person.id, [])
            told.append(
                {
                    "id": person.id,
                    "platform": person.platform,
                    "state": person.state,
                    "arrived_at": person.arrived_at,
                    "seen_at": person.seen_at,
                    "answered": answered.get(person.id, 0),
                    "places": places.get(person.id, 0),
                    "seconds": median(seconds[person.id]) if person.id in seconds else None,
                    "minutes": _minutes(person),
                    "agreement": agreed,
                    "repeat_change": sum(changed) / len(changed) if changed else None,
                    "checks": len(checked),
                    "checks_wrong": checked.count(False),
                    "leave_out": verdict is not None and verdict.leave_out,
                    "do_not_pay": verdict is not None and verdict.do_not_pay,
                    "reasons": list(verdict.reasons) if verdict else [],
                    "bonus": bonus.earned(agreed) if bonus.amount and agreed is not None else None,
                }
            )
        return {"people": told}

    def items(self, *, by: str = "entropy", offset: int = 0, n: int = 50) -> dict[str, Any]:
        """Return items with their distributions so far: those that split people first, or with fewest answers, or as
        they stand. One answer alone splits nobody. Of many classes, the most probable ones are told.
        """
        import numpy as np

        check_choice(by, ("entropy", "least", "id"), option="by")
        said, names = self._read(), list(self._items)
        labels, counted = said.labels(), said.counted(self._store.left_out())
        sums, counts = labels.panel_sums(counted)
        entropies, agreements = _entropies(sums, counts), labels.agreement_of_items(counted)
        code = {name: row for row, name in enumerate(labels.items)}
        rows = [code.get(name, -1) for name in names]
        if by == "entropy":
            keys = [
                (int(counts[row] < 2), -float(entropies[row])) if row >= 0 and counts[row] else (2, 0.0) for row in rows
            ]
        else:
            keys = [(int(counts[row]) if row >= 0 and by == "least" else 0, 0.0) for row in rows]
        order = sorted(range(len(names)), key=lambda place: keys[place])[offset : offset + n]
        told = []
        for place in order:
            item, row = self._items[names[place]], rows[place]
            answers = int(counts[row]) if row >= 0 else 0
            probs = sums[row] / answers if answers else np.zeros(0)
            told.append(
                {
                    "id": item.id,
                    "kind": item.kind,
                    "text": item.text[:_LONGEST_TEXT],
                    "answers": answers,
                    "distribution": self._distribution(probs) if answers else {},
                    "entropy": float(entropies[row]) if answers else None,
                    "agreement": float(agreements[row]) if answers > 1 else None,
                }
            )
        return {"total": len(names), "by": by, "offset": offset, "items": told}

    def _distribution(self, probs: NDArray[np.float64]) -> dict[str, float]:
        names = self._study.class_names
        shown = range(len(names)) if len(names) <= _MANY else (-probs).argsort(kind="stable")[:_MOST_PROBABLE]
        return {names[k]: float(probs[k]) for k in shown}

    def _read(self) -> _Said:
        self._said.read(self._store)
        return self._said

    def _run(self) -> ExclusionRun | None:
        runs = self._store.exclusion_runs()
        return runs[-1] if runs else None


class _Said:
    """What was said so far, in columns: a row per place of a person, the last answer to it."""

    def __init__(self, study: Study) -> None:
        self._classes, self._rule = study.class_names, redistribution_of(study)
        self._clear()

    def _clear(self) -> None:
        self._last, self._version = 0, -1
        self._items: dict[str, int] = {}
        self._people: dict[str, int] = {}
        self._item, self._person, self._place, self._kind = array("q"), array("q"), array("q"), array("b")
        self.seconds = array("d")
        self._surplus = array("b")
        # Few different sets, each kept once: the first class of nearly every answer is one class.
        self._first: list[frozenset[str]] = []
        self._known_first: dict[frozenset[str], frozenset[str]] = {}
        self._probs = array("f")
        self._rows_of_people: list[array[int]] = []

    def read(self, store: Store) -> None:
        """Read what is new; after an erasure everything again."""
        version = store.version
        if version != self._version:
            there = {person.id for person in store.people()}
            if not self._people.keys() <= there:
                self._clear()
            self._version = version
        for row in store.responses(after=self._last):
            self._last = max(self._last, row.number)
            if row.kind in _KINDS:
                self._add(row)

    def _add(self, row: ResponseRow) -> None:
        item = self._items.setdefault(row.item, len(self._items))
        person = self._people.setdefault(row.person, len(self._people))
        if person == len(self._rows_of_people):
            self._rows_of_people.append(array("q"))
        kind, first = _KINDS[row.kind], first_classes(row.answer)
        first = self._known_first.setdefault(first, first)
        seconds = math.nan if row.seconds is None else row.seconds
        # In single precision: these are pictures of a study under way, not its export.
        probs = array("f", self._rule.label(response_of(row), self._classes).tolist())
        width = len(self._classes)
        for known in self._rows_of_people[person]:
            if self._place[known] == row.place and self._kind[known] == kind:
                self._item[known], self._surplus[known], self._first[known] = item, row.surplus, first
                self.seconds[known] = seconds
                self._probs[known * width : (known + 1) * width] = probs
                return
        self._rows_of_people[person].append(len(self._item))
        self._item.append(item)
        self._person.append(person)
        self._place.append(row.place)
        self._kind.append(kind)
        self._surplus.append(row.surplus)
        self.seconds.append(seconds)
        self._first.append(first)
        self._probs.extend(probs)

    @property
    def n_main(self) -> int:
        return self._kind.count(_MAIN)

    @property
    def n_surplus(self) -> int:
        return sum(self._surplus)

    def labels(self) -> Labels:
        """Return the answers to the items themselves, repeats and checks left aside."""
        import numpy as np

        from sfumato.collect.labels import Labels

        main = self._main()
        probs = np.array(self._probs, dtype=np.float32).reshape(-1, len(self._classes))
        item, person = np.array(self._item, dtype=np.int64), np.array(self._person, dtype=np.int64)
        return Labels(tuple(self._items), tuple(self._people), item[main], person[main], probs[main])

    def counted(self, left_out: frozenset[str]) -> NDArray[np.bool_]:
        """Return which rows of `labels` are of people who are not left out."""
        import numpy as np

        kept = np.array([name not in left_out for name in self._people], dtype=bool)
        result: NDArray[np.bool_] = kept[np.array(self._person, dtype=np.int64)[self._main()]]
        return result

    def answered(self) -> dict[str, int]:
        """Return how many places each person has answered."""
        return {name: len(self._rows_of_people[code]) for name, code in self._people.items()}

    def seconds_of_people(self) -> dict[str, list[float]]:
        """Return the times per place of each person, where they are known."""
        times = {name: [self.seconds[row] for row in self._rows_of_people[code]] for name, code in self._people.items()}
        known = {name: [value for value in each if value == value] for name, each in times.items()}
        return {name: each for name, each in known.items() if each}

    def repeats(self) -> dict[str, list[bool]]:
        """Return of each person whether the first class changed, for each item that came again."""
        found: dict[str, list[bool]] = {}
        for name, code in self._people.items():
            rows = self._rows_of_people[code]
            main = {self._item[row]: self._first[row] for row in rows if self._kind[row] == _MAIN}
            again = [row for row in rows if self._kind[row] == _REPEAT and self._item[row] in main]
            if again:
                found[name] = [main[self._item[row]].isdisjoint(self._first[row]) for row in again]
        return found

    def checks(self, answers: Mapping[str, str]) -> dict[str, list[bool]]:
        """Return of each person whether they were right, for each attention check."""
        names, found = list(self._items), dict[str, list[bool]]()
        for name, code in self._people.items():
            asked = [row for row in self._rows_of_people[code] if self._kind[row] == _CHECK]
            right = [(answers.get(names[self._item[row]]), self._first[row]) for row in asked]
            if right:
                found[name] = [answer in first for answer, first in right if answer is not None]
        return found

    def _main(self) -> NDArray[np.bool_]:
        import numpy as np

        result: NDArray[np.bool_] = np.array(self._kind, dtype=np.int8) == _MAIN
        return result


def _entropies(sums: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the entropy of each mean distribution over its greatest possible value; nan without answers."""
    import numpy as np

    probs = sums / np.maximum(counts, 1)[:, None]
    logs = np.log(probs, out=np.zeros_like(probs), where=probs > 0)
    return np.where(counts > 0, -(probs * logs).sum(axis=1) / math.log(sums.shape[1]), np.nan)


def _mean(values: NDArray[np.float64]) -> float | None:
    known = values[values == values]
    return float(known.mean()) if len(known) else None


def _minutes(person: PersonRow) -> float:
    """Return how long a person was here, from their arrival until they handed in or were last seen."""
    until = person.finished_at or person.seen_at
    return round(max(until - person.arrived_at, 0) / 60_000, 1)


def _now() -> int:
    return time.time_ns() // 1_000_000
