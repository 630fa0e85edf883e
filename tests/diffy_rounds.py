"""Two rounds of an agent and its reviewer: a change that is rejected with a comment, and a better one."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from chromium import Page
from diffy_run import Tree, changed_tree, event
from tmux import Terminal, wait_for

HIDDEN = "a\x1b[31mb\u202ec<script>alert(1)</script>\n"
FIRST, SECOND = "one\nTWO\nthree\n", "one\n2\nthree\n"
TURNS: list[Any] = [
    [{"tool": "Bash", "input": {"command": "printf 'one\\nTWO\\nthree\\n' > a.txt"}}],
    [{"text": "done"}],
    [{"tool": "Bash", "input": {"command": "printf 'one\\n2\\nthree\\n' > a.txt"}}],
    [{"text": "done again"}],
]
FEEDBACK = """[diffy review result]
rejected 1 of 1 hunks.
the rejected hunks were reverted on disk; line numbers refer to the state before that. read the files again \
before you edit them.

- a.txt (lines 1-3): rejected
  comment: a digit please
  ```diff
   one
  -two
  +TWO
   three
  ```

please fix the rejected hunks and try again.
"""


def told(bodies: list[dict[str, Any]]) -> str:
    """What the model was told about the review: the last text of its third request."""
    asked = [body for body in bodies if body.get("tools")][2]
    content = asked["messages"][-1]["content"]
    blocks = content if isinstance(content, list) else [{"text": content}]
    found = [block["text"] for block in blocks if "[diffy review result]" in block.get("text", "")]
    return found[-1] if found else str(asked["messages"][-1])


def by_keys(person: Terminal) -> None:
    """Both rounds on a screen in the person's terminal."""
    awake(person, "+ TWO")
    person.press("c")
    person.until("Comment on")
    person.tmux("send-keys", "-l", "a digit please")
    person.press("Enter")
    person.until("┃ a digit please", "Enter finish")
    person.press("r")
    person.until("✗")
    person.press("Enter")
    person.until("Finish?")
    person.press("y")
    awake(person, "+ 2")
    person.press("a")
    person.until("✓1")
    person.press("Enter")
    person.until("Finish?")
    person.press("y")
    person.gone("✓1")


def awake(person: Terminal, text: str) -> None:
    """The screen shows this and takes keys: those of its first moment do not count."""
    person.until(text)

    def moves() -> bool:
        person.press("j")
        return "this is the last hunk" in person.screen()

    wait_for(moves, person.screen)


def by_page(tree: Tree, page: Page) -> None:
    """Both rounds on pages that the person's browser opens."""
    open_next(tree, page)
    page.press("c")
    page.until("document.querySelector('#comment[open]')")
    page.write("a digit please")
    page.click("#comment button.primary")
    page.until("document.querySelector('article p').textContent")
    page.press("r")
    page.until("document.querySelector('article.rejected')")
    finish(page)
    open_next(tree, page)
    page.press("a")
    page.until("document.querySelector('article.accepted')")
    finish(page)


def open_next(tree: Tree, page: Page) -> None:
    url = tree.place / "url"
    wait_for(url.exists)
    page.open(url.read_text().strip())
    url.unlink()
    page.until("document.body && document.body.dataset.ready && Date.now() - opened > review.guard_ms")


def finish(page: Page) -> None:
    page.press("Enter")
    page.until("document.querySelector('#ask[open]')")
    page.click("#answers button")
    page.until("document.body.dataset.ended")


def recording_browser(place: Path) -> str:
    """A program that only writes down which page it was asked to open."""
    script = place / "browse"
    script.write_text(f'#!/bin/sh\necho "$1" > {place}/part; mv {place}/part {place}/url\n')
    script.chmod(0o755)
    return str(script)


@contextmanager
def served(place: Path) -> Iterator[tuple[Tree, subprocess.Popen[str], str]]:
    """A hook that waits for the page, and the page's address as a browser gets it."""
    with changed_tree(place) as tree:
        (tree.root / "new.txt").write_text(HIDDEN)
        script = recording_browser(place)
        hook = tree.start("--hook-mode", "--apply", stdin=event(), BROWSER=script)
        try:
            wait_for(lambda: tree.text("url"))
            yield tree, hook, tree.text("url").strip()
        finally:
            hook.kill()
            hook.communicate()
