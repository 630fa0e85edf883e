"""What the scripted model of a very long session does: a plan of turns, played whatever comes in between."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

Json = dict[str, Any]

_MARK = re.compile(r"\[\[([a-z0-9.]+)\]\]")
_OVERFLOW = {"message": "prompt is too long: 212000 tokens > 200000 maximum"}
_COMPACTIONS = ("auto", "overflow", "manual")
_FILES = 20
_COMMANDS = ("echo quick", "sleep 0.05; echo slow", "exit 3", "sleep 1000")
_ENDLESS = 3
ENDLESS = _COMMANDS[_ENDLESS]
# Hundred-millionths of a dollar per token, as the price list of the model says.
_PRICES = {
    "input_tokens": 300,
    "output_tokens": 1500,
    "cache_creation_input_tokens": 375,
    "cache_read_input_tokens": 30,
}


class Size(NamedTuple):
    """How long the session is; `at_once` sub-agents work side by side."""

    turns: int
    compactions: int
    agents: int
    at_once: int
    jobs: int


class Step(NamedTuple):
    """What the model does in a turn, and how the history gets too long before it."""

    blocks: list[Json]
    compaction: str = ""


def plan(size: Size) -> dict[str, Step]:
    """The turns by their mark; the calls of sub-agents have marks of their own."""
    steps: dict[str, Step] = {}
    every = size.turns * 29 // (30 * size.compactions)
    batches = size.agents // size.at_once
    batch_at = {(n + 1) * size.turns // (batches + 1) + 7: n for n in range(batches)}
    gap = size.turns // size.jobs
    for turn in range(1, size.turns + 1):
        blocks = _plain(turn)
        if turn in batch_at:
            blocks += _agents(batch_at[turn], size.at_once, steps)
        elif turn % gap == gap // 3:
            blocks.append(_background(turn // gap))
        how = _COMPACTIONS[turn // every % 3] if turn % every == 0 else ""
        steps[str(turn)] = Step(blocks, how)
    steps["last"] = Step([_background(_ENDLESS)])
    return steps


def _plain(turn: int) -> list[Json]:
    path = f"{{cwd}}/file{turn // 4 % _FILES}.txt"
    kind = turn % 4
    if kind == 0:
        return [call("Write", file_path=path, content=f"turn {turn}\n" * 20)]
    if kind == 1:
        edit = {"old_string": f"turn {turn - 1}\n", "new_string": "changed\n", "replace_all": True}
        return [call("Edit", file_path=path, **edit)] if turn > 1 else [call("Bash", command="pwd")]
    if kind == 2:
        return [call("Bash", command=f"echo turn {turn}")]
    return [call("Bash", command=f"echo part {n}") for n in range(3)]


def _agents(batch: int, count: int, steps: dict[str, Step]) -> list[Json]:
    """Calls that start agents; those of every other batch are waited for."""
    calls = []
    for n in range(count):
        mark = f"agent{batch}.{n}"
        steps[mark] = Step([call("Bash", command=f"sleep 0.05; echo {mark}")])
        calls.append(
            call(
                "Agent",
                description=f"part {n}",
                prompt=f"[[{mark}]] Do your part.",
                subagent_type="general-purpose",
                run_in_background=batch % 2 == 1,
            )
        )
    return calls


def _background(number: int) -> Json:
    return call("Bash", command=_COMMANDS[number % 4], run_in_background=True)


def call(tool: str, **given: Any) -> Json:
    return {"tool": tool, "input": given}


class Actor:
    """The scripted model: does each step of the plan once, says when it is done, and checks every request."""

    def __init__(self, steps: dict[str, Step], cwd: str) -> None:
        self._steps, self._cwd = steps, cwd
        self._begun: set[str] = set()
        self._refused: set[str] = set()
        self._filled: set[str] = set()
        self.requests = 0
        self.spent = dict.fromkeys(_PRICES, 0)
        self.calls: set[str] = set()
        self.faults: list[str] = []

    def decide(self, body: Json) -> Json:
        """The next turn for a conversation."""
        self.requests += 1
        self.faults += [f"request {self.requests}: {fault}" for fault in unpaired(body["messages"])]
        if asks_summary(body):
            return self._said("<summary>Much was done.</summary>")
        mark = _last_mark(body["messages"][-1:])
        if mark in self._steps and mark not in self._begun:
            return self._begin(mark)
        mark = _last_mark(body["messages"])
        following = self._steps.get(str(int(mark) + 1)) if mark.isdecimal() else None
        full = following is not None and following.compaction == "auto" and mark not in self._filled
        if full:
            self._filled.add(mark)
        return self._said(f"done {mark}", full=full)

    def _begin(self, mark: str) -> Json:
        step = self._steps[mark]
        if step.compaction == "overflow" and mark not in self._refused:
            self._refused.add(mark)
            return {"blocks": [], "error": {"status": 400, "error": _OVERFLOW}}
        self._begun.add(mark)
        blocks = json.loads(json.dumps(step.blocks).replace("{cwd}", self._cwd))
        for block in blocks:
            block["id"] = f"toolu_{len(self.calls):08d}"
            self.calls.add(block["id"])
        return self._charged({"blocks": blocks})

    def _said(self, text: str, *, full: bool = False) -> Json:
        return self._charged({"blocks": [{"text": text}]}, full=full)

    def _charged(self, turn: Json, *, full: bool = False) -> Json:
        n = self.requests
        usage = {
            "input_tokens": 10 + n * 7919 % 90,
            "output_tokens": 5 + n * 31 % 50,
            "cache_creation_input_tokens": n * 15485863 % 500,
            "cache_read_input_tokens": 170_000 if full else n * 104729 % 20_000,
        }
        for name, count in usage.items():
            self.spent[name] += count
        return {**turn, "id": f"msg_{n}", "usage": usage}

    @property
    def cost(self) -> float:
        """What all answers cost, in dollars."""
        return sum(_PRICES[name] * count for name, count in self.spent.items()) / 1e8


def asks_summary(body: Json) -> bool:
    """Whether a request wants a compaction's summary."""
    return "<analysis>" in json.dumps(body["messages"][-1])


def unpaired(messages: list[Json]) -> list[str]:
    """Calls of a request that are not answered exactly once in the next message, and answers to nothing."""
    faults = []
    open_calls: list[str] = []
    for message in [*messages, {"role": "end", "content": []}]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        given = sorted(b["tool_use_id"] for b in blocks if b.get("type") == "tool_result")
        if given != sorted(open_calls):
            faults.append(f"calls {open_calls} got the results {given}")
        open_calls = [b["id"] for b in blocks if b.get("type") == "tool_use"]
    return faults


def _last_mark(messages: list[Json]) -> str:
    for message in reversed(messages):
        if message["role"] == "user":
            found = _MARK.findall(_words(message["content"]))
            if found:
                return str(found[-1])
    return ""


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(b["text"] for b in content if b.get("type") == "text")
