from __future__ import annotations

from pathlib import Path

import pytest

from stream_runs import RUNS, play

# The order of records of each run: i init, a assistant, u user, r result, d permission_denied, y api_retry,
# q status requesting, t thinking_tokens, s stream_event.
ORDER = {
    "text": "iar",
    "tool-bash": "iaauar",
    "tool-denied": "iaduar",
    "tool-denied-rule": "iaduar",
    "max-turns": "iaur",
    "api-error-400": "iar",
    "api-error-429": "iyar",
    "api-retry": "iyyar",
    "partial-messages": "iqsssssasssasssuqssssasssr",
    "thinking-partial": "iqsstssasssasssr",
    "read-edit-write": "iauauauar",
    "bash-error": "iauar",
    "unknown-tool": "iauar",
    "bad-input": "iauar",
    "structured-output": "iaur",
}
LETTERS = {
    "init": "i",
    "permission_denied": "d",
    "api_retry": "y",
    "status": "q",
    "thinking_tokens": "t",
    "assistant": "a",
    "user": "u",
    "result": "r",
    "stream_event": "s",
}
FIELDS = {
    "a": {"type", "message", "parent_tool_use_id", "session_id", "uuid", "timestamp"},
    "u": {"type", "message", "parent_tool_use_id", "session_id", "uuid", "timestamp", "tool_use_result"},
    "s": {"type", "event", "session_id", "parent_tool_use_id", "uuid", "api_message_id"},
    "d": {"type", "subtype", "tool_name", "tool_use_id", "message", "uuid", "session_id"},
    "y": {"attempt", "max_retries", "retry_delay_ms", "error_status", "error"},
    "i": {"cwd", "tools", "model", "permissionMode", "apiKeySource", "claude_code_version", "mcp_servers"},
    "r": {
        "duration_ms",
        "duration_api_ms",
        "num_turns",
        "is_error",
        "usage",
        "modelUsage",
        "permission_denials",
    },
}
# subtype, is_error, num_turns, terminal_reason, result or errors
RESULTS = {
    "text": ("success", False, 1, "completed", "Hello there"),
    "tool-denied": ("success", False, 2, "completed", "could not"),
    "max-turns": ("error_max_turns", True, 2, "max_turns", ["Reached maximum number of turns (1)"]),
    "api-error-400": ("success", True, 1, "api_error", "API Error: 400 bad thing"),
    "api-error-429": ("success", True, 1, "api_error", "API Error: Request rejected (429) · slow down"),
    "read-edit-write": ("success", False, 4, "completed", "ok"),
    "structured-output": ("success", False, 2, "completed", '{"name":"x","n":1}'),
}


def letter(record: dict[str, object]) -> str:
    kind = record["subtype"] if record["type"] == "system" else record["type"]
    return LETTERS[str(kind)]


@pytest.mark.parametrize("name", RUNS)
def test_records_come_in_the_recorded_order_with_their_fields(name: str, tmp_path: Path) -> None:
    run, _, _ = play(name, tmp_path)
    letters = [letter(r) for r in run.records]
    assert "".join(letters) == ORDER[name]
    missing = [(n, FIELDS.get(n, set()) - set(r)) for n, r in zip(letters, run.records, strict=True)]
    assert [m for m in missing if m[1]] == []
    assert len({r["session_id"] for r in run.records}) == 1
    if name in RESULTS:
        last = run.records[-1]
        told = tuple(last[k] for k in ("subtype", "is_error", "num_turns", "terminal_reason"))
        assert (*told, last.get("result", last.get("errors"))) == RESULTS[name]
