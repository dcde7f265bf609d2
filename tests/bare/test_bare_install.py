"""A bare install reads votes and aggregates them; a missing extra is one sentence with the command that adds it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# Nothing but what the requirements of a bare install bring may be imported: everything else is not there.
BARE = """
import sys, sysconfig
from importlib.metadata import distribution, packages_distributions, requires
from importlib.abc import MetaPathFinder

def bare(name, seen):
    if name.lower() in seen:
        return
    seen.add(name.lower())
    for line in requires(name) or []:
        requirement, _, marker = line.partition(";")
        if "extra" not in marker:
            plain = requirement.strip()
            for stop in "[<>=!~ (":
                plain = plain.split(stop)[0]
            try:
                bare(plain, seen)
            except Exception:
                pass  # a requirement of another platform

allowed = set()
bare("sfumato", allowed)
allowed = {name.replace("_", "-") for name in allowed}
outside = {
    module for module, owners in packages_distributions().items()
    if not any(owner.lower().replace("_", "-") in allowed for owner in owners)
}

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in outside:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

assert {"sklearn", "pandas", "pyarrow", "matplotlib"} <= outside, outside
assert not {"numpy", "scipy", "polars", "typer", "rich"} & outside
sys.meta_path.insert(0, Missing())
from sfumato.cli.app import run
sys.exit(run(sys.argv[1:]))
"""

METHODS = ("standard", "dawid_skene", "mace", "glad", "ebcc", "centroid", "hybrid")


def bare(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", BARE, *arguments], cwd=folder, capture_output=True, text=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [f"i{i},{who},{(i + (who == 'cem')) % 2}" for i in range(20) for who in ("ann", "bob", "cem")]
    (tmp_path / "votes.csv").write_text("\n".join(["item,annotator,label", *rows, ""]))
    return tmp_path


@pytest.mark.parametrize("method", METHODS)
def test_a_bare_install_aggregates(folder: Path, method: str) -> None:
    done = bare("aggregate", "votes.csv", "--method", method, "--out", "soft.parquet", folder=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "soft.parquet").stat().st_size > 0


@pytest.mark.parametrize("command", [["agreement", "votes.csv"], ["compare", "votes.csv", "--views", "standard,mace"]])
def test_a_bare_install_compares(folder: Path, command: list[str]) -> None:
    done = bare(*command, folder=folder)
    assert done.returncode == 0, done.stderr


def test_a_missing_extra_is_one_sentence(folder: Path) -> None:
    done = bare("demo", folder=folder)
    assert done.returncode == 2
    assert 'pip install "sfumato[sklearn]"' in done.stderr
    assert "Traceback" not in done.stderr
