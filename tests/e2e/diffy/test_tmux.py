"""Reviews in real terminals: a person presses keys in tmux, and the hook answers the agent."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from diffy_run import AFTER, BEFORE, HOOK, Tree, changed_tree, event, ready, screen_pid
from tmux import Terminal, needs_tmux, terminal, wait_for

pytestmark = needs_tmux

FEEDBACK = """[diffy review result]
rejected 1 of 3 hunks.
the rejected hunks were reverted on disk; line numbers refer to the state before that. read the files again \
before you edit them.

- a.txt (lines 1-3): rejected
  comment: keep two
  ```diff
   one
  -two
  +TWO
   three
  ```

please fix the rejected hunks and try again.
"""


def review(person: Terminal) -> None:
    """Rejects the first hunk with a comment and accepts the others."""
    ready(person)
    person.press("c")
    person.until("Comment on")
    person.press("k", "e", "e", "p", "Space", "t", "w", "o", "Enter")
    person.until("keep two")
    person.press("r")
    person.until("rejected")
    person.press("Enter")
    person.until("have no verdict")
    person.press("a")


def ended(tree: Tree, person: Terminal) -> str:
    wait_for(lambda: tree.text("code").endswith("\n"), person.screen)
    return tree.text("code").strip()


def hook_pid(tree: Tree) -> int:
    """The process that waits for the review."""
    state = next(Path(tree.env["DIFFY_RUNTIME_DIR"]).glob("review-*/state.json"))
    return int(json.loads(state.read_text())["hook"][0])


@pytest.mark.requirement("S3-01", "S3-03", "S3-05", "S3-13")
@pytest.mark.parametrize("surface", ["", " --surface tmux-window"], ids=["popup", "window"])
def test_keys_in_tmux_reach_the_agent(tmp_path: Path, surface: str) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root) as person:
        person.run(HOOK.replace("--apply", f"--apply{surface}"))
        review(person)
        assert (ended(tree, person), tree.text("err"), tree.text("out")) == ("2", FEEDBACK, "")
        assert tree.files() == {**AFTER, "a.txt": BEFORE["a.txt"]}
        assert tree.diffy("--hook-mode", "--apply", stdin=event()).returncode == 0


def reject_first(person: Terminal) -> None:
    ready(person)
    person.press("r")
    person.until("rejected")


def resume(tree: Tree, person: Terminal) -> None:
    """Goes on with the draft, which still has the rejection, and finishes."""
    person.gone("└")  # the popup
    person.run("diffy resume; echo resumed: $?")
    person.until("✗1")
    person.press("Enter")
    person.until("have no verdict")
    person.press("a")
    person.until("resumed: 0", "goes with your next prompt")
    told = tree.diffy("mark", "--deliver", stdin=event("UserPromptSubmit")).stdout
    assert '"hookEventName":"UserPromptSubmit"' in told
    assert "rejected 1 of 3 hunks." in told
    assert tree.files() == {**AFTER, "a.txt": BEFORE["a.txt"]}


@pytest.mark.parametrize("how", ["kill -9", "closed", "q"])
def test_screen_that_ends_early_loses_nothing(tmp_path: Path, how: str) -> None:
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
        assert ended(tree, person) == "0"
        text = "diffy: 3 hunks not reviewed — `diffy resume` goes on where you left"
        assert (tree.text("out"), tree.text("err")) == (f'{{"systemMessage":"{text}"}}\n', f"{text}\n")
        assert tree.files() == AFTER
        resume(tree, person)


def test_review_whose_hook_was_ended_goes_with_the_next_prompt(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root) as person:
        person.run(HOOK)
        reject_first(person)
        os.kill(hook_pid(tree), signal.SIGTERM)
        person.until("no longer waits")
        assert tree.text("code") == "143\n"
        person.press("Enter")
        person.until("have no verdict")
        person.press("a")
        wait_for(lambda: "rejected 1 of 3" in tree.diffy("mark", "--deliver", stdin=event()).stdout)
        assert tree.files() == {**AFTER, "a.txt": BEFORE["a.txt"]}


def test_next_stop_joins_a_screen_that_is_still_open(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root) as person:
        person.run(HOOK)
        reject_first(person)
        os.kill(hook_pid(tree), signal.SIGKILL)
        person.until("no longer waits")
        second = tree.start("--hook-mode", "--apply", stdin=event())
        person.gone("no longer waits")
        person.press("Enter")
        person.until("have no verdict")
        person.press("a")
        _, err = second.communicate(timeout=20)
        assert (second.returncode, "rejected 1 of 3" in err) == (2, True)
