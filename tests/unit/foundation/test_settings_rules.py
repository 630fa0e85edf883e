from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from forge.foundation.origin import Scope
from forge.foundation.paths import find_places
from forge.foundation.permissions.rule import Rule
from forge.foundation.settings import Settings, SettingsRequest, load_settings
from forge.foundation.settings_rules import permission_rules

RULES = {
    "allow": ["Bash(foo *)", "Read"],
    "ask": ["Edit"],
    "deny": ["Write"],
    "additionalDirectories": ["../x"],
}


def load(root: Path, files: dict[str, Any], *, trusted: bool) -> Settings:
    (root / "home").mkdir(exist_ok=True)
    (root / "repo").mkdir(exist_ok=True)
    subprocess.run(["git", "init", "-q", str(root / "repo")], check=True)
    for name, permissions in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"permissions": permissions}))
    p = find_places({"HOME": str(root / "home")}, str(root / "repo"), managed_root=str(root / "etc"))
    return load_settings(p, SettingsRequest(), trusted=trusted)


def shown(rules: list[Rule]) -> list[tuple[str, str, str]]:
    return [(rule.behavior, rule.source, rule.text) for rule in rules]


def test_rules_know_source_and_anchor(tmp_path: Path) -> None:
    files = {
        "home/.claude/settings.json": {"allow": ["Read(/x)"]},
        "repo/.forge/settings.json": {"deny": ["Read(/x)"]},
        "repo/.claude/settings.local.json": {"ask": ["Read(/x)"]},
    }
    rules, directories, notes = permission_rules(load(tmp_path, files, trusted=True), trusted=True)
    assert rules == [
        Rule("Read(/x)", "Read", "/x", "allow", "userSettings", str(tmp_path / "home/.claude")),
        Rule("Read(/x)", "Read", "/x", "deny", "projectSettings", str(tmp_path / "repo")),
        Rule("Read(/x)", "Read", "/x", "ask", "localSettings", str(tmp_path / "repo")),
    ]
    assert (directories, notes) == ([], [])


def test_untrusted_project_may_forbid_but_not_allow(tmp_path: Path) -> None:
    settings = load(tmp_path, {"repo/.claude/settings.json": RULES}, trusted=False)
    rules, directories, notes = permission_rules(settings, trusted=False)
    assert shown(rules) == [("ask", "projectSettings", "Edit"), ("deny", "projectSettings", "Write")]
    assert directories == []
    advice = (
        "this workspace has not been trusted. Run `forge trust` here, "
        f'or set projects["{tmp_path}/repo"].hasTrustDialogAccepted: true in {tmp_path}/home/.claude.json.'
    )
    assert [note.message for note in notes] == [
        f"Ignoring 2 permissions.allow entries from .claude/settings.json: {advice}",
        f"Ignoring 1 permissions.additionalDirectories entry from .claude/settings.json: {advice}",
    ]


def test_trusted_project_may_allow(tmp_path: Path) -> None:
    settings = load(tmp_path, {"repo/.claude/settings.json": RULES}, trusted=True)
    rules, directories, notes = permission_rules(settings, trusted=True)
    assert shown(rules) == [
        ("allow", "projectSettings", "Bash(foo *)"),
        ("allow", "projectSettings", "Read"),
        ("ask", "projectSettings", "Edit"),
        ("deny", "projectSettings", "Write"),
    ]
    assert (directories, notes) == ([str(tmp_path / "x")], [])


@pytest.mark.parametrize("committed", [False, True])
def test_local_file_needs_trust_only_when_somebody_committed_it(tmp_path: Path, committed: bool) -> None:
    name = "repo/.claude/settings.local.json"
    settings = load(tmp_path, {name: RULES}, trusted=False)
    if committed:
        command = ["git", "add", "-f", ".claude/settings.local.json"]
        subprocess.run(command, cwd=tmp_path / "repo", check=True)
    rules, directories, notes = permission_rules(settings, trusted=False)
    allowed = [rule.text for rule in rules if rule.behavior == "allow"]
    assert allowed == ([] if committed else ["Bash(foo *)", "Read"])
    assert directories == ([] if committed else [str(tmp_path / "x")])
    assert [note.origin.scope for note in notes] == ([Scope.LOCAL] * 2 if committed else [])


def test_local_file_behind_a_committed_link_needs_trust(tmp_path: Path) -> None:
    settings = load(tmp_path, {"repo/config/settings.local.json": RULES}, trusted=False)
    (tmp_path / "repo/.claude").symlink_to("config")
    subprocess.run(["git", "add", "-A"], cwd=tmp_path / "repo", check=True)
    settings = load_settings(settings.places, SettingsRequest(), trusted=False)
    rules, directories, _ = permission_rules(settings, trusted=False)
    assert [rule.behavior for rule in rules] == ["ask", "deny"]
    assert directories == []


def test_only_managed_rules_count_when_the_policy_says_so(tmp_path: Path) -> None:
    settings = load(tmp_path, {"home/.claude/settings.json": RULES}, trusted=True)
    policy = tmp_path / "etc/forge/managed-settings.json"
    policy.parent.mkdir(parents=True)
    policy.write_text('{"allowManagedPermissionRulesOnly": true, "permissions": {"deny": ["Bash"]}}')
    settings = load_settings(settings.places, SettingsRequest(), trusted=True)
    rules, directories, _ = permission_rules(settings, trusted=True)
    assert shown(rules) == [("deny", "policySettings", "Bash")]
    assert directories == [str(tmp_path / "x")]


def test_directories_are_absolute_and_listed_once(tmp_path: Path) -> None:
    dirs = ["~/a", "/b", "c/../d", "/b", "~"]
    settings = load(tmp_path, {"home/.claude/settings.json": {"additionalDirectories": dirs}}, trusted=True)
    _, directories, _ = permission_rules(settings, trusted=True)
    assert directories == [f"{tmp_path}/home/a", "/b", f"{tmp_path}/repo/d", f"{tmp_path}/home"]
