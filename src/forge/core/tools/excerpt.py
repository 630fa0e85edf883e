"""Which lines of a text file a reader gets: a range, the whole, or a first page of too much."""

from __future__ import annotations

from typing import Protocol

import msgspec

from forge.core.reminder import reminder
from forge.core.tool import ToolError

# A page stays below the limit, because the estimate of tokens is rough.
_PAGE_SHARE = 0.85
_CHARS_PER_TOKEN = 4
_BLOCK = 1 << 20
# What a message holds: more would be put into a file, which is what was read in the first place.
_LARGEST = 390_000

_NARROW = (
    "Use offset and limit parameters to read specific portions of the file, or search for specific content "
    "instead of reading the whole file."
)
_ANYWAY = (
    "To read it anyway, up to what still fits in your context, call Read again with allow_large: true — only "
    "if you genuinely need all of it or the user asked for the whole file."
)


class Wanted(Protocol):
    """The part of a read request that chooses lines."""

    @property
    def offset(self) -> int | None: ...

    @property
    def limit(self) -> int | None: ...

    @property
    def allow_large(self) -> bool: ...


class Excerpt(msgspec.Struct, frozen=True):
    """Lines of a file. `page`: cut at the token limit, which needs `used` tokens for everything."""

    text: str
    start: int
    count: int
    total: int
    page: bool = False
    used: int = 0
    cap: int = 0
    total_chars: int = 0

    @property
    def past_end(self) -> bool:
        return self.count == 0

    def reminder(self, path: str) -> str:
        """What the model must know about a page."""
        size = f"({self.used} tokens, cap {self.cap})"
        if self.count == self.total:
            shown = (
                f"showing the first {len(self.text)} of {self.total_chars} characters {size}; this file "
                "has very long lines and cannot be paginated by line. Use Grep to find a specific section, "
                "or Read with offset/limit to page through it."
            )
            rest = "Do NOT answer from this excerpt alone if the answer may be elsewhere in the file."
        else:
            shown = (
                f"showing lines 1-{self.count} of {self.total} total {size}. Call Read with "
                f"offset={self.count + 1} limit={self.count} for the next page, or Grep to find a "
                "specific section."
            )
            rest = "Do NOT answer from this page alone if the answer may be further in the file."
        view = f"[Truncated: PARTIAL view — {path}: {shown} {_ANYWAY} {rest}]"
        return reminder(view)


def tokens(chars: int) -> int:
    """An estimate; the exact count would cost a request."""
    return chars // _CHARS_PER_TOKEN


def whole_or_page(text: str, wanted: Wanted, cap: int) -> Excerpt:
    """The wanted lines of a text. Too many tokens: a page if the whole was wanted, else an error."""
    total = text.count("\n") + 1
    if wanted.offset is None and wanted.limit is None:
        if _shown(text) <= _LARGEST if wanted.allow_large else tokens(len(text)) <= cap:
            return Excerpt(text, 1, total, total)
        if wanted.allow_large:
            share = len(text) / _shown(text)
            cap = int(_LARGEST * share / _PAGE_SHARE) // _CHARS_PER_TOKEN
        return _page(text, total, cap)
    start = 1 if wanted.offset is None else wanted.offset
    lines = text.split("\n")
    first = max(start - 1, 0)
    chosen = lines[first : None if wanted.limit is None else first + wanted.limit]
    part = "\n".join(chosen)
    if not wanted.allow_large:
        _require_room(len(part), cap)
    elif _shown(part) > _LARGEST:
        raise token_error(f"{tokens(len(part))} tokens", f"tokens ({_LARGEST // 4})", large=True)
    return Excerpt(part, start, len(chosen), total)


def _shown(text: str) -> int:
    """How long a text is with the numbers of its lines."""
    return len(text) + 8 * (text.count("\n") + 1)


def _page(text: str, total: int, cap: int) -> Excerpt:
    room = int(cap * _PAGE_SHARE) * _CHARS_PER_TOKEN
    end = text.rfind("\n", 0, room + 1)
    part = text[:end] if end > 0 else text[:room]
    count = part.count("\n") + 1 if end > 0 else total
    return Excerpt(part, 1, count, total, True, tokens(len(text)), cap, len(text))


def _require_room(chars: int, cap: int) -> None:
    if tokens(chars) > cap:
        raise token_error(f"{tokens(chars)} tokens", f"tokens ({cap})", large=False)


def token_error(amount: str, allowed: str, *, large: bool) -> ToolError:
    """The error for a read that returns too much."""
    advice = (
        "Even with allow_large, this is more than fits in the context you have left this turn (other large "
        "reads in the same turn share that room)."
        if large
        else _ANYWAY
    )
    return ToolError(f"File content ({amount}) exceeds maximum allowed {allowed}. {_NARROW} {advice}")


def read_lines(path: str, offset: int | None, limit: int, cap: int) -> Excerpt:
    """A range of lines of a file of any size; holds one block and the range in memory."""
    start = 1 if offset is None else offset
    first = max(start - 1, 0)
    # A range may not need more than the token limit; 4 bytes is the longest UTF-8 character.
    most = (cap + 1) * _CHARS_PER_TOKEN * 4
    kept = bytearray()
    line = 0
    with open(path, "rb") as file:
        while block := file.read(_BLOCK):
            newlines = block.count(b"\n")
            if line <= first + limit - 1 and line + newlines >= first and len(kept) <= most:
                kept += _part(block, first - line, first + limit - line)[: most + 1]
            line += newlines
    text = kept.decode("utf-8", "replace").replace("\r\n", "\n").removeprefix("\ufeff")
    if line >= first + limit:
        text = text.removesuffix("\n")
    _require_room(len(text), cap)
    total = line + 1
    if first >= total:
        return Excerpt("", start, 0, total)
    return Excerpt(text, start, text.count("\n") + 1, total)


def _part(block: bytes, first: int, last: int) -> bytes:
    """The bytes of lines [first, last) of a block, counted from its beginning."""
    begin = _line_start(block, first)
    end = _line_start(block, last)
    return block[begin:end]


def _line_start(block: bytes, line: int) -> int:
    position = 0
    for _ in range(line):
        found = block.find(b"\n", position)
        if found < 0:
            return len(block)
        position = found + 1
    return position
