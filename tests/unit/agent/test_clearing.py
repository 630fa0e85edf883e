from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.event import Restarted, TurnEnded
from forge.agent.local import local_command
from forge.agent.loop import run_turn
from forge.agent.resume import load
from forge.agent.session import Limits, Prompt, Reminder, Session
from forge.core.message import Text, Usage


def run(s: Session, text: str, uuid: str) -> TurnEnded:
    return asyncio.run(run_turn(s, Prompt(text, uuid)))


def test_a_cleared_conversation_goes_on_as_another_session(tmp_path: Path) -> None:
    old = tmp_path / "session-1.jsonl"
    model, host = ScriptedModel([[Text("one")], [Text("two")]]), RecordingHost()
    s = session(model, host, [], transcript=str(old))
    s.standing = [Reminder("environment", "<system-reminder>here</system-reminder>")]
    run(s, "first", "prompt-1")
    ended = run(s, "/clear", "prompt-2")
    assert (ended.num_turns, ended.result, ended.local_command, ended.terminal_reason) == (0, "", "clear", "")
    (restarted,) = host.of(Restarted)
    assert (restarted.session_id, restarted.prompt_uuid) == (s.id, "prompt-2")
    assert (s.id != "session-1", s.ledger.cost) == (True, 0)
    run(s, "second", "prompt-3")
    (message,) = model.requests[-1].messages
    assert [b.text for b in message.blocks if isinstance(b, Text)] == [
        "<system-reminder>here</system-reminder>",
        "second",
    ]
    before, after = load(str(old)), load(str(tmp_path / f"{s.id}.jsonl"))
    assert before is not None
    assert after is not None
    assert [m.text for m in before.messages] == ["first", "one"]
    assert after.messages[-1].text == "two"


def test_clearing_does_not_renew_the_budget() -> None:
    s = session(ScriptedModel([]), RecordingHost(), [], limits=Limits(max_budget_usd=0.0001))
    s.ledger.add(s.model.card, Usage(input=1_000_000))
    run(s, "/clear", "prompt-1")
    assert (s.ledger.cost, s.over_budget()) == (0, True)


@pytest.mark.parametrize("typed", ["/clear", "/new", "/reset"])
def test_clear_has_other_names(typed: str) -> None:
    assert local_command(Prompt(typed, "u")) == "clear"
