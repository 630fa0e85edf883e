"""Hook entries go into a settings file without disturbing anything in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forge.foundation.errors import ConfigError
from forge.hosts.diffy.init import ENTRIES, added, missing_entries, run

SETTINGS = """{
    "permissions": {"allow": ["Read"]},
    "hooks": {
        "Stop": [
            {"matcher": "", "hooks": [{"type": "command", "command": "make lint"}]}
        ]
    },
    "unknown": 1.50
}
"""


@pytest.mark.requirement("S3-10")
def test_entries_are_written_beside_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(SETTINGS)
    assert run(["--yes"], {"HOME": str(tmp_path / "home")}, str(tmp_path)) == 0
    text = file.read_text()
    assert json.loads(text) == added(json.loads(SETTINGS), ENTRIES)
    assert '"permissions": {"allow": ["Read"]},\n' in text
    assert '"unknown": 1.50\n' in text
    assert '"command": "make lint"' in text
    assert '"command": "diffy --hook-mode --apply"' in capsys.readouterr().out


def test_second_time_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    env = {"HOME": str(tmp_path / "home")}
    assert run(["--yes"], env, str(tmp_path)) == 0
    before = (tmp_path / ".claude/settings.json").read_bytes()
    capsys.readouterr()
    assert run(["--yes"], env, str(tmp_path)) == 0
    assert (tmp_path / ".claude/settings.json").read_bytes() == before
    assert capsys.readouterr().out.endswith("has the hooks already.\n")


def test_user_settings_are_written_when_asked_for(tmp_path: Path) -> None:
    assert run(["--user", "--yes"], {"HOME": str(tmp_path)}, str(tmp_path)) == 0
    assert missing_entries(json.loads((tmp_path / ".claude/settings.json").read_text())) == {}


def test_nothing_is_written_without_consent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([], {"HOME": str(tmp_path)}, str(tmp_path)) == 1
    assert not (tmp_path / ".claude").exists()
    assert capsys.readouterr().out.endswith("Write it with --yes.\nNothing was written.\n")


@pytest.mark.parametrize("text", ['{"hooks": []}', '{"hooks": {"Stop": {}}}', '{"hooks"', "[]"])
def test_file_that_cannot_be_understood_is_left_alone(tmp_path: Path, text: str) -> None:
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(ConfigError):
        run(["--yes"], {"HOME": str(tmp_path)}, str(tmp_path))
    assert file.read_text() == text


FOUND = [
    ({}, list(ENTRIES)),
    ({"hooks": {"stop": [{"hooks": [ENTRIES["Stop"]]}]}}, list(ENTRIES)),
    ({"hooks": {"Stop": [{"hooks": [{"command": "/opt/bin/diffy --hook-mode"}]}]}}, list(ENTRIES)[1:]),
    ({"hooks": {"Stop": [None, {"hooks": None}, {"hooks": [1, {"command": ""}]}]}}, list(ENTRIES)),
]


@pytest.mark.parametrize(("settings", "missing"), FOUND)
def test_entries_that_run_diffy_already_are_recognised(
    settings: dict[str, object], missing: list[str]
) -> None:
    assert list(missing_entries(settings)) == missing
