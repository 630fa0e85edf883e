import pytest

from forge.agent.hooks.payload import Standing, hook_name, match_value, payload_of
from forge.foundation.hookspec import ALL, EVENTS, HOOKS, LOCAL, Can

STANDING = Standing("s", "/t.jsonl", "/p", "prompt", "default", "a1", "general-purpose", "medium")

# What a matcher of each event is compared with; events that are not here have no such field.
MATCHED = {
    "SessionStart": "source",
    "Setup": "trigger",
    "InstructionsLoaded": "load_reason",
    "UserPromptExpansion": "command_name",
    "PreToolUse": "tool_name",
    "PermissionRequest": "tool_name",
    "PermissionDenied": "tool_name",
    "PostToolUse": "tool_name",
    "PostToolUseFailure": "tool_name",
    "Notification": "notification_type",
    "SubagentStart": "agent_type",
    "SubagentStop": "agent_type",
    "StopFailure": "error",
    "PreCompact": "trigger",
    "PostCompact": "trigger",
    "PreModelSwitch": "to_model",
    "PostModelSwitch": "to_model",
    "Elicitation": "mcp_server_name",
    "ElicitationResult": "mcp_server_name",
    "ConfigChange": "source",
    "FileChanged": "file_path",
    "DirectoryAdded": "source",
    "SessionEnd": "reason",
}


@pytest.mark.requirement("S0-30")
def test_there_are_the_events_of_the_reference() -> None:
    assert len(EVENTS) == 33
    assert {name: row.match for name, row in HOOKS.items() if row.match} == MATCHED


@pytest.mark.requirement("S1-48")
@pytest.mark.parametrize("event", EVENTS)
def test_each_event_has_a_name_made_of_its_match_value(event: str) -> None:
    row = HOOKS[event]
    payload = {row.match: "/x/value"} if row.match else {}
    value = match_value(row, payload)
    expected = "value" if event == "FileChanged" else "/x/value"
    named = event if event == "SubagentStop" else f"{event}:{expected}"
    assert (value, hook_name(row, value)) == ((expected, named) if row.match else (None, event))


@pytest.mark.requirement("S1-43")
@pytest.mark.parametrize("event", EVENTS)
def test_a_payload_begins_with_the_common_fields_in_their_order(event: str) -> None:
    row = HOOKS[event]
    own = {field.removesuffix("?"): "x" for field in row.fields}
    common = ["session_id", "transcript_path", "cwd", "prompt_id"]
    common += ["permission_mode"] if row.mode else []
    common += ["agent_id", "agent_type"]
    common += ["effort"] if row.effort else []
    common += ["hook_event_name"]
    assert list(payload_of(row, STANDING, own)) == [*common, *own]


def test_empty_facts_of_the_session_are_left_out() -> None:
    payload = payload_of(HOOKS["SessionStart"], Standing("s", "/t", "/p"), {"source": "startup"})
    assert payload == {
        "session_id": "s",
        "transcript_path": "/t",
        "cwd": "/p",
        "hook_event_name": "SessionStart",
        "source": "startup",
    }


@pytest.mark.parametrize("own", [{}, {"source": "x", "other": 1}])
def test_a_missing_or_unknown_field_is_a_mistake_of_the_program(own: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="SessionStart"):
        payload_of(HOOKS["SessionStart"], STANDING, own)


@pytest.mark.requirement("S0-33")
def test_default_times_are_those_of_the_reference() -> None:
    odd = {name: row.timeout for name, row in HOOKS.items() if row.timeout != 600}
    assert odd == {"UserPromptSubmit": 30, "MessageDisplay": 10, "SessionEnd": 1.5}


def test_only_some_events_can_be_judged_by_a_model() -> None:
    assert {name for name, row in HOOKS.items() if row.handlers == LOCAL} == {"SessionStart", "Setup"}
    assert sum(row.handlers == ALL for row in HOOKS.values()) == 13


@pytest.mark.requirement("S1-60")
def test_what_only_informs_can_do_nothing() -> None:
    quiet = {name for name, row in HOOKS.items() if row.can in (Can.NOTHING, Can.NOTIFY)}
    assert quiet == {
        "Setup",
        "InstructionsLoaded",
        "Notification",
        "StopFailure",
        "PostCompact",
        "DirectoryAdded",
        "WorktreeRemove",
        "SessionEnd",
    }
