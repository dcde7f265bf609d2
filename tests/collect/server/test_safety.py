"""The threats of docs/collect-safety.md, one test or more for each."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from sfumato.collect.limits import Limits
from sfumato.collect.secret_file import Secrets, read_secrets, with_new_admin
from sfumato.collect.sessions import Session, Sessions, platform_hash
from sfumato.collect.study import Consent, Platform

TOP2 = {"mode": "top2", "top": "deer", "top_percent": 70, "second": "dog", "second_percent": 20, "impossible": ["ship"]}
MANY = (1e6, 10**6)


# Who somebody is.


def test_a_session_can_neither_be_made_nor_changed_nor_kept_for_ever():
    sessions, others = Sessions(Secrets("ab" * 32, "", "")), Sessions(Secrets("cd" * 32, "", ""))
    token = sessions.token(Session("ann", 1000, {"platform": "prolific"}))
    assert sessions.session(token, now=2000) == Session("ann", 1000, {"platform": "prolific"})
    assert others.session(token, now=2000) is None
    assert sessions.session(token, now=1000 + 61 * 24 * 3600 * 1000) is None
    data, _, mac = token.partition(".")
    for broken in (
        data,
        f"{data}.",
        f".{mac}",
        f"{data[:-2]}.{mac}",
        f"{data}.{mac[:-1]}x",
        "",
        "é.é",
        "\ud800",
        "x" * 5000,
    ):
        assert sessions.session(broken, now=2000) is None


def test_ids_of_people_cannot_be_guessed():
    made = {Sessions.new_person() for _ in range(1000)}
    assert len(made) == 1000
    assert all(re.fullmatch(r"[0-9a-f]{16}", each) for each in made)


def test_the_admin_secret_is_kept_as_a_hash_only(tmp_path):
    made, secret = with_new_admin(read_secrets(tmp_path))
    assert len(secret) >= 32
    assert secret not in json.dumps([made.master, made.admin_hash, made.completion_code])
    assert made.admits(secret)
    assert not made.admits(secret[:-1])
    assert not made.admits("\ud800")
    assert not read_secrets(tmp_path).admits("")  # before there is one, nothing opens the door
    assert (tmp_path / "secret.json").stat().st_mode & 0o077 == 0


def test_a_new_admin_secret_ends_the_visits_of_the_old_one():
    before = Secrets("ab" * 32, "hash", "")
    token = Sessions(before).admin_token(5)
    assert Sessions(before).is_admin(token, now=6)
    assert not Sessions(with_new_admin(before)[0]).is_admin(token, now=6)
    assert not Sessions(before).is_admin(token.replace("5.", "9."), now=6)
    assert not Sessions(before).is_admin("", now=6)


def test_a_personal_link_cannot_be_made_by_somebody_else(opened, study):
    secrets = read_secrets(study.folder)
    this = opened(replace(study, platform=Platform(kind="invitation")))
    assert this.browser(f"/i/{secrets.invitation('Ann Müller')}").path == "/item"
    for token in ("x", "AAAA", secrets.invitation("Ann")[:-2] + "AA", Secrets("00" * 32, "", "").invitation("Ann")):
        assert this.browser(f"/i/{token}").status == 404
    assert this.browser("/").status == 404
    assert len(this.store.people()) == 1


def test_the_same_personal_link_is_the_same_person_on_another_device(opened, study):
    link = f"/i/{read_secrets(study.folder).invitation('Ann')}"
    this = opened(replace(study, platform=Platform(kind="invitation")))
    first = this.browser(link)
    first.answer(1)
    second = this.browser(link)
    assert second.client.get("/api/state").json()["places"][0]["answered"] is True
    assert len(this.store.people()) == 1


def test_the_study_file_holds_no_id_of_a_platform(opened, study):
    this = opened(replace(study, platform=Platform(kind="prolific"), consent=Consent(text="Do you agree?")))
    link = "/?PROLIFIC_PID=5f0c1d2e3a4b5c6d7e8f9012&STUDY_ID=study-abc&SESSION_ID=session-xyz"
    browser = this.browser(link)
    assert this.store.payments() == []
    browser.post("/consent", agree="yes")
    (paid,) = this.store.payments()
    assert (paid.platform_id, paid.submission) == ("5f0c1d2e3a4b5c6d7e8f9012", "session-xyz")
    (person,) = this.store.people()
    assert person.visitor == platform_hash(read_secrets(study.folder), "prolific", "5f0c1d2e3a4b5c6d7e8f9012")
    for file in study.folder.glob("study.sqlite*"):
        assert b"5f0c1d2e3a4b5c6d7e8f9012" not in file.read_bytes()
    assert this.browser(link).path == browser.path  # the same person, without asking for consent again
    assert len(this.store.people()) == 1
    assert this.browser("/").status == 403


@pytest.mark.parametrize(("kind", "name"), [("prolific", "PROLIFIC_PID"), ("mturk", "assignmentId")])
def test_who_came_without_what_the_platform_adds_is_told_in_their_language(opened, study, kind, name):
    page = opened(replace(study, language="de", platform=Platform(kind=kind))).browser("/").page
    assert f"In diesem Link fehlt {name}" in page
    assert "must carry" not in page


def test_a_preview_on_mturk_makes_nobody_and_a_submit_address_elsewhere_is_refused(opened, study):
    this = opened(replace(study, platform=Platform(kind="mturk")))
    assert "This is a preview" in this.browser("/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h").page
    evil = "/?assignmentId=a1&hitId=h&workerId=w&turkSubmitTo=https://mturk.com.evil.example"
    assert this.browser(evil).status == 403
    assert this.browser("/?assignmentId=a1&hitId=h&workerId=w&turkSubmitTo=https://[").status == 403
    assert this.store.people() == []


def test_mturk_gets_its_form_for_the_assignment_that_was_worked_on(opened, study):
    this = opened(replace(study, platform=Platform(kind="mturk")))
    link = "/?assignmentId={}&hitId=h&workerId=w&turkSubmitTo=https://workersandbox.mturk.com"
    browser = this.browser(link.format("first"))
    browser = this.browser(link.format("second"))  # given back, and taken again
    for place in browser.places():
        browser.answer(place)
    browser.get("/finish").post("/api/finish")
    assert 'action="https://workersandbox.mturk.com/mturk/externalSubmit"' in browser.page
    assert 'value="second"' in browser.page
    assert 'value="second"' in this.browser(link.format("third")).page  # one work is paid once


# Where a form comes from.


@pytest.mark.parametrize("path", ["/api/answers", "/api/drafts", "/api/heartbeat", "/api/finish"])
def test_what_does_not_carry_the_token_of_the_page_is_refused(opened, path):
    this = opened()
    browser = this.browser()
    other = this.browser()
    for token in ("", "x", "é", other.csrf):
        reply = browser.client.post(path, json={}, headers={"x-csrf": token.encode("utf-8")})
        assert (reply.status_code, reply.json()["error"]["code"]) == (403, "csrf")
    reply = browser.api("POST", path, {}, **{"sec-fetch-site": "cross-site"})
    assert (reply.status_code, reply.json()["error"]["code"]) == (403, "csrf")
    assert list(this.store.responses()) == []


def test_a_plain_form_without_the_token_is_refused(opened, study):
    browser = opened(replace(study, consent=Consent(text="Do you agree?"))).browser()
    assert browser.client.post("/consent", data={"agree": "yes"}).status_code == 403
    assert browser.client.post("/consent", data={"agree": "yes", "csrf": "x"}).status_code == 403


# What a browser may do with our pages.


def test_every_answer_carries_the_strict_headers(opened):
    browser = opened().browser()
    for path in (
        "/item",
        "/api/state",
        "/nothing",
        "/static/x/style.css",
        "/static/x/none.js",
        "/media/none",
        "/admin",
    ):
        headers = browser.client.get(path, follow_redirects=False).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert "cache-control" in headers


def test_only_mturk_may_frame_the_study(opened, study):
    browser = opened(replace(study, platform=Platform(kind="mturk"))).browser(
        "/?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE"
    )
    assert "frame-ancestors https://*.mturk.com" in browser.headers["content-security-policy"]
    assert "x-frame-options" not in browser.headers


def test_no_page_has_a_script_or_a_style_in_it(opened, study):
    browser = opened(replace(study, consent=Consent(text="Do you agree?"))).browser()
    pages = [browser.page, browser.post("/consent", agree="yes").page, browser.get("/nothing").page]
    for page in pages:
        assert not re.search(r"<script(?![^>]* src=)", page)
        assert not re.search(r"<style|\sstyle=|\son\w+=|javascript:", page)


def test_what_the_study_says_is_text_and_never_html(opened, study):
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'"
    (study.folder / "items.csv").write_text('item,text\n"a<b>","' + evil.replace('"', '""') + '"\n', encoding="utf-8")
    browser = opened(replace(study, title=evil, question=evil, contact=evil)).browser()
    assert "<script>alert" not in browser.page
    assert "<img src=x" not in browser.page
    assert "&lt;script&gt;alert(1)" in browser.page


def test_what_is_public_is_packed_and_what_holds_a_token_is_not(opened):
    """The length of a packed page would tell of the token in it to who may put something beside it (BREACH)."""
    client = opened().browser().client
    page = client.get("/item", headers={"accept-encoding": "gzip"})
    assert "content-encoding" not in page.headers
    sheet = re.search(r'href="(/static/[^"]+)"', page.text)[1]
    packed = client.get(sheet, headers={"accept-encoding": "br, gzip"})
    plain = client.get(sheet, headers={"accept-encoding": "gzip;q=0, identity"})
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "accept-encoding")
    assert "content-encoding" not in plain.headers
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) < len(plain.content) / 2


# Cookies.


def test_cookies_are_kept_from_scripts_and_from_other_sites(opened, study):
    this = opened(behind_proxy=True)
    plain = TestClient(this.app).get("/", follow_redirects=False).headers["set-cookie"]
    assert "HttpOnly" in plain
    assert "SameSite=Lax" in plain
    assert "Secure" not in plain
    secured = TestClient(this.app).get("/", headers={"x-forwarded-proto": "https"}, follow_redirects=False).headers
    assert "; Secure" in secured["set-cookie"]
    assert "strict-transport-security" in secured


def test_two_studies_on_one_host_do_not_take_each_others_cookies(opened, study, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "items.csv").write_text((study.folder / "items.csv").read_text(encoding="utf-8"), encoding="utf-8")
    one, two = opened(), opened(replace(study, folder=other))
    first = TestClient(one.app)
    first.get("/")
    # Another port of the same host: browsers send the same cookies there.
    second = TestClient(two.app)
    second.cookies = first.cookies
    second.get("/")
    for this in (one, two):
        client = TestClient(this.app)
        client.cookies = second.cookies
        client.get("/")
        assert len(this.store.people()) == 1
        client.get("/admin/enter", params={"secret": this.admin_secret})
        second.cookies = client.cookies
    for this in (one, two):
        client = TestClient(this.app)
        client.cookies = second.cookies
        assert client.get("/api/admin/overview").status_code == 200


def test_in_the_frame_of_mturk_the_cookie_is_partitioned(opened, study):
    this = opened(replace(study, platform=Platform(kind="mturk")), behind_proxy=True)
    link = "/?assignmentId=a&hitId=h&workerId=w&turkSubmitTo=https://www.mturk.com"
    headers = TestClient(this.app).get(link, headers={"x-forwarded-proto": "https"}, follow_redirects=False).headers
    assert "SameSite=None; Secure; Partitioned" in headers["set-cookie"]


# Too much, too often, too long.


def test_a_body_that_is_too_long_is_refused_whether_it_says_so_or_not(opened):
    browser = opened().browser()
    headers = {"x-csrf": browser.csrf, "content-type": "application/json"}
    said = browser.client.post("/api/answers", content=b"x" * 300_000, headers=headers)
    unsaid = browser.client.post("/api/answers", content=iter([b"x" * 100_000] * 4), headers=headers)
    assert [(each.status_code, each.json()["error"]["code"]) for each in (said, unsaid)] == [(413, "too_large")] * 2


def test_one_person_cannot_send_without_end(opened):
    this = opened(limits=Limits(MANY, MANY, (0.001, 3), MANY))
    browser = this.browser()
    replies = [browser.api("POST", "/api/heartbeat", {}) for _ in range(5)]
    assert [each.status_code for each in replies] == [200, 200, 200, 429, 429]
    assert int(replies[-1].headers["retry-after"]) > 0
    assert this.browser().api("POST", "/api/heartbeat", {}).status_code == 200


def test_one_address_cannot_ask_or_arrive_without_end(opened):
    this = opened(limits=Limits(MANY, (0.001, 2), MANY, MANY), behind_proxy=True)
    came = [this.browser(headers={"x-forwarded-for": "made-up, 10.0.0.1"}).status for _ in range(3)]
    assert came == [200, 200, 429]
    assert this.browser(headers={"x-forwarded-for": "made-up, 10.0.0.2"}).status == 200
    assert len(this.store.people()) == 3


def test_addresses_of_a_proxy_are_believed_only_behind_one(opened):
    this = opened(limits=Limits((0.001, 2), MANY, MANY, MANY))
    replies = [TestClient(this.app, headers={"x-forwarded-for": str(n)}).get("/health").status_code for n in range(3)]
    assert replies == [200, 200, 429]


def test_guessing_the_admin_secret_is_slow(opened):
    this = opened(limits=Limits(MANY, MANY, MANY, (0.001, 3)))
    client = TestClient(this.app)
    tries = [client.get("/admin/enter", params={"secret": f"guess-{n}"}).status_code for n in range(5)]
    assert tries == [403, 403, 403, 429, 429]


# Files.


@pytest.mark.parametrize(
    "path",
    [
        "/media/..%2fstudy.toml", "/media/../secret.json", "/static/x/..%2f..%2fapp.py", "/static/../../secret.json",
        "/media/items.csv", "/media/%2fetc%2fpasswd", "/static/x/%00", "/secret.json", "/study.sqlite",
    ],
)  # fmt: skip
def test_no_path_leaves_the_items(opened, path):
    reply = TestClient(opened().app, raise_server_exceptions=False).get(path)
    assert reply.status_code == 404
    assert "master" not in reply.text


# What is written down about people.


def test_the_log_names_nobody(opened, study, caplog):
    this = opened(replace(study, platform=Platform(kind="prolific")))
    with caplog.at_level(logging.INFO, logger="sfumato.collect"):
        browser = this.browser("/?PROLIFIC_PID=5f0c1d2e3a4b5c6d7e8f9012&STUDY_ID=s&SESSION_ID=x")
        browser.answer(1)
        browser.get("/admin/enter?secret=not-it")
        browser.get("/people/Ann")
        browser.get("/media/0123456789abcdef")
    told = caplog.text
    (person,) = this.store.people()
    for secret in (
        "5f0c1d2e3a4b5c6d7e8f9012",
        person.id,
        person.visitor,
        "not-it",
        "testclient",
        "Ann",
        "0123456789abcdef",
    ):
        assert secret not in told
    lines = [json.loads(record.getMessage()) for record in caplog.records if record.name == "sfumato.collect"]
    assert {"event": "request", "method": "POST", "route": "/api/answers", "status": 200}.items() <= lines[-4].items()


def test_a_fault_is_told_without_what_was_said(opened, monkeypatch, caplog):
    this = opened()
    browser = this.browser()
    token = browser.csrf

    def breaks(*_):
        raise KeyError("what Ann said")

    monkeypatch.setattr(this.store, "add_response", breaks)
    reply = browser.api("POST", "/api/answers", {"place": 1, "key": "some-key", "answer": TOP2}, csrf=token)
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "fault")
    assert "Ann" not in reply.text
    assert "what Ann said" not in caplog.text
    assert "Traceback" not in reply.text


def test_a_disk_that_is_full_is_said_to_be_tried_again(opened, monkeypatch):
    import sqlite3

    this = opened()
    browser = this.browser()
    token = browser.csrf

    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(this.store, "add_response", full)
    reply = browser.api("POST", "/api/answers", {"place": 1, "key": "some-key", "answer": TOP2}, csrf=token)
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "unavailable")
    monkeypatch.undo()
    assert browser.answer(1, key="some-key").json()["new"] is True


def test_a_person_who_was_deleted_is_gone_at_once(opened):
    this = opened()
    browser = this.browser()
    (person,) = this.store.people()
    assert this.store.erase(person.id).result()
    reply = browser.answer(1)
    assert (reply.status_code, reply.json()["error"]["code"]) == (401, "session")
    this.desk.look()
    assert browser.client.get("/api/state").status_code == 401
