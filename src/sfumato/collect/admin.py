"""The admin's routes: how the study goes, and the few things one can do about it while it runs."""

from __future__ import annotations

__all__ = ["Admin"]

import asyncio
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from sfumato.collect.desk import Desk
from sfumato.collect.door import Door
from sfumato.collect.media import Media
from sfumato.collect.reading import Reading
from sfumato.collect.refusal import Refusal
from sfumato.errors import InputError, OptionError

if TYPE_CHECKING:
    from sfumato.collect.admin_pages import AdminPages

_ENTRY = "the door of the admin"
_DOWNLOADS = {
    "responses.jsonl": ("export", "application/x-ndjson"),
    "votes.csv": ("export", "text/csv; charset=utf-8"),
    "soft.csv": ("export", "text/csv; charset=utf-8"),
    "soft.parquet": ("export", "application/vnd.apache.parquet"),
    "people.csv": ("export", "text/csv; charset=utf-8"),
    "exit.csv": ("export", "text/csv; charset=utf-8"),
    "payments.csv": ("payments", "text/csv; charset=utf-8"),
}
_MOST_ITEMS = 500
_MOST_PEOPLE_PER_ITEM = 10_000


class Admin:
    """The routes of the admin of one study, whose files are in *folder*."""

    def __init__(self, desk: Desk, door: Door, media: Media, folder: Path) -> None:
        self._desk, self._door, self._media, self._folder = desk, door, media, folder
        # One thread asks, so that what is read for the admin never runs twice at once.
        self._reader = ThreadPoolExecutor(1, "sfumato-admin")
        self._reading = Reading(desk.study, folder / "study.sqlite")
        self._running: asyncio.Lock = asyncio.Lock()

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/admin", self._page("overview")),
            Route("/admin/people", self._page("people")),
            Route("/admin/items", self._page("items")),
            Route("/admin/enter", self._enter, methods=["GET", "POST"]),
            Route("/admin/leave", self._leave, methods=["POST"]),
            Route("/admin/download/{name}", self._download),
            Route("/api/admin/overview", self._data("overview")),
            Route("/api/admin/people", self._data("people")),
            Route("/api/admin/items", self._data("items")),
            Route("/api/admin/state", self._changing(self._state), methods=["POST"]),
            Route("/api/admin/extend", self._changing(self._extend), methods=["POST"]),
            Route("/api/admin/exclusions", self._changing(self._exclusions), methods=["POST"]),
        ]

    @cached_property
    def _pages(self) -> AdminPages:
        from sfumato.collect.admin_pages import AdminPages

        return AdminPages(self._desk.study)

    # Who may.

    async def _enter(self, request: Request) -> Response:
        csrf = self._door.csrf(_ENTRY)
        if request.method == "POST":
            secret = dict(await self._door.form(request, _ENTRY)).get("secret", "")
        else:
            secret = request.query_params.get("secret", "")
            if not secret:
                return HTMLResponse(self._pages.enter(csrf=csrf))
        self._door.count_try(request)
        if not self._desk.secrets.admits(secret.strip()):
            return HTMLResponse(self._pages.enter(csrf=csrf, wrong=True), 403)
        return self._door.keep_admin(self._door.go("/admin"), request)

    async def _leave(self, request: Request) -> Response:
        await self._door.form(request, self._door.admin(request))
        return self._door.keep_admin(self._door.go("/admin/enter"), request, leave=True)

    # What there is to see.

    def _page(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def page(request: Request) -> Response:
            if not self._door.is_admin(request):
                return self._door.go("/admin/enter")
            csrf = self._door.csrf(self._door.admin(request))
            data = await self._read(name, request)
            # A list of thousands takes a while to be written out.
            return HTMLResponse(await asyncio.to_thread(getattr(self._pages, name), data, csrf=csrf))

        return page

    def _data(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def data(request: Request) -> Response:
            self._door.admin(request)
            return JSONResponse(await self._read(name, request))

        return data

    async def _read(self, name: str, request: Request) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if name == "items":
            query = request.query_params
            by = query.get("by", "entropy")
            if by not in ("entropy", "least", "id"):
                raise Refusal(400, "shape", "by must be entropy, least or id.")
            options = {
                "by": by,
                "offset": self._door.whole(query.get("offset", "0") or "0", "offset"),
                "n": self._door.whole(query.get("n", "50") or "50", "n", most=_MOST_ITEMS),
            }
        told: dict[str, Any] = await self._ask(name, **options)
        if name == "items":
            for each in told["items"]:
                item = self._desk.items.get(each["id"])
                each["media"] = self._media.told(item)["media"] if item is not None else ""
        return told

    # What there is to do.

    def _changing(
        self, change: Callable[[dict[str, Any]], Awaitable[None]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def route(request: Request) -> Response:
            admin = self._door.admin(request)
            plain = self._door.is_form(request)
            told = dict(await self._door.form(request, admin)) if plain else await self._door.json(request, admin)
            try:
                await change(told)
            except (InputError, OptionError) as error:
                raise Refusal(409, "rules", str(error)) from None
            self._desk.look()
            return self._door.go("/admin") if plain else JSONResponse(await self._read("overview", request))

        return route

    async def _state(self, told: dict[str, Any]) -> None:
        state = told.get("state")
        if state not in ("open", "paused", "closed"):
            raise Refusal(400, "shape", "state must be open, paused or closed.")
        await asyncio.wrap_future(self._desk.store.set_state(state))

    async def _extend(self, told: dict[str, Any]) -> None:
        panel = self._door.whole(told.get("panel"), "panel", most=_MOST_PEOPLE_PER_ITEM)
        if panel < 1:
            raise Refusal(400, "shape", "panel must be 1 or more.")
        await asyncio.wrap_future(self._desk.store.extend(panel))

    async def _exclusions(self, told: dict[str, Any]) -> None:
        await self._ask("exclusions", at=self._desk.now())

    async def _ask(self, name: str, **options: Any) -> Any:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._reader, partial(self._reading.ask, name, **options))

    async def close(self) -> None:
        """End what was started for the admin."""
        await asyncio.get_running_loop().run_in_executor(self._reader, self._reading.close)
        self._reader.shutdown()

    async def _download(self, request: Request) -> Response:
        if not self._door.is_admin(request):
            return self._door.go("/admin/enter")
        name = request.path_params["name"]
        if name not in _DOWNLOADS:
            raise Refusal(404, "missing", f"There is no such file. There are: {', '.join(_DOWNLOADS)}.")
        command, media_type = _DOWNLOADS[name]
        folder = Path(tempfile.mkdtemp(prefix="sfumato-"))

        def clear() -> None:
            for each in folder.iterdir():
                each.unlink()
            folder.rmdir()

        # A process of its own: reading everything takes memory, which the server does not have to keep.
        async with self._running:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "sfumato", "collect", command, str(self._folder), "-o", str(folder / name),
                stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE,
            )  # fmt: skip
            _, told = await process.communicate()
        if process.returncode != 0:
            clear()
            # What went wrong, without the remarks before it.
            said = re.sub(r"\s+", " ", re.sub(r"(?m)^note .*$", "", told.decode(errors="replace"))).strip()
            raise Refusal(409, "export", said.removeprefix("error ")[-500:])
        stem = re.sub(r"[^A-Za-z0-9]+", "-", self._desk.study.title).strip("-").lower() or "study"
        return FileResponse(
            folder / name, media_type=media_type, filename=f"{stem}-{name}", background=BackgroundTask(clear)
        )
