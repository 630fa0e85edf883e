from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import STREAM, environment, forge

PLACE = re.compile(r"/[^\s\"]*/plans/[a-z-]+\.md")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    return tmp_path


def test_in_plan_mode_the_plan_is_written_without_asking_and_nothing_else(place: Path) -> None:
    other = place / "project" / "other.md"

    def act(body: dict[str, Any]) -> dict[str, Any]:
        found = PLACE.search(json.dumps(body["messages"]))
        assert found is not None
        plan, done = found.group(), sum(m["role"] == "assistant" for m in body["messages"])
        steps = [
            {"tool": "Write", "input": {"file_path": plan, "content": "first"}},
            {"tool": "Edit", "input": {"file_path": plan, "old_string": "first", "new_string": "second"}},
            {"tool": "Write", "input": {"file_path": str(other), "content": "x"}},
            {"text": plan},
        ]
        return {"blocks": [steps[done]]}

    with serve([]) as server:
        server.decide = act
        env = environment(place / "home", server.url)
        run = forge("-p", "go", *STREAM, "--permission-mode", "plan", cwd=place / "project", env=env)
    result = run.of("result")[-1]
    assert Path(result["result"]).read_text() == "second"
    assert [denial["tool_input"]["file_path"] for denial in result["permission_denials"]] == [str(other)]
    assert not other.exists()
    decisions = [r["tool_result_meta"][0]["permission_decision"] for r in run.of("user")]
    accepted = {"decision": "accept", "source": "config", "reason_type": "other"}
    assert decisions[:2] == [accepted, accepted]
