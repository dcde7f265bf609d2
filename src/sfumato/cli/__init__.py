"""The command line: one file per command, each loading only the rooms it needs."""

from __future__ import annotations

__all__ = ["main"]

import signal
import sys


def main() -> None:
    """Run the command line; what went wrong is told in a sentence, never in a traceback."""
    try:
        from sfumato.cli.app import run
    except KeyboardInterrupt:  # what the commands stand on takes a moment to load
        sys.stderr.write("error Interrupted before anything began.\n")
        raise SystemExit(1) from None
    try:
        code = run()
    except KeyboardInterrupt:  # once more, after the first was told of
        code = 1
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to interrupt
    raise SystemExit(code)
