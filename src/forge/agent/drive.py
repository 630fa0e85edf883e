"""Runs a prompt to its real end: the turn, and every turn that background jobs wake up afterwards."""

from __future__ import annotations

import asyncio

import msgspec

from forge.agent.background import Background
from forge.agent.event import TurnEnded
from forge.agent.loop import run_turn
from forge.agent.session import Prompt, Session


class Patience(msgspec.Struct, frozen=True):
    """Seconds to wait for jobs after the last turn: those that hold the result, and the others."""

    holding: float = 600.0
    others: float = 5.0


async def drive(s: Session, prompt: Prompt, patience: Patience) -> TurnEnded:
    """Runs the turn of `prompt` and those that follow from it; jobs that outlast our patience are stopped."""
    try:
        ended = await s.run(lambda: run_turn(s, prompt))
        while not s.interrupted and (following := await next_prompt(s, patience)) is not None:
            ended = await _again(s, following)
        return ended
    finally:
        await s.keep(Background).close()


async def next_prompt(s: Session, patience: Patience) -> Prompt | None:
    """The next prompt that nobody typed; None when nothing is left to wait for."""
    jobs = s.keep(Background)
    while not s.pending:
        wait = patience.holding if jobs.holding() else patience.others if jobs.running() else 0.0
        if not wait:
            return None
        s.woken.clear()
        try:
            async with asyncio.timeout(wait):
                await s.woken.wait()
        except TimeoutError:
            return None
    first, *s.pending = s.pending
    return first


async def _again(s: Session, prompt: Prompt) -> TurnEnded:
    return await s.run(lambda: run_turn(s, prompt))
