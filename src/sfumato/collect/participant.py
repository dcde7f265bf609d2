"""The pages of the person who answers, from the door to the last thanks; all of it works without scripts."""

from __future__ import annotations

__all__ = ["Participant"]

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from sfumato.collect.answers import first_classes
from sfumato.collect.desk import Desk, Stop
from sfumato.collect.door import Door
from sfumato.collect.forms import answer_from_form, shown_again
from sfumato.collect.languages import Language
from sfumato.collect.media import Media
from sfumato.collect.pages import Pages
from sfumato.collect.platforms import Arrival, ArrivalError, arrival_of, contact_of, ending_of
from sfumato.collect.refusal import Refusal
from sfumato.collect.sessions import Session, Sessions, platform_hash
from sfumato.collect.showing import Showing, plain
from sfumato.collect.store import ExitRow, PlaceRow, ResponseRow
from sfumato.collect.visits import Visit

_LONGEST_EXIT_ANSWER = 5000
# Long enough to read the thanks; the link to the platform stands there all the time.
_SECONDS_BEFORE_REDIRECT = 5


class Participant:
    """The routes of one study."""

    def __init__(self, desk: Desk, door: Door, pages: Pages, media: Media, showing: Showing, words: Language) -> None:
        self._desk, self._door, self._pages, self._media, self._words = desk, door, pages, media, words
        self._study, self._showing = desk.study, showing

    def routes(self) -> list[Route]:
        """Return the routes."""
        both = ["GET", "POST"]
        return [
            Route("/", self._arrive),
            Route("/i/{token}", self._arrive),
            Route("/consent", self._consent, methods=both),
            Route("/instructions", self._on_time(self._instructions), methods=both),
            Route("/practice", self._on_time(self._practice), methods=both),
            Route("/item", self._on_time(self._item)),
            Route("/finish", self._on_time(self._finish)),
            Route("/exit", self._on_time(self._exit), methods=both),
            Route("/done", self._on_time(self._done)),
            Route("/screened", self._on_time(self._screened)),
        ]

    # The door.

    async def _arrive(self, request: Request) -> Response:
        session = self._door.session(request)
        arrival = self._arrival(request, session)
        if arrival is not None and arrival.preview:
            return self._html(self._pages.preview())
        now = self._desk.now()
        if arrival is not None and arrival.platform_id:
            known = self._desk.store.person_of_visitor(self._visitor(arrival))
            if known is None:
                same = session is not None and session.arrival.get("platform_id") == arrival.platform_id
                person = session.person if same and session is not None else self._new(request)
                session = Session(person, now, _told(arrival))
            else:
                session = Session(known.id, now)
                if known.finished_at is None and known.screened_at is None:
                    # Who gave the task back and took it again is paid for the one they have now.
                    await self._come_in(session.person, arrival)
        elif session is None:
            session = Session(self._new(request), now)
        return self._door.keep(await self._inside(session), request, session)

    async def _inside(self, session: Session) -> Response:
        visit = self._desk.visits.of(session.person)
        if visit is None:
            try:
                self._desk.check_room()
                if self._study.consent.text:
                    return self._door.go("/consent")
                visit = await self._come_in(session.person, _untold(session, self._study.platform.kind))
            except Stop as stop:
                return self._stopped(stop)
        return self._door.go(self._desk.next_page(visit))

    def _arrival(self, request: Request, session: Session | None) -> Arrival | None:
        """Return who is at the door; None where the cookie says more than the address."""
        if self._study.platform.kind == "invitation":
            token = request.path_params.get("token")
            name = self._desk.secrets.invited(token) if token else None
            if name is not None:
                return Arrival(platform="invitation", platform_id=name)
            if token or session is None:
                raise Refusal(404, "missing", self._words("notice.missing.text"))
            return None
        if "token" in request.path_params:
            raise Refusal(404, "missing", self._words("notice.missing.text"))
        try:
            return arrival_of(self._study, request.query_params)
        except ArrivalError as error:
            if session is not None:
                return None
            platform = {"prolific": "Prolific", "mturk": "Mechanical Turk"}.get(self._study.platform.kind, "")
            message = self._words("notice.missing.arrival", name=error.name, platform=platform)
            raise Refusal(403, "arrival", message) from None
        except ValueError:
            raise Refusal(403, "arrival", self._words("notice.missing.text")) from None

    def _visitor(self, arrival: Arrival) -> str:
        return platform_hash(self._desk.secrets, arrival.platform, arrival.platform_id) if arrival.platform_id else ""

    def _new(self, request: Request) -> str:
        self._door.count_arrival(request)
        return Sessions.new_person()

    async def _come_in(self, person: str, arrival: Arrival) -> Visit:
        contact = contact_of(arrival, person=person, at=self._desk.now())
        return await self._desk.come_in(
            person, platform=arrival.platform, visitor=self._visitor(arrival), contact=contact
        )

    async def _consent(self, request: Request) -> Response:
        session = self._door.session(request)
        if session is None:
            raise Refusal(401, "session", self._words("notice.expired.text"))
        visit = self._desk.visits.of(session.person)
        if visit is not None:
            return self._door.go(self._desk.next_page(visit))
        try:
            self._desk.check_room()
        except Stop as stop:
            return self._stopped(stop)
        if not self._study.consent.text:
            return self._door.go("/")
        if request.method != "POST":
            return self._html(self._pages.consent(csrf=self._door.csrf(session.person)))
        fields = dict(await self._door.form(request, session.person))
        arrival = _untold(session, self._study.platform.kind)
        if fields.get("agree") != "yes":
            return self._html(self._pages.declined())
        visit = await self._come_in(session.person, arrival)
        return self._door.keep(
            self._door.go(self._desk.next_page(visit)), request, Session(visit.row.id, self._desk.now())
        )

    # Pages that have their time.

    def _on_time(
        self, page: Callable[[Request, Visit], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Return a route that shows *page* to who has come so far, and sends others to where they are."""

        async def route(request: Request) -> Response:
            session = self._door.session(request)
            if session is not None and self._desk.visits.of(session.person) is None:
                return self._door.go("/")
            visit = self._door.visit(request)
            here, there = request.url.path, self._desk.next_page(visit)
            self._desk.alive(visit)
            if self._desk.state == "paused" and request.method == "GET" and there not in ("/done", "/screened"):
                return self._html(self._pages.closed("paused"))
            if there in ("/item", "/finish"):
                try:
                    await self._desk.settle(visit)
                except Stop as stop:
                    return self._stopped(stop)
                there = self._desk.next_page(visit)
            # From the last page one may go back to any item.
            if here != there and not (here == "/item" and there == "/finish"):
                return self._door.go(there)
            return await page(request, visit)

        return route

    async def _instructions(self, request: Request, visit: Visit) -> Response:
        csrf = self._door.csrf(visit.row.id)
        questions = self._study.instructions.quiz
        quiz: list[dict[str, Any]] = [
            {"question": each.question, "options": each.options, "chosen": None, "wrong": False} for each in questions
        ]
        if request.method == "POST":
            fields = dict(await self._door.form(request, visit.row.id))
            for n, (each, question) in enumerate(zip(quiz, questions, strict=True)):
                told = fields.get(f"quiz-{n}", "")
                if told.isascii() and told.isdigit() and int(told[:4]) < len(question.options):
                    each["chosen"] = question.options[int(told[:4])]
                each["wrong"] = each["chosen"] != question.answer
            if not any(each["wrong"] for each in quiz):
                await self._desk.step(visit, "instructed")
                return self._door.go(self._desk.next_page(visit))
            await self._desk.wrong_try(visit)
            if visit.row.screened_at is not None:
                return self._door.go("/screened")
        examples = {name: self._media.told(item) for name, item in self._desk.examples.items()}
        page = self._pages.instructions(csrf=csrf, quiz=quiz, examples=examples)
        return self._html(page, 422 if request.method == "POST" else 200)

    async def _practice(self, request: Request, visit: Visit) -> Response:
        csrf = self._door.csrf(visit.row.id)
        n_items = len(self._desk.practice)
        answered = [visit.revisions.get(("practice", n), 0) > 0 for n in range(1, n_items + 1)]
        if request.method == "POST":
            pairs = await self._door.form(request, visit.row.id)
            fields = dict(pairs)
            if "seen" in fields:
                if all(answered):
                    last = self._door.whole(fields["seen"], "seen") >= n_items
                    if last:
                        await self._desk.step(visit, "practised")
                        return self._door.go(self._desk.next_page(visit))
                return self._door.go("/practice")
            number = self._door.whole(fields.get("place", ""), "place")
            if not 1 <= number <= n_items:
                raise Refusal(404, "missing", self._words("notice.missing.text"))
            place = self._practice_place(visit, number)
            answer = answer_from_form(pairs, self._study.class_names)
            problems = self._showing.problems(answer)
            if problems:
                place["draft"] = shown_again(answer, pairs)
                page = self._pages.practice(
                    place,
                    csrf=csrf,
                    key=self._showing.fresh_key(),
                    person=self._showing.tabs(visit),
                    errors=plain(problems),
                )
                return self._html(page, 422)
            said = ResponseRow(
                key=f"{visit.row.id}:{self._door.key(fields.get('key'))}",
                person=visit.row.id,
                place=number,
                item=self._desk.practice[number - 1].id,
                kind="practice",
                answer=answer,
                received_at=self._desk.now(),
            )
            await self._desk.answer(visit, PlaceRow(visit.row.id, number, said.item, "practice"), said)
            return self._door.go(f"/practice?place={number}&told=1")
        told = request.query_params.get("place", "")
        number = int(told[:4]) if told.isascii() and told.isdigit() else 0
        if not 1 <= number <= n_items:
            number = next((n for n, done in enumerate(answered, start=1) if not done), n_items)
        place = self._practice_place(visit, number)
        response = self._desk.store.response(visit.row.id, "practice", number)
        if response is not None and ("told" in request.query_params or all(answered)):
            practice = self._study.practice[number - 1]
            right = None
            if practice.expected:
                right = first_classes(response.answer) == frozenset([practice.expected])
            place["answer"] = dict(response.answer)
            return self._html(self._pages.feedback(place, csrf=csrf, feedback=practice.feedback, right=right))
        return self._html(
            self._pages.practice(place, csrf=csrf, key=self._showing.fresh_key(), person=self._showing.tabs(visit))
        )

    def _practice_place(self, visit: Visit, number: int) -> dict[str, Any]:
        return {
            "place": number,
            "position": number,
            "of": len(self._desk.practice),
            "kind": "practice",
            "item": self._media.told(self._desk.practice[number - 1]),
            "classes": self._showing.classes(visit),
            "note": "",
            "draft": None,
            "draft_sequence": 0,
            "draft_events": [],
            "answer": None,
            "revision": 0,
        }

    async def _item(self, request: Request, visit: Visit) -> Response:
        told = request.query_params.get("place", "")
        number = int(told[:6]) if told.isascii() and told.isdigit() else 0
        places = {each.place for each in visit.shown()}
        if number not in places:
            first = visit.first_open()
            if first is None:
                return self._door.go("/finish")
            number = first
        return self._html(self._showing.item_page(visit, number))

    # The end.

    async def _finish(self, request: Request, visit: Visit) -> Response:
        return self._html(
            self._pages.finish(
                csrf=self._door.csrf(visit.row.id),
                places=self._showing.places_told(visit),
                person=self._showing.tabs(visit),
            )
        )

    async def _exit(self, request: Request, visit: Visit) -> Response:
        csrf = self._door.csrf(visit.row.id)
        if request.method != "POST":
            return self._html(self._pages.exit(csrf=csrf))
        fields = dict(await self._door.form(request, visit.row.id))
        errors, rows, now = [], [], self._desk.now()
        for n, question in enumerate(self._study.exit.questions):
            given = fields.get(f"exit-{n}", "").strip()
            right = not given or not question.options or given in question.options
            if not right or (question.required and not given) or len(given) > _LONGEST_EXIT_ANSWER:
                errors.append({"field": f"exit-{n}", "message": self._words("exit.needed")})
            elif given:
                rows.append(ExitRow(visit.row.id, question.text, given, now))
        if errors:
            return self._html(self._pages.exit(csrf=csrf, given=fields, errors=errors), 422)
        await self._desk.leave(visit, rows)
        return self._door.go("/done")

    async def _done(self, request: Request, visit: Visit) -> Response:
        code = self._study.platform.completion_code or self._desk.secrets.completion_code
        end = ending_of(self._study, self._desk.store.contact(visit.row.id), code=code)
        return self._leaving(self._pages.done(code=end.code, link=end.link, mturk=end.mturk), end.link)

    async def _screened(self, request: Request, visit: Visit) -> Response:
        code = self._study.platform.screen_out_code
        end = ending_of(self._study, self._desk.store.contact(visit.row.id), code=code, screened=True)
        return self._leaving(self._pages.screened(code=end.code, link=end.link), end.link)

    def _leaving(self, page: str, link: str) -> Response:
        response = self._html(page)
        if link and link.isprintable() and link.isascii():
            response.headers["refresh"] = f"{_SECONDS_BEFORE_REDIRECT}; url={link}"
        return response

    def _stopped(self, stop: Stop) -> Response:
        return self._html(self._pages.closed(stop.reason))  # type: ignore[arg-type]  # one of the reasons of the pages

    @staticmethod
    def _html(page: str, status: int = 200) -> Response:
        return HTMLResponse(page, status)


def _told(arrival: Arrival) -> dict[str, Any]:
    return {
        "platform": arrival.platform,
        "platform_id": arrival.platform_id,
        "submission": arrival.submission,
        "details": dict(arrival.details),
    }


def _untold(session: Session, platform: Any) -> Arrival:
    """Return how somebody arrived, from their own cookie: before they agree, nothing of it is stored here."""
    return Arrival(**session.arrival) if session.arrival else Arrival(platform=platform)
