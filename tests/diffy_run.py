"""A repository with an agent's changes in it, and `diffy` as an agent's hooks and a person call it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from forge_run import environment
from tmux import Terminal, command_path, wait_for

BEFORE = {"a.txt": "one\ntwo\nthree\n", "b.txt": "alpha\nbeta\n"}
AFTER = {"a.txt": "one\nTWO\nthree\n", "b.txt": "alpha\nbeta\ngamma\n", "new.txt": "fresh\n"}
# A hook has no terminal of its own, like those of the reference.
HOOK = (
    'echo \'{"session_id": "s"}\' | setsid -w diffy --hook-mode --apply 2> ../err > ../out; echo $? > ../code'
)


class Tree:
    """A work tree with the environment for everything that runs in it."""

    def __init__(self, place: Path, runtime: str) -> None:
        self.place = place
        self.root = place / "tree"
        self.root.mkdir()
        (place / "home").mkdir()
        path = command_path(place, "diffy", [sys.executable, "-m", "forge.hosts.diffy"])
        command_path(place, "forge", [sys.executable, "-m", "forge"])
        self.env = environment(place / "home", DIFFY_RUNTIME_DIR=runtime, EDITOR="true") | {"PATH": path}
        self.git("init", "-q")
        self.git("config", "user.email", "ann@example.org")
        self.git("config", "user.name", "Ann")
        self.write(BEFORE)
        self.git("add", ".")
        self.git("commit", "-qm", "first")

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.root, env=self.env, capture_output=True, text=True, check=True
        )
        return done.stdout

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.root / name).write_text(text)

    def files(self) -> dict[str, str]:
        return {p.name: p.read_text() for p in sorted(self.root.iterdir()) if p.is_file()}

    def diffy(self, *words: str, stdin: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        """Runs diffy as a hook does: no terminal anywhere."""
        return subprocess.run(
            [sys.executable, "-m", "forge.hosts.diffy", *words],
            cwd=self.root,
            env=self.env | more,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            start_new_session=True,
        )

    def start(self, *words: str, stdin: str = "", **more: str) -> subprocess.Popen[str]:
        """The same without waiting for its end."""
        process = subprocess.Popen(
            [sys.executable, "-m", "forge.hosts.diffy", *words],
            cwd=self.root,
            env=self.env | more,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        process.stdin = None
        return process

    def text(self, name: str) -> str:
        """A file beside the tree that a command line of a test has written; empty before."""
        path = self.place / name
        return path.read_text() if path.exists() else ""


def event(name: str = "", session: str = "s", **more: str) -> str:
    return json.dumps({"session_id": session, "hook_event_name": name, **more})


@contextmanager
def new_tree(place: Path) -> Iterator[Tree]:
    """A tree with one commit. Sockets have short names, so their directory is elsewhere."""
    with TemporaryDirectory(prefix="d", dir="/tmp") as runtime:
        yield Tree(place, runtime)


@contextmanager
def changed_tree(place: Path) -> Iterator[Tree]:
    """A tree whose agent has started, and has changed three files."""
    with new_tree(place) as tree:
        tree.diffy("mark", stdin=event("SessionStart", source="startup"))
        tree.write(AFTER)
        yield tree


def ready(person: Terminal) -> None:
    """The screen is there and takes keys: those of its first moment do not count."""
    person.until("1/3")

    def moved() -> bool:
        person.press("j")
        return "1/3" not in person.screen()

    wait_for(moved, person.screen)
    person.press("g", "g")
    person.until("1/3")


def screen_pid(tree: Tree) -> int:
    """The process of the screen, as soon as there is one."""

    def screens() -> list[Path]:
        return list(Path(tree.env["DIFFY_RUNTIME_DIR"]).glob("review-*/screen"))

    wait_for(screens)
    return int(screens()[0].read_text().split()[0])


def reject_first(person: Terminal) -> None:
    ready(person)
    person.press("r")
    person.until("✗1")


def accept_the_rest(person: Terminal) -> None:
    """Finishes a review that has hunks without a verdict."""
    person.press("Enter")
    person.until("have no verdict")
    person.press("a")


def hook_pid(tree: Tree) -> int:
    """The process that waits for the review."""
    state = next(Path(tree.env["DIFFY_RUNTIME_DIR"]).glob("review-*/state.json"))
    return int(json.loads(state.read_text())["hook"][0])
