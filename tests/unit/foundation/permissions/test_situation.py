from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from forge.foundation.permissions.decide import decide, readable, removed
from forge.foundation.permissions.rule import Rule, parse_rule
from forge.foundation.permissions.situation import Situation
from unit.foundation.permissions.workspace import build


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("workspace"))


def rule(text: str, behavior: str, anchor: Path) -> Rule:
    found = parse_rule(text, behavior, "cliArg", str(anchor))
    assert isinstance(found, Rule)
    return found


@pytest.mark.parametrize(
    ("text", "behavior", "tool", "path", "expected"),
    [
        ("Read(docs/a.md)", "deny", "Read", "docs/a.md", "deny"),
        ("Read(src/app.ts)", "deny", "Read", "src/app.ts", "deny"),
        ("Edit(src/n1)", "allow", "Write", "src/n1", "allow"),
        ("Edit(/src/n1)", "allow", "Write", "src/n1", "allow"),
        ("Edit(n2)", "allow", "Write", "n2", "allow"),
    ],
)
def test_patterns_stay_anchored_after_changing_directory(
    text: str, behavior: str, tool: str, path: str, expected: str, root: Path
) -> None:
    repo = root / "repo"
    s = Situation(
        cwd=str(repo / "src"),
        start_dir=str(repo),
        home=str(root / "home"),
        rules=[rule(text, behavior, repo)],
    )
    assert decide(tool, {"file_path": str(repo / path), "content": ""}, s).verdict == expected


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("ls ..", "allow"),
        ("cat ../README.md", "allow"),
        ("ls ../..", "ask"),
        ("rm -rf ..", "ask"),
        ("git status", "allow"),
        ("cd {repo} && git status", "allow"),
        ("cd . && git status", "allow"),
    ],
)
def test_shell_paths_start_in_the_current_directory(command: str, expected: str, root: Path) -> None:
    repo = root / "repo"
    s = Situation(cwd=str(repo / "src"), start_dir=str(repo), home=str(root / "home"))
    assert decide("Bash", {"command": command.replace("{repo}", str(repo))}, s).verdict == expected


def test_hidden_files_are_left_out_of_searches(root: Path) -> None:
    repo = root / "repo"
    s = Situation(cwd=str(repo), home=str(root / "home"), rules=[rule("Read(secrets/**)", "deny", repo)])
    assert [readable(name, s) for name in ("README.md", "secrets/key.txt", str(repo / "secrets"))] == [
        True,
        False,
        False,
    ]


def test_free_directories_are_readable_in_every_mode(root: Path) -> None:
    s = Situation(
        cwd=str(root / "repo"), home=str(root / "home"), mode="dontAsk", free_read_dirs=[str(root / "other")]
    )
    verdicts = [
        decide("Read", {"file_path": str(root / "other/o.txt")}, s).verdict,
        decide("Bash", {"command": f"cat {root}/other/o.txt"}, s).verdict,
        decide("Bash", {"command": f"touch {root}/other/x"}, s).verdict,
    ]
    assert verdicts == ["allow", "allow", "deny"]


@pytest.mark.parametrize(
    ("text", "tool", "expected"),
    [
        ("Bash", "Bash", True),
        ("Bash(*)", "Bash", True),
        ("B*", "Bash", True),
        ("Bash(rm *)", "Bash", False),
        ("bash", "Bash", False),
        ("mcp__exp", "mcp__exp__tool", True),
        ("mcp__exp", "mcp__export__tool", False),
        ("mcp__exp__tool", "mcp__exp__tool", True),
        ("mcp__*", "mcp__exp__tool", True),
        ("Agent", "Task", True),
        ("Task", "Agent", True),
    ],
)
def test_a_bare_deny_rule_removes_the_tool(text: str, tool: str, expected: bool, root: Path) -> None:
    assert removed(tool, [rule(text, "deny", root)]) is expected


@pytest.mark.parametrize(
    ("text", "tool", "expected"),
    [
        ("mcp__exp", "mcp__exp__tool", "allow"),
        ("mcp__exp__*", "mcp__exp__tool", "allow"),
        ("mcp__exp__tool", "mcp__exp__tool", "allow"),
        ("mcp__exp__to*", "mcp__exp__tool", "allow"),
        ("mcp__exp__other", "mcp__exp__tool", "ask"),
        ("mcp__exp", "mcp__export__tool", "ask"),
    ],
)
def test_servers_and_their_tools_can_be_allowed(text: str, tool: str, expected: str, root: Path) -> None:
    s = Situation(cwd=str(root / "repo"), rules=[rule(text, "allow", root)])
    assert decide(tool, {}, s).verdict == expected


def test_odd_input_is_decided_without_failing(root: Path) -> None:
    s = Situation(cwd=str(root / "repo"), rules=[rule("Bash(timeout:5)", "deny", root)])
    inputs: list[dict[str, object]] = [
        {},
        {"command": None},
        {"command": 5},
        {"command": "", "timeout": [1]},
        {"file_path": ["x"]},
    ]
    verdicts = {decide(tool, i, s).verdict for tool in ("Bash", "Read", "Write", "WebFetch") for i in inputs}
    assert verdicts <= {"allow", "ask", "deny"}


def test_loading_the_engine_stays_light() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import os, re\n"
        "before = set(sys.modules)\n"
        "import forge.foundation.permissions.decide, forge.foundation.permissions.updates\n"
        "print(*sorted({n.split('.')[0] for n in set(sys.modules) - before}))"
    )
    source = str(Path(__file__).parents[4] / "src")
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, source], capture_output=True, text=True, check=True, timeout=30
    )
    assert done.stdout.split() == ["__future__", "forge"]
