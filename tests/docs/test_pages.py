"""The documentation is executed: recipes run, generated pages are current, links lead somewhere, names are told."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def with_blocks() -> Iterator[Path]:
    return (page for page in PAGES if BLOCK.search(page.read_text()))


@pytest.mark.parametrize("page", list(with_blocks()), ids=lambda page: page.name)
def test_every_recipe_runs(page: Path, tmp_path: Path) -> None:
    """The blocks of a page run one after another in one empty folder, as a reader would run them."""
    # The commands of the environment that runs the tests come first, whatever else is installed.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for language, code in BLOCK.findall(page.read_text()):
        command = ["bash", "-euo", "pipefail", "-c", code] if language == "bash" else [sys.executable, "-c", code]
        done = subprocess.run(
            command, cwd=tmp_path, env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=300
        )
        assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"


def test_generated_pages_are_what_the_program_says() -> None:
    for name, text in generator().pages().items():
        assert (ROOT / "docs" / "reference" / name).read_text() == text, f"{name} is not current: run make docs"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_to_files_that_are_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if not target.startswith(("http://", "https://")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_can_be_reached_from_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text()
    for page in sorted((ROOT / "docs").rglob("*.md")):
        name = page.relative_to(ROOT / "docs").as_posix()
        assert name == "index.md" or f"({name})" in index, f"docs/index.md does not mention {name}"


def test_every_method_is_told_of_on_the_page_of_its_room() -> None:
    from sfumato.aggregate import METHODS

    page = (ROOT / "docs" / "aggregate.md").read_text()
    assert [name for name in METHODS if f"`{name}`" not in page] == []


def test_every_setting_is_told_of() -> None:
    from dataclasses import fields, is_dataclass

    from sfumato.train.config import Config

    page = (ROOT / "docs" / "reference" / "settings.md").read_text()
    for table in fields(Config):
        default = getattr(Config(), table.name)
        inner = [f"{table.name}.{each.name}" for each in fields(default)] if is_dataclass(default) else [table.name]
        assert [path for path in inner if f"| `{path}` |" not in page] == []
        if is_dataclass(default):  # a name that says nothing to whoever meets it first is explained above the table
            said = type(default).__doc__ or ""
            assert [
                each.name for each in fields(default)
                if f"``{each.name}``" not in said and each.name not in ("name", "options", "kind", "epochs", "device")
                and each.name != "learning_rate"
            ] == []  # fmt: skip
    source = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    assert [name for name in set(re.findall(r'"(SFUMATO_[A-Z]+)"', source)) if name not in page] == []


def test_no_name_is_told_of_in_the_words_of_a_builtin() -> None:
    page = (ROOT / "docs" / "reference" / "names.md").read_text()
    assert [kind for kind in (dict, tuple, str, int, float) if (kind.__doc__ or "").splitlines()[0] in page] == []


def test_every_data_set_and_format_is_told_of() -> None:
    from sfumato import data
    from sfumato.tables.formats import FORMATS

    assert [name for name in data.names() if f"`{name}`" not in (ROOT / "docs" / "data.md").read_text()] == []
    assert [name for name in FORMATS if f"`{name}`" not in (ROOT / "docs" / "tables.md").read_text()] == []
