"""The StructuredOutput tool: a run with a schema ends when the model hands over a value that fits it."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.agent.session import Structured
from forge.agent.texts.load import text
from forge.core.schema import issues
from forge.core.schema_text import output_error
from forge.core.tool import Action, Tool, ToolContext, ToolError, ToolOutput

NAME = "StructuredOutput"
MAX_FAILURES = 5


def begin_value(state: Structured | None) -> None:
    """Every turn owes a value of its own."""
    if state is not None:
        state.value, state.failures, state.reminded, state.wrong = msgspec.UNSET, 0, False, ""


def structured_output_tool(state: Structured) -> Tool:
    """The tool that takes the value for `state`."""

    async def run(value: dict[str, Any], context: ToolContext) -> ToolOutput:
        if wrong := issues(state.schema, value):
            state.failures += 1
            state.wrong = output_error(wrong)
            raise ToolError(state.wrong)
        state.value = value
        done = "Structured output provided successfully"
        return ToolOutput(done, done)

    schema = {"type": "object"}
    return Tool(
        name=NAME,
        description=text("structured_output_tool"),
        schema={**schema, **state.schema},
        load=lambda: Action(dict[str, Any], run),
        read_only=True,
        validates=True,
    )
