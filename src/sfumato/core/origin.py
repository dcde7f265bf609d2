"""Where a result comes from: method, options, seed, version, and the fingerprint of what went in."""

from __future__ import annotations

__all__ = ["GIVEN", "Origin", "fingerprint_of", "hash_of_names", "with_arrays"]

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfumato.core.version import __version__

# Of the hash: short enough for a table, long enough that nobody meets a collision.
_DIGITS = 24


@dataclass(frozen=True, slots=True)
class Origin:
    """How a table of numbers came to be, enough to make it again.

    >>> Origin("standard", options={"ties": "first"}).to_dict()["method"]
    'standard'
    """

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    fingerprint: str = ""
    version: str = __version__

    def __post_init__(self) -> None:
        # Through JSON and back, so that what is compared now equals what a file gives later.
        options = json.loads(json.dumps(dict(self.options), default=_plain))
        object.__setattr__(self, "options", MappingProxyType(options))

    def __reduce__(self) -> tuple[Any, ...]:
        # A mapping proxy does not pickle; the plain dict does.
        return Origin, (self.method, dict(self.options), self.seed, self.fingerprint, self.version)

    def to_dict(self) -> dict[str, Any]:
        """Return the origin as plain data, ready for JSON."""
        return {
            "method": self.method,
            "options": dict(self.options),
            "seed": self.seed,
            "fingerprint": self.fingerprint,
            "version": self.version,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Origin:
        """Return the origin that `to_dict` wrote."""
        return cls(
            method=str(data["method"]),
            options=data.get("options", {}),
            seed=data.get("seed"),
            fingerprint=str(data.get("fingerprint", "")),
            version=str(data.get("version", "")),
        )


def fingerprint_of(names: Iterable[Iterable[str]], arrays: Iterable[NDArray[Any]]) -> str:
    """Return a short hash of vocabularies and arrays: equal content gives equal text, on every machine."""
    return with_arrays(hash_of_names(names), arrays)


def hash_of_names(names: Iterable[Iterable[str]]) -> hashlib._Hash:
    """Return the hash of vocabularies, to which `with_arrays` adds: tables of the same items need it once.

    >>> fingerprint_of([["a"]], [np.ones(2)]) == with_arrays(hash_of_names([["a"]]), [np.ones(2)])
    True
    """
    # Processors compute SHA-256 themselves, at twice the speed of BLAKE2b.
    digest = hashlib.sha256()
    for vocabulary in names:
        joined = "\x00".join(vocabulary).encode("utf-8", "surrogatepass")
        digest.update(len(joined).to_bytes(8, "little"))
        digest.update(joined)
    return digest


def with_arrays(names: hashlib._Hash, arrays: Iterable[NDArray[Any]]) -> str:
    """Return the fingerprint of the vocabularies of which *names* is the hash, which stays as it is, and arrays."""
    digest = names.copy()
    for array in arrays:
        plain = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        digest.update(str(plain.shape).encode())
        digest.update(plain.data if plain.size else b"")
    return digest.hexdigest()[:_DIGITS]


def _plain(value: Any) -> Any:
    """Turn NumPy scalars and arrays into what JSON knows."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"An option of type {type(value).__name__} cannot be recorded in an origin.")


# Of tables that a user made by hand.
GIVEN = Origin("given")
