"""Copies of what a dangerous command is about to change or delete, to be put back on request."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterable, Mapping

import msgspec

from forge.core.shell.session.command import Command, run
from forge.foundation.lenient import read_as
from forge.foundation.system.keeping import Keeper

MOST_BYTES = 256 << 20
MOST_FILES = 20_000
_INDEX = "kept.json"
_REFERENCE = "refs/forge/checkpoints"


class Item(msgspec.Struct, frozen=True):
    """A path and the name of its copy; no name: there was nothing."""

    path: str
    copy: str = ""


class Kept(msgspec.Struct, frozen=True):
    """What was kept before one command: copies, what was too large, and a commit of a repository's files."""

    id: str
    command: str
    at: float
    items: tuple[Item, ...] = ()
    left_out: tuple[str, ...] = ()
    repository: str = ""
    commit: str = ""


class NotRestored(Exception):
    """Something could not be put back; the text says what and why."""


class Trash:
    """A directory with copies, one below it for each command."""

    def __init__(self, directory: str, *, clock: Callable[[], float] = time.time) -> None:
        self._directory = directory
        self._clock = clock

    def keep(self, paths: Iterable[str], command: str, *, most: int = MOST_BYTES) -> Kept:
        """Copies what the paths name, as far as it fits."""
        number = f"{int(self._clock() * 1000):x}-{os.urandom(3).hex()}"
        folder = os.path.join(self._directory, number)
        os.makedirs(folder, mode=0o700)
        items: list[Item] = []
        left_out: list[str] = []
        for path in dict.fromkeys(os.path.abspath(path) for path in paths):
            size, files = _measure(path)
            if size > most or files > MOST_FILES:
                left_out.append(path)
                continue
            most -= size
            items.append(Item(path, _copied(path, folder, str(len(items)))))
        kept = Kept(number, command, self._clock(), tuple(items), tuple(left_out))
        self._note(kept)
        return kept

    async def keep_repository(self, kept: Kept, cwd: str, env: Mapping[str, str], keeper: Keeper) -> Kept:
        """Also keeps the tracked files of the repository, as a commit that no branch knows."""
        text = "git rev-parse --show-toplevel && git stash create forge || exit; "
        ended = await run(Command(text, cwd, env, timeout=20.0), keeper)
        lines = ended.output.text().split("\n")
        if ended.exit_code or len(lines) < 3:
            return kept
        name = f"{_REFERENCE}/{kept.id}"
        done = await run(Command(f"git update-ref {name} {lines[1]}", cwd, env, timeout=20.0), keeper)
        if done.exit_code:
            return kept
        more = msgspec.structs.replace(kept, repository=lines[0], commit=lines[1])
        self._note(more)
        return more

    def entries(self) -> list[Kept]:
        """Everything that is kept, newest first."""
        # One may be half written by a process that was killed.
        found = [
            read_as(os.path.join(self._directory, name, _INDEX), Kept) for name in _names(self._directory)
        ]
        return sorted((entry for entry in found if entry), key=lambda entry: entry.at, reverse=True)

    def restore(self, number: str, *, overwrite: bool = False) -> list[str]:
        """Puts everything back and says what; NotRestored if something else is there now."""
        kept = next((entry for entry in self.entries() if entry.id == number), None)
        if kept is None:
            raise NotRestored(f"Nothing was kept under {number!r}.")
        taken = [item.path for item in kept.items if item.copy and os.path.lexists(item.path)]
        if taken and not overwrite:
            raise NotRestored(
                f"There is something at {', '.join(taken)}: restore with overwrite to replace it."
            )
        restored = []
        for item in kept.items:
            if item.copy:
                _put_back(os.path.join(self._directory, number, item.copy), item.path)
                restored.append(item.path)
        return restored

    async def restore_repository(self, kept: Kept, env: Mapping[str, str], keeper: Keeper) -> None:
        """Applies the tracked files of a repository again; NotRestored with git's reason."""
        command = Command(f"git stash apply {kept.commit}", kept.repository, env, timeout=20.0)
        ended = await run(command, keeper)
        if ended.exit_code:
            raise NotRestored(f"git could not apply {kept.commit}: {ended.output.text().strip()}")

    def prune(self, *, days: float = 30.0) -> int:
        """Removes what is older; how many."""
        old = [entry.id for entry in self.entries() if entry.at < self._clock() - days * 86_400]
        for number in old:
            shutil.rmtree(os.path.join(self._directory, number), ignore_errors=True)
        return len(old)

    def _note(self, kept: Kept) -> None:
        path = os.path.join(self._directory, kept.id, _INDEX)
        with open(f"{path}.new", "wb") as file:
            file.write(msgspec.json.encode(kept))
        os.replace(f"{path}.new", path)


def _names(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except FileNotFoundError:
        return []


def _measure(path: str) -> tuple[int, int]:
    """Bytes and number of files, counted no further than needed."""
    if not os.path.isdir(path) or os.path.islink(path):
        return (os.lstat(path).st_size if os.path.lexists(path) else 0), 1
    size = files = 0
    for folder, _, names in os.walk(path):
        for name in names:
            files += 1
            size += os.lstat(os.path.join(folder, name)).st_size
        if files > MOST_FILES:
            break
    return size, files


def _copied(path: str, folder: str, name: str) -> str:
    if not os.path.lexists(path):
        return ""
    target = os.path.join(folder, name)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.copytree(path, target, symlinks=True, ignore=_special)
    else:
        shutil.copy2(path, target, follow_symlinks=False)
    return name


def _special(folder: str, names: list[str]) -> set[str]:
    """Pipes and sockets cannot be copied: reading them would wait for ever."""
    paths = {name: os.path.join(folder, name) for name in names}
    return {n for n, p in paths.items() if not (os.path.islink(p) or os.path.isfile(p) or os.path.isdir(p))}


def _put_back(copy: str, path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.isdir(copy) and not os.path.islink(copy):
        shutil.copytree(copy, path, symlinks=True)
    else:
        shutil.copy2(copy, path, follow_symlinks=False)
