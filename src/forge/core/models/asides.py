"""Where texts of Forge itself stand in a request: in a system message of their own, or as reminders."""

from __future__ import annotations

from typing import Literal

import msgspec

from forge.core.message import Aside, Block, Role, Text, ToolResult
from forge.core.reminder import inside, is_reminder, names_tools, reminder


class Turn(msgspec.Struct, frozen=True, rename={"blocks": "content"}):
    """Neighbouring messages of one role, as one message of the wire."""

    role: Role | Literal["system"]
    blocks: list[Block]


def with_asides(turns: list[Turn], *, apart: bool) -> list[Turn]:
    """The turns with every aside put where the model expects it."""
    if not any(isinstance(b, Aside) for turn in turns for b in turn.blocks):
        return turns
    placed: list[Turn] = []
    for n, turn in enumerate(turns):
        asides = [b for b in turn.blocks if isinstance(b, Aside)]
        if not asides:
            placed.append(turn)
        elif apart:
            placed += _apart(turn, asides, first=n == 0)
        else:
            placed.append(_inside(turn, asides))
    return placed


def is_result(block: Block) -> bool:
    # Tool results come as dictionaries too when they carry fields we do not know.
    return isinstance(block, ToolResult) or (isinstance(block, dict) and block.get("type") == "tool_result")


def _apart(turn: Turn, asides: list[Aside], *, first: bool) -> list[Turn]:
    """The user's message, then one for all asides; those that open a conversation stay distinguishable."""
    rest: list[Block] = [b for b in turn.blocks if not isinstance(b, Aside)]
    if not rest:
        return [Turn("user", [Text(reminder(a.text)) for a in asides])]
    texts = [a.text for a in asides] if first else ["\n\n".join(a.text for a in asides)]
    return [Turn(turn.role, rest), Turn("system", [Text(text) for text in texts])]


def _inside(turn: Turn, asides: list[Aside]) -> Turn:
    """Reminders directly behind results become parts of them."""
    about = {
        b.tool_use_id: b for b in turn.blocks if isinstance(b, ToolResult) and not names_tools(b.content)
    }
    if not all(a.result_of in about for a in asides):
        return Turn(turn.role, [Text(reminder(b.text)) if isinstance(b, Aside) else b for b in turn.blocks])
    blocks: list[Block] = []
    told: dict[str, list[str]] = {}
    for block in turn.blocks:
        if isinstance(block, Aside):
            told.setdefault(block.result_of, []).append(reminder(block.text))
        elif about and isinstance(block, Text) and is_reminder(block) and is_result(blocks[-1]):
            told.setdefault(list(about)[-1], []).append(block.text)
        else:
            blocks.append(block)
    return Turn(
        turn.role,
        [
            inside(b, told[b.tool_use_id]) if isinstance(b, ToolResult) and b.tool_use_id in told else b
            for b in blocks
        ],
    )
