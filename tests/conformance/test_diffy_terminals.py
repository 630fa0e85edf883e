"""Longer runs of diffy in real terminals, beside the comparison with the reference."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from diffy_run import (
    AFTER,
    BEFORE,
    HOOK,
    accept_the_rest,
    changed_tree,
    event,
    hook_pid,
    reject_first,
    screen_pid,
)
from tmux import needs_tmux, terminal, wait_for

pytestmark = needs_tmux
SAME = "stty -a > ../before; {}; echo code $? > ../code; stty -a > ../after"


@pytest.mark.parametrize("how", ["kill -9", "closed", "q"])
def test_screen_that_ends_early_is_resumed_with_its_draft(tmp_path: Path, how: str) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root) as person:
        person.run(HOOK)
        reject_first(person)
        if how == "kill -9":
            os.kill(screen_pid(tree), signal.SIGKILL)
        elif how == "closed":
            person.tmux("display-popup", "-C", inner=True)
        else:
            person.press("q")
            person.until("have no verdict")
            person.press("l")
        wait_for(lambda: tree.text("code") == "0\n", person.screen)
        assert tree.files() == AFTER
        person.gone("└")  # the popup
        person.run("diffy resume; echo resumed: $?")
        person.until("✗1")
        accept_the_rest(person)
        person.until("resumed: 0", "goes with your next prompt")
        told = tree.diffy("mark", "--deliver", stdin=event("UserPromptSubmit")).stdout
        assert '"hookEventName":"UserPromptSubmit"' in told
        assert "rejected 1 of 3 hunks." in told
        assert tree.files() == {**AFTER, "a.txt": BEFORE["a.txt"]}


def test_review_moves_from_a_popup_to_another_terminal(tmp_path: Path) -> None:
    with (
        changed_tree(tmp_path) as tree,
        terminal(tree.env, tree.root) as person,
        terminal(tree.env, tree.root, nested=False) as other,
    ):
        person.run(HOOK)
        reject_first(person)
        other.run("diffy resume; echo resumed: $?")
        other.until("✗1")
        person.gone("└")  # the popup
        accept_the_rest(other)
        other.until("resumed: 0")
        wait_for(lambda: tree.text("code") == "2\n", person.screen)
        assert tree.text("err").startswith("[diffy review result]\nrejected 1 of 3 hunks.")


def test_next_stop_joins_a_popup_whose_hook_was_killed(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root) as person:
        person.run(HOOK)
        reject_first(person)
        os.kill(hook_pid(tree), signal.SIGKILL)
        person.until("no longer waits")
        second = tree.start("--hook-mode", "--apply", stdin=event())
        person.gone("no longer waits")
        accept_the_rest(person)
        _, err = second.communicate(timeout=20)
        assert (second.returncode, "rejected 1 of 3" in err) == (2, True)


@pytest.mark.requirement("S3-08")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_signalled_screen_gives_the_terminal_back(tmp_path: Path, number: signal.Signals) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root, nested=False) as person:
        person.run(SAME.format("diffy --apply 2> ../err"))
        person.until("1/3")
        os.kill(screen_pid(tree), number)
        wait_for(lambda: tree.text("after"), person.screen)
        assert tree.text("after") == tree.text("before")
        assert tree.text("err") == "diffy: the draft is kept; `diffy resume` goes on\n"


def test_resized_screen_draws_itself_anew(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root, nested=False) as person:
        person.run(SAME.format("diffy --apply 2> ../err"))
        person.until("1/3")
        for columns, rows in ((50, 12), (160, 45)):
            person.tmux("resize-window", "-x", str(columns), "-y", str(rows))
            person.until("1/3", "+ TWO")
        reject_first(person)
        accept_the_rest(person)
        wait_for(lambda: tree.text("after"), person.screen)
        assert tree.text("code") == "code 2\n"


def test_editor_puts_the_feedback_into_the_prompt(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root, nested=False) as person:
        (tree.place / "prompt.md").write_text("my text\n")
        person.run(SAME.format("diffy editor ../prompt.md"))
        reject_first(person)
        accept_the_rest(person)
        wait_for(lambda: tree.text("after"), person.screen)
        assert tree.text("code") == "code 0\n"
        assert tree.text("prompt.md").startswith("my text\n\n[diffy review result]\nrejected 1 of 3")
