"""Recorded cases about memory files are repeated: the same blocks in the same places of the request."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import STREAM, environment, forge
from stream_runs import tool

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "plugins"
CASES = [
    pytest.param(case, run["name"], id=f"{case}-{run['name']}")
    for case in ("13-memory", "14-agents-md")
    if (GOLDEN / case).is_dir()
    for run in json.loads((GOLDEN / case / "case.json").read_text())["runs"]
]

pytestmark = pytest.mark.skipif(not CASES, reason="the recordings are not beside this checkout")


@pytest.mark.parametrize(("case", "name"), CASES)
def test_a_recorded_memory_case_is_repeated(case: str, name: str, tmp_path: Path) -> None:
    spec = json.loads((GOLDEN / case / "case.json").read_text())
    run = next(r for r in spec["runs"] if r["name"] == name)
    want = json.loads((GOLDEN / case / "expected.json").read_text())["runs"][spec["runs"].index(run)]
    home, project = tmp_path / "home", tmp_path / "project"
    shutil.copytree(GOLDEN / case / "home", home)
    shutil.copytree(GOLDEN / case / "project", project)
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=project, check=True)
    turns = [[_block(b, project) for b in turn] for turn in run.get("turns", [])]
    with serve([*turns, [{"type": "text", "text": "done"}]]) as server:
        # Where reminders stand depends on the model.
        args = (*STREAM, *run.get("args", []), "--model", *want["main_models"])
        got = forge("-p", run["prompt"], *args, cwd=project, env=environment(home, server.url))
        assert got.code == 0, got.err
        request = server.requests[-1].body
    text = json.dumps(_conversation(request), ensure_ascii=False)
    text = text.replace(str(home), "<HOME>").replace(str(project), "<PROJECT>")
    assert json.loads(text) == want["conversation"]


def _block(block: dict[str, Any], project: Path) -> dict[str, Any]:
    if "text" in block:
        return {"type": "text", "text": block["text"]}
    given = json.loads(json.dumps(block["input"]).replace("{project}", str(project)))
    return tool(block["tool"], **given)


def _conversation(request: dict[str, Any]) -> list[dict[str, Any]]:
    blocks = []
    for message in request["messages"]:
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "tool_use":
                blocks.append({"role": "assistant", "tool_use": block["name"], "input": block["input"]})
            elif block["type"] == "tool_result":
                # The recordings are without the count of tokens that are left.
                result = block["content"].partition("\n\n<system-reminder>\n<total_tokens>")[0]
                blocks.append({"role": "user", "tool_result": result, "is_error": False})
            elif message["role"] == "system":
                blocks.append({"role": "system", "text": block["text"]})
            elif "Contents of" in block["text"]:
                blocks.append({"role": "user", "text": _without_opening(block["text"])})
            elif not block["text"].startswith("<system-reminder>"):
                blocks.append({"role": message["role"], "text": block["text"]})
    return blocks


def _without_opening(text: str) -> str:
    """The paragraph in front of the start files is each program's own."""
    if text.startswith("<system-reminder>\nContents of"):
        return text
    return "<system-reminder>\n<MEMORY-PREAMBLE>\n\n" + text.split("\n\n", 1)[1]
