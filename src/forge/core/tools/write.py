"""The Write tool: creates a file or replaces its whole content."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.core.amount import human_size
from forge.core.changes import Changes
from forge.core.seen import stamp
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.core.tools.guard import CURRENT, examine, refuse_links, refuse_stale, refuse_unread
from forge.core.tools.location import refuse_null_bytes, resolve, system_error
from forge.core.tools.patch import shown_patch
from forge.core.tools.store import write_atomically
from forge.core.tools.textfile import TextFile, decode
from forge.core.written import Written

_MAX_BYTES = 256 * 1024 * 1024


class Args(msgspec.Struct, frozen=True):
    file_path: str
    content: str


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses directories, devices, and files that were not read or have changed since."""
    refuse_null_bytes("Write", args.file_path)
    path = resolve(args.file_path, ctx)
    status = examine("Write", args.file_path, path)
    if status is not None:
        refuse_unread(path, ctx)
        refuse_stale(path, status, ctx)


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Writes the file."""
    path = resolve(args.file_path, ctx)
    refuse_links(args.file_path, path)
    try:
        old = _old(path, ctx)
        if old is not None and old.flaw:
            raise ToolError(old.refusal)
        text = _text(args.content, old)
        raw = text.encode(old.encoding if old else "utf-8", "surrogatepass")
        ctx.keep(Changes).tell(path)
        status = write_atomically(path, raw)
    except OSError as error:
        raise system_error(error, "open", path) from None
    ctx.seen[path] = stamp(status, raw)
    ctx.keep(Written).put(path, text.replace("\r\n", "\n"))
    return _report(args.file_path, text, old.text if old else "")


def _old(path: str, ctx: ToolContext) -> TextFile | None:
    try:
        status = os.stat(path)
        if status.st_size > _MAX_BYTES:
            raise ToolError(
                f"File is too large to be replaced ({human_size(status.st_size)}; the limit is "
                f"{human_size(_MAX_BYTES)}). Remove it first, then Write it."
            )
        with open(path, "rb") as file:
            raw = file.read()
    except FileNotFoundError:
        return None
    # Permission may have been asked for a long time after the check.
    refuse_unread(path, ctx)
    refuse_stale(path, status, ctx)
    return decode(raw)


def _text(content: str, old: TextFile | None) -> str:
    """The new content; a file keeps its byte-order mark."""
    marked = old is not None and old.text.startswith("\ufeff") and not content.startswith("\ufeff")
    return f"\ufeff{content}" if marked else content


def _report(shown: str, text: str, old: str) -> ToolOutput:
    data: dict[str, Any] = {
        "type": "update" if old else "create",
        "filePath": shown,
        "content": text,
        "structuredPatch": shown_patch(old, text) if old else [],
        "originalFile": old or None,
        "userModified": False,
    }
    done = (
        f"The file {shown} has been updated successfully."
        if old
        else f"File created successfully at: {shown}"
    )
    return ToolOutput(f"{done} {CURRENT}", data)


ACTION: Action[Args] = Action(Args, run, check)
