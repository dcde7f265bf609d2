"""The files that the pages load: one style sheet and a few small scripts, read once and cached by browsers for ever."""

from __future__ import annotations

__all__ = ["Assets"]

import gzip
import hashlib
import re
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

_FOLDER = Path(__file__).parent / "static"
_TYPES = {".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}


class Assets:
    """The files of ``static/`` by name, and the *version* that is part of their address.

    A new version has new addresses, so a browser may keep what it has for a year; the files name each other relative
    to themselves and so stay within one version.
    """

    def __init__(self) -> None:
        self._files = {path.name: _lean(path) for path in sorted(_FOLDER.iterdir()) if path.suffix in _TYPES}
        digest = hashlib.blake2b(digest_size=4)
        for name, data in self._files.items():
            digest.update(name.encode() + b"\0" + data + b"\0")
        self.version = digest.hexdigest()
        # Nothing in them is secret, so that their length may tell what is in them; the pages hold tokens, and are not.
        self._packed = {name: gzip.compress(data, 9, mtime=0) for name, data in self._files.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer ``/static/{version}/{name}``; a page of an older version gets the newest file, which is not kept."""
        asked = scope["path_params"]
        data = self._files.get(asked["name"])
        if data is None:
            raise HTTPException(404)
        headers = {
            "cache-control": "public, max-age=31536000, immutable" if asked["version"] == self.version else "no-store",
            "vary": "accept-encoding",
        }
        told = next((value for name, value in scope["headers"] if name == b"accept-encoding"), b"")
        if _GZIP.search(told):
            data = self._packed[asked["name"]]
            headers["content-encoding"] = "gzip"
        await Response(data, media_type=_TYPES[Path(asked["name"]).suffix], headers=headers)(scope, receive, send)


_GZIP = re.compile(rb"\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))")
# Texts and patterns stay as they are; around the signs between them a space says nothing.
_SIGNS = re.compile(r'("[^"\n]*"|`[^`]*`|/(?![*/ ])[^/\n]+/)|\s*([{}()\[\];,:?=<>&|!*])\s*')


def _lean(path: Path) -> bytes:
    """Return a file without what only explains or indents: comments on lines of their own, and white space."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".css":
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        text = re.sub(r"\s*([{};,])\s*|(:) ", r"\1\2", text).replace(";}", "}")
    elif path.suffix == ".js":
        text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
        text = _SIGNS.sub(lambda found: found[1] or found[2], text)
    return "\n".join(line.strip() for line in text.splitlines() if line.strip()).encode()
