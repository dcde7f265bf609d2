from __future__ import annotations

import inspect
import pickle
from pathlib import Path

import numpy as np
import pytest

import sfumato as sf
from sfumato.aggregate.methods import METHODS
from sfumato.errors import InputError

VOTES = sf.Annotations.from_rows(list("aab"), list("xyx"), list("pqp"))
SOFT = sf.aggregate.standard(VOTES).soft_labels
TAKE_ANNOTATIONS = [
    *(method.function for method in METHODS.values() if method.needs != "views"),
    sf.aggregate.views,
    sf.compare,
    sf.agreement,
    sf.panel_size,
]


@pytest.mark.parametrize("function", TAKE_ANNOTATIONS, ids=lambda function: function.__name__)
def test_a_path_in_the_place_of_annotations_is_told_with_what_reads_it(function):
    more = {"model": SOFT} if function.__name__ == "with_model" else {}
    said = rf"^{function.__name__} takes annotations\. Got 'votes\.csv'; give sf\.read_annotations\('votes\.csv'\)\.$"
    with pytest.raises(InputError, match=said):
        function("votes.csv", **more)
    with pytest.raises(InputError, match=said):
        function(annotations=Path("votes.csv"), **more)
    with pytest.raises(InputError, match=r"Got ndarray; give sf\.read_annotations\(…\)\.$"):
        function(np.zeros(3), **more)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: sf.compare(VOTES, gold="g.csv"), "compare takes gold. Got 'g.csv'; give sf.read_gold('g.csv')."),
        (lambda: sf.agreement(VOTES, gold={"a": "p"}), "agreement takes gold. Got dict; give sf.read_gold(…)."),
        (lambda: sf.aggregate.with_model(VOTES, "m.csv"), "Got 'm.csv'; give sf.SoftLabels.load('m.csv')."),
        (
            lambda: sf.aggregate.with_model(VOTES, VOTES),
            "takes soft labels. Got annotations; give soft labels instead.",
        ),
        (lambda: sf.aggregate.majority(SOFT), "majority takes annotations. Got soft labels; give annotations instead."),
        (lambda: sf.data.simulate(truth="t.csv"), "simulate takes soft labels. Got 't.csv'; give sf.SoftLabels.load("),
        (lambda: sf.aggregate.centroid("votes.csv"), "A join takes a list of soft labels"),
        (lambda: sf.aggregate.centroid(SOFT), "Got SoftLabels instead"),
        (lambda: sf.aggregate.centroid(3), "Got int instead"),
    ],
)
def test_other_tables_are_told_apart(call, said):
    with pytest.raises(InputError) as caught:
        call()
    assert said in str(caught.value)


def test_nothing_may_be_given_where_nothing_is_taken():
    assert len(sf.compare(VOTES, ["standard", "wawa"], gold=None, folds=2, resamples=2).numbers) > 0


def test_the_door_hides_nothing_of_the_function():
    assert list(inspect.signature(sf.aggregate.wawa).parameters) == ["annotations", "ties", "seed"]
    assert pickle.loads(pickle.dumps(sf.aggregate.mace)) is sf.aggregate.mace


def test_a_warning_points_to_who_called():
    for method in ("dawid_skene", "glad", "bwa", "zero_based_skill"):
        votes = sf.data.simulate(n_items=30, n_annotators=5, per_item=3, seed=1).annotations
        with pytest.warns(sf.errors.ConvergenceWarning) as caught:
            getattr(sf.aggregate, method)(votes, max_iter=1)
        assert caught[0].filename == __file__, method
