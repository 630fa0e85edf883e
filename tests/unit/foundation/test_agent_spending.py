from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from forge.foundation.history.agent_spending import Agent, find_agents, split
from forge.foundation.history.spending import Amount, Spent

DAY, NEXT = "2026-01-01", "2026-01-02"


def reply(number: int, tokens: int, day: str = DAY, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": tokens, "output_tokens": 1, "cache_read_input_tokens": None}
    message = {"id": f"m{number}", "model": "big-2026", "usage": usage}
    return {"type": "assistant", "timestamp": f"{day}T10:00:00.000Z", "message": message, **more}


def agent(folder: Path, name: str, *records: dict[str, Any], meta: dict[str, Any] | None = None) -> None:
    place = folder / "s" / "subagents"
    place.mkdir(parents=True, exist_ok=True)
    (place / f"agent-{name}.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records) + "garbage\n")
    if meta is not None:
        (place / f"agent-{name}.meta.json").write_text(json.dumps(meta))


def dollars(made_by: str, usage: dict[str, Any]) -> float:
    return {"p/big": 1.0, "big": 1.0}.get(made_by, 0.0) * float(usage["input_tokens"])


def total(tokens: int, cost: float, day: str = DAY, model: str = "big", agent: str = "") -> Spent:
    return Spent("s", model, day, Amount(input=tokens, output=tokens, cost=cost), agent)


def test_agents_are_known_by_what_stands_beside_their_transcripts(tmp_path: Path) -> None:
    agent(tmp_path, "a1", meta={"agentType": "Explore", "description": "look"})
    agent(tmp_path, "a2")
    place = f"{tmp_path}/s/subagents"
    assert find_agents(f"{tmp_path}/s.jsonl") == [
        Agent("a1", "s", "Explore", "look", f"{place}/agent-a1.jsonl"),
        Agent("a2", "s", "unknown", "", f"{place}/agent-a2.jsonl"),
    ]
    assert find_agents(f"{tmp_path}/none.jsonl") == []


def test_every_reply_counts_once_however_many_blocks_it_has(tmp_path: Path) -> None:
    ours = {"madeBy": "p/big"}
    records = [
        reply(1, 5, **ours, apiBlockIndex=0),
        reply(1, 5, **ours, apiBlockIndex=1),
        # Servers may give the same id again.
        reply(1, 7, **ours, apiBlockIndex=0),
        {"type": "request-usage", "madeBy": "p/big", "usage": {"input_tokens": 3, "output_tokens": 1}},
    ]
    agent(tmp_path, "a1", *records)
    theirs = {"madeBy": "model", "requestedModel": "big", "requestRef": "r1"}
    agent(tmp_path, "a2", reply(1, 2, **theirs), reply(1, 2, **theirs), reply(2, 4, **theirs))
    parts = split([total(100, 50.0)], find_agents(f"{tmp_path}/s.jsonl"), dollars)
    assert parts == [
        Spent("s", "big", DAY, Amount(input=15, output=3, cost=15.0), "a1"),
        Spent("s", "big", DAY, Amount(input=6, output=2, cost=6.0), "a2"),
        Spent("s", "big", DAY, Amount(input=79, output=95, cost=29.0)),
    ]


def test_a_share_counts_for_the_day_on_which_the_session_counted_it(tmp_path: Path) -> None:
    agent(tmp_path, "a1", reply(1, 5, madeBy="p/big"), reply(2, 6, "2026-01-03", madeBy="p/big"))
    rows = [total(9, 9.0, NEXT)]
    assert split(rows, find_agents(f"{tmp_path}/s.jsonl"), dollars) == [
        Spent("s", "big", NEXT, Amount(input=5, output=1, cost=5.0), "a1"),
        Spent("s", "big", NEXT, Amount(input=4, output=8, cost=4.0)),
    ]


def test_shares_never_cost_more_than_the_session(tmp_path: Path) -> None:
    agent(tmp_path, "a1", reply(1, 30, madeBy="p/big"))
    agent(tmp_path, "a2", reply(1, 10, madeBy="p/big"), reply(2, 1, madeBy="p/unseen"))
    rows = [total(40, 10.0)]
    assert [(p.agent, p.amount.cost) for p in split(rows, find_agents(f"{tmp_path}/s.jsonl"), dollars)] == [
        ("a1", 7.5),
        ("a2", 2.5),
        ("", 0.0),
    ]
