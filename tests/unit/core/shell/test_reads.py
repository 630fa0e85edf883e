from __future__ import annotations

from pathlib import Path

import pytest

from forge.core.shell.bash import ACTION
from forge.core.tool import ToolError
from unit.core.tools.context import RecordingContext, call

WHOLE, PART, NOT = "whole", "part", "not"


@pytest.mark.parametrize(
    ("command", "seen"),
    [
        ("cat X", WHOLE),
        ("cat -n X", WHOLE),
        ("nl X", WHOLE),
        ("head X", WHOLE),
        ("head -20 X", WHOLE),
        ("cat ./X", WHOLE),
        ("cat 'X'", WHOLE),
        ('cat "$PWD"/X', NOT),
        ("cat /$W/X", WHOLE),
        ("cat X; echo", WHOLE),
        ("echo hi && cat X", WHOLE),
        ("true; cat X", WHOLE),
        ("cat X # note", WHOLE),
        ("LC_ALL=C cat X", WHOLE),
        ("cat X\ncat y.txt", WHOLE),
        ("head -1 X", PART),
        ("head -n 3 X", PART),
        ("head --lines=1 X", PART),
        ("tail X", PART),
        ("tail -n 2 X", PART),
        ("sed -n 1,2p X", PART),
        ("sed -n '1p' X", PART),
        ("grep hello X", PART),
        ("grep -n -A1 hello X", PART),
        ("egrep h X", PART),
        ("grep -c hello X", NOT),
        ("grep -v zzz X", NOT),
        ("grep zzz X", NOT),
        ("grep h X y.txt", NOT),
        ("sed s/a/b/ X", NOT),
        ("sed -n 5,9p X", NOT),
        ("cat -A X", NOT),
        ("cat -- X", NOT),
        ("cat X | head", NOT),
        ("cat X || true", NOT),
        ("cat X > /dev/null", NOT),
        ("cat X 2>&1", NOT),
        ("cat < X", NOT),
        ("cat y.txt X", NOT),
        ("cat X*", NOT),
        ("ls; cat X", NOT),
        ("cd . && cat X", NOT),
        ("wc X", NOT),
        ("tac X", NOT),
        ("head -c 3 X", NOT),
        ("tail -n +2 X", NOT),
        ("head -n -1 X", NOT),
        ("awk 1 X", NOT),
        ("command cat X", NOT),
    ],
)
def test_printing_a_file_counts_as_reading_it(tmp_path: Path, command: str, seen: str) -> None:
    for name in ("f.txt", "y.txt"):
        (tmp_path / name).write_text("hello\nworld\n")
    ctx = RecordingContext(tmp_path)
    text = command.replace("/$W", str(tmp_path)).replace("X", "f.txt")
    try:
        call(ACTION, ctx, command=text)
    finally:
        stamp = ctx.seen.get(str(tmp_path / "f.txt"))
    assert (NOT if stamp is None else PART if stamp.partial else WHOLE) == seen
    assert stamp is None or bool(stamp.digest) == (seen == WHOLE)


def test_a_failed_command_has_shown_nothing(tmp_path: Path) -> None:
    (tmp_path / "f.txt").write_text("hello\n")
    ctx = RecordingContext(tmp_path)
    with pytest.raises(ToolError, match="Exit code 1"):
        call(ACTION, ctx, command="cat f.txt; false")
    assert ctx.seen == {}
