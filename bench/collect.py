"""The study server under load: submissions a second and their delay, empty and with 100,000 answers stored.

    python bench/collect.py [--clients 32] [--seconds 10] [--stored 100000] [--folder DIR]

Each client is a person after the other: comes in, opens the items, answers all of them, with sessions, validation,
assignment and the flush to disk of every answer. Also printed: memory and start of the server, what a page of the item
weighs, and what `[collect]` adds to an installation.
Aimed at: at least 500 submissions a second with 99 of 100 below 100 ms, both ways; less than 80 MB; a start below
1.5 s; a page of 50 KB at most; less than 15 MB to install.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.metadata
import os
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "faults"))

from serving import Served, make_study
from visitors import Visitor

_SIZE = 25
_N_ITEMS = 2000
# What the extra brings beside what sfumato needs anyway (typer brings click).
_INSTALLED = ("starlette", "uvicorn", "jinja2", "markupsafe", "anyio", "idna", "h11", "typing_extensions")


def fill(folder: Path, n_responses: int) -> None:
    """Write people who are through, with their answers, straight into the study file."""
    from sfumato.collect.sqlite_store import SqliteStore
    from sfumato.collect.store import PersonRow, PlaceRow, ResponseRow

    store = SqliteStore(folder / "study.sqlite")
    answer = {
        "mode": "top2", "top": "deer", "top_percent": 70, "second": "dog", "second_percent": 20, "impossible": ["ship"],
    }  # fmt: skip
    events = [{"at": 1200 * n, "what": "top_percent", "value": 10 * n, "how": "key"} for n in range(6)]
    last = None
    for n in range(n_responses // _SIZE):
        person = f"stored-{n}"
        store.add_person(
            PersonRow(id=person, arrived_at=n, seen_at=n, consented_at=n, assigned_at=n, finished_at=n, done_at=n)
        )
        places = [PlaceRow(person, k + 1, f"item-{(n * _SIZE + k) % _N_ITEMS}") for k in range(_SIZE)]
        store.add_places(person, places, at=n)
        for place in places:
            last = store.add_response(
                ResponseRow(
                    key=f"{person}:{place.place}", person=person, place=place.place, item=place.item, answer=answer,
                    seconds=8.0, events=events, received_at=n,
                )
            )  # fmt: skip
    if last is not None:
        last.result()
    store.close()


async def client(served: Served, until: float, delays: list[float], first: int) -> None:
    """Answer as one person after the other; of the *first* batch only so many, or all clients would arrive at once."""
    visitor = Visitor(served.host, served.port)
    answer = {
        "mode": "top2", "top": "deer", "top_percent": 60, "second": "horse", "second_percent": 25, "impossible": [],
    }  # fmt: skip
    while time.perf_counter() < until:
        assert await visitor.arrive(), "the study has no places left"
        for place in visitor.places[:first]:
            began = time.perf_counter()
            reply = await visitor.answer(place, answer)
            assert reply.status == 200, reply.body
            delays.append(time.perf_counter() - began)
        if first >= _SIZE:
            assert (await visitor.ask("POST", "/api/finish", b"{}", "application/json")).status == 200
        first = _SIZE
    await visitor.leave()


async def load(served: Served, n_clients: int, seconds: float) -> tuple[float, float, float, int]:
    """Return submissions a second, the median and 99th percentile of their delay in ms, and their number."""
    delays: list[float] = []
    began = time.perf_counter()
    await asyncio.gather(*(client(served, began + seconds, delays, 1 + n % _SIZE) for n in range(n_clients)))
    took = time.perf_counter() - began
    delays.sort()
    return len(delays) / took, 1000 * delays[len(delays) // 2], 1000 * delays[int(0.99 * len(delays))], len(delays)


def memory(served: Served) -> tuple[float, float]:
    """Return what the server holds now and what it held at most, in MB."""
    status = Path(f"/proc/{served.process.pid}/status").read_text()
    return tuple(int(re.search(rf"{name}:\s+(\d+)", status)[1]) / 1000 for name in ("VmRSS", "VmHWM"))  # type: ignore[index, return-value]


def cpu_seconds(served: Served) -> float:
    """Return the seconds of a core that the server has used."""
    fields = Path(f"/proc/{served.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def page_bytes(served: Served) -> int:
    """Return the bytes of the page of an item with its style sheet and its scripts."""
    visitor = Visitor(served.host, served.port)
    assert await visitor.arrive()
    page = (await visitor.ask("GET", "/item")).body
    loaded = set(re.findall(rb'(?:href|src)="(/static/[^"]+)"', page))
    return len(page) + sum([len((await visitor.ask("GET", path.decode())).body) for path in loaded])


def installed_bytes() -> int:
    """Return what the packages of the extra take on this machine, without compiled caches."""
    total = 0
    for name in _INSTALLED:
        for file in importlib.metadata.files(name) or ():
            path = Path(str(file.locate()))
            if path.is_file() and path.suffix != ".pyc":
                total += path.stat().st_size
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--stored", type=int, default=100_000)
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    print(
        f"{options.clients} clients, {options.seconds:g} s each; every answer flushed to disk before it is acknowledged"
    )
    with tempfile.TemporaryDirectory(dir=options.folder) as kept:
        for stored in (0, options.stored):
            folder = Path(kept) / str(stored)
            make_study(folder, n_items=_N_ITEMS, size=_SIZE, panel=1000)
            if stored:
                fill(folder, stored)
            began = time.perf_counter()
            served = Served(folder)
            start = time.perf_counter() - began
            at_rest, _ = memory(served)
            used = cpu_seconds(served)
            rate, median, late, n_answers = asyncio.run(load(served, options.clients, options.seconds))
            used = 1000 * (cpu_seconds(served) - used) / n_answers
            _, peak = memory(served)
            print(
                f"{stored:>7} stored: {rate:6.0f} submissions/s   median {median:5.1f} ms   p99 {late:5.1f} ms   "
                f"{used:.2f} ms of a core each   start {start:.2f} s   memory {at_rest:.0f} MB, at most {peak:.0f} MB"
            )
            if not stored:
                kilobytes = asyncio.run(page_bytes(served)) / 1024
                print(f"        page of an item: {kilobytes:.1f} KB of HTML, CSS and JavaScript")
            assert served.stop() == 0
    print(f"        [collect] beyond the base: {installed_bytes() / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
