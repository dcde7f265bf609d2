"""The files of the items, under addresses that say nothing about them; pictures in the size at which they are shown."""

from __future__ import annotations

__all__ = ["Media"]

import asyncio
import hmac
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from sfumato.collect.items import Item
from sfumato.collect.refusal import Refusal

# Not `public`: a proxy between must not keep what was meant for one study.
_CACHING = {"cache-control": "private, max-age=86400, immutable"}
# The small pictures beside a class and in the lists of the admin.
_SMALL = (160, 320)
_QUALITY = 92
# A file of a few bytes can claim to be larger than the memory of the server.
_MOST_PIXELS = 64_000_000


class Media:
    """Sends the files of *items*; only what is in this list has an address, so that no path comes from outside."""

    def __init__(self, items: Iterable[Item], *, key: bytes, size: int, folders: Iterable[Path], cache: Path) -> None:
        self._key, self._cache = key, cache
        self._folders = [folder.resolve() for folder in folders]
        self._sizes = frozenset((size, 2 * size, *_SMALL))
        self._files = {self._digest(item): item for item in items if item.path is not None}
        # One at a time: a picture is resized once, and two cores are better spent on answers.
        self._resizer = ThreadPoolExecutor(1, "sfumato-pictures")

    def _digest(self, item: Item) -> str:
        return hmac.digest(self._key, item.id.encode("utf-8", "surrogatepass"), "sha256")[:16].hex()

    def told(self, item: Item) -> dict[str, Any]:
        """Return an item as the pages and scripts show it; its id is not told."""
        media = f"/media/{self._digest(item)}" if item.path is not None else ""
        # A description of the picture, where the study has one, is for those who do not see it.
        return {"kind": item.kind, "media": media, "text": item.text, "alt": str(item.meta.get("alt", "") or "")}

    async def send(self, request: Request) -> Response:
        """Answer ``/media/{digest}``."""
        item = self._files.get(request.path_params["digest"])
        if item is None or item.path is None:
            raise Refusal(404, "missing", "There is no such file.")
        path = item.path.resolve()
        if not path.is_file() or not any(path.is_relative_to(folder) for folder in self._folders):
            raise Refusal(404, "missing", "The file of this item is no longer there.")
        size = request.query_params.get("size", "")
        if item.kind == "image" and size:
            if not size.isascii() or not size.isdigit() or int(size[:6]) not in self._sizes:
                raise Refusal(404, "missing", f"Pictures come in the sizes {', '.join(map(str, sorted(self._sizes)))}.")
            if self.resizes:
                loop = asyncio.get_running_loop()
                path = await loop.run_in_executor(self._resizer, self._resized, path, int(size))
        return FileResponse(path, headers=_CACHING)

    @cached_property
    def resizes(self) -> bool:
        """Whether pictures are resized here; without Pillow they are sent as they are, and the browser does it."""
        try:
            import PIL  # noqa: F401
        except ImportError:
            return False
        return True

    def _resized(self, path: Path, size: int) -> Path:
        """Return the file of a picture fitted into *size*, from the cache if it is there."""
        from PIL import Image, ImageOps, UnidentifiedImageError

        changed = path.stat()
        name = hmac.digest(self._key, f"{path}\0{size}\0{changed.st_mtime_ns}".encode(), "sha256")[:12].hex()
        for ending in (".jpg", ".png"):
            if (kept := self._cache / f"{name}{ending}").exists():
                return kept
        try:
            with Image.open(path) as opened:
                if getattr(opened, "is_animated", False) or opened.width * opened.height > _MOST_PIXELS:
                    return path
                # JPEG files are read at a fraction of their size where that is enough.
                opened.draft("RGB", (2 * size, 2 * size))
                picture = ImageOps.exif_transpose(opened)
                clear = picture.mode in ("RGBA", "LA", "PA") or "transparency" in picture.info
                picture = picture.convert("RGBA" if clear else "RGB")
        except (OSError, UnidentifiedImageError, Image.DecompressionBombError):
            return path
        scale = size / max(picture.size)
        fitted = tuple(max(1, round(side * scale)) for side in picture.size)
        picture = picture.resize((fitted[0], fitted[1]), Image.Resampling.LANCZOS)
        self._cache.mkdir(exist_ok=True)
        fresh = self._cache / f".{name}"
        if clear:
            picture.save(fresh, "PNG")
        else:
            # Without chroma subsampling, which would smear the colours of a picture that was tiny.
            picture.save(fresh, "JPEG", quality=_QUALITY, subsampling=0)
        return fresh.replace(self._cache / f"{name}{'.png' if clear else '.jpg'}")
