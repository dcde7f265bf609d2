"""Connections break after the server has the answer: people repeat it, and it is stored once."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import secrets
import sqlite3
import sys
import tempfile
from collections import Counter
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


async def _impatient(visitor: Visitor, body: bytes) -> None:
    """Send an answer and hang up without having read what comes back, or in the middle of sending it."""
    try:
        await visitor.ask("GET", "/health")
        writer = visitor._streams[1]
        head = (
            f"POST /api/answers HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\nCookie: {visitor.cookie}\r\n"
            f"Content-Type: application/json\r\nX-CSRF: {visitor.csrf}\r\n\r\n"
        )
        whole = head.encode() + body
        writer.write(whole if random.random() < 0.8 else whole[: len(whole) // 2])
        await writer.drain()
    except ConnectionError:
        pass
    visitor.hang_up()


async def _person(served: Served, n_answers: int, told: Counter[str]) -> None:
    visitor = Visitor(served.host, served.port)
    while n_answers:
        assert await visitor.arrive()
        for place in visitor.places[:n_answers]:
            key, n_answers = secrets.token_hex(8), n_answers - 1
            body = json.dumps({"place": place, "key": key, "answer": ANSWER}).encode()
            for _ in range(random.choice((0, 0, 1, 2))):
                await _impatient(visitor, body)
                told["hung up"] += 1
            # Two at once, as from two tabs that share a queue.
            twin = Visitor(served.host, served.port, visitor.cookie, visitor.csrf)
            both = [visitor.ask("POST", "/api/answers", body, "application/json")]
            if random.random() < 0.3:
                both.append(twin.ask("POST", "/api/answers", body, "application/json"))
            replies = await asyncio.gather(*both)
            await twin.leave()
            assert {reply.status for reply in replies} == {200}, replies
            told["new"] += sum(reply.json()["new"] for reply in replies)
            told["acknowledged"] += len(replies)
    await visitor.leave()


def submit(folder: Path, n_answers: int, n_connections: int) -> Counter[str]:
    """Submit *n_answers* with forced repetitions, and hold the file to exactly that many rows."""
    make_study(folder, n_items=400, size=20, panel=100_000)
    served, told = Served(folder), Counter()
    shares = [n_answers // n_connections + (n < n_answers % n_connections) for n in range(n_connections)]

    async def all_of_them() -> None:
        await asyncio.gather(*(_person(served, share, told) for share in shares))

    asyncio.run(all_of_them())
    assert served.stop() == 0
    connection = sqlite3.connect(folder / "study.sqlite")
    rows = connection.execute("select count(*), count(distinct key), max(revision) from responses").fetchone()
    connection.close()
    assert rows == (n_answers, n_answers, 1), rows
    return told


def test_every_answer_is_one_row(tmp_path: Path) -> None:
    random.seed(1)
    told = submit(tmp_path / "study", 600, 16)
    assert told["hung up"] > 200
    assert told["new"] < 600  # some were stored by a request whose sender had hung up


def main() -> None:
    """The whole of it: 10,000 submissions at 64 connections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--answers", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=64)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        told = submit(Path(folder) / "study", options.answers, options.connections)
    sys.stdout.write(f"{options.answers} submissions, {dict(told)}: exactly {options.answers} rows\n")


if __name__ == "__main__":
    main()
