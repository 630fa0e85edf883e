from __future__ import annotations

import json
from pathlib import Path

import pytest

from forge.hosts.cli.main import run

GOLDEN = Path(__file__).resolve().parents[3] / "shared" / "golden" / "claude-cli"

pytestmark = pytest.mark.skipif(not GOLDEN.is_dir(), reason="the recordings are not beside this checkout")


@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.jsonl")))
def test_recorded_run_is_mapped_to_the_expected_parts(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = json.loads((GOLDEN / f"{name}.expected.json").read_text())
    code = expected["source"]["exit_code"]
    assert run(["debug", "map-claude-cli", str(GOLDEN / f"{name}.jsonl"), "--exit", str(code)]) == 0
    got = json.loads(capsys.readouterr().out)
    assert got == {key: expected[key] for key in got}
    assert set(expected) - set(got) <= {"source", "notes"}
