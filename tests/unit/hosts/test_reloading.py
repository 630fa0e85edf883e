from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.event import Warned
from forge.agent.hooks.engine import Engine
from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.hosts.configuration import load_configuration, situation
from forge.hosts.hook_sources import session_hooks
from forge.hosts.lookouts import Holder
from forge.hosts.options import RunOptions
from forge.hosts.reloading import Reloading, watched_sources


class Place:
    """A project with settings, and a session that runs in it."""

    def __init__(self, root: Path, **options: Any) -> None:
        self.cwd = root / "p"
        self.cwd.mkdir(exist_ok=True)
        self.env = {"HOME": str(root / "home"), "KEPT": "1"}
        self.o = RunOptions(**options)
        self.host = RecordingHost()

    def file(self, scope: str = "project") -> Path:
        home = Path(self.env["HOME"])
        return {
            "user": home / ".claude/settings.json",
            "project": self.cwd / ".claude/settings.json",
            "local": self.cwd / ".claude/settings.local.json",
        }[scope]

    def write(self, data: Any, scope: str = "project") -> str:
        file = self.file(scope)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(data if isinstance(data, str) else json.dumps(data))
        return str(file)

    def start(self) -> tuple[Session, Reloading]:
        c = load_configuration(self.o, self.env, str(self.cwd))
        s = session(ScriptedModel([]), self.host, [], hooks=session_hooks(c, bare=False))
        s.situation = situation(c, "session-1", deny_instead=False)
        return s, Reloading(s, self.o, self.env, Holder(c))


def rules(s: Session) -> list[tuple[str, str]]:
    return [(rule.behavior, rule.text) for rule in s.situation.rules]


def commands(s: Session) -> list[str]:
    assert isinstance(s.hooks, Engine)
    return [hook.label for hook in s.hooks.hooks()]


def hooks(*names: str) -> dict[str, Any]:
    return {"Stop": [{"hooks": [{"type": "command", "command": name} for name in names]}]}


def test_rules_hooks_environment_and_settings_are_taken_over(tmp_path: Path) -> None:
    place = Place(tmp_path, allowed_tools=["Read"])
    path = place.write(
        {"permissions": {"deny": ["Bash"]}, "hooks": hooks("a"), "env": {"X": "1", "Y": "1"}, "airGap": True}
    )
    s, reloading = place.start()
    place.write({"permissions": {"deny": ["Write"]}, "hooks": hooks("b", "c"), "env": {"X": "2"}})
    reloading.take_over("project_settings", path, wanted=True)
    assert rules(s) == [("allow", "Read"), ("deny", "Write")]
    assert commands(s) == ["b", "c"]
    assert {k: s.parts.env.get(k) for k in ("X", "Y", "KEPT")} == {"X": "2", "Y": None, "KEPT": "1"}
    assert s.parts.setting("airGap", False) is False


def test_a_refused_change_stays_out_also_when_another_file_changes(tmp_path: Path) -> None:
    place = Place(tmp_path)
    refused = place.write({"hooks": hooks("old")})
    s, reloading = place.start()
    place.write({"hooks": hooks("new")})
    reloading.take_over("project_settings", refused, wanted=False)
    other = place.write({"hooks": hooks("user")}, "user")
    reloading.take_over("user_settings", other, wanted=True)
    assert commands(s) == ["user", "old"]
    reloading.take_over("project_settings", refused, wanted=True)
    assert commands(s) == ["user", "new"]


def test_a_new_file_that_was_refused_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    place = Place(tmp_path)
    s, reloading = place.start()
    refused = place.write({"hooks": hooks("new")})
    reloading.take_over("project_settings", refused, wanted=False)
    reloading.take_over("user_settings", place.write({"hooks": hooks("user")}, "user"), wanted=True)
    assert commands(s) == ["user"]


def test_a_file_that_is_broken_now_counts_as_it_was(tmp_path: Path) -> None:
    place = Place(tmp_path)
    path = place.write({"permissions": {"deny": ["Bash"]}})
    s, reloading = place.start()
    place.write('{"permissions": ')
    reloading.take_over("project_settings", path, wanted=True)
    assert rules(s) == [("deny", "Bash")]
    warned = [event.text for event in place.host.of(Warned)]
    assert warned == [f"{path} cannot be used as it is now; its last good content still counts."]


def test_a_removed_file_takes_its_rules_along(tmp_path: Path) -> None:
    place = Place(tmp_path)
    path = place.write({"permissions": {"deny": ["Bash"], "additionalDirectories": ["/extra"]}})
    place.write({"permissions": {"deny": ["Write"]}}, "user")
    s, reloading = place.start()
    place.file().unlink()
    reloading.take_over("project_settings", path, wanted=True)
    assert (rules(s), s.situation.directories) == ([("deny", "Write")], [str(place.cwd)])


@pytest.mark.parametrize(("wanted", "count"), [(True, 1), (False, 0)])
def test_changed_skills_are_read_again(tmp_path: Path, wanted: bool, count: int) -> None:
    s, reloading = Place(tmp_path).start()
    read: list[str] = []

    def reload() -> str:
        read.append("again")
        return ""

    s.keep(Ecosystem).reload = reload
    reloading.take_over("skills", str(tmp_path / "x"), wanted=wanted)
    assert len(read) == count


@pytest.mark.requirement("S1-69", "S1-70")
def test_every_file_that_matters_has_its_source(tmp_path: Path) -> None:
    place = Place(tmp_path)
    c = load_configuration(place.o, place.env, str(place.cwd))
    found = {path: source for source, path in watched_sources(place.o, c.places)}
    home = place.env["HOME"]
    wanted = {
        f"{home}/.claude/settings.json": "user_settings",
        f"{home}/.forge/settings.json": "user_settings",
        f"{home}/.forge/.forge.toml": "user_settings",
        f"{place.cwd}/.claude/settings.json": "project_settings",
        f"{place.cwd}/.forge/hooks.json": "project_settings",
        f"{place.cwd}/.forge/settings.local.json": "local_settings",
        f"{c.places.managed_dirs[0]}/managed-settings.json": "policy_settings",
        f"{home}/.claude/skills": "skills",
        f"{place.cwd}/.claude/agents": "skills",
        f"{home}/.claude/plugins/installed_plugins.json": "skills",
    }
    assert {path: found.get(path) for path in wanted} == wanted
    only_user = {source for source, _ in watched_sources(RunOptions(setting_sources="user"), c.places)}
    assert only_user == {"user_settings", "policy_settings", "skills"}
