"""A study as ``study.toml``: read it with errors that say where, and write a first one with every setting explained."""

from __future__ import annotations

__all__ = ["commented", "read_study", "toml_text", "with_setting"]

import dataclasses
import difflib
import re
import tomllib
import types
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from sfumato.collect.bonus import bonus_of
from sfumato.collect.exclusions import rules_of
from sfumato.collect.languages import LANGUAGES, language
from sfumato.collect.redistribution import redistribution_of
from sfumato.collect.study import Study, StudyClass
from sfumato.errors import FormatError, InputError, OptionError

# What stands in [study] itself; everything else is a table of its own.
_OWN = (
    "title", "question", "person", "mode", "language", "seed", "shuffle_classes", "chips", "sliders_sum", "contact",
)  # fmt: skip
_TABLES = (
    "items", "batches", "checks", "practice", "consent", "instructions", "exit", "platform", "assignment",
    "exclusions", "bonus", "redistribute",
)  # fmt: skip


def read_study(path: Path) -> Study:
    """Read a study from *path*, a ``study.toml`` or the folder that holds one."""
    path = path if path.suffix == ".toml" and not path.is_dir() else path / "study.toml"
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        # The items may have been named, whose study `collect start` made where it was run.
        made = Path(f"{path.parent.resolve().name}-study")
        if (made / "study.toml").is_file():
            raise InputError(f"{path} does not exist. Perhaps you mean the study {made}.") from None
        raise InputError(f"{path} does not exist. Write one with: sfumato collect new {path.parent}") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is not TOML: {error}.") from None
    try:
        return _study(told, path.parent.resolve())
    except (OptionError, InputError) as error:
        raise type(error)(f"{path}: {error}") from None


def _study(told: dict[str, Any], folder: Path) -> Study:
    _known(told, ("study", "classes", *_TABLES), "")
    own = told.get("study", {})
    if not isinstance(own, dict):
        raise OptionError("[study] must be a table.")
    _known(own, (*_OWN, "classes"), "study.")
    if "classes" in told and "classes" in own:
        raise OptionError("The classes stand in [study] and in [[classes]]; keep one of them.")
    classes = told.get("classes", own.get("classes"))
    if classes is None:
        raise OptionError('The classes are missing: write classes = ["deer", "horse"] in [study], or [[classes]].')
    if not isinstance(classes, list):
        raise OptionError(f"study.classes must be a list. Got {classes!r} instead.")
    named = [{"name": each} if isinstance(each, str) else each for each in classes]
    hints = get_type_hints(Study)
    values: dict[str, Any] = {
        "classes": tuple(_value(each, StudyClass, f"classes, number {n}") for n, each in enumerate(named, start=1))
    }
    values |= {name: _value(value, hints[name], f"study.{name}") for name, value in own.items() if name != "classes"}
    values |= {name: _value(told[name], hints[name], name) for name in _TABLES if name in told}
    if "title" not in values:
        raise OptionError("study.title is missing.")
    study = Study(**values, folder=folder)
    rules_of(study)
    bonus_of(study)
    redistribution_of(study)
    language(study.language, folder=folder)
    return study


def _value(told: Any, wanted: Any, where: str) -> Any:
    """Return a value of TOML as the type that the study wants, or say where it is not of that type."""
    if dataclasses.is_dataclass(wanted) and isinstance(wanted, type):
        if not isinstance(told, dict):
            raise OptionError(f"{where} must be a table. Got {told!r} instead.")
        hints = get_type_hints(wanted)
        fields = {each.name: each for each in dataclasses.fields(wanted)}
        _known(told, tuple(fields), f"{where}.")
        for name, each in fields.items():
            needed = each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING
            if needed and name not in told:
                raise OptionError(f"{where}: {name} is missing.")
        return wanted(**{name: _value(value, hints[name], f"{where}.{name}") for name, value in told.items()})
    origin, arguments = get_origin(wanted), get_args(wanted)
    if origin is tuple:
        if not isinstance(told, list):
            raise OptionError(f"{where} must be a list. Got {told!r} instead.")
        return tuple(_value(each, arguments[0], f"{where}, number {n}") for n, each in enumerate(told, start=1))
    if origin is Literal:
        if told not in arguments or isinstance(told, bool):
            choices = ", ".join(map(repr, arguments))
            raise OptionError(f"{where} must be one of {choices}. Got {told!r} instead.")
        return told
    if origin in (Union, types.UnionType):
        choices_of_all = tuple(choice for each in arguments for choice in get_args(each))
        return _value(told, Literal[choices_of_all], where)
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(told, dict):
            raise OptionError(f"{where} must be a table. Got {told!r} instead.")
        return told
    named = {str: "a text", bool: "true or false", int: "a whole number", float: "a number"}
    right = isinstance(told, (int, float) if wanted is float else wanted)
    if not right or (isinstance(told, bool) and wanted is not bool):
        raise OptionError(f"{where} must be {named[wanted]}. Got {told!r} instead.")
    return float(told) if wanted is float else told


def _known(told: Mapping[str, Any], names: Sequence[str], where: str) -> None:
    for name in told:
        if name not in names:
            near = difflib.get_close_matches(name, names, n=1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise OptionError(f"There is no setting {where}{name}.{meant} Known here: {', '.join(names)}.")


def toml_text(text: str) -> str:
    """Return a text as TOML spells it.

    >>> toml_text('say "deer"')
    '"say \\\\"deer\\\\""'
    """
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    spelt = "".join(each if each.isprintable() or each == "\t" else f"\\U{ord(each):08x}" for each in escaped)
    return f'"{spelt}"'


def with_setting(text: str, table: str, name: str, value: str | int | float | bool) -> str:
    """Return the text of a ``study.toml`` with a setting that stands there, commented out or not, at a new value."""
    spelt = toml_text(value) if isinstance(value, str) else str(value).lower()
    before, start, inside = text.partition(f"\n[{table}]\n")
    line = re.search(rf"^(# )?{name} = (\"[^\"]*\"|\S+)(\s*?)(?= *(#|$))", inside, flags=re.MULTILINE)
    end = inside.find("\n[")
    if line is None or 0 <= end < line.start():
        raise OptionError(
            f"There is no line for {name} under [{table}] of study.toml. Write it there: {name} = {spelt}"
        )
    changed = f"{name} = {spelt}".ljust(len(line[0]))
    return before + start + inside[: line.start()] + changed + inside[line.end() :]


def commented(
    *,
    title: str,
    classes: Sequence[str],
    source: str = "items",
    language: str = "en",
    settings: Mapping[tuple[str, str], str | int | float | bool] = MappingProxyType({}),
) -> str:
    """Return a first ``study.toml``, every setting explained, most of them commented out at their defaults.

    *settings* are those that are set, by table and name: ``{("batches", "size"): 10}``.
    """
    text = _FIRST
    for (table, name), value in settings.items():
        text = with_setting(text, table, name, value)
    holes = {
        "title": toml_text(title),
        "classes": ", ".join(toml_text(name) for name in classes),
        "source": toml_text(source),
        "language": toml_text(language),
        "languages": ", ".join(LANGUAGES),
        "first": toml_text(classes[0]),
        "second": toml_text(classes[1]),
    }
    # All at once: a title may hold what looks like another hole.
    return re.sub("@(\\w+)@", lambda hole: holes[hole[1]] if hole[1] in holes else hole[0], text)


_FIRST = '''# A study for `sfumato collect start`. Lines that begin with "# name =" are settings at their defaults.

[study]
title = @title@
classes = [@classes@]  # or [[classes]] tables at the end of this file, with descriptions
# mode = "top2"            # hard: one class · top1: one class, how likely · top2: two classes, and what is impossible
                           # chips: place chips over the classes · sliders: a number for each class
# person = "first"         # first: your own view · third: "imagine 100 people …"
# question = ""            # "" takes the usual wording of the language
language = @language@            # @languages@, or the path of a file of phrases
# contact = ""             # shown at the foot of every page
# seed = 0                 # of everything that is random: order of classes, batches, checks
# shuffle_classes = true   # an order of its own for each person, kept for all their items
# chips = 20
# sliders_sum = "exact"    # exact: together 100 % · at_most: the rest is shared out by [redistribute]

[items]
source = @source@            # a folder of pictures, sounds, films or .txt; or a .csv, .tsv, .jsonl, .json of texts
# kind = ""                # image, text, audio, video; "" takes what is there
# size = 480               # pictures are fitted into so many pixels
# text_column = ""         # of a table; "" takes the usual names
# id_column = ""

[batches]
# size = 25                # items per person
# panel = 6                # people per item
# repeats = 0              # items that come again at the end, for consistency
# checks_per_batch = 0     # how many of the [[checks]] each person meets
# allocation = ""          # a JSON or CSV file of fixed batches

[assignment]
# strategy = "balanced"    # active: the items whose soft label one more answer would change most
# lease_minutes = 30       # after so long without a sign of life, what is not answered goes to others
# settle = 0.05            # active: an item is settled when one more answer would move less than this

[platform]
# kind = "plain"           # prolific, mturk, invitation
# completion_code = ""     # "" makes one at the first start
# screen_out_code = ""
# completion_url = ""      # where the last page leads, e.g. https://app.prolific.com/submissions/complete?cc=CODE
# screen_out_url = ""

[consent]
# text = """
# What the study is about, who runs it, what is stored, and that one may stop at any time.
# """

[instructions]
# text = ""
# attempts = 0             # wrong tries of the check below before a person is screened out; 0: as many as they like

# [[instructions.quiz]]
# question = "What are you asked for?"
# options = ["What I see myself", "What is fashionable"]
# answer = "What I see myself"

# [[practice]]
# item = "practice/one.png"   # an item of the study, which nobody is asked about then, a file in this folder, or a text
# expected = @first@
# feedback = "Most people would say so."

# [[checks]]
# item = "checks/plain.png"   # the same: what is practised, checked, or the example of a class is not asked about
# answer = @second@
# text = ""

# [[exit.questions]]
# text = "Was anything unclear?"
# kind = "text"            # text, choice, scale
# options = []
# required = false

[exclusions]
# preset = "paper"         # paper: the rules of Collins et al. (2022) · none: nobody is left out
# reference = ""           # a CSV file of item and label, for the rules about accuracy
# Who meets one of these is left out of the labels; each can be set here (what stands is "never", or the preset's):
# contradictions_above = 2                    # more answers than so many contradict themselves; -1: never
# accuracy_below_after_contradiction = 0.75   # one does, and fewer than this are right by the reference; 0: never
# accuracy_below = 0.0                        # fewer than this are right by the reference; 0: never
# checks_wrong_above = -1                     # more attention checks than so many failed; -1: never
# median_seconds_below = 0.0                  # seconds per item at the median; 0: never
# repeats_changed_above = 1.0                 # share of repeated items that got another class; 1: never
# same_class_above = 1.0                      # share of answers that name one and the same class; 1: never
# least_answers = 5                           # shares and medians wait for so many answers
# people = []                                 # these people, by their id in the export
# Not to pay somebody is another decision, by the same rules in a table of their own; nobody, as it stands:
# [exclusions.do_not_pay]
# checks_wrong_above = 2

[bonus]
# amount = 0.0             # what a person can earn on top; 0: no bonus
# currency = "USD"
# from_agreement = 0.8     # agreement with the panel at which the bonus begins …
# full_at = 0.95           # … and at which all of it is paid
# least_others = 2         # items count that so many others judged

[redistribute]
# rule = "clamp"           # where the open mass goes in the labels; uniform: what was ruled out takes part too
# use = "T2"               # T1: the first class alone · top1, top2: the choice without its probabilities
# gamma = 0.1              # share for what was not ruled out where the answer leaves nothing open
'''
