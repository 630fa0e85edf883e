from __future__ import annotations

from pathlib import Path

import pytest

from e2e.cli.process import forge
from forge.hosts.cli.flags import COMMANDS


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(tmp_path: Path, command: str) -> None:
    done = forge(command, "--help", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: forge {command}")
    assert f"\nExamples:\n  forge {command}" in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_what_it_does_not_know(tmp_path: Path, command: str) -> None:
    option = forge(command, "--nonsense", cwd=tmp_path)
    words = forge(command, "list", "too", "many", "words", cwd=tmp_path)
    assert (option.code, words.code) == (1, 1)
    assert option.err == f"error: unknown option '--nonsense'\nSee: forge {command} --help\n"
    assert words.err.startswith(("Too many arguments: ", "list takes no word"))
