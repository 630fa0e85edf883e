from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.event import HookEnded, HookStarted
from forge.core.components.catalog import Catalog, Contribution
from forge.core.components.kinds import HookSource
from forge.foundation.origin import Origin, Scope
from forge.foundation.paths import find_places
from forge.foundation.trust import trust
from forge.hosts.configuration import load_configuration
from forge.hosts.hook_sources import plugin_hooks, session_hooks
from forge.hosts.options import RunOptions


def saying(word: str) -> dict[str, Any]:
    return {"SessionStart": [{"hooks": [{"type": "command", "command": f"echo {word}"}]}]}


@pytest.mark.requirement("S1-27")
def test_hooks_of_user_project_and_plugins_add_up_in_this_order(tmp_path: Path, home: Path) -> None:
    for folder, name in ((home / ".claude", "user"), (tmp_path / ".claude", "project")):
        folder.mkdir()
        (folder / "settings.json").write_text(json.dumps({"hooks": saying(name)}))
    c = load_configuration(RunOptions(), {"HOME": str(home), "PATH": "/usr/bin:/bin"}, str(tmp_path))
    engine = session_hooks(c, bare=False)
    catalog = Catalog()
    catalog.add(Contribution(hooks=[HookSource(Origin(Scope.PLUGIN), saying("plugin"))]))
    plugin_hooks(engine, c, catalog)
    host = RecordingHost()
    engine.session = session(ScriptedModel([]), host, [], hooks=engine, cwd=str(tmp_path))
    asyncio.run(engine.fire("SessionStart", source="startup"))
    said = {event.id: event.stdout for event in host.of(HookEnded)}
    assert [said[event.id] for event in host.of(HookStarted)] == ["user\n", "project\n", "plugin\n"]


@pytest.mark.requirement("S0-51")
@pytest.mark.parametrize("trusted", [True, False])
def test_files_of_hooks_beside_the_settings_count_where_they_are_trusted(
    trusted: bool, tmp_path: Path, home: Path
) -> None:
    for path, content in (
        (tmp_path / ".claude/hooks/hooks.json", {"hooks": saying("project")}),
        (tmp_path / ".forge/hooks.json", saying("bare")),
        (home / ".forge/hooks.json", {"description": "d", **saying("user")}),
        (home / ".claude/hooks/hooks.json", []),
    ):
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(content))
    env = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    if trusted:
        trust(find_places(env, str(tmp_path)))
    c = load_configuration(RunOptions(), env, str(tmp_path))
    found = [hook.label for hook in session_hooks(c, bare=False).hooks("SessionStart")]
    assert found == ["echo user", *(["echo project", "echo bare"] if trusted else [])]
