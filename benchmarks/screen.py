"""`python -m benchmarks.screen`: diffy's screen on a diff of 150,000 lines: first frame, pages, verdicts."""

from __future__ import annotations

import argparse
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

from benchmarks.table import table
from forge.core.review.baseline import resolve
from forge.core.review.listing import list_changes
from forge.core.review.repository import find
from forge.core.review.snapshot import take
from forge.foundation.system.controlling import spawn_in_terminal
from forge.foundation.system.terminal import open_terminal
from forge.hosts.diffy.surfaces.runtime import ReviewState, write_review

WORDS = ("total", "price", "item", "account", "cart", "name", "value", "owner", "order", "charge", "ledger")
PER_FILE = 1500
STEPS = {
    "page down": b"\x1b[6~",
    "next hunk": b"j",
    "scroll one row": b"\x1b[B",
    "accept": b"a",
    "reject and go on": b"r",
    "undo": b"u",
    "next file": b"n",
    "page down, side by side": b"d|\x1b[6~",
    "page down, wrapped": b"dw|\x1b[6~",
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screen", description=__doc__)
    parser.add_argument("--lines", type=int, default=150_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=30)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        folder, lines = _prepare(directory, options.lines)
        firsts = [_first(directory, folder) for _ in range(options.rounds)]
        print(f"a diff of {lines} lines")
        print(
            table(
                [
                    {"first frame": name, "CPU ms": f"{min(row[name] for row in firsts):.0f}"}
                    for name in firsts[0]
                ]
            )
        )
        print()
        print(table(_steps(directory, folder, options.repeat)))
    return 0


def _prepare(directory: str, wanted: int) -> tuple[str, int]:
    root = os.path.join(directory, "tree")
    os.makedirs(root)
    files = max(1, wanted // 825)
    texts = [[_line(file, number) for number in range(PER_FILE)] for file in range(files)]
    _write(root, texts)
    git = ["git", "-C", root, "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "one"]):
        subprocess.run([*git, *words], check=True)
    _write(root, [[_changed(line, at) for at, line in enumerate(text)] for text in texts])
    repo = find(root, os.environ)
    listing = list_changes(repo, resolve(repo, "HEAD"), take(repo).tree)
    state = ReviewState(
        id="bench",
        root=root,
        base=listing.base,
        snapshot=listing.snapshot,
        draft=os.path.join(directory, "draft"),
    )
    return write_review(directory, state), sum(
        len(unit.lines) for file in listing.files for unit in file.hunks
    )


def _line(file: int, number: int) -> str:
    first, second = WORDS[(file + number) % len(WORDS)], WORDS[(file * 7 + number * 3) % len(WORDS)]
    return f"{'    ' * (1 + number % 3)}{first}_{number % 97} = {second}({number}, '{first}')\n"


def _changed(line: str, at: int) -> str:
    return line.replace(" = ", " = 1 + ", 1) if 5 <= at % 33 <= 10 else line


def _write(root: str, texts: list[list[str]]) -> None:
    for number, text in enumerate(texts):
        with open(os.path.join(root, f"m{number:03}.py"), "w", encoding="utf-8") as file:
            file.writelines(text)


class Screen:
    """The real program in a terminal of 120 columns and 40 rows."""

    def __init__(self, directory: str, folder: str) -> None:
        env = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "DIFFY_RUNTIME_DIR": directory,
        }
        self.master, slave = open_terminal(40, 120, plain=False)
        command = [sys.executable, "-P", "-m", "forge.hosts.diffy", "ui", "--review", folder]
        self.pid = spawn_in_terminal(command, env, slave)
        os.close(slave)

    def quiet(self, needle: bytes = b"", silence: float = 0.15) -> bytes:
        """What it draws until it is silent, and until the needle was there."""
        seen = b""
        while True:
            ready, _, _ = select.select([self.master], [], [], 5.0 if needle not in seen else silence)
            if not ready:
                return seen
            seen += os.read(self.master, 1 << 16)

    def cpu(self) -> float:
        """Milliseconds of all threads so far."""
        total = 0
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
        return total / 1e6

    def children(self) -> float:
        """Milliseconds of the processes it has waited for: git."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii") as file:
            words = file.read().rpartition(")")[2].split()
        return (int(words[13]) + int(words[14])) * 1000 / os.sysconf("SC_CLK_TCK")

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def close(self) -> None:
        os.kill(self.pid, signal.SIGTERM)
        os.waitpid(self.pid, 0)
        os.close(self.master)


def _first(directory: str, folder: str) -> dict[str, float]:
    screen = Screen(directory, folder)
    seen = b""
    begin = time.perf_counter()
    while b"finish" not in seen:
        seen += (
            os.read(screen.master, 1 << 16) if select.select([screen.master], [], [], 10)[0] else b"finish"
        )
    wall = (time.perf_counter() - begin) * 1e3
    own, git = screen.cpu(), screen.children()
    screen.quiet()
    after = screen.cpu()
    screen.close()
    return {
        "program": own,
        "git": git,
        "together": own + git,
        "syntax colours, afterwards": after - own,
        "(wall)": wall,
    }


def _steps(directory: str, folder: str, repeat: int) -> list[dict[str, str]]:
    rows = []
    screen = Screen(directory, folder)
    screen.quiet(b"finish", 0.5)
    for name, keys in STEPS.items():
        before, _, key = keys.rpartition(b"|")
        for byte in before:
            screen.press(bytes([byte]))
            screen.quiet(silence=0.4)
        begin, size = screen.cpu(), 0
        for _ in range(repeat):
            screen.press(key)
            size += len(screen.quiet(silence=0.05))
        rows.append(
            {
                "key": name,
                "CPU ms": f"{(screen.cpu() - begin) / repeat:.1f}",
                "KB": f"{size / repeat / 1e3:.1f}",
            }
        )
    screen.close()
    return rows


if __name__ == "__main__":
    sys.exit(main())
