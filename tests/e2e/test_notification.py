from __future__ import annotations

import json
from pathlib import Path

import pytest

from control_host import ASKING, Host
from fakemodel import serve
from forge_run import environment


@pytest.mark.requirement("S1-60")
def test_hooks_hear_that_the_host_is_asked_and_cannot_answer(home: Path, tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / ".claude").mkdir(parents=True)
    hook = {"type": "command", "command": "cat > told.json; exit 2"}
    hooks = {"Notification": [{"matcher": "permission_prompt", "hooks": [hook]}]}
    (project / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
    write = {"tool": "Write", "input": {"file_path": str(project / "x"), "content": "1"}}
    with serve([[write], [{"text": "ok"}]]) as server:
        host = Host(project, environment(home, server.url), *ASKING, "--include-hook-events")
        try:
            host.say("go")
            question = host.until("control_request")
            while host.until("system").get("subtype") != "hook_response":
                pass
            host.answer(question, {"behavior": "allow"})
            result = host.until("result")
            assert host.finish() == 0
        finally:
            host.close()
    told = json.loads((project / "told.json").read_text())
    assert (told["notification_type"], told["message"]) == (
        "permission_prompt",
        "Claude needs your permission to use Write",
    )
    assert (result["is_error"], (project / "x").read_text()) == (False, "1")
