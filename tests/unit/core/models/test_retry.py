"""Retries and fallbacks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from fakemodel import serve
from fakemodel.asking import ask_for, no_setting
from forge.core.http.unreachable import REFUSED
from forge.core.message import Message, Text, ToolResult, ToolUse, Usage
from forge.core.model import BlockDelta, BlockFinished, Delta, Finished, ModelCard, Request, Retrying, Switch
from forge.core.models.catalog import open_model
from forge.core.models.retry import FallbackModel, Patience, RetryingModel
from forge.foundation.errors import Answer, ModelError

Step = Delta | ModelError
DONE = Finished(Message("assistant", [Text("ok")]), "end_turn", Usage(), "m")
TEXT = BlockDelta({}, 0, "text", "a")
CALLED = BlockFinished({}, 0, ToolUse("a", "Bash", {}))


def failure(kind: str = "overloaded", *, retryable: bool = True, **answer: Any) -> ModelError:
    return ModelError(f"{kind} happened", kind=kind, retryable=retryable, answer=Answer(**answer))


class Plays:
    """A model whose requests play these steps, one list after the other."""

    def __init__(self, *runs: list[Step], name: str = "m") -> None:
        self.runs = list(runs)
        self.asked = 0
        self.closed = 0
        self.ended = 0
        self.card = ModelCard(name, "p", "x")

    async def stream(self, request: Request) -> AsyncIterator[Delta]:
        self.asked += 1
        try:
            for step in self.runs.pop(0) if len(self.runs) > 1 else self.runs[0]:
                if isinstance(step, ModelError):
                    raise step
                yield step
        finally:
            self.ended += 1

    async def close(self) -> None:
        self.closed += 1


RESULTS = Message("user", [ToolResult("t", "ok")])


def run(model: RetryingModel | FallbackModel, *messages: Message) -> list[Delta]:
    async def collect() -> list[Delta]:
        return [delta async for delta in model.stream(ask_for(*messages))]

    return asyncio.run(collect())


def patient(model: Plays) -> tuple[RetryingModel, list[float]]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    return RetryingModel(model, Patience(), sleep=sleep, chance=lambda: 0.5), slept


def test_a_failure_is_announced_and_tried_again() -> None:
    inner = Plays([failure(status=529)], [TEXT, failure(status=529)], [DONE])
    model, slept = patient(inner)
    assert run(model) == [
        Retrying(1, 10, 562.5, 529, "overloaded", "overloaded happened"),
        TEXT,
        Retrying(2, 10, 1125.0, 529, "overloaded", "overloaded happened"),
        DONE,
    ]
    assert (slept, inner.asked, inner.ended) == ([0.5625, 1.125], 3, 3)


def test_pauses_double_up_to_a_minute() -> None:
    model, slept = patient(Plays([failure()]))
    with pytest.raises(ModelError):
        run(model)
    assert slept == [0.5625, 1.125, 2.25, 4.5, 9.0, 18.0, 36.0, 60.0, 60.0, 60.0]


@pytest.mark.parametrize(
    ("error", "tries"),
    [
        (failure("invalid_request", retryable=False), 1),
        (failure("authentication_failed", retryable=False, status=401), 1),
        (failure("rate_limit", retry_after=901.0), 1),
        (failure("connection", error_type=REFUSED), 4),
        (failure("connection"), 11),
    ],
)
def test_each_failure_gets_the_tries_it_is_worth(error: ModelError, tries: int) -> None:
    inner = Plays([error])
    with pytest.raises(ModelError) as caught:
        run(patient(inner)[0])
    assert (inner.asked, caught.value) == (tries, error)


def test_the_wait_the_server_asks_for_is_kept() -> None:
    model, slept = patient(Plays([failure("rate_limit", retry_after=7.0)], [DONE]))
    run(model)
    assert slept == [7.0]


def test_nothing_is_repeated_once_a_call_was_finished() -> None:
    inner = Plays([CALLED, failure()])
    with pytest.raises(ModelError):
        run(patient(inner)[0])
    assert inner.asked == 1


@pytest.mark.parametrize(
    ("env", "last", "expected"),
    [
        ({}, True, Patience(10, 10)),
        ({"CLAUDE_CODE_MAX_RETRIES": "1"}, True, Patience(1, 1)),
        ({"CLAUDE_CODE_MAX_RETRIES": "many"}, True, Patience(10, 10)),
        ({}, False, Patience(10, 2)),
        ({"CLAUDE_CODE_MAX_RETRIES": "0"}, False, Patience(0, 0)),
    ],
)
def test_patience_comes_from_the_environment(env: dict[str, str], last: bool, expected: Patience) -> None:
    assert Patience.of(env, last=last) == expected


def test_leaving_early_ends_the_request() -> None:
    inner = Plays([TEXT, TEXT, DONE])

    async def leave() -> None:
        stream: Any = patient(inner)[0].stream(ask_for())
        assert await anext(stream) == TEXT
        await stream.aclose()

    asyncio.run(leave())
    assert inner.ended == 1


@pytest.mark.parametrize("kind", ["overloaded", "model_not_found", "server_error", "connection"])
def test_the_next_model_answers_and_the_switch_is_announced(kind: str) -> None:
    first, second = Plays([failure(kind, status=529)], name="a"), Plays([DONE], name="b")
    model = FallbackModel([first, second])
    why = "due to high demand for a" if kind == "overloaded" else f"because a is not available ({kind})"
    assert run(model) == [
        Retrying(1, 1, 0.0, 529, "fallback", f"Switched to b {why}", Switch(kind, "a", "b")),
        DONE,
    ]
    assert model.card.id == "b"
    run(model, RESULTS)
    assert (first.asked, second.asked) == (1, 2)
    run(model)
    assert first.asked == 2


@pytest.mark.parametrize("kind", ["authentication_failed", "invalid_request", "context_overflow"])
def test_other_failures_are_not_a_reason_to_switch(kind: str) -> None:
    second = Plays([DONE])
    with pytest.raises(ModelError):
        run(FallbackModel([Plays([failure(kind)]), second]))
    assert second.asked == 0


def test_the_last_model_reports_its_own_failure() -> None:
    last = failure("server_error")
    with pytest.raises(ModelError) as caught:
        run(FallbackModel([Plays([failure()]), Plays([last])]))
    assert caught.value is last


def test_an_overloaded_model_is_asked_three_times_before_the_fallback() -> None:
    errors = [{"status": 529, "headers": {"retry-after-ms": "1"}}] * 3
    with serve([{"errors": errors, "blocks": [{"text": "from the second"}]}]) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}

        async def collect() -> list[Delta]:
            model = open_model("opus", env, no_setting, fallbacks=["haiku"])
            try:
                return [delta async for delta in model.stream(ask_for())]
            finally:
                await model.close()

        deltas = asyncio.run(collect())
        asked = [body["model"] for body in server.bodies]
    assert asked == ["claude-opus-5-5"] * 3 + ["claude-haiku-5-5"]
    assert [d.kind for d in deltas if isinstance(d, Retrying)] == ["overloaded", "overloaded", "fallback"]
    assert isinstance(deltas[-1], Finished)
    assert deltas[-1].message.made_by == "anthropic/claude-haiku-5-5"


def test_closing_closes_every_model() -> None:
    inner = [Plays([DONE]), Plays([DONE])]
    asyncio.run(FallbackModel([RetryingModel(m, Patience()) for m in inner]).close())
    assert [m.closed for m in inner] == [1, 1]
