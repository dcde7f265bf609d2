"""A server that waits holds nothing in memory that it does not need: no arrays, no tables, no library of pictures."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason='needs the extra "collect"')

# Megabytes differ between machines; what makes them is which modules there are.
_HEAVY = ("numpy", "scipy", "polars", "PIL", "matplotlib", "torch", "sklearn", "pandas", "pyarrow")
_SERVE = """
import json, os, signal, sys
from pathlib import Path
from sfumato.collect.server import serve
from sfumato.collect.study_file import read_study

def announce(addresses):
    print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})), flush=True)
    os.kill(os.getpid(), signal.SIGTERM)

serve(read_study(Path(sys.argv[1])), port=0, announce=announce)
"""


def test_a_picture_study_that_waits_loads_no_heavy_module(tmp_path: Path) -> None:
    (tmp_path / "items").mkdir()
    for name in ("a.png", "b.png"):
        (tmp_path / "items" / name).write_bytes(b"a picture")
    (tmp_path / "study.toml").write_text('[study]\ntitle = "Animals"\nclasses = ["deer", "dog"]\n', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", _SERVE, str(tmp_path)], capture_output=True, text=True, check=True, timeout=120
    )
    loaded = json.loads(done.stdout)
    assert "starlette" in loaded
    assert [name for name in _HEAVY if name in loaded] == []
