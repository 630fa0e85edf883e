"""The types of sub-agents: what is built in, how definitions are read, what the model is told of them."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.agent.texts.load import text
from forge.core.registry import Component, Registry
from forge.foundation.errors import UsageError
from forge.foundation.origin import BUILTIN, Origin, Scope
from forge.foundation.permissions.modes import canonical_mode

DEFAULT_TYPE = "general-purpose"
ORDER = (
    Scope.MANAGED,
    Scope.SESSION,
    Scope.CLI,
    Scope.FLAG,
    Scope.PROJECT,
    Scope.USER,
    Scope.PLUGIN,
    Scope.BUILTIN,
)


class AgentType(msgspec.Struct, frozen=True, rename="camel"):
    """A kind of sub-agent. `tools` None means all; `text` names the file of a built-in prompt.

    `model` is empty or `inherit` for the model of whoever starts it.
    """

    name: str
    description: str
    prompt: str = ""
    tools: list[str] | None = None
    disallowed_tools: list[str] = []
    model: str = ""
    effort: str = ""
    permission_mode: str = ""
    max_turns: int | None = None
    background: bool = False
    initial_prompt: str = ""
    text: str = ""

    @property
    def body(self) -> str:
        """The system prompt of the agent."""
        return self.prompt or (text(self.text) if self.text else "")


def builtin_agents() -> Registry[AgentType]:
    """A registry with the types every session has."""
    registry: Registry[AgentType] = Registry(ORDER)
    path = os.path.join(os.path.dirname(__file__), "texts", "agent_types.json")
    with open(path, "rb") as file:
        for kind in msgspec.json.decode(file.read(), type=list[AgentType]):
            registry.add(Component(kind.name, kind, BUILTIN))
    return registry


def add_agents(registry: Registry[AgentType], raw: Any, scope: Scope, option: str) -> None:
    """Adds the definitions of a JSON object name → definition; raises UsageError that lists every mistake."""
    wrong: list[str] = []
    if not isinstance(raw, dict):
        wrong.append(f"Invalid input: expected object, received {_kind(raw)}")
        raw = {}
    for name, row in raw.items():
        wrong += [f"{name}{problem}" for problem in _problems(row)]
    if wrong:
        raise UsageError("\n".join([f"Error: Invalid {option} configuration:", *wrong]))
    for name, row in raw.items():
        known = {key: row[key] for key in _FIELDS if row.get(key) is not None}
        # A number is a wish in a scale of the reference's own models.
        effort = row.get("effort") if isinstance(row.get("effort"), str) else ""
        kind = msgspec.convert({**known, "effort": effort, "name": name}, AgentType)
        registry.add(Component(name, kind, Origin(scope)))


def find_agent(registry: Registry[AgentType], name: str) -> AgentType | None:
    """The type of that name; case does not matter unless two names differ only in it."""
    exact = registry.get(name)
    if exact is not None:
        return exact
    return next((c.value for c in registry if c.name.lower() == name.lower()), None)


def agent_names(registry: Registry[AgentType]) -> list[str]:
    """All names, in the order users see them."""
    return sorted((c.name for c in registry), key=str.lower)


def listing(registry: Registry[AgentType], hidden: frozenset[str] = frozenset()) -> str:
    """What the model reads about the types it can start."""
    rows = [_row(registry[name]) for name in agent_names(registry) if name not in hidden]
    words = "\n".join(["Available agent types for the Agent tool:", *rows, "", text("agent_listing")])
    return f"<system-reminder>\n{words}\n</system-reminder>"


def _row(kind: AgentType) -> str:
    tools = ", ".join(kind.tools) if kind.tools else "All tools"
    if kind.disallowed_tools:
        tools += f" except {', '.join(kind.disallowed_tools)}"
    return f"- {kind.name}: {kind.description} (Tools: {tools})"


_FIELDS = {
    "description": "string",
    "prompt": "string",
    "tools": "array",
    "disallowedTools": "array",
    "model": "string",
    "permissionMode": "string",
    "maxTurns": "number",
    "background": "boolean",
    "initialPrompt": "string",
}
_REQUIRED = ("description", "prompt")


def _problems(row: Any) -> list[str]:
    if not isinstance(row, dict):
        return [f": Invalid input: expected object, received {_kind(row)}"]
    kinds = {field: _kind(row[field]) if field in row else "undefined" for field in _FIELDS}
    found = [
        f".{field}: Invalid input: expected {wanted}, received {kinds[field]}"
        for field, wanted in _FIELDS.items()
        if kinds[field] != wanted and (field in row or field in _REQUIRED)
    ]
    for field in ("tools", "disallowedTools"):
        entries = row.get(field)
        found += [
            f".{field}.{n}: Invalid input: expected string, received {_kind(entry)}"
            for n, entry in enumerate(entries if isinstance(entries, list) else [])
            if not isinstance(entry, str)
        ]
    return found + _wrong_values(row)


def _wrong_values(row: dict[str, Any]) -> list[str]:
    found: list[str] = []
    turns, mode = row.get("maxTurns"), row.get("permissionMode")
    if _kind(turns) == "number" and (not isinstance(turns, int) or turns < 1):
        found.append(".maxTurns: Invalid input: expected a whole number above 0")
    if isinstance(mode, str) and canonical_mode(mode) is None:
        found.append(f".permissionMode: Invalid option: {mode!r} is not a permission mode")
    return found


def _kind(value: Any) -> str:
    """The name JavaScript has for the type of a JSON value, as the reference's messages use it."""
    if isinstance(value, bool):
        return "boolean"
    names = {str: "string", int: "number", float: "number", list: "array", dict: "object"}
    return names.get(type(value), "null")
