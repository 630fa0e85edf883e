from __future__ import annotations

import json
from pathlib import Path

import pytest

from control_host import ASKING, Host
from fakemodel import serve
from forge_run import environment


@pytest.mark.requirement("S1-60")
def test_a_question_the_host_answers_at_once_is_no_notification(home: Path, tmp_path: Path) -> None:
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
            host.answer(question, {"behavior": "allow"})
            result = host.until("result")
            assert host.finish() == 0
        finally:
            host.close()
    assert not (project / "told.json").exists()
    assert (result["is_error"], (project / "x").read_text()) == (False, "1")
