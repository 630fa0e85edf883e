from __future__ import annotations

import asyncio
import json
import os
import sys
import sysconfig
from pathlib import Path
from typing import Any

import msgspec
import pytest

from doubles import RecordingHost, ScriptedModel, call
from forge.agent.drive import Patience, drive
from forge.agent.event import Warned
from forge.agent.plugins.diagnostics import Languages, end_languages
from forge.agent.session import Prompt, Session
from forge.core.components.catalog import Contribution
from forge.core.components.kinds import LspServer, PluginRoot
from forge.core.message import Block, Text
from forge.core.registry import Component
from forge.core.tools.builtin import builtin_tools
from forge.foundation.origin import Origin, Scope
from house.source import ROOT
from unit.agent.casting import Cast, build, task

TY = LspServer(os.path.join(sysconfig.get_path("scripts"), "ty"), {".py": "python"}, args=["server"])
SCRIPT = "${CLAUDE_PLUGIN_ROOT}/language_server.py"
ORIGIN = Origin(Scope.PLUGIN, "", "p")
HEADER = "<system-reminder>\n<new-diagnostics>The following new diagnostic issues were detected:\n\n"


def fake(mode: str, log: str = "", **facts: Any) -> LspServer:
    """The server of the tests as a plugin would bring it."""
    plugin = PluginRoot("p@x", "p", str(ROOT / "tests"), f"{os.path.dirname(log)}/data" if log else "")
    return LspServer(
        sys.executable, {".py": "python"}, args=["-I", "-S", SCRIPT, mode, log], plugin=plugin, **facts
    )


def make(model: Any, tmp_path: Path, *servers: LspServer, **facts: Any) -> Session:
    tools = [tool for tool in builtin_tools() if tool.name in ("Write", "Edit", "Read")]
    s = build(model, RecordingHost(), tools=tools, rules=[], cwd=str(tmp_path), **facts)
    s.situation = s.situation.changed(mode="bypassPermissions")
    s.parts = msgspec.structs.replace(s.parts, env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    components = [Component(f"plugin:p:{n}", server, ORIGIN) for n, server in enumerate(servers)]
    s.parts.catalog.add(Contribution(languages=components))
    return s


def play(s: Session) -> None:
    async def run() -> None:
        try:
            async with asyncio.timeout(60):
                await drive(s, Prompt("MAIN", "prompt-1"), Patience(5.0, 0.0))
        finally:
            await end_languages(s)

    asyncio.run(run())


def write(path: Path, content: str, identity: str = "call-1") -> Block:
    return call("Write", identity, file_path=str(path), content=content)


def told(model: ScriptedModel, number: int) -> list[str]:
    """The texts behind the results in the last message of a request."""
    return [b.text for b in model.requests[number].messages[-1].blocks if isinstance(b, Text)]


@pytest.mark.requirement("S0-45")
def test_what_a_real_server_finds_in_an_edited_file_comes_with_the_next_request(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    edit = call("Edit", "call-2", file_path=str(file), old_string="= nothing", new_string="= 1")
    model = ScriptedModel([[write(file, "x = nothing\n")], [edit], [Text("done")]])
    s = make(model, tmp_path, TY)
    s.keep(Languages).patience = 30.0
    play(s)
    assert told(model, 1) == [
        f"{HEADER}m.py:\n  ✘ [Line 1:5] Name `nothing` used when not defined [unresolved-reference] (ty)"
        "</new-diagnostics>\n</system-reminder>"
    ]
    assert told(model, 2) == []


def test_variables_are_replaced_and_the_plugins_environment_is_set(tmp_path: Path) -> None:
    log = tmp_path / "log"
    script = 'echo "$CLAUDE_PLUGIN_ROOT|$CLAUDE_PROJECT_DIR|$CLAUDE_PLUGIN_DATA|$MINE|$1" > "$2"; exit 1'
    server = msgspec.structs.replace(
        fake("good", str(log)),
        command="sh",
        args=["-c", script, "sh", "${user_config.word}", str(log)],
        env={"MINE": "${CLAUDE_PLUGIN_ROOT}/x"},
    )
    assert server.plugin is not None
    plugin = msgspec.structs.replace(server.plugin, options={"word": "secret"})
    server = msgspec.structs.replace(server, plugin=plugin)
    play(make(ScriptedModel([[write(tmp_path / "m.py", "x")]]), tmp_path, server))
    root = ROOT / "tests"
    assert log.read_text() == f"{root}|{tmp_path}|{tmp_path}/data|{root}/x|secret\n"
    assert (tmp_path / "data").is_dir()


def test_a_crash_is_reported_once_and_the_next_edit_starts_the_server_again(tmp_path: Path) -> None:
    turns = [[write(tmp_path / f"{n}.py", "bad", f"c{n}")] for n in range(3)]
    model = ScriptedModel([*turns, [Text("done")]])
    s = make(model, tmp_path, fake("once", str(tmp_path / "log")))
    play(s)
    assert isinstance(s.host, RecordingHost)
    assert [w.text for w in s.host.of(Warned)] == [
        "Language server: plugin:p:0: it has ended; its last words: I cannot go on"
    ]
    assert [len(told(model, n)) for n in (1, 2, 3)] == [0, 1, 1]


@pytest.mark.parametrize("mode", ["hang", "mute"])
def test_a_server_that_says_nothing_is_waited_for_only_once(tmp_path: Path, mode: str) -> None:
    sessions: list[Session] = []

    async def write_again() -> list[Block]:
        # Another wait would take longer than the test may.
        sessions[0].keep(Languages).patience = 60.0
        return [write(tmp_path / "b.py", "bad", "c2")]

    model = ScriptedModel([[write(tmp_path / "a.py", "bad", "c1")], write_again, [Text("done")]])
    sessions.append(make(model, tmp_path, fake(mode)))
    sessions[0].keep(Languages).patience = 0.05
    play(sessions[0])
    assert len(model.requests) == 3


def test_findings_that_come_too_late_are_told_with_a_later_request(tmp_path: Path) -> None:
    s_late: list[Session] = []

    async def settle() -> list[Block]:
        await asyncio.gather(*s_late[0].keep(Languages).looking)
        return [call("Read", "c2", file_path=str(tmp_path / "m.py"))]

    model = ScriptedModel([[write(tmp_path / "m.py", "bad")], settle, [Text("done")]])
    s = make(model, tmp_path, fake("good"))
    s_late.append(s)
    s.keep(Languages).patience = 0.0
    play(s)
    assert [told(model, 1), len(told(model, 2))] == [[], 1]


def test_a_sub_agent_hears_of_its_own_edits_and_the_main_conversation_does_not(tmp_path: Path) -> None:
    file = tmp_path / "m.py"
    model = Cast(MAIN=[[task("CHILD")], [Text("done")]], CHILD=[[write(file, "bad")], [Text("done")]])
    play(make(model, tmp_path, fake("good")))
    child, main = model.roles["CHILD"], model.roles["MAIN"]
    assert told(child, 1) == [f"{HEADER}m.py:\n  ✘ [Line 1:1] bad</new-diagnostics>\n</system-reminder>"]
    assert told(main, 1) == []


def test_the_transcript_keeps_the_findings_as_the_reference_does(tmp_path: Path) -> None:
    transcript = tmp_path / "session.jsonl"
    file = tmp_path / "m.py"
    s = make(ScriptedModel([[write(file, " bad")]]), tmp_path, fake("good"), transcript=str(transcript))
    play(s)
    s.recorder.close()
    records = [json.loads(line) for line in transcript.read_text().splitlines()]
    (kept,) = [r for r in records if r["type"] == "attachment"]
    place = {"start": {"line": 0, "character": 1}, "end": {"line": 0, "character": 0}}
    found = {"message": " bad", "severity": "Error", "range": place}
    assert kept["attachment"] == {
        "type": "diagnostics",
        "files": [{"uri": str(file), "diagnostics": [found]}],
        "isNew": True,
    }
    assert kept["rendered"][0]["content"].startswith("<system-reminder>\n<new-diagnostics>")


def test_a_run_that_wants_no_servers_starts_none(tmp_path: Path) -> None:
    log = tmp_path / "log"
    model = ScriptedModel([[write(tmp_path / "m.py", "bad")], [Text("done")]])
    s = make(model, tmp_path, fake("good", str(log)))
    s.keep(Languages).off = True
    play(s)
    assert (told(model, 1), log.exists()) == ([], False)


def test_failed_edits_and_other_files_start_no_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    wrong = call("Edit", "c1", file_path=str(tmp_path / "no.py"), old_string="a", new_string="b")
    model = ScriptedModel([[wrong, write(tmp_path / "a.txt", "bad", "c2")], [Text("done")]])
    play(make(model, tmp_path, fake("good", str(log))))
    assert log.exists() is False


def test_servers_that_come_while_the_session_runs_are_used(tmp_path: Path) -> None:
    sessions: list[Session] = []

    async def plug() -> list[Block]:
        component = Component("plugin:q:new", fake("good"), ORIGIN)
        sessions[0].parts.catalog.add(Contribution(languages=[component]))
        return [write(tmp_path / "m.py", "bad")]

    model = ScriptedModel([plug, [Text("done")]])
    sessions.append(make(model, tmp_path))
    play(sessions[0])
    assert len(told(model, 1)) == 1
