"""The command line: one file per command, each loading only the rooms it needs."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command line; what went wrong is told in a sentence, never in a traceback."""
    from sfumato.cli.app import run

    raise SystemExit(run())
