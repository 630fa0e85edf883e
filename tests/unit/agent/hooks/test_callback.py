from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from forge.agent.event import HookSaid
from forge.agent.hooks.engine import Engine, Means
from forge.agent.hooks.hook import Hook
from forge.agent.hooks.state import HookState
from forge.core.tool import ToolError
from forge.foundation.origin import Origin, Scope
from unit.agent.hooks.making import seated

HOST = Origin(Scope.SESSION, "host program")
BASH: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t"}
PROMPT = {"prompt": "go"}
STOP = {"stop_hook_active": False, "last_assistant_message": "x", "background_tasks": [], "session_crons": []}
UNUSABLE = "Hook callback hook_0 failed: the SDK host replied with an error or an invalid answer."
EMPTY = f"{UNUSABLE} Its answer was treated as empty."
SKIPPED = "The tool call was not executed; other configured hooks may not have completed."
UNHEARD = f"PreToolUse hook did not respond before its timeout (host client may be unreachable). {SKIPPED}"


def fired(place: Path, event: str, facts: dict[str, Any], answer: Any, **fields: Any) -> Any:
    """What becomes of an event whose only hook is a function of the host, and what the user hears."""
    asked: list[str] = []

    async def call_back(callback_id: str, payload: dict[str, Any], about: str) -> dict[str, Any]:
        asked.append(about)
        if answer is None:
            await asyncio.Event().wait()
        if isinstance(answer, str):
            raise ToolError(answer)
        return dict(answer)

    async def run() -> Any:
        engine = Engine(Means())
        engine.add_hooks([Hook(event, "", "callback", {"id": "hook_0", **fields}, HOST)])
        engine.call_back = call_back
        s, host = seated(engine, str(place))
        outcome = await engine.fire(event, **facts)
        said = [*s.keep(HookState).before_turn, *host.of(HookSaid)]
        await engine.close()
        reasons = [outcome.reason] if outcome.verdict == "deny" else [block.text for block in outcome.blocks]
        return reasons, [each.text for each in said], asked

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("event", "facts", "expected"),
    [
        ("PreToolUse", BASH, ([UNHEARD], [])),
        ("UserPromptSubmit", PROMPT, (["UserPromptSubmit hook callback timed out after 1ms"], [])),
        (
            "Stop",
            STOP,
            ([], ["Stop says: The app driving this session didn't respond, so this turn ended without it."]),
        ),
    ],
)
def test_what_only_the_host_could_have_checked_does_not_happen_without_it(
    event: str, facts: dict[str, Any], expected: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    assert fired(tmp_path, event, facts, None, timeout=0.001)[:2] == expected


@pytest.mark.parametrize(
    ("event", "facts", "answer", "fields", "expected"),
    [
        ("PreToolUse", BASH, "broke", {}, ([], [f"PreToolUse: {EMPTY}"])),
        ("UserPromptSubmit", PROMPT, {"decision": "perhaps"}, {}, ([], [f"UserPromptSubmit: {EMPTY}"])),
        ("Stop", STOP, "broke", {}, ([], [f"Stop: {EMPTY}"])),
        (
            "PreToolUse",
            BASH,
            "broke",
            {"onFailure": "block"},
            (
                [f'[callback]: failed; blocking because onFailure is "block"\n{UNUSABLE}'],
                [f'PreToolUse: {UNUSABLE} onFailure is "block", so this failure counts as a block.'],
            ),
        ),
        (
            "PreToolUse",
            BASH,
            {"hookSpecificOutput": {"hookEventName": "Stop"}},
            {},
            ([f"PreToolUse hook failed with an unexpected error. {SKIPPED}"], []),
        ),
    ],
)
def test_an_answer_of_the_host_that_cannot_be_used_is_named(
    event: str, facts: dict[str, Any], answer: Any, fields: dict[str, Any], expected: Any, tmp_path: Path
) -> None:
    assert fired(tmp_path, event, facts, answer, **fields)[:2] == expected


def test_every_question_has_an_id(tmp_path: Path) -> None:
    about = [fired(tmp_path, event, facts, {})[2] for event, facts in (("PreToolUse", BASH), ("Stop", STOP))]
    assert about == [["t"], ["id-2"]]
