"""What a review starts from: trees kept per session (its start, the turn, the last review), or any commit."""

from __future__ import annotations

import os
from contextlib import suppress

import msgspec

from forge.core.review.git import GitError
from forge.core.review.repository import Repository
from forge.foundation.atomic import update_text
from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import ForgeError, UsageError

NAMES = ("reviewed", "session", "turn")
EMPTY = "empty"
_KEPT_SESSIONS = 50


class Baselines(msgspec.Struct, frozen=True):
    """Trees a review of one session may start from; an empty text where there is none yet."""

    session: str = ""
    turn: str = ""
    reviewed: str = ""
    time: float = 0.0


_Kept = dict[str, Baselines]


def read(repo: Repository, session: str = "") -> Baselines:
    """The baselines of a session; without a name those of the session marked last."""
    kept = _read(repo)
    if session:
        return kept.get(session, Baselines())
    return max(kept.values(), key=lambda one: one.time, default=Baselines())


def latest(repo: Repository) -> str:
    """The session marked last; empty when there was none."""
    kept = _read(repo)
    return max(kept, key=lambda name: kept[name].time, default="")


def mark(repo: Repository, session: str, now: float, /, **trees: str) -> None:
    """Keeps trees as baselines of a session: mark(repo, session, now, turn=tree)."""

    def changed(text: str) -> str:
        kept = _parse(text)
        kept[session] = msgspec.structs.replace(kept.get(session, Baselines()), time=now, **trees)
        newest = sorted(kept, key=lambda name: kept[name].time)[-_KEPT_SESSIONS:]
        return msgspec.json.encode({name: kept[name] for name in newest}).decode()

    update_text(_path(repo), changed)


def sessions(repo: Repository) -> dict[str, Baselines]:
    """The baselines of all sessions that are remembered."""
    return _read(repo)


def forget(repo: Repository, oldest: float) -> None:
    """Forgets sessions that were last marked before a time."""

    def changed(text: str) -> str:
        kept = {name: one for name, one in _parse(text).items() if one.time >= oldest}
        return msgspec.json.encode(kept).decode()

    update_text(_path(repo), changed)


def resolve(repo: Repository, rev: str, session: str = "") -> str:
    """The tree of a commit-ish, of `empty`, or of the baseline with that name."""
    if rev == EMPTY:
        return empty_tree(repo)
    with suppress(GitError):
        verify = ("rev-parse", "--verify", "--quiet", "--end-of-options")
        return repo.git(*verify, rev + "^{tree}").decode().strip()
    if rev == "HEAD" and _is_unborn(repo):
        return empty_tree(repo)
    if rev in NAMES and (tree := getattr(read(repo, session), rev)):
        return str(tree)
    raise UsageError(f"{rev!r} is neither a commit nor a known state", "Give a commit, a branch or `empty`.")


def default(repo: Repository, session: str = "") -> tuple[str, str]:
    """Name and tree of what is reviewed against when nothing was asked for."""
    kept = read(repo, session)
    for name in NAMES:
        tree = str(getattr(kept, name))
        if tree and _exists(repo, tree):
            return name, tree
    return "HEAD", resolve(repo, "HEAD")


def empty_tree(repo: Repository) -> str:
    """The tree without files; its id depends on the repository's kind of hash."""
    return repo.git("hash-object", "-t", "tree", "--stdin", fed=b"").decode().strip()


def _is_unborn(repo: Repository) -> bool:
    return repo.git("rev-parse", "--verify", "--quiet", "HEAD", codes=(0, 1)).strip() == b""


def _exists(repo: Repository, tree: str) -> bool:
    try:
        repo.git("cat-file", "-e", tree)
    except GitError:
        return False
    return True


def _path(repo: Repository) -> str:
    return os.path.join(repo.state, "baselines.json")


def _read(repo: Repository) -> _Kept:
    try:
        with open(_path(repo), encoding="utf-8") as file:
            return _parse(file.read())
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise ForgeError(f"{_path(repo)}: cannot be read: {error.strerror}") from error


def _parse(text: str) -> _Kept:
    try:
        return msgspec.json.decode(text, type=_Kept)
    except NOT_JSON:
        return {}  # damaged or not there yet: a review then starts from HEAD
