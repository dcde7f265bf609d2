"""The exclusion rules: each alone, the two decisions apart, runs that take each other back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sfumato.collect.answers import contradicts_itself, first_classes
from sfumato.collect.exclusions import run_exclusions, verdicts
from sfumato.collect.sqlite_store import SqliteStore
from sfumato.collect.store import Verdict
from sfumato.collect.study_file import read_study
from sfumato.data.cifar10 import CLASSES
from sfumato.data.jspsych import read_pages
from sfumato.errors import InputError

RULES = "[exclusions]\npreset = 'none'\n"


def said(field, name: str = "ann") -> Verdict | None:
    found = {verdict.person: verdict for verdict in verdicts(field.study, field.store)}
    return found.get(name)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"mode": "top2", "top": "deer", "top_percent": 70, "second": None, "impossible": ["ship"]}, False),
        ({"mode": "top2", "top": "deer", "top_percent": 70, "second": None, "impossible": ["deer"]}, True),
        ({"mode": "top2", "top": "deer", "top_percent": 70, "second": "ship", "second_percent": 5,
          "impossible": ["ship"]}, True),
        # A second class without a probability says nothing, so that it may be ruled out.
        ({"mode": "top2", "top": "deer", "top_percent": 70, "second": "ship", "impossible": ["ship"]}, False),
        ({"mode": "top2", "top": "deer", "top_percent": None}, True),
        ({"mode": "top1", "top": "deer", "top_percent": 100.5}, True),
        ({"mode": "top1", "top": "deer", "top_percent": 0}, False),
        ({"mode": "top2", "top": "deer", "top_percent": 50, "second": "ship", "second_percent": -1}, True),
        ({"mode": "hard", "top": "deer"}, False),
        ({"mode": "chips", "chips": {"deer": 20}}, False),
        ({"mode": "sliders", "percents": {"deer": 101}}, True),
        ({"mode": "sliders", "percents": {"deer": 60, "ship": 40}}, False),
    ],
)  # fmt: skip
def test_what_contradicts_itself(answer: dict, expected: bool) -> None:
    assert contradicts_itself(answer) is expected


def test_the_first_classes_of_every_mode() -> None:
    assert first_classes({"mode": "hard", "top": "deer"}) == {"deer"}
    assert first_classes({"mode": "sliders", "percents": {"deer": 50, "ship": 50, "dog": 0}}) == {"deer", "ship"}
    assert first_classes({"mode": "chips", "chips": {"deer": 0}}) == frozenset()


@pytest.mark.parametrize(("number", "out"), [(2, False), (3, True)])
def test_the_paper_leaves_out_who_contradicts_themselves_more_than_twice(
    make_field: Callable, number: int, out: bool
) -> None:
    field = make_field()
    for item in ("a", "b", "c")[:number]:
        field.says("ann", item, field.top2("deer", 70, None, None, "deer"))
    found = said(field)
    assert (found is not None) is out
    if found is not None:
        assert found == Verdict("ann", True, False, ("left out: 3 answers contradict themselves, more than 2",))


@pytest.mark.parametrize(
    ("labels", "contradiction", "out"), [("ddh", True, True), ("ddd", True, False), ("ddh", False, False)]
)
def test_the_paper_asks_for_accuracy_only_after_a_contradiction(
    make_field: Callable, labels: str, contradiction: bool, out: bool
) -> None:
    """Two of three right is below 75 %; without a contradiction nobody is left out for being wrong."""
    field = make_field('[exclusions]\nreference = "gold.csv"\n')
    (field.folder / "gold.csv").write_text("item,label\na,deer\nb,deer\nc,deer\n")
    classes = {"d": "deer", "h": "horse"}
    for item, label in zip("abc", labels, strict=True):
        impossible = [classes[label]] if contradiction and item == "a" else []
        field.says("ann", item, field.top2(classes[label], 60, None, None, *impossible))
    found = said(field)
    assert (found is not None) is out
    if found is not None:
        assert found.reasons == ("left out: an answer contradicts itself, and 67% are right, less than 75%",)


def rule_cases() -> dict[str, tuple[str, Callable, str]]:
    def wrong_check(field) -> None:
        field.says("ann", "a", field.top2("deer", 60))
        field.says("ann", "b", field.top2("horse", 90), kind="check")

    def quick(field) -> None:
        for item, seconds in zip("abc", (1.0, 1.5, 60.0), strict=True):
            field.says("ann", item, field.top2("deer", 60), seconds=seconds)

    def changed(field) -> None:
        for item, again in (("a", "horse"), ("b", "deer")):
            field.says("ann", item, field.top2("deer", 60))
            field.says("ann", item, field.top2(again, 60), kind="repeat")

    def same(field) -> None:
        for item in "abc":
            field.says("ann", item, field.top2("ship", 60))

    def wrong(field) -> None:
        (field.folder / "gold.csv").write_text("item,label\na,deer\nb,deer\nc,ship\n")
        for item in "abc":
            field.says("ann", item, field.top2("ship", 60))

    return {
        "checks": ("checks_wrong_above = 0", wrong_check, "1 attention check failed, more than 0"),
        "quick": ("median_seconds_below = 2.0", quick, "1.5 seconds per item at the median, less than 2"),
        "changed": ("repeats_changed_above = 0.4", changed, "1 of 2 repeated items got another class, more than 40%"),
        "same": ("same_class_above = 0.9", same, "3 of 3 answers name the same class, more than 90%"),
        "wrong": ('accuracy_below = 0.5\nreference = "gold.csv"', wrong, "33% of the answers are right, less than 50%"),
        "named": ('people = ["ann"]', same, "named in study.toml"),
    }


CHECK = '[[checks]]\nitem = "b"\nanswer = "deer"\n'


@pytest.mark.parametrize("name", rule_cases())
def test_each_rule_alone_and_not_without_it(make_field: Callable, name: str) -> None:
    rule, act, why = rule_cases()[name]
    field = make_field(f"{RULES}{rule}\nleast_answers = 1\n{CHECK}")
    act(field)
    assert said(field) == Verdict("ann", True, False, (f"left out: {why}",))
    off = make_field(f"{RULES}least_answers = 1\n{CHECK}", name="off")
    act(off)
    assert said(off) is None


def test_shares_wait_for_enough_answers(make_field: Callable) -> None:
    field = make_field(f"{RULES}same_class_above = 0.5\nmedian_seconds_below = 60.0\nleast_answers = 3\n")
    for item in "ab":
        field.says("ann", item, field.top2("ship", 60))
    assert said(field) is None
    field.says("ann", "c", field.top2("ship", 60))
    assert said(field) is not None


def test_a_changed_answer_counts_as_it_was_changed_to(make_field: Callable) -> None:
    field = make_field("[exclusions]\ncontradictions_above = 0\n")
    row = field.says("ann", "a", field.top2("deer", 70, None, None, "deer"))
    assert said(field) is not None
    field.says("ann", "a", field.top2("deer", 70), place=row.place)
    assert said(field) is None


def test_leaving_out_and_not_paying_are_two_decisions(make_field: Callable) -> None:
    field = make_field(f'{RULES}people = ["ann", "cem"]\n[exclusions.do_not_pay]\npeople = ["bob", "cem"]\n{CHECK}')
    for name in ("ann", "bob", "cem", "dan"):
        field.says(name, "a", field.top2("deer", 60))
    run_exclusions(field.study, field.store, at=5)
    (run,) = field.store.exclusion_runs()
    assert {each.person: (each.leave_out, each.do_not_pay) for each in run.verdicts} == {
        "ann": (True, False), "bob": (False, True), "cem": (True, True),
    }  # fmt: skip
    assert field.store.left_out() == {"ann", "cem"}
    assert field.store.usable() == {"a": 2}


def test_a_run_takes_back_the_one_before_and_destroys_nothing(make_field: Callable) -> None:
    field = make_field(f'{RULES}people = ["ann"]\n')
    field.says("ann", "a", field.top2("deer", 60))
    before = list(field.store.responses())
    assert run_exclusions(field.study, field.store, at=1) == 1
    assert field.store.left_out() == {"ann"}
    # Nothing has changed, so there is nothing to write down.
    assert run_exclusions(field.study, field.store, at=2) == 1
    text = (field.folder / "study.toml").read_text()
    (field.folder / "study.toml").write_text(text.replace('people = ["ann"]', "same_class_above = 0.25"))
    # A server that was started before goes by the new rules too, and takes back no run of theirs.
    assert run_exclusions(field.study, field.store, at=2) == 2
    assert field.store.left_out() == frozenset()
    runs = field.store.exclusion_runs()
    assert [(run.number, run.at, len(run.verdicts)) for run in runs] == [(1, 1, 1), (2, 2, 0)]
    assert [run.rules["leave_out"]["same_class_above"] for run in runs] == [1.0, 0.25]
    assert runs[0].rules["version"] == 1
    assert list(field.store.responses()) == before


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (None, "cannot be read"),
        ("image,label\n", "columns item and label"),
        ("item,label\na,cow\n", "'cow' of item 'a'"),
    ],
)
def test_a_reference_that_cannot_be_used(make_field: Callable, content: str | None, why: str) -> None:
    field = make_field('[exclusions]\nreference = "gold.csv"\n')
    if content is not None:
        (field.folder / "gold.csv").write_text(content)
    with pytest.raises(InputError, match=why):
        verdicts(field.study, field.store)


def test_the_rules_of_the_paper_leave_out_nobody_whom_the_paper_kept(imported: Path, paper_file: Path) -> None:
    """The released answers are of those who were kept: 39 of the 248 contradict themselves, each of them once."""
    once = {
        page.response.annotator
        for page in read_pages(paper_file, classes=CLASSES)
        if any(name in page.response.impossible for name, _ in page.response.stated)
    }
    store = SqliteStore(imported / "study.sqlite")
    try:
        assert verdicts(read_study(imported), store) == []
        path = imported / "study.toml"
        path.write_text(path.read_text().replace("# contradictions_above = 2", "contradictions_above = 0"))
        stricter = verdicts(read_study(imported), store)
    finally:
        store.close()
    assert len(once) == 39
    assert {each.person for each in stricter} == once
