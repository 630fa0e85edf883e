"""The page: over plain HTTP as any program could ask, and in a real browser with keys and clicks."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from chromium import Page, browser, needs_chromium
from diffy_rounds import recording_browser
from diffy_run import AFTER, BEFORE, Tree, changed_tree, event
from tmux import wait_for

HIDDEN = "a\x1b[31mb\u202ec<script>alert(1)</script>\n"


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


class Visitor:
    """Asks for parts of a page. A browser sends the origin and the kind by itself."""

    def __init__(self, url: str) -> None:
        self._url = urlsplit(url)
        self.token = self._url.path
        self.origin = f"{self._url.scheme}://{self._url.netloc}"

    def ask(self, name: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        connection = http.client.HTTPConnection(self._url.netloc, timeout=20)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        data = None
        if body is not None:
            data = json.dumps(body)
            given = {"Origin": self.origin, "Content-Type": "application/json", **given}
        connection.request("GET" if body is None else "POST", self.token + name, data, given)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, json.loads(text) if text[:1] == b"{" else text

    def hunks(self) -> list[str]:
        listing = self.ask("review")[1]["listing"]
        return [hunk["id"] for file in listing["files"] for hunk in file["hunks"]]


def test_page_is_only_for_whoever_has_its_address(tmp_path: Path) -> None:
    with served(tmp_path) as (tree, _, url):
        visitor = Visitor(url)
        hunk = visitor.hunks()[0]
        reject = {"hunks": [hunk], "verdict": "reject"}
        assert visitor.ask("decide", reject, Origin="http://evil.test")[0] == 403
        assert visitor.ask("review", Host="evil.test")[0] == 403
        assert visitor.ask("decide", reject, Content_Type="text/plain")[0] == 403
        assert visitor.ask("decide", {"hunks": ["no"], "verdict": "reject"}) == (
            400,
            {"error": "no such hunk"},
        )
        assert visitor.ask("decide", {"verdict": 1})[0] == 400
        assert visitor.ask("../../etc/passwd")[0] == 404
        visitor.token = "/guess/"
        assert visitor.ask("review")[0] == 404
        visitor = Visitor(url)
        assert visitor.ask("state") == (200, {"waiting": True, "closed": ""})
        assert visitor.ask("review")[1]["states"] == {}
        assert tree.diffy("web").stdout.strip() == url


def test_page_goes_on_when_the_hook_is_ended(tmp_path: Path) -> None:
    with served(tmp_path) as (tree, hook, url):
        visitor = Visitor(url)
        visitor.ask("decide", {"hunks": visitor.hunks()[:1], "verdict": "reject"})
        os.killpg(hook.pid, signal.SIGTERM)
        assert hook.wait(20) == 143
        wait_for(lambda: not visitor.ask("state")[1]["waiting"])
        said = visitor.ask("finish", {"rest": "accept"})[1]["said"]
        assert "goes with your next prompt" in said
        told = tree.diffy("mark", "--deliver", stdin=event("UserPromptSubmit")).stdout
        assert "rejected 1 of 3 hunks." in told
        assert (tree.root / "a.txt").read_text() == BEFORE["a.txt"]


def choose_answer(page: Page, number: int) -> None:
    page.until("document.querySelector('#ask[open]')")
    page.click(f"#answers button:nth-child({number})")


@needs_chromium
def test_page_is_used_with_keys_and_mouse(tmp_path: Path) -> None:
    with served(tmp_path) as (tree, hook, url), browser(tree.env) as page:
        page.open(url)
        page.until("document.body && document.body.dataset.ready")
        page.press("r")  # within the first moment: no verdict
        assert "3 pending" in page.value("document.body.innerText")
        page.until("Date.now() - opened > review.guard_ms")
        page.press("c")
        page.until("document.querySelector('#comment[open]')")
        page.write("keep two")
        page.click("#comment button.primary")
        page.until("document.querySelector('article p').textContent === 'comment: keep two'")
        page.press("r")
        page.until("document.querySelectorAll('article.rejected').length === 1")
        page.click("article:nth-of-type(2) button")
        page.until("document.querySelectorAll('article.accepted').length === 1")
        page.press("u")
        page.until("document.querySelectorAll('article.accepted').length === 0")
        shown = page.value("document.body.innerText")
        assert "a␛[31mb<U+202E>c<script>alert(1)</script>" in shown
        page.press("Enter")
        choose_answer(page, 2)
        page.until("document.body.dataset.ended")
        assert page.value("document.getElementById('agent').textContent") == "sent to the agent"
        assert {urlsplit(url).netloc for url in page.requests} == {urlsplit(url).netloc}
        _, err = hook.communicate(timeout=20)
        assert (hook.returncode, "  comment: keep two\n" in err) == (2, True)
        assert tree.files() == {**AFTER, "a.txt": BEFORE["a.txt"], "new.txt": HIDDEN}
