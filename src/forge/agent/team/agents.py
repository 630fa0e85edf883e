"""The types of sub-agents: what is built in, how definitions are read, what the model is told of them."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.agent.texts.load import table, text
from forge.core.components.agent_file import allowed, servers
from forge.core.components.agent_type import AgentType
from forge.core.components.catalog import AGENT_ORDER, Contribution
from forge.core.components.fields import EFFORTS, tool_list
from forge.core.registry import Component, Registry
from forge.core.reminder import reminder
from forge.foundation.errors import UsageError
from forge.foundation.origin import BUILTIN, Origin, Scope
from forge.foundation.permissions.modes import canonical_mode

DEFAULT_TYPE = "general-purpose"


def agent_body(kind: AgentType) -> str:
    """The system prompt of an agent; the built-in ones have it in a file."""
    return kind.prompt or (text(kind.text) if kind.text else "")


def builtin_contribution() -> Contribution:
    """The types every session has."""
    kinds = msgspec.json.decode(table("agent_types"), type=list[AgentType])
    return Contribution(agents=[Component(kind.name, kind, BUILTIN) for kind in kinds])


def builtin_agents() -> Registry[AgentType]:
    """A registry with the types every session has."""
    registry: Registry[AgentType] = Registry(AGENT_ORDER)
    for component in builtin_contribution().agents:
        registry.add(component)
    return registry


def add_agents(registry: Registry[AgentType], raw: Any, scope: Scope, option: str) -> None:
    """Adds the definitions of a JSON object to a registry, as `agents_contribution` reads them."""
    for component in agents_contribution(raw, scope, option).agents:
        registry.add(component)


def agents_contribution(raw: Any, scope: Scope, option: str) -> Contribution:
    """The definitions of a JSON object name → definition; raises UsageError that lists every mistake."""
    wrong: list[str] = []
    if not isinstance(raw, dict):
        wrong.append(f"Invalid input: expected object, received {_kind(raw)}")
        raw = {}
    for name, row in raw.items():
        problems = _problems(row) or (_unknown_words(row) if option == "--agents" else [])
        wrong += [f"{name}{problem}" for problem in problems]
    if wrong:
        raise UsageError("\n".join([f"Error: Invalid {option} configuration:", *wrong]))
    origin = Origin(scope)
    return Contribution(agents=[Component(name, _definition(name, row), origin) for name, row in raw.items()])


def _definition(name: str, row: dict[str, Any]) -> AgentType:
    known = {key: row[key] for key in _FIELDS if row.get(key) is not None}
    # Of these, what is not usable is left out; an effort as a number is in the reference's own scale.
    known |= {key: row[key] for key, kind in _LENIENT.items() if isinstance(row.get(key), kind)}
    known["tools"] = allowed(row.get("tools"), known.get("memory", ""))
    known["disallowedTools"] = tool_list(row.get("disallowedTools"))
    known["skills"] = [skill for skill in known.get("skills", ()) if isinstance(skill, str)]
    known["mcpServers"] = servers(row.get("mcpServers"))
    return msgspec.convert({**known, "name": name}, AgentType)


def find_agent(registry: Registry[AgentType], name: str) -> AgentType | None:
    """The type of that name; case does not matter unless two names differ only in it."""
    exact = registry.get(name)
    if exact is not None:
        return exact
    wanted = name.strip().lower()
    return next((c.value for c in registry if c.name.strip().lower() == wanted), None)


def find_main_agent(registry: Registry[AgentType], name: str) -> AgentType | None:
    """The type for the conversation itself; those of plugins also without the plugin's name."""
    found = find_agent(registry, name)
    if found is not None or ":" in name:
        return found
    plain = (c.value for c in registry if c.value.plugin and c.name.rpartition(":")[2] == name)
    return next(plain, None)


def agent_names(registry: Registry[AgentType]) -> list[str]:
    """All names, in the order users see them."""
    return sorted((c.name for c in registry), key=str.lower)


def listing(registry: Registry[AgentType], hidden: frozenset[str] = frozenset()) -> str:
    """What the model reads about the types it can start."""
    rows = [_row(registry[name]) for name in agent_names(registry) if name not in hidden]
    words = "\n".join(["Available agent types for the Agent tool:", *rows, "", text("agent_listing")])
    return reminder(words)


def _row(kind: AgentType) -> str:
    return f"- {kind.name}: {kind.description} (Tools: {_tools(kind)})"


def _tools(kind: AgentType) -> str:
    without = kind.disallowed_tools
    if kind.tools is not None and kind.tools != ["*"]:
        return ", ".join(tool for tool in kind.tools if tool not in without) or "None"
    if without:
        return f"All tools except {', '.join(without)}"
    return "All tools" if kind.tools is None else "*"


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
_LENIENT = {
    "effort": str,
    "skills": list,
    "hooks": dict,
    "memory": str,
    "isolation": str,
    "omitClaudeMd": bool,
    "color": str,
}
_REQUIRED = ("description", "prompt")
_WORDS = {"memory": ("user", "project", "local"), "isolation": ("worktree", "remote")}


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


def _unknown_words(row: dict[str, Any]) -> list[str]:
    """What only the command line minds."""
    found = [] if row["description"] else [".description: Description cannot be empty"]
    if isinstance(row.get("effort"), str) and row["effort"] not in EFFORTS:
        found.append(".effort: Invalid input")
    for field, words in _WORDS.items():
        if row.get(field) is not None and row[field] not in words:
            expected = "|".join(f'"{word}"' for word in words)
            found.append(f".{field}: Invalid option: expected one of {expected}")
    return found


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
