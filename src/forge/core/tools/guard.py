"""Rules for writing: a file must have been read, must not have changed since, and must be a plain file."""

from __future__ import annotations

import os
import stat

from forge.core.seen import changed
from forge.core.tool import ToolContext, ToolError
from forge.core.tools.location import calling_error, visible

CURRENT = "(file state is current in your context — no need to Read it back)"


def examine(tool_name: str, shown: str, path: str) -> os.stat_result | None:
    """The state of the file to be written, None if there is none; refuses what is not a file."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise calling_error(tool_name, error, "stat", path) from None
    if stat.S_ISDIR(status.st_mode):
        raise ToolError(
            f"{shown} is a directory, not a file. To create a file inside it, include the file name in "
            "file_path."
        )
    if not stat.S_ISREG(status.st_mode):
        raise ToolError(
            f"{shown} exists but is not a regular file (a device, FIFO or socket). {tool_name} only "
            "creates or overwrites regular files."
        )
    return status


def refuse_links(shown: str, path: str) -> None:
    """A symbolic link is not replaced by a file; its target has to be named."""
    if os.path.islink(path):
        raise ToolError(
            f"Refusing to write {shown}: it is a symbolic link. Write to the link's target path instead: "
            f"{visible(os.path.realpath(path))}."
        )


def refuse_unread(path: str, ctx: ToolContext) -> None:
    if path not in ctx.seen:
        raise ToolError("File has not been read yet. Read it first before writing to it.")


def refuse_stale(path: str, status: os.stat_result, ctx: ToolContext) -> None:
    if is_stale(path, status, ctx):
        raise ToolError(STALE)


def is_stale(path: str, status: os.stat_result, ctx: ToolContext) -> bool:
    """Whether the file has changed since the model saw it."""

    def read() -> bytes:
        with open(path, "rb") as file:
            return file.read()

    return changed(ctx.seen[path], status, read)


STALE = (
    "File has been modified since read, either by the user or by a linter. Read it again before attempting "
    "to write it."
)
