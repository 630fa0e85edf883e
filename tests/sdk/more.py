"""Scenarios of programs that queue prompts, guard calls and run several calls at once: turns and facts."""

from __future__ import annotations

from typing import Any

from sdk.scenarios import bash, say

_UNHEARD = (
    "PreToolUse hook did not respond before its timeout (host client may be unreachable). The tool call was"
    " not executed; other configured hooks may not have completed."
)
_FAILED = (
    "PreToolUse: Hook callback hook_0 failed: the SDK host replied with an error or an invalid answer."
    " Its answer was treated as empty."
)

MORE: dict[str, list[Any]] = {
    "gathered": [say("one"), say("rest")],
    "ordered": [[bash("sleep 0.2; echo made > f"), bash("cat f"), bash("ls")], say("ok")],
    "late_guard": [[bash("touch a.txt")], say("ok")],
    "broken_guard": [[bash("touch a.txt")], say("ok")],
    "asked_tool": [[bash("touch good.txt")], [bash("touch bad.txt")], say("ok")],
    "withdrawn": [[bash("touch a.txt")], say("again")],
    "fallback": [{"errors": [{"status": 529}], "blocks": say("spare")}],
    "no_output": [[{"tool": "mcp__calc__quiet", "input": {}}], say("ok")],
    "put_off": [[bash("touch a.txt")], say("after"), say("more")],
    "changed_output": [[bash("echo real")], say("ok")],
}

MORE_EXPECTED: dict[str, dict[str, Any]] = {
    "gathered": {"results": ["one", "rest"], "prompts": ["a", "b\nc\nd"]},
    "ordered": {"results": ["(Bash completed with no output)", "made", "f"]},
    "late_guard": {"results": [[True, _UNHEARD]], "files": []},
    "broken_guard": {"results": [[False, "(Bash completed with no output)"]], "told": [_FAILED]},
    "asked_tool": {
        "results": [[False, "(Bash completed with no output)"], [True, "not this one"]],
        "asked": ["touch good.txt", "touch bad.txt"],
        "files": ["good.txt"],
    },
    "withdrawn": {"events": ["asked", "cancelled", "interrupted"], "files": [], "next": "again"},
    "fallback": {"result": "spare", "switch": [["overloaded", "claude-sonnet-4-5", "claude-haiku-4-5"]]},
    "put_off": {"waits": "touch a.txt", "before": [], "results": ["after", "more"], "files": ["a.txt"]},
    "changed_output": {"results": [[False, "another"]]},
    "no_output": {"results": [[None, "(mcp__calc__quiet completed with no output)"]]},
}
