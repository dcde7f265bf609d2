"""What becomes of the mass that an answer leaves open, as the study declares it in ``[redistribute]``."""

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
    """The rule (`sfumato.core.responses.distribution`): which statements count, and where the open mass goes."""

    rule: Literal["clamp", "uniform"] = "clamp"
    use: Literal["T1", "T2"] = "T2"
    gamma: float = 0.1

    def __post_init__(self) -> None:
        check_choice(self.rule, ("clamp", "uniform"), option="redistribute.rule")
        check_choice(self.use, ("T1", "T2"), option="redistribute.use")
        if not 0 <= self.gamma < 1:
            raise OptionError(f"redistribute.gamma must be at least 0 and below 1. Got {self.gamma} instead.")

    def label(self, response: Response, classes: tuple[str, ...], *, as_published: bool = False) -> NDArray[np.float64]:
        """Return the soft label of a response, shape (n_classes,).

        T1, T2 and γ are about answers that name one or two classes with a probability. One class (`hard`), a
        histogram (`chips`) and numbers for all classes (`sliders`) are taken as they were said.
        """
        from sfumato.core.responses import distribution

        named = response.mode in ("top1", "top2")
        return distribution(
            response, classes, use=self.use if named else "all", redistribute=self.rule,
            gamma=self.gamma if named else 0.0, as_published=as_published,
        )  # fmt: skip


def redistribution_of(study: Study, **changed: Any) -> Redistribution:
    """Return the rule of a study, with what is *changed* for one export; None leaves a setting as it is.

    >>> from sfumato.collect.study import StudyClass
    >>> study = Study(title="Animals", classes=(StudyClass(name="deer"), StudyClass(name="horse")))
    >>> redistribution_of(study, gamma=0.0)
    Redistribution(rule='clamp', use='T2', gamma=0.0)
    """
    rule = declared(Redistribution(), study.redistribute, table="redistribute")
    return replace(rule, **{name: value for name, value in changed.items() if value is not None})
