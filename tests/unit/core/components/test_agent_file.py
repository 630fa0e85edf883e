from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.core.components.agent_file import agent_from_text, read_agent
from forge.core.components.agent_type import AgentType
from forge.core.components.kinds import PluginRoot
from forge.foundation.origin import Origin, Scope, Severity

ORIGIN = Origin(Scope.PROJECT, "agents/a.md")
PLUGIN = PluginRoot("p@inline", "p", "/p", "/d")
HOOKS: dict[str, Any] = {"Stop": []}


def agent(front: str, plugin: PluginRoot | None = None) -> AgentType | None:
    text = f"---\n{front}\n---\n\nYou are it.\n"
    return agent_from_text(text, "agents/a.md", "p:" if plugin else "", ORIGIN, plugin)[0]


@pytest.mark.parametrize(
    ("front", "field", "value"),
    [
        ("tools: Read, Bash(git:*)", "tools", ["Read", "Bash(git:*)"]),
        ("tools: Read Glob,Bash(a b)", "tools", ["Read", "Glob", "Bash(a b)"]),
        (
            "tools: ['Read, Glob', 'Bash(git x, y)', Edit]",
            "tools",
            ["Read", "Glob", "Bash(git x, y)", "Edit"],
        ),
        ("tools: Agent(a, b)", "tools", ["Agent(a, b)"]),
        ("tools: []", "tools", None),
        ("tools: ''", "tools", None),
        ("tools:", "tools", None),
        ("tools: '*'", "tools", None),
        ("tools: [Read, '*']", "tools", None),
        ("tools: 5", "tools", None),
        ("tools: {a: 1}", "tools", None),
        ("disallowedTools: ['Write, Edit', 5]", "disallowed_tools", ["Write", "Edit"]),
        ("disallowed-tools: Write", "disallowed_tools", []),
        ("model: haiku", "model", "haiku"),
        ("effort: low", "effort", "low"),
        ("effort: 3", "effort", ""),
        ("permissionMode: acceptEdits", "permission_mode", "acceptEdits"),
        ("permissionMode: never", "permission_mode", ""),
        ("maxTurns: 2", "max_turns", 2),
        ("maxTurns: '3'", "max_turns", 3),
        ("maxTurns: 0", "max_turns", None),
        ("maxTurns: 1.5", "max_turns", None),
        ("maxTurns: true", "max_turns", None),
        ("max-turns: 2", "max_turns", None),
        ("skills: alpha, beta", "skills", ["alpha", "beta"]),
        ("skills: [alpha]", "skills", ["alpha"]),
        ("mcpServers: [one, {two: {command: x}}]", "mcp_servers", ["one", {"two": {"command": "x"}}]),
        ("mcpServers: {two: {command: x}}", "mcp_servers", [{"two": {"command": "x"}}]),
        ("hooks: {Stop: []}", "hooks", HOOKS),
        ("memory: project", "memory", "project"),
        ("memory: elsewhere", "memory", ""),
        ("memory: project\ntools: Read", "tools", ["Read", "Write", "Edit"]),
        ("memory: project\ntools: Grep", "tools", ["Grep", "Write", "Edit", "Read"]),
        ("memory: user\ntools: []", "tools", ["Write", "Edit", "Read"]),
        ("memory: user", "tools", None),
        ("background: true", "background", True),
        ("isolation: worktree", "isolation", "worktree"),
        ("isolation: chroot", "isolation", ""),
        ("omitClaudeMd: true", "omit_claude_md", True),
        ("color: red", "color", "red"),
        ("color: mauve", "color", ""),
        ("initialPrompt: Start here", "initial_prompt", "Start here"),
    ],
)
def test_each_key_of_the_front_matter_has_its_field(front: str, field: str, value: Any) -> None:
    kind = agent(f"name: a\ndescription: d\n{front}")
    assert getattr(kind, field) == value


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("description: d", "it has no name"),
        ("name: ''\ndescription: d", "it has no name"),
        ("name: 42\ndescription: d", "its name is not text"),
        ("name: a:b\ndescription: d", "its name contains `:` or starts with `-`"),
        ("name: -x\ndescription: d", "its name contains `:` or starts with `-`"),
        ("name: a", "it has no description"),
        ("name: a\ndescription: 5", "it has no description"),
        ("name: a\ndescription: [x]", "it has no description"),
    ],
)
def test_files_without_name_or_description_are_skipped_and_reported(front: str, reason: str) -> None:
    kind, notes = agent_from_text(f"---\n{front}\n---\nx", "agents/a.md", "", ORIGIN)
    assert kind is None
    assert [(n.message, n.severity) for n in notes] == [(f"is not an agent: {reason}", Severity.WARNING)]


def test_a_name_is_taken_as_written_and_the_description_gets_its_line_breaks() -> None:
    kind = agent("name: ' Two Words '\ndescription: ' one\\ntwo '")
    assert kind == AgentType(" Two Words ", " one\ntwo ", "You are it.")


@pytest.mark.parametrize(
    ("text", "name", "description"),
    [
        ("just text", "p:a", "Agent from p plugin"),
        ('---\nname: "x\n---\nbody', "p:a", "Agent from p plugin"),
        ("---\nname: n\n---\nbody", "p:n", "Agent from p plugin"),
        ("---\ndescription: ' d '\n---\nbody", "p:a", "d"),
        ("---\nname: col:on\ndescription: d\n---\nb", "p:col:on", "d"),
        ("---\nname: -dash\ndescription: 5\n---\nb", "p:-dash", "5"),
        ("---\nname: 42\ndescription: [a]\n---\nb", "p:42", "Agent from p plugin"),
        ("---\nname: ' pad '\ndescription: a\\nb\n---\nb", "p: pad ", "a\\nb"),
    ],
)
def test_agents_of_plugins_always_load(text: str, name: str, description: str) -> None:
    kind, _ = agent_from_text(text, "x/a.md", "p:", Origin(Scope.PLUGIN, "x/a.md"), PLUGIN)
    assert kind is not None
    assert (kind.name, kind.description, kind.plugin) == (name, description, PLUGIN)


def test_agents_of_plugins_get_no_rights_of_their_own() -> None:
    front = "permissionMode: plan\nhooks: {Stop: []}\nmcpServers: [x]\ninitialPrompt: i"
    text = f"---\nname: a\ndescription: d\n{front}\n---\nb"
    kind, notes = agent_from_text(text, "x/a.md", "p:", ORIGIN, PLUGIN)
    assert kind == AgentType("p:a", "d", "b", plugin=PLUGIN)
    assert [n.key for n in notes] == ["permissionMode", "hooks", "mcpServers", "initialPrompt"]


def test_a_file_that_cannot_be_read_is_a_diagnostic(tmp_path: Path) -> None:
    path = str(tmp_path / "a.md")
    kind, notes = read_agent(path, "", Origin(Scope.USER, path))
    assert (kind, [n.severity for n in notes]) == (None, [Severity.ERROR])
