from __future__ import annotations

import re
from importlib import metadata

import sfumato
from sfumato.core.version import __version__


def test_the_version_is_one_and_is_the_installed_one() -> None:
    assert sfumato.__version__ is __version__
    assert re.fullmatch(r"\d+\.\d+\.\d+([abc.+-].*)?", __version__)
    assert metadata.version("sfumato") == __version__
