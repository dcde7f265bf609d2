"""Studies that run while a browser looks at them."""

from __future__ import annotations

import shutil
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from sfumato.collect.study import (
    Check,
    Consent,
    Exit,
    ExitQuestion,
    Instructions,
    Items,
    Platform,
    Practice,
    QuizQuestion,
    Study,
    StudyClass,
)

if TYPE_CHECKING:
    from sfumato.collect.store import ResponseRow, Store

# A study with every page that there is.
_WHOLE: dict[str, Any] = {
    "contact": "study@example.org",
    "consent": Consent(text="You will see pictures and say what they show.\n\n- You can stop at any time."),
    "instructions": Instructions(
        text="Look at each picture.\n\n- Take the time you need.",
        quiz=(
            QuizQuestion(
                question="What is asked for?", options=("What is fashionable", "What I see"), answer="What I see"
            ),
        ),
    ),
    "practice": (Practice(item="shape-01.png", expected="circle", feedback="Most people would say circle."),),
    "exit": Exit(
        questions=(
            ExitQuestion(text="Was anything unclear?"),
            ExitQuestion(text="How hard was it?", kind="scale", options=("easy", "so so", "hard"), required=True),
        )
    ),
    "platform": Platform(completion_code="THANKS-42"),
    "checks": (Check(item="shape-05.png", answer="square", text="Please choose square here."),),
}


@pytest.fixture
def whole() -> dict[str, Any]:
    """Return the settings of a study with every page that there is."""
    return dict(_WHOLE)


@dataclass
class Running:
    """A study that is served: its address, its admin secret, and what was stored."""

    study: Study
    folder: Path
    address: str
    store: Store
    secret: str

    def responses(self, *, latest: bool = True) -> list[ResponseRow]:
        """Return what was said at the items, practice aside, in order of arrival."""
        return [row for row in self.store.responses(latest=latest) if row.kind != "practice"]

    def answers(self) -> list[dict[str, Any]]:
        """Return the answers that count, in order of arrival."""
        return [dict(row.answer) for row in self.responses()]


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Draw the pictures of all studies once."""
    from sfumato.collect.demo_items import draw_items

    folder = tmp_path_factory.mktemp("pictures")
    return [folder / name for name in draw_items(folder, n_items=27)]


@pytest.fixture
def serve(tmp_path: Path, pictures: list[Path]) -> Iterator[Callable[..., Running]]:
    """Start studies by their settings; each has pictures of its own and ends with the test."""
    import uvicorn

    from sfumato.collect.app import make_app
    from sfumato.collect.limits import Limits
    from sfumato.collect.secret_file import read_secrets, with_new_admin, write_secrets
    from sfumato.collect.sqlite_store import SqliteStore

    running: list[tuple[uvicorn.Server, threading.Thread, socket.socket]] = []

    def start(
        *, classes: Sequence[str | StudyClass] = ("circle", "square", "triangle"), n_items: int = 4, **settings: Any
    ) -> Running:
        folder = tmp_path / f"study-{len(running)}"
        (folder / "items").mkdir(parents=True)
        for picture in pictures[:n_items]:
            shutil.copy(picture, folder / "items")
        named = tuple(each if isinstance(each, StudyClass) else StudyClass(name=each) for each in classes)
        study = Study(
            title="Shapes", classes=named, folder=folder, **{"items": Items(source="items", size=320)} | settings
        )
        secrets, secret = with_new_admin(read_secrets(folder))
        write_secrets(folder, secrets)
        store = SqliteStore(folder / "study.sqlite", serving=True)
        often = (10_000.0, 10_000)
        limits = Limits(requests=often, arrivals=often, answers=often, tries=often)
        listening = socket.create_server(("127.0.0.1", 0))
        app = make_app(study, store, folder=folder, secrets=secrets, limits=limits)
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False, lifespan="on", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            thread.join(0.01)
        running.append((server, thread, listening))
        return Running(study, folder, f"http://127.0.0.1:{listening.getsockname()[1]}", store, secret)

    yield start
    for server, thread, listening in running:
        server.should_exit = True
        thread.join(10)
        listening.close()


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Open pages in contexts of their own; whatever a page complains of fails the test."""
    contexts: list[BrowserContext] = []
    said: list[str] = []

    def opened(width: int = 1280, height: int = 800, *, quiet: bool = True, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(5000)
        contexts.append(context)
        page = context.new_page()
        if quiet:
            page.on("console", lambda message: said.append(f"{message.text} ({message.location.get('url')})"))
        page.on("pageerror", lambda error: said.append(str(error)))
        return page

    yield opened
    for context in contexts:
        context.close()
    assert said == []
