"""Agent files: Markdown whose front matter names a kind of sub-agent and whose body is its prompt."""

from __future__ import annotations

import os
from typing import Any

from forge.core.components.agent_type import AgentType
from forge.core.components.fields import (
    EFFORTS,
    is_true,
    name_list,
    one_of,
    read_text,
    text_of,
    tool_list,
    wrong,
)
from forge.core.components.kinds import PluginRoot
from forge.foundation.frontmatter import FrontMatter, parse
from forge.foundation.origin import Diagnostic, Origin, Severity
from forge.foundation.permissions.modes import canonical_mode

COLORS = frozenset({"red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"})
_MEMORIES = frozenset({"user", "project", "local"})
_MEMORY_TOOLS = ("Write", "Edit", "Read")
_ISOLATIONS = frozenset({"worktree"})


def read_agent(
    path: str, name_prefix: str, origin: Origin, plugin: PluginRoot | None = None
) -> tuple[AgentType | None, list[Diagnostic]]:
    """Reads an agent file; `name_prefix` goes before the name, for example `plugin:folder:`.

    Files of plugins always load, others only with a usable name and description.
    """
    text, problem = read_text(path, origin)
    if problem:
        return None, [problem]
    return agent_from_text(text, path, name_prefix, origin, plugin)


def agent_from_text(
    text: str, path: str, name_prefix: str, origin: Origin, plugin: PluginRoot | None = None
) -> tuple[AgentType | None, list[Diagnostic]]:
    """The kind of agent a text describes."""
    matter = parse(text, path, origin.scope)
    values = matter.values
    if plugin:
        stem = os.path.splitext(os.path.basename(path))[0]
        name = text_of(values.get("name")) or stem
        description = text_of(values.get("description")).strip() or f"Agent from {plugin.name} plugin"
    else:
        reason = _unusable(values)
        if reason:
            note = Diagnostic(Severity.WARNING, f"is not an agent: {reason}", origin, _SKIPPED, 1, 1)
            return None, [*matter.diagnostics, note]
        name = values["name"]
        description = values["description"].replace("\\n", "\n")
    kind = _agent(name_prefix + name, description, matter, plugin)
    return kind, [*matter.diagnostics, *_complaints(matter, origin, plugin)]


_SKIPPED = (
    "It is skipped. Give it `name: some-name` and `description: when to use it` between two `---` lines."
)


def _unusable(values: dict[str, Any]) -> str:
    name, description = values.get("name"), values.get("description")
    if not isinstance(name, str) or not name:
        return "it has no name" if name in (None, "") else "its name is not text"
    if ":" in name or name.startswith("-"):
        return "its name contains `:` or starts with `-`"
    if not isinstance(description, str) or not description.strip():
        return "it has no description"
    return ""


def _agent(name: str, description: str, matter: FrontMatter, plugin: PluginRoot | None) -> AgentType:
    values = matter.values
    memory = one_of(values, "memory", _MEMORIES)
    # A plugin may not give its agents more rights or servers of their own.
    own = values if plugin is None else {}
    return AgentType(
        name=name,
        description=description,
        prompt=matter.body.strip(),
        tools=allowed(values.get("tools"), memory),
        disallowed_tools=tool_list(values.get("disallowedTools")),
        model=text_of(values.get("model")).strip(),
        effort=one_of(values, "effort", EFFORTS),
        permission_mode=_mode(own.get("permissionMode")),
        max_turns=_turns(values.get("maxTurns")),
        skills=name_list(values.get("skills")),
        mcp_servers=servers(own.get("mcpServers")),
        hooks=own["hooks"] if isinstance(own.get("hooks"), dict) else {},
        memory=memory,
        background=is_true(values.get("background")),
        isolation=one_of(values, "isolation", _ISOLATIONS),
        omit_claude_md=is_true(values.get("omitClaudeMd")),
        color=one_of(values, "color", COLORS),
        initial_prompt=text_of(own.get("initialPrompt")),
        plugin=plugin,
    )


def allowed(value: Any, memory: str = "") -> list[str] | None:
    """The tools of an agent, with those its memory needs; None when nothing limits them."""
    tools = tool_list(value)
    remembers = memory in _MEMORIES
    # An empty list limits nothing, unless there is a memory: then its tools are all there is.
    if "*" in tools or not (tools or (remembers and value == [])):
        return None
    return [*tools, *(tool for tool in _MEMORY_TOOLS if remembers and tool not in tools)]


def servers(value: Any) -> list[Any]:
    """The MCP servers of an agent: names, and maps of a name to a configuration."""
    if isinstance(value, dict):
        return [{name: config} for name, config in value.items()]
    return [entry for entry in value if isinstance(entry, str | dict)] if isinstance(value, list) else []


def _mode(value: Any) -> str:
    return value if isinstance(value, str) and canonical_mode(value) else ""


def _turns(value: Any) -> int | None:
    number = int(value) if isinstance(value, str) and value.isdecimal() else value
    if isinstance(number, bool) or not isinstance(number, int | float) or number != number // 1:
        return None
    return int(number) if number >= 1 else None


_EXPECTED = (
    ("permissionMode", lambda v: bool(_mode(v)), "a permission mode"),
    ("maxTurns", lambda v: _turns(v) is not None, "a whole number above 0"),
    ("effort", EFFORTS.__contains__, "low, medium, high, xhigh or max"),
    ("memory", _MEMORIES.__contains__, "user, project or local"),
    ("isolation", _ISOLATIONS.__contains__, "worktree"),
)
_NOT_FOR_PLUGINS = ("permissionMode", "hooks", "mcpServers", "initialPrompt")


def _complaints(matter: FrontMatter, origin: Origin, plugin: PluginRoot | None) -> list[Diagnostic]:
    values = matter.values
    found = [
        wrong(matter, key, expected, origin)
        for key, usable, expected in _EXPECTED
        if values.get(key) is not None
        and not (isinstance(values[key], str | int | float) and usable(values[key]))
    ]
    if plugin:
        found += [
            wrong(matter, k, "nothing, agents of plugins cannot set it", origin)
            for k in _NOT_FOR_PLUGINS
            if k in values
        ]
    return found
