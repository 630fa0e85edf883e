"""Prompts that mean more than their words: `/name arguments` and `@agent-name`."""

from __future__ import annotations

from importlib import import_module

import msgspec

from forge.agent.ecosystem import Ecosystem
from forge.agent.event import TurnEnded
from forge.agent.hooks.port import Told
from forge.agent.session import Prompt, Session
from forge.core.message import Text


class Expanded(msgspec.Struct, frozen=True):
    """A prompt as the model gets it, what it is told beside it, or how the turn ends instead."""

    prompt: Prompt
    told: list[Told] = []
    ended: TurnEnded | None = None


async def expand_typed(s: Session, prompt: Prompt) -> Expanded:
    """Expands a typed skill or command and notices agents that are mentioned; most prompts stay as they are."""
    eco = s.keep(Ecosystem)
    if eco.opening and not prompt.verbatim:
        opening, eco.opening = eco.opening, ""
        content = [Text(f"{opening}\n\n"), *prompt.blocks]
        joined = f"{opening}\n\n{prompt.content}" if isinstance(prompt.content, str) else content
        prompt = msgspec.structs.replace(prompt, content=joined if not s.messages else prompt.content)
    words = prompt.text
    if prompt.verbatim or not (words.startswith("/") or "@agent-" in words or ' (agent)"' in words):
        return Expanded(prompt)
    expanded: Expanded = await import_module("forge.agent.typed_skill").expand(s, prompt)
    return expanded
