"""Part-of-speech tags of tweets: 14,439 tokens tagged by a crowd (Hovy, Plank and Søgaard, 2014), 3,064 to test on."""

from __future__ import annotations

__all__ = ["ENTRY", "load"]

from itertools import chain
from pathlib import Path

import numpy as np
import polars as pl

from sfumato.core.annotations import Annotations
from sfumato.core.gold import Gold
from sfumato.data import places
from sfumato.data.dataset import DataFile, DataSet, Entry, github

_REPOSITORY = "copenlu/aggregating-crowd-annotations-ood"
_COMMIT = "eecaa50a32e11f205f40a0961b5f286e3e33f110"
# The order of the published soft labels; ties in a vote go to the first of the tied tags.
_CLASSES = ("ADJ", "ADP", "ADV", "CONJ", "DET", "NOUN", "NUM", "PRON", "PRT", ".", "VERB", "X")
# As published, the first 910 tweets are for training (13,000 tokens) and the other 90 for development (1,439).
_N_TRAIN_TWEETS = 910

Tweet = list[list[str]]


def load(folder: Path) -> DataSet:
    """Load the annotations of the crowd, the gold of all tokens, the tokens, and the split of Fornaciari et al.

    Every annotation is kept, also those that no annotator made: 939 tokens (@USER and URL) carry the same tag from
    all 177 annotators, filled in by the program, and 20 tokens are the qualification task, which nearly everybody did.
    The other tokens have five annotations, six of them six. `sequence` and `position` say which tweet a token
    belongs to and its place there; both stand in ``texts`` for the test tokens as well.
    """
    crowd = _tweets(folder / "gimpel_crowdsourced-tf.tsv", blank_lines=2)
    test = _tweets(folder / "lowlands.test.tsv", blank_lines=1)
    tokens = [token for tweet in crowd for token in tweet]
    test_names = [f"test-{number:04}" for number in range(sum(map(len, test)))]
    item, annotator, label = [], [], []
    code = {name: place for place, name in enumerate(_CLASSES)}
    for row, token in enumerate(tokens):
        for column, tag in enumerate(token[2].split(",")):
            if tag:
                item.append(row)
                annotator.append(column)
                label.append(code[tag])
    names = [token[0] for token in tokens]
    sequence = np.repeat(np.arange(len(crowd) + len(test)), [len(tweet) for tweet in chain(crowd, test)])
    position = np.concatenate([np.arange(len(tweet)) for tweet in chain(crowd, test)])
    n_train = sum(map(len, crowd[:_N_TRAIN_TWEETS]))
    return DataSet(
        name=ENTRY.name,
        items=(*names, *test_names),
        classes=_CLASSES,
        annotations=Annotations.from_codes(
            item,
            annotator,
            label,
            items=names,
            annotators=[f"a{column + 1:03}" for column in range(max(annotator) + 1)],
            classes=_CLASSES,
            sequence=sequence[: len(names)],
            position=position[: len(names)],
        ),
        gold=Gold.from_names(
            [*names, *test_names],
            [token[-1] for token in tokens] + [token[1] for tweet in test for token in tweet],
            classes=_CLASSES,
        ),
        texts=pl.DataFrame(
            {
                "item": [*names, *test_names],
                "text": [token[1] for token in tokens] + [token[0] for tweet in test for token in tweet],
                "sequence": sequence,
                "position": position,
            }
        ),
        splits={"train": tuple(names[:n_train]), "dev": tuple(names[n_train:]), "test": tuple(test_names)},
    )


def _tweets(path: Path, *, blank_lines: int) -> list[Tweet]:
    """Return the tokens of each tweet, cells split at tabs; *blank_lines* or more stand between two tweets."""
    tweets: list[Tweet] = [[]]
    blank = 0
    for line in places.read_bytes(path).decode().splitlines():
        if not line.strip():
            blank += 1
            continue
        if blank >= blank_lines and tweets[-1]:
            tweets.append([])
        blank = 0
        tweets[-1].append(line.split("\t"))
    return tweets


ENTRY = Entry(
    name="pos",
    title="Part-of-speech tags of tweets",
    summary="Which of twelve parts of speech is a token? 14,439 tokens tagged by 177 annotators, 3,064 more with gold.",
    citation="Hovy, Plank, Søgaard (2014). Experiments with crowdsourced re-annotation of a POS tagging data set. ACL. "
    "Tweets and gold: Gimpel et al. (2011). Part-of-speech tagging for Twitter. ACL.",
    licence="not stated",
    homepage=f"https://github.com/{_REPOSITORY}",
    files=(
        DataFile(
            path="gimpel_crowdsourced-tf.tsv",
            address=github(_REPOSITORY, _COMMIT, "data/POS/gimpel_crowdsourced-tf.tsv"),
            size=3_719_216,
            sha256="5cbf346f9910cc1109eb0e8585ffca9424916e275f0cb5a773d0ae19126f0ae2",
        ),
        DataFile(
            path="lowlands.test.tsv",
            address=github(_REPOSITORY, _COMMIT, "data/POS/lowlands.test.tsv"),
            size=33_099,
            sha256="5960a200a988f036cdb3dc3ae6330af28bddfbc94f4524cb5adba04cb43cfa49",
        ),
    ),
    gives=("annotations", "gold", "texts", "splits"),
    load=load,
)
