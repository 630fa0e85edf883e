from __future__ import annotations

import pytest

from forge.core.shell.session.keys import parse_keys
from forge.core.shell.session.prompts import Line, Prompt, UnclearLine
from forge.core.shell.session.screen import Screen, View
from forge.core.shell.session.typed import Typing, as_command, lines_of, program_of

SHELL, REPL = Prompt.SHELL, Prompt.REPL


def view(shown: str = "", *, alternate: bool = False) -> View:
    screen = Screen(24, 80)
    screen.feed((b"\x1b[?1049h" if alternate else b"") + shown.encode())
    return screen.view()


@pytest.mark.parametrize(
    ("command", "program"),
    [
        ("bash --norc", "bash"),
        ("/usr/bin/python3.11 -q", "python"),
        ("sudo -u x bash", "bash"),
        ("docker exec -it web psql", "psql"),
        ("ssh host", "ssh"),
        ("sqlite3 a.db", "sqlite3"),
        ("git rebase -i HEAD~3", "git"),
        ("vim notes.txt", "vim"),
        ("frobnicate", ""),
    ],
)
def test_the_program_that_reads_is_known_by_its_name(command: str, program: str) -> None:
    assert program_of(command) == program


@pytest.mark.requirement("S2-14")
@pytest.mark.parametrize(
    ("command", "shown", "keys", "lines"),
    [
        ("bash", "$ ", "ls<Enter>", [Line(SHELL, "ls")]),
        ("bash", "", "ls<Enter>", [Line(SHELL, "ls")]),
        ("bash", "an odd prompt", "ls<Enter>", [Line(SHELL, "ls")]),
        ("bash", "", "ls", []),
        ("bash", "", "xx<C-c>ls<C-j>", [Line(SHELL, "ls")]),
        ("bash", "", "ls<C-o>", [Line(SHELL, "ls")]),
        ("bash", "$ ", "cat <<E<Enter>x<Enter>E<Enter>", [Line(SHELL, "cat <<E\nx\nE")]),
        ("python3", ">>> ", "f()<Enter>", [Line(REPL, "f()")]),
        ("python3", "", "f()<Enter>", [Line(REPL, "f()")]),
        ("frobnicate", "", "ls<Enter>", []),
        ("vim x", "", "ihello!<Enter>", []),
        ("less x", "", "!make<Enter>", [Line(SHELL, "make")]),
        ("gdb x", "", "shell make<Enter>", [Line(SHELL, "make")]),
    ],
)
def test_lines_are_found_with_and_without_a_prompt(
    command: str, shown: str, keys: str, lines: list[Line]
) -> None:
    assert lines_of(parse_keys(keys), view(shown), Typing(command)) == lines


@pytest.mark.parametrize(
    ("command", "keys", "lines"),
    [
        ("tmux", "ls<Enter>", [Line(SHELL, "ls")]),
        ("python3", "ls<Enter>", []),
        ("vim x", "ihi<Esc>:!make test<Enter>", [Line(SHELL, "make test")]),
        ("vim x", ":r !date<Enter>", [Line(SHELL, "date")]),
        ("vim x", "irm -rf /<Enter>", []),
        ("vim x", ":wq<Enter>", []),
    ],
)
def test_a_full_screen_does_not_hide_commands(command: str, keys: str, lines: list[Line]) -> None:
    assert lines_of(parse_keys(keys), view(alternate=True), Typing(command)) == lines


def test_what_was_typed_before_counts() -> None:
    typing = Typing("bash")
    typing.took([], parse_keys("rm "))
    assert lines_of(parse_keys("x<Enter>"), view(), typing) == [Line(SHELL, "rm x")]
    typing.took([Line(SHELL, "rm x")], parse_keys("x<Enter>"))
    assert lines_of(parse_keys("ls<Enter>"), view(), typing) == [Line(SHELL, "ls")]


@pytest.mark.parametrize("before", ["<Up>", "x<Left>", "<C-r>rm"])
def test_a_line_that_was_edited_out_of_sight_is_unclear(before: str) -> None:
    typing = Typing("bash")
    typing.took([], parse_keys(before))
    with pytest.raises(UnclearLine):
        lines_of(parse_keys("<Enter>"), view(), typing)


def test_earlier_lines_that_change_the_meaning_come_before_a_line() -> None:
    typing = Typing("bash")
    for text in ("cd /etc", "ls", "X=rm"):
        typing.took([Line(SHELL, text)], parse_keys("<Enter>"))
    assert as_command(Line(SHELL, "$X passwd"), typing) == "cd /etc\nX=rm\n$X passwd"
    assert as_command(Line(REPL, " f('x') "), Typing("python3")) == "python3 -c 'f('\\''x'\\'')'"
