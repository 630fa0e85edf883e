"""The watched paths and what they looked like last time: a look at the disk says what has changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from forge.foundation.watch import ADD, CHANGE, UNLINK

# A directory that is watched as a whole is a handful of text files; a checkout named by mistake is not.
MOST_FILES = 5_000
DEEPEST = 8
_SKIPPED = (".git", "node_modules", "__pycache__")

Print = tuple[int, int, int]


class Watched:
    """Files (which need not exist) and directories with everything below them."""

    def __init__(self) -> None:
        self._paths: list[str] = []
        self._prints: dict[str, Print] = {}
        self._folders: set[str] = set()

    @property
    def paths(self) -> list[str]:
        return list(self._paths)

    def watch(self, paths: Iterable[str]) -> None:
        """Watches exactly these paths from now on; what they look like now is not news."""
        self._paths = list(dict.fromkeys(paths))
        now = self._look()
        self._prints = {path: self._prints.get(path, seen) for path, seen in now.items()}

    def changes(self) -> list[tuple[str, str]]:
        """What has changed since the last look: path and add, change or unlink."""
        before, now = self._prints, self._look()
        self._prints = now
        found = [(path, UNLINK) for path in before if path not in now]
        for path, seen in now.items():
            old = before.get(path)
            if old != seen:
                found.append((path, ADD if old is None else CHANGE))
        return found

    def folders(self) -> set[str]:
        """The existing directories in which something may happen that concerns the watched paths."""
        return {self._existing(folder) for folder in self._folders}

    def _look(self) -> dict[str, Print]:
        seen: dict[str, Print] = {}
        self._folders = set()
        for path in self._paths:
            self._folders.add(os.path.dirname(path))
            if os.path.islink(path):
                self._folders.add(os.path.dirname(os.path.realpath(path)))
            for file in self._files(path):
                fingerprint = _print(file)
                if fingerprint is not None:
                    seen[file] = fingerprint
        return seen

    def _files(self, path: str) -> Iterator[str]:
        if not os.path.isdir(path):
            yield path
            return
        count = 0
        for folder, below, names in os.walk(path, followlinks=False):
            self._folders.add(folder)
            deep = folder[len(path) :].count(os.sep) >= DEEPEST
            below[:] = [] if deep else sorted(name for name in below if name not in _SKIPPED)
            for name in names:
                yield os.path.join(folder, name)
                count += 1
            if count >= MOST_FILES:
                return

    def _existing(self, folder: str) -> str:
        while folder and not os.path.isdir(folder):
            parent = os.path.dirname(folder)
            if parent == folder:
                break
            folder = parent
        return folder


def _print(path: str) -> Print | None:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
