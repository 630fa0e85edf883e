from __future__ import annotations

import asyncio
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, call, session, tool
from forge.agent.event import ToolFinished
from forge.agent.loop import run_turn
from forge.agent.session import Prompt
from forge.agent.texts.load import text
from forge.core.tool import Remote, Tool, ToolContext, ToolOutput


def bash(log: list[str]) -> Tool:
    async def run(given: dict[str, Any], context: ToolContext) -> ToolOutput:
        log.append(f"+{given['command']}")
        for _ in range(5):
            await asyncio.sleep(0)
        log.append(f"-{given['command']}")
        return ToolOutput("")

    return tool("Bash", run, schema={"type": "object", "properties": {"command": {"type": "string"}}})


@pytest.mark.parametrize("read_only", [True, False])
def test_tools_of_servers_run_side_by_side_if_they_only_look(read_only: bool) -> None:
    together: list[int] = []
    running: list[str] = []

    async def look(given: dict[str, Any], context: ToolContext) -> ToolOutput:
        running.append("")
        for _ in range(5):
            await asyncio.sleep(0)
        together.append(len(running))
        running.pop()
        return ToolOutput("")

    remote = Remote("srv", "sdk", "look")
    model = ScriptedModel([[call("mcp__srv__look", "a"), call("mcp__srv__look", "b")]])
    tools = [tool("mcp__srv__look", look, remote=remote, read_only=read_only)]
    s = session(model, RecordingHost(), tools, mode="bypassPermissions")
    asyncio.run(run_turn(s, Prompt("go", "u1")))
    assert max(together) == (2 if read_only else 1)


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        (["cat a", "ls"], ["+cat a", "+ls", "-cat a", "-ls"]),
        (["mkdir d", "ls d"], ["+mkdir d", "-mkdir d", "+ls d", "-ls d"]),
        (["cat a", "touch b", "ls"], ["+cat a", "-cat a", "+touch b", "-touch b", "+ls", "-ls"]),
    ],
)
def test_only_commands_that_change_nothing_run_beside_others(
    commands: list[str], expected: list[str]
) -> None:
    log: list[str] = []
    model = ScriptedModel([[call("Bash", str(n), command=command) for n, command in enumerate(commands)]])
    s = session(model, RecordingHost(), [bash(log)], mode="bypassPermissions")
    asyncio.run(run_turn(s, Prompt("go", "u1")))
    assert log == expected


def test_a_call_that_was_never_begun_is_told_so_when_the_turn_is_interrupted() -> None:
    host, begun = RecordingHost(), asyncio.Event()

    async def wait(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        begun.set()
        await asyncio.Event().wait()
        return ToolOutput("")

    s = session(
        ScriptedModel([[call("Wait", "a"), call("Wait", "b")]]), host, [tool("Wait", wait, alone=True)]
    )

    async def main() -> None:
        turn = asyncio.ensure_future(s.run(lambda: run_turn(s, Prompt("go", "u1"))))
        await begun.wait()
        s.interrupt()
        await turn

    asyncio.run(main())
    told = {f.call.id: f.result.content for f in host.of(ToolFinished)}
    assert told == {"a": text("interrupted"), "b": text("not_run")}
