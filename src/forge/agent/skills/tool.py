"""The Skill tool: gives the model the instructions of a skill, or lets a sub-agent follow them."""

from __future__ import annotations

import msgspec

from forge.agent.context import CallContext
from forge.agent.local import local_names
from forge.agent.mentions import mentioned_in
from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.skills.fork import forked
from forge.agent.skills.grants import grant
from forge.agent.skills.listed import Skills
from forge.agent.skills.rendering import Unrendered, rendered
from forge.agent.texts.load import text
from forge.core.components.calling import again, called_skill
from forge.core.components.kinds import Skill
from forge.core.components.nested import variants
from forge.core.registry import Component
from forge.core.reminder import reminder
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput


class Wish(msgspec.Struct, frozen=True):
    """The input of the tool."""

    skill: str
    args: str = ""


async def check(wish: Wish, context: ToolContext) -> None:
    """Refuses what is no skill, or none for the model."""
    _called(context, wish)


async def run(wish: Wish, context: ToolContext) -> ToolOutput:
    """Uses a skill."""
    found = _called(context, wish)
    s = context.session if isinstance(context, CallContext) else None
    if s is None or not isinstance(context, CallContext):
        raise ToolError("Skills need a session.")
    skill, asked = found.value, wish.skill.removeprefix("/")
    try:
        words = await rendered(s, skill, wish.args)
    except Unrendered as error:
        raise ToolError(str(error)) from error
    grant(s, found, typed=False)
    data = {"success": True, "commandName": asked}
    if skill.fork:
        report, agent_id = await forked(context, found, words)
        told = f'Skill "{asked}" completed (forked execution).\n\nResult:\n{report}'
        return ToolOutput(told, {**data, "status": "forked", "agentId": agent_id, "result": report})
    if skill.allowed_tools:
        data["allowedTools"] = list(skill.allowed_tools)
    files = await mentioned_in(s, words)
    s.keep(Skills).handed += [f"{r.text.rstrip()}\n" for r in files if r.picture is None]
    s.keep(Skills).handed += _texts(s, found, words, wish.args)
    return ToolOutput(f"Launching skill: {asked}", data)


ACTION: Action[Wish] = Action(Wish, run, check)


def _called(context: ToolContext, wish: Wish) -> Component[Skill]:
    if not isinstance(context, CallContext):
        raise ToolError("Skills need a session.")
    s = context.session
    found, problem = called_skill(s.parts.catalog, s.keep(Ecosystem).view, wish.skill, local_names())
    if found is None:
        raise ToolError(problem)
    return found


def _texts(s: Session, found: Component[Skill], words: str, arguments: str) -> list[str]:
    """What goes behind the result: the instructions, unless the conversation has them already."""
    loaded = s.keep(Skills).loaded
    before, loaded[found.name] = loaded.pop(found.name, None), words
    if before == words:
        return [again(found.name, arguments, unchanged=True)]
    texts = [words] if before is None else [again(found.name, arguments, unchanged=False), words]
    others = [] if found.value.area else variants(s.parts.catalog, found.name)
    if others:
        rows = [f"- `{name}` — for files under {area}/" for name, area in others]
        head = f'Directory-scoped variants of the "{found.name}" skill exist in this repo:'
        lines = "\n".join([head, *rows, text("skill_variants")])
        texts.append(reminder(lines))
    # As in the reference: messages that follow each other are separated by a line end.
    return [*(f"{each}\n" for each in texts[:-1]), texts[-1]]
