"""A figure: a drawing, or several side by side, with the words that go with it."""

from __future__ import annotations

__all__ = ["Figure", "Panel", "in_words"]

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.evaluate.report.drawing import WIDE, Drawing, below_each_other, svg


@dataclass(frozen=True, slots=True)
class Figure:
    """Drawings with a title and a caption; ``name`` is what a file of it is called, without the ending."""

    name: str
    title: str
    caption: str
    drawings: tuple[Drawing, ...]

    @property
    def html(self) -> str:
        """The figure for a page, its drawings side by side where there is room."""
        drawn = "".join(f"<div{_scrolling(drawing)}>{svg(drawing)}</div>" for drawing in self.drawings)
        body = f'<div class="pair">{drawn}</div>' if len(self.drawings) > 1 else drawn
        said = self.title if self.title.endswith(("?", ".", "!")) else f"{self.title}."
        return f"<figure>{body}<figcaption>{html.escape(said)} {html.escape(self.caption)}</figcaption></figure>"

    @property
    def whole(self) -> Drawing:
        """The figure as one drawing, for a file."""
        return self.drawings[0] if len(self.drawings) == 1 else below_each_other(self.drawings, title=self.title)

    def _repr_html_(self) -> str:
        return svg(self.whole, alone=True)


def _scrolling(drawing: Drawing) -> str:
    """Return what makes the place of a wide drawing scroll, with a keyboard too."""
    if drawing.width <= WIDE:
        return ""
    return f' class="scroll" role="region" aria-label="{html.escape(drawing.title)}, drawn" tabindex="0"'


@dataclass(frozen=True, slots=True)
class Panel:
    """One item of a figure: a caption, rows of (name, distribution over the classes), and a picture if there is one."""

    caption: str
    rows: Sequence[tuple[str, NDArray[np.floating[Any]]]]
    picture: str | None = None


def in_words(probs: NDArray[np.floating[Any]], classes: Sequence[str]) -> str:
    """Return a distribution as a person would read it out: the four largest shares.

    >>> in_words(np.array([0.25, 0.75]), ["cat", "dog"])
    'dog 75%, cat 25%'
    """
    largest = np.argsort(-probs, kind="stable")[:4]
    return ", ".join(f"{classes[k]} {probs[k]:.0%}" for k in largest if probs[k] >= 0.005)
