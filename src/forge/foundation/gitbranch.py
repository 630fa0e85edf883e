"""The current branch, read from git's files; starting git for it would cost more than the rest of a start."""

from __future__ import annotations

import os


def current_branch(root: str) -> str:
    """The branch checked out in `root`, "HEAD" when detached, "" outside git."""
    if not root:
        return ""
    git_dir = os.path.join(root, ".git")
    pointer = _first_line(git_dir)
    if pointer.startswith("gitdir:"):
        git_dir = os.path.join(root, pointer.removeprefix("gitdir:").strip())
    head = _first_line(os.path.join(git_dir, "HEAD"))
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else "HEAD"


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(4096).rstrip("\r\n")
    except OSError:
        return ""
