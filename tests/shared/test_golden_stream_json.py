from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import STREAM, environment, forge
from golden import Tokens, differences, recorded
from stream_runs import RUNS, play

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "stream-json"

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the recordings are not beside this checkout")


@pytest.mark.parametrize("name", RUNS)
def test_a_recorded_run_is_repeated(name: str, tmp_path: Path) -> None:
    run, cwd, home = play(name, tmp_path)
    tokens = Tokens(str(cwd), str(home))
    got = [tokens.of(r) for r in run.records]
    want = [recorded(json.loads(line)) for line in (GOLDEN / f"{name}.jsonl").read_text().splitlines()]
    assert [(r["type"], r.get("subtype")) for r in got] == [(r["type"], r.get("subtype")) for r in want], (
        run.err
    )
    found = [f"{w['type']}: {d}" for w, g in zip(want, got, strict=True) for d in differences(w, g)]
    assert found == []


def compared(name: str, records: list[dict[str, Any]], tokens: Tokens) -> list[str]:
    want = [recorded(json.loads(line)) for line in (GOLDEN / f"{name}.jsonl").read_text().splitlines()]
    got = [tokens.of(r) for r in records]
    assert [(r["type"], r.get("subtype")) for r in got] == [(r["type"], r.get("subtype")) for r in want]
    return [f"{w['type']}: {d}" for w, g in zip(want, got, strict=True) for d in differences(w, g)]


def test_a_resumed_and_a_forked_run_are_repeated(home: Path, tmp_path: Path) -> None:
    answers = [[{"text": f"{word} answer"}] for word in ("first", "second", "third")]
    tokens = Tokens(str(tmp_path), str(home))
    with serve(answers) as server:
        env = environment(home, server.url)
        first = forge("-p", "q1", *STREAM, cwd=tmp_path, env=env)
        resume = ("--resume", first.records[0]["session_id"])
        second = forge("-p", "q2", *STREAM, *resume, cwd=tmp_path, env=env)
        fork = forge("-p", "q3", *STREAM, *resume, "--fork-session", cwd=tmp_path, env=env)
    assert compared("resume-1-first-run", first.records, tokens) == []
    assert compared("resume-2-second-run", second.records, tokens) == []
    assert compared("resume-3-fork", fork.records, tokens) == []


def test_parallel_calls_are_repeated(home: Path, tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("hello\nworld\n")
    calls = [{"tool": "Bash", "input": {"command": f"echo {n}"}} for n in (1, 2)]
    calls.append({"tool": "Read", "input": {"file_path": f"{tmp_path}/README.md"}})
    tokens = Tokens(str(tmp_path), str(home))
    with serve([calls, [{"text": "ok"}]]) as server:
        args = ("-p", "go", *STREAM, "--allowedTools", "Bash")
        run = forge(*args, cwd=tmp_path, env=environment(home, server.url))
    # Results come as they finish, so their order is not fixed: sort them as the recording has them.
    wanted = ["1\thello\n2\tworld\n3\t", "1", "2"]
    at = [n for n, r in enumerate(run.records) if r["type"] == "user"]
    results = sorted(
        (run.records[n] for n in at), key=lambda r: wanted.index(r["message"]["content"][0]["content"])
    )
    records = [*run.records[: at[0]], *results, *run.records[at[-1] + 1 :]]
    assert compared("parallel-tools", records, tokens) == []
