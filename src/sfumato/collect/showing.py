"""What a person is shown of a place: one and the same for pages and scripts, and where an answer comes back."""

from __future__ import annotations

__all__ = ["Showing", "plain"]

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.collect.desk import Desk
from sfumato.collect.door import Door
from sfumato.collect.languages import Language
from sfumato.collect.media import Media
from sfumato.collect.pages import Pages
from sfumato.collect.refusal import Refusal
from sfumato.collect.validation import Problem, ShapeError, check_shape, problems_of
from sfumato.collect.visits import Visit


class Showing:
    """Tells people about their places, and what is wrong with an answer."""

    def __init__(self, desk: Desk, door: Door, pages: Pages, media: Media, words: Language) -> None:
        self._desk, self._door, self._pages, self._media, self._words = desk, door, pages, media, words
        self._study = desk.study
        self._classes = frozenset(desk.study.class_names)

    def item_page(
        self,
        visit: Visit,
        number: int,
        *,
        said: Mapping[str, Any] | None = None,
        errors: Sequence[Problem] = (),
    ) -> str:
        """Return the page of a place, with what was *said* where it comes back with errors."""
        place = self.place_told(visit, number)
        if said is not None:
            place["draft"] = dict(said)
        problems = plain(errors)
        if not problems and said is None and self._desk.unkept(visit, number):
            problems = [{"code": "unkept", "field": "", "message": self._words("item.unkept")}]
        return self._pages.item(
            place,
            csrf=self._door.csrf(visit.row.id),
            key=self.fresh_key(),
            person=self.tabs(visit),
            places=self.places_told(visit),
            errors=problems,
        )

    def tabs(self, visit: Visit) -> str:
        """Return the handle that all tabs of a person share, for what their browser keeps; it opens nothing."""
        return self._door.csrf(f"tabs of {visit.row.id}")

    def place_told(self, visit: Visit, number: int, *, classes: bool = True) -> dict[str, Any]:
        """Return what a page or a script is told about a place; whether it is a check does not show."""
        shown = visit.shown()
        this = next(each for each in shown if each.place == number)
        place = visit.places[number]
        store = self._desk.store
        draft = next(
            (each for each in store.drafts(visit.row.id) if each.place == number and each.kind == place.kind), None
        )
        answer = store.response(visit.row.id, place.kind, number) if this.answered else None
        check = self._desk.checks.get(place.item) if place.kind == "check" else None
        told: dict[str, Any] = {
            "place": number,
            "position": this.position,
            "of": len(shown),
            "kind": "main",
            "item": self._media.told(self._desk.item(place.item)),
            "note": check.text if check is not None else "",
            "draft": dict(draft.answer) if draft is not None else None,
            "draft_sequence": draft.sequence if draft is not None else 0,
            "draft_events": list(draft.events) if draft is not None else [],
            "answer": dict(answer.answer) if answer is not None else None,
            "revision": this.revision,
        }
        if classes:
            told["classes"] = self.classes(visit)
        return told

    def places_told(self, visit: Visit) -> list[dict[str, Any]]:
        """Return the places of a person, as a page or a script is told of them."""
        return [
            {"place": each.place, "position": each.position, "answered": each.answered, "revision": each.revision}
            for each in visit.shown()
        ]

    def classes(self, visit: Visit) -> list[dict[str, str]]:
        """Return the classes in the order of a person."""
        every = self._study.classes
        return [{"name": every[k].name, "description": every[k].description} for k in self._desk.class_order(visit)]

    def problems(self, answer: object) -> list[Problem]:
        """Return what is wrong with an answer in words for the person, or refuse what no page of ours sends."""
        try:
            return problems_of(check_shape(answer, self._study), self._study, self._classes, self._words)
        except ShapeError as error:
            raise Refusal(400, "shape", str(error)) from None

    @staticmethod
    def fresh_key() -> str:
        """Return a key for a submission without scripts."""
        return secrets.token_hex(16)


def plain(problems: Sequence[Problem]) -> list[dict[str, str]]:
    """Return problems as the pages take them."""
    return [{"code": each["code"], "field": each["field"], "message": each["message"]} for each in problems]
