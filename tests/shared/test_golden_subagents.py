from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from fakemodel.server import Recorded
from forge_run import STREAM, environment, forge
from golden import Tokens, differences, recorded

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "stream-json"

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the recordings are not beside this checkout")

TASK: dict[str, Any] = {
    "description": "look around",
    "prompt": "SUBTASK find x",
    "subagent_type": "general-purpose",
}
WAIT = {**TASK, "run_in_background": False}
# The sub-agent goes on when the main agent has been asked again, as it happened in the recording.
GATE = "until [ -e gate ]; do sleep 0.01; done; "
ECHO = {"tool": "Bash", "input": {"command": f"{GATE}echo from-sub"}}
REPORT = [{"text": "sub report"}]
# recording: the agent's input, the main agent's later texts, the sub-agent's turns, arguments
RUNS: dict[str, tuple[Any, list[str], list[Any], tuple[str, ...]]] = {
    "subagent-foreground": (WAIT, ["main final"], [[ECHO], REPORT], ()),
    "subagent-foreground-forward-text": (
        WAIT,
        ["main final"],
        [[{"text": "looking"}, ECHO], REPORT],
        ("--forward-subagent-text",),
    ),
    "subagent-default": (TASK, ["main turn 1", "main turn 2"], [[ECHO], REPORT], ()),
}
# What may differ: fields about the reference's own checks and files, and its prose around ids and reports.
LEFT_OUT = {
    "harnessNoteCount",
    "harnessTailCount",
    "harnessSectionHash",
    "output_file",
    "outputFile",
    "runId",
}
FIGURES = {"end_time", "total_tokens", "duration_ms", "totalDurationMs", "total_cost_usd", "costUSD"}
PROSE = (
    re.compile(r"\[Subagent hand-back\] .*\n"),
    re.compile(r"(?<=successfully\.) [^\n]*|(?<=agent\.\)\n)[\s\S]*$"),
    re.compile(r"(?<=duration_ms: )\d+"),
)
IDS = re.compile(r"<(task|run|toolu)-\d+>|(run-)?a[0-9a-f]{16}|toolu_\w+")


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run_with_a_sub_agent_is_repeated(name: str, tmp_path: Path) -> None:
    home, cwd = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    cwd.mkdir()
    given, said, inner, flags = RUNS[name]
    turns = [[{"tool": "Agent", "input": given}], *([{"text": words}] for words in said)]
    if given is WAIT:
        (cwd / "gate").touch()
    with serve(turns) as server:
        server.branch("SUBTASK", inner)
        server.observe = partial(open_gate, cwd / "gate")
        arguments = ("-p", "go", *STREAM, "--allowedTools", "Bash", *flags)
        run = forge(*arguments, cwd=cwd, env=environment(home, server.url))
    tokens = Tokens(str(cwd), str(home))
    got = lanes([plain(tokens.of(r)) for r in run.records])
    lines = (GOLDEN / f"{name}.jsonl").read_text().splitlines()
    want = lanes([plain(recorded(json.loads(line))) for line in lines])
    assert [kinds(lane) for lane in got] == [kinds(lane) for lane in want], run.err
    pairs = [p for w, g in zip(want, got, strict=True) for p in zip(w, g, strict=True)]
    assert [f"{w['type']}: {d}" for w, g in pairs for d in differences(w, g)] == []


def open_gate(gate: Path, request: Recorded) -> None:
    messages = request.body["messages"]
    if len(messages) > 1 and "SUBTASK" not in json.dumps(messages[0]):
        gate.touch()


def lanes(records: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """What the main agent and what the sub-agent does; the two run side by side in the background."""
    inside = [r for r in records if r.get("agent_id") or r.get("subtype") == "task_progress"]
    return [[r for r in records if r not in inside], inside]


def kinds(lane: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(r["type"], r.get("subtype", "")) for r in lane]


def plain(value: Any, key: str = "") -> Any:
    """A record without what differs from run to run."""
    if isinstance(value, dict):
        return {k: plain(v, k) for k, v in value.items() if k not in LEFT_OUT}
    if isinstance(value, list):
        return [plain(v, key) for v in value]
    if key in FIGURES:
        return "<figure>"
    if not isinstance(value, str):
        return value
    value = value.replace(GATE, "")
    for pattern in PROSE:
        value = pattern.sub("…", value)
    return IDS.sub("<id>", value)
