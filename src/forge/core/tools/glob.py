"""The Glob tool: finds files by name."""

from __future__ import annotations

import os
import re
import time

import msgspec

from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.core.tools.location import modified, relative, resolve
from forge.core.tools.search import Query, search

_MAX_FILES = 100


class Args(msgspec.Struct, frozen=True):
    pattern: str
    path: str = ""


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Lists the files whose names match, the oldest first."""
    started = time.monotonic()
    root, pattern = _place(args, ctx)
    matching: list[tuple[float, str]] = []

    def receive(record: bytes) -> None:
        path = os.path.join(root, os.fsdecode(record))
        if ctx.readable(path):
            matching.append((modified(path), path))

    complete = not root or await search(Query("files", root, globs=(pattern,)), ctx, receive)
    total = len(matching)
    found = [relative(path, ctx) for _, path in sorted(matching)[:_MAX_FILES]]
    data = {
        "filenames": found,
        "durationMs": round((time.monotonic() - started) * 1000),
        "numFiles": len(found),
        "truncated": total > len(found),
        "totalMatches": total,
        "countIsComplete": complete,
    }
    return ToolOutput(_text(found, total), data)


def _place(args: Args, ctx: ToolContext) -> tuple[str, str]:
    """Where to search for what; a pattern that is a whole path brings its own directory ("" if missing)."""
    root, pattern = resolve(args.path, ctx), args.pattern.strip("\n")
    if pattern.startswith(("/", "~/")):
        fixed = re.split(r"[*?\[{]", pattern, maxsplit=1)[0]
        folder = os.path.dirname(fixed)
        root, pattern = resolve(folder or "/", ctx), pattern[len(folder) :].lstrip("/")
        return root if os.path.isdir(root) else "", pattern
    _require_directory(args.path or root, root, ctx)
    return root, pattern.removeprefix("./")


def _require_directory(shown: str, root: str, ctx: ToolContext) -> None:
    if not os.path.exists(root):
        raise ToolError(
            f"Directory does not exist: {shown}. Note: your current working directory is {ctx.cwd}."
        )
    if not os.path.isdir(root):
        raise ToolError(f"Path is not a directory: {shown}")


def _text(found: list[str], total: int) -> str:
    if not found:
        return "No files found"
    lines = "\n".join(found)
    if total == len(found):
        return lines
    return (
        f"{lines}\n(Showing {len(found)} of {total} matching files; {total - len(found)} more are not "
        "listed. Narrow the pattern or path to see the rest.)"
    )


ACTION: Action[Args] = Action(Args, run)
