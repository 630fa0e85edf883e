"""The page: over plain HTTP as any program could ask, and in a real browser with keys and clicks."""

from __future__ import annotations

import http.client
import json
import os
import signal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from diffy_rounds import served
from diffy_run import BEFORE, event
from tmux import wait_for


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


def test_second_agent_waits_for_the_review_of_the_first(tmp_path: Path) -> None:
    with served(tmp_path) as (tree, hook, url):
        visitor = Visitor(url)
        second = tree.start("--hook-mode", "--apply", stdin=event(), BROWSER="false")
        visitor.ask("decide", {"hunks": visitor.hunks()[:1], "verdict": "reject"})
        visitor.ask("finish", {"rest": "accept"})
        assert hook.wait(20) == 2
        assert second.communicate(timeout=20) == ("", "")
        assert second.returncode == 0
