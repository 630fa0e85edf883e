from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.event import Warned
from forge.core.shell.guard.guard import Guard
from forge.core.shell.guard.setup import Setup, Source
from forge.core.shell.history.record import Begun, History
from forge.foundation.errors import ConfigError
from forge.hosts.configuration import Configuration, load_configuration
from forge.hosts.guarding import change_guard, give_guard, guard_setup, has_guarded_tools, tidy_up
from forge.hosts.options import RunOptions


def configuration(
    root: Path, scope: str = "", own: Any = None, **options: Any
) -> tuple[RunOptions, Configuration]:
    home, project = root / "home", root / "p"
    files = {
        "user": home / ".forge/settings.json",
        "project": project / ".forge/settings.json",
        "local": project / ".forge/settings.local.json",
    }
    project.mkdir(exist_ok=True)
    if scope:
        files[scope].parent.mkdir(parents=True, exist_ok=True)
        files[scope].write_text(json.dumps({"forgecmd": own}))
    o = RunOptions(**options)
    return o, load_configuration(o, {"HOME": str(home), "PATH": "/bin"}, str(project))


@pytest.mark.requirement("S2-46", "S2-19")
@pytest.mark.parametrize(
    ("scope", "own", "mode", "tools"),
    [
        ("", None, "guard", False),
        ("user", {"mode": "full"}, "full", True),
        ("user", {"mode": "off"}, "off", False),
        ("local", {"mode": "off"}, "off", False),
        ("project", {"mode": "off"}, "guard", False),
        ("project", {"rules": {"deny": [{"pattern": "x"}]}}, "guard", False),
        ("user", {"riskThresholds": {"block": 7}}, "full", True),
    ],
)
def test_a_cloned_repository_does_not_choose_how_commands_are_guarded(
    tmp_path: Path, scope: str, own: Any, mode: str, tools: bool
) -> None:
    o, c = configuration(tmp_path, scope, own)
    assert (guard_setup(o, c).mode, has_guarded_tools(o, c)) == (mode, tools)


def test_state_is_kept_in_the_directory_of_the_program(tmp_path: Path) -> None:
    o, c = configuration(tmp_path)
    state = str(tmp_path / "home/.forge/forgecmd")
    assert guard_setup(o, c) == Setup("guard", (), f"{state}/history.db", f"{state}/trash")


@pytest.mark.parametrize(
    ("own", "options"),
    [({"mode": "off"}, {}), ({"history": False}, {}), ({}, {"no_session_persistence": True})],
)
def test_there_is_no_history_where_none_is_wanted(tmp_path: Path, own: Any, options: dict[str, Any]) -> None:
    o, c = configuration(tmp_path, "user", own, **options)
    assert guard_setup(o, c).history == ""


@pytest.mark.parametrize(
    "own", [[], {"rules": {"allow": [{"pattern": "bash *"}]}}, {"riskThresholds": {"x": 1}}, {"mode": "on"}]
)
def test_settings_that_make_no_sense_stop_the_start(tmp_path: Path, own: Any) -> None:
    with pytest.raises(ConfigError, match=r"settings\.json: forgecmd"):
        guard_setup(*configuration(tmp_path, "user", own))


def test_the_tools_can_be_asked_for_by_name(tmp_path: Path) -> None:
    assert has_guarded_tools(*configuration(tmp_path, tools=["Bash,forgecmd"]))


def test_changed_settings_are_taken_over_and_what_the_user_said_stays(tmp_path: Path) -> None:
    host = RecordingHost()
    s = session(ScriptedModel([]), host, [])
    give_guard(s, *configuration(tmp_path))
    guard = s.keep(Guard)
    memory = guard.judging().memory
    rules = {"rules": {"deny": [{"pattern": "make *"}]}}
    change_guard(s, *configuration(tmp_path, "user", rules))
    assert (guard.mode, guard.judging().memory is memory) == ("full", True)
    assert guard.setup.sources == (Source(str(tmp_path / "home/.forge/settings.json"), rules),)
    change_guard(s, *configuration(tmp_path, "user", {"mode": "on"}))
    assert (guard.mode, len(host.of(Warned))) == ("full", 1)


def test_what_is_old_is_removed(tmp_path: Path) -> None:
    state = tmp_path / "forgecmd"
    with closing(History(str(state / "history.db"), clock=lambda: 1.0)) as history:
        history.begin(Begun("s", "ls", "/", 0))
    (state / "trash").mkdir()
    tidy_up(str(tmp_path))
    with closing(History(str(state / "history.db"))) as history:
        assert history._connection.execute("SELECT count(*) FROM forgecmd_history").fetchone() == (0,)
