"""The whole work tree as a tree object, untracked files included, without touching the user's index.

What differs from the index is found first and only that is hashed, into a private copy of the index and a
private object store.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress

import msgspec

from forge.core.review.disk import is_behind_link
from forge.core.review.git import GitError
from forge.core.review.repository import Repository

LARGE = 5_000_000
OWN = b".diffy"


class Snapshot(msgspec.Struct, frozen=True):
    """A tree object, and the untracked files that were too large for it."""

    tree: str
    large: tuple[str, ...] = ()


def take(repo: Repository, limit: int = LARGE) -> Snapshot:
    """The state of the work tree now."""
    others = repo.start("ls-files", "-z", "--others", "--exclude-standard")
    changed = repo.start("diff-files", "-z", "--name-only", "--ignore-submodules=dirty")
    try:
        untracked = [name for name in others.result().split(b"\0") if _counts(name)]
        tracked = [name for name in changed.result().split(b"\0") if _counts(name)]
    except BaseException:
        others.kill()
        changed.kill()
        raise
    large = {name for name in untracked if _size(repo, name) > limit}
    # An embedded repository is listed with a slash at its end.
    nested = [name[:-1] for name in untracked if name.endswith(b"/")]
    plain = [*tracked, *(name for name in untracked if name not in large and not name.endswith(b"/"))]
    with private_index(repo) as index:
        _update(repo, index, list(dict.fromkeys(plain)))
        for name in nested:
            with suppress(GitError):  # a repository without a commit has nothing to record
                repo.git("update-index", "--add", "-z", "--stdin", fed=name + b"\0", index=index)
        tree = repo.git("write-tree", index=index)
    return Snapshot(tree.decode().strip(), tuple(os.fsdecode(name) for name in sorted(large)))


def index_tree(repo: Repository) -> str:
    """The state of the index as a tree; conflicts make that impossible."""
    with private_index(repo) as index:
        return repo.git("write-tree", index=index).decode().strip()


def changed_tree(repo: Repository, tree: str, rows: Iterable[bytes]) -> str:
    """A tree with some entries replaced; rows are those of `git update-index --index-info -z`."""
    with private_index(repo, copy=False) as index:
        repo.git("read-tree", tree, index=index)
        repo.git("update-index", "-z", "--index-info", fed=b"".join(rows), index=index)
        return repo.git("write-tree", index=index).decode().strip()


@contextmanager
def private_index(repo: Repository, copy: bool = True) -> Iterator[str]:
    """An index file of our own, with the content and the time of the user's.

    Git tells changed files by times that are compared with the time of the index file itself: a copy that
    looks newer would hide edits made in the second of the last commit.
    """
    os.makedirs(repo.state, exist_ok=True)
    path = os.path.join(repo.state, f"index-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        if copy:
            copy_index(repo, path)
        yield path
    finally:
        for left in (path, path + ".lock"):
            with suppress(FileNotFoundError):
                os.remove(left)


def copy_index(repo: Repository, path: str) -> bool:
    """Copies the user's index with its time; False when there is none."""
    try:
        with open(os.path.join(repo.git_dir, "index"), "rb") as source:
            data, times = source.read(), os.fstat(source.fileno())
    except FileNotFoundError:
        return False
    with open(path, "wb") as target:
        target.write(data)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    return True


def _counts(name: bytes) -> bool:
    return bool(name) and name != OWN and not name.startswith(OWN + b"/")


def _size(repo: Repository, name: bytes) -> int:
    try:
        found = os.lstat(os.path.join(os.fsencode(repo.root), name))
    except OSError:
        return 0
    return found.st_size if stat.S_ISREG(found.st_mode) else 0


def _update(repo: Repository, index: str, names: list[bytes]) -> None:
    """Hashes these paths into the index; what cannot be read stays as it was."""
    if not names:
        return
    fed = b"".join(name + b"\0" for name in names)
    try:
        repo.git("update-index", "--add", "--remove", "--replace", "-z", "--stdin", fed=fed, index=index)
    except GitError:
        # One path can spoil the whole call (unreadable, vanished, a failing filter): find it.
        middle = len(names) // 2
        if middle:
            _update(repo, index, names[:middle])
            _update(repo, index, names[middle:])
        elif is_behind_link(repo.root, os.fsdecode(names[0])):
            repo.git("update-index", "--force-remove", "-z", "--stdin", fed=fed, index=index)
