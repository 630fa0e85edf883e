"""The outcome of one call, before it is written down."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.amended import naming_note
from forge.core.message import ToolResult, ToolUse


class Done(msgspec.Struct, frozen=True):
    """`data` is the structured result for hosts, `meta` how the call was permitted or refused."""

    result: ToolResult
    data: Any = None
    meta: dict[str, Any] | None = None
    note: str = ""


def failure(call: ToolUse, words: str) -> Done:
    """A result that says the call did not work."""
    return Done(ToolResult(call.id, words, True), f"Error: {words}")


def input_failure(call: ToolUse, words: str, data: Any = None) -> Done:
    """A result that says the call was wrong in itself; it never got as far as a permission check."""
    shown = words if words.startswith(("Error: ", "InputValidationError: ")) else f"Error: {words}"
    result = ToolResult(call.id, f"<tool_use_error>{words}</tool_use_error>", True)
    return Done(result, shown if data is None else data)


def explained(done: Done, given: ToolUse) -> Done:
    """The result of a call whose input had wrong names and was understood all the same: it says so."""
    note, said = naming_note(given.name, given.input), done.result.content
    if not note or done.result.is_error or not isinstance(said, str):
        return done
    return msgspec.structs.replace(done, result=ToolResult(given.id, said + note))
