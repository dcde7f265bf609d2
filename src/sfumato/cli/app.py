"""The application: which commands there are, and what becomes of an error."""

from __future__ import annotations

__all__ = ["about", "app", "run"]

import errno
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from typing import Annotated

import typer

from sfumato.cli import aggregate, agreement, collect, compare, data, demo, doctor, evaluate, reproduce, screen, train
from sfumato.core.version import __version__
from sfumato.errors import SfumatoError, SfumatoWarning

app = typer.Typer(
    name="sfumato",
    help="From human judgement to a calibrated model, without throwing the disagreement away.",
    epilog="Start with: sfumato demo · or: sfumato aggregate votes.csv --out soft.csv",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        screen.say(f"sfumato {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Hold the options that stand before any command."""


aggregate.register(app)
compare.register(app)
agreement.register(app)
app.add_typer(train.app, name="train")
evaluate.register(app)
app.add_typer(collect.app, name="collect")
app.add_typer(data.app, name="data")
app.add_typer(reproduce.app, name="reproduce")
demo.register(app)
doctor.register(app)


# What Typer makes of Ctrl-C.
_INTERRUPTED = 130
# What a disk says on which there is no more room.
_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0: done. 1: it ran, and something is not as it should be (or it was interrupted). 2: the input or the
    arguments cannot be used.
    """
    warnings.showwarning = _show_warning
    try:
        code = app(args=arguments, standalone_mode=False)
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        if sys.stdout is not None:  # whoever closes it wants nothing said
            sys.stdout.flush()
    except SfumatoError as error:
        screen.complain(str(error))
        return 2
    except (KeyboardInterrupt, typer.Abort):
        with _deaf():
            screen.complain("Interrupted. Every file is either whole or was not touched.")
        return 1
    except BrokenPipeError:  # `sfumato … | head`: the reader has seen enough
        sys.stderr.close()
        return 0
    except MemoryError:
        screen.complain("This machine has not enough memory for that.")
        return 1
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            raise
        return _full_output(error)
    except Exception as error:
        return _usage_error(error)
    return code if isinstance(code, int) else 0


@contextmanager
def _deaf() -> Iterator[None]:
    """Let nobody interrupt the sentence that says that somebody interrupted."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _full_output(error: OSError) -> int:
    """Tell that the output did not fit; what is still in its buffer goes nowhere, or Python would try it once more."""
    with suppress(OSError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    screen.complain(f"The output could not be written ({error.strerror}). Send it to where there is room.")
    return 1


def _usage_error(error: Exception) -> int:
    """Show a wrong argument the way Typer would; anything else is a fault of ours and keeps its traceback."""
    show = getattr(error, "show", None)
    if show is None:
        raise error
    show()
    return int(getattr(error, "exit_code", 2))


def _show_warning(message: Warning | str, category: type[Warning], *_: object, **__: object) -> None:
    if issubclass(category, SfumatoWarning):
        screen.note(str(message))
