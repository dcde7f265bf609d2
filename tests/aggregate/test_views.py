"""Views by name, and the registry of methods."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys

import numpy as np
import pytest

import sfumato as sf
import sfumato.aggregate
from sfumato.aggregate.methods import JOINS, METHODS, VIEWS
from sfumato.aggregate.result import Result
from sfumato.aggregate.views import DEFAULT_VIEWS, fitted, views
from sfumato.aggregate.votes import majority, standard
from sfumato.core.annotations import Annotations
from sfumato.core.soft_labels import SoftLabels
from sfumato.errors import OptionError


def _votes() -> Annotations:
    rng = np.random.default_rng(0)
    rows = [(f"i{i}", f"j{j}", "XYZ"[(i + (rng.random() < 0.3)) % 3]) for i in range(12) for j in range(4)]
    return Annotations.from_rows(*zip(*rows, strict=True))


def test_a_list_of_names() -> None:
    votes = _votes()
    made = views(votes, ["standard", "majority"])
    assert list(made) == ["standard", "majority"]
    assert np.array_equal(made["standard"].probs, standard(votes).soft_labels.probs)


def test_options_and_names_of_ones_own() -> None:
    votes = _votes()
    made = views(votes, {"first": {"method": "majority"}, "shared": {"method": "majority", "ties": "share"}}, seed=3)
    assert np.array_equal(made["shared"].probs, majority(votes, ties="share").soft_labels.probs)
    assert dict(made["shared"].origin.options) == {"ties": "share"}
    assert made["first"].origin.seed == 3


def test_a_view_is_the_same_whatever_stands_beside_it() -> None:
    votes = _votes()
    options = {"method": "majority", "ties": "random"}
    alone = views(votes, {"random": options}, seed=4)["random"]
    beside = views(votes, {"other": options, "random": options}, seed=4)["random"]
    assert np.array_equal(alone.probs, beside.probs)


def test_whole_results() -> None:
    result = fitted(_votes(), ["wawa"])["wawa"]
    assert result.annotators.competence is not None


@pytest.mark.filterwarnings("ignore::sfumato.errors.ConvergenceWarning")
def test_the_default_views() -> None:
    assert list(views(_votes())) == list(DEFAULT_VIEWS) == ["standard", "softmax", "dawid_skene", "mace"]


def test_names_that_are_none_are_refused_before_anything_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("the first view was made")

    monkeypatch.setattr("sfumato.aggregate.votes.standard", fail)
    with pytest.raises(OptionError, match=r"'names' must be one of majority, standard, .* Got 'standart' instead"):
        views(_votes(), ["standard", "standart"])
    with pytest.raises(OptionError, match="'centroid'"):
        views(_votes(), ["centroid"])
    with pytest.raises(OptionError, match="Got the one text 'standard'"):
        views(_votes(), "standard")
    with pytest.raises(OptionError, match="named twice in standard, standard"):
        views(_votes(), ["standard", "standard"])


def test_an_option_that_a_method_does_not_take_is_refused() -> None:
    with pytest.raises(OptionError, match=r"The method 'majority' takes ties\. Got the option 'tie' instead"):
        views(_votes(), {"majority": {"tie": "share"}})
    with pytest.raises(OptionError, match=r"The method 'standard' takes no options\. Got the option 'ties' instead"):
        METHODS["standard"](_votes(), ties="share")


def test_every_method_of_the_room_is_registered() -> None:
    """A function of its module's name that takes annotations or views and returns a result is a method."""
    found = {"majority", "standard", "softmax"}
    for module in pkgutil.iter_modules(sfumato.aggregate.__path__):
        loaded = importlib.import_module(f"sfumato.aggregate.{module.name}")
        function = vars(loaded).get(module.name)
        if inspect.isfunction(function) and function.__module__ == loaded.__name__:
            returned = inspect.signature(function).return_annotation
            if returned in ("Result", "JoinResult"):
                found.add(module.name)
    assert found == set(METHODS)
    assert found <= set(sfumato.aggregate.__all__)
    assert set(METHODS) == {*VIEWS, *JOINS, "with_model"}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_documented_and_takes_a_seed(name: str) -> None:
    method = METHODS[name]
    assert method.function is getattr(sf.aggregate, name)
    assert method.summary.startswith("Return ")
    parameters = inspect.signature(method.function).parameters
    assert parameters["seed"].default == 0
    assert all(
        parameter.kind is parameter.KEYWORD_ONLY
        for parameter in list(parameters.values())[1:]
        if parameter.name != "model"
    )
    for option in method.options.values():
        assert option.types or option.choices
        words = re.findall(r"\w+", inspect.getdoc(method.function) or "")
        assert option.name in words or option.name in _SHARED, option.name


# Explained once for all methods, not in each.
_SHARED = {
    "engine", "threads", "memory_limit", "dtype", "max_iter", "tolerance", "weights", "prior", "strength", "start",
    "regularisation", "regulariser", "min_temperature", "as_published", "learning_rate",
}  # fmt: skip


@pytest.mark.parametrize(
    ("method", "option", "text", "value"),
    [
        ("majority", "ties", "share", "share"),
        ("zero_based_skill", "max_iter", "7", 7),
        ("zero_based_skill", "learning_rate", "0.5", 0.5),
        ("temperature", "as_published", "true", True),
        ("temperature", "learning_rate", "none", None),
        ("temperature", "learning_rate", "1e-3", 1e-3),
        ("centroid", "weights", "1,2,0.5", [1.0, 2.0, 0.5]),
        ("centroid", "weights", "held_out", "held_out"),
        ("centroid", "weights", "None", None),
    ],
)
def test_options_from_text(method: str, option: str, text: str, value: object) -> None:
    parsed = METHODS[method].options[option].parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("method", "option", "text", "wanted"),
    [
        ("majority", "ties", "last", "must be first or random or share. Got 'last'"),
        ("zero_based_skill", "max_iter", "7.5", "must be a whole number. Got '7.5'"),
        ("temperature", "as_published", "yes", "must be true or false. Got 'yes'"),
        ("centroid", "weights", "1;2", "must be held_out or none or numbers with commas between them. Got '1;2'"),
    ],
)
def test_text_that_is_no_option_is_refused(method: str, option: str, text: str, wanted: str) -> None:
    with pytest.raises(OptionError) as error:
        METHODS[method].options[option].parse(text)
    assert wanted in str(error.value)


def test_a_method_is_called_by_name() -> None:
    result: Result = METHODS["majority"](_votes(), ties="share", seed=1)
    assert isinstance(result.soft_labels, SoftLabels)


def test_public_names_are_functions_whatever_was_imported_first() -> None:
    """Importing the module of a method must not put the module in place of the function."""
    code = (
        "import sfumato.aggregate.mace, sfumato.aggregate.views\n"
        "import sfumato as sf\n"
        "assert callable(sf.aggregate.mace) and callable(sf.aggregate.views)\n"
        "from sfumato.aggregate import centroid\n"
        "import sfumato.aggregate.centroid\n"
        "assert callable(sf.aggregate.centroid) and sf.aggregate.centroid is centroid\n"
        "from sfumato.aggregate import joining\n"
        "assert joining.aligned\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_the_room_is_light_until_a_name_is_used() -> None:
    code = (
        "import sys, sfumato.aggregate\n"
        "heavy = [name for name in sys.modules if name.split('.')[0] in ('numpy', 'scipy', 'polars')]\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_the_public_names_exist() -> None:
    for name in sfumato.aggregate.__all__:
        assert getattr(sfumato.aggregate, name) is not None
    assert dir(sfumato.aggregate) == sorted(sfumato.aggregate.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'centroids'"):
        sfumato.aggregate.centroids  # noqa: B018
