"""What Forge needs to know of a git repository, read from its files without starting git."""

from __future__ import annotations

import os


def find_root(directory: str) -> str:
    """The nearest directory upwards that holds `.git`, or an empty string outside git."""
    while True:
        if os.path.lexists(os.path.join(directory, ".git")):
            return directory
        parent = os.path.dirname(directory)
        if parent == directory:
            return ""
        directory = parent


def main_root(root: str) -> str:
    """The root of the main checkout when `root` is one of its linked worktrees, else `root` itself.

    The repository must point back at the worktree: an unpacked archive could otherwise claim to belong to
    a repository the user trusts.
    """
    git_dir = _linked_git_dir(root)
    if not git_dir or os.path.basename(os.path.dirname(git_dir)) != "worktrees":
        return root
    points_back = os.path.realpath(_first_line(os.path.join(git_dir, "gitdir")))
    common = os.path.dirname(os.path.dirname(git_dir))
    if points_back != os.path.realpath(os.path.join(root, ".git")) or os.path.basename(common) != ".git":
        return root
    return os.path.dirname(common)


def common_dir(root: str) -> str:
    """The directory that holds `info/exclude` for this checkout; an empty string when there is none."""
    git_dir = _linked_git_dir(root) or os.path.join(root, ".git")
    relative = _first_line(os.path.join(git_dir, "commondir"))
    found = os.path.normpath(os.path.join(git_dir, relative)) if relative else git_dir
    return found if os.path.isdir(found) else ""


def is_tracked(root: str, path: str) -> bool:
    """Whether the index lists a file; an index this function cannot read counts as listing it."""
    git_dir = _linked_git_dir(root) or os.path.join(root, ".git")
    try:
        with open(os.path.join(git_dir, "index"), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return False
    except OSError:
        return True
    name = os.path.relpath(path, root).replace(os.sep, "/").encode("utf-8", "surrogateescape")
    if data[:4] != b"DIRC" or data[4:8] not in (b"\0\0\0\2", b"\0\0\0\3") or b"link\0\0" in data:
        return True  # compressed names (version 4) or a split index
    return _lists(data, name)


def _lists(data: bytes, name: bytes) -> bool:
    # Without regard to case, as file systems may open the file under another spelling.
    folded, wanted = data.lower(), name.lower() + b"\0"
    position = folded.find(wanted)
    while position > 0:
        # Right before each name stand flags whose low twelve bits are its length.
        for flags_at in (position - 2, position - 4):
            if int.from_bytes(data[flags_at : flags_at + 2], "big") & 0xFFF == min(len(name), 0xFFF):
                return True
        position = folded.find(wanted, position + 1)
    return False


def current_branch(root: str) -> str:
    """The branch checked out in `root`, "HEAD" when detached, "" outside git."""
    if not root:
        return ""
    git_dir = _linked_git_dir(root) or os.path.join(root, ".git")
    head = _first_line(os.path.join(git_dir, "HEAD"))
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else "HEAD"


def _linked_git_dir(root: str) -> str:
    """The directory a `.git` file points to; an empty string when `.git` is a directory or unreadable."""
    line = _first_line(os.path.join(root, ".git"))
    target = line.removeprefix("gitdir:").strip() if line.startswith("gitdir:") else ""
    return os.path.normpath(os.path.join(root, target)) if target else ""


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(4096).rstrip("\r\n")
    except OSError:
        return ""
