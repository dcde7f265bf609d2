"""An experiment: a short TOML of differences over the typed default of a study, read and checked whole."""

from __future__ import annotations

__all__ = ["SIZES", "Absent", "Claim", "Experiment", "Quirk", "Run", "Size", "read_experiment"]

import hashlib
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, asdict, dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

from sfumato.errors import FormatError, InputError, OptionError, check_choice
from sfumato.reproduce.differences import checked, size_fields, with_differences
from sfumato.reproduce.published import Printed, read_published
from sfumato.reproduce.sources import resolved, without_folder
from sfumato.reproduce.studies import Study, study

Size = Literal["smoke", "small", "full"]
SIZES: tuple[Size, ...] = get_args(Size)

# What an experiment takes from the one beside it that it is like, where it does not say it itself.
_SHARED = ("study", "seeds", "default", "sizes", "arms")
_OF_ARM = ("row", "each", "as_published")
# The settings that say whose annotations a study is about.
_WHOSE = ("data", "sets")


@dataclass(frozen=True)
class _Keys:
    """What the TOML of an experiment can say, and of what type it is."""

    title: str = ""
    study: str = ""
    like: str = ""
    table: str = ""
    seeds: int = 1
    reference: str = ""
    shows: tuple[str, ...] = ()
    x: str = ""
    exact: bool = False
    keep_predictions: bool = False
    notes: tuple[str, ...] = ()
    default: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, Any] = field(default_factory=dict)
    arms: Mapping[str, Any] = field(default_factory=dict)
    as_published: Mapping[str, Any] | None = None
    claims: tuple[Mapping[str, Any], ...] = ()
    absent: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class _OfArm:
    """What an arm says beside the settings of its study."""

    row: str = ""
    each: Mapping[str, Any] = field(default_factory=dict)
    as_published: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Quirk:
    """A named switch without which a published number cannot be had: what it sets, and why, in one sentence."""

    why: str
    set: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Claim:
    """What a paper says of two rows: the number of ``better`` is better than that of ``worse``."""

    text: str
    better: str
    worse: str
    metric: str
    on: str = ""


@dataclass(frozen=True, slots=True)
class Absent:
    """A row, or a column, of the paper that cannot be run, and why."""

    row: str = ""
    on: str = ""
    why: str = ""


@dataclass(frozen=True)
class Run:
    """One computation: the settings of an arm, with or without the quirk, and a seed.

    ``row`` is the row of the table it stands in, ``series`` the line of a figure, ``unit`` what runs of different arms
    have in common (the network), so that they are compared in pairs.
    """

    study: Study
    arm: str
    row: str
    series: str
    unit: str
    variant: Literal["corrected", "as published"]
    seed: int
    setting: Any

    @property
    def config(self) -> str:
        """A hash of the study and of what the settings change in its default: runs that share it are the same run.

        Files count by their names (their content is in the fingerprint of the data), so that it holds on any machine.
        """
        default = asdict(self.study.default)
        paths = {one.name for one in fields(self.setting) if one.metadata.get("path")}
        plain = {
            name: _each(without_folder, value) if name in paths else value
            for name, value in asdict(self.setting).items()
            if value != default[name]
        }
        said = json.dumps([self.study.name, self.study.revision, plain], sort_keys=True, ensure_ascii=False)
        return hashlib.blake2b(said.encode(), digest_size=12).hexdigest()

    @property
    def data(self) -> tuple[str, ...]:
        """The public sets and the files that the run reads."""
        return self.study.data_of(self.setting)


@dataclass(frozen=True)
class Experiment:
    """A table or figure: its arms over one study, its sizes, its quirk, its claims, and the paper's numbers.

    ``exact`` says that nothing in it is random, so that every size is the same and the last digit counts. ``shows`` are
    the metrics that its table has, where its runs give more. ``x`` is the setting, or the number,
    that a figure draws along. ``notes`` stand below the table; one that begins with "Small: " at that size only.
    """

    name: str
    title: str
    study: Study
    source: Path
    default: Mapping[str, Any]
    arms: Mapping[str, Mapping[str, Any]]
    sizes: Mapping[str, Mapping[str, Any]]
    seeds: int = 1
    quirk: Quirk | None = None
    claims: tuple[Claim, ...] = ()
    absent: tuple[Absent, ...] = ()
    notes: tuple[str, ...] = ()
    shows: tuple[str, ...] = ()
    reference: str = ""
    keep_predictions: bool = False
    exact: bool = False
    x: str = ""
    published: Mapping[tuple[str, str, str], Printed] = field(default_factory=dict)

    @property
    def paper(self) -> str:
        """The folder of the experiment, by which it is known: collins, uma, …; empty for one of the user's own."""
        return self.name.partition("/")[0] if "/" in self.name else ""

    def rows(self) -> tuple[str, ...]:
        """Return the rows of the arms in their order."""
        return tuple(dict.fromkeys(run.row for run in self.runs("full", seeds=1)))

    def n_seeds(self, size: Size) -> int:
        """Return how many seeds a size has."""
        return int(self.sizes.get(size, {}).get("seeds", self.seeds))

    def runs(self, size: Size, *, seeds: int | None = None) -> tuple[Run, ...]:
        """Return what there is to compute at a size: each arm, with the quirk and without it, for each seed."""
        count = self.n_seeds(size) if seeds is None else seeds
        if count < 1:
            raise OptionError(f"The option 'seeds' must be 1 or more. Got {count} instead.")
        return tuple(run for seed in range(count) for run in self._arms(size, seed))

    def _arms(self, size: Size, seed: int) -> Iterator[Run]:
        smaller = {name: value for name, value in self.sizes.get(size, {}).items() if name != "seeds"}
        for arm, given in self.arms.items():
            settings = {name: value for name, value in given.items() if name not in _OF_ARM}
            each: Mapping[str, list[Any]] = given.get("each", {})
            for values in product(*each.values()):
                chosen = dict(zip(each, values, strict=True))
                row = str(given.get("row", arm))
                said = {name: _in_words(value) for name, value in chosen.items()}
                unit = ", ".join(text for name, text in said.items() if f"{{{name}}}" not in row)
                full_name = ", ".join([arm.format(**said), *(said[name] for name in said if f"{{{name}}}" not in arm)])
                names = {"arm": full_name, "row": row.format(**said), "series": arm.format(**said), "unit": unit}
                where = f"{self.source}, arm {arm!r},"
                plain = self._with({**self.default, **settings, **chosen, **smaller}, where)
                yield Run(self.study, variant="corrected", seed=seed, setting=plain, **names)
                if self.quirk is not None:
                    odd = {**self.default, **settings, **chosen, **self.quirk.set, **given.get("as_published", {})}
                    published = self._with({**odd, **smaller}, where)
                    yield Run(self.study, variant="as published", seed=seed, setting=published, **names)

    def _with(self, given: Mapping[str, Any], where: str) -> Any:
        setting = with_differences(self.study.default, given, where=where)
        paths = [one.name for one in fields(setting) if one.metadata.get("path")]
        found = {name: _each(lambda file: resolved(file, self.source.parent), getattr(setting, name)) for name in paths}
        return with_differences(setting, found, where=where)


def read_experiment(path: Path, name: str) -> Experiment:
    """Read a TOML of differences and check all of it: names, types, sizes, claims and the published numbers."""
    given = _said(path)
    known = [one.name for one in fields(_Keys)]
    unknown = [key for key in given if key not in known]
    if unknown:
        raise OptionError(f"{path} has the key {unknown[0]!r}. An experiment has {', '.join(known)}.")
    for key in ("title", "study"):
        if not isinstance(given.get(key), str):
            raise OptionError(f"{path} needs a {key!r}.")
    said = with_differences(_Keys(), given, where=f"{path}")
    if said.seeds < 1:
        raise OptionError(f"{path} sets 'seeds' to {said.seeds}; it must be 1 or more.")
    chosen = study(said.study)
    _check_arms(path, said)
    experiment = Experiment(
        name=name,
        title=said.title,
        study=chosen,
        source=path.resolve(),
        default=said.default,
        arms=said.arms or {said.title: {}},
        sizes=_checked_sizes(path, said.sizes, chosen),
        seeds=said.seeds,
        quirk=None if said.as_published is None else _table(Quirk, said.as_published, f"{path}, as_published,"),
        claims=tuple(_table(Claim, claim, f"{path}, claims,") for claim in said.claims),
        absent=tuple(_table(Absent, row, f"{path}, absent,") for row in said.absent),
        notes=said.notes,
        shows=said.shows,
        reference=said.reference,
        keep_predictions=said.keep_predictions,
        exact=said.exact,
        x=said.x,
        published=read_published(path.parent / "published.toml", said.table or path.stem),
    )
    for size in SIZES:  # every arm is put together once, so that a wrong name shows itself here and not in an hour
        experiment.runs(size, seeds=1)
    _check_rows(path, experiment)
    _check_data(path, said, chosen)
    return experiment


def _check_arms(path: Path, said: _Keys) -> None:
    for name, arm in _tables(said.arms, f"{path}, arms,"):
        where = f"{path}, arm {name!r},"
        checked(_OfArm, {key: value for key, value in arm.items() if key in _OF_ARM}, where=where)
        for setting, values in arm.get("each", {}).items():
            if not isinstance(values, list) or not values:
                raise OptionError(f"{where} each, sets {setting!r} to {values!r}; it must be a list of what to take.")
        names = dict.fromkeys(arm.get("each", {}), "")
        for text in (name, arm.get("row", "")):
            try:
                text.format(**names)
            except (LookupError, ValueError, AttributeError):
                raise OptionError(
                    f"{where} has something else than a name of its 'each' in braces in {text!r}."
                ) from None


def _check_data(path: Path, said: _Keys, of: Study) -> None:
    """Refuse to run on the set of a default, one of the papers', where nobody said anything of data or arms."""
    whose = [one.name for one in fields(of.default) if one.name in _WHOSE]
    if whose and not said.arms and not {whose[0], "tasks"} & set(said.default):
        raise OptionError(
            f"{path} says nothing of the data. Set {whose[0]!r} in [default] or in an arm: public sets by name (see: "
            "sfumato data list), or files of votes."
        )


def _check_rows(path: Path, one: Experiment) -> None:
    """Refuse the names of rows that the table will not have, where they are known before anything is run."""
    if one.study.names_rows:
        return
    rows = one.rows()
    named = [
        ("reference", one.reference),
        *(("claims", row) for claim in one.claims for row in (claim.better, claim.worse)),
    ]
    for key, row in named:
        if row and row not in rows:
            raise OptionError(f"{path}, {key}, names the row {row!r}. There are {', '.join(map(repr, rows))}.")


def _said(path: Path) -> dict[str, Any]:
    """Return what a TOML says, over what the one says that it is like."""
    said = _toml(path)
    if "like" not in said:
        return said
    if not isinstance(said["like"], str):
        raise OptionError(f"{path} sets 'like' to {said['like']!r}; it must be text.")
    other = path.parent / f"{said['like']}.toml"
    if other.resolve() == path.resolve():
        raise OptionError(f"{path} is like itself. Name another experiment, or leave 'like' out.")
    return {**{key: value for key, value in _said(other).items() if key in _SHARED}, **said}


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"{path} is not TOML: {error}.") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None


def _tables(said: Mapping[str, Any], where: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give each table of a table by its name."""
    for name, given in said.items():
        if not isinstance(given, Mapping):
            raise OptionError(f"{where} sets {name!r} to {given!r}; it must be a table.")
        yield name, given


def _checked_sizes(path: Path, said: Mapping[str, Any], of: Study) -> Mapping[str, Mapping[str, Any]]:
    allowed = ("seeds", *size_fields(type(of.default)))
    for size, given in _tables(said, f"{path}, sizes,"):
        check_choice(size, SIZES, option="sizes")
        seeds = given.get("seeds", 1)
        if not isinstance(seeds, int) or isinstance(seeds, bool) or seeds < 1:
            raise OptionError(f"{path}, sizes, sets 'seeds' to {seeds!r}; it must be 1 or more.")
        for name in given:
            if name not in allowed:
                raise OptionError(
                    f"{path} lets the size {size!r} change {name!r}. A size changes {', '.join(allowed)} only."
                )
    return said


def _table(kind: type[Any], given: Mapping[str, Any], where: str) -> Any:
    known = [one.name for one in fields(kind)]
    unknown = [name for name in given if name not in known]
    if unknown:
        raise OptionError(f"{where} has {unknown[0]!r}; it takes {', '.join(known)}.")
    lacking = [
        repr(one.name) for one in fields(kind)
        if one.name not in given and one.default is MISSING and one.default_factory is MISSING
    ]  # fmt: skip
    if lacking:
        raise OptionError(f"{where} lacks {', '.join(lacking)}; it takes {', '.join(known)}.")
    return kind(**checked(kind, given, where=where))


def _each(change: Callable[[str], str], value: Any) -> Any:
    """Return a name, or a mapping to names, with each name changed."""
    if isinstance(value, Mapping):
        return {key: change(str(name)) for key, name in value.items()}
    return change(value)


def _in_words(value: Any) -> str:
    return str(value).replace("_", " ") if isinstance(value, str) else str(value)
