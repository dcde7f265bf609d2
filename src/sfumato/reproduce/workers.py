"""Processes beside this one: they end when it does, and one that is killed stops no other."""

from __future__ import annotations

__all__ = ["Died", "Workers"]

import os
import signal
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import connection, get_context
from threading import Thread, current_thread, main_thread
from types import FrameType
from typing import Any, TypeVar

from sfumato.errors import OptionError

Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Died:
    """What came of a job whose process was ended from outside: by the system when memory ran out, or by somebody."""


@dataclass(frozen=True, slots=True)
class _Worker:
    pool: ProcessPoolExecutor
    begun: Future[int]


class Workers:
    """*count* processes that do one job each at a time; used in a ``with``, whose end is theirs.

    A pool for each, so that it is known which job was in the process that died, and the others go on.
    """

    def __init__(self, count: int) -> None:
        # Fresh processes: a fork would inherit the threads of torch and polars in whatever state they are.
        self._context = get_context("spawn")
        # Nothing is ever sent: the system closes our end when we end, however that comes, and the processes see it.
        self._theirs, self._ours = self._context.Pipe(duplex=False)
        self._some_began = self._ending = False
        self._workers = [self._fresh() for _ in range(count)]

    def __enter__(self) -> Workers:
        # Where somebody handles Ctrl-C in another way, that stays, and so it does where it cannot be changed.
        if current_thread() is main_thread() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._interrupted)
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        with _interrupts_later():
            if signal.getsignal(signal.SIGINT) == self._interrupted:
                signal.signal(signal.SIGINT, signal.default_int_handler)
            if kind is not None:  # nobody waits for what they are at
                self._ours.close()
            for worker in self._workers:
                worker.pool.shutdown(cancel_futures=True)
            self._ours.close()
            self._theirs.close()

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """End the processes before anything else; a second Ctrl-C, which may come in the middle, adds nothing."""
        if self._ending:
            return
        self._ending = True
        self._ours.close()
        signal.default_int_handler(number, frame)

    def each(self, function: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[tuple[Job, Result | Died]]:
        """Give each job with its result, in the order in which they end."""
        todo = deque(jobs)
        free = list(range(len(self._workers)))
        at_it: dict[Future[Result], tuple[int, Job]] = {}
        while todo or at_it:
            while todo and free:
                place, job = free.pop(), todo.popleft()
                at_it[self._workers[place].pool.submit(function, job)] = place, job
            for future in wait(at_it, return_when=FIRST_COMPLETED).done:
                place, job = at_it.pop(future)
                result = self._result(place, future)
                free.append(place)
                yield job, result

    def _result(self, place: int, future: Future[Result]) -> Result | Died:
        try:
            return future.result()
        except BrokenProcessPool:
            old = self._workers[place]
            self._some_began |= old.begun.exception() is None
            if not self._some_began:
                raise OptionError(
                    "No process could be started: the first one ended at once. In a script, more than one job wants "
                    'to be called for below `if __name__ == "__main__":`; else set jobs to 1.'
                ) from None
            old.pool.shutdown()
            self._workers[place] = self._fresh()
            return Died()

    def _fresh(self) -> _Worker:
        pool = ProcessPoolExecutor(1, mp_context=self._context, initializer=_begin, initargs=(self._theirs,))
        with _interrupts_later():  # the process that is started here inherits it
            return _Worker(pool, pool.submit(os.getpid))


def _begin(starter: connection.Connection) -> None:
    """Leave Ctrl-C, which all processes of a terminal get, to the one that started this one, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with, args=(starter,), daemon=True).start()


def _end_with(starter: connection.Connection) -> None:
    connection.wait([starter])
    os._exit(1)  # at once, as if killed: what is stored is stored whole


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Let Ctrl-C wait until the block is left."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
