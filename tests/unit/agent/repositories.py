"""Small git repositories for tests of worktrees."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENV = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "n",
    "GIT_AUTHOR_EMAIL": "n@example.org",
    "GIT_COMMITTER_NAME": "n",
    "GIT_COMMITTER_EMAIL": "n@example.org",
}


def git(cwd: Path | str, *args: str) -> str:
    """Runs git and returns what it says."""
    done = subprocess.run(["git", *args], cwd=cwd, env=ENV, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def repository(root: Path, *, commits: int = 1) -> Path:
    """A repository with so many commits."""
    root.mkdir(parents=True, exist_ok=True)
    git(root, "-c", "init.defaultBranch=main", "init", "-q", ".")
    for number in range(commits):
        (root / "a.txt").write_text(f"{number}\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", f"commit {number}")
    return root


def branches(root: Path) -> list[str]:
    return git(root, "for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()
