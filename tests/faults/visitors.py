"""People as a load: each keeps a connection, a cookie and a token, and sends what a browser would send."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
from dataclasses import dataclass, field

_CSRF = re.compile(rb'name="csrf" value="([^"]+)"')


@dataclass
class Reply:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict:
        return json.loads(self.body)


@dataclass
class Visitor:
    """One browser."""

    host: str
    port: int
    cookie: str = ""
    csrf: str = ""
    places: list[int] = field(default_factory=list)
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: bytes = b"", kind: str = "", deadline: float = 30.0) -> Reply:
        """Send a request, and read its answer; a connection that breaks is an OSError and is opened anew next time."""
        try:
            return await asyncio.wait_for(self._ask(method, path, body, kind), deadline)
        except (TimeoutError, OSError, asyncio.IncompleteReadError, ValueError) as error:
            self.hang_up()
            raise ConnectionError(str(error)) from None

    async def _ask(self, method: str, path: str, body: bytes, kind: str) -> Reply:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self._streams
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}:{self.port}", f"Content-Length: {len(body)}"]
        lines += [f"Cookie: {self.cookie}"] * bool(self.cookie)
        lines += [f"Content-Type: {kind}", f"X-CSRF: {self.csrf}"] * bool(kind)
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        await writer.drain()
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        if not head[0].startswith("HTTP/1.1 "):
            raise ValueError(head[0])
        headers = {}
        for line in head[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        told = await reader.readexactly(int(headers.get("content-length", 0)))
        if "set-cookie" in headers:
            self.cookie = headers["set-cookie"].partition(";")[0]
        if headers.get("connection") == "close":
            self.hang_up()
        return Reply(int(head[0].split()[1]), headers, told)

    def hang_up(self) -> None:
        """Drop the connection, whatever is on it."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def leave(self) -> None:
        """Close the connection, and wait until it is closed."""
        if self._streams is not None:
            writer = self._streams[1]
            self.hang_up()
            with contextlib.suppress(OSError):
                await writer.wait_closed()
        await asyncio.sleep(0.01)

    async def arrive(self, path: str = "/") -> bool:
        """Come in as somebody new and open the items; False where there is nothing left to do."""
        self.cookie = ""
        reply = await self.ask("GET", path)
        while reply.status == 303:
            reply = await self.ask("GET", reply.headers["location"])
        found = _CSRF.search(reply.body)
        if reply.status != 200 or found is None:
            return False
        self.csrf = found[1].decode()
        told = (await self.ask("GET", "/api/places")).json()["places"]
        self.places = [each["place"] for each in told if not each["answered"]]
        return bool(self.places)

    async def answer(self, place: int, answer: dict, key: str = "") -> Reply:
        """Send an answer as the scripts do."""
        told = {
            "place": place,
            "key": key or secrets.token_hex(16),
            "answer": answer,
            "seconds": 8.25,
            "events": [{"at": 1200 * n, "what": "top_percent", "value": 10 * n, "how": "key"} for n in range(6)],
            "shown_at": "2026-11-19T05:00:00.000Z",
            "sent_at": "2026-11-19T05:00:08.250Z",
        }
        return await self.ask("POST", "/api/answers", json.dumps(told).encode(), "application/json")
