from typing import Any

import msgspec
import pytest

from forge.agent.hooks.output import Output, Wrong, parse_output


@pytest.mark.parametrize(
    "text",
    ["", "plain", "[1, 2]", '"text"', '{"a": ', 'x {"a": 1}', '{"a": 1} x', "{" * 5000, "\ud800{"],
)
def test_what_is_no_object_is_plain_text(text: str) -> None:
    assert parse_output(text, "Stop") is None


@pytest.mark.parametrize(
    "value",
    [
        {"decision": "maybe"},
        {"continue": "no"},
        {"hookSpecificOutput": {}},
        {"hookSpecificOutput": {"hookEventName": "PostToolUse"}},
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "perhaps"}},
        {"hookSpecificOutput": {"hookEventName": "PreToolUse", "decision": {"behavior": "ask"}}},
    ],
)
def test_an_object_that_fails_the_schema_is_no_answer(value: dict[str, Any]) -> None:
    assert isinstance(parse_output(msgspec.json.encode(value).decode(), "PreToolUse"), Wrong)


@pytest.mark.requirement("S0-36")
def test_the_spellings_of_early_documents_mean_the_same() -> None:
    early = {"permission_decision": "deny", "permission_decision_reason": "no", "additional_context": "c"}
    now = {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
            "additionalContext": "c",
        }
    }
    parsed = [parse_output(msgspec.json.encode(v).decode(), "PreToolUse") for v in (early, now)]
    assert isinstance(parsed[0], Output)
    assert parsed[0] == parsed[1]
