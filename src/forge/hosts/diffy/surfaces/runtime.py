"""The private runtime directory and the reviews in it: what a hook and a screen must both know."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from contextlib import suppress

import msgspec

from forge.foundation.errors import ForgeError
from forge.foundation.system.locks import DEFAULT_TEMP

# The system allows about a hundred bytes for a socket, and `/review-12345678/s+` comes behind.
_LONGEST = 80
_STATE, _SOCKET, _PREFIX = "state.json", "s", "review-"


class ReviewState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One review that was asked for. `base` and `snapshot` name the two trees that are compared.

    `guard_ms`: keys in this time after the screen appeared are not meant for it. `stays`: the screen is not
    on the agent's terminal and goes on when the agent no longer waits. `agent`, `hook`: their process
    number and start, 0 when unknown. `draft`: the file that has every decision as soon as it is made.
    `auto_accept`: the rules that decide beforehand. `large`: files that were not captured, as they are shown.
    """

    id: str
    root: str
    base: str = ""
    snapshot: str = ""
    session: str = ""
    paths: tuple[str, ...] = ()
    apply: bool = False
    remember: bool = True
    surface: str = ""
    stays: bool = True
    guard_ms: int = 0
    agent: tuple[int, int] = (0, 0)
    hook: tuple[int, int] = (0, 0)
    draft: str = ""
    auto_accept: str = ""
    large: tuple[str, ...] = ()
    url: str = ""
    version: int = 1


def runtime_dir(env: Mapping[str, str]) -> str:
    """The directory of this user alone, made when missing; ForgeError if others could look into it."""
    given = env.get("DIFFY_RUNTIME_DIR", "")
    run = env.get("XDG_RUNTIME_DIR", "")
    if given:
        path = os.path.abspath(given)
    elif run and os.path.isdir(run) and os.access(run, os.W_OK):
        path = os.path.join(run, "diffy")
    else:
        path = os.path.join(env.get("TMPDIR") or DEFAULT_TEMP, f"diffy-{os.getuid()}")
    if len(os.fsencode(path)) > _LONGEST:
        raise ForgeError(
            f"{path} is too long for the names of sockets.", "Set DIFFY_RUNTIME_DIR to a shorter place."
        )
    try:
        os.makedirs(path, 0o700, exist_ok=True)
        found = os.lstat(path)
    except OSError as error:
        raise ForgeError(
            f"{path}: {error.strerror}", "Set DIFFY_RUNTIME_DIR to a directory of yours."
        ) from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise ForgeError(
            f"{path} is not a directory that belongs to you alone.",
            "Remove it or set DIFFY_RUNTIME_DIR to another place.",
        )
    return path


def tree_dir(runtime: str, root: str) -> str:
    """The directory whose lock is held while the work tree at `root` is reviewed, made when missing."""
    path = os.path.join(runtime, f"tree-{tree_key(root)}")
    os.makedirs(path, 0o700, exist_ok=True)
    return path


def tree_key(root: str) -> str:
    """A short name for a work tree."""
    return hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]


def watch_socket(runtime: str, root: str) -> str:
    """Where `diffy watch` listens for a work tree."""
    return os.path.join(runtime, f"watch-{tree_key(root)}")


def new_id() -> str:
    """A name no other review has."""
    return os.urandom(4).hex()


def folder_of(runtime: str, review: str) -> str:
    """The directory of a review; a path is taken as it is, because other terminals have other variables."""
    return review if os.path.isabs(review) else os.path.join(runtime, _PREFIX + review)


def socket_of(folder: str) -> str:
    """Where the hook of a review listens."""
    return os.path.join(folder, _SOCKET)


def write_review(runtime: str, review: ReviewState) -> str:
    """Writes the state file of a review and returns the review's directory."""
    folder = folder_of(runtime, review.id)
    os.makedirs(folder, 0o700, exist_ok=True)
    write_review_at(folder, review)
    return folder


def write_review_at(folder: str, review: ReviewState) -> None:
    """Writes the state file of a review whose directory exists."""
    # Names that are not UTF-8 hold lone surrogates, which only this writer lets pass.
    write_private(os.path.join(folder, _STATE), json.dumps(msgspec.to_builtins(review)).encode())


def read_review(folder: str) -> ReviewState:
    """The state of a review; ForgeError if there is none."""
    path = os.path.join(folder, _STATE)
    try:
        with open(path, "rb") as file:
            return msgspec.convert(json.load(file), type=ReviewState)
    except OSError:
        raise ForgeError(f"There is no review {os.path.basename(folder)}.", "It has ended.") from None
    except ValueError as error:
        raise ForgeError(f"{path}: {error}") from None


def reviews_of(runtime: str, root: str) -> list[str]:
    """The directories of the reviews of a work tree, newest first."""
    real = os.path.realpath(root)
    found = []
    for entry in os.scandir(runtime):
        if entry.name.startswith(_PREFIX) and os.path.exists(os.path.join(entry.path, _STATE)):
            found.append((entry.stat().st_mtime_ns, entry.path))
    return [path for _, path in sorted(found, reverse=True) if _root_of(path) == real]


def _root_of(folder: str) -> str:
    try:
        return os.path.realpath(read_review(folder).root)
    except ForgeError:
        return ""  # ended in this moment, or written by another version


def remove_review(folder: str) -> None:
    """Deletes a review's directory."""
    with suppress(OSError):  # another process may do the same
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        os.rmdir(folder)


def write_private(path: str, data: bytes) -> None:
    """Writes a file nobody else can read; readers see the old or the new content."""
    beside = f"{path}.{os.getpid()}"
    with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(data)
    os.replace(beside, path)
