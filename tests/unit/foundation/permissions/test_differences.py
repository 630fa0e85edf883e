"""Where the reference lets a denied command through, this engine does not: each row with the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from unit.foundation.permissions.workspace import build, verdict

DENY_RM = {"allow": ["Bash"], "deny": ["Bash(rm *)"]}
ASK_RM = {"allow": ["Bash"], "ask": ["Bash(rm *)"]}
DENY_SECRETS = {"allow": ["Bash"], "deny": ["Read(secrets/**)"]}
WRAPPED = "a wrapper with unusual options still starts the command"
TEXT = "text that is evaluated is a command"
FOUND = "find starts the command"
CONTROL = "a control character is no part of a command name"
SCRIPT = "a script for another shell is looked into, whatever the rule names"
BEHIND = "path rules look behind sudo, a full program path, groups and substitutions"
BLOCKED = "a block on outside writes holds for shell commands too"
REMOVAL = "a removal of the root is asked for wherever it hides"

BROKEN = "bash cannot read the command, so nobody knows what it would do"
SECOND_FILE = "a sed that takes a suffix reads any file name like a pattern as its script"
OWN_RULES = "a rule that names Monitor with a command means that command"


def watch(command: str) -> list[Any]:
    return ["Monitor", {"description": "d", "timeout_ms": 1000, "command": command}]


# given, command or call, verdict of the reference, verdict here, why
DIFFERENCES: list[tuple[dict[str, Any], Any, str, str, str]] = [
    (DENY_RM, "xargs -n1 rm", "allow", "deny", WRAPPED),
    (DENY_RM, "xargs -0 rm", "allow", "deny", WRAPPED),
    (DENY_RM, "xargs -I{} rm {}", "allow", "deny", WRAPPED),
    (DENY_RM, "xargs sudo rm x", "allow", "deny", WRAPPED),
    (DENY_RM, "nice -n5 rm x", "allow", "deny", WRAPPED),
    (DENY_RM, "timeout --foo 5 rm x", "allow", "deny", WRAPPED),
    (DENY_RM, "stdbuf -o L rm x", "allow", "deny", WRAPPED),
    (DENY_RM, "coproc rm x", "allow", "deny", WRAPPED),
    (DENY_RM, "busybox rm x", "allow", "deny", WRAPPED),
    (ASK_RM, "xargs -n1 rm", "allow", "ask", WRAPPED),
    (DENY_RM, "eval rm x", "allow", "deny", TEXT),
    (DENY_RM, "eval 'rm x'", "allow", "deny", TEXT),
    (DENY_RM, "su -c 'rm x'", "allow", "deny", TEXT),
    (DENY_RM, "script -qc 'rm x' f", "allow", "deny", TEXT),
    (ASK_RM, "eval 'rm x'", "allow", "ask", TEXT),
    (DENY_RM, "find . -exec rm {} \\;", "allow", "deny", FOUND),
    (DENY_RM, "find . -execdir rm {} +", "allow", "deny", FOUND),
    (DENY_RM, "ls\r\nrm x", "allow", "deny", CONTROL),
    (DENY_RM, "rm x\r\n", "allow", "deny", CONTROL),
    (DENY_RM, "rm\x0bx", "allow", "deny", CONTROL),
    ({"allow": ["Bash"], "deny": ["Bash(curl *)"]}, "bash -c 'curl x'", "allow", "ask", SCRIPT),
    ({"allow": ["Bash"], "deny": ["Bash(curl *)"]}, "sudo bash -c 'curl x'", "allow", "ask", SCRIPT),
    (DENY_SECRETS, "sudo cat secrets/key.txt", "allow", "deny", BEHIND),
    (DENY_SECRETS, "/bin/cat secrets/key.txt", "allow", "deny", BEHIND),
    (DENY_SECRETS, "echo $(cat secrets/key.txt)", "allow", "deny", BEHIND),
    (DENY_SECRETS, "{ cat secrets/key.txt; }", "allow", "deny", BEHIND),
    (DENY_SECRETS, "xargs cat secrets/key.txt", "allow", "deny", BEHIND),
    (
        {"mode": "bypassPermissions", "block_writes_outside": True},
        "touch {other}/x",
        "allow",
        "ask",
        BLOCKED,
    ),
    ({"allow": ["Bash"]}, "ls() { rm -rf /; }; ls", "allow", "ask", REMOVAL),
    ({"allow": ["Bash"]}, "cat <<EOF\n`rm -rf /`\nEOF", "allow", "ask", REMOVAL),
    ({"allow": ["Bash"]}, "rm -rf /{bin,etc}", "allow", "ask", REMOVAL),
    ({"allow": ["Bash"]}, "env -- rm -rf /", "allow", "ask", REMOVAL),
    ({}, "[ ( a ) ]", "allow", "ask", BROKEN),
    ({"mode": "acceptEdits"}, "sed -i s/a/b/ README.md {repo}/docs/a.md", "allow", "ask", SECOND_FILE),
    ({"deny": ["Monitor(echo *)"]}, watch("echo hi"), "allow", "deny", OWN_RULES),
    ({"ask": ["Monitor(echo *)"]}, watch("echo hi"), "allow", "ask", OWN_RULES),
]

STRENGTH = {"allow": 0, "ask": 1, "deny": 2}


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("workspace"))


def test_known_differences_are_decided_as_listed(root: Path) -> None:
    wrong = [
        (command, here, found)
        for given, command, _, here, _ in DIFFERENCES
        if (found := verdict(given, command, root)) != here
    ]
    assert wrong == []


def test_differences_are_only_ever_stricter() -> None:
    weaker = [row for row in DIFFERENCES if STRENGTH[row[3]] <= STRENGTH[row[2]]]
    assert weaker == []
