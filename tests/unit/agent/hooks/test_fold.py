from typing import Any

import msgspec
import pytest

from forge.agent.hooks.fold import fold
from forge.agent.hooks.port import NOTHING, Block
from forge.foundation.hookspec import EVENTS, HOOKS, Can
from unit.agent.hooks.making import answer, specific


def pre(decision: str, reason: str = "", **more: Any) -> Any:
    fields = {"permissionDecision": decision, "permissionDecisionReason": reason, **more}
    return answer("PreToolUse", specific("PreToolUse", **fields))


VERDICTS = [
    ([pre("allow", "a"), pre("deny", "b")], ("deny", "b")),
    ([pre("deny", "a"), pre("allow", "b")], ("deny", "a")),
    ([pre("deny", "a"), pre("deny", "b")], ("deny", "b")),
    ([pre("ask", "a"), pre("ask", "b")], ("ask", "a")),
    ([pre("allow"), pre("ask", "b")], ("ask", "b")),
    ([pre("ask", "a"), pre("defer", "b")], ("defer", "b")),
    ([pre("defer", "a"), pre("deny", "b")], ("deny", "b")),
    ([answer("PreToolUse", "", 2, "err"), pre("allow")], ("deny", "[x]: err")),
    ([pre("deny", "a"), answer("PreToolUse", "", 2, "err")], ("deny", "[x]: err")),
    ([answer("PreToolUse", {"decision": "approve", "reason": "r"})], ("allow", "r")),
    ([answer("PreToolUse", {"decision": "block"})], ("deny", "Blocked by hook")),
    (
        [answer("PreToolUse", {"decision": "block", "reason": "r"} | specific("PreToolUse"))],
        ("deny", "r"),
    ),
]


@pytest.mark.requirement("S0-36", "S1-42", "S1-93")
@pytest.mark.parametrize(("answers", "expected"), VERDICTS)
def test_the_strictest_verdict_wins(answers: list[Any], expected: tuple[str, str]) -> None:
    folded = fold("PreToolUse", answers)
    assert (folded.verdict, folded.reason) == expected


@pytest.mark.requirement("S1-93", "S0-40")
def test_what_finished_last_replaces_the_input() -> None:
    answers = [pre("allow", updatedInput={"command": "a"}), pre("ask", updatedInput={"command": "b"})]
    assert fold("PreToolUse", answers).updated_input == {"command": "b"}


def test_contexts_add_up_in_the_order_of_completion() -> None:
    answers = [answer("PostToolUse", specific("PostToolUse", additionalContext=c)) for c in "ba"]
    assert fold("PostToolUse", answers).context == ["b", "a"]


def test_a_block_of_a_prompt_drops_what_others_add() -> None:
    answers = [answer("UserPromptSubmit", "context"), answer("UserPromptSubmit", "", 2, "no")]
    folded = fold("UserPromptSubmit", answers)
    assert (folded.blocks, folded.plain) == ([Block("x", "[x]: no", by_exit=True, bare="no")], [])


def permission(**decision: Any) -> Any:
    return answer("PermissionRequest", specific("PermissionRequest", decision=decision))


@pytest.mark.requirement("S1-92")
def test_the_first_answer_to_a_permission_request_counts() -> None:
    denied = permission(behavior="deny", message="no", interrupt=True)
    allowed = permission(behavior="allow", updatedInput={"a": 1})
    first = fold("PermissionRequest", [denied, allowed])
    assert (first.verdict, first.reason, first.interrupt) == ("deny", "no", True)
    other = fold("PermissionRequest", [allowed, denied])
    assert (other.verdict, other.updated_input, other.interrupt) == ("allow", {"a": 1}, False)


@pytest.mark.requirement("S1-92")
def test_the_early_spelling_of_a_permission_answer_is_understood() -> None:
    early = specific("PermissionRequest", permissionDecision="deny", permissionDecisionReason="no")
    folded = fold("PermissionRequest", [answer("PermissionRequest", early)])
    assert (folded.verdict, folded.reason) == ("deny", "no")


@pytest.mark.requirement("S1-93", "S1-96")
def test_one_hook_is_enough_to_be_asked_once_more() -> None:
    again = answer("PermissionRequest", specific("PermissionRequest", retry=True))
    assert fold("PermissionRequest", [again, answer("PermissionRequest")]).retry is True


def test_exit_code_2_does_not_decide_a_permission_request() -> None:
    assert fold("PermissionRequest", [answer("PermissionRequest", "", 2, "no")]).verdict == ""


EVERYTHING = {
    "continue": False,
    "stopReason": "stop",
    "decision": "block",
    "reason": "r",
    "systemMessage": "m",
}
SPECIFIC = {
    "permissionDecision": "deny",
    "updatedInput": {"a": 1},
    "additionalContext": "c",
    "updatedToolOutput": "o",
    "watchPaths": ["/x"],
    "sessionTitle": "t",
    "initialUserMessage": "i",
    "displayContent": "d",
    "action": "accept",
    "worktreePath": "/w",
    "retry": True,
}
ABILITIES = {
    "verdict": Can.DECIDE,
    "updated_input": Can.REWRITE,
    "blocks": Can.BLOCK,
    "context": Can.CONTEXT,
    "end_turn": Can.STOP,
    "tool_output": Can.OUTPUT,
    "display": Can.OUTPUT,
    "watch": Can.WATCH,
    "title": Can.START,
    "first_prompt": Can.START,
    "action": Can.ANSWER,
    "place": Can.PLACE,
    "retry": Can.RETRY,
}


@pytest.mark.requirement("S1-100")
@pytest.mark.parametrize("event", EVENTS)
def test_an_event_lets_through_only_what_its_row_allows(event: str) -> None:
    said = EVERYTHING | specific(event, **SPECIFIC)
    folded = fold(event, [answer(event, said), answer(event, "plain"), answer(event, "", 2, "err")])
    leaked = [
        field
        for field, ability in ABILITIES.items()
        if ability not in HOOKS[event].can and getattr(folded, field) != getattr(NOTHING, field)
    ]
    assert leaked == []


@pytest.mark.parametrize("event", ["Notification", "InstructionsLoaded", "SessionEnd", "StopFailure"])
def test_nothing_but_the_count_of_errors_comes_from_events_that_only_inform(event: str) -> None:
    folded = fold(event, [answer(event, EVERYTHING), answer(event, "", 2, "err")])
    assert msgspec.structs.replace(folded, errors=0) == NOTHING
