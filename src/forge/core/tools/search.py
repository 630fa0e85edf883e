"""Runs ripgrep, or its slow stand-in, and hands over what it finds record by record.

The output is never held as a whole: a receiver keeps what it needs of it.
"""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from collections.abc import Callable, Mapping, Sequence

import msgspec

from forge.core.tool import ToolContext, ToolError
from forge.foundation.system.process import Child, Spawn, Unsupported, pipe, readable, spawn

_BLOCK = 1 << 18
_MAX_OUTPUT = 1 << 26
_MAX_ERRORS = 1 << 16

Receiver = Callable[[bytes], None]


class Query(msgspec.Struct, frozen=True):
    """What to search. `mode` is files, files_with_matches, content or count.

    `target` is a file or directory relative to `root`, `context` flags and numbers for lines around a match.
    """

    mode: str
    root: str
    target: str = ""
    pattern: str = ""
    globs: Sequence[str] = ()
    type: str = ""
    ignore_case: bool = False
    multiline: bool = False
    only_matching: bool = False
    line_numbers: bool = True
    context: Sequence[str] = ()
    seconds: float = 20.0

    @property
    def separator(self) -> bytes:
        """What ends a record."""
        return b"\n" if self.mode in ("content", "count") else b"\0"


async def search(query: Query, ctx: ToolContext, receive: Receiver) -> bool:
    """Passes every record to `receive`; False if there were more than can be looked at."""
    program = find_program(ctx.env)
    if not program:
        # Slower, but a machine without ripgrep can still search.
        walk = importlib.import_module("forge.core.tools.walk")
        await asyncio.to_thread(walk.search, query, receive)
        return True
    try:
        return await _run([program, *arguments(query)], query, ctx, receive)
    except (OSError, Unsupported) as error:
        raise ToolError(f"Search failed: {program} could not be started: {error}") from None


def find_program(env: Mapping[str, str]) -> str:
    """ripgrep beside the interpreter, else on the path, else ""."""
    beside = os.path.join(os.path.dirname(sys.executable), "rg")
    for path in (beside, *(os.path.join(p, "rg") for p in env.get("PATH", "").split(os.pathsep) if p)):
        if os.access(path, os.X_OK):
            return path
    return ""


def arguments(query: Query) -> list[str]:
    """The command line of ripgrep for a query."""
    args = ["--no-config", "--hidden", "--no-messages", "--color=never"]
    if query.mode == "files":
        args += ["--files", "--no-ignore", "--null"]
        return [*args, *(f"--glob={g}" for g in query.globs)]
    args += [f"--glob=!{name}" for name in (".git", ".svn", ".hg", ".bzr", ".jj", ".sl")]
    args += ["--max-columns=500", *(f"--glob={g}" for g in query.globs)]
    if query.mode == "files_with_matches":
        args += ["--files-with-matches", "--null"]
    elif query.mode == "count":
        args += ["--count", "--with-filename", "--null", "--sort=path"]
    else:
        args += ["--no-heading", "--sort=path", "--line-number" if query.line_numbers else "--no-line-number"]
        # Marked separators tell where the path ends, whatever it contains.
        args += [r"--field-match-separator=\x00:", r"--field-context-separator=\x00-", *query.context]
    flags = (
        (query.ignore_case, ["--ignore-case"]),
        (query.only_matching, ["--only-matching"]),
        (query.multiline, ["--multiline", "--multiline-dotall"]),
        (bool(query.type), [f"--type={query.type}"]),
    )
    args += [flag for wanted, group in flags if wanted for flag in group]
    return [*args, f"--regexp={query.pattern}", "--", query.target or "./"]


async def _run(argv: list[str], query: Query, ctx: ToolContext, receive: Receiver) -> bool:
    output, output_end = pipe(1 << 20)
    errors, errors_end = pipe()
    child: Child | None = None
    try:
        try:
            child = spawn(Spawn(argv, query.root, ctx.env, stdout=output_end, stderr=errors_end))
        finally:
            os.close(output_end)
            os.close(errors_end)
        async with asyncio.timeout(query.seconds):
            complete = await _records(output, query.separator, receive)
            if complete:
                await child.wait()
    except TimeoutError:
        raise ToolError(
            f"Search stopped after {query.seconds:g} seconds. Narrow it with a path, a glob or a more "
            "specific pattern."
        ) from None
    finally:
        if child is not None:
            child.kill()
            await child.wait()
        problem = _rest(errors)
        os.close(output)
        os.close(errors)
    if problem and 'literal "\\n"' not in problem:
        raise ToolError(rejected(problem))
    return complete


def rejected(problem: str) -> str:
    """The text for a pattern, glob or type that cannot be searched for."""
    return f"Search failed — ripgrep rejected the pattern, glob, or file type without searching:\n{problem}"


async def _records(descriptor: int, separator: bytes, receive: Receiver) -> bool:
    rest = b""
    size = 0
    while size <= _MAX_OUTPUT:
        await readable(descriptor)
        block = os.read(descriptor, _BLOCK)
        if not block:
            if rest:
                receive(rest)
            return True
        size += len(block)
        records = (rest + block).split(separator)
        rest = records.pop()
        for record in records:
            receive(record)
    return False


def _rest(descriptor: int) -> str:
    try:
        return os.read(descriptor, _MAX_ERRORS).decode("utf-8", "replace").strip()
    except BlockingIOError:
        return ""
