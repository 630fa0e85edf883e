"""Damages recorded runs of the reference CLI at random and checks what must hold of any run whatsoever."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import msgspec

from forge.core.models.claude_cli.changes import (
    Answered,
    Change,
    Confirmed,
    Grown,
    InputGrown,
    PartStarted,
    Replaced,
    StepFinished,
    StepStarted,
    Withdrawn,
)
from forge.core.models.claude_cli.lines import Splitter
from forge.core.models.claude_cli.mapper import Mapper
from forge.core.models.claude_cli.parts import Outcome, ReasoningPart, TextPart
from forge.core.models.claude_cli.reply import Reply
from forge.core.models.claude_cli.report import report
from forge.foundation.errors import ModelError

RECORDED = Path(__file__).parent / "fixtures" / "claude_cli"
RUNS = sorted(path for path in RECORDED.glob("*.jsonl") if path.stem != "expected")
CODES = (0, 0, 0, 1, 143, -9, 255, None)
ODD: list[Any] = [None, True, 0, -1, 1e300, "", "x", "\ud800", [], [1], [None, "a"], {}, {"type": 7}]
ODD += ["msg_1", "toolu_1", "uuid-1"]
JUNK = [b"", b"junk", b"null", b"[{}]", b"{}", b'{"type":', b"\xff\xfe", b'{"type":"new"}', b"1"]
FINISHES = {
    "stop",
    "tool-calls",
    "length",
    "content-filter",
    "pause",
    "error",
    "aborted",
    "max-turns",
    "budget",
}


def check(seed: int) -> None:
    """Plays one case; an exception or a failed assertion is a mistake of the mapper."""
    rng = random.Random(seed)
    body = b"\n".join(damaged(rng))
    mapper, splitter = Mapper(), Splitter()
    changes: list[Change] = []
    for chunk in chunks(rng, body):
        for line in splitter.feed(chunk):
            changes += mapper.feed(line)
    for line in splitter.rest():
        changes += mapper.feed(line)
    outcome = mapper.end(rng.choice(CODES), cancelled=rng.random() < 0.1, stderr=rng.choice(["", "words"]))
    changes += mapper.rest()
    check_steps(outcome)
    check_changes(changes, outcome)
    check_replies(changes)
    msgspec.json.encode(report(changes, outcome))


def damaged(rng: random.Random) -> list[bytes]:
    """The lines of a run, or two at once, with a few things wrong."""
    lines = rng.choice(RUNS).read_bytes().splitlines()
    if rng.random() < 0.2:
        lines = interleaved(rng, lines, rng.choice(RUNS).read_bytes().splitlines())
    for _ in range(rng.choice((0, 1, 2, 4, 8, 20))):
        if lines:
            lines = rng.choice(DAMAGES)(rng, lines, rng.randrange(len(lines)))
    return lines


def interleaved(rng: random.Random, one: list[bytes], two: list[bytes]) -> list[bytes]:
    order = [True] * len(one) + [False] * len(two)
    rng.shuffle(order)
    lines = {True: iter(one), False: iter(two)}
    return [next(lines[first]) for first in order]


def drop(rng: random.Random, lines: list[bytes], at: int) -> list[bytes]:
    return lines[:at] + lines[at + rng.choice((1, 1, 2, 10)) :]


def cut(rng: random.Random, lines: list[bytes], at: int) -> list[bytes]:
    kept = lines[at][: rng.randrange(len(lines[at]) + 1)]
    return [*lines[:at], kept, *([] if rng.random() < 0.2 else lines[at + 1 :])]


def repeat(rng: random.Random, lines: list[bytes], at: int) -> list[bytes]:
    return [*lines[:at], *[lines[at]] * rng.choice((2, 2, 5)), *lines[at + 1 :]]


def move(rng: random.Random, lines: list[bytes], at: int) -> list[bytes]:
    line = lines.pop(at)
    lines.insert(rng.randrange(len(lines) + 1), line)
    return lines


def insert(rng: random.Random, lines: list[bytes], at: int) -> list[bytes]:
    return [*lines[:at], *[rng.choice(JUNK)] * rng.choice((1, 1, 3, 25)), *lines[at:]]


def distort(rng: random.Random, lines: list[bytes], at: int) -> list[bytes]:
    """Gives one value, anywhere in the line, another type; or loses its key."""
    try:
        value = json.loads(lines[at])
    except ValueError:
        return lines
    holders = [held for held in walk(value) if held]
    if not holders:
        return lines
    holder = rng.choice(holders)
    key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    if rng.random() < 0.2:
        del holder[key]
    else:
        holder[key] = rng.choice(ODD)
    return [*lines[:at], json.dumps(value).encode(), *lines[at + 1 :]]


def walk(value: Any) -> list[Any]:
    """All objects and lists in a value."""
    if isinstance(value, dict):
        return [value, *(inner for held in value.values() for inner in walk(held))]
    return [value, *(inner for held in value for inner in walk(held))] if isinstance(value, list) else []


DAMAGES = (drop, cut, repeat, move, insert, distort, distort, distort)


def chunks(rng: random.Random, body: bytes) -> list[bytes]:
    size = rng.choice((17, 333, 4096, 1 << 20))
    return [body[at : at + size] for at in range(0, len(body), size)]


def check_steps(outcome: Outcome) -> None:
    """Steps begin and end in turn, and there is at least one."""
    marks = [type(part).__name__ for part in outcome.parts if type(part).__name__.startswith("Step")]
    assert marks
    assert marks == ["StepStart", "StepFinish"] * (len(marks) // 2)
    names = [type(part).__name__ for part in (outcome.parts[0], outcome.parts[-1])]
    assert names == ["StepStart", "StepFinish"]
    assert outcome.finish in FINISHES


def check_changes(changes: list[Change], outcome: Outcome) -> None:
    """Whoever applies the changes in order has the parts."""
    lists: dict[str, list[list[str]]] = {"": []}
    for change in changes:
        apply(lists, change)
    final = {"": outcome.parts, **{name: child.parts for name, child in outcome.children.items()}}
    for name, parts in lists.items():
        for told, part in zip(parts, final[name], strict=True):
            if isinstance(part, TextPart | ReasoningPart):
                assert "".join(told) == part.text


def apply(lists: dict[str, list[list[str]]], change: Change) -> None:
    parts = lists.setdefault(getattr(change, "child", ""), [])
    if isinstance(change, StepStarted | StepFinished | PartStarted):
        assert change.at == len(parts)
        parts.append([])
    elif isinstance(change, Grown):
        parts[change.at].append(change.text)
    elif isinstance(change, Replaced):
        parts[change.at][:] = [change.text]
    elif isinstance(change, Withdrawn):
        del parts[change.at]
    elif isinstance(change, InputGrown | Confirmed | Answered):
        assert parts[change.at] is not None


def check_replies(changes: list[Change]) -> None:
    """Each step can be passed on as a reply."""
    reply: Reply | None = None
    for change in changes:
        if isinstance(change, StepStarted):
            reply = Reply("claude-code/sonnet")
        if reply is None:
            continue
        try:
            reply.take(change)
            if reply.ended:
                reply.finish()
                reply = None
        except ModelError as error:
            raise AssertionError(str(error)) from error
