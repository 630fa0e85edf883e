from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.core.seen import changed, stamp


@pytest.mark.parametrize(
    ("content", "partial", "later", "differs"),
    [
        (b"abc", False, b"abc", False),
        (b"abc", False, b"xyz", True),
        (b"abc", False, b"abcd", True),
        (None, True, b"abc", True),
        (b"abc", True, b"abc", True),
    ],
)
def test_content_decides_as_far_as_it_was_seen(
    tmp_path: Path, content: bytes | None, partial: bool, later: bytes, differs: bool
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"abc")
    known = stamp(path.stat(), content, partial=partial)
    assert not changed(known, path.stat(), path.read_bytes)
    path.write_bytes(later)
    os.utime(path, (1, 1))
    assert changed(known, path.stat(), path.read_bytes) is differs
