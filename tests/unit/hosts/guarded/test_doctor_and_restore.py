from __future__ import annotations

import json
from pathlib import Path

import pytest

from forge.core.shell.trash import Trash
from forge.hosts.forgecmd.main import run


def shown(root: Path, capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    code = run(list(argv), {"HOME": str(root), "PATH": "/usr/bin:/bin"})
    said = capsys.readouterr()
    return code, said.out + said.err


def test_doctor_says_what_protects_this_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out = shown(tmp_path, capsys, "doctor", "--json")
    told = json.loads(out)
    assert (code, told["confined"]) in [(0, True), (1, False)]
    assert [check["name"] for check in told["checks"]] == [
        "Landlock", "seccomp", "namespaces", "own /proc", "bash tripwire", "terminals", "history", "rules",
        "guard daemon", "workspace",
    ]  # fmt: skip
    assert all(check["detail"] for check in told["checks"])


def test_doctor_names_rules_that_cannot_be_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".forge").mkdir()
    (tmp_path / ".forge/settings.json").write_text('{"forgecmd": []}')
    code, out = shown(tmp_path, capsys, "doctor")
    assert (code, "settings.json:1:14: forgecmd: expected an object" in " ".join(out.split())) == (1, True)


def test_without_copies_there_is_a_word_about_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nothing = "Nothing is kept. Copies are made before a dangerous command that you allowed.\n"
    assert shown(tmp_path, capsys, "restore") == (0, nothing)
    assert shown(tmp_path, capsys, "restore", "--list", "--json") == (0, "[]\n")
    code, out = shown(tmp_path, capsys, "restore", "x")
    assert (code, out.startswith("forgecmd: Nothing was kept under 'x'.")) == (1, True)


def test_what_was_kept_is_listed_and_comes_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "src/a.txt"
    file.parent.mkdir()
    file.write_text("old")
    token = "ghp_" + "a1B2" * 9
    kept = Trash(str(tmp_path / ".forge/trash")).keep([str(file)], f"rm {file}; echo {token}")
    listed = shown(tmp_path, capsys, "restore", "--list")[1]
    assert (kept.id in listed, f"    {file}" in listed, token in listed) == (True, True, False)
    code, out = shown(tmp_path, capsys, "restore", kept.id)
    assert (code, "--overwrite replaces what is there" in out) == (1, True)
    file.write_text("new")
    shown(tmp_path, capsys, "restore", "--overwrite", kept.id)
    assert file.read_text() == "old"
    file.unlink()
    code, out = shown(tmp_path, capsys, "restore", "--json", kept.id)
    assert (code, json.loads(out), file.read_text()) == (0, {"id": kept.id, "restored": [str(file)]}, "old")
