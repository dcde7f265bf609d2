"""The version of this package, in one place that imports nothing heavy."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
