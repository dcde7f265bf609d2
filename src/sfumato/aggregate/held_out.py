"""How well a view foresees annotations that it has not seen: the measure that needs no gold.

Annotations are left out fold by fold, a part of every item's at a time; each view is made of the rest and asked for
the probability of what was left out. A view that is a model answers with its own states (`Result.latent`). Of any
other, the soft labels q are taken as they are, and the annotator's confusion matrix π is counted under them, with a
prior of two annotations spread as the pooled confusion matrix:

    p(label of annotator j on item i) = Σ_k q_ik π_jk(label)

The weights of views are those of stacking (Yao, Vehtari, Simpson & Gelman 2018, "Using Stacking to Average Bayesian
Predictive Distributions"): the mixture Σ_v w_v p_v that gives the left-out annotations the highest likelihood.
"""

from __future__ import annotations

__all__ = ["HeldOut", "held_out", "stacking_weights"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.answers import in_canonical_order
from sfumato.aggregate.memory import check_memory
from sfumato.aggregate.result import Result
from sfumato.aggregate.views import planned
from sfumato.core.annotations import Annotations
from sfumato.core.seeds import Seed, generator
from sfumato.errors import InputError, OptionError, TooLargeError

Floats = NDArray[np.float64]
Progress = Callable[[int, int | None], None]

# How many annotations the pooled confusion matrix counts for in an annotator's own.
_PRIOR_STRENGTH = 2.0
# Left-out rows are scored so many at a time, which bounds the memory to this many confusion rows.
_SLAB = 1 << 16


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What each view gave to the annotations that it had not seen.

    ``log_probs`` has shape (n_views, n_rows) over the rows of the annotations in canonical order (items and annotators
    by the alphabet), whose weights count each row; ``weights``, shape (n_views,), are those of stacking. ``left_out``
    names the views whose models would not have fitted in the memory.
    """

    names: tuple[str, ...]
    log_probs: Floats
    row_weights: Floats
    item: NDArray[np.int32]
    weights: Floats
    left_out: tuple[str, ...] = ()

    def scores(self) -> Floats:
        """Return the mean log-likelihood per annotation in nats, shape (n_views,); higher is better."""
        result: Floats = self.log_probs @ self.row_weights / self.row_weights.sum()
        return result

    def per_item(self) -> tuple[Floats, Floats]:
        """Return sums of log-likelihood, shape (n_views, n_items), and the number of annotations, (n_items,)."""
        sums = np.array([np.bincount(self.item, weights=row * self.row_weights) for row in self.log_probs])
        return sums.astype(np.float64), np.bincount(self.item, weights=self.row_weights).astype(np.float64)


def held_out(
    annotations: Annotations,
    names: Sequence[str] | Mapping[str, Mapping[str, Any]],
    *,
    folds: int = 4,
    leave_out_too_large: bool = False,
    seed: Seed = 0,
    progress: Progress | None = None,
) -> HeldOut:
    """Return what each of the views *names* gives to annotations that were left out of it.

    *names* as in `sfumato.aggregate.views`. Which annotation falls into which fold depends on the seed and on the
    names of item and annotator, not on the order of the rows. A view that would not fit in the memory is refused, or
    with *leave_out_too_large* left out as long as there is another.
    """
    if folds < 2:
        raise OptionError(f"The option 'folds' must be 2 or more. Got {folds} instead.")
    if annotations.n_annotations < 2:
        raise InputError("Leaving annotations out needs at least two of them.")
    plans = planned(names)
    if not plans:
        raise OptionError("There is no view to score. Name at least one.")
    annotations = in_canonical_order(annotations)
    fold = _folds(annotations, folds, generator(seed))
    row_fold = np.repeat(fold, np.diff(annotations.starts))
    log_probs = {name: np.empty(len(annotations.item)) for name, _, _ in plans}
    left_out: list[str] = []
    for k in range(folds):
        rest, rows = annotations.take_annotations(fold != k), np.flatnonzero(row_fold == k)
        for place, (name, method, options) in enumerate(plans):
            if len(rows) and name in log_probs:
                try:
                    # A generator would move on from fold to fold; a view of a fold is made as that of the whole.
                    result = method(rest, seed=seed if isinstance(seed, int) else 0, **options)
                    log_probs[name][rows] = _log_probs(result, rest, annotations, rows)
                except TooLargeError:
                    if not leave_out_too_large or len(log_probs) == 1:
                        raise
                    del log_probs[name]
                    left_out.append(name)
            if progress is not None:
                progress(k * len(plans) + place + 1, folds * len(plans))
    found = np.array(list(log_probs.values()))
    weights = stacking_weights(found, annotations.weight)
    return HeldOut(tuple(log_probs), found, np.array(annotations.weight), annotations.item, weights, tuple(left_out))


def stacking_weights(log_probs: Floats, row_weights: Floats, *, tolerance: float = 1e-10) -> Floats:
    """Return the weights w ≥ 0, Σ w = 1, that maximise Σ_n r_n log Σ_v w_v p_vn; shape (n_views,).

    The problem is convex; it is climbed by the EM of a mixture with known parts, with every other step taken further
    along the way of the last two (squared extrapolation) where that is still a climb.

    >>> import numpy as np
    >>> stacking_weights(np.log([[0.9, 0.8], [0.1, 0.2]]), np.ones(2)).round(3).tolist()
    [1.0, 0.0]
    """
    probs = np.exp(log_probs - log_probs.max(axis=0))
    share = row_weights / row_weights.sum()
    weights = np.full(len(probs), 1 / len(probs))

    def step(w: Floats) -> Floats:
        return np.asarray(w * (probs @ (share / (w @ probs))))

    def value(w: Floats) -> float:
        return float(share @ np.log(w @ probs))

    for _ in range(2000):
        first = step(weights)
        second = step(first)
        # Optimal where no view would gain: all p_v/mixture average at most 1.
        if np.max(probs @ (share / (second @ probs))) - 1 < tolerance:
            return second
        change, bend = first - weights, second - 2 * first + weights
        length = float(np.sqrt((change @ change) / max(bend @ bend, 1e-300)))
        far = np.maximum(weights + 2 * length * change + length**2 * bend, 0)
        total = far.sum()
        far = far / total if total > 0 else second
        mixed = far @ probs
        good = bool((mixed > 0).all()) and value(far) > value(second)
        weights = step(far) if good else second
    return weights


def _folds(annotations: Annotations, folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the fold of each annotation: within an item all folds in turn, in an order drawn at random."""
    item, annotator = (codes[annotations.starts[:-1]] for codes in (annotations.item, annotations.annotator))
    item_rank, annotator_rank = _ranks(annotations.canonical_items), _ranks(annotations.canonical_annotators)
    canonical = np.lexsort((annotations.label[annotations.starts[:-1]], annotator_rank[annotator], item_rank[item]))
    draw = np.empty(annotations.n_annotations)
    draw[canonical] = rng.random(annotations.n_annotations)
    order = np.lexsort((draw, item))
    within = np.empty(annotations.n_annotations, dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(annotations.per_item())[:-1]])
    within[order] = np.arange(annotations.n_annotations) - first[item[order]]
    # Shifted from item to item, so that items with few annotations fill all folds alike.
    return (within + item_rank[item]) % folds


def _log_probs(result: Result, rest: Annotations, annotations: Annotations, rows: NDArray[np.int64]) -> Floats:
    """Return log p(label) of the left-out *rows* of *annotations*, shape (len(rows),)."""
    annotator, label = annotations.annotator[rows], annotations.label[rows]
    if result.latent is not None:
        states, table = result.latent.states, result.latent.labels.reshape(-1, result.latent.labels.shape[2])
        place = annotator.astype(np.int64) * annotations.n_classes + label
    else:
        shares = result.soft_labels.probs.astype(np.float64, copy=False)
        table, place = _label_table(shares, rest, annotator, label)
        states = shares
    found = np.empty(len(rows))
    for start in range(0, len(rows), _SLAB):
        part = slice(start, start + _SLAB)
        found[part] = np.einsum("ns,ns->n", states[annotations.item[rows[part]]], table[place[part]])
    # Rounding may leave nothing where the model leaves next to nothing.
    return np.log(np.maximum(found, np.finfo(np.float64).tiny))


def _label_table(
    probs: Floats, rest: Annotations, annotator: NDArray[np.int32], label: NDArray[np.int32]
) -> tuple[Floats, NDArray[np.int64]]:
    """Return p(label | class) counted under the soft labels, for each pair of *annotator* and *label* that is asked of.

    The table has shape (n_pairs, n_classes), and with it comes the row of each pair that was given. Pairs that nobody
    asks of take no memory: with very many classes they are nearly all.
    """
    n_classes = np.int64(rest.n_classes)
    pairs, place = np.unique(annotator * n_classes + label, return_inverse=True)
    whose, said = np.divmod(pairs, n_classes)
    check_memory(
        (3 * len(pairs) + rest.n_annotators + rest.n_classes) * rest.n_classes * 8,
        what=f"Scoring views of {rest.n_classes:,} classes on {len(label):,} annotations at a time",
        instead="Leave rare classes out, or score a part of the items.",
    )
    row = np.searchsorted(pairs, rest.annotator * n_classes + rest.label)
    row[pairs[np.minimum(row, len(pairs) - 1)] != rest.annotator * n_classes + rest.label] = len(pairs)
    counts = _summed(row, len(pairs) + 1, probs, rest)[:-1]
    given = _summed(rest.annotator, rest.n_annotators, probs, rest)
    pooled = _summed(rest.label, rest.n_classes, probs, rest) + 1 / rest.n_classes
    pooled *= _PRIOR_STRENGTH / pooled.sum(axis=0)
    counts += pooled[said]
    counts /= (given + _PRIOR_STRENGTH)[whose]
    return counts, place


def _summed(group: NDArray[np.integer[Any]], n_groups: int, probs: Floats, annotations: Annotations) -> Floats:
    """Return the weights of each group of rows times what the soft labels say of their items, (n_groups, n_classes)."""
    from scipy.sparse import csr_array

    shape = (annotations.n_items, n_groups)
    return np.asarray(csr_array((annotations.weight, group, annotations.offsets), shape=shape).T @ probs)


def _ranks(order: NDArray[np.int64]) -> NDArray[np.int64]:
    result = np.empty_like(order)
    result[order] = np.arange(len(order))
    return result
