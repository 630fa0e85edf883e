from __future__ import annotations

import pytest

from doubles import RecordingHost, ScriptedModel, echo, session, tool
from forge.agent.mcp.servers import Servers
from forge.agent.skills.rights import decide_call
from forge.core.message import ToolUse
from forge.core.tool import Remote


@pytest.mark.parametrize(
    ("tightened", "mode", "verdict"),
    [
        ("", "bypassPermissions", "allow"),
        ("srv", "bypassPermissions", "ask"),
        ("other", "bypassPermissions", "allow"),
        ("srv", "acceptEdits", "ask"),
    ],
)
def test_calls_of_a_server_the_host_has_tightened_are_asked_about(
    tightened: str, mode: str, verdict: str
) -> None:
    look = tool("mcp__srv__look", echo, remote=Remote("srv", "sdk", "look"))
    s = session(ScriptedModel([]), RecordingHost(), [look], rules=[])
    s.situation = s.situation.changed(mode=mode)
    s.keep(Servers).tightened |= {tightened} if tightened else set()
    assert decide_call(s, ToolUse("c1", look.name, {}), look.name).verdict == verdict
