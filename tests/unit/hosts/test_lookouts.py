from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.hooks.lending import bind_hooks
from forge.agent.lookout import Lookout, Watcher, look_out, stop_looking
from forge.agent.session import Session
from forge.agent.watching import Watching
from forge.hosts.configuration import load_configuration, situation
from forge.hosts.hook_sources import session_hooks
from forge.hosts.lookouts import Holder, prepare_lookout
from forge.hosts.options import RunOptions

LOG = {"type": "command", "command": "cat >> $CLAUDE_PROJECT_DIR/told.log"}


def prepared(top: Path, settings: dict[str, Any], **options: Any) -> Session:
    """A session in `top`/p that may watch."""
    file = top / "p/.claude/settings.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(settings))
    o, env = RunOptions(**options), {"HOME": str(top / "home"), "PATH": "/usr/bin:/bin"}
    c = load_configuration(o, env, str(top / "p"))
    hooks = session_hooks(c, bare=o.bare)
    s = session(ScriptedModel([]), RecordingHost(), [], hooks=hooks, results_dir=str(top))
    s.situation = situation(c, "session-1", deny_instead=False)
    bind_hooks(s)
    prepare_lookout(s, o, env, Holder(c))
    return s


def kinds(s: Session, *paths: str) -> str:
    """What watches after the start of the session."""

    async def started() -> Watcher | None:
        look_out(s, list(paths))
        watcher = s.keep(Lookout).watcher
        await stop_looking(s)
        return watcher

    watcher = asyncio.run(started())
    return type(watcher).__name__


@pytest.mark.parametrize(
    ("event", "paths", "facts", "expected"),
    [
        ("FileChanged", [], {}, "Watching"),
        ("ConfigChange", [], {}, "Watching"),
        ("Stop", ["/x"], {}, "Watching"),
        ("Stop", [], {}, "_Later"),
        ("ConfigChange", [], {"bare": True}, "NoneType"),
    ],
)
def test_only_what_is_needed_is_watched(
    tmp_path: Path, event: str, paths: list[str], facts: dict[str, Any], expected: str
) -> None:
    s = prepared(tmp_path, {"hooks": {event: [{"hooks": [LOG]}]}}, **facts)
    assert kinds(s, *paths) == expected


def test_a_watcher_that_waits_begins_when_a_hook_names_a_file(tmp_path: Path) -> None:
    async def played() -> tuple[str, bool]:
        s = prepared(tmp_path, {"hooks": {"FileChanged": []}})
        look_out(s, [])
        watcher = s.keep(Lookout).watcher
        assert watcher is not None
        watcher.moved()
        look_out(s, [str(tmp_path / "x")])
        real = getattr(watcher, "_real", None)
        await stop_looking(s)
        return type(watcher).__name__, isinstance(real, Watching)

    assert asyncio.run(played()) == ("_Later", True)
