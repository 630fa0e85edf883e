"""What the tour shows of a call: what it is about, and the lines of its result that matter."""

from __future__ import annotations

import os
from typing import Any

from forge.agent.event import ToolFinished
from forge.core.message import ToolUse
from forge.hosts.cli.screen import clean

_MOST, _SHORT = 4, 3


def subject(call: ToolUse, directory: str) -> str:
    """What a call is about, in a few words."""
    given = call.input
    if call.name == "Agent":
        return f"{given.get('subagent_type', '')}: {given.get('description', '')}"
    for key in ("command", "pattern", "file_path", "path", "url", "description"):
        if isinstance(given.get(key), str):
            value: str = given[key]
            if key not in ("file_path", "path"):
                return value
            # The output of a job lies far away, under a name that says nothing.
            inside = value.startswith(os.path.join(directory, ""))
            return os.path.relpath(value, directory) if inside else "its output"
    return ""


def result_lines(event: ToolFinished) -> list[tuple[str, str]]:
    """The lines of a result worth showing, each with its style."""
    if event.call.input.get("run_in_background") and not event.result.is_error:
        return [("goes on in the background", "dim")]
    patch = event.data.get("structuredPatch") if isinstance(event.data, dict) else None
    if patch:
        return [row for hunk in patch for row in _diff(hunk["lines"])]
    lines = _lines(event)
    style = "red" if event.result.is_error else "dim"
    hidden = len(lines) - _MOST
    if hidden <= 0:
        return [(line, style) for line in lines]
    # What matters of a command is at its end; of a search, at its start.
    if event.call.name == "Bash":
        return [(f"({hidden} lines above)", "dim"), *((line, style) for line in lines[hidden:])]
    return [*((line, style) for line in lines[:_MOST]), (f"({hidden} more lines)", "dim")]


def result_size(event: ToolFinished) -> str:
    """A result in a word or two."""
    if event.result.is_error:
        return "failed"
    count = len(_file(event.data).get("content", "").splitlines()) or len(_lines(event))
    return "1 line" if count == 1 else f"{count} lines"


def review_lines(feedback: str) -> list[tuple[str, str]]:
    """What a review says to the model, without its frame: which hunks are rejected, and why."""
    lines = [line.strip() for line in clean(feedback).split("\n")]
    shown = [line for line in lines if line.startswith(("- ", "comment: "))]
    return [(line, "yellow" if line.startswith("- ") else "") for line in shown]


def _lines(event: ToolFinished) -> list[str]:
    """The lines of a result; of a file only if there are few."""
    text = event.result.content if isinstance(event.result.content, str) else ""
    if event.call.name == "Read" and not event.result.is_error:
        content = str(_file(event.data).get("content", ""))
        count = len(content.splitlines())
        text = content if count <= _SHORT else f"{count} lines"
    # Lines that only separate others take room and say nothing.
    return [line for line in clean(text).split("\n") if line.strip("-. ")]


def _file(data: Any) -> dict[str, Any]:
    file = data.get("file") if isinstance(data, dict) else None
    return file if isinstance(file, dict) else {}


def _diff(lines: list[str]) -> list[tuple[str, str]]:
    """A change with what stands before it; what comes after it says nothing new."""
    styles = {"+": "green", "-": "red"}
    last = max((at for at, line in enumerate(lines) if line[:1] in styles), default=-1)
    return [(line, styles.get(line[:1], "dim")) for line in lines[: last + 1] if line.strip()]
