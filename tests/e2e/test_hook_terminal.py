from __future__ import annotations

import json
import os
import pty
import select
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import environment

READ_KEY = "key=$(dd bs=1 count=1 < $FORGE_TTY 2> /dev/null)"
READ_LINE = "read -r key < $FORGE_TTY"
# In what state a hook finds itself: its descriptors, its groups and the terminal.
STATE = (
    "t=; for n in 0 1 2; do test -t $n && t=$t$n; done;"
    ' set -- $(ps -o pgid=,tpgid= -p $$); test "$1" = "$2" && f=front || f=behind;'
    ' (: < /dev/tty) 2> /dev/null && d=dev || d=none; test "$FORGE_TTY" = "$(cat device)" && n=named || n=;'
    ' echo "$f $d $n $FORGE_SESSION_ATTENDED tty:$t" > state'
)


class Screen:
    """A person at a terminal: what is seen, and keys for what is asked."""

    def __init__(self, keys: dict[bytes, bytes]) -> None:
        self.seen = b""
        self.keys = dict(keys)

    def watch(self, terminal: int) -> None:
        while select.select([terminal], [], [], 20)[0]:
            try:
                chunk = os.read(terminal, 4096)
            except OSError:
                return
            if not chunk:
                return
            self.seen += chunk
            for question in [q for q in self.keys if q in self.seen]:
                os.write(terminal, self.keys.pop(question))
        raise TimeoutError(self.seen)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    (tmp_path / "project" / ".claude").mkdir(parents=True)
    return tmp_path / "project"


def play(project: Path, hooks: list[dict[str, Any]], keys: dict[bytes, bytes], more: str = "") -> Screen:
    """A run at a terminal whose state is noted before and after it."""
    entries = [{"type": "command", **hook} for hook in hooks]
    (project / ".claude" / "settings.json").write_text(json.dumps({"hooks": {"Stop": [{"hooks": entries}]}}))
    forge = f"{shlex.quote(sys.executable)} -m forge -p go {more}"
    line = f"tty > device; stty -a > before; {forge}; echo $? > code; stty -a > after; head -c1 > key"
    with serve([[{"text": "ANSWER"}], [{"text": "AGAIN"}]]) as server:
        env = environment(project.parent / "home", server.url)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(project)
            os.execve("/bin/sh", ["sh", "-c", line], env)
        screen = Screen(keys)
        screen.watch(terminal)
        os.close(terminal)
        os.waitpid(pid, 0)
    return screen


def text(project: Path, name: str) -> str:
    return (project / name).read_text().strip()


def test_a_hook_with_the_terminal_is_in_front_of_it_and_gives_it_back(project: Path) -> None:
    asks = f"{STATE}; stty raw -echo < /dev/tty; printf ASK > /dev/tty; {READ_KEY}; echo $key > answer"
    screen = play(project, [{"command": asks, "tty": True}], {b"ASK": b"k", b"ANSWER\r\n": b"x\n"})
    assert b"ANSWER" in screen.seen
    found = [text(project, name) for name in ("state", "answer", "code", "key")]
    assert found == ["front dev named 1 tty:", "k", "0", "x"]
    assert text(project, "after") == text(project, "before")


@pytest.mark.parametrize(
    ("hook", "more"),
    [({}, ""), ({"tty": "yes"}, ""), ({"tty": True}, "< /dev/null --input-format stream-json")],
    ids=["not asked for", "another value", "another program speaks through forge"],
)
def test_other_hooks_have_no_terminal(hook: dict[str, Any], more: str, project: Path) -> None:
    keys = {b"": b"x\n"}
    if more:
        said = {"type": "user", "message": {"role": "user", "content": "go"}}
        (project / "said").write_text(json.dumps(said) + "\n")
        more = more.replace("/dev/null", "said") + " --output-format stream-json --verbose"
    play(project, [{"command": STATE, **hook}], keys, more)
    assert text(project, "state") == "behind none  0 tty:"


def test_a_hook_that_is_ended_leaves_the_terminal_as_it_was(project: Path) -> None:
    hangs = "stty raw -echo < /dev/tty; sleep 60 & wait; sleep 60"
    play(project, [{"command": hangs, "tty": True, "timeout": 0.2}], {b"ANSWER\r\n": b"x\n"})
    assert text(project, "after") == text(project, "before")
    assert (text(project, "code"), text(project, "key")) == ("0", "x")


def test_two_hooks_have_the_terminal_one_after_the_other(project: Path) -> None:
    both = [{"command": f"printf ASK{n} > /dev/tty; {READ_LINE}; echo $key > {n}", "tty": True} for n in "ab"]
    play(project, both, {b"ASKa": b"1\n", b"ASKb": b"2\n", b"ANSWER\r\n": b"x\n"})
    assert [text(project, name) for name in ("a", "b", "key")] == ["1", "2", "x"]
