"""Around every request: headers that keep browsers strict, limits, refusals as JSON or as a page, and a log line."""

from __future__ import annotations

__all__ = ["Guard"]

import json
import logging
import sqlite3
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sfumato.collect.limits import Bucket, Limits, sender_of
from sfumato.collect.refusal import Refusal
from sfumato.errors import SfumatoError

LOG = logging.getLogger("sfumato.collect")
_LARGEST_BODY = 256 * 1024


class _TooLarge(Exception):
    """The body is longer than anything that our pages send."""


class Guard:
    """The one middleware. *trouble* makes the page of an error; *words* the sentences of a status.

    Behind a proxy the address and the scheme are what the proxy says, which is the last entry of its headers: whatever
    stands before that came from the sender and may be made up.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        trouble: Callable[[int, str], str],
        words: Callable[[int], str],
        limits: Limits,
        behind_proxy: bool,
        frame_ancestors: Sequence[str],
        form_targets: Sequence[str],
        routes: Sequence[Route],
    ) -> None:
        self._app, self._trouble, self._words, self._behind_proxy = app, trouble, words, behind_proxy
        self._requests = Bucket(*limits.requests)
        self._parts = frozenset(part for route in routes for part in route.path.strip("/").split("/"))
        framed = "'none'" not in frame_ancestors
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; "
            f"connect-src 'self'; form-action {' '.join(form_targets)}; base-uri 'none'; "
            f"frame-ancestors {' '.join(frame_ancestors)}"
        )
        headers = {
            "content-security-policy": policy,
            "x-content-type-options": "nosniff",
            # Not no-referrer, with which browsers send forms without saying where they come from.
            "referrer-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
            "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
        }
        if not framed:
            headers |= {"x-frame-options": "DENY", "cross-origin-opener-policy": "same-origin"}
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()
        status, started = 0, False
        self._see_through_proxy(scope)
        secure = scope["scheme"] == "https"

        async def guarded_send(message: Message) -> None:
            nonlocal status, started
            if message["type"] == "http.response.start":
                status, started = message["status"], True
                headers = MutableHeaders(raw=message.setdefault("headers", []))
                headers.raw.extend(self._headers)
                if "cache-control" not in headers:
                    headers["cache-control"] = "no-store"
                if secure:
                    headers["strict-transport-security"] = "max-age=31536000"
            await send(message)

        try:
            wait = self._requests.wait(scope["state"]["sender"], time.monotonic())
            if wait:
                raise Refusal(429, "busy", self._words(429), retry_after=int(wait) + 1)
            await self._app(scope, _limited(scope, receive), guarded_send)
        except Exception as error:
            if started:
                LOG.error(
                    json.dumps({"event": "broken off", "route": self._route(scope), "error": type(error).__name__})
                )
                raise
            await self._told(scope, error)(scope, receive, guarded_send)
        finally:
            if LOG.isEnabledFor(logging.INFO):
                took = round(1000 * (time.perf_counter() - began), 1)
                line = {"event": "request", "method": scope["method"], "route": self._route(scope), "status": status}
                LOG.info(json.dumps(line | {"ms": took}))

    def _route(self, scope: Scope) -> str:
        """Return the path as far as its parts are those of our routes; the others may say who somebody is."""
        parts = scope["path"].strip("/").split("/")[:3]
        return "/" + "/".join(each if each in self._parts else "…" for each in parts)

    def _see_through_proxy(self, scope: Scope) -> None:
        address = scope["client"][0] if scope.get("client") else ""
        if self._behind_proxy:
            for name, value in scope["headers"]:
                if name == b"x-forwarded-for":
                    address = value.decode("latin-1").rpartition(",")[2].strip()
                elif name == b"x-forwarded-proto" and value.rpartition(b",")[2].strip() == b"https":
                    scope["scheme"] = "https"
        scope.setdefault("state", {})["sender"] = sender_of(address)

    def _told(self, scope: Scope, error: Exception) -> Response:
        refusal = self._refusal(scope, error)
        headers = {"retry-after": str(refusal.retry_after)} if refusal.retry_after else {}
        if isinstance(error, HTTPException) and error.headers:
            headers |= dict(error.headers)
        if _wants_json(scope):
            return JSONResponse(refusal.envelope(), refusal.status, headers)
        # A page says in the person's language what it can; what is said to scripts is for who writes them.
        message = refusal.message if refusal.code in ("arrival", "answer", "unanswered", "rules", "export") else ""
        return HTMLResponse(self._trouble(refusal.status, message), refusal.status, headers)

    def _refusal(self, scope: Scope, error: Exception) -> Refusal:
        if isinstance(error, Refusal):
            return error
        if isinstance(error, _TooLarge):
            return Refusal(413, "too_large", f"The body may have {_LARGEST_BODY // 1024} KB.")
        if isinstance(error, HTTPException):
            code = {404: "missing", 405: "method"}.get(error.status_code, "shape")
            return Refusal(error.status_code, code, self._words(error.status_code))
        if isinstance(error, RecursionError):
            return Refusal(400, "shape", "The body is nested too deeply.")
        if isinstance(error, sqlite3.IntegrityError):
            # The person was deleted while they were sending.
            return Refusal(401, "session", self._words(401))
        # Where it happened, and nothing of what was said: values stand in messages and not in places.
        places = [f"{each.filename}:{each.lineno}" for each in traceback.extract_tb(error.__traceback__)][-6:]
        told: dict[str, Any] = {
            "event": "fault",
            "route": self._route(scope),
            "error": type(error).__name__,
            "at": places,
        }
        LOG.error(json.dumps(told))
        if isinstance(error, (sqlite3.Error, SfumatoError, OSError)):
            return Refusal(503, "unavailable", self._words(503), retry_after=2)
        return Refusal(500, "fault", self._words(500))


def _limited(scope: Scope, receive: Receive) -> Receive:
    """Return *receive* that breaks off where the body is too long, said or not."""
    for name, value in scope["headers"]:
        if name == b"content-length" and (not value.isdigit() or int(value[:20]) > _LARGEST_BODY):
            raise _TooLarge
    had = 0

    async def limited() -> Message:
        nonlocal had
        message = await receive()
        had += len(message.get("body", b""))
        if had > _LARGEST_BODY:
            raise _TooLarge
        return message

    return limited


def _wants_json(scope: Scope) -> bool:
    """Return whether a script asked: it sends JSON, or asks under /api/, where plain forms are sent as well."""
    path: str = scope["path"]
    kind = accept = b""
    for name, value in scope["headers"]:
        if name == b"content-type":
            kind = value
        elif name == b"accept":
            accept = value
    if kind.startswith(b"application/x-www-form-urlencoded"):
        return False
    return path.startswith("/api/") or kind.startswith(b"application/json") or accept.startswith(b"application/json")
