from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forge.core.shell.history.record import History
from forge.hosts.forgecmd.main import EXIT, run
from forge.hosts.forgecmd.usage import PAGES, USAGE
from forge.version import VERSION

ENV = {"HOME": "/home/dev", "USER": "dev"}
HERE = ["--cwd", "/home/dev/proj"]


def output(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str]:
    code = run(list(argv), ENV)
    return code, capsys.readouterr().out


def test_a_command_is_classified_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = output(capsys, *HERE, "classify", "git push")
    assert (code, json.loads(out)) == (
        0,
        {
            "cmd": "git push",
            "category": "caution",
            "risk": 6,
            "decision": "ask",
            "reason": "publishes commits",
        },
    )


@pytest.mark.parametrize(
    ("command", "decision"), [("ls", "allow"), ("git push", "ask"), ("rm -rf /", "deny")]
)
def test_the_exit_code_of_a_check_is_the_decision(
    command: str, decision: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = output(capsys, *HERE, "check", command)
    assert (code, out.split(":")[0]) == (EXIT[decision], decision)


def test_an_explanation_has_findings_steps_and_the_way_to_the_decision(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, out = output(capsys, *HERE, "explain", "ls && rm -rf src")
    explained: dict[str, Any] = json.loads(out)
    assert [c["command"] for c in explained["commands"]] == ["ls", "rm -rf src"]
    assert (explained["findings"][0]["text"], explained["trace"][0]) == ("rm -rf src", "judged dangerous 8")


@pytest.mark.parametrize(
    ("argv", "complaint", "page"),
    [
        (["frobnicate"], "unknown command 'frobnicate'", USAGE),
        (["check"], "check needs a command, for example: forgecmd check 'git push'", PAGES["check"]),
        (["check", "--frob", "x"], "unknown option --frob, or it needs a value", PAGES["check"]),
        (["run"], "run needs a command, for example: forgecmd run -- npm test", PAGES["run"]),
        (["run", "--profile", "big", "ls"], "--profile is one of read, workspace", PAGES["run"]),
        (["run", "--timeout", "soon", "ls"], "--timeout needs a number, not 'soon'", PAGES["run"]),
        (["history", "--since", "1"], "unknown option --since; there are --limit", PAGES["history"]),
        (["show", "x"], "show needs the number of a command", PAGES["show"]),
    ],
)
def test_a_wrong_command_line_is_explained(
    argv: list[str], complaint: str, page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    History(str(tmp_path / ".forge/history.db")).close()
    code = run(argv, {"HOME": str(tmp_path)})
    said = capsys.readouterr()
    assert (code, said.out, said.err.startswith(f"forgecmd: {complaint}"), page in said.err) == (
        64, "", True, True,
    )  # fmt: skip


@pytest.mark.parametrize("argv", [[], ["help"], ["--help"], ["-h"], ["help", "run"], ["--help", "doctor"]])
def test_help_needs_nothing(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert (run(argv, ENV), "usage: forgecmd" in capsys.readouterr().out) == (0, True)


@pytest.mark.parametrize("name", PAGES)
def test_every_command_has_a_page(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert (run([name, "--help"], ENV), capsys.readouterr().out) == (0, PAGES[name] + "\n")


def test_the_help_of_a_command_that_is_judged_is_not_ours(capsys: pytest.CaptureFixture[str]) -> None:
    code, out = output(capsys, *HERE, "check", "--", "ls", "--help")
    assert (code, out.split(":")[0]) == (0, "allow")


def test_the_version_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "--version") == (0, f"forgecmd {VERSION}\n")


@pytest.mark.requirement("S2-17")
def test_a_rule_of_the_user_is_seen_in_the_trace(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / ".forge/settings.json"
    path.parent.mkdir()
    path.write_text('{"forgecmd": {"rules": {"ask": [{"pattern": "git push *", "risk": 7}]}}}')
    run(["explain", "--cwd", str(tmp_path), "git push origin main"], {"HOME": str(tmp_path)})
    trace = json.loads(capsys.readouterr().out)["trace"]
    assert trace == [
        "judged caution 6",
        "forbidden: no",
        "deny rules: none matches",
        f"ask rule 'git push *' of {path} matches 'git push origin main'",
    ]


def test_rules_that_cannot_be_read_stop_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text('{"permissions":\n"x"}')
    code = run(["check", "--cwd", str(tmp_path), "ls"], {"HOME": str(tmp_path)})
    said = capsys.readouterr().err
    assert (code, f"forgecmd: {path}:2:1: permissions: expected an object\n" in said) == (78, True)


def test_lines_are_answered_one_by_one_and_light_modules_suffice() -> None:
    rows = [
        {"id": "1", "cmd": "ls", "cwd": "/home/dev/proj", "shell": "bash"},
        {"cmd": "rd /s C:\\", "shell": "cmd"},
    ]
    lines = [*map(json.dumps, rows), "nonsense"]
    heavy = "typing dataclasses pathlib logging subprocess asyncio msgspec inspect tempfile"
    code = (
        "import sys\n"
        "from forge.hosts.forgecmd.__main__ import main\n"
        "sys.argv = ['forgecmd', 'classify', '--jsonl']\n"
        "main()\n"
        f"print(sorted(set('{heavy}'.split()) & set(sys.modules)))\n"
    )
    source = str(Path(__file__).resolve().parents[4] / "src")
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([source, *(p for p in sys.path if "site-packages" in p)]),
    }
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        env=env,
        timeout=30,
    )
    first, second, third, modules = done.stdout.splitlines()
    assert (json.loads(first)["decision"], json.loads(second)["category"]) == ("allow", "forbidden")
    assert (json.loads(third), modules) == ({"error": 'expected a JSON object with "cmd"'}, "[]")
