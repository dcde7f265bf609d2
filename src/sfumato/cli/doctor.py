"""``sfumato doctor``: what is installed here, and what a missing extra would add."""

from __future__ import annotations

__all__ = ["doctor", "register"]

import os
import platform
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Annotated, Any

import typer

from sfumato.cli import screen
from sfumato.core.processors import n_processors
from sfumato.core.version import __version__

_ADDS = {
    "report": "pictures as SVG and PDF",
    "collect": "the study server that asks people",
    "pictures": "pictures sent to people in the size at which they are shown",
    "train": "training in PyTorch",
    "text": "Hugging Face encoders for text and tokens",
    "sklearn": "the demo's model, and soft labels for scikit-learn",
    "torchmetrics": "the metrics of this package within PyTorch and Lightning loops",
    "cluster": "aggregation on a Ray cluster",
}


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command(name="doctor", epilog="Example: sfumato doctor --json")(doctor)


def doctor(json: Annotated[bool, typer.Option("--json", help="Print as JSON.")] = False) -> None:
    """Show what is installed, versions and threads, and what a missing extra would add."""
    found = _examination()
    if json:
        screen.say_json(found)
    else:
        screen.say(f"sfumato {__version__} · Python {found['python']} · {found['system']}")
        screen.say(f"{found['threads']} threads · {found['memory_gib']} GiB of memory · data: {found['data']}\n")
        packages = found["packages"]
        screen.table(
            ["package", "needed for", "version"],
            [[name, about["for"], about["version"] or "not installed"] for name, about in packages.items()],
            left=2,
        )
        missing = [(extra, adds) for extra, adds in _ADDS.items() if not found["extras"][extra]]
        if missing:
            screen.say("")
        for extra, adds in missing:
            screen.say(f'[{extra}] would add {adds}: pip install "sfumato[{extra}]"')
    if any(about["version"] is None for about in found["packages"].values() if about["for"] == "everything"):
        raise typer.Exit(1)


def _examination() -> dict[str, Any]:
    """Return what is installed as plain data, from the package's own list of requirements."""
    needs = _needs()
    packages: dict[str, dict[str, str | None]] = {}
    for name in sorted(set().union(*needs.values()), key=lambda name: (name not in needs[""], name)):
        extras = [f"[{extra}]" for extra in _ADDS if name in needs[extra]]
        packages[name] = {"for": "everything" if name in needs[""] else " ".join(extras), "version": _version(name)}
    return {
        "sfumato": __version__,
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "threads": n_processors(),
        "memory_gib": _memory_gib(),
        "data": os.environ.get("SFUMATO_DATA", "the cache folder (SFUMATO_DATA is not set)"),
        "packages": packages,
        "extras": {extra: all(packages[name]["version"] for name in needs[extra]) for extra in _ADDS},
    }


def _needs() -> dict[str, set[str]]:
    """Return the packages that each extra needs, and under "" those that everything needs."""
    needs: dict[str, set[str]] = {extra: set() for extra in ("", *_ADDS)}
    borrowed: list[tuple[str, str]] = []
    for line in requires("sfumato") or []:
        requirement, _, marker = line.partition(";")
        extra = marker.split("==")[-1].strip().strip("'\"") if "extra" in marker else ""
        if extra not in needs:  # [all] only names the others
            continue
        name = _bare(requirement)
        # An extra made of another one names this package itself; some builders write out what that one needs.
        if name == "sfumato":
            borrowed += [(extra, other) for other in requirement.partition("[")[2].partition("]")[0].split(",")]
        else:
            needs[extra].add(name)
    for extra, other in borrowed:
        needs[extra] |= needs[other]
    return needs


def _bare(requirement: str) -> str:
    name = requirement.strip()
    for stop in "[<>=!~ ":
        name = name.split(stop)[0]
    return name


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _memory_gib() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)
    except (ValueError, OSError, AttributeError):  # not a POSIX system
        return None
