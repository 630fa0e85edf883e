from __future__ import annotations

import json
from pathlib import Path

import pytest

from fakemodel import serve
from forge_run import STREAM, environment, forge
from golden import Tokens, differences, recorded
from stream_runs import BASH, text, tool

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "stream-json" / "bash-background.jsonl"

pytestmark = pytest.mark.skipif(not GOLDEN.is_file(), reason="the recordings are not beside this checkout")

TURNS = [
    [tool("Bash", command="sleep 0.3; echo bg", run_in_background=True)],
    text("started"),
    text("bg finished"),
]


def test_a_recorded_background_command_is_repeated(tmp_path: Path) -> None:
    home, cwd = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    cwd.mkdir()
    with serve(TURNS) as server:
        env = environment(home, server.url, TMPDIR=str(tmp_path / "temp"))
        (tmp_path / "temp").mkdir()
        run = forge("-p", "go", *STREAM, *BASH, cwd=cwd, env=env)
    started = run.of("system", "task_started")[0]
    place = Path(run.of("system", "task_notification")[0]["output_file"]).parents[3]
    known = {
        started["task_id"]: "<task-1>",
        started["run_id"]: "<run-1>",
        run.records[0]["session_id"]: "<session-1>",
        str(place): "<tmp>",
        str(run.of("system", "task_updated")[0]["patch"]["end_time"]): '"<num>"',
    }
    out = run.out
    for value, token in sorted(known.items(), key=lambda pair: -len(pair[0])):
        out = out.replace(value, token)
    tokens = Tokens(str(cwd), str(home))
    got = [recorded(tokens.of(json.loads(line))) for line in out.splitlines()]
    want = [recorded(json.loads(line)) for line in GOLDEN.read_text().splitlines()]
    assert [(r["type"], r.get("subtype")) for r in got] == [(r["type"], r.get("subtype")) for r in want], (
        run.err
    )
    found = [f"{w['type']}: {d}" for w, g in zip(want, got, strict=True) for d in differences(w, g)]
    assert found == []
