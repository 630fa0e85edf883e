from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from forge.core.shell.bash import ACTION
from forge.core.shell.environment import find_shell
from forge.core.shell.habits import Habits
from unit.core.tools.context import RecordingContext, call

RC = """alias greet='echo hello'
twice() { echo "$1$1"; }
_own() { :; }
matches() { [[ $1 == @(a|b) ]] && echo yes; }
echo noise; echo noise >&2; read -r line
"""


def at_home(place: Path, rc: str) -> RecordingContext:
    (place / ".bashrc").write_text(f"shopt -s extglob\n{rc}")
    return RecordingContext(place, {"HOME": str(place), "SHELL": "/bin/bash", "PATH": os.environ["PATH"]})


def test_commands_know_the_functions_and_aliases_of_the_users_shell(tmp_path: Path) -> None:
    ctx = at_home(tmp_path, RC)
    output = call(ACTION, ctx, command="greet; twice ab; matches a; declare -F; shopt -q extglob || echo off")
    assert output.content == "hello\nabab\nyes\ndeclare -f matches\ndeclare -f twice\noff"


@pytest.mark.parametrize("rc", ["", "exit 3\n", "syntax (error\n", "return\n"])
def test_a_file_that_says_nothing_does_no_harm(tmp_path: Path, rc: str) -> None:
    ctx = at_home(tmp_path, rc)
    assert call(ACTION, ctx, command="echo ok").content == "ok"


def test_it_is_taken_once_and_only_if_there_is_something(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("x() { :; }\n")

    async def take(home: Path, times: int) -> list[str]:
        habits = Habits()
        env = {"HOME": str(home), "PATH": os.environ["PATH"]}
        return [await habits.prelude(find_shell(env), env, str(tmp_path / "out")) for _ in range(times)]

    first, second = asyncio.run(take(tmp_path, 2))
    assert first == second != ""
    assert [oct((tmp_path / "out" / name).stat().st_mode)[-3:] for name in os.listdir(tmp_path / "out")] == [
        "600"
    ]
    assert asyncio.run(take(tmp_path / "elsewhere", 1)) == [""]
