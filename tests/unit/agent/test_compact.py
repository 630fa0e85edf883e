from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from doubles import RecordingHost, ScriptedModel, call, echo, forever, session, tool
from forge.agent.compact import threshold
from forge.agent.event import Compacted, CompactionSkipped, LocalOutput, TurnEnded
from forge.agent.loop import run_turn
from forge.agent.resume import load
from forge.agent.session import Limits, Prompt, Reminder, Session
from forge.core.message import Block, Image, Message, Source, Text, ToolResult, Usage
from forge.core.model import Finished, Request
from forge.core.tool import ToolContext, ToolOutput
from forge.foundation.errors import ModelError
from forge.foundation.history.transcript import read_records

SUMMARY: list[Block] = [Text("<analysis>thinking</analysis><summary>what happened</summary>")]
TOO_LONG = ModelError("prompt is too long", kind="context_overflow")


class Filling(ScriptedModel):
    """Says of chosen replies that they fill the window."""

    def __init__(self, turns: list[Any], full: set[int]) -> None:
        super().__init__(turns)
        self.full = full
        self.usage = Usage(input=190_000)

    async def stream(self, request: Request) -> Any:
        number = len(self.requests)
        async for delta in super().stream(request):
            full = number in self.full and isinstance(delta, Finished)
            yield msgspec.structs.replace(delta, usage=self.usage) if full else delta


def run(s: Session, text: str = "do it", uuid: str = "prompt-1") -> TurnEnded:
    return asyncio.run(run_turn(s, Prompt(text, uuid)))


@pytest.mark.requirement("S1-151")
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
    assert texts[1].endswith("word for word:\n<latest-request>\ndo it\n</latest-request>")


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
    assert (ended.is_error, ended.terminal_reason) == (True, "rapid_refill_breaker")
    assert ended.result.startswith(
        "Autocompact is thrashing: the context refilled to the limit within 3 turns"
    )
    assert len(model.requests) < 12


def test_a_window_that_fills_again_after_one_small_reply_ends_the_turn_too() -> None:
    turns: list[Any] = [SUMMARY if n % 3 == 2 else [call("Echo", str(n))] for n in range(40)]
    model = Filling(turns, {n for n in range(40) if n % 3 == 1})
    ended = run(session(model, RecordingHost(), [tool("Echo", echo)]))
    assert (ended.terminal_reason, len(model.requests)) == ("rapid_refill_breaker", 11)


def test_summaries_that_fail_are_given_up_and_the_work_goes_on() -> None:
    turns: list[Any] = [[call("Echo", "0")]]
    for n in range(1, 4):
        turns += [[], [call("Echo", str(n))]]
    model = Filling([*turns, [call("Echo", "x")], [Text("end")]], set(range(9)))
    host = RecordingHost()
    ended = run(session(model, host, [tool("Echo", echo)]))
    why = "no assistant message in summarization response"
    assert (ended.result, [e.why for e in host.of(CompactionSkipped)]) == ("end", [why] * 3)
    assert len(model.requests) == 9


def test_the_latest_request_outlives_every_compaction(tmp_path: Path) -> None:
    path = str(tmp_path / "session-1.jsonl")
    model = ScriptedModel([[Text("answer")], SUMMARY, SUMMARY, SUMMARY])
    s = session(model, RecordingHost(), [], transcript=path)
    run(s)
    run(s, "/compact", "p2")
    run(s, "/compact", "p3")
    past = load(path)
    assert past is not None
    assert [r["lastPrompt"] for r in read_records(path) if r["type"] == "last-prompt"] == ["do it"] * 3
    again = session(model, RecordingHost(), [])
    again.messages = past.messages
    run(again, "/compact", "p4")
    told = [
        [b.text.partition("word for word:\n")[2] for b in x.messages[0].blocks if isinstance(b, Text)]
        for x in (s, again)
    ]
    assert told == [["<latest-request>\ndo it\n</latest-request>"]] * 2


@pytest.mark.parametrize("kind", ["context_overflow", "request_too_large"])
def test_what_is_too_large_is_cut_before_anything_is_left_out(kind: str) -> None:
    async def huge(args: dict[str, Any], context: ToolContext) -> ToolOutput:
        picture = Image(Source("base64", "image/png", "AAAA"))
        return ToolOutput([Text("x" * 9_000), picture])

    refused = ModelError("too much", kind=kind)
    model = ScriptedModel([[call("Echo")], refused, refused, SUMMARY, [Text("end")]])
    s = session(model, RecordingHost(), [tool("Echo", huge)])
    ended = run(s)
    asked = model.requests[3].messages
    (result,) = [b for b in asked[2].blocks if isinstance(b, ToolResult)]
    assert (ended.result, asked[0]) == ("end", model.requests[0].messages[0])
    assert isinstance(result.content, list)
    cut, picture = result.content
    assert isinstance(cut, Text) and "[5000 characters left out]" in cut.text
    assert picture == Text("[image left out]")


@pytest.mark.parametrize(
    ("window", "wanted", "env", "settings", "limit"),
    [
        (200_000, None, {}, {}, 167_000),
        (200_000, 100_000, {}, {}, 67_000),
        (200_000, 0, {}, {"autoCompactWindow": 100_000}, 167_000),
        (200_000, None, {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": "50000"}, {}, 67_000),
        (200_000, None, {}, {"autoCompactWindow": 150_000}, 117_000),
        (200_000, None, {}, {"modelSettings": {"test-model": {"autoCompactWindow": 120_000}}}, 87_000),
        (200_000, 100_000, {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, {}, 50_000),
        (200_000, None, {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "50"}, {}, 167_000),
        (8_192, 100_000, {}, {}, 6_827),
    ],
)
def test_where_the_limit_is(
    window: int, wanted: int | None, env: dict[str, str], settings: dict[str, Any], limit: int
) -> None:
    model = ScriptedModel([])
    model.card = msgspec.structs.replace(model.card, context_window=window)
    s = session(model, RecordingHost(), [], limits=Limits(window=wanted))
    s.parts = msgspec.structs.replace(
        s.parts, env=env, setting=lambda key, default: settings.get(key, default)
    )
    assert threshold(s) == limit


def test_a_model_that_does_not_count_is_measured_by_its_texts() -> None:
    model = Filling([[Text("x" * 4_000)]], {0})
    model.usage = Usage()
    s = session(model, RecordingHost(), [])
    run(s)
    assert s.context_tokens == 1_002


def test_the_budget_stops_a_summary_before_it_is_asked_for() -> None:
    model = ScriptedModel([[Text("answer")], SUMMARY])
    s = session(model, RecordingHost(), [], limits=Limits(max_budget_usd=0.00001))
    run(s)
    run(s, "/compact", "p2")
    assert len(model.requests) == 1


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
