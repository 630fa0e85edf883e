from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.hosts.forgecmd.main import run


def forgecmd(root: Path, *argv: str, **env: str) -> int:
    (root / "proj").mkdir(exist_ok=True)
    return run(list(argv), {"HOME": str(root), "PATH": "/usr/bin:/bin", **env})


def told(
    root: Path, capfd: pytest.CaptureFixture[str], *words: str, **env: str
) -> tuple[int, dict[str, Any]]:
    code = forgecmd(root, "run", "--json", "--cwd", str(root / "proj"), *words, **env)
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    return code, found


def test_output_and_exit_code_are_those_of_the_command(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code = forgecmd(tmp_path, "run", "--cwd", str(tmp_path), "--", "echo out; echo err >&2; exit 3")
    assert (code, *capfd.readouterr()) == (3, "out\nerr\n", "")


@pytest.mark.requirement("S2-33", "S2-43")
def test_a_command_is_told_as_json(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert told(tmp_path, capfd, "--", "echo hi") == (
        0,
        {
            "category": "read_only",
            "risk": 0,
            "decision": "allow",
            "permission": "auto_approved",
            "scope": None,
            "refused": False,
            "id": 1,
            "exit_code": 0,
            "timed_out": False,
            "profile": "read",
            "cwd": str(tmp_path / "proj"),
            "output": "hi\n",
            "bytes": {"before": 3, "after": 3},
            "steps": [],
            "survivors": [],
            "notes": [],
        },
    )


@pytest.mark.requirement("S2-03", "S2-29", "S2-42")
@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--", "git push"], "ask: caution, risk 6. publishes commits.\nNobody can be asked here."),
        (["--", "rm -rf x"], "deny: dangerous, risk 8."),
        (["--yes", "--", "rm -rf x"], "deny: dangerous, risk 8."),
        (["--yes", "--", "rm -rf /"], "deny: forbidden, risk 10."),
        (["--", "vim x"], "ask: interactive"),
        (["--profile", "full", "--", "ls"], "the profile full is wider than the command needs"),
    ],
)
def test_what_may_not_run_is_refused_and_recorded(
    words: list[str], said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    code, found = told(tmp_path, capfd, *words)
    assert (code, found["refused"], found["permission"], found["id"]) == (126, True, "denied", 1)
    assert said in found["reason"]
    forgecmd(tmp_path, "history", "--json")
    (entry,) = json.loads(capfd.readouterr().out)
    assert (entry["status"], entry["permission_status"], entry["command"]) == ("denied", "denied", words[-1])


@pytest.mark.requirement("S2-42")
def test_yes_answers_questions(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "proj").mkdir()
    (tmp_path / "proj/a.txt").touch()
    code, found = told(tmp_path, capfd, "--yes", "--", "rm a.txt")
    assert (code, found["permission"], found["scope"], found["profile"]) == (0, "granted", "once", "full")
    assert not (tmp_path / "proj/a.txt").exists()


def test_a_refusal_is_told_in_words(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code = forgecmd(tmp_path, "run", "--cwd", str(tmp_path / "proj"), "git push --force", NO_COLOR="1")
    said = capfd.readouterr()
    assert (code, said.out, "\x1b" in said.err) == (126, "", False)
    assert said.err.startswith("forgecmd: not run. deny: dangerous, risk 8.")


@pytest.mark.requirement("S2-05")
def test_a_command_gets_no_secrets_and_stays_in_its_place(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path / "outside"
    code, found = told(
        tmp_path, capfd, "--", f"python3 -c \"open('{outside}', 'a')\" 2>&1 | tail -1"
    )  # fmt: skip
    assert (code, found["refused"], outside.exists()) == (126, True, False)
    assert "outside the workspace" in found["reason"]
    _, found = told(tmp_path, capfd, "--", "echo [$OPENAI_API_KEY]", OPENAI_API_KEY="sk-" + "a" * 30)
    assert found["output"] == "[]\n"


def test_a_command_that_takes_too_long_is_ended(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, found = told(tmp_path, capfd, "--timeout", "0.3", "--", "echo begun; sleep 60")
    assert (code, found["timed_out"], found["output"]) == (124, True, "begun\n")


def test_a_directory_that_is_none_is_named(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert forgecmd(tmp_path, "run", "--cwd", str(tmp_path / "none"), "ls") == 64
    assert f"forgecmd: {tmp_path / 'none'} is no directory" in capfd.readouterr().err


def test_a_terminal_is_one(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    _, found = told(tmp_path, capfd, "--pty", "--", "test -t 1 && stty size")
    assert found["output"] == "24 80\n"


def test_without_a_history_it_says_so_and_runs_what_is_harmless(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".forge/history.db").mkdir(parents=True)
    code = forgecmd(tmp_path, "run", "--cwd", str(tmp_path), "echo hi")
    said = capfd.readouterr()
    assert (code, said.out, said.err.startswith("forgecmd: no history:")) == (0, "hi\n", True)
    assert forgecmd(tmp_path, "run", "--cwd", str(tmp_path), "chmod 600 x") == 126
