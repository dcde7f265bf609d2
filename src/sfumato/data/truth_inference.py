"""The data sets that comparisons of truth inference share: labels and truth, no texts (collected by Yuan Li, 2019)."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

from pathlib import Path

from sfumato.core.annotations import Annotations, class_order
from sfumato.core.gold import Gold
from sfumato.data.dataset import DataFile, DataSet, Entry, github
from sfumato.data.strings import read_strings

_REPOSITORY = "yuan-li/truth-inference-at-scale"
_COMMIT = "621789b2d57324d3559dc973b2613d2296d73f55"


def load(folder: Path, *, part: str) -> DataSet:
    """Load the annotations and the gold of one set; items, annotators and classes are numbers there.

    Every row is kept, also where an annotator judged an item more than once (see the notes of what is loaded); gold is
    known for some of the items only in trec, relevance, adult and fact_eval.
    """
    here = _FOLDERS[part]
    rows = read_strings(folder / here / "label.csv", separator=",")
    truth = read_strings(folder / here / "truth.csv", separator=",")
    classes = class_order({*rows["label"], *truth["truth"]})
    repeated = len(rows) - rows.select("item", "worker").n_unique()
    annotations = Annotations.from_rows(
        rows["item"], [f"a{int(number):03}" for number in rows["worker"]], rows["label"], classes=classes
    )
    return DataSet(
        name=f"{ENTRY.name}/{part}",
        items=annotations.items,
        classes=classes,
        annotations=annotations,
        gold=Gold.from_names(truth["item"].to_list(), truth["truth"].to_list(), classes=classes),
        notes=(f"{repeated:,} rows repeat an annotator's judgement of an item; all are kept.",) if repeated else (),
    )


_PARTS = {
    "rte": "textual entailment; the votes of the set rte with other names for items and annotators",
    "trec": "is a web page relevant to a topic, 2 classes (TREC 2011 crowdsourcing track)",
    "CF": "sentiment of 300 tweets about the weather, 5 classes, on CrowdFlower",
    "CF_amt": "the tweets of CF, judged by twenty workers each on Mechanical Turk",
    "MS": "genre of a piece of music, 10 classes",
    "SP": "is a sentence about a film positive, 2 classes, 4,999 sentences",
    "SP_amt": "as SP, 500 sentences, judged by twenty workers each on Mechanical Turk",
    "ZenCrowd_all": "does a link lead to the right entity, 2 classes; the workers of ZenCrowd_in and ZenCrowd_us",
    "ZenCrowd_in": "does a link lead to the right entity, 2 classes, workers in India",
    "ZenCrowd_us": "does a link lead to the right entity, 2 classes, workers in the United States",
    "product": "do two descriptions mean the same product, 2 classes",
    "relevance": "how relevant is a web page to a topic, 4 classes (TREC 2010 relevance feedback track)",
    "adult": "how adult is the content of a web page, 4 classes",
    "fact_eval": "is a statement from a knowledge base true, 3 classes (CrowdScale 2013)",
}
# Where a set lies, and size and sha256 of its labels and of its truth.
_FILES = (
    (
        "rte",
        "SpectralMethodsMeetEM/rte",
        (68_738, "2ad788bb36cf9206c496ffdf5e4dec466a1de420bc0c403404e9d3367024ff66"),
        (4_701, "c30bcc6dcdfd703e6e435c24ac7e2da56d85e687be398c365d2b2656c8e7f3cb"),
    ),
    (
        "trec",
        "SpectralMethodsMeetEM/trec",
        (958_855, "8bfc1d6036ab5b9e489755db7ea89be80a1ec0fe523527cf7966cb52f662696b"),
        (16_844, "e66a5ae31d542fcf1dc929d568d2f9489245fe201e48ff322b7de1f19f9e5dd6"),
    ),
    (
        "CF",
        "active-crowd-toolkit/CF",
        (16_216, "b0f98ddc9afefffcaf9670f591a3441b1bfc3eab70f8e4c35746310962920f06"),
        (1_701, "8d8f1b773b310fa91e550658ef88baedc4c522ccd395a1ffa9c185327b88080f"),
    ),
    (
        "CF_amt",
        "active-crowd-toolkit/CF_amt",
        (51_584, "6b016e49c6a166960f83ec246350ad2fbb34229348e85db84809477f49f15c5a"),
        (1_701, "b6fb9e58d0f026751ad33a57c3dea28389c2b957b77271bb127380f5f0935b8b"),
    ),
    (
        "MS",
        "active-crowd-toolkit/MS",
        (25_250, "4e59b88dbe48a0cd545a745c9718f3955729205d29da1bf883adc64bf7a3e378"),
        (4_101, "981c635d5cde03cd903bf319b030178420bc8aa3b6a3b7846abea4e974bc2294"),
    ),
    (
        "SP",
        "active-crowd-toolkit/SP",
        (285_454, "f7925ededbb2586bb8c787d29d0dc0fc28103daee5d436e683b42d555780e467"),
        (33_894, "26546f7031104001c4aa134268fe0a5df74e35b5ca7e7b7e56967849024e3ab3"),
    ),
    (
        "SP_amt",
        "active-crowd-toolkit/SP_amt",
        (90_048, "c3ca981b7b64bde4ca2fed9b19bd3123a59e4d9b62a6931b2b61e0d8c8174a56"),
        (2_901, "0ef0eb520fc75972f4a586e1b639983ec204ce4eda363d726ccef4bc4ef42fe0"),
    ),
    (
        "ZenCrowd_all",
        "active-crowd-toolkit/ZenCrowd_all",
        (203_968, "2ff13aee821c35744ee94e11b5b0fb127ea33689b5fe35f3603caaecc6aaa289"),
        (13_181, "c9369759a8085f7b228277c4c067cfe35a7ceaf3a90ed524c3def878ede3c5c1"),
    ),
    (
        "ZenCrowd_in",
        "active-crowd-toolkit/ZenCrowd_in",
        (100_113, "bf5e8d2360cda1982fd4fbe70f489d61cfde4357b37f0945037eeb6f2340e47e"),
        (13_181, "584cc8c1f25e2aaed9d6affe656c2022109072785fcd2f6693993af3efa5974b"),
    ),
    (
        "ZenCrowd_us",
        "active-crowd-toolkit/ZenCrowd_us",
        (113_268, "0cac72c5ef33ec97f542630aa4131bd674973b0fd0dba857a7d0c20348df51ef"),
        (13_181, "545c2e0c9cd7fb91b9292584bd8bd73cbf1b25d2c48325e379dbf54eee87829e"),
    ),
    (
        "product",
        "crowd_truth_inference/d_jn-product",
        (255_248, "525098daa3d9aa4919160ecef7daaf65a42d2b92c01ffbb5b5ff17b63110b366"),
        (57_106, "cd86cc6574fa1693520085eb4b4919e6676afbdffbf53b708edadeeb0150d2f6"),
    ),
    (
        "relevance",
        "crowd_truth_inference/s4_Relevance",
        (1_069_582, "0577f8e46cbec9901dd7b33ec3626f95cc70f90c54c86f9df4a02d7a841cd8ca"),
        (33_286, "32d8553b523a811a6fdb90051c7bc87e6065bae4471da6e613f9a5f3fbed2709"),
    ),
    (
        "adult",
        "crowd_truth_inference/s5_AdultContent",
        (1_014_087, "d72988724f7cdd628ce21fa1aaabecc4d03aef21bf59644d9e4033b774ac9a32"),
        (2_307, "1c52c5d528d16e031360d87ce384a80611bf23dedd5c7cfddf2c8ffc058772cb"),
    ),
    (
        "fact_eval",
        "crowdscale2013/fact_eval",
        (2_278_676, "c8be134ea9adb9fe5984657dcd1894dce89ba93a539a600a62654c801d6e6d3a"),
        (4_457, "5e0ea8af9d225cd4d03e175d279e5ab00958c6f74c3ebf85b068a271a83ad741"),
    ),
)
_FOLDERS = {part: there for part, there, _, _ in _FILES}

ENTRY = Entry(
    name="truth_inference",
    title="Truth inference at scale",
    summary="Fourteen sets on which methods of aggregation are usually compared, from 300 to 42,624 items.",
    citation="Zheng, Li, Li, Shan, Cheng (2017). Truth inference in crowdsourcing: is the problem solved? VLDB. "
    "Zhang, Chen, Zhou, Jordan (2014). Spectral methods meet EM. NIPS. Venanzi, Parson, Rogers, Jennings (2015). "
    "The ActiveCrowdToolkit. HCOMP. Josephy, Lease, Paritosh (2013). CrowdScale shared task challenge.",
    licence="MIT for the collection; none stated for its parts",
    homepage=f"https://github.com/{_REPOSITORY}",
    files=tuple(
        DataFile(
            path=f"{there}/{name}.csv",
            address=github(_REPOSITORY, _COMMIT, f"data/{there}/{name}.csv"),
            size=size,
            sha256=sha256,
            parts=(part,),
        )
        for part, there, label, truth in _FILES
        for name, (size, sha256) in (("label", label), ("truth", truth))
    ),
    gives=("annotations", "gold"),
    load=load,
    parts=_PARTS,
    notes=(
        "rte has the votes of the sets rte and snow2008/rte under other names.",
        "CF and CF_amt judge the same tweets; ZenCrowd_all joins ZenCrowd_in and ZenCrowd_us, same links and truth.",
    ),
)
