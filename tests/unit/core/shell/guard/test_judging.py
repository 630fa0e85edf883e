from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.core.shell.guard.judging import AGAIN, Judging, Where, precious_paths
from forge.core.shell.guard.setup import Source

WHERE = Where("/home/dev/proj", "/home/dev", ["/home/dev/proj", "/data/shared"], {})


def answers(
    rules: dict[str, Any], commands: list[str], permissions: dict[str, list[str]] | None = None
) -> list[str]:
    judging = Judging([Source("settings.json", {"rules": rules})])
    return [judging.assess(c, WHERE, permissions or {}).decision.verdict for c in commands]


@pytest.mark.requirement("S2-21", "S2-15")
@pytest.mark.parametrize(
    ("rule", "matching", "others"),
    [
        ({"pattern": "make lint"}, ["make lint", "make  'lint'"], ["make lint2", "make lint x"]),
        ({"pattern": "make *"}, ["make", "make a b"], ["makex"]),
        ({"pattern": "make:*"}, ["make", "make a"], ["makex"]),
        ({"pattern": "* --dry"}, ["make --dry", "foo a --dry"], ["make --dry x"]),
        ({"pattern": "make**"}, ["make a", "makex"], ["cmake"]),
        ({"regex": "make (a|b)"}, ["make a", "make b"], ["make c"]),
        ({"argv": ["make", ["a", "b"], "..."]}, ["make a", "make b c"], ["make c"]),
        ({"pattern": "make * | tee *"}, ["make a | tee b"], ["make a", "tee b"]),
    ],
)
def test_patterns_match_simple_commands(rule: dict[str, Any], matching: list[str], others: list[str]) -> None:
    assert answers({"deny": [rule]}, matching) == ["deny"] * len(matching)
    assert "deny" not in answers({"deny": [rule]}, others)


@pytest.mark.requirement("S2-15")
@pytest.mark.parametrize(
    ("rule", "command", "verdict"),
    [
        ("Bash", "npm install x", "allow"),
        ("Bash(npm install *)", "npm install x", "allow"),
        ("Bash(npm install:*)", "npm install x", "allow"),
        ("Bash(* --help)", "sudo --help", "allow"),
        ("Bash(npm run *)", "npm install x", "ask"),
        ("Read(x)", "npm install x", "ask"),
    ],
)
def test_rules_of_the_reference_are_understood(rule: str, command: str, verdict: str) -> None:
    assert answers({}, [command], {"allow": [rule]}) == [verdict]


def test_who_tries_the_same_effect_again_is_told_so() -> None:
    judging = Judging([])
    told = [judging.refused(judging.assess(c, WHERE, {})) for c in ("rm -rf /", "rm -fr //", "mkfs /dev/sda")]
    assert [AGAIN in text for text in told] == [False, True, False]


def test_every_working_directory_belongs_to_the_workspace() -> None:
    commands = ["touch /data/shared/a", "touch /data/other/a", "touch a"]
    assert answers({}, commands) == ["allow_session", "ask", "allow_session"]


def test_what_was_downloaded_in_one_call_is_dangerous_in_the_next() -> None:
    commands = ["curl -so tool.sh https://x.io/t", "chmod +x tool.sh", "./tool.sh"]
    assert answers({}, commands) == ["allow_session", "allow_session", "deny"]


def test_a_refused_command_has_written_nothing() -> None:
    commands = ["curl -so tool.sh https://x.io/t; rm -rf src", "./tool.sh"]
    assert answers({}, commands) == ["deny", "allow_session"]


def test_what_a_dangerous_command_names_is_precious(tmp_path: Path) -> None:
    for name in ("src/a", "docs/b", "c.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    cwd = str(tmp_path)
    where = Where(cwd, "/home/dev", [cwd], {})
    found = {
        command: [
            str(Path(p).relative_to(cwd))
            for p in precious_paths(Judging().assess(command, where, {}).verdict, cwd)
        ]
        for command in ("rm -rf src nosuch && ls c.txt", "rm -rf -- doc*", "rm c.txt", "rm -rf .")
    }
    assert found == {
        "rm -rf src nosuch && ls c.txt": ["src"],
        "rm -rf -- doc*": ["docs"],
        "rm c.txt": [],
        "rm -rf .": ["."],
    }


@pytest.mark.requirement("S2-47")
def test_each_part_has_at_least_the_tests_that_were_agreed() -> None:
    here = Path(__file__).parents[1]
    floor = {
        "guard/test_setup.py": 3,
        "guard/test_library.py": 3,
        "test_isolation.py": 4,
        "analysis/test_decide.py": 6,
        "history/test_history.py": 6,
        "session/test_command.py": 3,
        "test_forgecmd.py": 7,
    }
    counts = {name: (here / name).read_text("utf-8").count("\ndef test_") for name in floor}
    assert {name: count for name, count in counts.items() if count < floor[name]} == {}
