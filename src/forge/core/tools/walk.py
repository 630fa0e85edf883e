"""Searches without ripgrep: slower, one thread, Python's regular expressions, but the same records."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from forge.core.tool import ToolError
from forge.core.tools.globs import Globs, Ignored, read_ignored
from forge.core.tools.search import Query, Receiver, rejected

_VERSION_CONTROL = frozenset((b".git", b".svn", b".hg", b".bzr", b".jj", b".sl"))
_MAX_COLUMNS = 500
_MAX_FILE = 1 << 26
# The types models ask for most; ripgrep knows many more.
_TYPES = {
    "c": "*.[chH]",
    "cpp": "*.{cc,cpp,cxx,hpp,hh,h}",
    "css": "*.css",
    "go": "*.go",
    "html": "*.{htm,html}",
    "java": "*.java",
    "js": "*.{js,jsx,mjs,cjs}",
    "json": "*.json",
    "md": "*.{md,markdown,mdx}",
    "php": "*.php",
    "py": "*.{py,pyi}",
    "ruby": "*.rb",
    "rust": "*.rs",
    "sh": "*.{sh,bash,zsh}",
    "sql": "*.sql",
    "ts": "*.{ts,tsx,mts,cts}",
    "yaml": "*.{yml,yaml}",
}


def search(query: Query, receive: Receiver) -> None:
    """Passes every record to `receive`."""
    try:
        globs = Globs(query.globs)
        kind = Globs([_TYPES[query.type]]) if query.type else None
        flags = (re.IGNORECASE if query.ignore_case else 0) | (re.DOTALL if query.multiline else 0)
        pattern = re.compile(query.pattern.encode(), flags | re.MULTILINE)
        around = _context(query)
    except (re.error, ValueError) as error:
        raise ToolError(rejected(f"rg: {error}")) from None
    except KeyError:
        raise ToolError(rejected(f"rg: unrecognized file type: {query.type}")) from None
    found = False
    for name in _names(query, globs):
        if not globs.accept(name) or (kind is not None and not kind.accept(name)):
            continue
        records = [name] if query.mode == "files" else _search_file(query, name, pattern, around)
        if records and found and any(around) and query.mode == "content":
            receive(b"--")
        found = found or bool(records)
        for record in records:
            receive(record)


def _context(query: Query) -> tuple[int, int]:
    values = dict(zip(query.context[::2], query.context[1::2], strict=True))
    around = int(values.get("-C", 0))
    return int(values.get("-B", around)), int(values.get("-A", around))


def _names(query: Query, globs: Globs) -> Iterator[bytes]:
    """Files below the target, in the order of their paths, relative to the root."""
    root = os.fsencode(query.root)
    start = os.path.normpath(os.path.join(root, os.fsencode(query.target)))
    if os.path.isfile(start):
        yield os.fsencode(query.target)
        return
    everything = query.mode == "files"
    for path in _below(start, None if everything else Sieve(root, globs, read_ignored(start))):
        yield _relative(path, root)


class Sieve:
    """What a search passes over: version control, and what ignore files name unless a glob asks for it."""

    def __init__(self, root: bytes, globs: Globs, ignored: Ignored | None) -> None:
        self._root = root
        self._globs = globs
        self._ignored = ignored

    def entering(self, folder: bytes) -> Sieve:
        """The sieve inside a directory, which may have an ignore file of its own."""
        return Sieve(self._root, self._globs, self._ignored.entering(folder) if self._ignored else None)

    def drops(self, entry: os.DirEntry[bytes], *, is_dir: bool) -> bool:
        if entry.name in _VERSION_CONTROL:
            return True
        if self._ignored is None or self._globs.asks_for(_relative(entry.path, self._root)):
            return False
        return self._ignored.covers(entry.path, is_dir=is_dir)


def _below(folder: bytes, sieve: Sieve | None) -> Iterator[bytes]:
    try:
        entries = sorted(os.scandir(folder), key=lambda e: e.name)
    except OSError:
        return
    if sieve is not None:
        sieve = sieve.entering(folder)
    for entry in entries:
        is_dir = entry.is_dir(follow_symlinks=False)
        if sieve is not None and sieve.drops(entry, is_dir=is_dir):
            continue
        if is_dir:
            yield from _below(entry.path, sieve)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def _relative(path: bytes, root: bytes) -> bytes:
    return path.removeprefix(root.rstrip(b"/") + b"/")


def _search_file(
    query: Query, name: bytes, pattern: re.Pattern[bytes], around: tuple[int, int]
) -> list[bytes]:
    try:
        with open(os.path.join(os.fsencode(query.root), name), "rb") as file:
            content = file.read(_MAX_FILE)
    except OSError:
        return []
    starts = [] if b"\0" in content[:8192] else _matching(content, pattern, multiline=query.multiline)
    if not starts:
        return []
    if query.mode == "files_with_matches":
        return [name]
    if query.mode == "count":
        return [name + b"\0%d" % len(starts)]
    return list(_report(query, name, content, pattern, around))


def _matching(content: bytes, pattern: re.Pattern[bytes], *, multiline: bool) -> list[int]:
    """Where matches begin: one per line, or one per match that may span lines."""
    if multiline:
        return [m.start() for m in pattern.finditer(content)]
    lines = content.split(b"\n")
    return [n for n, line in enumerate(lines) if (line or n + 1 < len(lines)) and pattern.search(line)]


def _report(
    query: Query, name: bytes, content: bytes, pattern: re.Pattern[bytes], around: tuple[int, int]
) -> Iterator[bytes]:
    lines = content.removesuffix(b"\n").split(b"\n")
    matched = _matched_lines(content, lines, pattern, multiline=query.multiline)
    prefix = b"" if os.path.isfile(os.path.join(query.root, query.target)) else name
    previous = -1
    for number in sorted({n for m in matched for n in range(m - around[0], m + around[1] + 1)}):
        if not 0 <= number < len(lines):
            continue
        if any(around) and previous >= 0 and number > previous + 1:
            yield b"--"
        previous = number
        mark = b"\0:" if number in matched else b"\0-"
        head = (prefix + mark if prefix else b"") + (
            b"%d" % (number + 1) + mark if query.line_numbers else b""
        )
        for text in _texts(query, lines[number], pattern):
            yield head + text


def _matched_lines(
    content: bytes, lines: list[bytes], pattern: re.Pattern[bytes], *, multiline: bool
) -> set[int]:
    if not multiline:
        return {n for n, line in enumerate(lines) if pattern.search(line)}
    found: set[int] = set()
    for match in pattern.finditer(content):
        first = content.count(b"\n", 0, match.start())
        found.update(range(first, first + content.count(b"\n", match.start(), max(match.end() - 1, 0)) + 1))
    return found


def _texts(query: Query, line: bytes, pattern: re.Pattern[bytes]) -> list[bytes]:
    if query.only_matching:
        return [m.group() for m in pattern.finditer(line) if m.group()]
    return [line if len(line) <= _MAX_COLUMNS else b"[Omitted long matching line]"]
