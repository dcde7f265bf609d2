"""Stored results are known by what differs from a default, so a default may only change together with a revision."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from sfumato.reproduce.studies import STUDIES

_KNOWN = Path(__file__).parent / "defaults.json"


def current() -> dict[str, dict[str, object]]:
    """Return the revision and the defaults of every study, as JSON has them."""
    found = {
        name: {"revision": study.revision, "defaults": asdict(study.default)} for name, study in sorted(STUDIES.items())
    }
    plain: dict[str, dict[str, object]] = json.loads(json.dumps(found))
    return plain


def test_a_changed_default_raises_the_revision() -> None:
    known, now = json.loads(_KNOWN.read_text(encoding="utf-8")), current()
    assert set(known) == set(now), "write the new study down in defaults.json"
    for name, study in known.items():
        if study["revision"] == now[name]["revision"]:
            defaults = now[name]["defaults"]
            assert isinstance(defaults, dict)
            changed = [field for field, value in study["defaults"].items() if defaults.get(field, "gone") != value]
            assert not changed, f"{name}: {changed} changed. Raise the revision of the study, and write it down here"


def test_what_is_written_down_is_of_this_revision() -> None:
    known, now = json.loads(_KNOWN.read_text(encoding="utf-8")), current()
    assert {name: study["revision"] for name, study in known.items()} == {
        name: study["revision"] for name, study in now.items()
    }
