"""study.toml: what it may say, and a sentence for everything that it may not."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

from sfumato.collect.bonus import Bonus
from sfumato.collect.exclusions import Exclusions, Rules, rules_of
from sfumato.collect.redistribution import Redistribution
from sfumato.collect.study import Study
from sfumato.collect.study_file import commented, read_study, toml_text, with_setting
from sfumato.errors import OptionError, SfumatoError

GOOD = '[study]\ntitle = "Animals"\nclasses = ["deer", "horse"]\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_first_study_file_is_the_defaults(tmp_path: Path) -> None:
    written(tmp_path, commented(title="Animals", classes=["deer", "horse"]))
    written_out = read_study(tmp_path)
    (tmp_path / "short").mkdir()
    written(tmp_path / "short", GOOD)
    assert dataclasses.replace(read_study(tmp_path / "short"), folder=tmp_path) == written_out


def every_setting(text: str) -> str:
    """A first study file with nothing commented out."""
    return re.sub(r'^# (?=\[|[a-z_]+ = |What the study|""")', "", text, flags=re.MULTILINE)


def test_every_setting_stands_in_a_first_study_file_at_its_default(tmp_path: Path) -> None:
    told = tomllib.loads(every_setting(commented(title="Animals", classes=["deer", "horse"])))
    whole = read_study(written(tmp_path, every_setting(commented(title="Animals", classes=["deer", "horse"]))))
    tables = {
        "study": Study, "items": type(whole.items), "batches": type(whole.batches), "platform": type(whole.platform),
        "assignment": type(whole.assignment), "bonus": Bonus, "redistribute": Redistribution,
    }  # fmt: skip
    not_here = {"items", "batches", "checks", "practice", "consent", "instructions", "exit", "platform", "assignment"}
    not_here |= {"exclusions", "bonus", "redistribute", "folder"}
    for name, kind in tables.items():
        fields = {each.name: each.default for each in dataclasses.fields(kind)}  # type: ignore[arg-type]
        assert set(told[name]) == set(fields) - (not_here if kind is Study else set()), name
        for setting, value in told[name].items():
            if fields[setting] is not dataclasses.MISSING:
                assert value == fields[setting], f"{name}.{setting}"
    rules = {each.name for each in dataclasses.fields(Rules)}
    assert set(told["exclusions"]) == rules | {"preset", "reference", "do_not_pay"}
    del told["exclusions"]["do_not_pay"]
    (tmp_path / "study.toml").write_text(GOOD)
    assert rules_of(read_study(tmp_path)) == Exclusions()
    assert told["exclusions"] == {
        "preset": "paper", "reference": "", **dataclasses.asdict(Exclusions().leave_out), "people": [],
    }  # fmt: skip


def test_texts_of_every_kind_come_back(tmp_path: Path) -> None:
    title, names = 'a "b"\\ \n\t\x7f @classes@ é 🦌', ['say "x"', "back\\slash", "@title@"]
    study = read_study(written(tmp_path, commented(title=title, classes=names, source="a b/ü")))
    assert (study.title, list(study.class_names), study.items.source) == (title, names, "a b/ü")
    assert tomllib.loads(f"x = {toml_text(title)}")["x"] == title


def test_settings_are_set_where_they_stand(tmp_path: Path) -> None:
    settings = {("batches", "size"): 7, ("study", "mode"): "chips", ("study", "shuffle_classes"): False}
    text = commented(title="T", classes=["a", "b"], settings=settings)
    study = read_study(written(tmp_path, text))
    assert (study.batches.size, study.mode, study.shuffle_classes, study.items.size) == (7, "chips", False, 480)
    again = with_setting(with_setting(text, "batches", "size", 9), "batches", "allocation", "b.json")
    study = read_study(written(tmp_path, again))
    assert (study.batches.size, study.batches.allocation) == (9, "b.json")
    with pytest.raises(OptionError, match=r"no line for sizes under \[batches\]"):
        with_setting(text, "batches", "sizes", 1)
    with pytest.raises(OptionError, match="no line for lease_minutes"):
        with_setting(text, "batches", "lease_minutes", 1)


BROKEN = {
    "not TOML": ("[study\n", "is not TOML"),
    "unknown table": (GOOD + "[item]\n", r"no setting item\. Did you mean items\?"),
    "unknown setting": (GOOD + "[batches]\nsise = 3\n", r"batches\.sise\. Did you mean size\?"),
    "unknown own setting": (GOOD + 'colour = "red"\n', r"study\.colour"),
    "study is no table": ('study = "x"\n', r"\[study\] must be a table"),
    "no classes": ('[study]\ntitle = "A"\n', "classes are missing"),
    "classes twice": (GOOD + '[[classes]]\nname = "a"\n', "keep one of them"),
    "classes no list": ('[study]\ntitle = "A"\nclasses = "a,b"\n', "must be a list"),
    "a class of a wrong type": ('[study]\ntitle = "A"\nclasses = ["a", 3]\n', "classes, number 2"),
    "one class": ('[study]\ntitle = "A"\nclasses = ["a"]\n', "two classes or more"),
    "the same class twice": ('[study]\ntitle = "A"\nclasses = ["a", "a"]\n', "'a' stands twice"),
    "a class with spaces": ('[study]\ntitle = "A"\nclasses = ["a", " b"]\n', "without spaces around"),
    "a class without a name": ('[study]\ntitle = "A"\n[[classes]]\ndescription = "x"\n', "name is missing"),
    "no title": ('[study]\nclasses = ["a", "b"]\n', r"study\.title is missing"),
    "an empty title": ('[study]\ntitle = " "\nclasses = ["a", "b"]\n', "needs a title"),
    "text for a number": (GOOD + '[batches]\nsize = "3"\n', r"batches\.size must be a whole number\. Got '3'"),
    "true for a number": (GOOD + "[batches]\nsize = true\n", "must be a whole number"),
    "a fraction for a number": (GOOD + "[batches]\nsize = 2.5\n", "must be a whole number"),
    "a number for text": (GOOD + "contact = 3\n", "must be a text"),
    "a number for yes or no": (GOOD + "shuffle_classes = 1\n", "must be true or false"),
    "unknown choice": (GOOD + 'mode = "top3"\n', r"'hard', 'top1', 'top2', 'chips', 'sliders'\. Got 'top3'"),
    "a choice of a wrong type": (GOOD + "mode = 2\n", "must be one of"),
    "an empty choice where there is none": (GOOD + '[items]\nkind = "film"\n', "must be one of"),
    "a table for a value": (GOOD + "[batches.size]\nx = 1\n", "must be a whole number"),
    "a value for a table": ("batches = 3\n" + GOOD, "batches must be a table"),
    "a table for a list": (GOOD + '[checks]\nitem = "x"\n', "checks must be a list"),
    "too small": (GOOD + "[batches]\nsize = 0\n", r"batches\.size must be at least 1"),
    "too large": (GOOD + "[batches]\nsize = 5000\n", r"batches\.size must be at most 1000"),
    "repeats above the size": (GOOD + "[batches]\nsize = 2\nrepeats = 3\n", "is more than"),
    "checks that are not there": (GOOD + "[batches]\nchecks_per_batch = 1\n", r"Add \[\[checks\]\]"),
    "the answer of a check": (GOOD + '[[checks]]\nitem = "x"\nanswer = "cow"\n', "'cow' of the check 'x'"),
    "a check without an answer": (GOOD + '[[checks]]\nitem = "x"\n', "answer is missing"),
    "the class of a practice item": (GOOD + '[[practice]]\nitem = "x"\nexpected = "cow"\n', "'cow' expected"),
    "a quiz with one option": (
        GOOD + '[[instructions.quiz]]\nquestion = "Q"\noptions = ["a"]\nanswer = "a"\n', "two options or more",
    ),
    "a quiz with a wrong answer": (
        GOOD + '[[instructions.quiz]]\nquestion = "Q"\noptions = ["a", "b"]\nanswer = "c"\n', "not one of its options",
    ),
    "an exit choice without options": (GOOD + '[[exit.questions]]\ntext = "Q"\nkind = "choice"\n', "two different"),
    "an exit text with options": (GOOD + '[[exit.questions]]\ntext = "Q"\noptions = ["a", "b"]\n', "takes none"),
    "an address that is none": (GOOD + '[platform]\ncompletion_url = "prolific.com"\n', "https://"),
    "settle out of range": (GOOD + "[assignment]\nsettle = 1.5\n", "below 1"),
    "settle that is no number": (GOOD + "[assignment]\nsettle = nan\n", "below 1"),
    "an unknown rule": (GOOD + "[exclusions]\ncheck_wrong_above = 1\n", r"Did you mean checks_wrong_above\?"),
    "an unknown preset": (GOOD + '[exclusions]\npreset = "strict"\n', "'exclusions.preset' must be one of paper|none"),
    "a preset of a wrong type": (GOOD + "[exclusions]\npreset = 3\n", "must be texts"),
    "a rule of a wrong type": (GOOD + "[exclusions]\nchecks_wrong_above = 0.5\n", "must be a whole number"),
    "a rule out of range": (GOOD + "[exclusions]\nsame_class_above = 3\n", "share from 0 to 1"),
    "a rule below never": (GOOD + "[exclusions]\nchecks_wrong_above = -2\n", r"-1 \(never\) or more"),
    "a rule that is no number": (GOOD + "[exclusions]\nmedian_seconds_below = inf\n", "finite"),
    "people who are no list": (GOOD + '[exclusions]\npeople = "ann"\n', "a list of texts"),
    "accuracy without a reference": (GOOD + "[exclusions]\naccuracy_below = 0.5\n", "needs exclusions.reference"),
    "do_not_pay that is no table": (GOOD + "[exclusions]\ndo_not_pay = true\n", "must be a table"),
    "an unknown rule of payment": (GOOD + "[exclusions.do_not_pay]\npreset = 'paper'\n", r"do_not_pay\.preset"),
    "a negative bonus": (GOOD + "[bonus]\namount = -1\n", r"bonus\.amount"),
    "a bonus from above": (GOOD + "[bonus]\nfrom_agreement = 0.9\nfull_at = 0.8\n", "less than bonus.full_at"),
    "a currency that is none": (GOOD + '[bonus]\ncurrency = "€"\n', "three letters"),
    "a bonus of nobody": (GOOD + "[bonus]\nleast_others = 0\n", "1 or more"),
    "an unknown redistribution": (GOOD + '[redistribute]\nrule = "spread"\n', "redistribute.rule"),
    "an unknown use": (GOOD + '[redistribute]\nuse = "T3"\n', "redistribute.use"),
    "a language that nobody wrote": (GOOD + 'language = "tlh"\n', "tlh"),
    "gamma out of range": (GOOD + "[redistribute]\ngamma = 1\n", "below 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_everything_broken_is_a_sentence_that_names_the_file(tmp_path: Path, name: str) -> None:
    text, said = BROKEN[name]
    path = written(tmp_path, text)
    with pytest.raises(SfumatoError, match=said) as caught:
        read_study(path)
    told = str(caught.value)
    assert str(path) in told
    assert "\n" not in told.rstrip()
    assert told.endswith(".")


def test_what_is_not_there_or_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SfumatoError, match="collect new"):
        read_study(tmp_path)
    (tmp_path / "study.toml").write_bytes(b"\xff\xfe[study]")
    with pytest.raises(SfumatoError, match="is not TOML"):
        read_study(tmp_path)


def test_a_table_for_each_class_and_everything_else(tmp_path: Path) -> None:
    text = every_setting(commented(title="Animals", classes=["deer", "horse"]))
    classes = (
        '[[classes]]\nname = "deer"\ndescription = "has antlers"\n[[classes]]\nname = "horse"\nexample = "h.png"\n'
    )
    study = read_study(written(tmp_path, text.replace('classes = ["deer", "horse"]', "") + classes))
    assert [(each.name, each.description, each.example) for each in study.classes] == [
        ("deer", "has antlers", ""), ("horse", "", "h.png"),
    ]  # fmt: skip
    assert study.instructions.quiz[0].answer == "What I see myself"
    assert rules_of(study).do_not_pay.checks_wrong_above == 2


def test_every_setting_is_told_of_in_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "collect.md").read_text(encoding="utf-8")
    told = tomllib.loads(every_setting(commented(title="Animals", classes=["deer", "horse"])))

    def names(table: dict, prefix: str = "") -> list[str]:
        found = []
        for name, value in table.items():
            first = value[0] if isinstance(value, list) and value else value
            found += [name, *(names(first) if isinstance(first, dict) else [])]
        return found

    assert [
        name for name in names(told) if f"`{name}`" not in page and f"[{name}" not in page and f".{name}]" not in page
    ] == []


ODD_VALUES = (
    "-1", "0", "1e300", "99999999999999999999999", "nan", "-inf", "true", '""', '" "', '"x"', '"\\u0000"', "[]",
    '["x"]', "[1]", "[[]]", "{}", "{x = 1}", "2026-01-01", "07:30:00", "'''\n'''", f'"{"x" * 9000}"',
)  # fmt: skip


@pytest.mark.parametrize("value", ODD_VALUES, ids=range(len(ODD_VALUES)))
def test_an_odd_value_at_any_setting_is_taken_or_told(tmp_path: Path, value: str) -> None:
    lines = every_setting(commented(title="Animals", classes=["deer", "horse"])).splitlines()
    places = [number for number, line in enumerate(lines) if re.match(r'\w+ = (?!""")', line)]
    assert len(places) > 60
    refused = []
    for place in places:
        changed = [*lines]
        changed[place] = f"{lines[place].partition(' = ')[0]} = {value}"
        path = written(tmp_path, "\n".join(changed))
        # Anything else that is raised fails the test.
        try:
            read_study(path)
        except SfumatoError as error:
            refused.append(str(error))
    assert len(refused) > 10
    assert all(str(tmp_path) in told for told in refused)
