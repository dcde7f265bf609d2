from __future__ import annotations

import gzip

import pytest

from sfumato.data import places
from sfumato.errors import InputError


def test_a_file_is_read_as_it_is_or_compressed(tmp_path):
    (tmp_path / "plain.txt").write_bytes(b"one")
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(b"two"))
    assert places.read_bytes(tmp_path / "plain.txt") == b"one"
    assert places.read_bytes(tmp_path / "packed.txt") == b"two"


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"nothing\.txt is not there"):
        places.read_bytes(tmp_path / "nothing.txt")


@pytest.mark.parametrize("damage", [lambda b: b[:-9], lambda b: b"PK" + b[2:], lambda b: b[:12] + b"\xff\xff" + b[14:]])
def test_a_damaged_archive_is_told_in_one_sentence(tmp_path, damage):
    packed = gzip.compress(bytes(range(256)) * 40)
    (tmp_path / "a.bin.gz").write_bytes(damage(packed))
    with pytest.raises(InputError, match=r"a\.bin\.gz is damaged .*fetch the set again"):
        places.read_bytes(tmp_path / "a.bin")
