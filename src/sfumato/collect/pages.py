"""The pages for the person who answers, as whole HTML documents, in the words of the study and its language."""

from __future__ import annotations

__all__ = ["Pages"]

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from sfumato.collect.assets import Assets
from sfumato.collect.languages import language
from sfumato.collect.redistribution import redistribution_of
from sfumato.collect.study import Mode, Study

Reason = Literal["paused", "closed", "full", "busy"]

# More classes than this are searched for by name; so many buttons would be a wall.
_MANY = 24
# The words that the scripts say; *mode* words only where that mode is asked.
_SAID = {
    "item": (
        "audio", "video", "image", "broken", "unsaid", "unkept", "ruled_out", "take_over", "found", "not_found",
        "impossible_short",
    ),
    "saving": ("waiting", "stuck", "memory", "refused", "reload", "paused"),
    "finish": ("missing", "wait"),
}  # fmt: skip
_OF_MODE: dict[Mode, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "hard": ((), ("top",)),
    "top1": (("rule", "nothing", "over", "begin", "stated"), ("top", "top_percent")),
    "top2": (
        ("rule", "nothing", "over", "begin", "stated"),
        ("top", "top_percent", "second", "second_percent", "order", "over", "nowhere", "impossible"),
    ),
    "chips": (("chips", "stated_chips"), ("chips", "chips_over", "amount_chips")),
    "sliders": (
        ("rule", "sliders", "nothing", "over", "begin", "stated"), ("top", "sliders", "amount", "over", "nowhere"),
    ),
}  # fmt: skip
_DIGITS, _TENS = "1 … 0", "Q … P"
_KEYS: dict[Mode, tuple[tuple[tuple[str, ...], str], ...]] = {
    "hard": (((_DIGITS,), "first"),),
    "top1": (((_DIGITS,), "first"), ((_TENS,), "tens"), (("+", "−"), "ones")),
    "top2": (
        ((_DIGITS,), "first"), ((_TENS,), "tens"), (("shift", _DIGITS), "second"),
        (("shift", _TENS), "tens_second"), (("+", "−"), "ones"), (("X",), "others"),
    ),
    "chips": (((_DIGITS,), "add"), (("shift", _DIGITS), "take")),
    "sliders": (((_DIGITS,), "row"), ((_TENS,), "tens_row"), (("+", "−"), "ones")),
}  # fmt: skip
_KEYS_OF_ALL: tuple[tuple[tuple[str, ...], str], ...] = ((("⌫",), "undo"), (("B",), "back"), (("enter",), "next"))


class Pages:
    """Renders every page of one study. *place* is what ``/api/places/N`` answers, *errors* the details of a 422."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._words = language(study.language, folder=study.folder)
        # Only where something can be ruled out does it matter which rule it is.
        redistribution = redistribution_of(study)
        self._rule = redistribution.rule if study.mode == "top2" else "uniform"
        # The percent that go to other classes where an answer leaves nothing open.
        shared = redistribution.rule == "clamp" and study.mode in ("top1", "top2")
        self._gamma = round(100 * redistribution.gamma, 2) if shared else 0
        self._static = f"/static/{Assets().version}"
        self._environment = Environment(
            loader=FileSystemLoader(Path(__file__).parent / "templates"), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        self._environment.filters["prose"] = _prose
        self._environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
        self._environment.globals.update(study=study, words=self._words, static=self._static)

    def prepare(self) -> None:
        """Compile the templates now, so that the first person does not wait for it, nor everybody with them."""
        for name in ("consent", "instructions", "item", "finish", "exit", "end", "notice"):
            self._environment.get_template(f"{name}.html")

    def consent(self, *, csrf: str) -> str:
        """Return the page that asks for consent."""
        return self._page("consent", self._words("consent.heading"), csrf=csrf)

    def instructions(
        self,
        *,
        csrf: str,
        quiz: Sequence[Mapping[str, Any]] = (),
        examples: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> str:
        """Return the instructions with the classes where one needs explaining, and the check that is asked until right.

        *quiz* are the questions with what was chosen (an option or None) and whether that was wrong; *examples* are
        items to show beside a class, by its name.
        """
        shown = examples or {}
        return self._page(
            "instructions", self._words("instructions.heading"), csrf=csrf, quiz=quiz, examples=shown, how=self._how,
            described=self._study.classes if shown or any(each.description for each in self._study.classes) else (),
        )  # fmt: skip

    def item(
        self,
        place: Mapping[str, Any],
        *,
        csrf: str,
        key: str,
        person: str,
        places: Sequence[Mapping[str, Any]],
        errors: Sequence[Mapping[str, str]] = (),
    ) -> str:
        """Return the page of one item, with what was said of it so far.

        *key* makes a plain submission count once; *person* is a handle that all tabs of one person share; *places* are
        the places of the person with their position, and whether they are answered.
        """
        return self._item(place, csrf=csrf, key=key, person=person, places=places, errors=errors)

    def practice(
        self,
        place: Mapping[str, Any],
        *,
        csrf: str,
        key: str,
        person: str = "",
        errors: Sequence[Mapping[str, str]] = (),
    ) -> str:
        """Return the page of an item to practise on."""
        return self._item(place, csrf=csrf, key=key, person=person, errors=errors, practice=True)

    def feedback(self, place: Mapping[str, Any], *, csrf: str, feedback: str, right: bool | None) -> str:
        """Return the practice item with what is to be learnt from it; *right* is None where nothing was expected."""
        return self._item(place, csrf=csrf, practice=True, feedback=feedback, right=right)

    def finish(self, *, csrf: str, places: Sequence[Mapping[str, Any]], person: str = "") -> str:
        """Return the page after the last item: hand in, or look again."""
        words = {section: self._words.section(section) for section in ("finish", "saving")}
        return self._page(
            "finish", self._words("finish.heading"), csrf=csrf, last=places[-1]["place"] if places else 1,
            data={"csrf": csrf, "person": person, "words": words, "places": _revisions(places)},
        )  # fmt: skip

    def exit(
        self, *, csrf: str, given: Mapping[str, str] | None = None, errors: Sequence[Mapping[str, str]] = ()
    ) -> str:
        """Return the questions at the end, with what was *given* by field, where it comes back with errors."""
        problems = {each["field"]: each["message"] for each in errors}
        return self._page("exit", self._words("exit.heading"), csrf=csrf, given=given or {}, problems=problems)

    def done(self, *, code: str = "", link: str = "", mturk: Mapping[str, str] | None = None) -> str:
        """Return the last page: thanks, the completion code, and the way back to the platform."""
        return self._end("done", code, link, mturk)

    def screened(self, *, code: str = "", link: str = "") -> str:
        """Return the page of a person whom the study is not for."""
        return self._end("screened", code, link, None)

    def declined(self) -> str:
        """Return the page of a person who did not agree to take part; what to do next is up to their platform."""
        words, kind = self._words, self._study.platform.kind
        more = f" {words(f'declined.{kind}')}" if kind in ("prolific", "mturk") else ""
        return self._page("notice", words("declined.heading"), text=words("declined.text") + more)

    def closed(self, reason: Reason) -> str:
        """Return the page of a study that takes no answers just now, or no more."""
        return self._notice(reason)

    def preview(self) -> str:
        """Return what is shown before a task is accepted on the platform."""
        question = self._study.question or self._words(f"{self._study.person}.question")
        return self._page("preview", self._words("notice.preview.heading"), question=question, how=self._how)

    def trouble(self, status: int, message: str = "") -> str:
        """Return the page of an error: nothing there, the visit has ended, too many requests, or our fault.

        *message* is said instead of the usual text, where there is one.
        """
        kind = {404: "missing", 405: "missing", 401: "expired", 403: "expired", 429: "busy"}.get(status, "error")
        # Who came without what the platform adds to its links has had no visit that could be over.
        return self._notice("missing" if message and status == 403 else kind, message)

    @property
    def _how(self) -> str:
        """The key of the words that say how to answer."""
        study = self._study
        open_sum = study.mode == "sliders" and study.sliders_sum == "at_most"
        return f"{study.person}.how.{'sliders_at_most' if open_sum else study.mode}"

    def _item(
        self,
        place: Mapping[str, Any],
        *,
        csrf: str,
        key: str = "",
        person: str = "",
        places: Sequence[Mapping[str, Any]] = (),
        errors: Sequence[Mapping[str, str]] = (),
        practice: bool = False,
        feedback: str | None = None,
        right: bool | None = None,
    ) -> str:
        study, words = self._study, self._words
        many = len(study.classes) > _MANY
        # What is nothing need not be said: an item page is to be light.
        told = {name: value for name, value in place.items() if name != "classes" and value}
        data = {
            "csrf": csrf,
            "person": person,
            "place": told,
            "places": _revisions(places),
            "mode": study.mode,
            "rule": self._rule,
            "size": study.items.size,
            "words": self._said(many),
        }
        if practice:
            data["practice"] = True
        if study.mode == "chips":
            data["chips"] = study.chips
        if study.mode == "sliders":
            data["exact"] = study.sliders_sum == "exact"
        legend = words(
            f"{study.person}.{_LEGENDS.get(study.mode, 'top')}", chips=study.chips,
            second=words("item.second_short"), impossible=words("item.impossible_short"),
        )  # fmt: skip
        before = [each for each in places if each["position"] < place.get("position", 0)]
        return self._page(
            "item", words("practice.heading" if practice else "item.heading"), csrf=csrf, key=key, place=place,
            practice=practice, feedback=feedback, right=right, problems=errors, data=data, many=many, legend=legend,
            nothing=_said({}), said=self._shown_again(place.get("draft") or place.get("answer") or {}, many),
            answered=sum(bool(each["answered"]) for each in places),
            back=before[-1]["place"] if before else None, last=places[-1]["place"] if places else None,
            keys=self._keys(many),
        )  # fmt: skip

    def _shown_again(self, answer: Mapping[str, Any], many: bool) -> dict[str, Any]:
        """Return an answer for the form; where classes are typed, all others that are out are the rule of that name.

        Where each has a box of its own, the boxes say it: a rule beside them would tick again what is unticked.
        """
        said = _said(answer)
        chosen = (said["top"], said["second"])
        out = frozenset(each for each in said["impossible"] if isinstance(each, str))
        rule = bool(said["top"]) and many and all(name in out for name in self._study.class_names if name not in chosen)
        said["others"] = rule or (not said["top"] and answer.get("others") is True)
        said["impossible"] = [each for each in said["impossible"] if not rule or each in chosen]
        return said

    def _said(self, many: bool) -> dict[str, Any]:
        words = self._words
        left, problems = _OF_MODE[self._study.mode]
        named = _SAID | {"left": tuple(self._rule if name == "rule" else name for name in left), "problems": problems}
        searched = () if many else ("found", "not_found", "impossible_short")
        said: dict[str, Any] = {
            section: {name: words(f"{section}.{name}") for name in names if name not in searched}
            for section, names in named.items()
        }
        if self._gamma:
            said["share"] = words("left.share", gamma=f"{self._gamma:g}", n="{n}")
        return said | {"place": words("page.place"), "class": words("item.class")}

    def _keys(self, many: bool) -> list[tuple[list[str], str]]:
        told = [*_KEYS[self._study.mode], *_KEYS_OF_ALL]
        if many:
            searched = [(("shift", "enter"), "rule_out")] if self._study.mode == "top2" else []
            told = [(("/",), "search"), *searched, *(each for each in told if _DIGITS not in each[0])]
        names = {"shift": self._words("keys.shift"), "enter": self._words("keys.enter")}
        return [([names.get(key, key) for key in keys], meaning) for keys, meaning in told]

    def _end(self, part: str, code: str, link: str, mturk: Mapping[str, str] | None) -> str:
        heading, text = self._words(f"{part}.heading"), self._words(f"{part}.text")
        return self._page("end", heading, part=part, text=text, code=code, link=link, mturk=mturk)

    def _notice(self, kind: str, message: str = "") -> str:
        heading, text = self._words(f"notice.{kind}.heading"), message or self._words(f"notice.{kind}.text")
        return self._page("notice", heading, text=text)

    def _page(self, template: str, heading: str, **context: Any) -> str:
        return self._environment.get_template(f"{template}.html").render(heading=heading, **context)


_LEGENDS: dict[str, str] = {"top2": "legend", "chips": "chips", "sliders": "sliders"}


def _revisions(places: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    # In the order of their positions, which go from 1 on.
    return [[each["place"], each.get("revision", int(each["answered"]))] for each in places]


def _said(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return a half-filled answer with every part there is, and nothing in it that a form could not hold."""
    names = {key: answer.get(key) if isinstance(answer.get(key), str) else None for key in ("top", "second")}
    numbers = {
        key: answer.get(key) if _is_number(answer.get(key)) else None for key in ("top_percent", "second_percent")
    }
    given = answer.get("chips", answer.get("percents"))
    amounts = (
        {key: value if _is_number(value) else "" for key, value in given.items()} if isinstance(given, dict) else {}
    )
    impossible = answer.get("impossible")
    told = impossible if isinstance(impossible, list) else []
    return {**names, **numbers, "amounts": amounts, "impossible": told, "others": False}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _prose(text: str) -> Markup:
    """Return plain text as paragraphs, and lines that begin with "- " as a list; nothing in it is read as HTML."""
    blocks = []
    for block in text.replace("\r\n", "\n").strip().split("\n\n"):
        lines = [line.strip() for line in block.split("\n") if line.strip()]
        if lines and all(line.startswith("- ") for line in lines):
            points = Markup("").join(Markup("<li>{}</li>").format(line[2:]) for line in lines)
            blocks.append(Markup("<ul>{}</ul>").format(points))
        elif lines:
            blocks.append(Markup("<p>{}</p>").format(Markup("<br>").join(escape(line) for line in lines)))
    return Markup("\n").join(blocks)
