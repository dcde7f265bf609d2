"""The load of these tests is a module of its own, which the benchmark uses as well."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
