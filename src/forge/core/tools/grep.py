"""The Grep tool: searches the content of files."""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.core.tools.location import modified, relative, resolve
from forge.core.tools.search import Query, search

_DEFAULT_LIMIT = 250
Number = int | float


class Args(msgspec.Struct, frozen=True, rename={"before": "-B", "after": "-A", "around": "-C"}):
    pattern: str
    path: str = ""
    glob: str = ""
    output_mode: str = "files_with_matches"
    before: Number | None = None
    after: Number | None = None
    around: Number | None = None
    context: Number | None = None
    line_numbers: bool = msgspec.field(default=True, name="-n")
    ignore_case: bool = msgspec.field(default=False, name="-i")
    only_matching: bool = msgspec.field(default=False, name="-o")
    type: str = ""
    head_limit: Number = _DEFAULT_LIMIT
    offset: Number = 0
    multiline: bool = False


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses limits that are not numbers of lines."""
    for name, value, advice in (
        ("head_limit", args.head_limit, " Pass 0 for unlimited."),
        ("offset", args.offset, ""),
    ):
        if value < 0 or value != int(value):
            raise ToolError(f"{name} must be a whole number of 0 or more, got {value}.{advice}")


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Searches and returns lines, files or counts."""
    query = _query(args, ctx)
    limit, offset = int(args.head_limit), int(args.offset)
    if args.output_mode == "files_with_matches":
        return await _files(query, ctx, limit, offset)
    window = Window(limit, offset)
    if args.output_mode == "count":
        return await _counts(query, ctx, window)
    return await _lines(query, ctx, window)


def _query(args: Args, ctx: ToolContext) -> Query:
    path = resolve(args.path, ctx)
    if not os.path.exists(path):
        raise ToolError(
            f"Path does not exist: {args.path}. Note: your current working directory is {ctx.cwd}."
        )
    target = "" if path == ctx.cwd else path
    if target.startswith(ctx.cwd.rstrip("/") + "/"):
        target = os.path.relpath(target, ctx.cwd)
    around = args.context if args.context is not None else args.around
    wanted = (("-C", around),) if around is not None else (("-B", args.before), ("-A", args.after))
    context = [text for flag, lines in wanted if lines is not None for text in (flag, str(lines))]
    return Query(
        mode=args.output_mode,
        root=ctx.cwd,
        target=target,
        pattern=args.pattern,
        globs=_globs(args.glob),
        type=args.type,
        ignore_case=args.ignore_case,
        multiline=args.multiline,
        only_matching=args.only_matching,
        line_numbers=args.line_numbers,
        context=context,
    )


def _globs(text: str) -> list[str]:
    """Several globs may be given at once; a comma within braces belongs to its glob."""
    return [glob for part in text.split() for glob in ([part] if "{" in part else part.split(",")) if glob]


class Window:
    """Counts what passes and keeps the part that is shown."""

    def __init__(self, limit: int, offset: int) -> None:
        self.limit, self.offset = limit, offset
        self.total = 0
        self.kept: list[str] = []

    def take(self, line: str) -> None:
        if self.total >= self.offset and (not self.limit or len(self.kept) < self.limit):
            self.kept.append(line)
        self.total += 1

    @property
    def applied(self) -> dict[str, int]:
        """What was left out, as hosts see it."""
        cut = self.limit and self.total > self.offset + self.limit
        return {
            **({"appliedLimit": self.limit} if cut else {}),
            **({"appliedOffset": self.offset} if self.offset else {}),
        }

    @property
    def pagination(self) -> str:
        """The same in words."""
        names = {"appliedLimit": "limit", "appliedOffset": "offset"}
        return ", ".join(f"{names[name]}: {value}" for name, value in self.applied.items())


async def _files(query: Query, ctx: ToolContext, limit: int, offset: int) -> ToolOutput:
    found: list[tuple[float, str]] = []

    def receive(record: bytes) -> None:
        path = _path(record, query)
        if ctx.readable(path):
            found.append((-modified(path), relative(path, ctx)))

    await search(query, ctx, receive)
    window = Window(limit, offset)
    for _, name in sorted(found):
        window.take(name)
    data = {
        "mode": query.mode,
        "filenames": window.kept,
        "numFiles": len(window.kept),
        "totalFiles": window.total,
        **window.applied,
    }
    if not found:
        return ToolOutput("No files found", data)
    if not window.kept:
        text = f"No entries at this offset. [Showing results with pagination = {window.pagination}]"
        return ToolOutput(text, data)
    header = f"Found {_plural(len(window.kept), 'file')} {window.pagination}".rstrip()
    return ToolOutput("\n".join([header, *window.kept]), data)


def _path(record: bytes, query: Query) -> str:
    name = os.fsdecode(record.removeprefix(b"./"))
    return os.path.normpath(os.path.join(query.root, name))


async def _lines(query: Query, ctx: ToolContext, window: Window) -> ToolOutput:
    hidden: dict[bytes, bool] = {}
    whole_file = _is_file(query)
    between = False

    def receive(record: bytes) -> None:
        nonlocal between
        if record == b"--":
            between = window.total > 0
            return
        name, mark, rest = _split(record) if not whole_file else (b"", b"", record)
        if name and name not in hidden:
            hidden[name] = not ctx.readable(_path(name, query))
        if name and hidden[name]:
            return
        line = re.sub(rb"\0([:-])", rb"\1", rest, count=1).removesuffix(b"\r").decode("utf-8", "replace")
        shown = relative(_path(name, query), ctx) + mark.decode() if name else ""
        if between:
            window.take("--")
            between = False
        window.take(shown + line)

    if not whole_file or ctx.readable(_path(os.fsencode(query.target), query)):
        await search(query, ctx, receive)
    content = "\n".join(window.kept)
    data = {
        "mode": query.mode,
        "numFiles": 0,
        "filenames": [],
        "content": content,
        "numLines": len(window.kept),
        "totalLines": window.total,
        **window.applied,
    }
    text = content or _nothing(window)
    note = f"\n\n[Showing results with pagination = {window.pagination}]" if window.applied else ""
    return ToolOutput(text + note, data)


def _is_file(query: Query) -> bool:
    return os.path.isfile(os.path.join(query.root, query.target))


def _split(record: bytes) -> tuple[bytes, bytes, bytes]:
    """Path, separator and rest of a line of output; a line between groups has no path."""
    match = re.match(rb"([^\0]+)\0([:-])", record)
    return (match[1], match[2], record[match.end() :]) if match else (b"", b"", record)


async def _counts(query: Query, ctx: ToolContext, window: Window) -> ToolOutput:
    matches = 0

    def receive(record: bytes) -> None:
        nonlocal matches
        name, _, count = record.partition(b"\0")
        path = _path(name, query)
        if ctx.readable(path):
            matches += int(count)
            window.take(f"{relative(path, ctx)}:{int(count)}")

    await search(query, ctx, receive)
    content = "\n".join(window.kept)
    data: dict[str, Any] = {
        "mode": query.mode,
        "numFiles": window.total,
        "filenames": [],
        "content": content,
        "numMatches": matches,
        **window.applied,
    }
    pages = f" with pagination = {window.pagination}" if window.applied else ""
    summary = f"Found {_plural(matches, 'total occurrence')} across {_plural(window.total, 'file')}.{pages}"
    return ToolOutput(f"{content or _nothing(window)}\n\n{summary}", data)


def _nothing(window: Window) -> str:
    return "No entries at this offset" if window.total else "No matches found"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


ACTION: Action[Args] = Action(Args, run, check)
