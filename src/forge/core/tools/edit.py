"""The Edit tool: replaces a text in a file with another."""

from __future__ import annotations

import errno
import os
import stat
from typing import Any

import msgspec

from forge.core.amount import human_size
from forge.core.changes import Changes
from forge.core.seen import stamp
from forge.core.tool import Action, FileStamp, ToolContext, ToolError, ToolOutput
from forge.core.tools.guard import CURRENT, STALE, is_stale, refuse_links, refuse_unread
from forge.core.tools.location import calling_error, missing, refuse_null_bytes, resolve, system_error
from forge.core.tools.match import Match, apply, find, has_escapes
from forge.core.tools.patch import shown_patch
from forge.core.tools.store import write_atomically
from forge.core.tools.textfile import TextFile, decode, encode
from forge.core.written import Written

_MAX_BYTES = 256 * 1024 * 1024
_CHANGED_NOTE = (
    "(note: the file had been modified on disk since you last read it — the edit applied cleanly, but the "
    "file contains other changes not in your context. Read it before edits that depend on surrounding "
    "content.)"
)
_SWAPPED_NOTE = (
    "(note: Edit also tried swapping \\uXXXX escapes and their characters; neither form matched, so the "
    "mismatch is likely elsewhere in old_string. Re-read the file and copy the exact surrounding text.)"
)
_NO_CHANGES = "No changes to make: old_string and new_string are exactly the same."


class Args(msgspec.Struct, frozen=True):
    file_path: str
    old_string: str
    new_string: str
    replace_all: bool = False


class Plan(msgspec.Struct, frozen=True):
    """An edit that can be done: the file as it is and what to replace in it. No file: it is created."""

    path: str
    match: Match
    file: TextFile | None = None
    seen: FileStamp | None = None
    stale: bool = False


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses an edit that cannot be applied."""
    refuse_null_bytes("Edit", args.file_path)
    _plan(args, ctx)


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Applies the edit."""
    path = resolve(args.file_path, ctx)
    refuse_links(args.file_path, path)
    plan = _plan(args, ctx)
    before = plan.file.text if plan.file else ""
    after = plan.match.replacement
    if args.old_string:
        after = apply(before, plan.match, everywhere=args.replace_all)
    raw = encode(after, plan.file or TextFile(""))
    try:
        ctx.keep(Changes).tell(path)
        status = write_atomically(path, raw)
    except OSError as error:
        raise system_error(error, "open", path) from None
    incomplete = plan.stale or (plan.seen is not None and plan.seen.partial)
    ctx.seen[path] = stamp(status, raw, partial=incomplete)
    ctx.keep(Written).put(path, after)
    return _report(args, plan, before, after)


def _plan(args: Args, ctx: ToolContext) -> Plan:
    path = resolve(args.file_path, ctx)
    if args.old_string == args.new_string:
        raise ToolError(_NO_CHANGES)
    loaded = _load(args.file_path, path)
    if loaded is None:
        if args.old_string:
            raise missing(path, ctx)
        return Plan(path, _whole(args))
    status, file = loaded
    if path.lower().endswith(".ipynb"):
        raise ToolError("File is a Jupyter Notebook. Use the NotebookEdit to edit this file.")
    if not args.old_string and file.text.strip():
        raise ToolError("Cannot create new file - file already exists.")
    refuse_unread(path, ctx)
    if file.flaw:
        raise ToolError(file.refusal)
    stale = is_stale(path, status, ctx)
    match = _unique(args, file.text, stale=stale) if args.old_string else _whole(args)
    return Plan(path, match, file, ctx.seen[path], stale)


def _load(shown: str, path: str) -> tuple[os.stat_result, TextFile] | None:
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise calling_error("Edit", IsADirectoryError(errno.EISDIR, ""), "read")
        if not stat.S_ISREG(status.st_mode):
            kinds = "(a device, FIFO or socket)"
            raise ToolError(
                f"{shown} exists but is not a regular file {kinds}. Edit only changes regular files."
            )
        if status.st_size > _MAX_BYTES:
            raise ToolError(
                f"File is too large to edit ({human_size(status.st_size)}; the limit is "
                f"{human_size(_MAX_BYTES)}). Change it with a shell command."
            )
        with open(path, "rb") as file:
            return status, decode(file.read())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise calling_error("Edit", error, "stat", path) from None


def _whole(args: Args) -> Match:
    """The new text is all there is going to be."""
    return Match("", args.new_string, args.new_string)


def _unique(args: Args, text: str, *, stale: bool) -> Match:
    # Blanks at the end of a line mean something in Markdown.
    trim = not args.file_path.lower().endswith((".md", ".mdx"))
    match = find(text, args.old_string, args.new_string, trim=trim)
    # A byte-order mark is not part of what the model has read.
    if match is None or args.old_string.startswith("\ufeff"):
        raise ToolError(STALE if stale else _not_found(args.old_string))
    if match.found == match.replacement:
        raise ToolError(_NO_CHANGES)
    count = text.count(match.found)
    if count > 1 and not args.replace_all:
        raise ToolError(STALE if stale else _several(count, args.old_string))
    return match


def _not_found(old: str) -> str:
    words = f"String to replace not found in file.\nString: {old}"
    return f"{words}\n{_SWAPPED_NOTE}" if has_escapes(old) else words


def _several(count: int, old: str) -> str:
    return (
        f"Found {count} matches of the string to replace, but replace_all is false. To replace all "
        "occurrences, set replace_all to true. To replace only one occurrence, please provide more context "
        f"to uniquely identify the instance.\nString: {old}"
    )


def _report(args: Args, plan: Plan, before: str, after: str) -> ToolOutput:
    partial = plan.seen is not None and plan.seen.partial
    data: dict[str, Any] = {
        "filePath": args.file_path,
        "oldString": plan.match.found,
        "newString": plan.match.given,
        "originalFile": before,
        "structuredPatch": shown_patch(before, after),
        "userModified": False,
        "replaceAll": args.replace_all,
    }
    if plan.stale:
        data["staleRecovered"] = True
    if plan.stale or partial:
        data["contentNotInModelContext"] = True
    done = f"The file {args.file_path} has been updated successfully."
    if args.replace_all:
        done = f"The file {args.file_path} has been updated. All occurrences were successfully replaced."
    note = _CHANGED_NOTE if plan.stale else "" if partial else CURRENT
    return ToolOutput(f"{done} {note}".rstrip(), data)


ACTION: Action[Args] = Action(Args, run, check)
