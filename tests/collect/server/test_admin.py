"""The admin's routes: the secret, the live numbers, pausing, extending, the rules, and the downloads."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from sfumato.collect.study import Check
from sfumato.collect.study_file import commented

TOP2 = {"mode": "top2", "top": "deer", "top_percent": 70, "second": "dog", "second_percent": 20, "impossible": []}


class AdminBrowser:
    """Somebody who has opened the admin address."""

    def __init__(self, this, secret: str = "") -> None:
        self.client = TestClient(this.app, raise_server_exceptions=False)
        self.came = self.client.get("/admin/enter", params={"secret": secret or this.admin_secret})

    @property
    def csrf(self) -> str:
        return re.search(r'name="csrf" value="([^"]+)"', self.client.get("/admin").text)[1]

    def post(self, path: str, told: dict):
        return self.client.post(path, json=told, headers={"x-csrf": self.csrf})


@pytest.fixture
def answered(opened):
    """A study in which two people have answered four items each."""
    this = opened()
    for _ in range(2):
        browser = this.browser()
        for place in browser.places():
            browser.answer(place, key=f"key-{place:05}")
        browser.get("/finish").post("/api/finish")
    return this


def test_without_the_secret_there_is_nothing_to_see(answered):
    client = TestClient(answered.app, follow_redirects=False)
    for path in ("/admin", "/admin/people", "/admin/items", "/admin/download/responses.jsonl"):
        assert client.get(path).headers["location"] == "/admin/enter"
    for path in ("overview", "people", "items"):
        assert client.get(f"/api/admin/{path}").status_code == 401
    for path in ("state", "extend", "exclusions"):
        assert client.post(f"/api/admin/{path}", json={}).status_code == 401
    assert client.get("/admin/enter").status_code == 200
    assert AdminBrowser(answered, "wrong").came.status_code == 403


def test_the_secret_opens_the_door_and_does_not_stay_in_the_address(answered):
    admin = AdminBrowser(answered)
    assert admin.came.status_code == 200
    assert admin.came.url.path == "/admin"
    assert "secret" not in str(admin.came.url)
    cookie = admin.came.history[0].headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    token = admin.csrf
    assert admin.client.post("/admin/leave", data={"csrf": token}).url.path == "/admin/enter"
    assert admin.client.get("/admin", follow_redirects=False).status_code == 303


def test_a_person_cannot_sign_the_forms_of_the_admin(answered):
    admin, person = AdminBrowser(answered), answered.browser()
    reply = admin.client.post("/api/admin/state", json={"state": "closed"}, headers={"x-csrf": person.csrf})
    assert reply.status_code == 403
    assert answered.store.state() == "open"


def test_the_numbers_are_those_of_the_study(answered):
    admin = AdminBrowser(answered)
    told = admin.client.get("/api/admin/overview").json()
    assert told["people"] == {"done": 2}
    assert told["answers"]["usable"] == 8
    assert (told["per_item"]["least"], told["per_item"]["most"], told["n_items"]) == (0, 1, 12)
    people = admin.client.get("/api/admin/people").json()["people"]
    assert [each["answered"] for each in people] == [4, 4]
    items = admin.client.get("/api/admin/items?by=least&n=3").json()
    assert (items["total"], len(items["items"])) == (12, 3)
    assert all("media" in each for each in items["items"])
    for page in ("/admin", "/admin/people", "/admin/items", "/admin/items?by=id&offset=10"):
        assert admin.client.get(page).status_code == 200


@pytest.mark.parametrize("query", ["by=x", "offset=-1", "n=1000", "n=x"])
def test_a_list_that_cannot_be_had(answered, query):
    assert AdminBrowser(answered).client.get(f"/api/admin/items?{query}").status_code == 400


def test_pausing_and_opening_take_effect_at_once(answered):
    admin = AdminBrowser(answered)
    assert admin.post("/api/admin/state", {"state": "paused"}).json()["state"] == "paused"
    assert "A short break" in answered.browser().page
    form = admin.client.post("/api/admin/state", data={"csrf": admin.csrf, "state": "open"})
    assert form.url.path == "/admin"
    assert answered.browser().path == "/item"
    assert admin.post("/api/admin/state", {"state": "gone"}).status_code == 400


def test_extending_takes_effect_at_once(answered):
    admin = AdminBrowser(answered)
    assert admin.post("/api/admin/extend", {"panel": 5}).json()["panel"] == 5
    assert answered.desk.assignment.panel == 5
    for wrong in (0, -1, "x", None, 10**9):
        assert admin.post("/api/admin/extend", {"panel": wrong}).status_code == 400


def test_running_the_rules_again_asks_about_the_items_of_who_is_left_out(opened, study):
    batches = replace(study.batches, checks_per_batch=1)
    this = opened(
        replace(
            study,
            batches=batches,
            checks=(Check(item="Choose ship.", answer="ship"),),
            exclusions={"preset": "none", "checks_wrong_above": 0},
        )
    )
    browser = this.browser()
    for place in browser.places():
        browser.answer(place, key=f"key-{place:05}")
    browser.get("/finish").post("/api/finish")
    admin = AdminBrowser(this)
    told = admin.post("/api/admin/exclusions", {}).json()
    assert told["exclusions"]["leave_out"] == 1
    assert told["answers"]["usable"] == 0
    assert all(this.desk.assignment.level(item) == 0 for item in this.desk.items)


def test_downloads_are_what_the_command_exports(answered):
    names = answered.study.class_names
    text = commented(title="Animals", classes=names, source="items.csv")
    (answered.study.folder / "study.toml").write_text(text, encoding="utf-8")
    admin = AdminBrowser(answered)
    reply = admin.client.get("/admin/download/responses.jsonl")
    assert reply.status_code == 200, reply.text
    assert 'filename="animals-responses.jsonl"' in reply.headers["content-disposition"]
    rows = [json.loads(line) for line in reply.text.splitlines()]
    assert len(rows) == 8
    assert admin.client.get("/admin/download/secret.json").status_code == 404


def test_a_download_of_nothing_is_one_sentence(opened):
    this = opened()
    text = commented(title="Animals", classes=this.study.class_names, source="items.csv")
    (this.study.folder / "study.toml").write_text(text, encoding="utf-8")
    reply = AdminBrowser(this).client.get("/admin/download/votes.csv")
    assert reply.status_code == 409
    assert "<p>There are no answers to export: nobody has come yet.</p>" in reply.text
