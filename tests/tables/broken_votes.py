"""Files of votes that are broken, each in one way, and a part of the sentence that must be said of it.

Some are made by hand; most are made from a sound file by breaking it at many places.
"""

from __future__ import annotations

__all__ = ["Broken", "broken_files"]

import gzip
import io
import json
import zipfile
from collections.abc import Iterator
from typing import NamedTuple

import polars as pl


class Broken(NamedTuple):
    """``name`` says what is wrong, ``content`` goes into a file called ``filename``, ``says`` is in the message."""

    name: str
    content: bytes
    filename: str
    says: str


def broken_files() -> list[Broken]:
    """Return the whole corpus; the names are distinct."""
    makers = (
        _empty, _not_text, _encodings, _columns, _ragged, _quotes, _blank_cells, _several_labels, _weights,
        _probabilities, _repeated, _wide, _json, _typed, _cut,
    )  # fmt: skip
    return [broken for maker in makers for broken in maker()]


_HEADER = "item,annotator,label\n"
_ROWS = [f"i{n // 3},a{n % 3},{'yes' if n % 2 else 'no'}" for n in range(30)]
_SOUND = _HEADER + "\n".join(_ROWS) + "\n"


def _csv(name: str, text: str, says: str, filename: str = "votes.csv") -> Broken:
    return Broken(name, text.encode(), filename, says)


def _empty() -> Iterator[Broken]:
    for filename in ("votes.csv", "votes.tsv", "votes.jsonl", "votes.ndjson", "votes.json", "votes.parquet",
                     "votes.arrow", "votes.feather", "votes.txt", "votes"):  # fmt: skip
        yield Broken(f"no bytes in {filename}", b"", filename, "empty")
    for filename in ("votes.csv", "votes.tsv", "votes.jsonl", "votes.txt"):
        yield Broken(f"blank lines in {filename}", b" \n\n \n", filename, "nothing but blank space")
        yield Broken(f"a byte order mark alone in {filename}", b"\xef\xbb\xbf", filename, "nothing but blank space")
    yield Broken("nothing in a gzip", gzip.compress(b""), "votes.csv.gz", "nothing but blank space")
    yield _csv("a header alone", _HEADER, "a header and no row")
    yield _csv("a header alone, without the end of its line", _HEADER.strip(), "a header and no row")
    yield _csv("a header and blank lines", _HEADER + "\n\n,,\n", "a header and no row")
    yield _csv("a wide header alone", "item,ann,bob\n", "a header and no row")
    yield _csv("a soft header alone", "item,annotator,cat,dog\n", "no column that clearly holds the label")
    yield Broken("an empty JSON list", b"[]", "votes.json", "no record")


def _not_text() -> Iterator[Broken]:
    packed, sheet = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("votes.csv", _SOUND)
    with zipfile.ZipFile(sheet, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    kinds = {
        "an Excel sheet": (sheet.getvalue(), "votes.xlsx", "Excel"),
        "an Excel sheet under the name of a CSV": (sheet.getvalue(), "votes.csv", "Excel"),
        "a zip archive": (packed.getvalue(), "votes.zip", "zip archive"),
        "an old Excel sheet": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "votes.xls", "Excel"),
        "a PNG image": (b"\x89PNG\r\n\x1a\n" + bytes(100), "votes.png", "PNG"),
        "a PNG image under the name of a CSV": (b"\x89PNG\r\n\x1a\n" + bytes(100), "votes.csv", "PNG"),
        "a JPEG image": (b"\xff\xd8\xff\xe0" + bytes(100), "votes.jpg", "JPEG"),
        "a GIF image": (b"GIF89a" + bytes(100), "votes.gif", "GIF"),
        "a PDF": (b"%PDF-1.7\n%\xe2\xe3\n", "votes.pdf", "PDF"),
        "an SQLite database": (b"SQLite format 3\x00" + bytes(100), "votes.db", "SQLite"),
        "a NumPy array": (b"\x93NUMPY\x01\x00" + bytes(100), "votes.npy", "NumPy"),
        "an HDF5 file": (b"\x89HDF\r\n\x1a\n" + bytes(100), "votes.h5", "HDF5"),
        "a pickle": (b"\x80\x04\x95" + bytes(100), "votes.pkl", "pickle"),
        "bzip2": (b"BZh91AY&SY" + bytes(100), "votes.csv.bz2", "bzip2"),
        "xz": (b"\xfd7zXZ\x00" + bytes(100), "votes.csv.xz", "xz"),
        "zstd": (b"\x28\xb5\x2f\xfd" + bytes(100), "votes.csv.zst", "zstd"),
        "a 7z archive": (b"7z\xbc\xaf\x27\x1c" + bytes(100), "votes.7z", "7z"),
        "Parquet under the name of a CSV": (b"PAR1" + bytes(100) + b"PAR1", "votes.csv", "Parquet"),
        "Arrow under the name of a CSV": (b"ARROW1\0\0" + bytes(100), "votes.csv", "Arrow"),
        "an image in a gzip": (gzip.compress(b"\x89PNG\r\n\x1a\n" + bytes(100)), "votes.csv.gz", "PNG"),
        "CSV under the name of Parquet": (_SOUND.encode(), "votes.parquet", "not a whole Parquet file"),
        "CSV under the name of Arrow": (_SOUND.encode(), "votes.arrow", "not a whole Arrow file"),
        "a web page": (b"<!DOCTYPE html>\n<html><body>Please log in</body></html>", "votes.csv", "web page"),
        "a bare web page": (b"<html><table><tr><td>a</td></tr></table></html>", "votes.csv", "web page"),
        "XML": (b"<?xml version='1.0'?><votes/>", "votes.csv", "XML"),
        "random bytes": (bytes(range(1, 256)) * 4, "votes.csv", "not UTF-8"),
        "zeros": (bytes(1000), "votes.csv", "UTF-16"),
    }
    for name, (content, filename, says) in kinds.items():
        yield Broken(name, content, filename, says)


def _encodings() -> Iterator[Broken]:
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        yield Broken(encoding, _SOUND.encode(encoding), "votes.csv", "UTF-16" if "16" in encoding else "UTF-")
        yield Broken(f"{encoding} in JSON lines", b'{"item":1}'.decode().encode(encoding), "votes.jsonl", "UTF-")
    for line in (1, 2, 3, 17, 31):
        lines = _SOUND.splitlines()
        lines[line - 1] = lines[line - 1] + "é"
        content = "\n".join(lines).encode("latin-1")
        yield Broken(f"a letter of Latin-1 in line {line}", content, "votes.csv", f"line {line}")
        zero = content.replace(b"\xe9", b"\0")
        yield Broken(f"a zero byte in line {line}", zero, "votes.csv", f"line {line}: holds a zero byte")
    lines = [json.dumps({"item": f"i{n}", "annotator": "a", "label": "é"}, ensure_ascii=False) for n in range(3)]
    yield Broken("Latin-1 in JSON lines", "\n".join(lines).encode("latin-1"), "votes.jsonl", "line 1: the byte 0xE9")
    yield Broken("half a UTF-8 letter at the end", (_SOUND + "i,a,é").encode()[:-1], "votes.csv", "line 32")


def _columns() -> Iterator[Broken]:
    for role, header in (
        ("item", "thing_x,annotator,label"), ("annotator", "item,who_x,label"), ("label", "item,annotator,said_x"),
        ("label", "item,annotator,lable"), ("annotator", "item,anotator,label"), ("item", "itm,annotator,label"),
        ("annotator", "item,label"), ("label", "item,annotator"), ("item", "annotator,label"),
        ("annotator", "item,label,comment"), ("annotator", "item,lable"),
    ):  # fmt: skip
        rows = "".join(",".join(f"{column[0]}{n}" for column in header.split(",")) + "\n" for n in range(3))
        says = f"no column that clearly holds the {role}"
        yield _csv(f"no {role} in the header {header}", f"{header}\n{rows}", says)
    for role, header in (
        ("item", "task,question,annotator,label"), ("item", "id,task_id,worker,label"),
        ("label", "item,user,answer,rating"), ("label", "item,worker,class,vote"),
        ("annotator", "item,worker,rater,label"), ("annotator", "item,user_id,worker_id,label"),
    ):  # fmt: skip
        says = f"several columns that may hold the {role}"
        yield _csv(f"more than one {role} in {header}", f"{header}\na,b,c,d\n", says)
    for header in ("item,annotator,label,label", "item,item,annotator,label", "item,a,b,a", "1,1,0"):
        cells = ",".join("x" for _ in header.split(","))
        yield _csv(f"a column twice in {header}", f"{header}\n{cells}\n", "stands more than once")
    for header in ("item", "item annotator label", "votes", "item:annotator:label"):
        yield _csv(f"one column, {header}", f"{header}\na b c\n", "only one column")
    for name, text in (
        ("columns that are nothing in particular", "x,y,z\na,b,c\nd,e,f\n"),
        ("two words misspelt", "item,anotator,lable\ni1,a1,yes\ni1,a2,no\n"),
        ("and notes, most of them blank", "when,photo,who,said,note\nt1,p1,1,ja,\nt2,p2,2,nein,hm\nt3,p2,2,nein,\n"),
    ):
        yield _csv(name, text, "shares no label with the other columns")


def _ragged() -> Iterator[Broken]:
    for line in (2, 3, 10, 31):
        lines = _SOUND.splitlines()
        short, long = list(lines), list(lines)
        short[line - 1] = short[line - 1].rpartition(",")[0]
        long[line - 1] += ",more"
        for filename, delimiter in (("votes.csv", ","), ("votes.tsv", "\t"), ("votes.txt", ";"), ("votes.dat", "|")):
            for kind, broken, n_cells in (("short", short, 2), ("long", long, 4)):
                text = "\n".join(broken).replace(",", delimiter)
                yield _csv(f"line {line} too {kind} in {filename}", text, f"line {line}: has {n_cells} cells", filename)
    yield _csv("a comma in a cell without quotes", _HEADER + "i1,a1,yes, rather\n", "double quotes")
    yield _csv("row names as R writes them", "item,annotator,label\n1,i1,a1,yes\n2,i1,a2,no\n", "line 2: has 4 cells")
    yield _csv("a title above the header", "My votes\nitem,annotator,label\ni1,a1,yes\n", "only one column")


def _quotes() -> Iterator[Broken]:
    for line in (2, 3, 15, 31):
        lines = _SOUND.splitlines()
        opened, stray = list(lines), list(lines)
        opened[line - 1] = '"' + opened[line - 1]
        stray[line - 1] = '"x"y' + stray[line - 1]
        yield _csv(f"a quote left open in line {line}", "\n".join(opened), f"line {line}: a cell that begins")
        yield _csv(f"text after a quote in line {line}", "\n".join(stray), f"line {line}: text follows the quote")
    yield _csv("a quote left open in the header", '"item,annotator,label\ni,a,l\n', "line 1: a cell that begins")


def _blank_cells() -> Iterator[Broken]:
    for line in (2, 3, 16, 31):
        for place, role in enumerate(("item", "annotator", "label")):
            for blank in ("", " ", "\t", "\u00a0", '""', "\u3000 "):
                lines = _SOUND.splitlines()
                cells = lines[line - 1].split(",")
                cells[place] = blank
                lines[line - 1] = ",".join(cells)
                says = f"line {line}, column '{role}': the {role} is blank"
                yield _csv(f"{role} {blank!r} in line {line}", "\n".join(lines), says)
    for text in ("nan", "NaN", "NAN"):
        yield _csv(f"the label {text}", _SOUND + f"i77,a1,{text}\n", "line 32, column 'label': ")


def _several_labels() -> Iterator[Broken]:
    cells = (
        "yes|no", "yes;no", "yes/no", '"yes,no"', '"yes, no"', "yes | no", '"[""yes"", ""no""]"', '"[""yes""]"',
        '"[1, 2]"', "\"['yes', 'no']\"",
    )  # fmt: skip
    for cell in cells:
        for line in (2, 20):
            lines = _SOUND.splitlines()
            lines[line - 1] = lines[line - 1].rpartition(",")[0] + "," + cell
            says = f"line {line}, column 'label'"
            yield _csv(f"the label {cell} in line {line}", "\n".join(lines), says)


def _weights() -> Iterator[Broken]:
    header = "item,annotator,label,weight\n"
    sound = "i1,a1,yes,0.5\ni1,a1,no,0.5\n"
    for weight in ("-0.1", "1.5", "2", "x", "", " ", "nan", "inf", "-inf", "0,5", "50%", "1_0", "1e5"):
        cell = f'"{weight}"' if "," in weight else weight
        text = header + sound + f"i2,a1,yes,{cell}\n"
        yield _csv(f"the weight {weight!r}", text, "line 4, column 'weight'")
    for weights in ((0.5, 0.4), (0.5, 0.6), (1, 1), (0, 0), (0.3, 0.3)):
        rows = f"i2,a1,yes,{weights[0]}\ni2,a1,no,{weights[1]}\n"
        says = f"line 4: the weights of the annotation of 'i2' by 'a1' sum to {sum(weights):.6g}"
        yield _csv(f"the weights {weights}", header + sound + rows, says)
    yield _csv("a class twice in one annotation", header + sound + "i1,a1,no,0.0\n", "line 4: ")


def _probabilities() -> Iterator[Broken]:
    header = "item,annotator,cat,dog,ship\n"
    sound = "i1,a1,0.5,0.5,0\ni1,a2,1,0,0\n"
    for cells in ("0.5,0.4,0", "0.5,0.6,0", "1,1,1", "0,0,0", "0.2,0.2,0.2"):
        yield _csv(f"the probabilities {cells}", header + sound + f"i2,a1,{cells}\n", "line 4: the probabilities")
    for place, column in enumerate(("cat", "dog", "ship")):
        for cell in ("-0.1", "1.5", "x", "", "nan", "inf"):
            cells = ["0.5", "0.5", "0.5"]
            cells[place] = cell
            says = f"line 4, column '{column}'"
            yield _csv(f"{cell!r} for {column}", header + sound + f"i2,a1,{','.join(cells)}\n", says)
    yield _csv("counts instead of probabilities", header + "i1,a1,3,1,0\n", "line 2, column 'cat'")
    yield _csv("percentages", header + "i1,a1,70,30,0\n", "line 2, column 'cat'")
    yield _csv("a column that is no class", "item,annotator,seconds,cat,dog\ni1,a1,0.9,0.5,0.5\n", "classes=")


def _repeated() -> Iterator[Broken]:
    for line in (3, 10, 31):
        lines = _SOUND.splitlines()
        lines.insert(line - 1, "i0,a0,yes")
        says = f"line {line}: the annotator 'a0' judges the item 'i0' once more (first: line 2)"
        yield _csv(f"the first vote again in line {line}", "\n".join(lines), says)
    yield _csv("every vote twice", _SOUND + "\n".join(_ROWS), "and 29 more such judgements follow")
    yield _csv("a soft vote twice", "item,annotator,x,y\ni,a,0.5,0.5\ni,a,1,0\n", "line 3: the annotator 'a'")
    yield _csv("an item twice in a wide table", "item,ann,bob\ni1,x,y\ni2,y,x\ni1,y,\n", "line 4: the annotator 'ann'")


def _wide() -> Iterator[Broken]:
    yield _csv("a wide table without a vote", "item,ann,bob\ni1,,\ni2,,\n", "every cell is blank")
    yield _csv("a wide table without the name of an item", "item,ann,bob\ni1,x,y\n,y,x\n", "line 3, column 'item': the")
    yield _csv(
        "several labels in a wide table", "item,ann,bob\ni1,x,y\ni2,x|y,x\n", "line 3, column 'ann': 'x|y' holds"
    )
    half = "line 2, column 'label': 'x;y' holds several labels ('x', 'y')"
    yield _csv("a label in a list that also stands alone", 'item,annotator,label\ni,a,"x;y"\ni,b,x\n', half)
    yield _csv("a label in two lists", 'item,annotator,label\ni,a,"x;y"\ni,b,y;z\n', half)
    headless = "i1,a1,yes\ni1,a2,no\ni2,a1,yes\n"
    yield _csv("no header", headless, "the first line ('i1', 'a1', 'yes') looks like a vote")
    yield _csv("what Excel writes first", "sep=;\nitem;annotator;label\ni1;a1;x\n", "line 1: 'sep=' is a word to Excel")
    yield _csv("free text among the annotators", "item,ann,bob,why\ni1,x,y,so\ni2,y,x,thus\n", "'why' shares no label")
    yield _csv("NaN in a wide table", "item,ann,bob\ni1,x,x\ni2,x,NaN\n", "line 3, column 'bob': 'NaN'")


def _json() -> Iterator[Broken]:
    good = [{"item": f"i{n}", "annotator": "a", "label": "yes"} for n in range(4)]
    sound = "".join(json.dumps(record) + "\n" for record in good)

    def line(text: str, name: str, says: str) -> Broken:
        return Broken(f"JSON lines: {name}", (sound + text).encode(), "votes.jsonl", says)

    yield line('{"item": "i5", "annotator": "a", "label": "y', "cut inside a label", "line 5: the file ends too early")
    yield line('{"item": "i5", "annotator"', "cut after a key", "line 5: the file ends too early")
    yield line("{", "cut after a brace", "line 5: the file ends too early")
    yield line('{"item": "i5" "label": "y"}\n', "a comma left out", "line 5")
    yield line("i5,a,yes\n", "a line of CSV", "line 5")
    yield line('["i5", "a", "yes"]\n', "a list", "line 5: holds a list of 3")
    yield line('"i5"\n', "a text", "line 5: holds 'i5'")
    yield line("7\n", "a number", "line 5: holds 7")
    yield line("null\n", "null", "line 5: holds nothing")
    yield line('{"item": "i5", "annotator": "a"}\n', "a key left out", "line 5, column 'label': the label is blank")
    yield line(
        '{"item": 5, "annotator": "a", "label": "y"}\n', "a number among ids", "line 5, column 'item': holds a n"
    )
    yield line('{"item": "i0", "annotator": "a", "label": "no"}\n', "a vote again", "line 5: the annotator 'a'")
    for label, name, says in (
        ("null", "no label", ", column 'label': the label is blank"),
        ('""', "a blank label", ", column 'label': the label is blank"),
        ("1", "a number among texts", ", column 'label': holds a number"),
        ("true", "true among texts", ", column 'label': holds true or false"),
        ('["yes", "no"]', "a list of labels", ", column 'label': holds a list"),
        ('{"yes": 1}', "an object of labels", ", column 'label': holds an object"),
        ("NaN", "NaN", ": holds NaN"),
        ('"yes", "label": "no"', "a key twice", ": the key 'label'"),
        ('"\\ud800"', "half a character", ", column 'label'"),
        ('"y\\u0000"', "a zero byte", ", column 'label': holds a zero byte"),
        ('"yes"}', "a brace too many", ""),
    ):
        yield line(f'{{"item": "i5", "annotator": "a", "label": {label}}}\n', name, f"line 5{says}")
    whole = json.dumps(good)
    for end in (len(whole) - 1, len(whole) // 2, 20, 1):
        yield Broken(f"a JSON list cut after {end}", whole[:end].encode(), "votes.json", "")
    yield Broken("a JSON list of texts", b'["a", "b"]', "votes.json", "record 1: holds 'a'")
    yield Broken("a JSON list without labels", b'[{"item": "a", "annotator": "b"}]', "votes.json", "holds the label")


def _votes(label: list[object], **more: list[object]) -> pl.DataFrame:
    n = len(label)
    return pl.DataFrame({"item": ["a", "b"][:n], "annotator": ["x"] * n, "label": label} | more)


def _typed() -> Iterator[Broken]:
    nobody = dict.fromkeys(["item", "annotator", "label"], pl.String)
    frames = {
        "no label": (_votes(["1", None]), "row 2, column 'label': the label is blank"),
        "no number": (_votes([1, None]), "row 2, column 'label': the label is blank"),
        "NaN": (_votes([1.0, float("nan")]), "row 2, column 'label': the label is blank"),
        "lists": (_votes([["1", "2"]]), "row 1, column 'label': holds a list"),
        "structs": (_votes([{"b": 1}]), "row 1, column 'label': holds an object"),
        "bytes": (_votes([b"\xff\xfe"]), "column 'label': holds Binary"),
        "ids that lost digits": (_votes(["1"], item=[2.0**60]), "row 1, column 'item'"),
        "no rows": (pl.DataFrame(schema=nobody), "no row below it"),
        "one column": (pl.DataFrame({"a": [1]}), "only one column"),
        "a vote twice": (_votes(["1", "2"], item=["a", "a"]), "row 2: the annotator 'x'"),
        "no such column": (_votes(["1"]).rename({"label": "said"}), "no column that clearly holds the label"),
        "a probability too large": (_votes([1.5], d=[-0.5]).rename({"label": "c"}), "row 1, column 'c'"),
    }
    for name, (frame, says) in frames.items():
        parquet, arrow, stream = io.BytesIO(), io.BytesIO(), io.BytesIO()
        frame.write_parquet(parquet)
        frame.write_ipc(arrow)
        frame.write_ipc_stream(stream)
        yield Broken(f"Parquet: {name}", parquet.getvalue(), "votes.parquet", says)
        yield Broken(f"Arrow: {name}", arrow.getvalue(), "votes.arrow", says)
        yield Broken(f"a stream of Arrow: {name}", stream.getvalue(), "votes.arrow", says)


def _cut() -> Iterator[Broken]:
    frame = pl.DataFrame({"item": [f"i{n}" for n in range(200)], "annotator": ["a"] * 200, "label": ["x", "y"] * 100})
    parquet, arrow, stream = io.BytesIO(), io.BytesIO(), io.BytesIO()
    frame.write_parquet(parquet)
    frame.write_ipc(arrow)
    frame.write_ipc_stream(stream)
    packed = gzip.compress((_HEADER + "".join(f"i{n * n},a{n},{n % 7}\n" for n in range(2000))).encode(), mtime=0)
    for share in (0.02, 0.1, 0.3, 0.5, 0.8, 0.99):
        for name, content, filename, says in (
            ("Parquet", parquet.getvalue(), "votes.parquet", "not a whole Parquet file"),
            ("Arrow", arrow.getvalue(), "votes.feather", "not a whole Arrow file"),
            ("a stream of Arrow", stream.getvalue()[:-8], "votes.arrow", "not a whole"),
            ("gzip", packed, "votes.csv.gz", "ends too early"),
        ):
            yield Broken(f"{name}, cut at {share:.0%}", content[: max(int(len(content) * share), 8)], filename, says)
    body = _HEADER + "".join(f"item-{n},annotator-{n % 5},label-{n % 3}\n" for n in range(200))
    for line in (3, 50, 199):
        end = [place for place, letter in enumerate(body) if letter == "\n"][line - 2] + 1
        yield _csv(f"a CSV cut inside the item of line {line}", body[: end + 3], f"line {line}: has 1 cell")
        yield _csv(f"a CSV cut inside the annotator of line {line}", body[: end + 12], f"line {line}: has 2 cells")
        after = body[: body.index(",label", end) + 1]
        yield _csv(f"a CSV cut after the annotator of line {line}", after, f"line {line}, column 'label': the label is")
