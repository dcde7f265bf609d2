"""Ask people: a study server for soft labels that never loses or bends what they said.

`sfumato.collect.app.make_app` makes the application of a study and its store; `sfumato.collect.server.serve` runs it.
"""

from __future__ import annotations

__all__: list[str] = []
