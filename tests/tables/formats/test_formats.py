from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfumato.errors import FormatError, InputError, OptionError
from sfumato.tables import formats

Write = Callable[[str, str], Path]

PLAIN = {
    "long.csv": "item,annotator,label\n1,ann,glad\n1,bob,sad\n",
    "long.tsv": "item\tannotator\tlabel\n1\tann\tglad\n\n1\tbob\tsad\n2\tann\tglad\n",
    "snow.tsv": "!amt_annotation_ids\t!amt_worker_ids\torig_id\tresponse\tgold\n1\tW1\t25\t1\t1\n",
    "wide.csv": "item,ann,bob\n1,glad,sad\n2,sad,sad\n",
    "wide.tsv": "item\tann\tbob\n1\tglad\tsad\n\n2\tsad\tsad\n3\tglad\tsad\n",
    "numbers.csv": "5,1,0\n4,0,1\n",
    "votes.jsonl": '{"item": "1", "annotator": "a", "label": "glad"}\n{"item": "1", "annotator": "b", "label": "sad"}',
    "votes.json": '[{"item": "1", "annotator": "ann", "label": "glad", "answer": "accept"}]',
    "soft.csv": "item,glad,sad\n1,0.5,0.5\n",
    "prose.txt": "A text of some words.\n\nAnd another one.\n",
    "keyed.json": '{"a": {"x": 1}, "b": {"x": 2}}',
    "single.json": '{"a": 1}',
    "list.json": "[1, 2, 3]",
    "broken.json": '[{"id": ',
    "layers.conll": "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\nPeter NNP B-NP B-PER\n",
    "exported.conll": "-DOCSTART- -X- O\nEU -X- _ B-ORG\nrejects -X- _ O\n\nPeter -X- _ B-PER\n",
    "gold.tsv": "EU\tNOUN\nrejects\tVERB\n\nPeter\tNOUN\n",
}


def test_every_format_has_its_own_name() -> None:
    names = "argilla conll crowdkit doccano label_studio lewidi mturk potato prodigy toloka"
    assert sorted(formats.FORMATS) == names.split()
    assert all(name == module.NAME and module.TITLE for name, module in formats.FORMATS.items())


def test_each_example_is_recognised_as_what_it_is(any_example: tuple[str, Path]) -> None:
    name, path = any_example
    assert formats.recognise(path) == name


def test_each_example_is_recognised_by_one_format_only(any_example: tuple[str, Path]) -> None:
    # The order in which the formats are asked must not decide.
    name, path = any_example
    beginning = formats.read_beginning(path)
    assert [other for other, module in formats.FORMATS.items() if module.recognises(beginning)] == [name]


def test_an_example_is_recognised_inside_gzip_and_behind_a_byte_order_mark(
    any_example: tuple[str, Path], tmp_path: Path
) -> None:
    name, path = any_example
    zipped = tmp_path / f"{path.name}.gz"
    zipped.write_bytes(gzip.compress(b"\xef\xbb\xbf" + path.read_bytes()))
    assert formats.recognise(zipped) == name
    if not path.name.startswith("ann."):  # there the name of the file is the annotator's, with or without .gz
        options = {"task": "neutral"} if path.name == "NLI_dev.json" else {}
        options |= {"label": "mood"} if name == "potato" else {}
        assert formats.read(name, zipped, **options).frame.equals(formats.read(name, path, **options).frame)


def test_an_example_with_the_line_ends_of_windows_reads_the_same(any_example: tuple[str, Path], tmp_path: Path) -> None:
    name, path = any_example
    options = {"task": "neutral"} if path.name == "NLI_dev.json" else {}
    options |= {"label": "mood"} if name == "potato" else {}
    before = formats.read(name, path, **options).frame
    if path.name != "batch.csv":  # it has a cell with a line break, which stays as it is
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert formats.recognise(path) == name
    assert formats.read(name, path, **options).frame.equals(before)


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_table_is_no_format_of_anybody(write: Write, name: str) -> None:
    assert formats.recognise(write(name, PLAIN[name])) is None


def test_a_file_that_is_no_text_is_no_format_of_anybody(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    pl.DataFrame({"item": ["1"]}).write_parquet(path)
    assert formats.recognise(path) is None


def test_a_long_first_record_is_recognised(write: Write) -> None:
    text = '[{"id": 1, "data": {"image": "' + "x" * 300_000 + '"}, "annotations": []}]'
    assert formats.recognise(write("export.json", text)) == "label_studio"


def test_a_long_object_of_items_is_recognised_by_its_beginning(write: Write) -> None:
    item = '{"annotations": "0,1", "annotators": "A,B", "text": "' + "x" * 200 + '"}'
    text = "{" + ", ".join(f'"{number}": {item}' for number in range(1000)) + "}"
    assert formats.recognise(write("items.json", text)) == "lewidi"


def test_an_object_of_other_things_is_no_format(write: Write) -> None:
    long = '"text": "' + "x" * 40_000 + '"'
    item = f'{{"annotations": "0,1", "annotators": "A,B", {long}}}'
    # Too long to be read whole, and cut within an item, or with something else among the items.
    assert formats.recognise(write("items.json", f'{{"1": {item}, "2": {item}, "3": {item}}}')) == "lewidi"
    assert formats.recognise(write("items.json", f'{{"n": 3, "1": {item}, "2": {item}, "3": {item}}}')) is None


def test_one_endless_line_is_no_format(write: Write) -> None:
    path = write("line.txt", "x" * 300_000)
    assert formats.recognise(path) is None
    with pytest.raises(InputError, match=r"line.txt has a header and no row below it"):
        formats.read("crowdkit", path)


def test_the_tables_have_the_promised_columns(any_example: tuple[str, Path]) -> None:
    name, path = any_example
    options = {"task": "neutral"} if path.name == "NLI_dev.json" else {}
    options |= {"label": "mood"} if name == "potato" else {}
    table = formats.read(name, path, **options)
    assert table.format == name
    assert dict(table.frame.schema) == {"item": pl.String, "annotator": pl.String, "label": pl.String, "row": pl.Int64}
    assert table.frame.null_count().sum_horizontal().item() == 0
    assert table.frame["row"].min() >= 1  # type: ignore[operator]
    assert set(table.columns) == {"item", "annotator", "label"}
    assert all(isinstance(note, str) and note.endswith(".") for note in table.notes)


def test_a_format_that_is_not_known_is_refused(write: Write) -> None:
    with pytest.raises(OptionError, match=r"'format' must be one of .*label_studio.*Got 'labelstudio'"):
        formats.read("labelstudio", write("a.csv", "a\n"))


@pytest.mark.parametrize("name", sorted(formats.FORMATS))
def test_a_missing_file_a_folder_and_an_empty_file_are_told(name: str, tmp_path: Path, write: Write) -> None:
    with pytest.raises(InputError, match="There is no file"):
        formats.read(name, tmp_path / "none.json")
    with pytest.raises(InputError, match="is a folder"):
        formats.read(name, tmp_path)
    with pytest.raises(InputError, match="is empty"):
        formats.read(name, write("empty.json", ""))
    with pytest.raises(InputError, match="is empty"):
        formats.read(name, write("blank.json", " \n"))
    with pytest.raises(FormatError, match="at least one file"):
        formats.read(name, [])


@pytest.mark.parametrize("name", sorted(formats.FORMATS))
@pytest.mark.parametrize("text", ["nonsense", "[]", "{}", "[1]", '{"a": {"b": 1}}', "a,b,c\n1,2,3\n", "a,b\n", '""'])
def test_a_file_of_another_kind_is_refused_in_one_sentence(name: str, text: str, write: Write) -> None:
    with pytest.raises(InputError) as caught:
        formats.read(name, write("odd.txt", text))
    assert "odd.txt" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_cut_of_an_example_is_read_or_refused_in_a_sentence(any_example: tuple[str, Path]) -> None:
    # Wherever a file was cut: either an error that names the file, or fewer votes, never a traceback.
    name, path = any_example
    text = path.read_text(encoding="utf-8")
    options = {"label": "mood"} if name == "potato" else {"task": "neutral"} if path.name == "NLI_dev.json" else {}
    whole = set(formats.read(name, path, **options).frame.select("item", "annotator", "label").rows())
    # A single line of tokens that is cut is still a line of tokens.
    start = text.index("\n") + 1 if name == "conll" else 1
    for length in range(start, len(text), max(1, len(text) // 40)):
        path.write_text(text[:length], encoding="utf-8", newline="")
        try:
            votes = formats.read(name, path, **options).frame.select("item", "annotator", "label").rows()
        except InputError as error:
            told = str(error)
        else:
            last = votes[-1]
            assert set(votes[:-1]) <= whole
            # A table has no end mark: the last cell may be cut within a word.
            assert last in whole or any(all(map(str.startswith, full, last)) for full in whole)
            continue
        assert path.name in told


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to each value inside a JSON value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in inside:
        yield (*path, key)
        yield from _places(child, (*path, key))


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    result = copy.deepcopy(value)
    holder = result
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = new
    return result


def test_each_value_of_another_type_is_read_or_refused_in_a_sentence(any_example: tuple[str, Path]) -> None:
    name, path = any_example
    if path.suffix not in (".json", ".jsonl"):
        return
    text = path.read_text(encoding="utf-8")
    whole = [json.loads(line) for line in text.splitlines()] if path.suffix == ".jsonl" else json.loads(text)
    for place in _places(whole):
        for new in (None, 3, " ", "x", [], ["x", "y"], {}, {"x": [1]}, "\ud800"):
            path.write_text(json.dumps(_with(whole, place, new)))
            formats.recognise(path)
            try:
                table = formats.read(name, path)
            except InputError as error:
                told = str(error)
            else:
                assert table.frame.height > 0
                continue
            assert path.name in told
            assert "\n" not in told


@pytest.mark.parametrize("name", sorted(formats.FORMATS))
def test_options_without_a_use_are_refused(name: str, any_example: tuple[str, Path]) -> None:
    if any_example[0] != name or name == "lewidi":
        return
    with pytest.raises(OptionError, match="takes no option 'task'"):
        formats.read(name, any_example[1], task="mood")


def test_several_files_are_for_formats_that_write_several(example: Callable[[str], Path]) -> None:
    path = example("label_studio")
    with pytest.raises(OptionError, match=r"A Label Studio export is one file. Got 2 files"):
        formats.read("label_studio", [path, path])
