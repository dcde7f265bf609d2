"""The application of one study: all its routes behind one guard, and the clockwork that gives places back."""

from __future__ import annotations

__all__ = ["make_app"]

import asyncio
import contextlib
import json
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import NoReturn

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from sfumato.collect.admin import Admin
from sfumato.collect.api import Api
from sfumato.collect.assets import Assets
from sfumato.collect.desk import Desk
from sfumato.collect.door import Door
from sfumato.collect.exclusions import rules_of
from sfumato.collect.guard import LOG, Guard
from sfumato.collect.languages import language
from sfumato.collect.limits import Limits
from sfumato.collect.media import Media
from sfumato.collect.pages import Pages
from sfumato.collect.participant import Participant
from sfumato.collect.platforms import form_targets, frame_ancestors
from sfumato.collect.secret_file import Secrets, read_secrets
from sfumato.collect.sessions import Sessions
from sfumato.collect.showing import Showing
from sfumato.collect.store import Store
from sfumato.collect.study import Study

_TICK = 1.0
# The exclusion rules read all answers, which takes seconds once there are a hundred thousand: they rest for at least
# so many seconds, and so many times as long as they took.
_LEAST_REST, _RESTS = 30.0, 20.0


def make_app(
    study: Study,
    store: Store,
    *,
    folder: Path | None = None,
    secrets: Secrets | None = None,
    behind_proxy: bool = False,
    limits: Limits | None = None,
    clock: Callable[[], int] | None = None,
) -> Starlette:
    """Return the application of a study whose files are in *folder*; it closes the store when it is shut down."""
    folder = folder or study.folder
    secrets = secrets or read_secrets(folder)
    limits = limits or Limits()
    words = language(study.language, folder=study.folder)
    desk = Desk(study, store, secrets, clock=clock)
    door = Door(desk, Sessions(secrets), words, limits, framed=study.platform.kind == "mturk")
    pages = Pages(study)
    pages.prepare()
    media = Media(
        desk.shown_items(),
        key=secrets.key("media"),
        size=study.items.size,
        folders=[study.folder, study.folder / study.items.source],
        cache=folder / "cache",
    )
    showing = Showing(desk, door, pages, media, words)
    participant = Participant(desk, door, pages, media, showing, words)
    admin = Admin(desk, door, media, folder)

    async def health(request: Request) -> Response:
        return JSONResponse({"status": "ok"})

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        clockwork = asyncio.create_task(_clockwork(desk, folder))
        try:
            yield
        finally:
            clockwork.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await clockwork
            await admin.close()
            await asyncio.to_thread(store.close)

    def sentence(status: int) -> str:
        kind = {404: "missing", 405: "missing", 401: "expired", 403: "expired", 429: "busy"}.get(status, "error")
        return words(f"notice.{kind}.text")

    routes = [
        # The hottest first.
        *Api(desk, door, showing, words).routes(),
        Route("/media/{digest}", media.send),
        Route("/static/{version}/{name}", Assets()),
        *participant.routes(),
        *admin.routes(),
        Route("/health", health),
    ]
    app = Starlette(
        routes=routes,
        middleware=[
            Middleware(
                Guard,
                trouble=pages.trouble,
                words=sentence,
                limits=limits,
                behind_proxy=behind_proxy,
                frame_ancestors=frame_ancestors(study),
                form_targets=form_targets(study),
                routes=routes,
            )
        ],
        exception_handlers={HTTPException: _to_the_guard},
        lifespan=lifespan,
    )
    # A redirect of Starlette's own would repeat the host that the sender made up.
    app.router.redirect_slashes = False
    app.state.desk = desk
    return app


def _to_the_guard(request: Request, error: Exception) -> NoReturn:
    raise error


async def _clockwork(desk: Desk, folder: Path) -> None:
    """Look after the study once a second: leases, what commands changed, and the exclusion rules."""
    rules = rules_of(desk.study).any
    clock = asyncio.get_running_loop().time
    rest_until = clock() + _LEAST_REST
    while True:
        await asyncio.sleep(_TICK)
        try:
            desk.look()
            if rules and desk.finished_since_exclusions and clock() >= rest_until:
                desk.finished_since_exclusions = False
                began = clock()
                await _exclude(folder)
                rest_until = clock() + max(_LEAST_REST, _RESTS * (clock() - began))
        except Exception as error:
            LOG.error(json.dumps({"event": "clockwork", "error": type(error).__name__}))


async def _exclude(folder: Path) -> None:
    """Apply the exclusion rules in a process of its own, which slows no answer down and leaves no memory here."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "sfumato", "collect", "exclude", str(folder),
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        code = await process.wait()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    if code != 0:
        LOG.error(json.dumps({"event": "exclusions failed", "code": code}))
