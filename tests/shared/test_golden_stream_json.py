from __future__ import annotations

import json
from pathlib import Path

import pytest

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
