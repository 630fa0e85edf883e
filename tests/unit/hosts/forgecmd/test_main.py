from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from forge.hosts.forgecmd.main import EXIT, USAGE, run

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


def test_a_wrong_command_line_shows_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert (run(["frobnicate"], ENV), capsys.readouterr().err) == (64, USAGE + "\n")


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
