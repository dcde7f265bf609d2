"""Words and characters as codes, and word vectors from a GloVe file."""

from __future__ import annotations

__all__ = ["PADDING", "UNKNOWN", "check_glove", "code_of", "glove_vectors", "known_characters", "known_words"]

import gzip
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfumato.errors import InputError

# The first two codes of every vocabulary; a word or character of place i has the code i + 2.
PADDING, UNKNOWN = 0, 1


def known_words(words: Iterable[str], *, at_least: int) -> list[str]:
    """Return the words, in lower case, that occur often enough, the most frequent first.

    >>> known_words(["The", "cat", "the"], at_least=2)
    ['the']
    """
    counts = Counter(word.lower() for word in words)
    return [word for word, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])) if count >= at_least]


def known_characters(words: Iterable[str]) -> list[str]:
    """Return the characters of the words, sorted."""
    return sorted({character for word in words for character in word})


def code_of(vocabulary: Sequence[str]) -> dict[str, int]:
    """Return the code of each word of a vocabulary."""
    return {word: place + 2 for place, word in enumerate(vocabulary)}


def check_glove(path: str, width: int) -> list[str]:
    """Return the words of a GloVe file (a word and *width* numbers in each line; .gz is unpacked), in its order."""
    return [word for word, _ in _lines(path, width)]


def glove_vectors(path: str, words: Sequence[str], width: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the places of those *words* that are in the file, and their vectors."""
    place = {word: number for number, word in enumerate(words)}
    found, vectors = [], []
    for word, numbers in _lines(path, width):
        if word in place:
            found.append(place[word])
            vectors.append(np.array(numbers, dtype=np.float32))
    return np.array(found, dtype=np.int64), np.stack(vectors) if vectors else np.zeros((0, width), dtype=np.float32)


def _lines(path: str, width: int) -> Iterator[tuple[str, list[str]]]:
    file = Path(path)
    try:
        with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                word, *numbers = line.rstrip("\n").split(" ")
                if len(numbers) != width:
                    raise InputError(
                        f"{path}, line {number}: a word and {width} numbers are wanted, as many as word_width. "
                        f"Got {len(numbers)} numbers."
                    )
                yield word, numbers
    except FileNotFoundError:
        raise InputError(
            f"There is no file {path} with word vectors. Correct the option 'glove', or leave it out."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as a file of word vectors ({error}).") from None
