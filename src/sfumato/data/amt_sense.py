"""Senses of 45 words in about 1,000 sentences each, 25 annotations a sentence (Passonneau and Carpenter, 2014)."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

from pathlib import Path

import polars as pl

from sfumato.core.annotations import Annotations
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.data.strings import read_strings

_REPOSITORY = "bob-carpenter/anno"
_COMMIT = "a83afa9e0d052467497cb713a517c2b8a1a7c3e8"
_FOLDER = "data/amt-sense-mt-2013"


def load(folder: Path, *, part: str) -> DataSet:
    """Load the annotations of one word, such as "add-v"; its classes are its senses, and 0 where none of them fits.

    No annotator judged a sentence twice. The published table writes "none" as one more than the largest sense that
    anybody chose; it is 0 again here, as on the annotators' pages. Annotators are numbered anew for each word. The
    sentences and a gold are not part of these files.
    """
    rows = read_strings(folder / f"munged/{part}.tsv")
    senses = read_strings(folder / "original/senses.tsv").filter(pl.col("WordPos") == part)
    classes = ("0", *senses["SenseId"])
    none = str(max(map(int, rows["rating"])))
    annotations = Annotations.from_rows(
        rows["item"],
        [f"a{int(number):03}" for number in rows["annotator"]],
        rows["rating"].replace({none: "0"}),
        classes=classes,
    )
    return DataSet(
        name=f"{ENTRY.name}/{part}",
        items=annotations.items,
        classes=classes,
        annotations=annotations,
        meanings={"0": "none of these, or not clear"} | dict(zip(senses["SenseId"], senses["Definition"], strict=True)),
    )


_KINDS = {"n": "noun", "v": "verb", "j": "adjective"}
_FILES = (
    ("add-v", 206_381, "a802e0cca385755e7fd7b12cd616829c7f0d5b5bcf3b3e6376c86a7d5e80a6cd"),
    ("appear-v", 139_664, "780ae954e987e4c5f7a4dfaa3620533e6397e347ce0b0e96bdae697d07b60259"),
    ("ask-v", 156_721, "a5b617d200864cae189b3965f3e7fa1e287dc1806e182d84aad0adec50fb848d"),
    ("board-n", 206_920, "1e8af57a04feef1e5ab9798df45f5399e72adc23f20977aced82f86f35521604"),
    ("book-n", 194_580, "00458b70be84c0ca297de325f7e7c8eedb5a148e21101c25e046cc5b4f001601"),
    ("color-n", 209_097, "f57346c7f833b30a5096a96ad5a8053bf0b9407f7a1ebe7417669e42ecacdacb"),
    ("common-j", 149_718, "bcda7b4a2d1ee3533a1c6a0e470c48999ae9aaf31385515964b7cea8afb18903"),
    ("control-n", 210_307, "9f27cc19a48907a29d3f74fe01f16daa421777469278de984f72553899057aa9"),
    ("date-n", 205_405, "9ae39b67fe141a37de45ca3ae1befedb57be5267014169a485b7f062d8284dc0"),
    ("fair-j", 141_823, "7b97b3245ad6aeaf9d9e373b2b08f77125340f4d5851dd99544eacfe6db5bb7f"),
    ("family-n", 206_696, "f8f63a5408dd980203f4c31113a1810a141df05a68248c400519c71fd7d41094"),
    ("find-v", 128_173, "a4becdc95d8972d33ac049d49ea7b430c0957513933c692cb389b8a0ef608668"),
    ("fold-v", 196_566, "e3e6e84d83c62a5bcae1e7cf01a8f0873b32f6740e366e55ed196ba722276dbf"),
    ("full-j", 206_480, "72ddda14be9594a45557ad0392311c0f4ece3cf0296b44663db17a44b8a3664d"),
    ("help-v", 200_412, "69f3dc860bd1455b8ecdea4ebafdd7e7ab2b25d7b4ba943b0ff6d4b2a3fc27cd"),
    ("high-j", 210_254, "a7474a4a6522abb75a713a7c20b4e4210019fc2c48a4f0aac44d2b18165bffa3"),
    ("image-n", 205_767, "3a3ec5e9a07bd9d26297d55656355e77715ac0825f9c1213320059507d042092"),
    ("kill-v", 211_630, "b6a476a515541072b91141c9876f230d1b11bd950b3bebc844c6cd5d363f8163"),
    ("know-v", 290_170, "7344353779a05aea241bfc6b354c33deb3a14d497ed130a1af5f5858fbeef2e9"),
    ("land-n", 204_898, "31c097dc67be3d122239e620db5834130f94e91f511bb6a82bac4977ff5a0ef8"),
    ("late-j", 209_107, "10eac94d66a05aa6668adaaea54099147f4eb73f94c6efc6952a830affcbb230"),
    ("level-n", 210_928, "8b6f0f059558e71550a1227ee167be2c8352913ce2418efc1a95370daa1bd0c9"),
    ("life-n", 201_688, "f54e021bddcbe2c8c7ae4c2ebaa6ecac3bee3bf34924d13be21c9bf9f694e373"),
    ("live-v", 210_996, "2cec1dba7e4ae934987b9432f1a7f8ff833055006416087954673620c4a4d86f"),
    ("long-j", 215_815, "7b2c14b5b139cb2d0e76e68c7a0b843d4ab1299c368a7726551167987a061aa2"),
    ("lose-v", 211_343, "f6dc6b057304943f458be5bb0b0028a5e7371d13c0a14801aa795147565ab3de"),
    ("meet-v", 207_059, "978a8c95a978689f9f5e63e3a2d6be33bd6f03b37e0f8e8371a7a118e9c8d118"),
    ("normal-j", 206_972, "8ad0b6deef3831c364ef83f12e64cd359d7a866d21f5e6a61ffa012dfe4e365c"),
    ("number-n", 210_787, "c03ecf527873f7c0d6d161c4b656b3fe66a3e127720e5f24f2d28fbc49701093"),
    ("paper-n", 206_963, "9dbf5fb1cceaa36a48bd333a525bfaed672bd159e5abeeabfa213b89bbcf8435"),
    ("particular-j", 208_188, "3a93da1d7bf87d10ba947e95530baa418fa7354f6900e5781e0d61b9f6739d53"),
    ("poor-j", 210_810, "3ce965d09502618a3ffdbf955a0d4d95b11cf83151928c9795cb46d265ed9bb2"),
    ("read-v", 192_530, "0bc9327af2b0fc9ed5da1397dce6a9e8d8697682e98293853916d7601697bd73"),
    ("say-v", 224_918, "1a2b0cffffeded6c85dea55b3c0d86972ad928ccec73fa9d22b718820bc1cb4b"),
    ("sense-n", 208_198, "bc59dfc821f345ceaaf16b51ee0f291590c1668e32a90c307aed7f86cc30a8ca"),
    ("serve-v", 210_537, "e2aec31a23f657fcf17baba9ce6a83667d886596955c4b2101d6530152dcd77b"),
    ("show-v", 280_769, "75ce40284f5af83974006dc3e4b21dd3e22aad9a464c5f659021c9a68fdac564"),
    ("suggest-v", 213_330, "b9c50248067aae0a69347c286ff345eb38bceb4627bb0f75c95071b5303f7fe8"),
    ("tell-v", 206_942, "0a72ef8b3769c85ddf632e89395e0f1ffd2476a0482c9839b2f1df6a7a72eb9b"),
    ("time-n", 282_908, "46064685709db69c8d4b4a23e297a1c89692942dc70d2335f3ba9409c9fbb26d"),
    ("wait-v", 187_795, "471509f51dbd67d320ddabd023b7583afacb566a13ce558f4168d2e4d49f994d"),
    ("way-n", 212_680, "b9f41cfc9663c9b89640742744870eb1ca8a372dee7d06be9929776e469b71f6"),
    ("win-v", 210_548, "260b104c560698ce34159ac1488296f68a304c2e7f2b75ae2e51f19034003e1c"),
    ("window-n", 209_012, "cdd35771653262fe0555883a762b311dfce9e126126d6f26f54cc9bc600ec877"),
    ("work-n", 306_077, "faf9131e7c1c581008e5096765f4da3b904bb26351a475ce014716d5f687c411"),
)

ENTRY = Entry(
    name="amt_sense",
    title="Multi-annotated word senses",
    summary="Which sense has a word in a sentence? 45 words, 229 annotators, about a million annotations.",
    citation="Passonneau, Carpenter (2014). The benefits of a model of annotation. TACL.",
    licence="not stated for the data; the repository that carries it is BSD-3-Clause",
    homepage=f"https://github.com/{_REPOSITORY}",
    files=(
        DataFile(
            path="original/senses.tsv",
            address=github(_REPOSITORY, _COMMIT, f"{_FOLDER}/original/senses.tsv"),
            size=88_326,
            sha256="2c9e2ebdfcfc267152045027e166d3b5098ec97d3e1e2469df60ae560ac08c62",
        ),
        *(
            DataFile(
                path=f"munged/{word}.tsv",
                address=github(_REPOSITORY, _COMMIT, f"{_FOLDER}/munged/{word}.tsv"),
                size=size,
                sha256=sha256,
                parts=(word,),
            )
            for word, size, sha256 in _FILES
        ),
    ),
    gives=("annotations",),
    load=load,
    parts={word: f"the {_KINDS[word[-1]]} {word[:-2]!r}" for word, _, _ in _FILES},
    notes=("The sentences are not in these files.",),
)
