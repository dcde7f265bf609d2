"""Pictures of items as data addresses, small enough to stand in a page."""

from __future__ import annotations

__all__ = ["Thumbnails", "png_uri", "thumbnail"]

import base64
import io
import struct
import zlib
from collections.abc import Iterator, Mapping
from os import PathLike, fspath

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InputError, MissingExtraError


def png_uri(pixels: NDArray[np.uint8]) -> str:
    """Return an image of shape (height, width) or (height, width, 3), 0 to 255, as an address that holds its data.

    >>> png_uri(np.zeros((1, 1), dtype=np.uint8))[:30]
    'data:image/png;base64,iVBORw0K'
    """
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] != 3):
        raise InputError(f"An image has the shape (height, width) or (height, width, 3). Got {pixels.shape} instead.")
    height, width = pixels.shape[:2]
    # A PNG is a header (2: colours, 0: grey), the deflated rows (each after a filter byte, 0: none) and an end, each
    # with its checksum.
    rows = b"".join(b"\x00" + row.tobytes() for row in pixels.astype(np.uint8))
    header = struct.pack(">IIBBBBB", width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n"
    for kind, content in ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")):
        data += struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return "data:image/png;base64," + base64.b64encode(data).decode()


def thumbnail(path: str | PathLike[str], *, side: int = 156) -> str:
    """Return an image file, of at most *side* pixels in height and width, as an address that holds its data."""
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise MissingExtraError("Making thumbnails of images", "report") from None
    try:
        with Image.open(path) as image:
            small = image.convert("RGB")
            small.thumbnail((side, side))
    except FileNotFoundError:
        raise InputError(f"There is no image {fspath(path)}. Paths are relative to the file that names them.") from None
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError) as error:
        raise InputError(f"{fspath(path)} cannot be read as an image ({error}).") from None
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=80)
    return "data:image/jpeg;base64," + base64.b64encode(buffer.getvalue()).decode()


class Thumbnails(Mapping[str, str]):
    """The pictures of items by name, each made when it is asked for: a page shows a few of thousands."""

    def __init__(self, paths: Mapping[str, str | PathLike[str]]) -> None:
        self.paths = paths

    def __getitem__(self, item: str) -> str:
        return thumbnail(self.paths[item])

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)
