"""The pages as text: what others wrote stays text, and whatever a draft holds, there is a page."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest

from sfumato.collect.admin_pages import AdminPages
from sfumato.collect.assets import Assets
from sfumato.collect.languages import LANGUAGES
from sfumato.collect.pages import Pages
from sfumato.collect.study import Consent, Instructions, Mode, Study, StudyClass

_EVIL = "<script>alert('1')</script>\"&"


def _study(**settings: Any) -> Study:
    return Study(
        **{"title": _EVIL, "classes": (StudyClass(name=_EVIL, description=_EVIL), StudyClass(name="b"))} | settings
    )


def _place(**told: Any) -> dict[str, Any]:
    return {
        "place": 1, "position": 1, "of": 1, "kind": "main", "note": _EVIL, "draft": None, "draft_sequence": 0,
        "draft_events": [], "answer": None, "revision": 0,
        "item": {"kind": "text", "media": "", "text": _EVIL, "alt": ""},
        "classes": [{"name": _EVIL, "description": _EVIL}, {"name": "b", "description": ""}],
    } | told  # fmt: skip


def _item(study: Study, place: dict[str, Any]) -> str:
    places = [{"place": 1, "position": 1, "answered": False, "revision": 0}]
    return Pages(study).item(
        place, csrf=_EVIL, key=_EVIL, person=_EVIL, places=places, errors=[{"field": "top", "message": _EVIL}]
    )


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("mode", get_args(Mode))
def test_what_others_wrote_stays_text(mode: Any, code: str) -> None:
    study = _study(
        mode=mode,
        language=code,
        question=_EVIL,
        contact=_EVIL,
        consent=Consent(text=_EVIL),
        instructions=Instructions(text=_EVIL),
    )
    pages = Pages(study)
    admin = AdminPages(study)
    thing = {
        "id": _EVIL,
        "kind": "text",
        "text": _EVIL,
        "answers": 2,
        "distribution": {_EVIL: 1.0},
        "entropy": 0.0,
        "agreement": None,
    }
    made = [
        _item(study, _place()), _item(study, _place(draft={"top": _EVIL, "impossible": [_EVIL]})),
        pages.consent(csrf=_EVIL), pages.instructions(csrf=_EVIL),
        pages.practice(_place(), csrf=_EVIL, key="k"), pages.trouble(500, _EVIL),
        pages.feedback(_place(), csrf=_EVIL, feedback=_EVIL, right=False), pages.done(code=_EVIL, link=_EVIL),
        admin.items({"total": 1, "by": "entropy", "offset": 0, "items": [thing]}, csrf=_EVIL),
    ]  # fmt: skip
    for page in made:
        assert "<script>alert" not in page
        # Nor does anything leave an attribute: no quote that was written by others stands unescaped.
        assert "alert('1')" not in page
        # The policy of the pages allows no style and no script within them.
        assert not re.search(r"<script(?! type=\"module\" src=)|style=|\son\w+=", page)


@pytest.mark.parametrize(
    "draft", [{"impossible": 5}, {"top": ["x"]}, {"top_percent": {}}, {"chips": []}, {"percents": {"b": None}}]
)
@pytest.mark.parametrize("mode", get_args(Mode))
def test_whatever_a_draft_holds_there_is_a_page(mode: Any, draft: dict[str, Any]) -> None:
    assert "</html>" in _item(_study(mode=mode), _place(draft=draft))


@pytest.mark.parametrize(("redistribute", "told"), [({}, True), ({"gamma": 0.0}, False), ({"rule": "uniform"}, False)])
@pytest.mark.parametrize("mode", ["top1", "top2", "sliders"])
def test_the_page_tells_of_the_share_that_a_whole_answer_gives_away(mode: Any, redistribute: Any, told: bool) -> None:
    page = _item(_study(mode=mode, redistribute=redistribute), _place())
    assert ("10 % go to what else is possible" in page) == (told and mode != "sliders")


def test_where_one_class_is_explained_all_are_listed() -> None:
    page = Pages(_study()).instructions(csrf="c")
    assert page.count("<dt ") == 2
    assert "<dt" not in Pages(_study(classes=(StudyClass(name="a"), StudyClass(name="b")))).instructions(csrf="c")


def test_imported_people_have_no_date() -> None:
    person = {
        "id": "p", "platform": "import", "state": "done", "answered": 1, "places": 1, "seen_at": 61_000, "seconds": 1.0,
        "minutes": 1.0, "agreement": None, "repeat_change": None, "checks": 0, "checks_wrong": 0, "bonus": None,
        "leave_out": True, "do_not_pay": False, "reasons": ("left out: named in study.toml",),
    }  # fmt: skip
    page = AdminPages(_study()).people({"people": [person]}, csrf="c")
    assert "d ago" not in page
    assert "1970" not in page
    assert page.count("left out: ") == 0


def test_a_version_of_the_static_files_has_its_own_address() -> None:
    assets = Assets()
    assert assets.version == Assets().version
    page = _item(_study(), _place())
    assert page.count(f"/static/{assets.version}/") == 2


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("mode", get_args(Mode))
def test_the_instructions_ask_for_the_view_that_the_items_ask_for(mode: Any, code: str) -> None:
    told = [
        Pages(_study(mode=mode, language=code, person=person)).instructions(csrf="c").partition('class="how"')[2]
        for person in ("first", "third")
    ]
    assert told[0] != told[1]
    assert (mode == "hard") or re.search("100|many people|viele Menschen", told[1])


@pytest.mark.parametrize("person", ["first", "third"])
def test_the_instructions_know_sums_that_may_stay_open(person: Any) -> None:
    exact, open_sum = (
        Pages(_study(mode="sliders", person=person, sliders_sum=total)).instructions(csrf="c")
        for total in ("exact", "at_most")
    )
    assert ("must make 100" in exact, "must make 100" in open_sum) == (True, False)
    assert "may be less than 100" in open_sum


def test_the_preview_shows_what_the_task_is() -> None:
    page = Pages(_study(consent=Consent(text="Some pictures are of spiders."), question="Which is it?")).preview()
    assert "Some pictures are of spiders." in page
    assert "Which is it?" in page
    assert page.count("<dt ") == 2
    assert _EVIL not in page


def test_whatever_a_draft_rules_out_of_many_classes_there_is_a_page() -> None:
    names = [f"class {n}" for n in range(30)]
    study = _study(classes=tuple(StudyClass(name=name) for name in names))
    draft = {"top": "class 0", "impossible": [*names[1:], {}, ["x"], 5]}
    assert 'value="impossible" checked' in _item(study, _place(draft=draft))
