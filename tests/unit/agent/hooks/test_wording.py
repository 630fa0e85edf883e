from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from forge.agent.hooks.answer import Answer, Run, judge
from forge.agent.hooks.fold import fold
from forge.agent.hooks.hook import Hook
from forge.agent.hooks.wording import texts
from forge.foundation.hookspec import HOOKS
from unit.agent.hooks.making import PROJECT, answer, engine, seated, specific

CONTEXT = {event: specific(event, additionalContext="c") for event in HOOKS}
BLOCK = {"decision": "block", "reason": "b"}
STOP = {"continue": False, "stopReason": "s"}

# The answers in the order they came, and what the model is told.
TABLE: list[tuple[str, list[Any], list[str]]] = [
    ("PostToolUse", [CONTEXT["PostToolUse"]] * 2, ["PostToolUse hook additional context: c\nc"]),
    (
        "UserPromptSubmit",
        [CONTEXT["UserPromptSubmit"], "plain", CONTEXT["UserPromptSubmit"]],
        [
            "UserPromptSubmit hook additional context: c",
            "UserPromptSubmit hook success: plain",
            "UserPromptSubmit hook additional context: c",
        ],
    ),
    ("UserPromptExpansion", ["plain"], ["UserPromptExpansion hook success: plain"]),
    ("UserPromptSubmit", ["plain", BLOCK], []),
    ("UserPromptSubmit", ["plain", STOP], []),
    ("Stop", [CONTEXT["Stop"]], []),
    (
        "Stop",
        [CONTEXT["Stop"], BLOCK],
        ["Stop hook additional context: c", 'Stop hook blocking error from command: "x": b'],
    ),
    (
        "PostToolUse",
        [CONTEXT["PostToolUse"], BLOCK],
        ['PostToolUse hook blocking error from command: "x": b', "PostToolUse hook additional context: c"],
    ),
    ("SubagentStop", [BLOCK], ['SubagentStop hook blocking error from command: "x": b']),
]


@pytest.mark.parametrize(("event", "outputs", "told"), TABLE)
def test_the_model_is_told(event: str, outputs: list[Any], told: list[str]) -> None:
    answers = [answer(event, output) for output in outputs]
    assert [t.text for t in texts(HOOKS[event], event, "", answers, fold(event, answers))] == told


@pytest.mark.parametrize(
    ("first", "second", "ended"),
    [(STOP, BLOCK, (True, [])), (BLOCK, STOP, (False, ["b"]))],
)
def test_the_first_objection_to_a_prompt_is_the_last_word(
    first: Any, second: Any, ended: tuple[bool, list[str]]
) -> None:
    folded = fold("UserPromptSubmit", [answer("UserPromptSubmit", first), answer("UserPromptSubmit", second)])
    assert (folded.end_turn, [block.text for block in folded.blocks]) == ended


def test_a_refused_prompt_does_not_wait_for_other_opinions(tmp_path: Path) -> None:
    handlers = [{"type": "command", "command": command} for command in ("exit 2", "sleep 60; touch late")]
    made = engine({"UserPromptSubmit": [{"hooks": handlers}]})
    seated(made, str(tmp_path))
    folded = asyncio.run(asyncio.wait_for(made.fire("UserPromptSubmit", prompt="x"), 20))
    assert ([b.label for b in folded.blocks], (tmp_path / "late").exists()) == (["exit 2"], False)


@pytest.mark.parametrize(
    ("update", "valid"),
    [
        ({"type": "addRules", "rules": [], "behavior": "allow", "destination": "session"}, True),
        ({"type": "setMode", "mode": "plan", "destination": "session"}, True),
        ({"type": "removeDirectories", "directories": ["/x"], "destination": "userSettings"}, True),
        ({"type": "nonsense", "destination": "session"}, False),
        ({"type": "addRules", "destination": "session"}, False),
        ({"type": "setMode", "mode": "plan", "destination": "moon"}, False),
        ("addRules", False),
    ],
)
def test_an_answer_with_a_wrong_change_of_permissions_does_not_count(update: Any, valid: bool) -> None:
    decision = {"behavior": "allow", "updatedPermissions": [update]}
    judged: Answer = answer("PermissionRequest", specific("PermissionRequest", decision=decision))
    assert (judged.outcome, fold("PermissionRequest", [judged]).verdict) == (
        ("success", "allow") if valid else ("error", "")
    )


@pytest.mark.parametrize(
    ("kind", "blocks"), [("command", True), ("http", True), ("prompt", False), ("agent", False)]
)
def test_a_model_without_a_judgement_blocks_nothing(kind: str, blocks: bool) -> None:
    fields = {kind: "x", "command": "x", "url": "x", "prompt": "x", "onFailure": "block"}
    run = Run(Hook("PreToolUse", "", kind, fields, PROJECT), None, failure="no")
    assert (judge(run).block is not None) is blocks
