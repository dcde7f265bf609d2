"""A study in a folder, and its server in a process of its own."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

_PROGRAM = """
import sys
from pathlib import Path
from sfumato.collect.limits import Limits
from sfumato.collect.server import serve
from sfumato.collect.study_file import read_study
many = (1e6, 1_000_000)
serve(
    read_study(Path(sys.argv[1])), port=int(sys.argv[2]), limits=Limits(many, many, many, many),
    announce=lambda told: print(told.study, told.admin, flush=True),
)
"""


def make_study(folder: Path, *, n_items: int, size: int, panel: int, more: str = "") -> None:
    """Write a study of *n_items* short texts in four classes."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = "".join(f"item-{n},This is text number {n}.\n" for n in range(n_items))
    (folder / "items.csv").write_text(f"item,text\n{rows}", encoding="utf-8")
    (folder / "study.toml").write_text(
        f"""[study]
title = "Load"
classes = ["deer", "horse", "dog", "ship"]
[items]
source = "items.csv"
[batches]
size = {size}
panel = {panel}
{more}
""",
        encoding="utf-8",
    )


class Served:
    """A server that runs until it is stopped or killed."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(folder), str(port)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.search(r"http://([\d.]+):(\d+)/", line)
        assert found is not None, f"the server did not start: {line!r}, code {self.process.poll()}"
        self.host, self.port = found[1], int(found[2])
        self.admin = line.split()[1]

    def kill(self) -> None:
        """End it as a power cut would."""
        self.process.kill()
        self._gone()

    def stop(self) -> int:
        """End it as an administrator would, and return its exit code."""
        self.process.terminate()
        return self._gone()

    def _gone(self) -> int:
        code = self.process.wait(timeout=30)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code
