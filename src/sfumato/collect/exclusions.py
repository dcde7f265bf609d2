"""Whom the study leaves out of the labels, and whom it does not pay: two decisions, each by rules that are declared.

The rules stand in ``[exclusions]`` of study.toml. A run of them writes down the rules and what they said of whom,
beside the runs before it; nothing that a person said is touched, and another run takes back what this one did.
"""

from __future__ import annotations

__all__ = [
    "LEFT_OUT",
    "NOT_PAID",
    "PRESETS",
    "VERSION",
    "Exclusions",
    "Rules",
    "check_answers",
    "reference_of",
    "rules_have_run",
    "rules_of",
    "run_exclusions",
    "verdicts",
]

import csv
import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from types import MappingProxyType
from typing import Any, NamedTuple

from sfumato.collect.answers import contradicts_itself, first_classes
from sfumato.collect.declared import declared
from sfumato.collect.store import Store, Verdict
from sfumato.collect.study import Study
from sfumato.errors import InputError, OptionError, check_choice

# What the rules mean; a change to a formula below is a new version, and is written down with every run.
VERSION = 1
# How the reason of a verdict begins, by the decision that it is a reason for.
LEFT_OUT, NOT_PAID = "left out: ", "not paid: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of one decision; a person whom any of them meets is affected. None is on by default.

    Rules that compare a share or a median wait until the person has given *least_answers* answers.
    """

    contradictions_above: int = -1
    accuracy_below_after_contradiction: float = 0.0
    accuracy_below: float = 0.0
    checks_wrong_above: int = -1
    median_seconds_below: float = 0.0
    repeats_changed_above: float = 1.0
    same_class_above: float = 1.0
    least_answers: int = 5
    people: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("contradictions_above", "checks_wrong_above"):
            if getattr(self, name) < -1:
                raise OptionError(f"exclusions.{name} must be -1 (never) or more. Got {getattr(self, name)} instead.")
        for name in (
            "accuracy_below_after_contradiction", "accuracy_below", "repeats_changed_above", "same_class_above",
        ):  # fmt: skip
            if not 0 <= getattr(self, name) <= 1:
                raise OptionError(f"exclusions.{name} is a share from 0 to 1. Got {getattr(self, name)} instead.")
        for name in ("median_seconds_below", "least_answers"):
            if getattr(self, name) < 0:
                raise OptionError(f"exclusions.{name} must be 0 or more. Got {getattr(self, name)} instead.")

    @property
    def any(self) -> bool:
        """Whether any rule is on."""
        return dataclasses.replace(self, least_answers=Rules().least_answers) != Rules()


PRESETS: Mapping[str, Rules] = MappingProxyType(
    {
        "none": Rules(),
        # Collins et al. (2022), section 4.1: out who contradicts themselves more than twice; and who does so at all
        # and is right less often than 75 %. Nobody is left out for being wrong alone.
        "paper": Rules(contradictions_above=2, accuracy_below_after_contradiction=0.75),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusions:
    """What ``[exclusions]`` declares. *reference* is a CSV file of item and label, for the rules about accuracy."""

    preset: str = "paper"
    reference: str = ""
    leave_out: Rules = PRESETS["paper"]
    do_not_pay: Rules = PRESETS["none"]

    @property
    def any(self) -> bool:
        """Whether any rule of the two decisions is on."""
        return self.leave_out.any or self.do_not_pay.any


def rules_of(study: Study) -> Exclusions:
    """Return what the study declares: the preset, with the rules that are set in ``[exclusions]`` itself.

    >>> from sfumato.collect.study import StudyClass
    >>> classes = (StudyClass(name="deer"), StudyClass(name="horse"))
    >>> rules_of(Study(title="Animals", classes=classes, exclusions={"checks_wrong_above": 1})).leave_out.any
    True
    """
    told = dict(study.exclusions)
    preset, reference, unpaid = told.pop("preset", "paper"), told.pop("reference", ""), told.pop("do_not_pay", {})
    if not isinstance(preset, str) or not isinstance(reference, str):
        raise OptionError("exclusions.preset and exclusions.reference must be texts.")
    if not isinstance(unpaid, Mapping):
        raise OptionError(f"exclusions.do_not_pay must be a table of rules. Got {unpaid!r} instead.")
    check_choice(preset, PRESETS, option="exclusions.preset")
    more = ("preset", "reference", "do_not_pay")
    result = Exclusions(
        preset=preset,
        reference=reference,
        leave_out=declared(PRESETS[preset], told, table="exclusions", more=more),
        do_not_pay=declared(PRESETS["none"], unpaid, table="exclusions.do_not_pay"),
    )
    for table, rules in (("exclusions", result.leave_out), ("exclusions.do_not_pay", result.do_not_pay)):
        if rules.accuracy_below and not reference:
            raise OptionError(f"{table}.accuracy_below needs exclusions.reference, a CSV file of item and label.")
    return result


def run_exclusions(study: Study, store: Store, *, at: int) -> int:
    """Apply the rules to everybody as study.toml declares them now, whatever it said when the server started.

    What they said is written down, and the number of the run returned. A run that would say the same by the same rules
    as the last one is that one, so that running them often costs nothing.
    """
    from sfumato.collect.study_file import read_study

    if (study.folder / "study.toml").is_file():
        study = read_study(study.folder)
    rules = _recorded(study)
    said = tuple(sorted(verdicts(study, store), key=lambda verdict: verdict.person))
    before = store.exclusion_runs()
    if before and (before[-1].rules, before[-1].verdicts) == (rules, said):
        return before[-1].number
    return store.add_exclusion_run(rules, said, at).result()


def rules_have_run(study: Study, store: Store) -> bool:
    """Return whether the last run was by the rules that the study declares, or none is needed."""
    runs = store.exclusion_runs()
    return runs[-1].rules == _recorded(study) if runs else not rules_of(study).any


def _recorded(study: Study) -> dict[str, Any]:
    """Return the rules as they are written down with a run."""
    rules = {"version": VERSION, **dataclasses.asdict(rules_of(study))}
    for table in ("leave_out", "do_not_pay"):
        # The verdicts say who was named. Here their ids would outlive an erasure of the person.
        rules[table]["people"] = len(rules[table]["people"])
    return rules


def verdicts(study: Study, store: Store) -> list[Verdict]:
    """Return what the rules say now, of those about whom they say anything; nothing is stored."""
    declared_now = rules_of(study)
    reference = reference_of(study)
    known = check_answers(study)
    # What the rules need of an answer is little, and there may be very many answers.
    answers: dict[str, list[_Answer]] = {person.id: [] for person in store.people()}
    for row in store.responses():
        if row.kind != "practice" and row.person in answers:
            first, contradicts = first_classes(row.answer), contradicts_itself(row.answer)
            answers[row.person].append(_Answer(row.kind, row.item, first, contradicts, row.seconds))
    found = []
    for person, said in answers.items():
        seen = _seen(said, known, reference)
        out = _reasons(person, declared_now.leave_out, seen)
        unpaid = _reasons(person, declared_now.do_not_pay, seen)
        if out or unpaid:
            reasons = (*(LEFT_OUT + why for why in out), *(NOT_PAID + why for why in unpaid))
            found.append(Verdict(person, bool(out), bool(unpaid), reasons))
    return found


def check_answers(study: Study) -> dict[str, str]:
    """Return the right class of each attention check by the id under which its answers are stored."""
    by_id = {each.item: each.answer for each in study.checks}
    # A check that is a text itself is stored under the beginning of that text (`items.item_of`).
    return by_id | {f"text: {' '.join(each.item.split())[:80]}": each.answer for each in study.checks}


class _Answer(NamedTuple):
    """What the rules need of one answer."""

    kind: str
    item: str
    first: frozenset[str]
    contradicts: bool
    seconds: float | None


@dataclass(frozen=True, slots=True)
class _Seen:
    """What the rules look at in the answers of one person."""

    answers: int
    contradictions: int
    right: int
    judged: int
    checks_wrong: int
    median_seconds: float | None
    repeats: int
    changed: int
    most_of_one_class: int


def _seen(said: Sequence[_Answer], checks: Mapping[str, str], reference: Mapping[str, str]) -> _Seen:
    main = {each.item: each.first for each in said if each.kind == "main"}
    repeats = [(main[each.item], each.first) for each in said if each.kind == "repeat" and each.item in main]
    checked = [(checks[each.item], each.first) for each in said if each.kind == "check" and each.item in checks]
    seconds = [each.seconds for each in said if each.seconds is not None]
    judged = [(reference[item], first) for item, first in main.items() if item in reference]
    classes = Counter(next(iter(first)) for first in main.values() if len(first) == 1)
    return _Seen(
        answers=len(main),
        contradictions=sum(each.contradicts for each in said),
        right=sum(label in first for label, first in judged),
        judged=len(judged),
        checks_wrong=sum(answer not in first for answer, first in checked),
        median_seconds=median(seconds) if seconds else None,
        repeats=len(repeats),
        changed=sum(before.isdisjoint(after) for before, after in repeats),
        most_of_one_class=max(classes.values(), default=0),
    )


def _reasons(person: str, rules: Rules, seen: _Seen) -> list[str]:
    """Return, as sentences, which of the rules meet this person."""
    found = []
    enough = seen.answers >= rules.least_answers
    accuracy = seen.right / seen.judged if seen.judged else None
    if 0 <= rules.contradictions_above < seen.contradictions:
        said = _counted(seen.contradictions, "answer contradicts itself", "answers contradict themselves")
        found.append(f"{said}, more than {rules.contradictions_above}")
    if seen.contradictions and accuracy is not None and accuracy < rules.accuracy_below_after_contradiction:
        limit = rules.accuracy_below_after_contradiction
        found.append(f"an answer contradicts itself, and {accuracy:.0%} are right, less than {limit:.0%}")
    if enough and accuracy is not None and accuracy < rules.accuracy_below:
        found.append(f"{accuracy:.0%} of the answers are right, less than {rules.accuracy_below:.0%}")
    if 0 <= rules.checks_wrong_above < seen.checks_wrong:
        said = _counted(seen.checks_wrong, "attention check", "attention checks")
        found.append(f"{said} failed, more than {rules.checks_wrong_above}")
    if enough and seen.median_seconds is not None and seen.median_seconds < rules.median_seconds_below:
        limit = rules.median_seconds_below
        found.append(f"{seen.median_seconds:.1f} seconds per item at the median, less than {limit:g}")
    if seen.repeats and seen.changed / seen.repeats > rules.repeats_changed_above:
        found.append(
            f"{seen.changed} of {_counted(seen.repeats, 'repeated item', 'repeated items')} got another class, "
            f"more than {rules.repeats_changed_above:.0%}"
        )
    if enough and seen.answers and seen.most_of_one_class / seen.answers > rules.same_class_above:
        found.append(
            f"{seen.most_of_one_class} of {_counted(seen.answers, 'answer', 'answers')} name the same class, "
            f"more than {rules.same_class_above:.0%}"
        )
    if person in rules.people:
        found.append("named in study.toml")
    return found


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def reference_of(study: Study) -> dict[str, str]:
    """Return the reference classes by item, where the study names a file of them."""
    name = rules_of(study).reference
    if not name:
        return {}
    path = study.folder / name
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if not {"item", "label"} <= set(reader.fieldnames or ()):
                raise InputError(f"{path} must have the columns item and label. It has: {reader.fieldnames or 'none'}.")
            labels: dict[str, Any] = {row["item"]: row["label"] for row in reader}
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"exclusions.reference: {path} cannot be read: {why}.") from None
    for item, label in labels.items():
        if label not in study.class_names:
            raise InputError(f"{path}: the label {label!r} of item {item!r} is not one of the classes.")
    return labels
