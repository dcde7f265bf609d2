"""What a soft label takes of an answer, and what becomes of the mass that is left open: ``[redistribute]``."""

from __future__ import annotations

__all__ = ["Redistribution", "redistribution_of"]

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from sfumato.collect.declared import declared
from sfumato.collect.study import Study
from sfumato.errors import OptionError, check_choice

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sfumato.core.responses import Response


@dataclass(frozen=True, slots=True, kw_only=True)
class Redistribution:
    """The rule (`sfumato.core.responses.distribution`): which statements count, and where the open mass goes.

    *use* T1 takes the first class and its probability, T2 the first two. ``top1`` and ``top2`` take the choice alone:
    all mass on the first class, or the same mass on each of the first two, as if no probability had been asked for.
    """

    rule: Literal["clamp", "uniform"] = "clamp"
    use: Literal["T1", "T2", "top1", "top2"] = "T2"
    gamma: float = 0.1

    def __post_init__(self) -> None:
        check_choice(self.rule, ("clamp", "uniform"), option="redistribute.rule")
        check_choice(self.use, ("T1", "T2", "top1", "top2"), option="redistribute.use")
        if not 0 <= self.gamma < 1:
            raise OptionError(f"redistribute.gamma must be at least 0 and below 1. Got {self.gamma} instead.")

    def label(self, response: Response, classes: tuple[str, ...], *, as_published: bool = False) -> NDArray[np.float64]:
        """Return the soft label of a response, shape (n_classes,).

        T1, T2 and γ are about answers that name one or two classes with a probability. One class (`hard`), a
        histogram (`chips`) and numbers for all classes (`sliders`) are taken as they were said.
        """
        from sfumato.core.responses import distribution

        if self.use == "top1" or self.use == "top2":
            return _chosen(response, classes, most=1 if self.use == "top1" else 2)
        named = response.mode in ("top1", "top2")
        return distribution(
            response, classes, use=self.use if named else "all", redistribute=self.rule,
            gamma=self.gamma if named else 0.0, as_published=as_published,
        )  # fmt: skip


def _chosen(response: Response, classes: tuple[str, ...], *, most: int) -> NDArray[np.float64]:
    """Return equal mass on the first classes of a response; where more of them share a place, on all of these."""
    import numpy as np

    percents = [percent for _, percent in response.stated]
    if response.mode in ("top1", "top2"):
        names = {name for name, _ in response.stated[:most]}
    else:
        least = sorted(percents, reverse=True)[:most][-1]
        names = {name for name, percent in response.stated if percent >= least and percent > 0}
    label = np.array([name in names for name in classes], dtype=np.float64)
    result: NDArray[np.float64] = label / label.sum()
    return result


def redistribution_of(study: Study, **changed: Any) -> Redistribution:
    """Return the rule of a study, with what is *changed* for one export; None leaves a setting as it is.

    >>> from sfumato.collect.study import StudyClass
    >>> study = Study(title="Animals", classes=(StudyClass(name="deer"), StudyClass(name="horse")))
    >>> redistribution_of(study, gamma=0.0)
    Redistribution(rule='clamp', use='T2', gamma=0.0)
    """
    rule = declared(Redistribution(), study.redistribute, table="redistribute")
    return replace(rule, **{name: value for name, value in changed.items() if value is not None})
