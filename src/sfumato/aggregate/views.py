"""Views: the soft labels that several methods make of the same annotations."""

from __future__ import annotations

__all__ = ["DEFAULT_VIEWS", "ViewNames", "fitted", "planned", "views"]

from collections.abc import Mapping, Sequence
from typing import Any

from sfumato.aggregate.methods import VIEWS, Method
from sfumato.aggregate.result import Result
from sfumato.core.annotations import Annotations
from sfumato.core.arguments import checked_arguments
from sfumato.core.seeds import Seed
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import OptionError, check_choice

ViewNames = Sequence[str] | Mapping[str, Mapping[str, Any]]

# The four views of Wright and Augenstein (2024).
DEFAULT_VIEWS = ("standard", "softmax", "dawid_skene", "mace")


@checked_arguments
def views(annotations: Annotations, names: ViewNames = DEFAULT_VIEWS, *, seed: Seed = 0) -> dict[str, SoftLabels]:
    """Return the soft labels of each of the methods *names*, under its name, in the order given.

    *names* is a list of methods, or a mapping from names of views to their options; the option ``method`` names the
    method where it is not the view's own name, so that one method can give several views. A whole number as *seed* is
    the seed of each of them: a view has the same bits whatever stands beside it.

    >>> votes = Annotations.from_rows("aab", ["ann", "bob", "ann"], ["no", "yes", "yes"])
    >>> list(views(votes, ["standard", "softmax"]))
    ['standard', 'softmax']
    >>> shared = views(votes, {"standard": {}, "shared": {"method": "majority", "ties": "share"}})["shared"]
    >>> shared["a"].tolist()
    [0.5, 0.5]
    """
    return {name: result.soft_labels for name, result in fitted(annotations, names, seed=seed).items()}


@checked_arguments
def fitted(annotations: Annotations, names: ViewNames = DEFAULT_VIEWS, *, seed: Seed = 0) -> dict[str, Result]:
    """Return the whole result of each of the methods *names*, as `views` returns their soft labels."""
    # All names are looked at before the first method runs, which may take its time.
    return {name: method(annotations, seed=seed, **options) for name, method, options in planned(names)}


def planned(names: ViewNames) -> list[tuple[str, Method, dict[str, Any]]]:
    """Return the name, the method and the options of each view that *names* asks for."""
    if isinstance(names, str):
        raise OptionError(f"The names of views must be a list. Got the one text {names!r} instead.")
    if not isinstance(names, Sequence | Mapping):
        raise OptionError(f"The names of views must be a list. Got {names!r} instead.")
    chosen = dict(names) if isinstance(names, Mapping) else {name: {} for name in names}
    if len(chosen) < len(names):
        raise OptionError(f"A view is named twice in {', '.join(names)}. Name each once.")
    plans = []
    for name, given in chosen.items():
        options = dict(given)
        method = check_choice(options.pop("method", name), VIEWS, option="names")
        plans.append((name, VIEWS[method], options))
    return plans
