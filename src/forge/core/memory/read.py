"""Reads one memory file with everything it imports; a file that did not change is not read twice."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator

import msgspec

from forge.core.memory.file import MANAGED, USER, MemoryFile, Skipped
from forge.core.memory.filetypes import importable
from forge.core.memory.markdown import imports, without_comments
from forge.foundation import frontmatter
from forge.foundation.globs import read_patterns
from forge.foundation.origin import Diagnostic, Origin, Scope, Severity
from forge.foundation.paths import DIALECTS

MAX_DEPTH = 5

_KEYS = r"(?m)^(?:paths|include)\s*:"


class Parsed(msgspec.Struct, frozen=True):
    """What is in a file: its cleaned text, the `paths` of its front matter, the names of its imports."""

    content: str
    globs: list[str] | None = None
    imports: list[str] = []
    diagnostics: list[Diagnostic] = []


class Library:
    """The files read so far. Excluded files and unwanted imports end up in `skipped`."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int], Parsed]] = {}

    def parsed(self, path: str) -> Parsed | None:
        """The content of a file; None if there is none or it cannot be read."""
        try:
            status = os.stat(path)
            stamp = (status.st_mtime_ns, status.st_size)
            known = self._known.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            if not stat.S_ISREG(status.st_mode):
                return None
            with open(path, "rb") as file:
                text = file.read().decode("utf-8", "replace")
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        except OSError as error:
            return Parsed("", diagnostics=[_unreadable(path, error)])
        parsed = parse(text, path)
        self._known[path] = (stamp, parsed)
        return parsed


class Reading:
    """One pass over memory files in which each file counts once."""

    def __init__(
        self,
        library: Library,
        root: str,
        *,
        home: str = "",
        excluded: Callable[[str], bool] = lambda path: False,
        external: Callable[[], bool] = lambda: False,
    ) -> None:
        self._library, self._root, self._home = library, root, home
        self._excluded, self._external = excluded, external
        self._dialects: dict[str, list[str]] = {}
        self.done: set[str] = set()
        self.skipped: list[Skipped] = []
        self.diagnostics: list[Diagnostic] = []

    def with_imports(self, path: str, memory_type: str, depth: int = 0, parent: str = "") -> list[MemoryFile]:
        """The file and, behind it, what it imports; nothing if it is empty, excluded or was read before."""
        if path in self.done or depth >= MAX_DEPTH:
            return []
        if memory_type != MANAGED and self._excluded(path):
            if os.path.isfile(path):
                self.skipped.append(Skipped(path, "claudeMdExcludes"))
            return []
        self.done.add(path)
        parsed = self._library.parsed(path)
        if parsed is None or not self._is_first(path):
            return []
        self.diagnostics += parsed.diagnostics
        if not parsed.content.strip():
            return []
        reason = "include" if parent else "session_start"
        found = [MemoryFile(path, memory_type, parsed.content, reason, parsed.globs, parent)]
        for target in self._targets(path, memory_type, parsed.imports):
            found += self.with_imports(target, memory_type, depth + 1, path)
        return found

    def dialects(self, directory: str) -> list[str]:
        """The configuration directories that exist in a directory, from the weakest to the strongest."""
        known = self._dialects.get(directory)
        if known is None:
            places = [os.path.join(directory, name) for name in DIALECTS]
            known = self._dialects[directory] = [p for p in places if os.path.isdir(p)]
        return known

    def _is_first(self, path: str) -> bool:
        """False for a file that was already read under another name."""
        real = os.path.realpath(path)
        if real == path:
            return True
        if real in self.done:
            return False
        self.done.add(real)
        return True

    def _targets(self, path: str, memory_type: str, names: list[str]) -> Iterator[str]:
        for name in names:
            if name.startswith("~/"):
                name = os.path.join(self._home, name[2:])
            target = os.path.normpath(os.path.join(os.path.dirname(path), name))
            if not os.path.isfile(target):
                continue
            if not importable(target):
                self.skipped.append(Skipped(target, f"{path} imports it, but it is not a text file"))
            elif memory_type != USER and not _below(target, self._root) and not self._external():
                self.skipped.append(
                    Skipped(target, f"{path} imports it from outside the project, which is not approved")
                )
            else:
                yield target


def parse(text: str, path: str) -> Parsed:
    """Takes front matter and comments away and finds the imports.

    The YAML parser is slow to load, so a front matter without a key of interest is not parsed.
    """
    raw, body = frontmatter.split(text)
    front = frontmatter.parse(text, path) if raw and re.search(_KEYS, raw) else None
    values = front.values if front else {}
    globs = read_patterns(values["paths"]) if "paths" in values else None
    included = values.get("include")
    named = [included] if isinstance(included, str) else included if isinstance(included, list) else []
    names = [n for n in named if isinstance(n, str)]
    notes = front.diagnostics if front else []
    return Parsed(without_comments(body), globs or None, [*names, *imports(body)], notes)


def _unreadable(path: str, error: OSError) -> Diagnostic:
    message = f"cannot be read ({error.strerror}), so its instructions are missing"
    return Diagnostic(Severity.WARNING, message, Origin(Scope.PROJECT, path), "Check its permissions.")


def _below(path: str, root: str) -> bool:
    return path.startswith(root.rstrip(os.sep) + os.sep)
