"""The CLI as a model: how it goes wrong, and that nothing is left of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from cli_talk import ask, opened, place, talk, user, whole
from fake_claude import FakeClaude, Line, init, message, result, text
from forge.core.model import BlockDelta, Delta, Model, Retrying, closing
from forge.foundation.errors import ModelError
from leftovers import left_running

RETRY: Line = {
    "type": "system",
    "subtype": "api_retry",
    "attempt": 1,
    "max_retries": 10,
    "retry_delay_ms": 500,
}
TOO_OLD = {"type": "result", "subtype": "success", "is_error": True, "terminal_reason": "api_error"}


@pytest.mark.requirement("S4-07", "S4-08", "S4-09", "S4-10")
@pytest.mark.parametrize(
    ("turn", "kind", "words"),
    [
        (
            [{**RETRY, "error_status": 401, "error": "authentication_failed"}, {"$": "hang"}],
            "authentication_failed",
            "not logged in",
        ),
        (
            [init(), {**TOO_OLD, "api_error_status": 400, "result": "API Error: 400 odd"}],
            "invalid_request",
            "API Error: 400 odd",
        ),
        (
            [{"$": "say", "text": "bad option"}, {"$": "exit", "code": 1}],
            "unknown",
            "Claude Code failed (exit code 1): bad option",
        ),
        ([init(), {"$": "exit", "code": 143}], "unknown", "Claude Code failed (killed): SIGTERM"),
        ([init(), {"$": "exit", "code": 0}], "malformed_stream", "ended without a reply"),
        ([init(), *[{"$": "raw", "text": "noise"}] * 25, {"$": "hang"}], "unknown", "not JSON"),
    ],
    ids=["unauthorised", "api", "option", "killed", "silent", "noise"],
)
@pytest.mark.parametrize("mode", ["model", "agent"])
def test_a_failure_says_what_happened_and_leaves_nothing_running(
    turn: list[Line], kind: str, words: str, mode: str, home: Path, tmp_path: Path
) -> None:
    fake = FakeClaude(tmp_path, turn)
    with pytest.raises(ModelError) as raised:
        talk(
            opened(fake, home, mode=mode), lambda m: whole(m, ask(user("go"), place=place(cwd=str(tmp_path))))
        )
    assert words in raised.value.message
    assert (raised.value.kind, raised.value.retryable) == (kind, False)
    assert left_running() == []


@pytest.mark.parametrize("mode", ["model", "agent"])
def test_a_retry_is_told_and_the_reply_begins_anew(mode: str, home: Path, tmp_path: Path) -> None:
    half = message([text("half")])[:3]
    fake = FakeClaude(
        tmp_path, [init(), *half, {**RETRY, "error_status": 529}, *message([text("whole")], 2), result()]
    )

    async def use(model: Model) -> list[Delta]:
        async with closing(model.stream(ask(user("go"), place=place(cwd=str(tmp_path))))) as deltas:
            return [delta async for delta in deltas]

    found = talk(opened(fake, home, mode=mode), use)
    assert any(isinstance(delta, Retrying) for delta in found)
    assert found[-1].message.text == "whole"


@pytest.mark.requirement("S4-06")
@pytest.mark.parametrize("mode", ["model", "agent"])
@pytest.mark.parametrize("how", ["closed", "cancelled"])
def test_a_reply_nobody_wants_any_more_ends_the_process(
    how: str, mode: str, home: Path, tmp_path: Path
) -> None:
    begun = [init(), *message([text("some words")])[:3]]
    fake = FakeClaude(tmp_path, [*begun, {"$": "child"}, {"$": "hang"}])

    async def use(model: Model) -> list[int]:
        started = asyncio.Event()

        async def follow() -> None:
            async with closing(model.stream(ask(user("go"), place=place(cwd=str(tmp_path))))) as deltas:
                async for delta in deltas:
                    if isinstance(delta, BlockDelta):
                        started.set()
                        if how == "closed":
                            return

        task = asyncio.ensure_future(follow())
        await started.wait()
        if how == "cancelled":
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return left_running()

    assert talk(opened(fake, home, mode=mode), use) == []
    assert fake.noted("signal") == ["interrupt"]


@pytest.mark.parametrize("mode", ["model", "agent"])
def test_a_cli_that_says_nothing_any_more_is_ended(mode: str, home: Path, tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path, [init(), {"$": "hang"}])
    with pytest.raises(ModelError) as raised:
        model = opened(fake, home, mode=mode, idleSeconds=0.2)
        talk(model, lambda m: whole(m, ask(user("go"), place=place(cwd=str(tmp_path)))))
    assert raised.value.message == "Claude Code printed nothing for 0.2 seconds and was ended."
    assert "idleSeconds" in raised.value.hint
