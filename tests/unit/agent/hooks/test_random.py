"""Ten thousand random outputs: nothing breaks the parser, and no event lets through what it must not."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest

from forge.agent.hooks.fold import PROMPTS, fold
from forge.agent.hooks.output import Output, Wrong, parse_output
from forge.agent.hooks.port import NOTHING
from forge.foundation.hookspec import EVENTS, HOOKS, Can
from unit.agent.hooks.making import answer
from unit.agent.hooks.test_fold import ABILITIES, EVERYTHING, SPECIFIC

CASES = 2_500
CODES = (0, 0, 0, 1, 2, 2, 126, 127, -9)
WORDS = ("deny", "allow", "ask", "defer", "block", "approve", "accept", "", "x", "\u2028", "{", "\x00")
BYTES = '{}[]":,\\ \n\x00tfn01é\u2028\ud800abcdef'


def value(rng: random.Random, depth: int = 0) -> Any:
    kind = rng.randrange(6 if depth < 3 else 4)
    if kind < 2:
        return rng.choice(WORDS)
    if kind < 4:
        return rng.choice([None, True, False, 0, -1, 2**40, 1.5])
    if kind == 4:
        return [value(rng, depth + 1) for _ in range(rng.randrange(3))]
    return {rng.choice(WORDS): value(rng, depth + 1) for _ in range(rng.randrange(3))}


def output(rng: random.Random, event: str) -> Any:
    if rng.random() < 0.2:
        return "".join(rng.choice(BYTES) for _ in range(rng.randrange(40)))
    said = {key: rng.choice([EVERYTHING.get(key), value(rng)]) for key in rng.sample(list(EVERYTHING), 2)}
    if rng.random() < 0.8:
        names = rng.sample([*SPECIFIC, "decision", "y"], rng.randrange(4))
        inner = {name: rng.choice([SPECIFIC.get(name), value(rng)]) for name in names}
        named = rng.choice([event, event, event, "Stop", value(rng)])
        said["hookSpecificOutput"] = rng.choice([{"hookEventName": named, **inner}] * 4 + [value(rng)])
    return said


@pytest.mark.parametrize("seed", range(4))
def test_no_output_breaks_the_parser(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(CASES):
        event = rng.choice(EVENTS)
        made = output(rng, event)
        text = made if isinstance(made, str) else msgspec.json.encode(made).decode()
        cut = text if rng.random() < 0.7 else text[: rng.randrange(len(text) + 1)]
        assert isinstance(parse_output(cut, event), Output | Wrong | None)


@pytest.mark.parametrize("seed", range(4))
def test_no_answers_leak_through_an_event_or_weaken_a_verdict(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(CASES):
        event = rng.choice(EVENTS)
        runs = [(output(rng, event), rng.choice(CODES)) for _ in range(rng.randrange(1, 4))]
        folded = fold(event, [answer(event, said, code, "err") for said, code in runs])
        for field, ability in ABILITIES.items():
            assert ability in HOOKS[event].can or getattr(folded, field) == getattr(NOTHING, field)
        decides = Can.DECIDE in HOOKS[event].can and event != "PermissionRequest"
        if decides and any(code == 2 for _, code in runs):
            assert folded.verdict == "deny"
        if Can.BLOCK in HOOKS[event].can and any(code == 2 for _, code in runs):
            assert folded.blocks or (event in PROMPTS and folded.end_turn)
