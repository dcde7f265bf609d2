"""A study: what is asked about which items, of how many people, in which words, and what happens around it.

Everything here is plain data, checked once when it is made; `study_file.py` reads and writes it as ``study.toml``.
"""

from __future__ import annotations

__all__ = [
    "Assignment",
    "Batches",
    "Check",
    "Consent",
    "Exit",
    "ExitQuestion",
    "Instructions",
    "Items",
    "Platform",
    "Practice",
    "QuizQuestion",
    "Study",
    "StudyClass",
]

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from sfumato.errors import OptionError, check_choice

Mode = Literal["hard", "top1", "top2", "chips", "sliders"]
Person = Literal["first", "third"]
Kind = Literal["image", "text", "audio", "video"]
PlatformKind = Literal["plain", "prolific", "mturk", "invitation"]
Strategy = Literal["balanced", "active"]
ExitKind = Literal["text", "choice", "scale"]

_MOST_CLASSES = 10_000
_LONGEST_NAME = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyClass:
    """One class: its *name*, what is meant by it, and the path of an item that shows it."""

    name: str
    description: str = ""
    example: str = ""

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.strip() or not self.name.isprintable():
            raise OptionError(f"The name of a class is printable text without spaces around it. Got {self.name!r}.")
        if len(self.name) > _LONGEST_NAME:
            raise OptionError(f"The class {self.name[:40]!r}… has a name of more than {_LONGEST_NAME} characters.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """Where the items are: a folder, or a file of texts, and how they are shown.

    *source* is a path, relative to the folder of the study. *kind* "" recognises the kind from the source. *size* is
    the width and height in CSS pixels that a picture is fitted into. The columns are those of a CSV or JSONL file;
    "" takes the usual names (text, sentence …; id, item …).
    """

    source: str = "items"
    kind: Kind | Literal[""] = ""
    size: int = 480
    text_column: str = ""
    id_column: str = ""

    def __post_init__(self) -> None:
        if self.kind:
            check_choice(self.kind, ("image", "text", "audio", "video"), option="items.kind")
        _at_least(self.size, 16, "items.size")
        _at_most(self.size, 4096, "items.size")


@dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """How the items are shared out.

    Each person gets *size* items, each item *panel* people. *allocation* is a JSON or CSV file of fixed batches; ""
    makes them anew for each person from the items that need people most. *repeats* items of the batch come again at
    its end, for consistency; *checks_per_batch* attention checks stand between the items.
    """

    size: int = 25
    panel: int = 6
    allocation: str = ""
    repeats: int = 0
    checks_per_batch: int = 0

    def __post_init__(self) -> None:
        _at_least(self.size, 1, "batches.size")
        _at_most(self.size, 1000, "batches.size")
        _at_least(self.panel, 1, "batches.panel")
        _at_least(self.repeats, 0, "batches.repeats")
        _at_least(self.checks_per_batch, 0, "batches.checks_per_batch")
        if self.repeats > self.size:
            raise OptionError(f"batches.repeats ({self.repeats}) is more than batches.size ({self.size}).")


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """An attention check: an item whose *answer* everybody knows; *text* is said beside it."""

    item: str
    answer: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Practice:
    """An item to practise on: after the answer the person reads *feedback*; *expected* is the class it speaks of."""

    item: str
    feedback: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """The page that asks for consent; without a text there is none, and opening the study begins it."""

    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizQuestion:
    """One question of the comprehension check: the *options*, and the one that is right."""

    question: str
    options: tuple[str, ...]
    answer: str

    def __post_init__(self) -> None:
        if len(self.options) < 2 or len(set(self.options)) != len(self.options):
            raise OptionError(f"The quiz question {self.question!r} needs two options or more, all different.")
        if self.answer not in self.options:
            raise OptionError(f"The answer {self.answer!r} to {self.question!r} is not one of its options.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """The instructions, and the comprehension check that is asked again until it is right.

    After *attempts* wrong tries the person is screened out; 0 lets everybody try for ever.
    """

    text: str = ""
    quiz: tuple[QuizQuestion, ...] = ()
    attempts: int = 0

    def __post_init__(self) -> None:
        _at_least(self.attempts, 0, "instructions.attempts")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExitQuestion:
    """A question asked at the end: free *text*, a *choice* of the options, or a *scale* whose steps are the options."""

    text: str
    kind: ExitKind = "text"
    options: tuple[str, ...] = ()
    required: bool = False

    def __post_init__(self) -> None:
        check_choice(self.kind, ("text", "choice", "scale"), option="exit.questions.kind")
        if (self.kind != "text") != (len(self.options) >= 2) or len(set(self.options)) != len(self.options):
            raise OptionError(
                f"The exit question {self.text!r}: a choice or a scale needs two different options or more, "
                "and a text takes none."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Exit:
    """What is asked at the end."""

    questions: tuple[ExitQuestion, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Platform:
    """Where the people come from, and where they go when they are done or screened out.

    The codes are shown on the last page; a url, where one is given, is where its link goes.
    """

    kind: PlatformKind = "plain"
    completion_code: str = ""
    screen_out_code: str = ""
    completion_url: str = ""
    screen_out_url: str = ""

    def __post_init__(self) -> None:
        check_choice(self.kind, ("plain", "prolific", "mturk", "invitation"), option="platform.kind")
        for option in ("completion_url", "screen_out_url"):
            url = getattr(self, option)
            if url and not url.startswith(("https://", "http://")):
                raise OptionError(f"platform.{option} must begin with https:// or http://. Got {url!r} instead.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Who gets which items next.

    *balanced* sends the items with the fewest usable answers; *active* those whose soft label one more answer is
    expected to change most, and stops asking about an item once that is below *settle* (total variation). A person
    who does nothing for *lease_minutes* gives the places that are not answered back.
    """

    strategy: Strategy = "balanced"
    lease_minutes: int = 30
    settle: float = 0.05

    def __post_init__(self) -> None:
        check_choice(self.strategy, ("balanced", "active"), option="assignment.strategy")
        _at_least(self.lease_minutes, 1, "assignment.lease_minutes")
        if not 0 <= self.settle < 1:
            raise OptionError(f"assignment.settle must be at least 0 and below 1. Got {self.settle} instead.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A whole study.

    *question* "" takes the usual wording of the language for the *mode* and the *person* (first: your own view;
    third: what 100 people would say). *language* is ``en``, ``de`` or the path of a file of phrases. *chips* is how
    many chips the mode ``chips`` gives out. *sliders_sum* says whether the mode ``sliders`` wants exactly 100 % or
    at most 100 %. *folder* is what paths are relative to.

    >>> study = Study(title="Animals", classes=(StudyClass(name="deer"), StudyClass(name="horse")))
    >>> study.class_names, study.mode
    (('deer', 'horse'), 'top2')
    """

    title: str
    classes: tuple[StudyClass, ...]
    question: str = ""
    person: Person = "first"
    mode: Mode = "top2"
    language: str = "en"
    seed: int = 0
    shuffle_classes: bool = True
    chips: int = 20
    sliders_sum: Literal["exact", "at_most"] = "exact"
    contact: str = ""
    items: Items = field(default_factory=Items)
    batches: Batches = field(default_factory=Batches)
    checks: tuple[Check, ...] = ()
    practice: tuple[Practice, ...] = ()
    consent: Consent = field(default_factory=Consent)
    instructions: Instructions = field(default_factory=Instructions)
    exit: Exit = field(default_factory=Exit)
    platform: Platform = field(default_factory=Platform)
    assignment: Assignment = field(default_factory=Assignment)
    exclusions: Mapping[str, Any] = field(default_factory=dict)
    bonus: Mapping[str, Any] = field(default_factory=dict)
    redistribute: Mapping[str, Any] = field(default_factory=dict)
    folder: Path = Path()

    def __post_init__(self) -> None:
        if not self.title.strip():
            raise OptionError("A study needs a title.")
        check_choice(self.person, ("first", "third"), option="study.person")
        check_choice(self.mode, ("hard", "top1", "top2", "chips", "sliders"), option="study.mode")
        check_choice(self.sliders_sum, ("exact", "at_most"), option="study.sliders_sum")
        _at_least(self.chips, 1, "study.chips")
        _at_most(self.chips, 1000, "study.chips")
        names = self.class_names
        if len(names) < 2:
            raise OptionError(f"A study needs two classes or more. Got {len(names)}.")
        _at_most(len(names), _MOST_CLASSES, "the number of classes")
        twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
        if twice is not None:
            raise OptionError(f"The class {twice!r} stands twice in the list of classes.")
        for check in self.checks:
            if check.answer not in names:
                raise OptionError(f"The answer {check.answer!r} of the check {check.item!r} is not one of the classes.")
        for practice in self.practice:
            if practice.expected and practice.expected not in names:
                raise OptionError(
                    f"The class {practice.expected!r} expected of the practice item {practice.item!r} is not one of "
                    "the classes."
                )
        if self.batches.checks_per_batch > len(self.checks):
            raise OptionError(
                f"batches.checks_per_batch asks for {self.batches.checks_per_batch} checks in each batch, and the "
                f"study has {len(self.checks)}. Add [[checks]] or ask for fewer."
            )

    @property
    def class_names(self) -> tuple[str, ...]:
        """The names of the classes, in the order of the study."""
        return tuple(each.name for each in self.classes)


def _at_least(value: int, least: int, option: str) -> None:
    if value < least:
        raise OptionError(f"{option} must be at least {least}. Got {value} instead.")


def _at_most(value: int, most: int, option: str) -> None:
    if value > most:
        raise OptionError(f"{option} must be at most {most}. Got {value} instead.")
