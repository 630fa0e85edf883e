"""Reviews in real terminals: a person presses keys in tmux, and the hook answers the agent."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from diffy_run import (
    AFTER,
    BEFORE,
    HOOK,
    Tree,
    accept_the_rest,
    changed_tree,
    event,
    hook_pid,
    ready,
    reject_first,
    screen_pid,
)
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


def ended(tree: Tree, person: Terminal) -> str:
    wait_for(lambda: tree.text("code").endswith("\n"), person.screen)
    return tree.text("code").strip()


@pytest.mark.requirement("S3-01", "S3-03", "S3-05", "S3-13")
def test_popup_that_is_killed_loses_nothing_and_the_next_one_reaches_the_agent(tmp_path: Path) -> None:
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root) as person:
        person.run(HOOK)
        ready(person)
        person.press("c")
        person.until("Comment on")
        person.tmux("send-keys", "-l", "keep two")
        person.press("Enter")
        person.until("┃ keep two")
        person.press("r")
        person.until("✗1")
        os.kill(screen_pid(tree), signal.SIGKILL)
        assert ended(tree, person) == "0"
        text = "diffy: 3 hunks not reviewed — `diffy resume` goes on where you left"
        assert (tree.text("out"), tree.text("err")) == (f'{{"systemMessage":"{text}"}}\n', f"{text}\n")
        assert tree.files() == AFTER
        person.gone("└")  # the popup
        person.run(HOOK)
        person.until("✗1", "┃ keep two")
        ready(person)
        accept_the_rest(person)
        wait_for(lambda: tree.text("code") == "2\n", person.screen)
        assert (tree.text("err"), tree.text("out")) == (FEEDBACK, "")
        assert tree.files() == {**AFTER, "a.txt": BEFORE["a.txt"]}


def test_window_whose_hook_is_ended_is_joined_by_the_next_or_its_result_is_kept(tmp_path: Path) -> None:
    # Nobody is attached to this tmux, so that it can show no popup.
    with changed_tree(tmp_path) as tree, terminal(tree.env, tree.root, nested=False) as person:
        person.run(HOOK)
        reject_first(person)
        os.kill(hook_pid(tree), signal.SIGTERM)
        person.until("no longer waits")
        wait_for(lambda: tree.text("code") == "143\n")
        second = tree.start("--hook-mode", "--apply", stdin=event())
        person.gone("no longer waits")
        second.kill()
        second.communicate()
        person.until("no longer waits")
        accept_the_rest(person)
        wait_for(lambda: "rejected 1 of 3" in tree.diffy("mark", "--deliver", stdin=event()).stdout)
        assert tree.files() == {**AFTER, "a.txt": BEFORE["a.txt"]}
