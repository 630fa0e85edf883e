from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from doubles import RecordingHost, ScriptedModel, call, echo, forever, session, tool
from forge.agent.compact import threshold
from forge.agent.event import Compacted, CompactionSkipped, LocalOutput, TurnEnded
from forge.agent.loop import run_turn
from forge.agent.resume import load
from forge.agent.session import Prompt, Reminder, Session
from forge.core.message import Block, Message, Text, Usage
from forge.core.model import Delta, Finished, Request
from forge.foundation.errors import ModelError

SUMMARY: list[Block] = [Text("<analysis>thinking</analysis><summary>what happened</summary>")]
TOO_LONG = ModelError("prompt is too long", kind="context_overflow")


class Filling(ScriptedModel):
    """Says of chosen replies that they fill the window."""

    def __init__(self, turns: list[Any], full: set[int]) -> None:
        super().__init__(turns)
        self.full = full

    async def stream(self, request: Request) -> Any:
        number = len(self.requests)
        async for delta in super().stream(request):
            yield _filled(delta) if number in self.full else delta


def _filled(delta: Delta) -> Delta:
    return (
        msgspec.structs.replace(delta, usage=Usage(input=190_000)) if isinstance(delta, Finished) else delta
    )


def run(s: Session, text: str = "do it", uuid: str = "prompt-1") -> TurnEnded:
    return asyncio.run(run_turn(s, Prompt(text, uuid)))


def test_a_full_window_is_compacted_before_the_next_request() -> None:
    model = Filling([[call("Echo", text="a")], SUMMARY, [Text("end")]], {0})
    host = RecordingHost()
    s = session(model, host, [tool("Echo", echo)])
    s.standing = [Reminder("environment", "<system-reminder>here</system-reminder>")]
    ended = run(s)
    (done,) = host.of(Compacted)
    assert (ended.result, ended.num_turns, done.facts["trigger"]) == ("end", 3, "auto")
    (message,) = model.requests[2].messages
    texts = [b.text for b in message.blocks if isinstance(b, Text)]
    assert texts[0] == "<system-reminder>here</system-reminder>"
    assert "Summary:\nwhat happened" in texts[1]
    assert "The latest request of the user, word for word:\ndo it" in texts[1]


def test_the_summary_is_asked_for_with_the_same_prefix() -> None:
    model = Filling([[call("Echo")], SUMMARY], {0})
    s = session(model, RecordingHost(), [tool("Echo", echo)])
    run(s)
    asked, before = model.requests[1], model.requests[0]
    assert (asked.system, asked.tools, asked.messages[0]) == (before.system, before.tools, before.messages[0])


def test_a_request_the_api_calls_too_long_is_compacted_and_repeated() -> None:
    model = ScriptedModel([[call("Echo")], TOO_LONG, SUMMARY, [Text("end")]])
    ended = run(session(model, RecordingHost(), [tool("Echo", echo)]))
    assert (ended.result, ended.is_error, len(model.requests)) == ("end", False, 4)


def test_a_summary_that_is_too_long_itself_leaves_out_the_older_half() -> None:
    turns: list[Any] = [[call("Echo", str(n))] for n in range(6)]
    model = ScriptedModel([*turns, TOO_LONG, TOO_LONG, SUMMARY, [Text("end")]])
    host = RecordingHost()
    ended = run(session(model, host, [tool("Echo", echo)]))
    assert ended.result == "end"
    assert "too large for this summary" in host.of(Compacted)[0].summary
    assert len(model.requests[8].messages) < len(model.requests[7].messages)
    assert model.requests[8].messages[0].role == "user"


def test_a_single_exchange_that_is_too_long_is_an_error_without_a_loop() -> None:
    model = ScriptedModel([TOO_LONG])
    ended = run(session(model, RecordingHost(), []))
    assert (ended.is_error, ended.result, len(model.requests)) == (True, "prompt is too long", 1)


def test_a_window_that_fills_again_and_again_ends_the_turn() -> None:
    turns: list[Any] = [[call("Echo", str(n))] if n % 2 == 0 else SUMMARY for n in range(40)]
    model = Filling(turns, set(range(40)))
    ended = run(session(model, RecordingHost(), [tool("Echo", echo)]))
    assert ended.is_error
    assert "again right after each compaction" in ended.result
    assert len(model.requests) < 12


def test_a_compacted_session_resumes_from_its_summary(tmp_path: Path) -> None:
    path = str(tmp_path / "session-1.jsonl")
    model = Filling([[call("Echo")], SUMMARY, [Text("end")]], {0})
    s = session(model, RecordingHost(), [tool("Echo", echo)], transcript=path)
    run(s)
    past = load(path)
    assert past is not None
    assert past.messages == s.messages
    assert len(past.messages) == 2
    assert "do it" in Path(path).read_text().splitlines()[0]


def test_the_user_can_compact_with_a_focus() -> None:
    model = ScriptedModel([[Text("answer")], SUMMARY, [Text("next")]])
    host = RecordingHost()
    s = session(model, host, [])
    run(s)
    ended = run(s, "/compact the tests", "prompt-2")
    assert (ended.num_turns, ended.result, ended.local_command) == (0, "", "compact")
    assert [e.text for e in host.of(LocalOutput)] == ["Compacted "]
    asked = model.requests[1].messages[-1].blocks[-1]
    assert isinstance(asked, Text)
    assert asked.text.endswith("Additional Instructions:\nthe tests")
    kept = s.messages[1]
    assert kept == Message("assistant", [Text("answer")], kept.id, "test/test-model")
    assert kept.id != "msg_0"


def test_a_compaction_the_user_stops_leaves_everything_as_it_was() -> None:
    model, host = ScriptedModel([[Text("answer")], forever]), RecordingHost()
    s = session(model, host, [])

    async def main() -> TurnEnded:
        await s.run(lambda: run_turn(s, Prompt("do it", "prompt-1")))
        turn = asyncio.ensure_future(s.run(lambda: run_turn(s, Prompt("/compact", "prompt-2"))))
        async with asyncio.timeout(5):
            while len(model.requests) < 2:
                await asyncio.sleep(0)
            s.interrupt()
            return await turn

    ended = asyncio.run(main())
    assert (ended.subtype, ended.num_turns, ended.result) == ("success", 0, "")
    assert [e.why for e in host.of(CompactionSkipped)] == ["API Error: Request was aborted."]
    assert [e.text for e in host.of(LocalOutput)] == ["Compaction canceled."]
    assert [m.text for m in s.messages] == ["do it", "answer"]


def test_local_commands_do_not_ask_the_model() -> None:
    model = ScriptedModel([])
    host = RecordingHost()
    s = session(model, host, [])
    assert "of 200,000 tokens" in run(s, "/context").result
    assert run(s, "/cost").result.startswith("Total cost: $0.0000")
    assert run(s, "/compact").result == ""
    assert model.requests == []
    last = host.of(LocalOutput)[-1]
    assert (last.text, last.command, last.failed) == ("Error: No messages to compact", "compact", True)


def test_the_threshold_leaves_room_for_an_answer() -> None:
    assert threshold(session(ScriptedModel([]), RecordingHost(), [])) == 167_000
