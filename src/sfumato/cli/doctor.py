"""``sfumato doctor``: what is installed here, and what a missing extra would add."""

from __future__ import annotations

__all__ = ["doctor", "register"]

import os
import platform
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Annotated, Any

import typer

from sfumato.cli import screen
from sfumato.core.version import __version__

_ADDS = {
    "report": "pictures as SVG and PDF",
    "collect": "the study server that asks people",
    "train": "training in PyTorch",
    "text": "Hugging Face encoders for text and tokens",
    "sklearn": "the demo's model, and soft labels for scikit-learn",
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
    packages: dict[str, dict[str, str | None]] = {}
    for line in requires("sfumato") or []:
        requirement, _, marker = line.partition(";")
        name = _bare(requirement)
        extra = marker.split("==")[-1].strip().strip("'\"") if "extra" in marker else ""
        # An extra that is made of other extras names this package itself; what those need is listed anyway.
        if name != "sfumato" and name not in packages:
            packages[name] = {"for": f"[{extra}]" if extra else "everything", "version": _version(name)}
    extras = {
        extra: all(about["version"] for about in packages.values() if about["for"] == f"[{extra}]") for extra in _ADDS
    }
    # jinja2 is listed once, under the first extra that needs it.
    extras["text"] = extras["text"] and extras["train"]
    extras["collect"] = extras["collect"] and bool(_version("jinja2"))
    return {
        "sfumato": __version__,
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "threads": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": _memory_gib(),
        "data": os.environ.get("SFUMATO_DATA", "the cache folder (SFUMATO_DATA is not set)"),
        "packages": packages,
        "extras": extras,
    }


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
