from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from sdk.playing import SDKS, different, play
from sdk.scenarios import bash, say

PROGRAM = Path(__file__).with_name("typescript_options.mjs")


def _call(name: str, **fields: Any) -> list[dict[str, Any]]:
    return [{"tool": name, "input": fields}]


TURNS: dict[str, list[Any]] = {
    "structured_turns": [_call("StructuredOutput", n=1), _call("StructuredOutput", n=2)],
    "chosen_skills": [_call("Skill", skill="two"), say("ok")],
    "aliases": [[{**bash("touch a.txt"), "tool": "Shell"}], say("ok")],
    "opening": [say("begun"), say("gone")],
    "late_plugin": [say("hello")],
    "settings": [say("one"), say("two")],
    "dropped_turn": [say("one"), say("two")],
    "config_root": [[bash("touch a.txt")], [bash("echo fine")], say("ok")],
    # Every level is asked the same: the third may not go deeper, says so, and the others follow.
    "inner_agents": [_call("Agent", description="d", prompt="go", run_in_background=False), say("done")],
    "again": [say("one"), [bash("echo x")], say("two")],
    "plain_request": [say("planned")],
}
NOT_CHOSEN = "<tool_use_error>Skill two is not in this session's skills allowlist</tool_use_error>"
UNUSABLE = (
    "apply_flag_settings: nothing in this request was applied and earlier settings stay in force."
    " Fix or remove these invalid settings and send it again: permissions"
)
EXPECTED: dict[str, dict[str, Any]] = {
    "structured_turns": {"values": [{"n": 1}, {"n": 2}]},
    "chosen_skills": {"results": [NOT_CHOSEN]},
    "aliases": {"asked": ["Bash"], "sources": ["user_permanent"]},
    "opening": {"results": ["begun", "gone"]},
    "late_plugin": {
        "applied": True,
        "commands": [{"name": "plug:hello", "description": "(plug) says hello", "argumentHint": ""}],
    },
    "settings": {
        "refused": UNUSABLE,
        "style": True,
        "other": "update_settings keys not allowed: model",
        "skills": [{"name": "new", "description": "d (project)", "argumentHint": ""}],
        "values": ["default", "opus", "fable", "sonnet", "haiku"],
    },
    "dropped_turn": {"refused": True, "result": "two"},
    "config_root": {"results": ["Permission to use Bash with command touch a.txt has been denied.", "fine"]}
    | {"good": True},
    "inner_agents": {"texts": ["done", "done", "done"]},
    "again": {"applied": True, "fired": 1},
    "plain_request": {"result": "planned"},
}


@pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="npm is not installed")
def test_what_only_the_typescript_agent_sdk_offers_works_on_forge(tmp_path: Path) -> None:
    module = SDKS / "node" / "node_modules" / "@anthropic-ai" / "claude-agent-sdk" / "sdk.mjs"
    if not module.is_file():
        pytest.fail("the Agent SDK is not installed: run scripts/sdk-setup (make test does)")
    played = play(["node", str(PROGRAM)], tmp_path, TURNS, SDK_MODULE=str(module))
    assert different(played.facts, EXPECTED) == {}
    plain, settings = played.bodies["plain_request"][0], played.bodies["settings"][-1]
    assert plain["system"][-1]["text"] == "Static.\n\nDynamic.\n\nAppended."
    assert "Plan my way." in str(plain["messages"])
    assert "# Output Style: Concise" in str(settings["messages"][-2:])
    assert [m["role"] for m in played.bodies["dropped_turn"][-1]["messages"]] == ["user", "assistant", "user"]
