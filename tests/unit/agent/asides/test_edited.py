from __future__ import annotations

import os
from pathlib import Path

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.asides.edited import tell_edited
from forge.agent.session import Session
from forge.core.message import Text
from forge.core.seen import stamp
from forge.core.written import Written


def wrote(place: Path, text: str, *, partial: bool = False) -> tuple[Session, Path]:
    """A session whose model has written a file."""
    s, path = session(ScriptedModel([]), RecordingHost(), []), place / "f.py"
    path.write_text(text)
    s.seen[str(path)] = stamp(os.stat(path), text.encode(), partial=partial)
    s.keep(Written).put(str(path), text)
    return s, path


def heard(s: Session) -> list[str]:
    tell_edited(s)
    return [b.text for m in s.messages for b in m.blocks if isinstance(b, Text)]


def test_a_change_by_somebody_else_is_told_once_and_counts_as_seen(tmp_path: Path) -> None:
    s, path = wrote(tmp_path, "".join(f"{n}\n" for n in range(20)))
    assert heard(s) == []
    path.write_text(path.read_text().replace("10\n", "ten\n"))
    (told,) = heard(s)
    assert str(path) in told and "8\t7\n9\t8\n10\t9\n11\tten\n12\t11\n13\t12\n14\t13\n" in told
    assert s.seen[str(path)] == stamp(os.stat(path), path.read_bytes())
    assert heard(s) == [told]


def test_the_same_text_written_again_is_no_news(tmp_path: Path) -> None:
    s, path = wrote(tmp_path, "same\n")
    os.utime(path, (1, 1))
    assert heard(s) == []
    assert s.seen[str(path)].mtime_ns == os.stat(path).st_mtime_ns


def test_what_is_gone_binary_or_not_known_in_full_is_not_followed(tmp_path: Path) -> None:
    for number, after in enumerate((None, b"a\0b", b"more\n")):
        place = tmp_path / str(number)
        place.mkdir()
        s, path = wrote(place, "text\n", partial=after == b"more\n")
        if after is None:
            path.unlink()
        else:
            path.write_bytes(after)
        assert (heard(s), s.keep(Written).texts) == ([], {})


def test_only_the_last_files_and_no_long_ones_are_remembered() -> None:
    written = Written()
    for n in range(70):
        written.put(f"/{n}", "x")
    written.put("/69", "y" * 300_000)
    assert (len(written.texts), "/5" in written.texts, "/69" in written.texts) == (63, False, False)
