from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakemodel import serve
from forge.core.plugins.validate import validate
from forge_run import environment, forge

PLUGIN = Path(__file__).resolve().parents[2] / "plugins" / "learnings"


@pytest.mark.requirement("S1-152")
def test_a_mistake_becomes_a_note_and_a_rule_for_later_sessions(home: Path, tmp_path: Path) -> None:
    assert validate(str(PLUGIN), strict=True).success
    rule = {"file_path": str(tmp_path / ".forge/rules/learnings.md"), "content": "- warm no caches\n"}
    turns = [[{"tool": "Write", "input": rule}], [{"text": "noted"}]]
    with serve(turns) as server:
        env = environment(home, server.url)
        learnt = forge(
            "-p", "/learnings:learn the cache was warm", "--plugin-dir", str(PLUGIN), cwd=tmp_path, env=env
        )
        later = forge("-p", "go", cwd=tmp_path, env=env)
        asked, _, afterwards, _ = (json.dumps(body["messages"]) for body in server.bodies)
    assert (learnt.code, learnt.out, later.code) == (0, "noted\n", 0), learnt.err
    assert ".forge/learnings.md" in asked
    assert "The user says: the cache was warm" in asked
    assert "warm no caches" in afterwards
