"""What the commands print: results to standard output, everything else to standard error."""

from __future__ import annotations

__all__ = ["complain", "note", "say", "say_json", "table", "working"]

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

# Called with what is done, what there is to do (None: nobody knows) and, where it changes, what is going on.
Advance = Callable[..., None]


def say(text: str) -> None:
    """Print a line of the result; the text is shown as it is, brackets included."""
    _out().print(text, markup=False, highlight=False, soft_wrap=True)


def say_json(data: Any) -> None:
    """Print data as JSON, for machines."""
    _out().print(json.dumps(data, ensure_ascii=False, indent=2), markup=False, highlight=False, soft_wrap=True)


def note(text: str) -> None:
    """Print a remark to standard error."""
    _err().print(f"[dim]note[/dim] {escape(text)}", highlight=False, soft_wrap=True)


def complain(text: str) -> None:
    """Print what went wrong to standard error."""
    _err().print(f"[bold red]error[/bold red] {escape(text)}", highlight=False, soft_wrap=True)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "", left: int = 1) -> None:
    """Print a table; the first *left* columns are text, the others numbers."""
    shown = Table(title=title or None, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for place, name in enumerate(head):
        shown.add_column(escape(name), justify="left" if place < left else "right", overflow="fold")
    for row in rows:
        shown.add_row(*map(escape, row))
    _out().print(shown)


@contextmanager
def working(what: str) -> Iterator[Advance]:
    """Show that work is going on, on a terminal; gives a function to be called with (done, total or None)."""
    console = _err()
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    # A pipe or a log file must not be filled with bars; rich shows nothing there when disabled.
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(escape(what), total=None)

        def advance(done: int, total: int | None = None, now: str | None = None) -> None:
            progress.update(task, completed=done, total=total, description=None if now is None else escape(now))

        yield advance


def _out() -> Console:
    return Console()


def _err() -> Console:
    return Console(stderr=True)
