from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.core.shell.analysis.policy import Policy
from forge.foundation.errors import ConfigError
from forge.hosts.forgecmd.judging import assess, extra_places, place
from forge.hosts.forgecmd.policies import load_policy, workspace_of

DENY_CURL = {"forgecmd": {"rules": {"deny": [{"pattern": "curl *"}]}}}
ALLOW_PUSH = {"forgecmd": {"rules": {"allow": [{"pattern": "git push *"}]}}}
BASH_ALLOWS_PUSH = {"permissions": {"allow": ["Bash(git push:*)"]}}


def write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def loaded(root: Path) -> Policy:
    project = root / "home" / "proj"
    project.mkdir(parents=True, exist_ok=True)
    return load_policy({"HOME": str(root / "home")}, str(project), [str(root / "managed")])


def decision(root: Path, command: str) -> str:
    policy = loaded(root)
    around = place(str(root / "home" / "proj"), {"HOME": str(root / "home")}, policy)
    return assess(command, around, policy)[1].verdict


@pytest.mark.requirement("S2-15", "S2-16", "S2-19")
@pytest.mark.parametrize(
    ("file", "content", "command", "expected"),
    [
        ("home/.forge/settings.json", ALLOW_PUSH, "git push origin main", "allow"),
        ("home/.claude/settings.json", BASH_ALLOWS_PUSH, "git push origin main", "allow"),
        ("managed/managed-settings.json", ALLOW_PUSH, "git push origin main", "allow"),
        ("managed/managed-settings.d/10.json", DENY_CURL, "curl http://127.0.0.1/", "deny"),
        ("home/proj/.claude/settings.json", BASH_ALLOWS_PUSH, "git push origin main", "ask"),
        ("home/proj/.claude/settings.local.json", ALLOW_PUSH, "git push origin main", "ask"),
        ("home/proj/.forge/settings.json", DENY_CURL, "curl http://127.0.0.1/", "deny"),
        ("home/proj/.forgecode/settings.local.json", {"permissions": {"ask": ["Bash(ls:*)"]}}, "ls", "ask"),
        ("home/.forge/.forge.toml", '[[forgecmd.rules.deny]]\npattern = "ls"', "ls", "deny"),
        ("home/.forge/settings.json", {"permissions": {"allow": ["Bash"]}}, "git push", "allow"),
        ("home/.forge/settings.json", {"permissions": {"allow": ["Bash"]}}, "rm -rf src", "deny"),
        ("home/.forge/settings.json", {"permissions": {"allow": ["Bash"]}}, "rm -rf /", "deny"),
    ],
)
def test_each_file_decides_as_far_as_it_may(
    file: str, content: Any, command: str, expected: str, tmp_path: Path
) -> None:
    write(tmp_path / file, content)
    assert decision(tmp_path, command) == expected


def test_where_only_managed_rules_count_the_user_may_still_forbid(tmp_path: Path) -> None:
    write(tmp_path / "managed/managed-settings.json", {"allowManagedPermissionRulesOnly": True})
    write(tmp_path / "home/.forge/settings.json", {**ALLOW_PUSH, "permissions": {"deny": ["Bash(ls:*)"]}})
    assert (decision(tmp_path, "git push origin x"), decision(tmp_path, "ls")) == ("ask", "deny")


@pytest.mark.requirement("S2-19", "S2-20")
@pytest.mark.parametrize(
    ("file", "thresholds", "expected"),
    [
        ("home/.forge/settings.json", {"sessionApprove": 2}, "ask"),
        ("home/.forge/settings.json", {"block": 4}, "deny"),
        ("home/proj/.forge/settings.json", {"block": 4}, "deny"),
        ("home/proj/.forge/settings.json", {"autoApprove": 10, "block": 10}, "allow_session"),
    ],
)
def test_thresholds_move_and_a_project_only_makes_them_stricter(
    file: str, thresholds: dict[str, int], expected: str, tmp_path: Path
) -> None:
    write(tmp_path / file, {"forgecmd": {"riskThresholds": thresholds}})
    assert decision(tmp_path, "touch a") == expected


@pytest.mark.parametrize(
    ("content", "place_and_reason"),
    [
        ('{\n "a": ,}', ":2:7: not valid JSON"),
        ("[]", ":1:1: expected an object"),
        ('{"forgecmd": 5}', ":1:14: forgecmd: expected an object"),
        ('{"forgecmd":\n {"rules": []}}', ":2:12: forgecmd.rules: expected an object"),
        ('{"permissions":\n\n {"deny": "x"}}', ":3:11: permissions.deny: expected a list"),
        ('{"forgecmd": {"rules": {"deny": [\n5]}}}', ":2:1: forgecmd.rules.deny[0]: expected an object with"),
        (
            '{"forgecmd": {"rules": {"deny": [\n{"regex": "("}]}}}',
            ":2:1: forgecmd.rules.deny[0]: not a regular",
        ),
        (
            '{"forgecmd": {"rules": {"ask": [{"pattern": "a",\n"risk": "x"}]}}}',
            "forgecmd.rules.ask[0].risk: expected a number",
        ),
        ('{"forgecmd": {"rules": {"allow": [\n{"pattern": "python *"}]}}}', ":2:1: forgecmd.rules.allow[0]:"),
        (
            '{"forgecmd": {"workspace": {"deny": [1]}}}',
            ":1:38: forgecmd.workspace.deny[0]: expected a path",
        ),
        (
            '{"forgecmd": {"riskThresholds": {"bloc": 1}}}',
            ":1:42: forgecmd.riskThresholds.bloc: expected a number",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_its_line(
    content: str, place_and_reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "home/.forge/settings.json"
    write(path, content)
    with pytest.raises(ConfigError) as raised:
        loaded(tmp_path)
    assert str(path) in str(raised.value)
    assert place_and_reason in str(raised.value)
    assert "correct the file" in raised.value.hint


def test_toml_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    write(tmp_path / "home/.forge/.forge.toml", "a = ")
    with pytest.raises(ConfigError, match=r"\.forge\.toml: not valid TOML"):
        loaded(tmp_path)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "home/.claude/settings.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"settings\.json: cannot be read: it is not UTF-8"):
        loaded(tmp_path)


@pytest.mark.requirement("S2-46")
@pytest.mark.parametrize(
    ("file", "enabled"), [("home/.forge/settings.json", False), ("home/proj/.forge/settings.json", True)]
)
def test_the_user_can_switch_it_off_and_a_project_cannot(file: str, enabled: bool, tmp_path: Path) -> None:
    write(tmp_path / file, {"forgecmd": {"mode": "off", "daemon": True}})
    policy = loaded(tmp_path)
    assert (policy.enabled, policy.daemon) == (enabled, not enabled)


@pytest.mark.parametrize(
    ("env", "cwd", "expected"),
    [
        ({}, "repo/src", "repo"),
        ({}, "plain/src", "plain/src"),
        ({"CLAUDE_PROJECT_DIR": "plain"}, "plain/src", "plain"),
        ({"CLAUDE_PROJECT_DIR": "plain"}, "repo/src", "repo"),
        ({"CLAUDE_PROJECT_DIR": "."}, "plain/src", "plain/src"),
    ],
)
def test_the_workspace_is_the_project_but_never_the_home(
    env: dict[str, str], cwd: str, expected: str, tmp_path: Path
) -> None:
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / cwd).mkdir(parents=True, exist_ok=True)
    around = {"HOME": str(tmp_path), **{name: str(tmp_path / value) for name, value in env.items()}}
    assert workspace_of(around, str(tmp_path / cwd)) == str(tmp_path / expected)


def test_further_places_may_begin_at_home_or_in_the_workspace() -> None:
    policy = Policy()
    policy.extra = ("~/data", "../other", "/srv/x")
    found = extra_places(policy, {"HOME": "/home/dev"}, "/home/dev/proj")
    assert found == ("/home/dev/data", "/home/dev/other", "/srv/x")
