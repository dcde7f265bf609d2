"""The server is killed while people answer: what was acknowledged is there, once, and the file is whole."""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import secrets
import sqlite3
import sys
import tempfile
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason='needs the extra "collect"')

from serving import Served, make_study
from visitors import Visitor

ANSWER = {
    "mode": "top2",
    "top": "deer",
    "top_percent": 70,
    "second": "dog",
    "second_percent": 20,
    "impossible": ["ship"],
}


class Crowd:
    """People who answer until they are told to stop, and repeat with the same key what was not acknowledged."""

    def __init__(self, n_people: int) -> None:
        self.visitors = [Visitor("", 0) for _ in range(n_people)]
        self.waiting: list[tuple[int, str] | None] = [None] * n_people
        self.acknowledged: dict[str, int] = {}
        self.sent: set[str] = set()
        self.repeated = 0

    async def work(self, served: Served, until: asyncio.Event) -> None:
        await asyncio.gather(*(self._one(n, served, until) for n in range(len(self.visitors))))

    async def _one(self, n: int, served: Served, until: asyncio.Event) -> None:
        visitor = self.visitors[n]
        visitor.host, visitor.port = served.host, served.port
        while not until.is_set():
            try:
                if self.waiting[n] is None:
                    if not visitor.places:
                        await visitor.arrive()
                        continue
                    self.waiting[n] = (visitor.places.pop(0), secrets.token_hex(8))
                else:
                    self.repeated += 1
                place, key = self.waiting[n]
                self.sent.add(key)
                reply = await visitor.answer(place, ANSWER, key)
            except ConnectionError:
                await asyncio.sleep(0.01)
                continue
            assert reply.status == 200, reply.body
            self.acknowledged[key] = reply.json()["revision"]
            self.waiting[n] = None
        await visitor.leave()


def check(folder: Path, crowd: Crowd) -> int:
    """Hold the study file against what people were told, and return its number of responses."""
    connection = sqlite3.connect(folder / "study.sqlite")
    try:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
        assert connection.execute("pragma foreign_key_check").fetchall() == []
        rows = connection.execute("select key, person, kind, place, revision from responses").fetchall()
    finally:
        connection.close()
    stored = [row[0].partition(":")[2] for row in rows]
    assert len(set(stored)) == len(stored), "a response is stored twice"
    assert set(crowd.acknowledged) <= set(stored), "a response that was acknowledged is gone"
    assert set(stored) <= crowd.sent, "a response is stored that nobody sent"
    places = [row[1:4] for row in rows]
    assert len(set(places)) == len(places), "a repeated submission became a second answer"
    assert all(row[4] == 1 for row in rows)
    return len(rows)


def kill_again_and_again(folder: Path, n_kills: int, *, n_people: int = 8, seed: int = 0) -> tuple[Crowd, int]:
    """Kill a loaded server *n_kills* times at random moments, and check the file after each."""
    make_study(folder, n_items=200, size=10, panel=100_000)
    crowd, moments = Crowd(n_people), random.Random(seed)
    n_stored = 0

    async def until_killed(served: Served) -> None:
        until = asyncio.Event()
        work = asyncio.create_task(crowd.work(served, until))
        await asyncio.sleep(moments.uniform(0.15, 0.7))
        served.kill()
        until.set()
        await work

    for number in range(1, n_kills + 1):
        served = Served(folder)
        asyncio.run(until_killed(served))
        n_stored = check(folder, crowd)
        if n_kills > 10 and number % 10 == 0:
            sys.stdout.write(f"{number} kills: {n_stored} stored, {len(crowd.acknowledged)} acknowledged\n")
    return crowd, n_stored


def test_nothing_acknowledged_is_lost_and_nothing_doubled(tmp_path: Path) -> None:
    crowd, n_stored = kill_again_and_again(tmp_path / "study", 5)
    assert len(crowd.acknowledged) > 20
    assert n_stored >= len(crowd.acknowledged)


def test_a_server_that_is_asked_to_end_answers_what_has_come(tmp_path: Path) -> None:
    make_study(tmp_path / "study", n_items=50, size=10, panel=1000)
    crowd = Crowd(8)
    served = Served(tmp_path / "study")

    async def until_stopped() -> int:
        until = asyncio.Event()
        work = asyncio.create_task(crowd.work(served, until))
        await asyncio.sleep(0.6)
        code = await asyncio.to_thread(served.stop)
        until.set()
        await work
        return code

    assert asyncio.run(until_stopped()) == 0
    assert check(tmp_path / "study", crowd) > 0
    assert (
        not (tmp_path / "study" / "study.sqlite-wal").exists()
        or os.path.getsize(tmp_path / "study" / "study.sqlite-wal") == 0
    )


def main() -> None:
    """The whole of it: 100 kills."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        crowd, n_stored = kill_again_and_again(Path(folder) / "study", options.kills)
    sys.stdout.write(
        f"{options.kills} kills: {n_stored} stored, {len(crowd.acknowledged)} acknowledged, {crowd.repeated} repeated; "
        "none lost, none doubled, the file whole every time\n"
    )


if __name__ == "__main__":
    main()
