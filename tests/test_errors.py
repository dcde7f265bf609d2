from __future__ import annotations

import inspect

import pytest

from sfumato import errors


def test_everything_raised_on_purpose_has_one_root() -> None:
    found = [value for value in vars(errors).values() if inspect.isclass(value)]
    raised = [value for value in found if issubclass(value, Exception) and not issubclass(value, Warning)]
    assert {error.__name__ for error in raised} == {
        "DuplicateError", "FormatError", "InputError", "MissingDataError", "MissingExtraError", "OptionError",
        "SfumatoError", "TooLargeError",
    }  # fmt: skip
    assert all(issubclass(error, errors.SfumatoError) for error in raised)
    assert issubclass(errors.ConvergenceWarning, errors.SfumatoWarning)
    for error in (*raised, errors.SfumatoWarning, errors.ConvergenceWarning):
        assert error.__name__ in (errors.__doc__ or ""), "the tree in the docstring forgets it"


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.InputError, ValueError),
        (errors.FormatError, errors.InputError),
        (errors.DuplicateError, errors.InputError),
        (errors.OptionError, ValueError),
        (errors.MissingExtraError, ImportError),
        (errors.TooLargeError, MemoryError),
    ],
)
def test_who_knows_only_python_catches_them_too(error: type[Exception], builtin: type[Exception]) -> None:
    assert issubclass(error, builtin)


def test_a_missing_extra_names_the_command_that_installs_it() -> None:
    error = errors.MissingExtraError("A report with figures", "report")
    assert (
        str(error) == 'A report with figures needs the extra "report". Install it with: pip install "sfumato[report]"'
    )
    assert error.extra == "report"


def test_an_unknown_choice_is_refused_and_the_known_ones_are_listed() -> None:
    assert errors.check_choice("b", iter(["a", "b"]), option="ties") == "b"
    with pytest.raises(errors.OptionError, match=r"^The option 'ties' must be one of a, b\. Got 'c' instead\.$"):
        errors.check_choice("c", ["a", "b"], option="ties")
