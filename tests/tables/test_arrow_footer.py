from __future__ import annotations

import io
import struct

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfumato.tables.arrow_footer import add_metadata, read_metadata

FRAMES = [
    pl.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}),
    pl.DataFrame({"a": pl.Series([], dtype=pl.Float64)}),
    pl.DataFrame({"c": pl.Series(["x", "y", "x"], dtype=pl.Categorical), "d": [[1], [2, 3], None]}),
    pl.DataFrame({f"c{k}": [k, None] for k in range(300)}),
]
texts = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


def written(frame: pl.DataFrame) -> io.BytesIO:
    file = io.BytesIO()
    frame.write_ipc(file)
    return file


@pytest.mark.parametrize("frame", FRAMES)
@given(metadata=st.dictionaries(texts, texts, max_size=4))
@settings(max_examples=15, deadline=None)
def test_metadata_comes_back_and_the_table_stays(frame: pl.DataFrame, metadata: dict[str, str]) -> None:
    file = written(frame)
    add_metadata(file, metadata)
    assert read_metadata(file) == metadata
    assert pl.read_ipc(file.getvalue()).equals(frame)
    # pyarrow checks the whole flatbuffer before it believes a word of it.
    table = pa.ipc.open_file(file.getvalue()).read_all()
    found = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    assert found == metadata
    assert table.equals(pa.ipc.open_file(written(frame).getvalue()).read_all())


def test_metadata_that_is_there_is_replaced_and_the_file_does_not_keep_an_old_end() -> None:
    file = written(FRAMES[0])
    add_metadata(file, {"a": "long" * 1000})
    add_metadata(file, {"b": "short"})
    assert read_metadata(file) == {"b": "short"}
    assert pl.read_ipc(file.getvalue()).equals(FRAMES[0])


def test_what_pyarrow_writes_is_read(tmp_path: object) -> None:
    table = pa.table({"a": [1, 2]}).replace_schema_metadata({"sfumato": "ü", "k": ""})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    file = io.BytesIO(sink.getvalue().to_pybytes())
    assert read_metadata(file) == {"sfumato": "ü", "k": ""}
    add_metadata(file, {"new": "one"})
    assert pa.ipc.open_file(file.getvalue()).read_all().replace_schema_metadata() == pa.table({"a": [1, 2]})


def test_a_file_without_metadata_has_none() -> None:
    assert read_metadata(written(FRAMES[0])) == {}


@pytest.mark.parametrize("data", [b"", b"ARROW1", b"PAR1" * 10, b"x" * 100, b"ARROW1\0\0" + b"\xff\xff\xff\x7fARROW1"])
def test_a_file_that_does_not_end_as_arrow_does(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"does not end as|length of the footer"):
        read_metadata(io.BytesIO(data))


def test_a_file_cut_at_any_place_gives_a_value_error() -> None:
    whole = written(FRAMES[0]).getvalue()
    for end in range(0, len(whole), 7):
        with pytest.raises(ValueError, match=r"footer|Arrow"):
            read_metadata(io.BytesIO(whole[:end]))


def test_a_footer_with_any_byte_changed_gives_an_answer_or_a_value_error() -> None:
    file = written(FRAMES[0])
    add_metadata(file, {"key": "value"})
    whole = file.getvalue()
    (length,) = struct.unpack("<i", whole[-10:-6])
    answers, refusals = 0, 0
    for at in range(len(whole) - 10 - length, len(whole)):
        for value in (0x00, 0x7F, 0xFF):
            broken = bytearray(whole)
            broken[at] = value
            try:
                read_metadata(io.BytesIO(bytes(broken)))
                answers += 1
            except ValueError:
                refusals += 1
    assert answers > 0
    assert refusals > 0
