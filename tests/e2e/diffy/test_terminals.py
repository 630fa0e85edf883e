"""Reviews without a multiplexer: by hand, in a companion, around an agent, as its editor."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from diffy_run import AFTER, BEFORE, Tree, accept_the_rest, changed_tree, event, reject_first, screen_pid
from tmux import Terminal, needs_tmux, terminal, wait_for

pytestmark = needs_tmux

SAME = "stty -a > ../before; {}; echo code $? > ../code; stty -a > ../after"


def finish(person: Terminal) -> None:
    """Rejects the first hunk and accepts the rest."""
    reject_first(person)
    accept_the_rest(person)


def code(tree: Tree, person: Terminal) -> str:
    wait_for(lambda: tree.text("after"), person.screen)
    return tree.text("code").strip()


@pytest.mark.requirement("S3-07", "S3-08")
def test_review_by_hand_gives_the_terminal_back(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root, nested=False) as person:
        person.run(SAME.format("echo in | diffy --apply 2> ../err | cat > ../out"))
        finish(person)
        assert code(tree, person) == "code 0"
        assert (tree.text("after"), tree.text("out")) == (tree.text("before"), "")
        assert tree.text("err").startswith("[diffy review result]\nrejected 1 of 3 hunks.\n")
        assert tree.files() == {**AFTER, "a.txt": BEFORE["a.txt"]}


@pytest.mark.requirement("S3-08")
def test_killed_screen_gives_the_terminal_back(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root, nested=False) as person:
        person.run(SAME.format("diffy --apply 2> ../err"))
        person.until("1/3")
        os.kill(screen_pid(tree), signal.SIGKILL)
        assert code(tree, person) == "code 0"
        assert tree.text("after") == tree.text("before")
        assert tree.text("err") == "diffy: the draft is kept; `diffy resume` goes on\n"
        person.run("echo typed")
        person.until("\ntyped")


def test_companion_shows_reviews_of_its_tree(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root, nested=False) as person:
        person.run(SAME.format("diffy watch"))
        person.until("waiting for reviews")
        hook = tree.start("--hook-mode", "--apply", stdin=event())
        finish(person)
        _, err = hook.communicate(timeout=20)
        assert (hook.returncode, "rejected 1 of 3" in err) == (2, True)
        person.until("waiting for reviews")
        person.press("C-c")
        assert code(tree, person) == "code 0"
        assert tree.text("after") == tree.text("before")


# An agent with a full screen: it shows a spinner while its hook runs, and reads a key afterwards.
AGENT = """
stty raw -echo
printf '\\033[?1049h\\033[?2004h\\033[?25lagent is here'
echo '{"session_id": "s"}' | setsid -w diffy --hook-mode --apply 2> ../err
printf '%s' $? > ../code
printf 'answered; spinner 7'
key=$(dd bs=1 count=1 2> /dev/null)
printf '%s' "$key" > ../key
printf '\\033[?25h\\033[?2004l\\033[?1049l'
exit 7
"""


def test_wrapper_lends_the_terminal_of_the_agent(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root, nested=False) as person:
        (tree.place / "agent").write_text(AGENT)
        person.run("stty -a > ../before; diffy run -- sh ../agent; echo left with $?; stty -a > ../after")
        finish(person)
        person.until("answered; spinner 7")
        person.press("k")
        person.until("left with 7")
        assert [tree.text(name) for name in ("code", "key")] == ["2", "k"]
        wait_for(lambda: tree.text("after"))
        assert tree.text("after") == tree.text("before")


def test_editor_is_the_own_one_when_there_is_nothing_to_review(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree:
        tree.write(BEFORE)
        (tree.root / "new.txt").unlink()
        done = tree.diffy("editor", "x.md", EDITOR="diffy editor", DIFFY_EDITOR="echo edited")
        assert (done.returncode, done.stdout) == (0, "edited x.md\n")
