"""Runs a prompt to its real end: the turn, and every turn that background jobs wake up afterwards."""

from __future__ import annotations

import asyncio

import msgspec

from forge.agent.background import Background
from forge.agent.event import TurnEnded
from forge.agent.loop import run_turn
from forge.agent.session import Prompt, Session


class Patience(msgspec.Struct, frozen=True):
    """Seconds to wait for jobs after the last turn: those that hold the result, and the others.

    Commands have time limits of their own, so the wait for them only has to be longer than the longest.
    """

    holding: float = 600.0
    others: float = 7_260.0

    def with_jobs(self, jobs: Background) -> float:
        """How long to wait for news of these jobs; what a cron expression plans keeps nobody waiting."""
        if jobs.holding():
            return self.holding
        return self.others if any(view.kind != "cron" for view in jobs.running()) else 0.0


async def drive(s: Session, prompt: Prompt, patience: Patience) -> TurnEnded:
    """Runs the turn of `prompt` and those that follow from it; jobs that outlast our patience are stopped."""
    try:
        ended = await s.run(lambda: run_turn(s, prompt))
        while not s.interrupted and (following := await _awaited(s, patience)) is not None:
            ended = await _again(s, following)
        return ended
    finally:
        await s.keep(Background).close()


async def _awaited(s: Session, patience: Patience) -> Prompt | None:
    """The next prompt; an interrupt ends the wait for it at once."""
    try:
        return await s.run(lambda: next_prompt(s, patience))
    except asyncio.CancelledError:
        if not s.interrupted:
            raise
        return None


async def next_prompt(s: Session, patience: Patience) -> Prompt | None:
    """The next prompt that nobody typed; None when nothing is left to wait for."""
    jobs = s.keep(Background)
    while not s.pending:
        wait = patience.with_jobs(jobs)
        if not wait:
            return None
        s.woken.clear()
        try:
            async with asyncio.timeout(wait):
                await s.woken.wait()
        except TimeoutError:
            return None
    return first_of(s.pending)


def first_of(queue: list[Prompt]) -> Prompt:
    """Takes the first prompt; news with more news right behind it is noted, and answered with the last."""
    first = queue.pop(0)
    if _is_news(first) and queue and _is_news(queue[0]):
        return msgspec.structs.replace(first, query=False)
    return first


def _is_news(prompt: Prompt) -> bool:
    return prompt.origin is not None and prompt.origin.get("kind") == "task-notification"


async def _again(s: Session, prompt: Prompt) -> TurnEnded:
    return await s.run(lambda: run_turn(s, prompt))
