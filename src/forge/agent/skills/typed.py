"""Prompts that mean more than their words: `/name arguments` and `@agent-name`."""

from __future__ import annotations

from importlib import import_module

import msgspec

from forge.agent.event import TurnEnded
from forge.agent.hooks.port import Told
from forge.agent.session import Prompt, Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.core.message import Text


class Expanded(msgspec.Struct, frozen=True):
    """A prompt as the model gets it, what it is told beside it, or how the turn ends instead."""

    prompt: Prompt
    told: list[Told] = []
    ended: TurnEnded | None = None


async def expand_typed(s: Session, prompt: Prompt) -> Expanded:
    """Expands a typed skill or command and notices mentioned agents; most prompts stay as they are."""
    eco = s.keep(Ecosystem)
    if eco.opening and not prompt.verbatim:
        opening, eco.opening = f"{eco.opening}\n\n", ""
        said = prompt.content
        content = opening + said if isinstance(said, str) else [Text(opening), *said]
        prompt = msgspec.structs.replace(prompt, content=content)
    words = prompt.text
    if prompt.verbatim or not (words.startswith("/") or "@agent-" in words or ' (agent)"' in words):
        return Expanded(prompt)
    expanded: Expanded = await import_module("forge.agent.skills.expand").expand(s, prompt)
    return expanded
