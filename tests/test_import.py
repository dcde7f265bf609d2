"""What `import sfumato` loads, and whether the lists of public names tell the truth."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import sfumato

HEAVY = [
    "accelerate", "duckdb", "jinja2", "matplotlib", "numpy", "pandas", "polars", "pyarrow", "ray", "rich", "scipy",
    "sklearn", "sqlite3", "starlette", "torch", "transformers", "typer", "uvicorn",
]  # fmt: skip
# Neither the core nor anything that stands on it alone may need more than NumPy and SciPy.
CORE_ALONE = ["numpy", "scipy"]


def loaded_after(code: str) -> set[str]:
    """Return the packages that a fresh Python has loaded after it has run *code*."""
    program = f"{code}\nimport json, sys\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    # In another folder and without site configuration of the tests, so that nothing but the code decides.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd="/")
    return set(json.loads(done.stdout))


@pytest.fixture(scope="module")
def bare() -> set[str]:
    return loaded_after("")


def test_importing_the_package_loads_nothing_heavy(bare: set[str]) -> None:
    loaded = loaded_after("import sfumato") - bare
    assert "sfumato" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_the_command_line_begins_with_its_own_framework_alone(bare: set[str]) -> None:
    """A study server is started by it, and keeps what it loads for as long as it runs."""
    loaded = loaded_after("import sfumato.cli.app") - bare
    assert loaded & set(HEAVY) <= {"typer", "rich"}


def test_importing_the_package_loads_few_modules_of_its_own() -> None:
    program = "import sfumato, sys, json; print(json.dumps([n for n in sys.modules if n.startswith('sfumato')]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert set(json.loads(done.stdout)) == {
        "sfumato", "sfumato.core", "sfumato.core.storage", "sfumato.core.version",
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["Annotations", "Gold", "Origin", "Predictions", "Report", "Response", "SoftLabels", "errors"]
)
def test_the_data_model_needs_numpy_at_most(bare: set[str], name: str) -> None:
    if name not in sfumato.__all__:
        pytest.skip(f"{name} is not a name of the package")
    loaded = loaded_after(f"import sfumato\nsfumato.{name}") - bare
    assert loaded.isdisjoint(set(HEAVY) - set(CORE_ALONE))


def test_every_core_module_needs_numpy_and_scipy_at_most(bare: set[str]) -> None:
    names = [f"sfumato.core.{module.name}" for module in pkgutil.iter_modules([str(Path(sfumato.__path__[0], "core"))])]
    assert "sfumato.core.annotations" in names
    loaded = loaded_after("import " + ", ".join(names)) - bare
    assert loaded.isdisjoint(set(HEAVY) - set(CORE_ALONE))


def test_a_star_import_gives_the_names_that_are_listed() -> None:
    program = (
        "import json\n"
        "before = set(globals()) | {'before'}\n"
        "from sfumato import *\n"
        "print(json.dumps(sorted(set(globals()) - before)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == sorted(sfumato.__all__)


def test_dir_and_all_of_the_package_agree_before_and_after_use() -> None:
    assert dir(sfumato) == sorted(sfumato.__all__)
    for name in sfumato.__all__:
        assert getattr(sfumato, name) is getattr(sfumato, name)
    assert dir(sfumato) == sorted(sfumato.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'sfumato' has no attribute 'nothing'"):
        sfumato.nothing  # noqa: B018


def test_the_names_for_type_checkers_are_the_names_at_run_time() -> None:
    tree = ast.parse(Path(inspect.getfile(sfumato)).read_text(encoding="utf-8"))
    branch = next(node for node in tree.body if isinstance(node, ast.If))
    promised: dict[str, str] = {}
    for node in branch.body:
        assert isinstance(node, ast.ImportFrom)
        promised.update({alias.name: str(node.module) for alias in node.names})
    assert set(promised) | {"__version__"} == set(sfumato.__all__)
    for name, home in promised.items():
        found = getattr(sfumato, name)
        if not isinstance(found, ModuleType):
            assert found is getattr(importlib.import_module(home), name)


def modules() -> list[str]:
    """Return every module of the package; a part whose extra is not installed is left to where it is."""
    return sorted(module.name for module in pkgutil.walk_packages(sfumato.__path__, "sfumato.", onerror=lambda _: None))


def imported(name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name is not None and error.name.partition(".")[0] == "sfumato":
            raise
        pytest.skip(f"{name} needs {error.name}, which is not installed")


@pytest.mark.parametrize("name", [name for name in modules() if not name.endswith("__main__")])
def test_the_list_of_a_module_tells_the_truth(name: str) -> None:
    module = imported(name)
    tree = ast.parse(inspect.getsource(module))
    defined = [
        node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef)
    ]
    public = {defined_name for defined_name in defined if not defined_name.startswith("_")}
    listed = getattr(module, "__all__", None)
    if listed is None:
        assert not public, f"{name} defines {sorted(public)} and has no __all__"
        return
    assert len(set(listed)) == len(listed)
    assert [listed_name for listed_name in listed if not hasattr(module, listed_name)] == []
    assert public - set(listed) == set(), "public, and not in __all__"


@pytest.mark.parametrize("name", [name for name in modules() if not name.endswith("__main__")])
def test_every_module_says_what_it_is(name: str) -> None:
    assert (imported(name).__doc__ or "").strip(" .\n")
