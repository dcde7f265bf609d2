"""All answers, read for the admin in a process of their own, so that nobody who answers waits while they are."""

from __future__ import annotations

__all__ = ["Reading"]

import multiprocessing
import signal
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from sfumato.collect.study import Study
from sfumato.errors import InputError, SfumatoError


class Reading:
    """The process that holds the overview of a study; it starts when it is first asked, and is asked by one thread.

    It ends with the server, however that ends: its end of the pipe is closed then.
    """

    def __init__(self, study: Study, path: Path) -> None:
        """Keep in mind which study, and where its file is."""
        self._study, self._path = study, path
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def ask(self, name: str, **options: Any) -> Any:
        """Return what the overview answers under *name*, or, for ``exclusions``, run the rules again."""
        if self._process is None or self._connection is None or not self._process.is_alive():
            self._start()
        assert self._connection is not None  # noqa: S101  # it was opened just now
        try:
            self._connection.send((name, options))
            told, wrong = self._connection.recv()
        except (EOFError, OSError):
            self.close()
            raise SfumatoError("The process that reads the study ended. Try again.") from None
        if wrong:
            raise InputError(wrong)
        return told

    def close(self) -> None:
        """End the process; closing again does nothing."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        if self._process is not None:
            self._process.terminate()
            self._process.join()
            self._process.close()
            self._process = None

    def _start(self) -> None:
        self.close()
        # Spawned, not forked: a fork would take over the locks of threads that it does not have.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_work, args=(theirs, self._study, self._path), daemon=True)
        process.start()
        theirs.close()
        self._process, self._connection = process, ours


def _work(connection: Connection, study: Study, path: Path) -> None:
    # Ctrl-C reaches every process of a terminal; this one ends when the server closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from sfumato.collect.exclusions import run_exclusions
    from sfumato.collect.items import asked_of, read_items
    from sfumato.collect.overview import Overview
    from sfumato.collect.sqlite_store import SqliteStore

    store = SqliteStore(path)
    overview = Overview(study, store, asked_of(study, read_items(study.items, folder=study.folder)))
    while True:
        try:
            name, options = connection.recv()
        except EOFError:
            break
        try:
            if name == "exclusions":
                connection.send((run_exclusions(study, store, **options), ""))
            else:
                connection.send((getattr(overview, name)(**options), ""))
        except SfumatoError as error:
            connection.send((None, str(error)))
    store.close()
