"""`python -m benchmarks.review`: what diffy costs without its screen. Ratios of one run.

- a hook with nothing to review, beside `git status` on the same 20,000 files
- a snapshot of these files with 50 edits and 20 new ones
- listing a diff of 150,000 lines; listing and undoing 8,900 hunks in 100 files
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("src", "tests")]

from benchmarks.measure import run  # noqa: E402  # found through the line above
from forge.core.review.baseline import resolve  # noqa: E402  # likewise
from forge.core.review.finish import Ending, finish  # noqa: E402  # likewise
from forge.core.review.listing import list_changes  # noqa: E402  # likewise
from forge.core.review.model import Listing, Review  # noqa: E402  # likewise
from forge.core.review.repository import Repository, find  # noqa: E402  # likewise
from forge.core.review.snapshot import take  # noqa: E402  # likewise
from review_world import ENV, git  # noqa: E402  # likewise

ROUNDS = 9
DIFFY = [sys.executable, "-m", "forge.hosts.diffy"]


def main() -> int:
    """Prints the figures."""
    with tempfile.TemporaryDirectory() as directory:
        hook(
            repository(
                directory, "many", {f"d{n // 100}/f{n}.txt": f"file {n}\n" * 20 for n in range(20_000)}
            )
        )
        long_diff(directory)
        many_hunks(directory)
    return 0


def repository(directory: str, name: str, files: dict[str, str]) -> str:
    """A repository with these files committed."""
    root = os.path.join(directory, name)
    os.mkdir(root)
    write(root, files)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    return root


def write(root: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = Path(root, name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)


def hook(root: str) -> None:
    """A hook with nothing to review, in turns with git status; then snapshots of a changed tree."""
    env = ENV | {"HOME": root + "-home", "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    source = str(Path(__file__).resolve().parents[1] / "src")
    subprocess.run([sys.executable, "-m", "compileall", "-q", source], check=False)
    run(["git", "status"], env, root)
    rounds = [
        (run([*DIFFY, "--hook-mode", "--apply"], env, root), run(["git", "status", "--porcelain"], env, root))
        for _ in range(ROUNDS)
    ]
    assert all(mine.exit_code == 0 for mine, _ in rounds)
    walls = [(mine.wall, status.wall) for mine, status in rounds]
    ratio = statistics.median(mine / status for mine, status in walls)
    cpu = statistics.median(mine.cpu for mine, _ in rounds)
    wall = statistics.median(mine for mine, _ in walls)
    print(
        f"hook, nothing to review, 20,000 files  {cpu:6.0f} ms CPU, {wall:.0f} ms   {ratio:.2f} × git status"
    )
    write(root, {f"d{n}/f{n * 100}.txt": "edited\n" for n in range(50)})
    write(root, {f"d{n}/new{n}.txt": "new\n" for n in range(20)})
    repo = find(root, ENV)
    times = [timed(lambda: take(repo)) for _ in range(ROUNDS)]
    others = [timed(lambda: git(root, "status", "--porcelain")) for _ in range(ROUNDS)]
    mine, status = statistics.median(times), statistics.median(others)
    print(f"snapshot, 20,000 files, 70 changed     {mine * 1e3:6.0f} ms   {mine / status:.2f} × git status")


def long_diff(directory: str) -> None:
    """Listing 150,000 changed lines: our own CPU time and that of git."""
    root = repository(directory, "long", {"a.txt": "".join(f"line {n}\n" for n in range(150_400))})
    write(root, {"a.txt": "".join(f"line {n}{' changed' * (n % 2)}\n" for n in range(150_400))})
    before = os.times()
    found = listed(find(root, ENV))
    after = os.times()
    own, children = (after[0] - before[0]) + (after[1] - before[1]), sum(after[2:4]) - sum(before[2:4])
    lines = sum(len(unit.lines) for file in found.files for unit in file.hunks)
    print(f"listing a diff of {lines:,} lines        {own * 1e3:6.0f} ms CPU + git {children * 1e3:.0f} ms")


def many_hunks(directory: str) -> None:
    """Listing and undoing 8,900 hunks in 100 files."""
    names = [f"f{n}.txt" for n in range(100)]
    root = repository(directory, "hunks", {name: text(False) for name in names})
    write(root, {name: text(True) for name in names})
    repo = find(root, ENV)
    begin = time.perf_counter()
    found = listed(repo)
    done = finish(repo, found, Review(found.snapshot, "reject"), Ending(apply=True))
    seconds = time.perf_counter() - begin
    assert git(root, "status", "--porcelain") == b""
    print(f"listing and undoing {done.rejected:,} hunks        {seconds * 1e3:6.0f} ms")


def text(changed: bool) -> str:
    return "".join(f"line {n}{' changed' if changed and n % 8 == 4 else ''}\n" for n in range(712))


def listed(repo: Repository) -> Listing:
    return list_changes(repo, resolve(repo, "HEAD"), take(repo).tree)


def timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


if __name__ == "__main__":
    sys.exit(main())
