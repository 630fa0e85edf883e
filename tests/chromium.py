"""A real browser without a window, driven over two pipes: real keys, real clicks."""

from __future__ import annotations

import json
import os
import select
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((path for name in NAMES if (path := shutil.which(name))), "")
needs_chromium = pytest.mark.skipif(not BROWSER, reason="no Chromium in sight: apt-get install chromium")
SECONDS = 25.0
FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--remote-debugging-pipe", "--disable-background-networking", "--window-size=1200,800"),
)
KEYS = {
    "Enter": {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"},
    "Tab": {"key": "Tab", "code": "Tab", "windowsVirtualKeyCode": 9},
    " ": {"key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": " "},
}


class Page:
    """One page. `value` evaluates an expression, `press` and `click` are a user's."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing
        self._rest = b""
        self._count = 0
        self._session = ""
        self.requests: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Network.enable")

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._count += 1
        message = {"id": self._count, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writing, json.dumps(message).encode() + b"\0")
        while True:
            found = self._next()
            if found.get("method") == "Network.requestWillBeSent":
                self.requests.append(found["params"]["request"]["url"])
            if found.get("id") == self._count:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']}")
                result: dict[str, Any] = found["result"]
                return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            if not select.select([self._reading], [], [], SECONDS)[0]:
                raise TimeoutError("the browser does not answer")
            block = os.read(self._reading, 1 << 20)
            if not block:
                raise ConnectionError("the browser has ended")
            self._rest += block
        line, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(line)
        return found

    def open(self, url: str) -> None:
        self.call("Page.navigate", url=url)

    def value(self, expression: str) -> Any:
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(done["exceptionDetails"])
        return done["result"].get("value")

    def until(self, expression: str) -> Any:
        """Waits until an expression is true."""
        end = time.monotonic() + SECONDS
        while not (found := self.value(f"!!({expression})")):
            if time.monotonic() > end:
                raise TimeoutError(f"{expression}: {found!r}\n{self.value('document.body.innerText')}")
            select.select([], [], [], 0.03)
        return found

    def press(self, *keys: str) -> None:
        for key in keys:
            more = KEYS.get(key, {"key": key, "text": key})
            self.call("Input.dispatchKeyEvent", type="keyDown", **more)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=more["key"])

    def write(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        place = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView();"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )


@contextmanager
def browser(env: dict[str, str]) -> Iterator[Page]:
    """A page of a new browser with an empty profile."""
    with TemporaryDirectory(prefix="b", dir="/tmp", ignore_cleanup_errors=True) as profile:
        to_browser, commands = os.pipe()
        answers, from_browser = os.pipe()
        null = os.open(os.devnull, os.O_RDWR)
        actions: list[Any] = [(os.POSIX_SPAWN_DUP2, null, number) for number in (0, 1, 2)]
        actions += [(os.POSIX_SPAWN_DUP2, to_browser, 3), (os.POSIX_SPAWN_DUP2, from_browser, 4)]
        argv = [BROWSER, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        home = {**env, "HOME": profile}
        pid = os.posix_spawn(BROWSER, argv, home, file_actions=_above(actions), setsid=True)
        for number in (to_browser, from_browser, null):
            os.close(number)
        try:
            yield Page(answers, commands)
        finally:
            os.close(commands)
            os.close(answers)
            with suppress(ProcessLookupError):
                os.killpg(pid, 9)
            os.waitpid(pid, 0)


def _above(actions: list[Any]) -> list[Any]:
    """The same with sources that no target overwrites."""
    return [
        (kind, os.dup(source) if source in (3, 4) else source, target) for kind, source, target in actions
    ]
