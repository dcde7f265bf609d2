"""Medical relation extraction: does a sentence say that one term causes the other? (Dumitrache et al., 2018)"""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

import csv
import io
from html import unescape
from pathlib import Path
from typing import Literal

import polars as pl

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.data.pseudonyms import pseudonyms
from sfumato.data.strings import read_strings
from sfumato.errors import check_choice

_REPOSITORY = "CrowdTruth/Medical-Relation-Extraction"
_COMMIT = "585c158864f91d7e7666f70d3b705294186e1378"
_CLASSES = ("no_cause", "cause")
_EXPERT = {"-1": "no_cause", "1": "cause"}
_SELECTED = "step_1_select_the_valid_relations"
_PLACES = ("b1", "e1", "b2", "e2")
# What the crowdsourcing platform recorded of a person beside the answers.
_PERSONAL = ("_ip", "_city", "_region", "_country", "_channel")


def load(
    folder: Path,
    *,
    sentences: Literal["expert", "all"] = "expert",
    cause: Literal["selected", "anywhere"] = "selected",
) -> DataSet:
    """Load the annotations of the relation "cause", the experts' gold, and the sentences with their two terms.

    A sentence is known by its id without the ending ``-FS1`` that a corrected span of a term gave it. Where an
    annotator judged a sentence more than once, one annotation is kept: cause, if any of them was.

    *sentences*: the 975 that an expert judged, or all. *cause*: an annotation is "cause" when that relation was
    selected; with "anywhere" when the letters CAUSE occur in any cell of the row, as in the code of Wright and
    Augenstein, so that their table can be compared.
    """
    check_choice(sentences, ("expert", "all"), option="sentences")
    check_choice(cause, ("selected", "anywhere"), option="cause")
    truth = read_strings(folder / "ground_truth_cause.csv", separator=",", quote='"')
    with_expert = truth.filter(pl.col("expert") != "NA")
    judged = _read_judgements(folder, anywhere=cause == "anywhere")
    wanted = with_expert if sentences == "expert" else truth
    # The maximum keeps "cause", whose code is the larger one.
    votes = (
        judged.join(wanted.select("SID"), left_on="item", right_on="SID", how="semi")
        .group_by("item", "annotator", maintain_order=True)
        .agg(pl.col("cause").max())
    )
    items = votes.unique("item", keep="first", maintain_order=True).select("item")
    return DataSet(
        name=ENTRY.name,
        items=tuple(items["item"]),
        classes=_CLASSES,
        annotations=Annotations.from_rows(
            votes["item"], votes["annotator"], [_CLASSES[code] for code in votes["cause"]], classes=_CLASSES
        ),
        gold=Gold.from_names(
            with_expert["SID"].to_list(), with_expert["expert"].replace_strict(_EXPERT).to_list(), classes=_CLASSES
        ),
        texts=items.join(_texts(truth), on="item", how="left", maintain_order="left"),
        meanings={"cause": "the sentence says that one term causes the other"},
    )


def _texts(truth: pl.DataFrame) -> pl.DataFrame:
    """Return the sentences with HTML entities resolved, their terms, and where these begin and end in the sentence.

    Upstream counted the places with the entities in the sentence, and not always right; they move with what stands
    before them, and one that upstream does not know (-1) is null.
    """
    rows = [
        [row["SID"], unescape(row["sentence"]), unescape(row["term1"]), unescape(row["term2"])]
        + [_moved(int(row[name]), row["sentence"]) for name in _PLACES]
        for row in truth.iter_rows(named=True)
    ]
    return pl.DataFrame(rows, schema=["item", "text", "term1", "term2", *_PLACES], orient="row")


def _moved(place: int, sentence: str) -> int | None:
    before = sentence[:place]
    return place - (len(before) - len(unescape(before))) if place >= 0 else None


def _read_judgements(folder: Path, *, anywhere: bool) -> pl.DataFrame:
    """Return item, annotator and cause (0 or 1) of every row, in the order of the batches."""
    batches = []
    for path in _BATCHES:
        rows = read_strings(folder / path, separator=",", quote='"')
        cells = pl.concat_str(pl.all(), separator=",").str.contains("CAUSE", literal=True)
        selected = pl.col(_SELECTED).str.contains("[CAUSES]", literal=True)
        batches.append(
            rows.select(
                pl.col("sent_id").str.replace(r"-FS\d+$", "").alias("item"),
                pl.col("_worker_id").alias("annotator"),
                (cells if anywhere else selected).cast(pl.Int8).alias("cause"),
            )
        )
    rows = pl.concat(batches)
    return rows.with_columns(pl.Series("annotator", pseudonyms(rows["annotator"])))


def _without_personal_columns(content: bytes) -> bytes:
    """Return the table without the columns that say where and through which site a person answered."""
    rows = csv.reader(io.StringIO(content.decode(), newline=""))
    header = next(rows)
    kept = [place for place, name in enumerate(header) if name not in _PERSONAL]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerows([row[place] for place in kept] for row in (header, *rows))
    return out.getvalue().encode()


# Size and git blob of RelEx_batch_01.csv, RelEx_batch_02.csv, …, as upstream has them.
_UPSTREAM = (
    (355_380, "3566d20fe04670223d2bdf3670fc5f863407777a"),
    (351_373, "089728849150a83c50ed99308fe9ca7e82aa8c56"),
    (336_596, "ba01c5e020988fb4080c42751b2cfd2f35e6d00d"),
    (339_735, "6f15bd38c462f3e484d3613814c5f298e484374f"),
    (340_218, "77e90f1299eacb0f7470a20881518797b17d3ef8"),
    (384_423, "73929c0d483deda9a7f3c8c5855168c996f47d7d"),
    (297_304, "d34ac30e866831ae0d385d179a0eb1e0958a1d17"),
    (273_845, "0f5cf5b71e58082ea33f5ad9cc6d40c484793365"),
    (472_575, "02fdae71d77dbb8217b7117207c0f9dd0809772c"),
    (674_431, "0b64b5a64e3d55233c9384dbb5897845941c99ec"),
    (635_601, "869240a99c399a92296e67b19f0579bedecdf8b8"),
    (669_640, "33f6c4cc8b04b4967b2475b8a5e8ae7be91b2be9"),
    (724_108, "2ba0e63b50b33c2282387e1b04635ef349c5a01d"),
    (722_184, "e37947d5bcff49644cd23c3b0c1cd1a36c82fc43"),
    (660_865, "0ac8ad0464a0e0d6241f678a91c1c20caa73f4d8"),
    (296_515, "37ab8c22c9979f73a1a880a17fa64bacf5004565"),
    (395_398, "e109b6e0ee173d292e223578aa1548ca508f7e1e"),
    (408_912, "1c8b4d45c0478fdfbe73c67ec0e0d7e7580c2879"),
    (445_225, "64a434cac440dd28abd498e2f6618e6eeea3e39b"),
    (407_747, "eb9e99be69375a442d55f96f1c7f5892da385eee"),
    (374_665, "88a8ec7f489efa5a3e71bc80f2452fdfa1a9fc44"),
    (300_258, "6f5c21fb84cf1da45477e1c9c2c661073b6909ee"),
    (574_432, "94b13ad7a2ca5de62774943c529aa411362b64af"),
    (496_224, "4f195edcc658b34ee6a11a512dc6ddb85f5fa007"),
    (485_165, "d20f1bec3c399dfba456c7a43660a2ef3ee43395"),
    (566_045, "b660f13ef31989d657b4549207a0bd023628177f"),
    (580_788, "9c776c7296229357bfc8824226fe7e42d53f5a3b"),
    (532_560, "aaeb0219ae2eaaa185abb78a0460e12c6a5a3733"),
    (518_875, "bca1a511268dc20ed1f2fbf7de443db7173dab8a"),
    (616_271, "67f187f9f81496331f55997ecf6dc7889e0dc503"),
    (504_836, "a3ac9839d9ad933ed182740f5281a5842532fe65"),
    (500_924, "7317a4626a099f40722688736dc1f96380eac54a"),
    (461_406, "17d98664f8b14b41a1dc6289167f97e47002576a"),
    (550_084, "81a17728084e8da25d52af279b1a22fdd15ad38d"),
    (531_527, "91cde1213b3e126e56d3cbe9757f03d52dd4f97c"),
    (484_641, "84775671e2d2b38d32eaca605f1076b66a38285d"),
    (553_672, "4284eb4b6a7598a329592ed04df9f3ca8f85f6e8"),
    (532_891, "b32dbe65b8c03b16b75eb98081634ca66362e9ed"),
    (580_373, "36f0a4dd5e7e43b71f47fe8c58d89a1e45e6ff93"),
    (532_336, "78e3057ee96030e408bc730a12a7820e29cbfa4d"),
    (572_088, "4b20cda1235883fc4de6b2ea7d3f19d2754dd172"),
    (448_742, "5ccec82b4d905d78100da8dcdb370e6ce66d95d4"),
    (624_915, "bd78a9b38cb4952e027ec2b8dddc94a775764a02"),
    (598_064, "ea13aa46b75ecfd8b664d11b3d95fa882fffa9f5"),
    (578_930, "8eccd4bf7a4cef1c7b9dcb1a06f23156c174ba1e"),
    (575_622, "81fc07986962203ddbf91c70155c9403995ba177"),
)
_BATCHES = tuple(f"raw_RelEx/RelEx_batch_{number:02}.csv" for number in range(1, len(_UPSTREAM) + 1))

ENTRY = Entry(
    name="mre",
    title="Medical relation extraction",
    summary="Does the sentence say that one term causes the other? 975 sentences, 304 annotators, 14,920 annotations.",
    citation="Dumitrache, Aroyo, Welty (2018). Crowdsourcing ground truth for medical relation extraction. "
    "ACM Transactions on Interactive Intelligent Systems.",
    licence="not stated; cite doi:10.5281/zenodo.50676",
    homepage=f"https://github.com/{_REPOSITORY}",
    files=(
        DataFile(
            path="ground_truth_cause.csv",
            address=github(_REPOSITORY, _COMMIT, "ground_truth_cause.csv"),
            size=1_276_992,
            sha256="31fad88e48b0a778db6b8d594d9575e687372710e3b2d2da003a33a3e5c67429",
        ),
        *(
            DataFile(
                path=path,
                address=github(_REPOSITORY, _COMMIT, path.replace("raw_", "raw/")),
                size=size,
                git_blob=git_blob,
                clean=_without_personal_columns,
            )
            for path, (size, git_blob) in zip(_BATCHES, _UPSTREAM, strict=True)
        ),
    ),
    gives=("annotations", "gold", "texts"),
    load=load,
    notes=("IP addresses, places and channels in the upstream files are removed before a fetched file is kept.",),
)
