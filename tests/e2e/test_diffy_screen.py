"""The review screen in a real terminal: what is seen, and that the terminal comes back as it was."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from diffy_run import changed_tree, ready, screen_pid
from tmux import Terminal, needs_tmux, terminal, wait_for

pytestmark = needs_tmux

MODES = "#{alternate_on} #{mouse_any_flag} #{mouse_sgr_flag} #{cursor_flag} #{wrap_flag}"
SIDE_BY_SIDE = """\
 a.txt +1 −1                                                                           ·3  1/3  since session
 a.txt  modified  +1 −1   ·1
▌· @@ -1,3 +1,3 @@  1 of 3  pending
▌  1   one                                            │  1   one
▌  2 - two                                            │  2 + TWO
▌  3   three                                          │  3   three
"""


def modes(person: Terminal) -> str:
    return person.tmux("display-message", "-p", MODES).strip()


@pytest.mark.requirement("S3-07")
def test_the_screen_shows_both_sides_and_follows_the_size_of_its_terminal(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root, nested=False) as person:
        person.run("diffy --base session; echo ended: $?")
        ready(person)
        person.press("d")
        seen = [line.rstrip() for line in person.until("│  2 + TWO").splitlines()]
        person.tmux("resize-window", "-x", "70", "-y", "12")
        narrow = person.until("2 + TWO", "finish")
        person.press("Q")
        person.until("ended: 0")
        assert seen[:6] == [line.rstrip() for line in SIDE_BY_SIDE.splitlines()]
        assert [line.rstrip(" ▐") for line in narrow.splitlines()[3:7]] == [
            "▌  1 1   one",
            "▌  2   - two",
            "▌    2 + TWO",
            "▌  3 3   three",
        ]


@pytest.mark.requirement("S3-08")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_terminal_and_the_decisions_survive_the_death_of_the_screen(
    tmp_path: Path, number: signal.Signals
) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root, nested=False) as person:
        person.run("stty -a > ../before; diffy; stty -a > ../after; echo end''ed")
        before = modes(person)
        ready(person)
        person.press("r")
        person.until("✗1")
        os.kill(screen_pid(tree), number)
        person.until("ended")
        wait_for(lambda: modes(person) == before, lambda: modes(person))
        assert tree.text("after") == tree.text("before") != ""
        person.run("clear; diffy resume")
        person.until("✗1", "since session")


def test_a_dumb_terminal_gets_lines(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root, nested=False) as person:
        person.run("TERM=dumb diffy --base session --apply; echo ended: $?")
        person.until("(1/3) accept this hunk")
        person.run("n")
        person.until("(2/3) accept")
        person.run("q")
        person.until("keep them pending (k)")
        person.run("a")
        person.until("rejected 1 of 3 hunks", "ended: 2")
        assert tree.files()["a.txt"] == "one\ntwo\nthree\n"
