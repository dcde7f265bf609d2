"""The experiments that come with sfumato, and those of the user: a name or a path gives an experiment."""

from __future__ import annotations

__all__ = ["PAPERS", "experiments", "find", "names"]

from difflib import get_close_matches
from pathlib import Path

from sfumato.errors import OptionError
from sfumato.reproduce.experiment import Experiment, read_experiment

# The folders beside this file, in the order in which they are told of.
PAPERS = ("collins", "uma", "fornaciari", "wright", "beyond")
_HERE = Path(__file__).parent


def names() -> tuple[str, ...]:
    """Return the names of all experiments that come with sfumato: wright/table1, …"""
    return tuple(
        f"{paper}/{path.stem}"
        for paper in PAPERS
        for path in sorted((_HERE / paper).glob("*.toml"), key=_in_order)
        if path.stem != "published"
    )


def _in_order(path: Path) -> tuple[str, int]:
    """Sort table2 before table10, and tables behind figures."""
    name = path.stem.rstrip("0123456789")
    return name, int(path.stem[len(name) :] or 0)


def experiments() -> tuple[Experiment, ...]:
    """Return all experiments that come with sfumato."""
    return tuple(find(name)[0] for name in names())


def find(name: str) -> tuple[Experiment, ...]:
    """Return the experiment of that name, all of a paper, or the one in a file of the user's own.

    >>> [one.name for one in find("wright/table1")]
    ['wright/table1']
    """
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise OptionError(f"There is no file {name}. Name an experiment, or the TOML of one.")
        return (read_experiment(path, path.stem),)
    known = names()
    if name in known:
        return (read_experiment(_HERE / f"{name}.toml", name),)
    if name in PAPERS:
        return tuple(read_experiment(_HERE / f"{one}.toml", one) for one in known if one.startswith(f"{name}/"))
    if name == "all":
        return experiments()
    near = get_close_matches(name, [*known, *PAPERS], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise OptionError(
        f"There is no experiment {name!r}.{hint} Name one that `sfumato reproduce list` shows, a paper "
        f"({', '.join(PAPERS)}), all, or the path of a .toml."
    )
