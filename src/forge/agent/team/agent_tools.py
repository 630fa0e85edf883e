"""The tools for sub-agents and skills; their code is imported on the first call."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from forge.agent.texts.load import table, text
from forge.core.tool import Action, Tool


class Row(msgspec.Struct, frozen=True):
    """One tool: `prose` names its text, `code` is module:name of its action."""

    name: str
    aliases: tuple[str, ...]
    prose: str
    code: str
    schema: dict[str, Any]
    deferred: bool = False


def agent_tools() -> list[Tool]:
    """Agent, ListAgents, SendMessage and Skill."""
    return [_tool(row) for row in msgspec.json.decode(table("agent_tools"), type=list[Row])]


def _tool(row: Row) -> Tool:
    def load() -> Action[Any]:
        module, _, name = row.code.partition(":")
        action: Action[Any] = getattr(import_module(module), name)
        return action

    return Tool(row.name, text(row.prose), row.schema, load, aliases=row.aliases, deferred=row.deferred)
