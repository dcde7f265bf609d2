"""A study of a dozen short texts, its application, and a browser without scripts that takes part in it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason='needs the extra "collect"')
pytest.importorskip("httpx", reason="the test client of Starlette needs httpx")

from starlette.applications import Starlette
from starlette.testclient import TestClient

from sfumato.collect.app import make_app
from sfumato.collect.limits import Limits
from sfumato.collect.secret_file import read_secrets, with_new_admin, write_secrets
from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.study import Batches, Items, Study, StudyClass

MINUTE = 60_000
MANY = Limits((1e6, 10**6), (1e6, 10**6), (1e6, 10**6), (1e6, 10**6))
TOP2 = {"mode": "top2", "top": "deer", "top_percent": 70, "second": "dog", "second_percent": 20, "impossible": ["ship"]}


@dataclass
class Clock:
    """The time, in milliseconds, which stands still until it is moved."""

    now: int = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now


@dataclass
class Opened:
    """A study that is open: its application, its store, its clock, and the admin secret."""

    study: Study
    app: Starlette
    store: SqliteStore
    clock: Clock
    admin_secret: str

    @property
    def desk(self) -> Any:
        return self.app.state.desk

    def browser(self, path: str = "/", **options: Any) -> Browser:
        """Return somebody who has followed the link to the study."""
        browser = Browser(TestClient(self.app, raise_server_exceptions=False, **options))
        browser.get(path)
        return browser


@dataclass
class Browser:
    """Follows redirects, keeps cookies, and fills in the forms of the page that it is on."""

    client: TestClient
    page: str = ""
    path: str = ""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    def get(self, path: str, **options: Any) -> Browser:
        return self._on(self.client.get(path, **options))

    def post(self, path: str, **fields: Any) -> Browser:
        data = {"csrf": self.field("csrf"), **fields}
        return self._on(self.client.post(path, data=data))

    def _on(self, response: Any) -> Browser:
        self.page, self.path, self.status = response.text, response.url.path, response.status_code
        self.headers = dict(response.headers)
        return self

    def field(self, name: str) -> str:
        """Return the value of a hidden field of the page."""
        found = re.search(rf'name="{name}" value="([^"]*)"', self.page)
        assert found is not None, f"no field {name} on {self.path}: {self.page[:300]}"
        return found[1]

    def api(self, method: str, path: str, body: Any = None, *, csrf: str | None = None, **headers: str) -> Any:
        """Send what the scripts send."""
        token = self.csrf if csrf is None else csrf
        return self.client.request(method, path, json=body, headers={"x-csrf": token, **headers})

    @property
    def csrf(self) -> str:
        if 'name="csrf"' not in self.page:
            self.get("/item")
        return self.field("csrf")

    def answer(self, place: int, answer: dict[str, Any] | None = None, *, key: str = "", **more: Any) -> Any:
        """Send an answer as the scripts do."""
        told = {"place": place, "key": key or f"key-{place}-000", "answer": answer or TOP2, **more}
        return self.api("POST", "/api/answers", told)

    def places(self) -> list[int]:
        return [each["place"] for each in self.client.get("/api/places").json()["places"]]


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """The folder of a study with twelve texts."""
    rows = "".join(f"item-{n},Text number {n}.\n" for n in range(12))
    (tmp_path / "items.csv").write_text(f"item,text\n{rows}", encoding="utf-8")
    return tmp_path


@pytest.fixture
def study(texts: Path) -> Study:
    """A plain study: nothing to read or agree to, four items for each person, two people for each item."""
    names = ("deer", "horse", "dog", "ship")
    return Study(
        title="Animals",
        classes=tuple(StudyClass(name=name) for name in names),
        folder=texts,
        items=Items(source="items.csv"),
        batches=Batches(size=4, panel=2),
    )


@pytest.fixture
def opened(study: Study, unflushed: None) -> Iterator[Callable[..., Opened]]:
    """Return what opens a study, with changes; everything is closed at the end."""
    with ExitStack() as stack:

        def opens(changed: Study | None = None, *, limits: Limits = MANY, **changes: Any) -> Opened:
            options = {name: changes.pop(name) for name in ("behind_proxy",) if name in changes}
            this = replace(changed or study, **changes)
            store = SqliteStore(this.folder / "study.sqlite", serving=True)
            stack.callback(store.close)
            secrets, secret = with_new_admin(read_secrets(this.folder))
            write_secrets(this.folder, secrets)
            clock = Clock()
            app = make_app(this, store, secrets=secrets, limits=limits, clock=clock, **options)
            stack.enter_context(TestClient(app))
            return Opened(this, app, store, clock, secret)

        yield opens


@pytest.fixture
def unflushed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out the flush to disk, which a test of behaviour can do without; tests/faults do not."""
    connect = sqlite3.connect

    class Unflushed(sqlite3.Connection):
        def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
            if statement == "pragma synchronous = full":
                statement = "pragma synchronous = off"
            return super().execute(statement, *values)

    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **{"factory": Unflushed, **k}))
