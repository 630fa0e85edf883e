from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, Turn, allow, call, deny, echo, session, tool
from forge.agent.background import Background
from forge.agent.compact import compact
from forge.agent.event import ApiFailed, Denied, HookSaid, LocalOutput, ToolFinished, TurnEnded
from forge.agent.hooks.compaction import Blocked
from forge.agent.hooks.port import NOTHING, Block, Outcome, Told
from forge.agent.hooks.sites import as_permitted, suggestions
from forge.agent.loop import run_turn
from forge.agent.session import Prompt, Session
from forge.core.agenda import Agenda
from forge.core.message import Aside, Message, Text, ToolResult
from forge.core.tool import ToolContext, ToolOutput
from forge.foundation.errors import Answer, ModelError
from forge.foundation.permissions.situation import Decision
from unit.agent.hooks.making import engine, seated


class Scripted:
    """Hooks that give one answer per event, or one after the other, and note what they were told."""

    def __init__(self, **outcomes: Outcome | list[Outcome]) -> None:
        self.outcomes = outcomes
        self.payloads: list[tuple[str, dict[str, Any]]] = []

    async def fire(self, event: str, **payload: Any) -> Outcome:
        self.payloads.append((event, payload))
        given = self.outcomes.get(event, NOTHING)
        return given.pop(0) if isinstance(given, list) else given

    def told(self, event: str) -> dict[str, Any]:
        return next(payload for name, payload in self.payloads if name == event)


def play(
    hooks: Scripted, *turns: Turn, rules: list[Any] | None = None
) -> tuple[Session, RecordingHost, TurnEnded]:
    host = RecordingHost()
    script = list(turns) or [[call("Echo", text="x")], [Text("done")]]
    s = session(ScriptedModel(script), host, [tool("Echo", echo)], hooks=hooks, rules=rules)
    return s, host, asyncio.run(run_turn(s, Prompt("go", "prompt-1")))


def result(host: RecordingHost) -> ToolResult:
    finished: ToolFinished = host.of(ToolFinished)[0]
    return finished.result


AGAIN = Outcome(retry=True)
RETRIES = [
    ([Outcome("allow")], 1, "echo x"),
    ([AGAIN, Outcome("allow")], 2, "echo x"),
    ([AGAIN, Outcome("deny", "no")], 2, "no"),
    ([AGAIN, AGAIN], 2, ""),
]


@pytest.mark.requirement("S1-95", "S1-101")
def test_a_request_for_permission_comes_with_suggestions() -> None:
    hooks = Scripted()
    play(hooks, rules=[])
    asked = hooks.told("PermissionRequest")
    assert list(asked) == ["tool_name", "tool_input", "permission_suggestions"]
    assert hooks.told("PreToolUse")["tool_use_id"] == "call-1"


@pytest.mark.requirement("S1-98")
def test_a_permission_given_by_a_hook_is_remembered() -> None:
    update = {
        "type": "addRules",
        "rules": [{"toolName": "Echo"}],
        "behavior": "allow",
        "destination": "session",
    }
    hooks = Scripted(PermissionRequest=Outcome("allow", updated_permissions=[update]))
    calls: list[Turn] = [[call("Echo", "c1", text="x")], [call("Echo", "c2", text="y")], [Text("done")]]
    _, host, _ = play(hooks, *calls, rules=[])
    assert [e.result.content for e in host.of(ToolFinished)] == ["echo x", "echo y"]
    assert [name for name, _ in hooks.payloads].count("PermissionRequest") == 1


@pytest.mark.requirement("S1-97")
def test_a_hook_that_denies_may_interrupt_everything() -> None:
    hooks = Scripted(PermissionRequest=Outcome("deny", "no", interrupt=True))
    host = RecordingHost()
    s = session(ScriptedModel([[call("Echo")]]), host, [tool("Echo", echo)], hooks=hooks, rules=[])
    ended = asyncio.run(s.run(lambda: run_turn(s, Prompt("go", "p"))))
    assert (ended.subtype, ended.terminal_reason) == ("error_during_execution", "aborted_tools")
    assert [(d.message, d.reason_type, d.reason) for d in host.of(Denied)] == [("no", "hook", "no")]


@pytest.mark.requirement("S1-96")
@pytest.mark.parametrize(("answers", "count", "content"), RETRIES)
def test_a_hook_may_ask_to_be_asked_once_more(answers: list[Outcome], count: int, content: str) -> None:
    hooks = Scripted(PermissionRequest=answers)
    _, host, _ = play(hooks, rules=[])
    asked = [name for name, _ in hooks.payloads].count("PermissionRequest")
    assert (asked, str(result(host).content)[: len(content)]) == (count, content)


ORDER = [
    ("allow", [], None, "echo x"),
    ("allow", deny("Echo"), True, None),
    ("ask", allow("Echo"), True, "because"),
    ("deny", allow("Echo"), True, "PreToolUse:Echo hook error: because"),
]


@pytest.mark.requirement("S1-99", "S0-40", "S1-52")
@pytest.mark.parametrize(("verdict", "rules", "is_error", "content"), ORDER)
def test_verdicts_of_hooks_meet_the_rules_in_the_right_order(
    verdict: str, rules: list[Any], is_error: bool | None, content: str | None
) -> None:
    _, host, _ = play(Scripted(PreToolUse=Outcome(verdict, "because")), rules=rules)
    assert result(host).is_error is is_error
    assert content is None or result(host).content == content


def test_in_plan_mode_a_hook_cannot_allow_what_needs_a_question() -> None:
    host = RecordingHost()
    hooks = Scripted(PreToolUse=Outcome("allow", "because"))
    s = session(ScriptedModel([[call("Echo")]]), host, [tool("Echo", echo)], hooks=hooks, rules=[])
    s.situation = s.situation.changed(mode="plan")
    asyncio.run(run_turn(s, Prompt("go", "p")))
    assert result(host).is_error
    assert "PermissionRequest" in [name for name, _ in hooks.payloads]


RULE = {"type": "addRules", "destination": "localSettings"}
DIRECTORY = {"type": "addDirectories", "destination": "session"}


@pytest.mark.parametrize(
    ("asks", "path", "found", "told"),
    [
        (True, "/p/x", [RULE, DIRECTORY], {"permission_suggestions": [RULE, DIRECTORY]}),
        (False, "/p/x", [RULE, DIRECTORY], {"permission_suggestions": [DIRECTORY]}),
        (False, None, [RULE], {"permission_suggestions": [RULE]}),
        (False, None, [], {}),
    ],
    ids=["somebody is asked", "nobody is asked about a path", "not about a path", "nothing to suggest"],
)
def test_a_rule_for_the_very_command_is_suggested_only_where_somebody_is_asked(
    asks: bool, path: str | None, found: list[dict[str, Any]], told: dict[str, Any], tmp_path: Path
) -> None:
    s, _ = seated(engine({}, asks=asks), str(tmp_path))
    assert suggestions(s, Decision("ask", "?", blocked_path=path, suggestions=found)) == told


def test_the_end_of_a_turn_tells_what_is_scheduled() -> None:
    hooks = Scripted()
    s = session(ScriptedModel([[Text("done")]]), RecordingHost(), [], hooks=hooks)

    async def talk() -> None:
        entry = s.keep(Agenda).add("look", 9e9, partial(s.keep(Background).begin, s), cron="* * * * *")
        await run_turn(s, Prompt("go", "p"))
        told = {"id": entry.id, "schedule": "* * * * *", "recurring": False, "prompt": "look"}
        stop = hooks.told("Stop")
        assert (stop["session_crons"], stop["background_tasks"]) == ([told], [])
        await s.keep(Background).close()

    asyncio.run(talk())


def test_a_permission_asked_for_by_a_hook_is_not_asked_of_hooks_again() -> None:
    hooks = Scripted(PreToolUse=Outcome("ask", ""))
    _, host, _ = play(hooks)
    assert result(host).content == "Hook PreToolUse:Echo asked for confirmation for this tool"
    assert "PermissionRequest" not in [name for name, _ in hooks.payloads]


@pytest.mark.requirement("S1-45")
def test_tool_events_carry_call_result_and_duration() -> None:
    hooks = Scripted()
    play(hooks)
    facts = {"tool_name": "Echo", "tool_input": {"text": "x"}, "tool_use_id": "call-1"}
    assert hooks.told("PreToolUse") == facts
    assert hooks.told("PostToolUse") == {**facts, "duration_ms": 0, "tool_response": {"said": "x"}}
    assert hooks.told("PostToolBatch") == {"tool_calls": [{**facts, "tool_response": "echo x"}]}


@pytest.mark.requirement("S1-52")
def test_what_hooks_add_to_a_call_stands_behind_its_result() -> None:
    hooks = Scripted(
        PreToolUse=Outcome(told=[Told("hook_additional_context", "before")]),
        PostToolUse=Outcome(told=[Told("hook_additional_context", "after")]),
    )
    s, _, _ = play(hooks)
    assert s.messages[2] == Message(
        "user", [ToolResult("call-1", "echo x"), Aside("before"), Aside("after", "call-1")]
    )


@pytest.mark.requirement("S1-54")
def test_an_error_of_the_model_ends_the_turn_with_another_event() -> None:
    hooks = Scripted()
    play(hooks, ModelError("slow down", kind="rate_limit"))
    assert hooks.told("StopFailure") == {"error": "rate_limit", "last_assistant_message": "slow down"}
    assert "Stop" not in [name for name, _ in hooks.payloads]


def test_an_error_of_the_model_is_shown_as_hooks_want_it_and_kept_as_it_was() -> None:
    hooks = Scripted(MessageDisplay=Outcome(display="later"))
    _, host, ended = play(hooks, ModelError("API Error: 500 no", kind="server_error"))
    assert ([e.text for e in host.of(ApiFailed)], ended.result) == (["later"], "later")
    assert hooks.told("MessageDisplay")["delta"] == "API Error: 500 no"
    assert hooks.told("StopFailure")["last_assistant_message"] == "API Error: 500 no"


def test_hooks_hear_all_a_server_said_of_a_request_that_was_too_large() -> None:
    hooks = Scripted()
    play(hooks, ModelError("too large", kind="request_too_large", answer=Answer(413, details="413 {}")))
    assert hooks.told("StopFailure") == {
        "error": "invalid_request",
        "error_details": "413 {}",
        "last_assistant_message": "too large",
    }


@pytest.mark.requirement("S1-46", "S1-50")
def test_the_events_of_a_turn_come_in_order_with_their_fields() -> None:
    hooks = Scripted()
    play(hooks)
    assert [name for name, _ in hooks.payloads] == [
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolBatch",
        "MessageDisplay",
        "Stop",
    ]
    assert hooks.told("UserPromptSubmit") == {"prompt": "go"}
    assert hooks.told("Stop") == {
        "stop_hook_active": False,
        "background_tasks": [],
        "session_crons": [],
        "last_assistant_message": "done",
    }


@pytest.mark.requirement("S1-94")
def test_nothing_of_one_event_leaks_into_the_next() -> None:
    class Once(Scripted):
        async def fire(self, event: str, **payload: Any) -> Outcome:
            outcome = await super().fire(event, **payload)
            self.outcomes = {} if event == "PreToolUse" else self.outcomes
            return outcome

    calls: list[Turn] = [[call("Echo", "c1", text="x")], [call("Echo", "c2", text="y")], [Text("done")]]
    _, host, _ = play(Once(PreToolUse=Outcome("deny", "no")), *calls)
    assert [e.result.is_error for e in host.of(ToolFinished)] == [True, None]


def test_a_tool_call_between_two_objections_counts_anew() -> None:
    hooks = Scripted(Stop=Outcome(blocks=[Block("x", "again")]))
    more: list[Turn] = [[Text(str(n))] for n in range(9)]
    _, _, ended = play(hooks, [Text("a")], [call("Echo", text="x")], *more)
    assert [name for name, _ in hooks.payloads].count("Stop") == 10
    assert ended.result == ""


def test_another_text_is_shown_but_not_remembered() -> None:
    s, _, ended = play(Scripted(MessageDisplay=Outcome(display="shown")), [Text("said")])
    assert (ended.result, s.messages[-1].text) == ("shown", "said")


@pytest.mark.parametrize(
    ("given", "content"), [({"said": "new"}, '{"said":"new"}'), ("text", "echo x"), ({"other": 1}, "echo x")]
)
def test_another_result_must_have_the_shape_of_the_tool(given: Any, content: str) -> None:
    _, host, _ = play(Scripted(PostToolUse=Outcome(tool_output=given)))
    assert result(host).content == content


def test_another_file_is_read_as_the_tool_shows_it() -> None:
    file = {"filePath": "/a", "content": "one\ntwo", "numLines": 2, "startLine": 9, "totalLines": 10}
    hooks = Scripted(PostToolUse=Outcome(tool_output={"type": "text", "file": file}))
    host = RecordingHost()

    async def read(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        return ToolOutput("1\tx", {"type": "text", "file": {}})

    s = session(ScriptedModel([[call("Read")]]), host, [tool("Read", read)], hooks=hooks)
    asyncio.run(run_turn(s, Prompt("go", "p")))
    assert result(host).content == "9\tone\n10\ttwo"


REFUSALS = [
    (Block("x", "no", bare="no"), {"kind": "blocked_by_hook", "prompt_kept": False, "reason": "no"}, True),
    (Block("x", "Blocked by hook"), {"kind": "blocked_by_hook", "prompt_kept": False}, True),
    (
        Block("x", "[x]: timed out", failed="hook_timed_out"),
        {"kind": "no_verdict", "prompt_kept": False, "no_verdict_kind": "hook_timed_out"},
        False,
    ),
]


@pytest.mark.parametrize(
    ("block", "told", "repeated"), REFUSALS, ids=["with a reason", "without a word", "by failing"]
)
def test_a_refused_prompt_says_who_refused_it(block: Block, told: dict[str, Any], repeated: bool) -> None:
    _, host, ended = play(Scripted(UserPromptSubmit=Outcome(blocks=[block])))
    assert host.of(HookSaid)[0].facts["prompt_submit_outcome"] == told
    assert ("Original prompt: go" in (ended.result or "")) is repeated


def test_an_input_that_does_not_fit_is_not_run(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    host = RecordingHost()
    hooks = Scripted(PreToolUse=Outcome(updated_input={"foo": 1}))
    model = ScriptedModel([[call("Echo", text="x")], [Text("done")]])
    s = session(model, host, [tool("Echo", echo, schema=schema)], hooks=hooks)
    ended = asyncio.run(run_turn(s, Prompt("go", "p")))
    words = "PreToolUse hook for Echo returned updatedInput that failed schema validation: Echo failed due to"
    assert str(result(host).content).startswith(words)
    assert [d.tool_name for d in ended.denials] == ["Echo"]


def test_a_queued_prompt_passes_the_same_guards() -> None:
    class Guard(Scripted):
        async def fire(self, event: str, **payload: Any) -> Outcome:
            await super().fire(event, **payload)
            return Outcome(blocks=[Block("x", "no")]) if payload.get("prompt") == "late" else NOTHING

    hooks = Guard()
    s: Session

    async def queue() -> list[Any]:
        s.pending.append(Prompt("late", "prompt-2"))
        s.pending.append(Prompt("fine", "prompt-3"))
        return [call("Echo", text="x")]

    host = RecordingHost()
    s = session(ScriptedModel([queue, [Text("done")]]), host, [tool("Echo", echo)], hooks=hooks)
    asyncio.run(run_turn(s, Prompt("go", "prompt-1")))
    assert s.messages[2] == Message("user", [ToolResult("call-1", "echo x"), Text("fine")])


def remembering(hooks: Scripted) -> tuple[Session, ScriptedModel]:
    model = ScriptedModel([[Text("<analysis>a</analysis><summary>short</summary>")]])
    s = session(model, RecordingHost(), [], hooks=hooks)
    s.messages = [Message("user", [Text("go")]), Message("assistant", [Text("done")])]
    return s, model


@pytest.mark.requirement("S1-55")
@pytest.mark.parametrize("trigger", ["manual", "auto"])
def test_hooks_run_before_and_after_a_compaction(trigger: str) -> None:
    hooks = Scripted(PreCompact=Outcome(plain=["keep names"]))
    s, model = remembering(hooks)
    asyncio.run(compact(s, trigger))
    assert model.requests[0].messages[-1].text.endswith("\nAdditional Instructions:\nkeep names")
    assert [name for name, _ in hooks.payloads] == [
        "PreCompact",
        "SubagentStop",
        "SessionStart",
        "PostCompact",
    ]
    assert hooks.told("PreCompact") == {"trigger": trigger, "custom_instructions": None}
    assert hooks.told("SessionStart") == {"source": "compact", "model": "test-model"}
    whole = "<analysis>a</analysis><summary>short</summary>"
    assert hooks.told("PostCompact") == {"trigger": trigger, "compact_summary": whole}


def test_whoever_asks_for_a_compaction_hears_what_hooks_did(tmp_path: Path) -> None:
    commands = {"PreCompact": ["echo short", "true"], "PostCompact": ["echo e >&2; exit 3"]}
    made = engine(
        {
            event: [{"hooks": [{"type": "command", "command": c} for c in each]}]
            for event, each in commands.items()
        }
    )
    s, host = seated(made, str(tmp_path))
    s.messages = [Message("user", [Text("go")]), Message("assistant", [Text("done")])]
    asyncio.run(run_turn(s, Prompt("/compact", "p")))
    assert [event.text for event in host.of(LocalOutput)] == [
        "Compacted PreCompact [echo short] completed successfully: short\n"
        "PreCompact [true] completed successfully\n"
        "PostCompact [echo e >&2; exit 3] failed: e"
    ]


@pytest.mark.requirement("S1-55")
def test_a_hook_can_refuse_a_compaction() -> None:
    s, model = remembering(Scripted(PreCompact=Outcome(blocks=[Block("x", "later")])))
    with pytest.raises(Blocked, match=r"Compaction blocked by PreCompact hook: \[x\]: later"):
        asyncio.run(compact(s, "manual"))
    assert model.requests == []


@pytest.mark.parametrize(
    ("given", "kept", "wrong"),
    [
        ({"text": "hi"}, {"text": "hi"}, None),
        ({"text": "hi", "note": "by me"}, {"text": "hi"}, None),
        (
            {"note": "by me"},
            {},
            "<tool_use_error>The permission handler returned updatedInput for Echo that failed schema"
            " validation: Echo failed due to the following issue:\nThe required parameter `text` is missing\n"
            "The tool input from the model was valid; whoever answers the permission question has to be"
            " corrected.</tool_use_error>",
        ),
    ],
)
def test_the_input_of_whoever_was_asked_must_fit_the_tool(
    given: dict[str, Any], kept: dict[str, Any], wrong: str | None
) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
    echoing = tool("Echo", echo, schema={**schema, "additionalProperties": False})
    permitted, done = as_permitted(call("Echo", **given), echoing)
    assert (permitted.input, None if done is None else done.result.content) == (kept, wrong)
