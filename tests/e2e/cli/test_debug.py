from __future__ import annotations

import json
from pathlib import Path

import pytest

from e2e.cli.process import forge
from forge.hosts.cli.main import run
from unit.core.models.claude_cli.printed import begin, encoded, init, mapped, opened, piece

LINES = [init(), begin(), opened(0), piece(0, "half")]


@pytest.fixture
def recorded(tmp_path: Path) -> str:
    path = tmp_path / "run.jsonl"
    path.write_bytes(encoded("noise", *LINES))
    return str(path)


def test_recorded_run_is_printed_as_json(recorded: str, tmp_path: Path) -> None:
    done = forge("debug", "map-claude-cli", recorded, "--exit", "-9", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == mapped("noise", *LINES, code=-9)


def test_what_was_ignored_is_said_beside_the_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(encoded({"type": "new"}, {"type": "new"}, {"type": "system", "subtype": "odd"}))
    assert run(["debug", "map-claude-cli", str(path)]) == 0
    said = "The CLI ended without a result line.\nNot known, and ignored: new (2), system/odd (1)\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["debug"], "What to look into is missing."),
        (["debug", "map-claude-cli"], "The file is missing."),
        (["debug", "map-claude-clu", "x"], "Did you mean 'map-claude-cli'?"),
        (["debug", "map-claude-cli", "nowhere.jsonl"], "nowhere.jsonl: No such file or directory."),
        (["debug", "map-claude-cli", "nowhere.jsonl", "--exit", "x"], "'x' is no exit code"),
    ],
)
def test_wrong_words_are_explained(words: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(words) == 1
    assert says in capsys.readouterr().err


def test_words_of_standard_error_are_part_of_the_result(
    recorded: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["debug", "map-claude-cli", recorded, "--exit", "1", "--stderr", "bad option"]) == 0
    assert json.loads(capsys.readouterr().out)["final"]["error"]["message"] == "bad option"
