from __future__ import annotations

import asyncio
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from forge.agent.event import HookEnded, HookSaid, HookStarted
from forge.agent.hooks.engine import Engine
from forge.agent.hooks.port import NOTHING, Outcome, Told
from forge.core.components.kinds import HookSource, PluginRoot
from forge.core.shell.exports import Exports
from forge.foundation.origin import Origin, Scope
from unit.agent.hooks.making import PROJECT, engine, one, seated, specific

CALL: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "call-1"}


def fire(made: Engine, cwd: Path, event: str = "PreToolUse", **payload: Any) -> tuple[Outcome, list[Any]]:
    s, host = seated(made, str(cwd))

    async def fired() -> Outcome:
        outcome = await made.fire(event, **(payload or CALL))
        await made.close()
        return outcome

    outcome = asyncio.run(fired())
    assert s.hooks is made
    return outcome, host.events


def say(value: Any) -> str:
    return f"printf '%s' '{json.dumps(value)}'"


def test_an_event_without_hooks_costs_nothing_and_means_nothing(tmp_path: Path) -> None:
    assert fire(engine({}), tmp_path) == (NOTHING, [])


@pytest.mark.requirement("S0-40", "S0-38")
def test_a_hook_reads_the_payload_and_denies_the_call(tmp_path: Path) -> None:
    denial = specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="no")
    outcome, events = fire(engine(one("PreToolUse", f"cat > got.json; {say(denial)}")), tmp_path)
    assert (outcome.verdict, outcome.reason) == ("deny", "no")
    payload = json.loads((tmp_path / "got.json").read_text())
    assert payload == {
        "session_id": "session-1",
        "transcript_path": "",
        "cwd": str(tmp_path),
        "permission_mode": "default",
        "hook_event_name": "PreToolUse",
        **CALL,
    }
    kinds = [type(event) for event in events]
    assert kinds == [HookStarted, HookEnded]


@pytest.mark.requirement("S1-28")
def test_equal_hooks_of_several_files_run_once_with_the_fields_of_the_last(tmp_path: Path) -> None:
    made = engine(one("PreToolUse", "echo x >> ran", timeout=20))
    made.add(HookSource(Origin(Scope.LOCAL), one("PreToolUse", "echo x >> ran", matcher="Bash")))
    made.add(HookSource(Origin(Scope.FLAG), one("PreToolUse", "echo x >> ran", **{"if": "Bash(ls)"})))
    fire(made, tmp_path)
    assert (tmp_path / "ran").read_text() == "x\nx\n"


@pytest.mark.requirement("S1-32")
def test_hooks_come_and_go(tmp_path: Path) -> None:
    made = engine({})
    remove = made.add(HookSource(PROJECT, one("PreToolUse", "exit 2")))
    assert fire(made, tmp_path)[0].verdict == "deny"
    remove()
    assert fire(made, tmp_path)[0] is NOTHING


@pytest.mark.requirement("S1-91")
def test_contexts_of_an_event_are_one_text_for_the_model(tmp_path: Path) -> None:
    said = [specific("PreToolUse", additionalContext=c) for c in ("one", "two")]
    handlers = [{"type": "command", "command": f"sleep 0.{n * 2}; {say(v)}"} for n, v in enumerate(said)]
    outcome, _ = fire(engine({"PreToolUse": [{"hooks": handlers}]}), tmp_path)
    assert outcome.told == [
        Told(
            "hook_additional_context",
            "PreToolUse:Bash hook additional context: one\ntwo",
            {
                "hookName": "PreToolUse:Bash",
                "toolUseID": "call-1",
                "hookEvent": "PreToolUse",
                "content": ["one", "two"],
            },
        )
    ]


def test_a_context_that_is_too_long_is_kept_in_a_file(tmp_path: Path) -> None:
    outcome, _ = fire(
        engine(one("UserPromptSubmit", "head -c 12000 /dev/zero | tr '\\0' y")),
        tmp_path,
        "UserPromptSubmit",
        prompt="go",
    )
    (told,) = outcome.told
    (kept,) = (tmp_path / "results").iterdir()
    assert kept.read_text() == "y" * 12_000
    assert told.text == (
        "UserPromptSubmit hook success: <persisted-output>\n"
        f"Output too large (11.7KB). Full output saved to: {kept}\n\n"
        f"Preview (first 2KB):\n{'y' * 2000}\n...\n</persisted-output>"
    )


def test_a_hook_without_a_verdict_is_reported(tmp_path: Path) -> None:
    _, events = fire(engine(one("PreToolUse", "/nonexistent/x")), tmp_path)
    assert events[-1] == HookSaid(
        "A hook gave no usable answer, so it didn't check this action.",
        "warning",
        {
            "tag": "hook_no_verdict",
            "hook_no_verdict": {"hook_event": "PreToolUse", "tool_use_id": "call-1", "timed_out": False},
        },
    )


def test_every_line_of_a_message_to_the_user_says_whose_it_is(tmp_path: Path) -> None:
    _, events = fire(engine(one("PreToolUse", say({"systemMessage": "a\nb"}))), tmp_path)
    assert events[-1] == HookSaid("PreToolUse:Bash says: a\nPreToolUse:Bash says: b", "notice")


@pytest.mark.requirement("S1-31", "S0-32")
@pytest.mark.parametrize("key", ["async", "async_exec"])
def test_a_hook_in_the_background_is_not_waited_for_and_its_texts_come_later(
    key: str, tmp_path: Path
) -> None:
    said = {"systemMessage": "first"} | specific("PreToolUse", additionalContext="second")
    made = engine(
        one("PreToolUse", f"while [ ! -e go ]; do sleep 0.02; done; {say(said)}; exit 2", **{key: True})
    )
    _, host = seated(made, str(tmp_path))

    async def fired() -> tuple[Outcome, list[str]]:
        outcome = await made.fire("PreToolUse", **CALL)
        assert host.of(HookEnded) == []
        (tmp_path / "go").touch()
        while not made.late:
            await asyncio.sleep(0.01)
        return outcome, made.take_late()

    outcome, late = asyncio.run(asyncio.wait_for(fired(), 10))
    assert (outcome.verdict, late) == ("", ["first\nsecond"])
    assert [json.loads(e.stdout) for e in host.of(HookEnded)] == [said]


def test_a_hook_still_in_the_background_at_the_end_is_stopped(tmp_path: Path) -> None:
    made = engine(one("PreToolUse", "echo $$ > new; mv new self; sleep 60", **{"async": True}))
    seated(made, str(tmp_path))

    async def fired() -> None:
        await made.fire("PreToolUse", **CALL)
        while not (tmp_path / "self").is_file():
            await asyncio.sleep(0.01)
        await made.close()

    asyncio.run(asyncio.wait_for(fired(), 10))
    assert not Path(f"/proc/{int((tmp_path / 'self').read_text())}").exists()


@pytest.mark.requirement("S1-146")
def test_ten_hooks_that_do_nothing_run_side_by_side_and_cost_little(tmp_path: Path) -> None:
    handlers = [{"type": "command", "command": f"true {number}"} for number in range(10)]
    before = os.times()
    _, events = fire(engine({"PreToolUse": [{"hooks": handlers}]}), tmp_path)
    # CPU time of the hooks included; the clock on the wall depends on who else is at work.
    spent = sum(now - then for now, then in zip(os.times()[:4], before[:4], strict=True))
    assert [type(event) for event in events] == [HookStarted] * 10 + [HookEnded] * 10
    assert spent < 0.5


@pytest.mark.requirement("S1-33")
def test_once_counts_for_skills_and_after_a_success(tmp_path: Path) -> None:
    made = engine({})
    command = "echo x >> ran; [ $(wc -l < ran) -gt 1 ]"
    source = HookSource(Origin(Scope.PROJECT), one("PreToolUse", command, once=True), base=str(tmp_path))
    made.add(source)
    for _ in range(4):
        fire(made, tmp_path)
    assert (tmp_path / "ran").read_text() == "x\nx\n"


def test_hooks_of_an_agent_run_for_that_agent_only(tmp_path: Path) -> None:
    made = engine({})
    made.add(HookSource(PROJECT, one("PreToolUse", "exit 2")), agent_id="a1")
    assert fire(made, tmp_path)[0] is NOTHING
    assert fire(made, tmp_path, **CALL, agent_id="a2", agent_type="x")[0] is NOTHING
    assert fire(made, tmp_path, **CALL, agent_id="a1", agent_type="x")[0].verdict == "deny"


@pytest.mark.requirement("S1-49")
def test_exports_of_a_hook_reach_later_commands(tmp_path: Path) -> None:
    made = engine(
        one("SessionStart", 'echo "export A=1" >> "$CLAUDE_ENV_FILE"'), config_dir=str(tmp_path / "c")
    )
    s, _ = seated(made, str(tmp_path))
    asyncio.run(made.fire("SessionStart", source="startup"))
    path = tmp_path / "c" / "session-env" / "session-1" / "sessionstart-hook-0.sh"
    assert (path.read_text(), s.keep(Exports).prelude()) == ("export A=1\n", f". '{path}'; ")


@pytest.mark.requirement("S0-39")
def test_both_families_of_variables_are_set(tmp_path: Path) -> None:
    names = "PROJECT_DIR PLUGIN_ROOT PID"
    command = f"for n in {names}; do eval echo \\$CLAUDE_$n=\\$FORGE_$n; done > seen"
    made = engine({}, project_dir="/p")
    made.add(HookSource(PROJECT, one("PreToolUse", command), base="/skill"))
    fire(made, tmp_path)
    rows = [line.split("=") for line in (tmp_path / "seen").read_text().split()]
    assert rows[:2] == [["/p", "/p"], ["/skill", "/skill"]]
    assert rows[2][0] == rows[2][1] != ""


@pytest.mark.parametrize(
    ("event", "fields"),
    [
        ("SessionStart", {"type": "prompt", "prompt": "x"}),
        ("Setup", {"type": "agent", "prompt": "x"}),
    ],
)
def test_a_type_an_event_does_not_support_fails_clearly(
    event: str, fields: dict[str, Any], tmp_path: Path
) -> None:
    payload = {"source": "startup"} if event == "SessionStart" else {"trigger": "init"}
    outcome, _ = fire(engine({event: [{"hooks": [fields]}]}), tmp_path, event, **payload)
    ((_, why),) = outcome.failures
    assert why == (
        f"Failed to run: {fields['type']}-type hooks are not supported for {event} events"
        " (no conversation context is available). Use a command-type hook instead."
    )


def test_a_tool_of_a_server_that_is_not_connected_fails_clearly(tmp_path: Path) -> None:
    made = engine({"PreToolUse": [{"hooks": [{"type": "mcp_tool", "server": "s", "tool": "t"}]}]})
    outcome, _ = fire(made, tmp_path)
    assert (outcome.verdict, outcome.failures) == ("", [("s/t", "MCP server 's' not connected")])


@pytest.mark.requirement("S1-26")
def test_a_tool_of_a_server_answers_like_a_command(tmp_path: Path) -> None:
    asked: list[Any] = []

    async def call_tool(server: str, tool: str, given: dict[str, Any]) -> str:
        asked.append((server, tool, given))
        return json.dumps(specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="r"))

    handler = {
        "type": "mcp_tool",
        "server": "s",
        "tool": "t",
        "input": {"a": ["${tool_input.command}", "${x}"]},
    }
    outcome, _ = fire(engine({"PreToolUse": [{"hooks": [handler]}]}, call_tool=call_tool), tmp_path)
    assert (outcome.reason, asked) == ("r", [("s", "t", {"a": ["ls", "${x}"]})])


def test_what_a_hook_leaves_running_ends_with_the_session(tmp_path: Path) -> None:
    made = engine(one("PreToolUse", "sleep 60 & exit 0"))
    fire(made, tmp_path)
    assert len(made.left) == 1

    async def gone() -> None:
        while made.left[0].outlived():
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(gone(), 5))


@pytest.mark.requirement("S0-14")
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_script_of_a_plugin_runs_in_node_and_knows_its_plugin(tmp_path: Path) -> None:
    plugin = PluginRoot("p@inline", "p", str(tmp_path), str(tmp_path / "data"))
    (tmp_path / "hook.js").write_text("console.error(process.env.CLAUDE_PLUGIN_ROOT); process.exit(2)")
    made = Engine()
    made.add(HookSource(PROJECT, one("PreToolUse", 'node "${CLAUDE_PLUGIN_ROOT}/hook.js"'), plugin))
    outcome, _ = fire(made, tmp_path)
    assert (outcome.verdict, str(tmp_path) in outcome.reason) == ("deny", True)
