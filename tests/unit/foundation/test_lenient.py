from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from forge.foundation.lenient import read_as


class Note(msgspec.Struct, frozen=True):
    text: str


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b'{"text": "a"}', Note("a")),
        (b'{"text": 1}', None),
        (b'{"text": "a', None),
        (b'{"text": "\xff"}', None),
        (b"[" * 100_000, None),
        (None, None),
    ],
    ids=["good", "other kind", "half", "no text", "deep", "missing"],
)
def test_what_cannot_be_read_is_not_there(content: bytes | None, found: Note | None, tmp_path: Path) -> None:
    path = tmp_path / "note.json"
    if content is not None:
        path.write_bytes(content)
    assert read_as(str(path), Note) == found
