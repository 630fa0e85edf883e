from __future__ import annotations

from typing import Any

import msgspec
import pytest

from forge.agent.team.agents import add_agents, agent_body, agent_names, builtin_agents, find_agent, listing
from forge.foundation.errors import UsageError
from forge.foundation.origin import Scope


def test_the_built_in_types_have_a_description_and_a_prompt() -> None:
    kinds = [c.value for c in builtin_agents()]
    assert sorted(k.name for k in kinds) == ["Explore", "Plan", "claude", "general-purpose"]
    assert all(k.description and agent_body(k) for k in kinds)


def test_a_definition_replaces_a_built_in_type_and_unknown_keys_are_ignored() -> None:
    agents = builtin_agents()
    row = {
        "description": "mine",
        "prompt": "look",
        "tools": ["Read"],
        "disallowedTools": ["Bash"],
        "model": "haiku",
        "permissionMode": "acceptEdits",
        "maxTurns": 3,
        "background": True,
        "color": "red",
        "effort": 3,
        "memory": "user",
        "skills": ["s", 5],
        "mcpServers": {"a": {}},
        "unknown": 1,
    }
    add_agents(agents, {"Explore": row}, Scope.CLI, "--agents")
    assert agent_names(agents) == ["claude", "Explore", "general-purpose", "Plan"]
    assert msgspec.to_builtins(agents["Explore"]) == {
        "name": "Explore",
        "description": "mine",
        "prompt": "look",
        "tools": ["Read", "Write", "Edit"],
        "disallowedTools": ["Bash"],
        "model": "haiku",
        "effort": "",
        "permissionMode": "acceptEdits",
        "maxTurns": 3,
        "skills": ["s"],
        "mcpServers": [{"a": {}}],
        "hooks": {},
        "memory": "user",
        "background": True,
        "isolation": "",
        "omitClaudeMd": False,
        "color": "red",
        "initialPrompt": "",
        "text": "",
        "plugin": None,
    }


@pytest.mark.parametrize(
    ("raw", "wrong"),
    [
        ([], ["Invalid input: expected object, received array"]),
        ({"a": "x"}, ["a: Invalid input: expected object, received string"]),
        (
            {"a": {"description": "d"}},
            ["a.prompt: Invalid input: expected string, received undefined"],
        ),
        (
            {"a": {"description": 5, "prompt": None}},
            [
                "a.description: Invalid input: expected string, received number",
                "a.prompt: Invalid input: expected string, received null",
            ],
        ),
        (
            {"a": {"description": "d", "prompt": "p", "tools": "Read"}},
            ["a.tools: Invalid input: expected array, received string"],
        ),
        (
            {"a": {"description": "d", "prompt": "p", "tools": ["Read", 1]}},
            ["a.tools.1: Invalid input: expected string, received number"],
        ),
        (
            {"a": {"description": "d", "prompt": "p", "maxTurns": 0, "permissionMode": "x"}},
            [
                "a.maxTurns: Invalid input: expected a whole number above 0",
                "a.permissionMode: Invalid option: 'x' is not a permission mode",
            ],
        ),
    ],
)
def test_wrong_definitions_are_all_listed(raw: Any, wrong: list[str]) -> None:
    agents = builtin_agents()
    with pytest.raises(UsageError) as caught:
        add_agents(agents, raw, Scope.CLI, "--agents")
    assert str(caught.value).split("\n") == ["Error: Invalid --agents configuration:", *wrong]
    assert len(agents) == 4


@pytest.mark.parametrize(
    ("name", "found"),
    [("Explore", "Explore"), ("explore", "Explore"), ("GENERAL-PURPOSE", "general-purpose"), ("x", None)],
)
def test_a_type_is_found_whatever_the_case(name: str, found: str | None) -> None:
    kind = find_agent(builtin_agents(), name)
    assert (kind.name if kind else None) == found


def test_the_list_for_the_model_names_tools() -> None:
    agents = builtin_agents()
    rows = {
        "b": {"description": "does b", "prompt": "p", "tools": ["Read", "Grep"]},
        "A": {"description": "does a\n<b>", "prompt": "p", "disallowedTools": ["Bash"]},
        "c": {"description": "d", "prompt": "p", "tools": ["Read", "Grep"], "disallowedTools": ["Grep"]},
        "d": {"description": "d", "prompt": "p", "tools": ["Read"], "disallowedTools": ["Read"]},
        "e": {"description": "d", "prompt": "p", "tools": ["*"]},
    }
    add_agents(agents, rows, Scope.SESSION, "agents")
    lines = listing(agents, frozenset({"claude", "Explore", "Plan"})).split("\n")
    assert lines[:-3] == [
        "<system-reminder>",
        "Available agent types for the Agent tool:",
        "- A: does a",
        "<b> (Tools: All tools except Bash)",
        "- b: does b (Tools: Read, Grep)",
        "- c: d (Tools: Read)",
        "- d: d (Tools: None)",
        "- e: d (Tools: All tools)",
        f"- general-purpose: {agents['general-purpose'].description} (Tools: *)",
    ]


@pytest.mark.parametrize(
    ("row", "wrong"),
    [
        ({"description": ""}, "a.description: Description cannot be empty"),
        ({"effort": "e"}, "a.effort: Invalid input"),
        ({"memory": "zz"}, 'a.memory: Invalid option: expected one of "user"|"project"|"local"'),
        ({"isolation": "x"}, 'a.isolation: Invalid option: expected one of "worktree"|"remote"'),
    ],
)
def test_the_command_line_minds_words_it_does_not_know(row: dict[str, Any], wrong: str) -> None:
    given = {"a": {"description": "d", "prompt": "p", **row}}
    with pytest.raises(UsageError) as error:
        add_agents(builtin_agents(), given, Scope.CLI, "--agents")
    assert str(error.value) == f"Error: Invalid --agents configuration:\n{wrong}"


def test_blanks_around_a_name_do_not_matter() -> None:
    agents = builtin_agents()
    add_agents(agents, {"  padded  ": {"description": "d", "prompt": "p"}}, Scope.CLI, "--agents")
    assert [find_agent(agents, name) is not None for name in ("padded", " PADDED", "pad")] == [
        True,
        True,
        False,
    ]
