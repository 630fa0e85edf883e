"""The examples of docs/guide/sdk.md are programs that work."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fakemodel import serve
from forge_run import environment
from sdk.playing import ROOT, SDKS

PAGE = (ROOT / "docs" / "guide" / "sdk.md").read_text()
TURNS = [
    [
        {"tool": "Bash", "input": {"command": "touch done.txt"}},
        {"tool": "Bash", "input": {"command": "rm -r x"}},
    ],
    [{"text": "done.txt is there."}],
]


def example(language: str) -> str:
    (code,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return str(code)


def run(command: list[str], place: Path, **env: str) -> list[str]:
    """What an example prints, with `forge` on the path; the model wants one thing too many."""
    cli = place / "bin" / "forge"
    cli.parent.mkdir()
    cli.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT / "src"}" exec "{sys.executable}" -m forge "$@"\n')
    cli.chmod(0o755)
    with serve(TURNS) as server:
        clean = environment(place / "home", server.url) | env
        clean["PATH"] = f"{cli.parent}:{clean['PATH']}"
        done = subprocess.run(command, cwd=place, env=clean, capture_output=True, text=True, timeout=25)
    assert (done.returncode, done.stderr) == (0, "")
    results = [
        block for block in server.bodies[-1]["messages"][-1]["content"] if block["type"] == "tool_result"
    ]
    assert [block.get("is_error") for block in results] == [False, True]
    assert "Only touch is allowed here." in str(results[1]["content"])
    assert (place / "done.txt").exists()
    return done.stdout.splitlines()


def test_python_example_of_the_guide_runs(tmp_path: Path) -> None:
    if not (SDKS / "python").is_dir():
        pytest.fail("the Agent SDK is not installed: run scripts/sdk-setup (make test does)")
    (tmp_path / "example.py").write_text(example("python"))
    printed = run([sys.executable, "-W", "ignore", "example.py"], tmp_path, PYTHONPATH=str(SDKS / "python"))
    assert printed[:2] == ["calls Bash {'command': 'touch done.txt'}", "calls Bash {'command': 'rm -r x'}"]
    assert re.fullmatch(r"done\.txt is there\. \(\$0\.\d{4}\)", printed[2])


@pytest.mark.skipif(not (shutil.which("npm") and shutil.which("node")), reason="npm is not installed")
def test_typescript_example_of_the_guide_runs(tmp_path: Path) -> None:
    modules = SDKS / "node" / "node_modules"
    if not (modules / "@anthropic-ai" / "claude-agent-sdk").is_dir():
        pytest.fail("the Agent SDK is not installed: run scripts/sdk-setup (make test does)")
    # The example has no annotations, so that it is JavaScript as well.
    (tmp_path / "example.mjs").write_text(example("typescript"))
    (tmp_path / "node_modules").symlink_to(modules)
    printed = run(["node", "example.mjs"], tmp_path)
    assert printed[:2] == ['calls Bash {"command":"touch done.txt"}', 'calls Bash {"command":"rm -r x"}']
    assert re.fullmatch(r"done\.txt is there\. \(\$0\.\d{4}\)", printed[2])
