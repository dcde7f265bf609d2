"""Objectives that learn from raw annotations: who said what of which item."""

from __future__ import annotations

__all__ = ["CROWD_OBJECTIVES"]

from collections.abc import Mapping

from sfumato.train.objective import Objective

CROWD_OBJECTIVES: Mapping[str, type[Objective]] = {}
