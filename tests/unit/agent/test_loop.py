from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from doubles import RecordingHost, ScriptedModel, call, deny, echo, forever, session, tool
from forge.agent.event import ApiFailed, Denied, Noted, Replied, Streaming, ToolFinished, TurnEnded
from forge.agent.hooks.port import NOTHING, Outcome
from forge.agent.hooks.port import Block as Objection
from forge.agent.host import Allow, Question, Refuse
from forge.agent.host import Answer as Said
from forge.agent.loop import run_turn
from forge.agent.session import Limits, Prompt, Session, Structured
from forge.agent.structured import structured_output_tool
from forge.agent.texts.load import text
from forge.core.message import UNPARSED_INPUT, Message, Text, ToolResult, ToolUse, Usage
from forge.core.model import BlockDelta, Delta, Ending, Request, Started
from forge.core.registry import Component
from forge.core.tool import ToolContext, ToolError, ToolOutput
from forge.foundation.errors import Answer, ModelError

NOT_JSON = (
    "The input of this call is not a JSON object, so it was not run."
    " Send the input again as one valid JSON object."
)
PROMPT = Prompt("hello", "prompt-1")


def run(s: Session, prompt: Prompt = PROMPT) -> TurnEnded:
    return asyncio.run(run_turn(s, prompt))


def answered(s: Session) -> bool:
    """The invariant of the history: every tool use has its result in the next message."""
    for n, message in enumerate(s.messages):
        wanted = [c.id for c in message.calls]
        after = s.messages[n + 1].blocks if n + 1 < len(s.messages) else []
        given = [b.tool_use_id for b in after if isinstance(b, ToolResult)]
        if sorted(wanted) != sorted(given):
            return False
    return True


def test_a_turn_without_calls_ends_with_the_models_text() -> None:
    host, model = RecordingHost(), ScriptedModel([[Text("Hello there")]])
    ended = run(session(model, host, []))
    assert (ended.subtype, ended.result, ended.num_turns, ended.usage) == (
        "success",
        "Hello there",
        1,
        Usage(input=10, output=5),
    )


def test_a_call_is_run_and_its_result_goes_back_to_the_model() -> None:
    host, model = RecordingHost(), ScriptedModel([[call("Echo", text="hi")], [Text("done")]])
    s = session(model, host, [tool("Echo", echo)])
    ended = run(s)
    assert ended.num_turns == 2
    assert s.messages == [
        Message("user", [Text("hello")]),
        Message("assistant", [call("Echo", text="hi")], "msg_0", "test/test-model"),
        Message("user", [ToolResult("call-1", "echo hi")]),
        Message("assistant", [Text("done")], "msg_1", "test/test-model"),
    ]
    assert s.ledger.cost == pytest.approx(2 * (10 * 3 + 5 * 15) / 1_000_000)


def test_calls_of_one_message_run_side_by_side_and_results_keep_the_order_of_the_calls() -> None:
    both = asyncio.Event()
    waiting: list[str] = []

    async def meet(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        waiting.append(args["text"])
        if len(waiting) == 2:
            both.set()
        await asyncio.wait_for(both.wait(), 5)
        return ToolOutput(args["text"])

    model = ScriptedModel([[call("Meet", "a", text="1"), call("Meet", "b", text="2")]])
    s = session(model, RecordingHost(), [tool("Meet", meet)])
    run(s)
    assert s.messages[2].blocks == [ToolResult("a", "1"), ToolResult("b", "2")]


def test_tools_that_must_be_alone_run_one_after_the_other() -> None:
    active: list[int] = []
    seen: list[int] = []

    async def count(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        active.append(1)
        seen.append(len(active))
        await asyncio.sleep(0)
        active.pop()
        return ToolOutput("ok")

    model = ScriptedModel([[call("Count", str(n)) for n in range(4)]])
    run(session(model, RecordingHost(), [tool("Count", count, alone=True)]))
    assert seen == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("given", "content", "data"),
    [
        (
            call("Nope"),
            "<tool_use_error>Error: No such tool available: Nope</tool_use_error>",
            "Error: No such tool available: Nope",
        ),
        (
            ToolUse("call-1", "Echo", {UNPARSED_INPUT: "{bad"}),
            f"<tool_use_error>InputValidationError: {NOT_JSON}</tool_use_error>",
            f"InputValidationError: {NOT_JSON}",
        ),
    ],
    ids=["unknown tool", "input that is not JSON"],
)
def test_a_wrong_call_is_an_error_result_and_the_turn_goes_on(
    given: ToolUse, content: str, data: str
) -> None:
    host = RecordingHost()
    ended = run(session(ScriptedModel([[given]]), host, [tool("Echo", echo)]))
    finished = host.of(ToolFinished)[0]
    assert (finished.result, finished.data) == (ToolResult("call-1", content, True), data)
    assert (ended.subtype, ended.denials) == ("success", [])


def test_input_that_does_not_fit_the_schema_is_an_error_result() -> None:
    schema = {
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
        "additionalProperties": False,
    }
    host = RecordingHost()
    run(session(ScriptedModel([[call("Run", cmd="x")]]), host, [tool("Run", echo, schema=schema)]))
    assert host.of(ToolFinished)[0].result.content == (
        "<tool_use_error>InputValidationError: Run failed due to the following issues:\n"
        "The required parameter `command` is missing\n"
        "An unexpected parameter `cmd` was provided</tool_use_error>"
    )


def test_a_tool_that_fails_gives_its_words_to_the_model() -> None:
    async def fail(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        raise ToolError("Exit code 3")

    host = RecordingHost()
    run(session(ScriptedModel([[call("Fail")]]), host, [tool("Fail", fail)]))
    finished = host.of(ToolFinished)[0]
    assert (finished.result, finished.data) == (
        ToolResult("call-1", "Exit code 3", True),
        "Error: Exit code 3",
    )


def test_a_tool_that_crashes_is_an_error_result_without_its_internals() -> None:
    async def crash(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        raise ZeroDivisionError("secret")

    host = RecordingHost()
    ended = run(session(ScriptedModel([[call("Crash")]]), host, [tool("Crash", crash)]))
    assert ended.subtype == "success"
    assert host.of(ToolFinished)[0].result.content == "Crash failed unexpectedly; see the debug log."


def test_a_failed_check_comes_before_any_permission_question() -> None:
    async def check(args: dict[str, Any], context: ToolContext) -> None:
        raise ToolError("File has not been read yet. Read it first before writing to it.")

    host = RecordingHost()
    run(session(ScriptedModel([[call("Echo")]]), host, [tool("Echo", echo, check=check)], rules=[]))
    assert host.questions == []
    assert host.of(ToolFinished)[0].result.content == (
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
    )


def test_a_call_nobody_can_approve_is_denied_and_listed() -> None:
    host = RecordingHost()
    ended = run(session(ScriptedModel([[call("mcp__s__t", a=1)]]), host, [tool("mcp__s__t", echo)], rules=[]))
    denied, finished = host.of(Denied)[0], host.of(ToolFinished)[0]
    words = "Claude requested permissions to use mcp__s__t, but you haven't granted it yet."
    assert (denied.message, finished.result.content, finished.result.is_error) == (words, words, True)
    assert [(d.tool_name, d.tool_input) for d in ended.denials] == [("mcp__s__t", {"a": 1})]
    assert finished.meta == {
        "id": "call-1",
        "non_execution_kind": "user-rejected",
        "permission_decision": {"decision": "reject", "source": "config"},
    }


def test_a_deny_rule_on_the_whole_tool_removes_it() -> None:
    host = RecordingHost()
    model = ScriptedModel([[call("Echo")]])
    run(session(model, host, [tool("Echo", echo)], rules=deny("Echo")))
    assert model.requests[0].tools == []
    assert "No such tool available: Echo" in str(host.of(ToolFinished)[0].result.content)


def test_an_approved_call_runs_with_the_input_the_user_changed() -> None:
    host = RecordingHost(Allow({"text": "changed"}))
    run(
        session(
            ScriptedModel([[call("mcp__s__t", text="as asked")]]), host, [tool("mcp__s__t", echo)], rules=[]
        )
    )
    finished = host.of(ToolFinished)[0]
    assert finished.result.content == "echo changed"
    assert finished.meta["permission_decision"] == {"decision": "accept", "source": "user_temporary"}


def test_a_rule_the_user_wants_remembered_settles_the_next_call() -> None:
    rule = {
        "type": "addRules",
        "rules": [{"toolName": "mcp__s__t"}],
        "behavior": "allow",
        "destination": "session",
    }
    host = RecordingHost(Allow(None, [rule]))
    turns: list[Any] = [[call("mcp__s__t", "a")], [call("mcp__s__t", "b")]]
    run(session(ScriptedModel(turns), host, [tool("mcp__s__t", echo)], rules=[]))
    assert len(host.questions) == 1
    assert [f.result.content for f in host.of(ToolFinished)] == ["echo ", "echo "]


def test_a_refusal_with_interrupt_ends_the_turn() -> None:
    host = RecordingHost(Refuse("stop it", interrupt=True))
    s = session(ScriptedModel([[call("mcp__s__t")]]), host, [tool("mcp__s__t", echo)], rules=[])

    async def main() -> TurnEnded:
        return await s.run(lambda: run_turn(s, PROMPT))

    ended = asyncio.run(main())
    assert (ended.subtype, ended.terminal_reason) == ("error_during_execution", "aborted_tools")
    assert answered(s)
    assert [f.result.content for f in host.of(ToolFinished)] == [text("not_run")]


def test_the_turn_limit_ends_the_turn_after_the_results() -> None:
    turns: list[Any] = [[call("Echo", str(n))] for n in range(5)]
    s = session(ScriptedModel(turns), RecordingHost(), [tool("Echo", echo)], limits=Limits(max_turns=2))
    ended = run(s)
    assert (ended.subtype, ended.terminal_reason, ended.num_turns, ended.errors, ended.is_error) == (
        "error_max_turns",
        "max_turns",
        3,
        ["Reached maximum number of turns (2)"],
        True,
    )
    assert answered(s)


def test_the_budget_ends_the_turn() -> None:
    turns: list[Any] = [[call("Echo", str(n))] for n in range(5)]
    limits = Limits(max_budget_usd=0.0001)
    s = session(ScriptedModel(turns), RecordingHost(), [tool("Echo", echo)], limits=limits)
    ended = run(s)
    assert (ended.subtype, ended.errors) == ("error_max_budget_usd", ["Reached maximum budget ($0.0001)"])
    assert answered(s)


def test_a_spent_budget_stays_spent_in_the_next_turn() -> None:
    model = ScriptedModel([[Text("dear")], [Text("never asked")]])
    s = session(model, RecordingHost(), [], limits=Limits(max_budget_usd=0.0001))
    assert [run(s).subtype, run(s, Prompt("more", "prompt-2")).subtype] == ["error_max_budget_usd"] * 2
    assert len(model.requests) == 1


def test_the_time_limit_stops_a_tool_and_answers_its_call() -> None:
    async def hang(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        await asyncio.Event().wait()
        return ToolOutput("never")

    s = session(
        ScriptedModel([[call("Hang")]]),
        RecordingHost(),
        [tool("Hang", hang)],
        limits=Limits(max_seconds=0.02),
    )
    ended = run(s)
    assert (ended.subtype, ended.terminal_reason) == ("error_during_execution", "time_exhausted")
    assert answered(s)


def test_an_api_error_is_an_answer_that_is_an_error() -> None:
    error = ModelError(
        "API Error: 400 bad thing", kind="invalid_request", answer=Answer(400, "invalid_request_error")
    )
    host = RecordingHost()
    ended = run(session(ScriptedModel([error]), host, []))
    assert (ended.subtype, ended.is_error, ended.result, ended.terminal_reason, ended.api_status) == (
        "success",
        True,
        "API Error: 400 bad thing",
        "api_error",
        400,
    )
    assert [(e.text, e.status, e.error_type) for e in host.of(ApiFailed)] == [
        ("API Error: 400 bad thing", 400, "invalid_request_error")
    ]


def test_the_model_does_not_read_its_own_failure() -> None:
    model = ScriptedModel([ModelError("API Error: 400 bad thing", kind="invalid_request"), [Text("now")]])
    s = session(model, RecordingHost(), [])
    run(s)
    run(s, Prompt("again", "prompt-2"))
    assert model.requests[1].messages == [Message("user", [Text("hello"), Text("again")])]


def interrupt_after(s: Session, seen: type[Any]) -> TurnEnded:
    """Runs a turn and interrupts it as soon as an event of that kind was emitted."""

    async def main() -> TurnEnded:
        turn = asyncio.ensure_future(s.run(lambda: run_turn(s, PROMPT)))
        async with asyncio.timeout(5):
            while not any(isinstance(e, seen) for e in s.host.events):  # type: ignore[attr-defined]  # the double
                await asyncio.sleep(0)
            s.interrupt()
            return await turn

    return asyncio.run(main())


def test_an_interrupt_while_the_user_is_asked_says_that_the_call_was_not_run() -> None:
    class Undecided(RecordingHost):
        async def ask(self, question: Question) -> Said:
            self.events.append(Noted("asked", ""))
            await asyncio.Event().wait()
            return Refuse("never")

    s = session(ScriptedModel([[call("Echo", "a")]]), Undecided(), [tool("Echo", echo)], rules=[])
    ended = interrupt_after(s, Noted)
    assert [denial.tool_use_id for denial in ended.denials] == ["a"]
    (result,) = [b for m in s.messages for b in m.blocks if isinstance(b, ToolResult)]
    assert "was rejected: it was not run" in str(result.content)


def test_an_interrupt_while_tools_run_answers_every_call() -> None:
    async def hang(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        await asyncio.Event().wait()
        return ToolOutput("never")

    host = RecordingHost()
    model = ScriptedModel([[call("Hang", "a"), call("Echo", "b"), call("Hang", "c")]])
    s = session(model, host, [tool("Hang", hang), tool("Echo", echo)])
    ended = interrupt_after(s, ToolFinished)
    assert (ended.subtype, ended.terminal_reason, ended.num_turns) == (
        "error_during_execution",
        "aborted_tools",
        5,
    )
    assert [e.text for e in host.of(Noted)] == ["[Request interrupted by user for tool use]"]
    assert answered(s)
    results = {b.tool_use_id: b.is_error for b in s.messages[2].blocks if isinstance(b, ToolResult)}
    assert results == {"a": True, "b": None, "c": True}


class Speaking(ScriptedModel):
    """Begins a sentence and never ends it."""

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        yield Started({"message": {"id": "m"}}, "m", "x", Usage())
        yield BlockDelta({}, 0, "text", "half a sen")
        await forever()


def test_an_interrupt_while_the_model_speaks_keeps_what_it_said() -> None:
    host = RecordingHost()
    s = session(Speaking([]), host, [])

    async def main() -> TurnEnded:
        turn = asyncio.ensure_future(s.run(lambda: run_turn(s, PROMPT)))
        async with asyncio.timeout(5):
            while len(host.of(Streaming)) < 2:
                await asyncio.sleep(0)
            s.interrupt()
            return await turn

    ended = asyncio.run(main())
    assert (ended.subtype, ended.terminal_reason) == ("error_during_execution", "aborted_streaming")
    assert [(e.block, e.aborted) for e in host.of(Replied)] == [(Text("half a sen"), True)]
    assert [(e.text, e.synthetic) for e in host.of(Noted)] == [("[Request interrupted by user]", False)]
    ends = [e.delta.raw["type"] for e in host.of(Streaming) if isinstance(e.delta, Ending)]
    assert ends == ["message_delta", "message_stop"]


def test_a_session_goes_on_after_an_interrupt() -> None:
    turns: list[Any] = [forever, [Text("again")]]
    s = session(ScriptedModel(turns), RecordingHost(), [])

    async def main() -> TurnEnded:
        turn = asyncio.ensure_future(s.run(lambda: run_turn(s, PROMPT)))
        while not s.host.events:  # type: ignore[attr-defined]  # the double
            await asyncio.sleep(0)
        s.interrupt()
        await turn
        return await s.run(lambda: run_turn(s, Prompt("go on", "prompt-2")))

    ended = asyncio.run(main())
    assert (ended.subtype, ended.result) == ("success", "again")


def test_a_prompt_that_arrives_during_a_turn_is_folded_in_after_the_results() -> None:
    s: Session

    async def queue(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        s.pending.append(Prompt("and this", "prompt-2"))
        return ToolOutput("ok")

    model = ScriptedModel([[call("Queue")], [Text("both")]])
    s = session(model, RecordingHost(), [tool("Queue", queue)])
    ended = run(s)
    assert s.messages[2].blocks == [ToolResult("call-1", "ok"), Text("and this")]
    assert ended.prompt_uuids == ["prompt-1", "prompt-2"]


def test_a_reply_cut_off_by_the_output_limit_is_continued_three_times_and_then_an_error() -> None:
    turns: list[Any] = [[Text(str(n))] for n in range(9)]
    model = ScriptedModel(turns, dict.fromkeys(range(9), "max_tokens"))
    ended = run(session(model, RecordingHost(), []))
    assert (len(model.requests), ended.is_error, ended.terminal_reason, ended.num_turns) == (
        4,
        True,
        "api_error",
        4,
    )
    assert "exceeded the 32000 output token maximum" in ended.result


@pytest.mark.parametrize("stop_reason", ["refusal", "end_turn"])
def test_a_refused_or_empty_reply_is_asked_for_once_more(stop_reason: str) -> None:
    turns: list[Any] = [[Text("no")] if stop_reason == "refusal" else [], [Text("better")]]
    model = ScriptedModel(turns, {0: stop_reason})
    host = RecordingHost()
    ended = run(session(model, host, []))
    assert (ended.result, ended.num_turns, len(host.of(Noted))) == ("better", 2, 1)


def test_a_paused_reply_is_sent_back_as_it_is() -> None:
    model = ScriptedModel([[Text("hold")], [Text("done")]], {0: "pause_turn"})
    ended = run(session(model, RecordingHost(), []))
    assert (ended.result, ended.num_turns) == ("done", 1)
    assert model.requests[1].messages[-1].blocks == [Text("hold")]


def test_a_call_cut_off_by_the_output_limit_is_not_run() -> None:
    host = RecordingHost()
    model = ScriptedModel([[ToolUse("a", "Echo", {UNPARSED_INPUT: '{"te'})]], {0: "max_tokens"})
    run(session(model, host, [tool("Echo", echo)]))
    assert host.of(ToolFinished)[0].result.content == (
        "This call was cut off by the output limit before its input was complete, so it was not run."
        " Make it again in smaller pieces."
    )


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def structured_session(turns: list[Any]) -> tuple[Session, ScriptedModel]:
    state, model = Structured(SCHEMA), ScriptedModel(turns)
    return session(model, RecordingHost(), [structured_output_tool(state)], structured=state), model


def heard(s: Session) -> list[Noted]:
    return [e for e in s.host.events if isinstance(e, Noted)]  # type: ignore[attr-defined]  # the double


def test_a_value_that_fits_the_schema_ends_the_turn_at_once() -> None:
    s, model = structured_session([[call("StructuredOutput", n=1)]])
    ended = run(s)
    assert (ended.result, ended.structured, ended.num_turns, len(model.requests)) == (
        '{"n":1}',
        {"n": 1},
        2,
        1,
    )


def test_a_model_that_forgets_the_value_is_reminded_once() -> None:
    s, model = structured_session([[Text("no")], [Text("still no")]])
    ended = run(s)
    assert (ended.subtype, ended.result, ended.structured, len(model.requests)) == (
        "success",
        "still no",
        None,
        2,
    )
    assert (ended.num_turns, [e.synthetic for e in heard(s)]) == (2, [True])


def test_five_values_that_do_not_fit_end_the_turn() -> None:
    s, _ = structured_session([[call("StructuredOutput", str(n), n="x")] for n in range(9)])
    ended = run(s)
    assert (ended.subtype, ended.terminal_reason) == (
        "error_max_structured_output_retries",
        "structured_output_retry_exhausted",
    )
    why = "Output does not match required schema: /n: must be integer"
    last = f"Failed to provide valid structured output after 5 attempts — last StructuredOutput error: {why}"
    assert ended.errors == [last]


def test_every_turn_owes_a_value_of_its_own() -> None:
    s, model = structured_session([[call("StructuredOutput", n=1)], [call("StructuredOutput", "t2", n=2)]])
    assert ([run(s).structured, run(s).structured], len(model.requests)) == ([{"n": 1}, {"n": 2}], 2)


class OneHook:
    def __init__(self, event: str, outcome: Outcome) -> None:
        self.event, self.outcome = event, outcome
        self.fired: list[str] = []

    async def fire(self, event: str, /, **payload: Any) -> Outcome:
        self.fired.append(event)
        if event != self.event:
            return NOTHING
        self.event = ""
        return self.outcome


@pytest.mark.requirement("S0-40", "S1-52")
@pytest.mark.parametrize(
    ("hook", "content"),
    [
        (OneHook("PreToolUse", Outcome("deny", "not today")), "PreToolUse:Echo hook error: not today"),
        (OneHook("PreToolUse", Outcome(updated_input={"text": "other"})), "echo other"),
    ],
    ids=["deny", "changed input"],
)
def test_the_hook_point_before_a_call_is_honoured(hook: OneHook, content: str) -> None:
    host = RecordingHost()
    run(session(ScriptedModel([[call("Echo", text="x")]]), host, [tool("Echo", echo)], hooks=hook))
    assert host.of(ToolFinished)[0].result.content == content


def test_hook_points_fire_in_the_order_of_the_turn() -> None:
    hook = OneHook("", NOTHING)
    run(session(ScriptedModel([[call("Echo")]]), RecordingHost(), [tool("Echo", echo)], hooks=hook))
    assert hook.fired == [
        "UserPromptSubmit",
        "PreToolUse",
        "PostToolUse",
        "PostToolBatch",
        "MessageDisplay",
        "Stop",
    ]


def test_a_stop_hook_can_make_the_model_go_on() -> None:
    model = ScriptedModel([[Text("finished?")], [Text("really")]])
    hook = OneHook("Stop", Outcome(blocks=[Objection("x", "not yet")]))
    s = session(model, RecordingHost(), [], hooks=hook)
    assert run(s).result == "really"
    assert s.messages[2] == Message("user", [Text("Stop hook feedback:\nnot yet")])


@pytest.mark.requirement("S0-04")
def test_a_tool_registered_during_a_session_is_in_the_next_request() -> None:
    s: Session

    async def register(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        late = tool("Late", echo)
        s.parts.tools.add(Component("Late", late, late.origin))
        return ToolOutput("ok")

    model = ScriptedModel([[call("Register")], [Text("done")]])
    s = session(model, RecordingHost(), [tool("Register", register)])
    run(s)
    assert [[t.name for t in r.tools] for r in model.requests] == [["Register"], ["Late", "Register"]]


def test_a_denied_kind_of_agent_is_refused_without_being_listed() -> None:
    host = RecordingHost()
    turn: list[Any] = [[call("Agent", subagent_type="Explore", description="d", prompt="p")]]
    ended = run(session(ScriptedModel(turn), host, [tool("Agent", echo)], rules=deny("Agent(Explore)")))
    assert "has been denied by permission rule 'Agent(Explore)'" in str(
        host.of(ToolFinished)[0].result.content
    )
    assert ended.denials == []
