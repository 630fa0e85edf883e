from __future__ import annotations

from typing import Any

import pytest

from forge.foundation.settings_hooks import GUARDS, judge_hooks
from forge.foundation.settings_schema import Problem

OK = {"type": "command", "command": "a"}
UNKNOWN_TYPE = "Valid types: command, prompt, agent, http, mcp_tool"

# Each of these makes the reference refuse the entry.
BAD_HANDLERS: list[tuple[Any, str, str]] = [
    ("x", "", "Expected object, but received string"),
    ({"type": "zz"}, ".type", f'Unknown hook type "zz". {UNKNOWN_TYPE}'),
    ({"command": "a"}, ".type", f'Hook entry has no "type". {UNKNOWN_TYPE}'),
    ({"type": ["x"]}, ".type", f"Unknown hook type \"['x']\". {UNKNOWN_TYPE}"),
    ({"type": "command"}, ".command", "Expected string, but received undefined"),
    ({**OK, "command": 3}, ".command", "Expected string, but received number"),
    ({**OK, "timeout": 0}, ".timeout", "Number must be greater than 0"),
    ({**OK, "timeout": -1}, ".timeout", "Number must be greater than or equal to 0"),
    ({**OK, "timeout": "5"}, ".timeout", "Expected number, but received string"),
    ({**OK, "timeout": None}, ".timeout", "Expected number, but received null"),
    ({**OK, "onFailure": "x"}, ".onFailure", 'Invalid value. Expected one of: "continue", "block"'),
    ({**OK, "shell": "zsh"}, ".shell", 'Invalid value. Expected one of: "bash", "powershell"'),
    ({**OK, "async": "x"}, ".async", "Expected boolean, but received string"),
    ({**OK, "once": "x"}, ".once", "Expected boolean, but received string"),
    ({**OK, "if": 3}, ".if", "Expected string, but received number"),
    ({**OK, "args": [1]}, ".args.0", "Expected string, but received number"),
    ({"type": "http"}, ".url", "Expected string, but received undefined"),
    ({"type": "http", "url": "no address"}, ".url", "Invalid URL"),
    (
        {"type": "http", "url": "http://x", "headers": {"a": 1}},
        ".headers.a",
        "Expected string, but received number",
    ),
    ({"type": "prompt"}, ".prompt", "Expected string, but received undefined"),
    ({"type": "agent"}, ".prompt", "Expected string, but received undefined"),
    ({"type": "mcp_tool", "server": "x"}, ".tool", "Expected string, but received undefined"),
    (
        {"type": "mcp_tool", "server": "x", "tool": "y", "input": "z"},
        ".input",
        "Expected record, but received string",
    ),
]

BAD_GROUPS: list[tuple[Any, str, str]] = [
    (3, "", "Expected object, but received number"),
    (OK, ".hooks", "Expected array, but received undefined"),
    ({"hooks": None}, ".hooks", "Expected array, but received null"),
    ({"matcher": 3, "hooks": [OK]}, ".matcher", "Expected string, but received number"),
    ({"matcher": None, "hooks": [OK]}, ".matcher", "Expected string, but received null"),
]


def problem(start: str, key: str, message: str) -> Problem:
    return Problem(tuple((start + key).split(".")), message)


@pytest.mark.parametrize(("handler", "key", "message"), BAD_HANDLERS)
def test_bad_handler_is_dropped_and_its_neighbours_stay(handler: Any, key: str, message: str) -> None:
    judged = judge_hooks({"Stop": [{"hooks": [handler, OK]}]})
    assert (judged.hooks, judged.dropped, judged.fatal) == (
        {"Stop": [{"hooks": [OK]}]},
        [problem("hooks.Stop.0.hooks.0", key, message)],
        [],
    )


@pytest.mark.parametrize(("group", "key", "message"), BAD_GROUPS)
def test_bad_group_is_dropped_and_its_neighbours_stay(group: Any, key: str, message: str) -> None:
    judged = judge_hooks({"Stop": [group, {"matcher": "x", "hooks": [OK]}]})
    assert (judged.hooks, judged.dropped, judged.fatal) == (
        {"Stop": [{"matcher": "x", "hooks": [OK]}]},
        [problem("hooks.Stop.0", key, message)],
        [],
    )


@pytest.mark.parametrize("event", GUARDS)
def test_bad_guard_spoils_the_file(event: str) -> None:
    judged = judge_hooks({event: [{"hooks": [{"type": "zz"}]}]})
    message = f'Unknown hook type "zz". {UNKNOWN_TYPE}'
    assert judged.fatal == [problem(f"hooks.{event}.0.hooks.0", ".type", message)]
    assert judge_hooks({event: 3}).fatal == [
        problem(f"hooks.{event}", "", "Expected array, but received number")
    ]


@pytest.mark.parametrize(
    "hooks",
    [
        {"PreToolUse": None, "Stop": None},
        {"PreToolUse": []},
        {},
    ],
)
def test_empty_entries_are_nothing(hooks: dict[str, Any]) -> None:
    judged = judge_hooks(hooks)
    assert (judged.hooks, judged.dropped, judged.fatal) == ({}, [], [])


def test_unknown_fields_and_empty_commands_are_kept() -> None:
    hooks = {"PreToolUse": [{"hooks": [{**OK, "command": "", "foo": 1}], "bar": 2}], "Stop": [{"hooks": []}]}
    assert judge_hooks(hooks).hooks == hooks


@pytest.mark.requirement("S3-10", "S0-29")
@pytest.mark.parametrize(
    ("event", "advice"),
    [
        ("stop", 'Did you mean "Stop"?'),
        ("pre_tool_use", 'Did you mean "PreToolUse"?'),
        ("Nonsense", "Valid events: SessionStart, Setup"),
    ],
)
def test_unknown_event_is_ignored_with_advice(event: str, advice: str) -> None:
    judged = judge_hooks({event: [{"hooks": [OK]}], "Stop": [{"hooks": [OK]}]})
    assert (judged.hooks, judged.fatal) == ({"Stop": [{"hooks": [OK]}]}, [])
    assert judged.dropped[0].message.startswith(f'Unknown hook event "{event}" was ignored. {advice}')


@pytest.mark.parametrize(
    ("value", "spoils"), [("x", False), (None, False), ([1], False), ([{"hooks": []}], True)]
)
def test_hooks_that_are_no_object_are_fatal_only_if_they_hold_entries(value: Any, spoils: bool) -> None:
    judged = judge_hooks(value)
    assert (judged.hooks, bool(judged.fatal), bool(judged.dropped)) == ({}, spoils, not spoils)
