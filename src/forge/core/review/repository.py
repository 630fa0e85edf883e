"""The repository under review: where its work tree and git's files are, and git with the right places set."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

import msgspec

from forge.core.review.git import GitError, Running, clean_environment
from forge.foundation.errors import ForgeError


class NoRepository(ForgeError):
    """There is no git work tree here."""


class Refused(ForgeError):
    """The review does not fit the files any more, or contradicts itself; nothing was done."""

    exit_code = 3


class Repository(msgspec.Struct, frozen=True):
    """A work tree. `env` is what git is started with; objects it writes go to a private directory."""

    root: str
    git_dir: str
    objects: str
    env: dict[str, str]

    @property
    def state(self) -> str:
        """The directory of everything diffy keeps: inside git's own, out of reach of the work tree."""
        return os.path.join(self.git_dir, "diffy")

    def start(
        self, *args: str, fed: bool = False, more: Mapping[str, str] | None = None, private: bool = True
    ) -> Running:
        """Starts git at the root; `private` keeps new objects out of the repository's own store."""
        env = self.env | {"GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.root} | dict(more or {})
        if private:
            own = os.path.join(self.state, "objects")
            os.makedirs(own, exist_ok=True)
            env |= {"GIT_OBJECT_DIRECTORY": own, "GIT_ALTERNATE_OBJECT_DIRECTORIES": _quoted(self.objects)}
        return Running(args, self.root, env, fed)

    def git(
        self, *args: str, fed: bytes | None = None, codes: Iterable[int] = (0,), index: str = ""
    ) -> bytes:
        """What a git command prints."""
        more = {"GIT_INDEX_FILE": index} if index else None
        return self.start(*args, fed=fed is not None, more=more).result(fed, codes)

    def absolute(self, path: str) -> str:
        """The place of a path of the repository on disk."""
        return os.path.join(self.root, path)


def find(cwd: str, env: Mapping[str, str]) -> Repository:
    """The repository a directory is in, from any directory below its root."""
    clean = clean_environment(env)
    asked = ("rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-path", "objects")
    try:
        out, code, err = Running(asked, cwd, clean, fed=False).ended()
    except GitError as error:
        raise NoRepository(error.message) from error
    lines = os.fsdecode(out).split("\n")
    if code or len(lines) != 4:
        raise NoRepository(_reason(cwd, err), "Run diffy inside the work tree of a git repository.")
    root, git_dir, objects, _ = lines
    return Repository(root, git_dir, os.path.normpath(os.path.join(cwd, objects)), clean)


def _reason(cwd: str, err: bytes) -> str:
    text = err.decode("utf-8", "replace").strip()
    if "must be run in a work tree" in text:
        return f"{cwd}: this repository has no work tree here, so there is nothing to review"
    if "not a git repository" in text or not text:
        return f"{cwd}: not in a git repository"
    return text.split("\n", maxsplit=1)[0]


def _quoted(path: str) -> str:
    """A path as git reads it from a list: in quotes, because colons separate the list."""
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
