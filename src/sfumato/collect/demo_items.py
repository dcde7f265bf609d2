"""Items for the demonstration, drawn by a program: shapes on the way from circle to square to triangle."""

from __future__ import annotations

__all__ = ["CLASSES", "draw_items"]

import struct
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CLASSES = ("circle", "square", "triangle")
_SIDE = 160
_INK, _PAPER = (58, 74, 140), (246, 244, 238)


def draw_items(folder: Path, *, n_items: int = 24, seed: int = 0) -> list[str]:
    """Draw pictures into *folder*, and return their names; some are plain, and some could be one thing or another."""
    import numpy as np

    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for number in range(n_items):
        # Every fourth is one shape alone; the others are mixed, most of them of two.
        mixture = np.eye(3)[number // 4 % 3] if number % 4 == 0 else rng.dirichlet([0.7, 0.7, 0.7])
        picture = _shape(mixture, turn=rng.uniform(-0.35, 0.35), size=rng.uniform(0.5, 0.72), rng=rng)
        names.append(f"shape-{number + 1:02}.png")
        (folder / names[-1]).write_bytes(_png(picture))
    return names


def _shape(mixture: NDArray[np.float64], *, turn: float, size: float, rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return a picture, shape (side, side, 3), of the outline whose radius is the mixture of those of the shapes."""
    import numpy as np

    line = np.linspace(-1, 1, _SIDE)
    x, y = np.meshgrid(line, line)
    angle, distance = np.arctan2(-y, x) + turn, np.hypot(x, y)
    radii = [np.ones_like(angle) * 0.9, _polygon(angle, 4), _polygon(angle - np.pi / 6, 3)]
    radius = size * sum(weight * each for weight, each in zip(mixture, radii, strict=True))
    # A soft edge and some grain: nobody should decide by a single corner.
    inside = 1 / (1 + np.exp((distance - radius) * 28))
    tone = np.clip(inside + rng.normal(0, 0.09, inside.shape), 0, 1)[..., None]
    picture: NDArray[np.uint8] = np.rint(np.array(_PAPER) * (1 - tone) + np.array(_INK) * tone).astype(np.uint8)
    return picture


def _polygon(angle: NDArray[np.float64], n_corners: int) -> NDArray[np.float64]:
    """Return the distance from the centre to the outline of a regular polygon, in each direction."""
    import numpy as np

    step = 2 * np.pi / n_corners
    result: NDArray[np.float64] = 1.12 * np.cos(step / 2) / np.cos((angle + step / 2) % step - step / 2)
    return result


def _png(picture: NDArray[np.uint8]) -> bytes:
    """Return a picture as a PNG file."""
    height, width, _ = picture.shape
    rows = b"".join(b"\0" + row.tobytes() for row in picture)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
