"""A sample of the Penn Treebank: 3,914 sentences of the Wall Street Journal with parts of speech."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from sfumato.core.gold import Gold
from sfumato.data import places
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.errors import FormatError

_REPOSITORY = "nltk/nltk_data"
_COMMIT = "5db857e6f7df11eabb5e5665836db9ec8df07e28"
_MEANINGS = {
    "ADJ": "adjective",
    "ADP": "preposition or postposition",
    "ADV": "adverb",
    "CONJ": "conjunction",
    "DET": "determiner",
    "NOUN": "noun",
    "NUM": "cardinal number",
    "PRON": "pronoun",
    "PRT": "particle",
    ".": "punctuation",
    "VERB": "verb",
    "X": "other",
}
_LEAF = re.compile(r"\(([^\s()]+)\s+([^\s()]+)\)")
# The treebank writes brackets and slashes of the text in other characters, as they have a meaning of their own in it.
_BRACKETS = {"-LRB-": "(", "-RRB-": ")", "-LCB-": "{", "-RCB-": "}"}


def load(folder: Path) -> DataSet:
    """Load the tokens with their universal parts of speech as gold.

    ``texts`` has one row per token: its document, the sentence (``sequence``) and its place there (``position``), both
    from 0, the token (``text``) and the ``tag`` of the treebank. They are read from the trees, whose sentences are the
    right ones (the tagged files of the sample break some apart), without the traces of what the syntax left out.
    """
    with _opened(folder / "universal_tagset.zip") as archive:
        lines = archive.read("universal_tagset/en-ptb.map").decode().splitlines()
        universal = dict(line.split("\t") for line in lines if line)
    rows: list[tuple[str, str, int, int, str, str]] = []
    with _opened(folder / "treebank.zip") as archive:
        for path in sorted(name for name in archive.namelist() if name.endswith(".mrg")):
            for sentence in _sentences(archive.read(path).decode("ascii")):
                document, sequence = Path(path).stem, rows[-1][2] + 1 if rows else 0
                for position, (tag, token) in enumerate(sentence):
                    item = f"{document}-{sequence}-{position}"
                    rows.append((item, document, sequence, position, token, tag))
    columns = ("item", "document", "sequence", "position", "text", "tag")
    texts = pl.DataFrame(rows, schema=columns, orient="row")
    items = tuple(texts["item"])
    return DataSet(
        name=ENTRY.name,
        items=items,
        classes=tuple(_MEANINGS),
        gold=Gold.from_names(items, [universal[tag] for tag in texts["tag"]], classes=tuple(_MEANINGS)),
        texts=texts,
        meanings=_MEANINGS,
    )


def _sentences(trees: str) -> Iterator[list[tuple[str, str]]]:
    """Yield each sentence as (tag, token), read from the leaves of its tree."""
    depth = start = 0
    for bracket in re.finditer(r"[()]", trees):
        depth += 1 if bracket[0] == "(" else -1
        if depth == 0:
            leaves = _LEAF.findall(trees[start : bracket.end()])
            yield [(tag, _BRACKETS.get(token, token.replace("\\", ""))) for tag, token in leaves if tag != "-NONE-"]
            start = bracket.end()


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(places.read_bytes(path)))
    except zipfile.BadZipFile as error:
        raise FormatError(f"The file {path} is not a whole zip archive ({error}); fetch the set again.") from None


ENTRY = Entry(
    name="treebank_sample",
    title="Penn Treebank sample",
    summary="Which of twelve parts of speech is a word? 94,084 tokens in 3,914 sentences of the Wall Street Journal.",
    citation="Marcus, Santorini, Marcinkiewicz (1993). Building a large annotated corpus of English: the Penn "
    "Treebank. Computational Linguistics. Universal tags: Petrov, Das, McDonald (2012). LREC.",
    licence="LDC, 1995: fair use for illustration, not for commercial use; the universal tagset CC BY-SA 4.0",
    homepage=f"https://github.com/{_REPOSITORY}",
    files=(
        DataFile(
            path="treebank.zip",
            address=github(_REPOSITORY, _COMMIT, "packages/corpora/treebank.zip"),
            size=1_740_034,
            sha256="9da92d76c3666cfb6cddeaed0f7e86b344cce0f0928a286d439e555f19c37399",
        ),
        DataFile(
            path="universal_tagset.zip",
            address=github(_REPOSITORY, _COMMIT, "packages/taggers/universal_tagset.zip"),
            size=19_095,
            sha256="d490e1ae8f5625dcdfdda04be15c22a2aade8c2561a36a61edcdf0c7d6aa8352",
        ),
    ),
    gives=("gold", "texts"),
    load=load,
)
