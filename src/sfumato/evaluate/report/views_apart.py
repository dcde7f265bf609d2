"""How far several views of the same items are apart (Wright et al. 2024, figure 4), and where most."""

from __future__ import annotations

__all__ = ["divergences", "views_apart"]

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from sfumato.core.alphabetical import alphabetical
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import InputError
from sfumato.evaluate.jensen_shannon import jensen_shannon_divergence_per_item
from sfumato.evaluate.pairing import aligned
from sfumato.evaluate.report import figures
from sfumato.evaluate.report.figure import Figure, Panel
from sfumato.evaluate.report.page import Section

# A bar per view is no longer read beyond that.
_BARS = 8


def divergences(views: Mapping[str, SoftLabels]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean Jensen–Shannon divergence between every two views, and of each item the mean over the pairs.

    Shapes (n_views, n_views), in nats, and (n_items,) in the order of the items of the first view.

    >>> a = SoftLabels([[1.0, 0.0]], items=["i"], classes=["x", "y"])
    >>> b = SoftLabels([[0.0, 1.0]], items=["i"], classes=["x", "y"])
    >>> divergences({"a": a, "b": b})[0].round(3).tolist()
    [[0.0, 0.693], [0.693, 0.0]]
    """
    if len(views) < 2:
        raise InputError(f"Two views are needed to see how far they are apart. Got {len(views)}.")
    tables = [aligned(next(iter(views.values())), view)[1] for view in views.values()]
    between = np.zeros((len(tables), len(tables)))
    of_items = np.zeros(tables[0].n_items)
    for a in range(len(tables)):
        for b in range(a + 1, len(tables)):
            each = jensen_shannon_divergence_per_item(tables[a], tables[b])
            between[a, b] = between[b, a] = each.mean()
            of_items += each
    return between, of_items / (len(tables) * (len(tables) - 1) / 2)


def views_apart(
    views: Mapping[str, SoftLabels], *, most: int = 8, heading: str = "How far the views are apart"
) -> list[Section]:
    """Return the sections that show the divergences of *views*: all pairs, and the *most* items that split them."""
    between, of_items = divergences(views)
    first = next(iter(views.values()))
    heat = figures.heat_map(
        between, list(views), name="views", title="Jensen–Shannon divergence",
        caption="Mean over items, in nats: 0 where two say the same, 0.693 where they share nothing.",
    )  # fmt: skip
    shown = dict(list(views.items())[:_BARS])
    text = "Each square compares two of them, item by item; the stronger the colour, the further apart."
    return [
        Section(heading, text, (heat,)),
        Section(
            "The items that split them",
            f"The {min(most, first.n_items)} items with the largest mean divergence between them.",
            (_split(first, shown, of_items, most),),
        ),
    ]


def _split(first: SoftLabels, views: Mapping[str, SoftLabels], of_items: NDArray[np.float64], most: int) -> Figure:
    names = alphabetical(first.items)
    worst: Sequence[int] = names[np.argsort(-of_items[names], kind="stable")][:most].tolist()
    tables = {name: view.with_classes(first.classes) for name, view in views.items()}
    panels = [
        Panel(f"{item} · {value:.3f}", [(name, view[item]) for name, view in tables.items()])
        for item, value in ((first.items[row], of_items[row]) for row in worst)
    ]
    return figures.distributions(
        panels, first.classes, name="split", title="Items that split the views",
        caption="The item, and its mean divergence in nats. Each bar is one distribution over the classes.",
    )  # fmt: skip
