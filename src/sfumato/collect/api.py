"""What the scripts of the item page ask and send; a plain form may send an answer here as well."""

from __future__ import annotations

__all__ = ["Api"]

import contextlib
import json
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sfumato.collect.desk import Desk, Stop
from sfumato.collect.door import Door
from sfumato.collect.forms import answer_from_form, shown_again
from sfumato.collect.languages import Language
from sfumato.collect.refusal import Refusal
from sfumato.collect.showing import Showing
from sfumato.collect.store import DraftRow, PlaceRow, ResponseRow
from sfumato.collect.visits import Visit

_LARGEST_DRAFT = 240 * 1024
_LONGEST_TIME = 40
_MOST_SECONDS = 1e8


class Api:
    """The routes under ``/api`` for the person who answers."""

    def __init__(self, desk: Desk, door: Door, showing: Showing, words: Language) -> None:
        self._desk, self._door, self._showing, self._words = desk, door, showing, words

    def routes(self) -> list[Route]:
        """Return the routes."""
        return [
            Route("/api/state", self._state),
            Route("/api/heartbeat", self._heartbeat, methods=["POST"]),
            Route("/api/places", self._places),
            Route("/api/places/{number:int}", self._place),
            Route("/api/drafts", self._draft, methods=["POST", "PUT"]),
            Route("/api/answers", self._answer, methods=["POST"]),
            Route("/api/finish", self._finish, methods=["POST"]),
        ]

    async def _state(self, request: Request) -> Response:
        visit = self._door.visit(request)
        self._desk.alive(visit)
        return _json(await self._told(visit))

    async def _heartbeat(self, request: Request) -> Response:
        visit = self._door.visit(request)
        await self._door.json(request, visit.row.id)
        self._door.count_answer(visit)
        self._desk.alive(visit)
        return _json(await self._told(visit))

    async def _told(self, visit: Visit) -> dict[str, Any]:
        if visit.row.released_at is not None and self._desk.state != "paused":
            # Somebody is back after their places were given to others.
            with contextlib.suppress(Stop):
                await self._desk.settle(visit)
        return {
            "state": visit.row.state,
            "study": self._desk.state,
            "next": self._desk.next_page(visit),
            "places": self._showing.places_told(visit),
            "time": self._desk.now(),
        }

    async def _places(self, request: Request) -> Response:
        return _json({"places": self._showing.places_told(self._door.visit(request))})

    async def _place(self, request: Request) -> Response:
        visit = self._door.visit(request)
        number = request.path_params["number"]
        if number not in {each.place for each in visit.shown()}:
            raise Refusal(404, "missing", self._words("notice.missing.text"))
        self._desk.alive(visit)
        classes = request.query_params.get("classes") != "0"
        return _json(self._showing.place_told(visit, number, classes=classes))

    async def _draft(self, request: Request) -> Response:
        visit = self._door.visit(request)
        told = await self._door.json(request, visit.row.id)
        self._door.count_answer(visit)
        place = self._at_items(visit, told.get("place"))
        answer = told.get("answer")
        if not isinstance(answer, dict) or len(json.dumps(answer)) > _LARGEST_DRAFT:
            raise Refusal(400, "shape", f"answer must be an object of up to {_LARGEST_DRAFT // 1024} KB.")
        events = self._door.events(told.get("events", []))
        sequence = self._door.whole(told.get("sequence", 0), "sequence")
        self._desk.alive(visit)
        revision = self._door.whole(told.get("revision", 0), "revision")
        draft = DraftRow(visit.row.id, place.place, place.kind, answer, events, sequence, revision)
        await self._desk.save_draft(draft)
        return _json({"saved": True})

    async def _answer(self, request: Request) -> Response:
        visit = self._door.visit(request)
        plain = self._door.is_form(request)
        if plain:
            pairs = await self._door.form(request, visit.row.id)
            told: dict[str, Any] = dict(pairs)
            answer: Any = answer_from_form(pairs, self._desk.study.class_names)
        else:
            told = await self._door.json(request, visit.row.id)
            answer = told.get("answer")
        self._door.count_answer(visit)
        key = f"{visit.row.id}:{self._door.key(told.get('key'))}"
        if visit.row.finished_at is not None or visit.row.screened_at is not None:
            known = self._desk.store.response_with(key)
            if known is not None:
                # The browser never heard that it was stored.
                return self._stored(visit, known, told["key"], new=False, plain=plain)
        before = len(visit.places), visit.row.released_at
        place = self._at_items(visit, told.get("place"))
        problems = self._showing.problems(answer)
        if problems:
            if plain and place.place not in {each.place for each in visit.shown()}:
                return self._door.go("/item")
            if plain:
                again = shown_again(answer, pairs)
                return HTMLResponse(self._showing.item_page(visit, place.place, said=again, errors=problems), 422)
            message = self._words("page.problem")
            raise Refusal(422, "answer", message, details=[dict(each) for each in problems])
        said = ResponseRow(
            key=key,
            person=visit.row.id,
            place=place.place,
            item=place.item,
            kind=place.kind,
            answer=answer,
            seconds=None if plain else _seconds(told.get("seconds")),
            events=() if plain else self._door.events(told.get("events", [])),
            shown_at="" if plain else _time(told.get("shown_at", "")),
            sent_at="" if plain else _time(told.get("sent_at", "")),
            received_at=self._desk.now(),
        )
        receipt = await self._desk.answer(visit, place, said)
        changed = before != (len(visit.places), visit.row.released_at)
        return self._stored(visit, receipt.row, told["key"], new=receipt.new, plain=plain, changed=changed)

    def _stored(
        self, visit: Visit, row: ResponseRow, key: str, *, new: bool, plain: bool, changed: bool = False
    ) -> Response:
        shown = visit.shown()
        if plain:
            # After an answer that was changed, to the one that follows it; else to the first that is open.
            later = next((each for each in shown if each.place > row.place), None)
            if row.revision > 1 and later is not None:
                return self._door.go(f"/item?place={later.place}")
            return self._door.go(self._desk.next_page(visit))
        told = {
            "stored": True,
            "new": new,
            "key": key,
            "place": row.place,
            "revision": row.revision,
            "answered": sum(each.answered for each in shown),
            "of": len(shown),
            "next": self._desk.next_page(visit),
        }
        if changed:
            told["places"] = self._showing.places_told(visit)
        return _json(told)

    async def _finish(self, request: Request) -> Response:
        visit = self._door.visit(request)
        plain = self._door.is_form(request)
        if plain:
            await self._door.form(request, visit.row.id)
        else:
            await self._door.json(request, visit.row.id)
        self._door.count_answer(visit)
        if visit.row.assigned_at is not None and not await self._desk.hand_in(visit):
            missing, unkept = [each for each in visit.shown() if not each.answered], False
            if not missing:
                changed = self._desk.unkept(visit)
                missing, unkept = [each for each in visit.shown() if each.place in changed], True
            if plain:
                return self._door.go(f"/item?place={missing[0].place}" if unkept and missing else "/item")
            told = ", ".join(str(each.position) for each in missing)
            message = self._words("item.unkept" if unkept else "finish.missing", places=told)
            details = [
                {"place": each.place, "position": each.position, "field": str(each.place), "message": message}
                for each in missing
            ]
            raise Refusal(409, "unkept" if unkept else "unanswered", message, details=details)
        there = self._desk.next_page(visit)
        return self._door.go(there) if plain else _json({"next": there})

    def _at_items(self, visit: Visit, number: object) -> PlaceRow:
        """Return a place of a person who is at the items, or refuse."""
        there = self._desk.next_page(visit)
        row = visit.row
        if row.finished_at is not None or row.screened_at is not None:
            raise Refusal(409, "handed_in", self._words("done.text"), next_page=there)
        if row.assigned_at is None:
            raise Refusal(409, "not_yet", self._words("notice.missing.text"), next_page=there)
        place = visit.places.get(self._door.whole(number, "place"))
        if place is None:
            raise Refusal(404, "missing", self._words("notice.missing.text"))
        return place


def _json(told: Any) -> Response:
    body = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
    return Response(body, media_type="application/json")


def _seconds(told: object) -> float | None:
    if told is None:
        return None
    if not isinstance(told, (int, float)) or isinstance(told, bool) or not 0 <= told <= _MOST_SECONDS:
        raise Refusal(400, "shape", "seconds must be a number from 0 on.")
    return float(told)


def _time(told: object) -> str:
    if not isinstance(told, str) or len(told) > _LONGEST_TIME or not told.isprintable():
        raise Refusal(400, "shape", "shown_at and sent_at must be times as texts.")
    return told
