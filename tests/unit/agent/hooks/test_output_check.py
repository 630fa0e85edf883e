from __future__ import annotations

import json
from typing import Any

import pytest

from forge.agent.hooks.output import Output, Wrong, parse_output
from forge.agent.hooks.several import several_objects
from unit.agent.hooks.making import specific

EVENT = "PreToolUse"
NAMES = (
    '"PreToolUse" | "UserPromptSubmit" | "UserPromptExpansion" | "SessionStart" | "Setup" | "PreModelSwitch"'
)
DENY = specific(EVENT, permissionDecision="deny")

# What a hook printed, and the first thing that is wrong with it.
FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"decision": "maybe"}, 'decision: Invalid option: expected one of "approve"|"block"'),
    ({"decision": None}, 'decision: Invalid option: expected one of "approve"|"block"'),
    ({"continue": "no", "reason": 5}, "continue: expected boolean, received string"),
    ({"reason": 5, "decision": "block"}, "reason: expected string, received number"),
    ({"reason": None, "decision": "block"}, "reason: expected string, received null"),
    ({"suppressOutput": "yes"}, "suppressOutput: expected boolean, received string"),
    ({"systemMessage": ["a"]}, "systemMessage: expected string, received array"),
    ({"terminalSequence": {}}, "terminalSequence: expected string, received object"),
    ({"hookSpecificOutput": 5}, "hookSpecificOutput: expected object, received number"),
    ({"hookSpecificOutput": None}, "hookSpecificOutput: expected object, received null"),
    ({"hookSpecificOutput": {}}, 'hookSpecificOutput is missing required field "hookEventName"'),
    (specific("Nope"), f"hookSpecificOutput.hookEventName: expected one of {NAMES} | …"),
    (
        specific(EVENT, permissionDecision="x"),
        'hookSpecificOutput.permissionDecision: Invalid option: expected one of "allow"|"deny"|"ask"|"defer"',
    ),
    (
        specific(EVENT, permissionDecision="deny", permissionDecisionReason=None),
        "hookSpecificOutput.permissionDecisionReason: expected string, received null",
    ),
    (
        specific(EVENT, updatedInput="x"),
        "hookSpecificOutput.updatedInput: expected object, received string",
    ),
]


@pytest.mark.parametrize(("said", "problem"), FAULTS, ids=lambda value: str(value)[:50])
def test_the_first_fault_is_told_with_the_whole_answer(said: dict[str, Any], problem: str) -> None:
    words = f"Hook JSON output validation failed — {problem}\n\nThe hook's output was: "
    assert parse_output(json.dumps(said), EVENT) == Wrong(words + json.dumps(said, indent=2))


def test_an_answer_to_another_event_is_none() -> None:
    said = specific("Stop")
    words = "Hook returned incorrect event name: expected 'PreToolUse' but got 'Stop'."
    wrong = Wrong(f"Failed to run: {words} Full stdout: {json.dumps(said, indent=2)}")
    assert parse_output(json.dumps(said), EVENT) == wrong


@pytest.mark.parametrize(
    "more", [{"x": None}, {"watchPaths": 5}, {"retry": "yes"}, {"worktreePath": None}], ids=str
)
def test_what_belongs_to_other_events_is_not_looked_at(more: dict[str, Any]) -> None:
    said = {"x": None, "hookSpecificOutput": DENY["hookSpecificOutput"] | more}
    assert parse_output(json.dumps(said), EVENT) == parse_output(json.dumps(DENY), EVENT)
    assert isinstance(parse_output(json.dumps(said), EVENT), Output)


@pytest.mark.parametrize(
    ("text", "several"),
    [
        ("{}\n{}", True),
        ('{"a": 1} {"b": 2}', True),
        ("{}\n\n{}\n{}\n", True),
        ("{}", False),
        ("{}\n[]", False),
        ("{}\ntext", False),
        ("{}\n{oops", False),
        ('{"a":' * 5000, False),
    ],
    ids=lambda value: str(value)[:20],
)
def test_several_objects_are_no_answer_but_no_text_either(text: str, several: bool) -> None:
    assert several_objects(text) is several
    if several:
        assert isinstance(parse_output(text, EVENT), Wrong)
