"""What a decision costs grows with the length of the command and not faster."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from unit.foundation.permissions.workspace import build, judge, verdict

GIVEN = {
    "allow": ["Bash"],
    "deny": ["Bash(rm *)", "Read(secrets/**)", "Edit(docs/**)"],
    "ask": ["Bash(foo *)"],
}
LONG = {
    "changes of directory": "cd a && ",
    "changes upwards": "cd .. ; ",
    "changes to one place": "cd /x && ",
    "commands": "ls x; ",
    "pipes": "cat | ",
    "wrappers": "timeout 5 ",
    "scripts": "bash -c 'cd a'; ",
    "backquotes": "`ls`; ",
    "redirections": ">x ",
    "errors": ") ; ",
}


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("workspace"))


def calls(command: str, root: Path) -> int:
    """How many functions are called to decide on a command."""
    count = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        judge(GIVEN, command, root)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("part", LONG.values(), ids=list(LONG))
def test_twice_the_command_is_about_twice_the_work(part: str, root: Path) -> None:
    once, twice = (calls(part * number + "ls", root) for number in (110, 220))
    assert twice < 2.5 * once


@pytest.mark.parametrize(
    ("given", "command", "expected"),
    [
        (GIVEN, "cd a && " * 100 + "ls", "allow"),
        (GIVEN, "cd a && " * 101 + "ls", "ask"),
        (GIVEN, "cd a && " * 900 + "ls", "ask"),
        (GIVEN, f"cd {'a' * 200} && " * 30 + "cat key.txt", "ask"),
        ({"allow": ["Bash"], "deny": ["Bash(rm *)"]}, "cd a && " * 101 + "ls", "allow"),
        ({"mode": "bypassPermissions", "deny": ["Read(secrets/**)"]}, "cd a && " * 101 + "ls", "ask"),
    ],
)
def test_a_command_that_cannot_be_followed_to_its_end_is_asked_about_where_paths_are_denied(
    given: dict[str, Any], command: str, expected: str, root: Path
) -> None:
    assert verdict(given, command, root) == expected
