"""The one thread that writes: what waits together is written and flushed to disk together."""

from __future__ import annotations

__all__ = ["Writer"]

import queue
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from sfumato.errors import SfumatoError

T = TypeVar("T")
_Job = tuple[Callable[[sqlite3.Connection], Any], "Future[Any]"]
# A transaction is flushed to disk once however much is in it; more than this would keep the first one waiting.
_MOST_AT_ONCE = 256


class Writer:
    """Runs jobs one after the other on a connection of its own, many to a transaction.

    A job that fails takes back its own changes and no others; if the transaction itself cannot be written (a full
    disk), every job in it fails. A job counts as done after the commit, which with ``synchronous=FULL`` is after the
    flush to disk.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Take over *connection*, which must be in autocommit mode and free to be used from another thread."""
        self._connection = connection
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="sfumato-writer", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[sqlite3.Connection], T]) -> Future[T]:
        """Queue a job, and return the future of what it returns."""
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise SfumatoError("The study is closed: nothing more can be written to it.")
            self._jobs.put((job, future))
        return future

    def close(self) -> None:
        """Write what waits, then stop; closing again does nothing."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._jobs.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            jobs, last = self._waiting()
            if jobs:
                self._write(jobs)
            if last:
                return

    def _waiting(self) -> tuple[list[_Job], bool]:
        """Return all that waits now, at least one; True where the last has come."""
        jobs: list[_Job] = []
        job = self._jobs.get()
        while job is not None:
            jobs.append(job)
            if len(jobs) == _MOST_AT_ONCE:
                return jobs, False
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                return jobs, False
        return jobs, True

    def _write(self, jobs: list[_Job]) -> None:
        done: list[tuple[Future[Any], Any, BaseException | None]] = []
        connection = self._connection
        try:
            connection.execute("begin immediate")
            for job, future in jobs:
                connection.execute("savepoint job")
                try:
                    done.append((future, job(connection), None))
                except Exception as error:
                    connection.execute("rollback to job")
                    done.append((future, None, error))
                connection.execute("release job")
            connection.execute("commit")
        except Exception as error:
            if connection.in_transaction:
                connection.execute("rollback")
            done = [(future, None, error) for _, future in jobs]
        for future, result, problem in done:
            if problem is None:
                future.set_result(result)
            else:
                future.set_exception(problem)
