"""An experiment: a short TOML of differences over the typed default of a study, read and checked whole."""

from __future__ import annotations

__all__ = ["SIZES", "Absent", "Claim", "Experiment", "Quirk", "Run", "Size", "read_experiment"]

import hashlib
import json
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args

from sfumato.errors import FormatError, InputError, OptionError, check_choice
from sfumato.reproduce.differences import size_fields, with_differences
from sfumato.reproduce.published import Printed, read_published
from sfumato.reproduce.sources import resolved, without_folder
from sfumato.reproduce.studies import Study, study

Size = Literal["smoke", "small", "full"]
SIZES: tuple[Size, ...] = get_args(Size)

_KNOWN = (
    "title", "study", "table", "seeds", "reference", "notes", "default", "sizes", "arms", "as_published", "claims",
    "absent", "keep_predictions", "exact", "x", "shows", "like",
)  # fmt: skip
# What an experiment takes from the one beside it that it is like, where it does not say it itself.
_SHARED = ("study", "seeds", "default", "sizes", "arms")


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
    that a figure draws along.
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
            settings = {name: value for name, value in given.items() if name not in ("row", "each", "as_published")}
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
    said = _said(path)
    unknown = [key for key in said if key not in _KNOWN]
    if unknown:
        raise OptionError(f"{path} has the key {unknown[0]!r}. An experiment has {', '.join(_KNOWN)}.")
    for key in ("title", "study"):
        if not isinstance(said.get(key), str):
            raise OptionError(f"{path} needs a {key!r}.")
    chosen = study(said["study"])
    quirk = said.get("as_published")
    experiment = Experiment(
        name=name,
        title=said["title"],
        study=chosen,
        source=path.resolve(),
        default=said.get("default", {}),
        arms=said.get("arms") or {said["title"]: {}},
        sizes=_checked_sizes(path, said.get("sizes", {}), chosen),
        seeds=int(said.get("seeds", 1)),
        quirk=None if quirk is None else _table(Quirk, quirk, f"{path}, as_published,"),
        claims=tuple(_table(Claim, claim, f"{path}, claims,") for claim in said.get("claims", ())),
        absent=tuple(_table(Absent, row, f"{path}, absent,") for row in said.get("absent", ())),
        notes=tuple(said.get("notes", ())),
        shows=tuple(said.get("shows", ())),
        reference=str(said.get("reference", "")),
        keep_predictions=bool(said.get("keep_predictions", False)),
        exact=bool(said.get("exact", False)),
        x=str(said.get("x", "")),
        published=read_published(path.parent / "published.toml", str(said.get("table", path.stem))),
    )
    for size in SIZES:  # every arm is put together once, so that a wrong name shows itself here and not in an hour
        experiment.runs(size, seeds=1)
    return experiment


def _said(path: Path) -> dict[str, Any]:
    """Return what a TOML says, over what the one says that it is like."""
    said = _toml(path)
    if "like" not in said:
        return said
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


def _checked_sizes(path: Path, said: Mapping[str, Mapping[str, Any]], of: Study) -> Mapping[str, Mapping[str, Any]]:
    allowed = ("seeds", *size_fields(type(of.default)))
    for size, given in said.items():
        check_choice(size, SIZES, option="sizes")
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
    try:
        return kind(**given)
    except TypeError as error:
        raise OptionError(f"{where} is not whole: {str(error).partition('()')[2].strip()}.") from None


def _each(change: Callable[[str], str], value: Any) -> Any:
    """Return a name, or a mapping to names, with each name changed."""
    if isinstance(value, Mapping):
        return {key: change(str(name)) for key, name in value.items()}
    return change(value)


def _in_words(value: Any) -> str:
    return str(value).replace("_", " ") if isinstance(value, str) else str(value)
