"""Public data sets, one file per set, and simulated annotations."""

from __future__ import annotations

__all__ = ["DataFile", "DataSet", "Entry", "Simulation", "entry", "get", "load", "names", "path", "simulate"]

from sfumato.data.dataset import DataFile, DataSet, Entry
from sfumato.data.fetch import get
from sfumato.data.registry import entry, load, names, path
from sfumato.data.simulate import Simulation, simulate
