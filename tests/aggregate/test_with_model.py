"""The join with a classifier against loops over CROWDLAB's formulas, and figures of cleanlab."""

from __future__ import annotations

import numpy as np
import pytest

from sfumato.aggregate.with_model import with_model
from sfumato.core.annotations import Annotations
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError, OptionError

# Rows are items, columns annotators, −1 is no vote; and what a classifier says of the items.
VOTES = np.array(
    [[0, 0, 1, -1], [1, 1, -1, 1], [2, -1, 2, 0], [-1, 1, 1, 1], [0, 2, -1, 0], [-1, -1, 2, -1], [1, 0, 1, -1],
     [-1, 2, 2, 2]]
)  # fmt: skip
MODEL = np.array(
    [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.3, 0.6, 0.1], [0.5, 0.1, 0.4], [0.1, 0.3, 0.6],
     [0.5, 0.4, 0.1], [0.25, 0.25, 0.5]]
)  # fmt: skip
# cleanlab 2.9.0, get_label_quality_multiannotator(VOTES, MODEL): each item's mass at its first vote, the annotators'
# quality.
CLEANLAB_FIRST = [
    0.6437668824171557, 0.8043503049794385, 0.5508147098934497, 0.6957067095476479, 0.556891936633494,
    0.6407175917542333, 0.47716688786939937, 0.6413849118317526,
]  # fmt: skip
CLEANLAB_QUALITY = [0.7744174399420121, 0.6241657339101138, 0.653204304001253, 0.6848683816361313]


def annotations_of(table: np.ndarray, n_classes: int) -> Annotations:
    item, annotator = np.nonzero(table >= 0)
    return Annotations.from_codes(
        item, annotator, table[item, annotator], items=[f"i{i:03}" for i in range(len(table))],
        annotators=[f"a{j}" for j in range(table.shape[1])], classes=[str(k) for k in range(n_classes)],
    )  # fmt: skip


def model_of(probs: np.ndarray, votes: Annotations) -> SoftLabels:
    return SoftLabels(probs, items=votes.items, classes=votes.classes)


def drawn(seed: int, n_items: int = 60, n_annotators: int = 7, n_classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n_items)
    table = np.full((n_items, n_annotators), -1)
    for i in range(n_items):
        for j in rng.choice(n_annotators, rng.integers(1, n_annotators), replace=False):
            table[i, j] = truth[i] if rng.random() < 0.9 - 0.1 * j else rng.integers(n_classes)
    probs = rng.dirichlet(np.ones(n_classes), n_items) + np.eye(n_classes)[truth] * (rng.random(n_items) < 0.8)[:, None]
    return table, probs / probs.sum(axis=1, keepdims=True)


def slow_crowdlab(votes: Annotations, p: np.ndarray, passes: int) -> tuple[np.ndarray, np.ndarray]:
    """Soft labels after *passes* and ratings after two, from the formulas; no tied majority."""
    n, n_classes = p.shape
    said: list[tuple[int, int, np.ndarray]] = []
    for start, stop in zip(votes.starts[:-1], votes.starts[1:], strict=True):
        y = np.zeros(n_classes)
        y[votes.label[start:stop]] = votes.weight[start:stop]
        said.append((int(votes.item[start]), int(votes.annotator[start]), y))
    panel = [sum(1 for i, _, _ in said if i == item) for item in range(n)]
    several = [item for item in range(n) if panel[item] > 1]
    s = []
    for who in range(votes.n_annotators):
        met = [(y, other) for i, j, y in said if j == who for i2, j2, other in said if i2 == i and j2 != who]
        s.append(np.mean([y @ other for y, other in met]))
    consensus = votes.counts().argmax(axis=1)
    soft = []
    for _ in range(2):
        agreed = [np.mean([y[consensus[item]] for i, _, y in said if i == item]) for item in several]
        right = np.mean(agreed)
        most = np.bincount(consensus[several]).argmax()
        error = max(1e-6, np.mean([consensus[item] != most for item in several]))
        w = [max(1e-6, 1 - (1 - agreement) / error) for agreement in s]
        model_error = np.mean([p[item].argmax() != consensus[item] for item in several])
        w_model = max(1e-6, 1 - model_error / error) * np.sqrt(np.mean(panel))
        joined = w_model * p
        total = np.full(n, w_model)
        for i, j, y in said:
            joined[i] += w[j] * (y * right + (1 - y) * (1 - right) / (n_classes - 1))
            total[i] += w[j]
        joined /= total[:, None]
        soft.append(joined)
        used, consensus = consensus, joined.argmax(axis=1)
    share = w_model / (w_model + np.mean(panel) / len(w) * sum(w))
    rating = [
        share * np.mean([y @ joined[i] for i, j, y in said if j == who])
        + (1 - share) * np.mean([y[used[i]] for i, j, y in said if j == who and panel[i] > 1])
        for who in range(votes.n_annotators)
    ]
    return soft[passes - 1], np.array(rating)


def test_figures_of_cleanlab() -> None:
    votes = annotations_of(VOTES, 3)
    result = with_model(votes, model_of(MODEL, votes), passes=2)
    first = [row[row >= 0][0] for row in VOTES]
    np.testing.assert_allclose(result.soft_labels.probs[range(8), first], CLEANLAB_FIRST, rtol=1e-12)
    np.testing.assert_allclose(result.annotators.competence, CLEANLAB_QUALITY, rtol=1e-12)
    np.testing.assert_allclose(result.soft_labels.probs.sum(axis=1), 1, rtol=1e-12)


def test_by_hand() -> None:
    # Ŷ = no, yes, yes, no (the model breaks the tie of b). P = (1 + ½ + 1 + 1)/4 = 7/8, E = ½, s = ¾ and so w = ½;
    # the model makes no error: w_M = √2. For b: (√2·0.8 + ½·7/8 + ½·1/8) / (√2 + 1).
    votes = Annotations.from_rows("aabbccdd", "xyxyxyxy", ["no", "no", "no", "yes", "yes", "yes", "no", "no"])
    model = SoftLabels([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7], [0.8, 0.2]], items=list("abcd"), classes=["no", "yes"])
    result = with_model(votes, model)
    root = np.sqrt(2)
    assert result.soft_labels["b"][1] == pytest.approx((0.8 * root + 0.5) / (root + 1), rel=1e-12)
    assert result.soft_labels["a"][0] == pytest.approx((0.9 * root + 7 / 8) / (root + 1), rel=1e-12)
    assert result.notes == ("The model weighs as much as 2.83 average annotations.",)


@pytest.mark.parametrize("seed", [1, 2, 5])
def test_the_loops_give_the_same(seed: int) -> None:
    table, probs = drawn(seed)
    votes = annotations_of(table, 4)
    # A third vote of a fixed annotator decides what would be tied.
    counts = votes.counts()
    tied = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1
    table, probs = table[~tied], probs[~tied]
    votes = annotations_of(table, 4)
    model = model_of(probs, votes)
    for passes in (1, 2):
        soft, rating = slow_crowdlab(votes, probs, passes)
        result = with_model(votes, model, passes=passes)
        np.testing.assert_allclose(result.soft_labels.probs, soft, rtol=1e-12)
        np.testing.assert_allclose(result.annotators.competence, rating, rtol=1e-12)
        assert (result.n_iter, result.soft_labels.origin.options["passes"]) == (passes, passes)
    with pytest.raises(OptionError, match="'passes' must be 1 or 2"):
        with_model(votes, model, passes=3)


def test_distributions_agree_by_their_products() -> None:
    rng = np.random.default_rng(8)
    pairs = [(i, j) for i in range(20) for j in range(4) if rng.random() < 0.8 or j == i % 4]
    spread = rng.dirichlet([0.5, 0.5, 0.5], len(pairs))
    item, annotator = (np.repeat([pair[side] for pair in pairs], 3) for side in (0, 1))
    votes = Annotations.from_codes(
        item, annotator, np.tile(np.arange(3), len(pairs)), weight=spread.ravel(),
        items=[f"i{i:02}" for i in range(20)], annotators=[f"a{j}" for j in range(4)], classes=["0", "1", "2"],
    )  # fmt: skip
    probs = rng.dirichlet([0.5, 0.5, 0.5], 20)
    soft, rating = slow_crowdlab(votes, probs, 1)
    result = with_model(votes, model_of(probs, votes))
    np.testing.assert_allclose(result.soft_labels.probs, soft, rtol=1e-9)
    np.testing.assert_allclose(result.annotators.competence, rating, rtol=1e-9)


def test_the_model_is_aligned_by_names_and_may_know_more() -> None:
    votes = annotations_of(VOTES, 3)
    expected = with_model(votes, model_of(MODEL, votes))
    order, columns = [7, 3, 0, 1, 6, 2, 5, 4], [2, 0, 1]
    known = SoftLabels(
        np.vstack([MODEL[order][:, columns], [[1, 0, 0]]]), items=[*(votes.items[i] for i in order), "unasked"],
        classes=[votes.classes[k] for k in columns],
    )  # fmt: skip
    result = with_model(votes, known)
    np.testing.assert_array_equal(result.soft_labels.probs, expected.soft_labels.probs)
    assert any("Left out: 1 item that the model knows" in note for note in result.notes)
    with pytest.raises(
        InputError, match=r"probabilities lack the item 'i000' and 5 more, which the annotations have\."
    ):
        with_model(votes, known.take(known.items[:2]))
    with pytest.raises(InputError, match="probabilities lack the class"):
        with_model(votes, SoftLabels(np.full((8, 2), 0.5), items=votes.items, classes=votes.classes[:2]))
    more = SoftLabels(np.full((8, 4), 0.25), items=votes.items, classes=[*votes.classes, "new"])
    with pytest.raises(InputError, match="probabilities have the class 'new', which the annotations do not"):
        with_model(votes, more)
    with pytest.raises(InputError, match="lack the class '3'"):
        with_model(annotations_of(VOTES, 4), known)


def test_ties_go_to_the_model_then_to_the_rarer_class_then_to_the_first() -> None:
    # With a model that is unsure of everything "tied" goes to the rarer class "1"; with one that is sure, to "0".
    rows = [("tied", "x", "0"), ("tied", "y", "1")] + [(f"{i}", who, "0") for i in range(6) for who in "xy"]
    rows += [(f"n{i}", who, "1") for i in range(3) for who in "xy"]
    votes = Annotations.from_rows(*zip(*rows, strict=True))
    right, error = 19 / 20, 4 / 10

    def expected(w_model: float, p: np.ndarray) -> np.ndarray:
        w = 1 - (1 / 10) / error
        return np.asarray((w_model * p + w * np.array([1.0, 1.0]) * (right + 1 - right)) / (w_model + 2 * w))

    unsure = model_of(np.full((10, 2), 0.5), votes)
    # The model's argmax is the first class, wrong for the three "1" and for "tied" with the majority "1": 4/10 = E.
    np.testing.assert_allclose(with_model(votes, unsure).soft_labels["tied"], expected(1e-6, np.full(2, 0.5)))
    sure = np.where(votes.counts().argmax(axis=1)[:, None] == [[0, 1]], 0.9, 0.1)
    error = 3 / 10
    np.testing.assert_allclose(
        with_model(votes, model_of(sure, votes)).soft_labels["tied"], expected(np.sqrt(2), np.array([0.9, 0.1]))
    )


def test_bits_do_not_depend_on_the_order_of_rows_and_classes_can_be_permuted() -> None:
    table, probs = drawn(4)
    votes = annotations_of(table, 4)
    model = model_of(probs, votes)
    codes = zip(votes.item, votes.annotator, votes.label, strict=True)
    names = [(votes.items[i], votes.annotators[j], votes.classes[k]) for i, j, k in codes]
    order = np.random.default_rng(0).permutation(len(names))
    shuffled = Annotations.from_rows(*zip(*(names[o] for o in order), strict=True), classes=votes.classes)
    expected = with_model(votes, model).soft_labels
    np.testing.assert_array_equal(with_model(shuffled, model).soft_labels.take(votes.items).probs, expected.probs)
    permuted = Annotations.from_rows(*zip(*names, strict=True), classes=["2", "0", "3", "1"])
    np.testing.assert_allclose(
        with_model(permuted, model).soft_labels.with_classes(votes.classes).probs, expected.probs, rtol=1e-12
    )


def test_without_any_shared_item_all_count_alike() -> None:
    votes = Annotations.from_rows("abcd", "xyxy", "0010", classes=["0", "1"])
    model = SoftLabels([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.6, 0.4]], items=votes.items, classes=votes.classes)
    # The model agrees with three of four: P = s = ¾, E = ¼, so 1 − (¼)/(¼) falls to the least weight for everybody.
    result = with_model(votes, model)
    np.testing.assert_allclose(result.soft_labels["b"], [(0.3 + 0.75) / 2, (0.7 + 0.25) / 2])
    assert any("agreement among annotators is unknown" in note for note in result.notes)
    twice = Annotations.from_rows("aab", "xxy", "010", classes=["0", "1"])
    again = with_model(twice, SoftLabels([[0.9, 0.1], [0.8, 0.2]], items=twice.items, classes=twice.classes))
    assert any("agreement among annotators is unknown" in note for note in again.notes)


def test_nobody_agrees_with_themselves() -> None:
    # y, who repeats itself on "a", agrees with x on one item of two; x met y's two votes on "a" and one on "b".
    once = Annotations.from_rows("aabbcc", "xyxyxy", "001100", classes=["0", "1"])
    model = SoftLabels([[0.9, 0.1], [0.3, 0.7], [0.6, 0.4]], items=once.items, classes=once.classes)
    twice = Annotations.from_rows("aaabbcc", "xyyxyxy", "0011100", classes=["0", "1"])
    result = with_model(twice, model)
    s, error = 3 / 4, 1 / 3
    w, right = 1 - (1 - s) / error, (2 / 3 + 1 + 1) / 3
    w_model = np.sqrt(7 / 3)
    expected = (w_model * 0.7 + 2 * w * right) / (w_model + 2 * w)
    assert result.soft_labels["b"][1] == pytest.approx(expected, rel=1e-12)


def test_what_was_never_seen_gets_the_model() -> None:
    votes = Annotations.from_codes(
        [0, 0, 2, 2], [0, 1, 0, 1], [0, 0, 1, 1], items=["a", "silent", "c"], annotators=["x", "y", "mute"],
        classes=["0", "1"],
    )  # fmt: skip
    result = with_model(votes, model_of(np.array([[0.6, 0.4], [0.9, 0.1], [0.2, 0.8]]), votes))
    np.testing.assert_array_equal(result.soft_labels["silent"], [0.9, 0.1])
    assert result.annotators.competence is not None
    assert np.isnan(result.annotators.competence[2])
    assert any("Without an annotation: 1 of 3 items" in note for note in result.notes)
    empty = Annotations.from_codes(
        np.zeros(0, int), np.zeros(0, int), np.zeros(0, int), items=["a"], annotators=["x"], classes=["0", "1"]
    )
    np.testing.assert_array_equal(
        with_model(empty, model_of(np.array([[0.3, 0.7]]), empty)).soft_labels.probs, [[0.3, 0.7]]
    )


def test_a_hundred_thousand_annotators_of_one_item() -> None:
    n = 100_000
    votes = Annotations.from_codes(
        np.zeros(n, dtype=int), np.arange(n), (np.arange(n) % 5 == 0).astype(int), items=["a"],
        annotators=[f"{j:06}" for j in range(n)], classes=["no", "yes"],
    )  # fmt: skip
    result = with_model(votes, model_of(np.array([[0.4, 0.6]]), votes))
    # There is one item, so E falls to its least, w with it to 1e-6, and w_M to 1e-6·√100,000.
    w_model = 1e-6 * np.sqrt(n)
    no = (w_model * 0.4 + 1e-6 * n * (0.8 * 0.8 + 0.2 * 0.2)) / (w_model + 1e-6 * n)
    np.testing.assert_allclose(result.soft_labels.probs, [[no, 1 - no]], rtol=1e-9)


def test_the_origin_names_the_model() -> None:
    votes = annotations_of(VOTES, 3)
    model = model_of(MODEL, votes)
    origin = with_model(votes, model, seed=3).soft_labels.origin
    assert (origin.method, origin.seed, origin.fingerprint) == ("with_model", 3, votes.fingerprint)
    assert origin.options["model"] == model.fingerprint
