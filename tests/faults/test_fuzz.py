"""Any request to any route: it is answered, and never with a fault of ours."""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

pytest.importorskip("starlette", reason='needs the extra "collect"')

from serving import Served, make_study
from visitors import Visitor

_AROUND = """
[consent]
text = "Do you agree?"
[instructions]
text = "Read this."
[[instructions.quiz]]
question = "Which?"
options = ["this", "that"]
answer = "that"
[[practice]]
item = "item-0"
expected = "deer"
[[checks]]
item = "Choose ship."
answer = "ship"
[[exit.questions]]
text = "How was it?"
kind = "choice"
options = ["good", "bad"]
required = true
"""
PAGES = (
    "/", "/i/{x}", "/consent", "/instructions", "/practice", "/item", "/finish", "/exit", "/done", "/screened",
    "/api/state", "/api/places", "/api/places/{n}", "/media/{x}", "/static/{x}/style.css", "/static/{x}/{x}", "/health",
    "/admin", "/admin/people", "/admin/items", "/admin/enter", "/admin/download/{x}", "/api/admin/overview",
    "/api/admin/people", "/api/admin/items", "/{x}",
)  # fmt: skip
FORMS = (
    "/consent", "/instructions", "/practice", "/exit", "/admin/enter", "/admin/leave", "/api/heartbeat", "/api/drafts",
    *["/api/answers"] * 10, *["/api/drafts"] * 3, "/api/finish", "/api/admin/state", "/api/admin/extend",
    "/api/admin/exclusions",
)  # fmt: skip
_FIELDS = (
    "csrf", "agree", "quiz-0", "place", "key", "seen", "mode", "top", "top_percent", "second", "second_percent",
    "impossible", "others", "class", "amount", "answer", "events", "seconds", "shown_at", "sent_at", "sequence",
    "exit-0", "state", "panel", "secret", "size", "told", "by", "offset", "n", "classes", "PROLIFIC_PID",
)  # fmt: skip
_TEXTS = (
    "", "x", "deer", "dog", "top2", "hard", "yes", "1", "2", "0", "-1", "99999999999999999999", "1e9", "NaN",
    "abcdefgh", "item-0", "open", "paused", "entropy", "É", "日本", "\x00", "../..", "<b>", "'", '"', "%s", "{{",
    "a" * 5000, "\u202e", "votes.csv",
)  # fmt: skip


def _value(chance: random.Random, depth: int = 0):
    kind = chance.randrange(9 if depth < 3 else 6)
    if kind == 0:
        return chance.choice((None, True, False))
    if kind == 1:
        return chance.choice((0, 1, -1, 50, 100, 101, 2**53, 2**63, 2**64, -(2**70), 10**300))
    if kind == 2:
        return chance.choice((0.0, 0.5, -0.5, 33.3, 1e300, 5e-324))
    if kind < 6:
        return chance.choice(_TEXTS)
    if kind == 6:
        return [_value(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice((*_FIELDS, *_TEXTS[:8])): _value(chance, depth + 1) for _ in range(chance.randrange(5))}


def _answer(chance: random.Random):
    answer = {
        "mode": "top2", "top": "deer", "top_percent": 70, "second": "dog", "second_percent": 20, "impossible": ["ship"],
    }  # fmt: skip
    for _ in range(chance.randrange(3)):
        answer[chance.choice([*answer, "more"])] = _value(chance)
    return answer


def _body(chance: random.Random, csrf: str) -> tuple[bytes, str]:
    kind = chance.randrange(10)
    if kind < 6:
        told = {
            "place": chance.randrange(1, 8), "key": f"key-{chance.randrange(10**9):09}", "answer": _answer(chance),
            "events": [], "seconds": 1.5, "sequence": chance.randrange(100), "state": "open", "panel": 3,
        }  # fmt: skip
        for _ in range(chance.randrange(3)):
            told[chance.choice(_FIELDS)] = _value(chance)
        body = json.dumps(told).encode()
        if chance.random() < 0.1:
            cut = chance.randrange(len(body))
            body = body[:cut] + bytes([chance.randrange(256)]) + body[cut + chance.randrange(3) :]
        return body, "application/json"
    if kind < 9:
        pairs = [("csrf", csrf)] + [(chance.choice(_FIELDS), chance.choice(_TEXTS)) for _ in range(chance.randrange(8))]
        return urlencode(pairs).encode(), "application/x-www-form-urlencoded"
    return chance.randbytes(chance.randrange(200)), chance.choice(
        ("text/plain", "multipart/form-data", "application/json")
    )


async def _visitor(served: Served, number: int, seed: int, seen: Counter, admin: str) -> None:
    chance, visitor = random.Random(seed), Visitor(served.host, served.port)
    for step in range(number):
        if step % 60 == 0:
            await _come_so_far(visitor, chance, admin)
        method = chance.choices(("GET", "POST", "PUT", "DELETE", "OPTIONS"), (40, 50, 6, 2, 2))[0]
        path = chance.choice(PAGES if (method == "GET") == (chance.random() < 0.95) else FORMS)
        path = path.replace("{n}", str(chance.randrange(-1, 9))).replace("{x}", quote(chance.choice(_TEXTS), safe=""))
        if chance.random() < 0.4:
            path += "?" + urlencode(
                [(chance.choice(_FIELDS), chance.choice(_TEXTS)) for _ in range(chance.randrange(4))]
            )
        body, kind = _body(chance, visitor.csrf) if method != "GET" else (b"", "")
        cookie = visitor.cookie
        reply = await visitor.ask(method, path[:4000], body, kind)
        # A request to the door makes somebody new of a visitor; they stay who they are, to come deeper into the study.
        visitor.cookie = cookie
        seen[reply.status] += 1
        assert reply.status < 500, (method, path, body, kind, reply.status, reply.body)
        if reply.status >= 400 and path.startswith("/api/") and kind != "application/x-www-form-urlencoded":
            assert {"code", "message", "details"} <= reply.json()["error"].keys(), reply.body
    await visitor.leave()


async def _come_so_far(visitor: Visitor, chance: random.Random, admin: str) -> None:
    """Start anew as somebody who has come to a random point of the study, or as the admin."""
    forms = [
        ("/consent", {"agree": "yes"}), ("/instructions", {"quiz-0": "1"}),
        ("/practice", {"place": "1", "key": "practice-1", "mode": "top2", "top": "deer", "top_percent": "50"}),
        ("/practice", {"seen": "1"}),
    ]  # fmt: skip
    # What an admin did to the study meanwhile is undone, or nobody would come far any more.
    visitor.cookie = visitor.csrf = ""
    await visitor.ask("GET", admin)
    visitor.csrf = _csrf((await visitor.ask("GET", "/admin")).body)
    for path, told in (("state", {"state": "open"}), ("extend", {"panel": 10_000})):
        reply = await visitor.ask("POST", f"/api/admin/{path}", json.dumps(told).encode(), "application/json")
        assert reply.status == 200, reply.body
    if chance.random() < 0.15:
        return
    visitor.cookie = visitor.csrf = ""
    await visitor.ask("GET", "/")
    visitor.csrf = _csrf((await visitor.ask("GET", "/consent")).body)
    for path, fields in forms[: chance.choice((0, 1, 2, 3, 4, 4, 4, 4, 4, 4))]:
        body = urlencode({"csrf": visitor.csrf, **fields}).encode()
        await visitor.ask("POST", path, body, "application/x-www-form-urlencoded")
    await visitor.ask("GET", "/item")


def _csrf(page: bytes) -> str:
    return page.partition(b'name="csrf" value="')[2].partition(b'"')[0].decode()


def fuzz(folder: Path, n_requests: int, *, seed: int = 0, n_connections: int = 4) -> Counter:
    """Send *n_requests*, and return how often each status came back."""
    make_study(folder, n_items=20, size=5, panel=100_000, more="repeats = 1\nchecks_per_batch = 1\n" + _AROUND)
    served, seen = Served(folder), Counter()
    admin = "/" + served.admin.split("/", 3)[3]

    async def all_of_them() -> None:
        shares = [n_requests // n_connections] * n_connections
        await asyncio.gather(*(_visitor(served, share, seed + n, seen, admin) for n, share in enumerate(shares)))

    try:
        asyncio.run(all_of_them())
    finally:
        assert served.stop() == 0
    log = (folder / "server.log").read_text(encoding="utf-8")
    assert '"event": "fault"' not in log
    return seen


def test_no_request_meets_a_fault(tmp_path: Path) -> None:
    seen = fuzz(tmp_path / "study", 1600)
    assert {200, 303, 400, 403, 404, 405, 409, 422} <= set(seen)


def main() -> None:
    """The whole of it: 50,000 requests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seen = fuzz(Path(folder) / "study", options.requests, seed=options.seed)
    sys.stdout.write(f"{options.requests} requests, no fault: {dict(sorted(seen.items()))}\n")


if __name__ == "__main__":
    main()
