"""What every join of views needs: the views side by side, over the same items and classes, with weights."""

from __future__ import annotations

__all__ = ["Aligned", "JoinResult", "ViewNames", "Views", "Weights", "aligned", "join_result"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sfumato.aggregate.held_out import held_out
from sfumato.aggregate.result import AnnotatorSkills, Result
from sfumato.aggregate.views import DEFAULT_VIEWS, ViewNames, fitted
from sfumato.core.annotations import Annotations
from sfumato.core.origin import Origin, fingerprint_of
from sfumato.core.seeds import Seed, recorded
from sfumato.core.soft_labels import SoftLabels, fingerprints
from sfumato.core.vocabulary import Vocabulary
from sfumato.errors import InputError, OptionError, check_choice

Views = Sequence[SoftLabels] | Mapping[str, SoftLabels] | Annotations
Weights = Sequence[float] | NDArray[np.floating[Any]] | Literal["held_out"]


@dataclass(frozen=True, eq=False)
class JoinResult(Result):
    """The result of joining views, with what the join did to each of them and on each item.

    ``views`` names them and ``weights``, shape (n_views,), sum to 1. ``temperatures``, shape (n_views,), is there where
    the views were tempered. ``residuals`` and ``steps``, shape (n_items,), are there for the centroid: how far
    each item is at most from its optimality condition, and how many steps it took.
    """

    views: tuple[str, ...] = ()
    weights: NDArray[np.float64] | None = None
    temperatures: NDArray[np.float64] | None = None
    residuals: NDArray[np.float64] | None = None
    steps: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Aligned:
    """Views over the same ``items`` and ``classes``: ``probs`` holds an array (n_items, n_classes) for each."""

    names: tuple[str, ...]
    probs: list[NDArray[np.floating[Any]]]
    weights: NDArray[np.float64]
    items: Vocabulary
    classes: Vocabulary
    annotators: AnnotatorSkills
    fingerprint: str
    origins: Mapping[str, Mapping[str, Any]]
    # By which rule the weights were found, if by one; and what the views say of themselves.
    rule: str = ""
    notes: tuple[str, ...] = ()


def aligned(views: Views, *, names: ViewNames | None, weights: Weights | None, seed: Seed) -> Aligned:
    """Return *views* side by side.

    *views* are soft labels (a list, or a mapping with a name for each) over the same items and classes, in any order:
    that of the first view holds. Or they are annotations, and *names* says which views to make of them (as
    `sfumato.aggregate.views` takes it). *weights* is one number per view; equal weights where it is not given.
    Of annotations, "held_out" gives the weights under which the views best foresee annotations that were left out.
    """
    given: object = views
    if not isinstance(given, Sequence | Mapping | Annotations) or isinstance(given, str):
        raise InputError(
            "A join takes a list of soft labels, a mapping with a name for each, or annotations. "
            f"Got {repr(given) if isinstance(given, str) else type(given).__name__} instead; read files with "
            "sf.SoftLabels.load(…) or sf.read_annotations(…)."
        )
    annotators = AnnotatorSkills((), np.zeros(0, dtype=np.int64))
    notes: tuple[str, ...] = ()
    rule = weights if isinstance(weights, str) else ""
    if isinstance(weights, str):
        weights = _held_out_weights(views, DEFAULT_VIEWS if names is None else names, weights, seed)
    if isinstance(views, Annotations):
        results = fitted(views, DEFAULT_VIEWS if names is None else names, seed=seed)
        made: Mapping[str, SoftLabels] = {name: result.soft_labels for name, result in results.items()}
        # What several views say alike is said once.
        notes = tuple(dict.fromkeys(note for result in results.values() for note in result.notes))
        annotators = AnnotatorSkills(views.annotators, views.per_annotator())
    elif names is not None:
        raise OptionError("The option 'names' says which views to make of annotations; soft labels are views already.")
    else:
        made = views if isinstance(views, Mapping) else _named(views)
    for name, view in made.items():
        if not isinstance(view, SoftLabels):
            raise InputError(f"The view {name!r} must be soft labels. Got {type(view).__name__} instead.")
    if not made:
        raise InputError("There is no view to join. Give at least one.")
    soft = list(made.values())
    fingerprint = views.fingerprint if isinstance(views, Annotations) else fingerprint_of([fingerprints(soft)], [])
    first = soft[0]
    return Aligned(
        names=tuple(made),
        probs=[_in_order(view, name, first) for name, view in made.items()],
        weights=_checked_weights(weights, tuple(made)),
        items=first.items,
        classes=first.classes,
        annotators=annotators,
        fingerprint=fingerprint,
        origins={
            name: {"method": view.origin.method, "options": dict(view.origin.options), "seed": view.origin.seed}
            for name, view in made.items()
        },
        rule=rule,
        notes=notes,
    )


def join_result(
    given: Aligned,
    probs: NDArray[np.float64],
    method: str,
    options: Mapping[str, Any],
    seed: Seed,
    notes: tuple[str, ...] = (),
    **evidence: Any,
) -> JoinResult:
    """Return the result of a join; *probs* is taken over."""
    recipe = {"views": given.origins, "weights": given.weights, **options}
    if given.rule:
        recipe["weighed_by"] = given.rule
    origin = Origin(method, recipe, recorded(seed), given.fingerprint)
    return JoinResult(
        soft_labels=SoftLabels.trusted(probs, given.items, given.classes, origin),
        annotators=given.annotators,
        views=given.names,
        weights=given.weights,
        notes=(*given.notes, *notes),
        **evidence,
    )


def _named(views: Sequence[SoftLabels]) -> dict[str, SoftLabels]:
    """Return the views under the names of their methods, numbered where several have the same."""
    named: dict[str, SoftLabels] = {}
    for place, view in enumerate(views, start=1):
        if not isinstance(view, SoftLabels):
            raise InputError(f"View {place} must be soft labels. Got {type(view).__name__} instead.")
        name, number = view.origin.method, 2
        while name in named:
            name, number = f"{view.origin.method} {number}", number + 1
        named[name] = view
    return named


def _in_order(view: SoftLabels, name: str, first: SoftLabels) -> NDArray[np.floating[Any]]:
    """Return the probabilities of *view* with items and classes in the order of *first*."""
    for own, wanted, what in ((view.items, first.items, "item"), (view.classes, first.classes, "class")):
        if own is wanted or own == wanted:  # tuples look at each name even of themselves
            continue
        odd = sorted(set(own) ^ set(wanted))
        if odd:
            lacking = f"the view {name!r}" if odd[0] in wanted else "the first view"
            raise InputError(f"The views must be of the same {_PLURAL[what]}: {lacking} lacks the {what} {odd[0]!r}.")
    ordered = view if view.classes == first.classes else view.with_classes(first.classes)
    same = view.items is first.items or view.items == first.items
    return ordered.probs if same else ordered.take(first.items).probs


_PLURAL = {"item": "items", "class": "classes"}


def _held_out_weights(views: Views, names: ViewNames, rule: str, seed: Seed) -> NDArray[np.float64]:
    check_choice(rule, ("held_out",), option="weights")
    if not isinstance(views, Annotations):
        raise OptionError(
            "The weights 'held_out' are learnt by leaving annotations out: give the annotations and the names of views."
        )
    return held_out(views, names, seed=seed).weights


def _checked_weights(
    weights: Sequence[float] | NDArray[np.floating[Any]] | None, names: tuple[str, ...]
) -> NDArray[np.float64]:
    if weights is None:
        return np.full(len(names), 1 / len(names))
    wanted = f"The option 'weights' must be one number per view ({', '.join(names)}), none negative, not all 0."
    try:
        given = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(f"{wanted} Got {weights!r} instead.") from None
    if given.shape != (len(names),) or not np.isfinite(given).all() or given.min() < 0 or given.sum() == 0:
        raise OptionError(f"{wanted} Got {weights!r} instead.")
    result: NDArray[np.float64] = given / given.sum()
    return result
