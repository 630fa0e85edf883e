"""A typed `/name arguments` becomes the text of a skill; an `@agent-name` a wish the model hears about."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import msgspec

from forge.agent.context import CallContext
from forge.agent.ending import end
from forge.agent.event import Replied, TurnEnded
from forge.agent.hooks.port import Told
from forge.agent.hooks.turns import Expansion
from forge.agent.hooks.turns import expand as told_to_hooks
from forge.agent.ledger import usage_record
from forge.agent.local import local_names
from forge.agent.memory_commands import expand_init
from forge.agent.session import Prompt, Reminder, Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.skills.grants import grant
from forge.agent.skills.listed import Skills
from forge.agent.skills.rendering import Unrendered, rendered
from forge.agent.skills.typed import Expanded
from forge.agent.team.agents import find_agent
from forge.agent.texts.load import text
from forge.core.components.calling import split_typed, typed_skill
from forge.core.components.kinds import Skill
from forge.core.components.listing import typable
from forge.core.components.render import typed_message
from forge.core.message import Message, Text, ToolUse, Usage
from forge.core.registry import Component
from forge.core.reminder import reminder
from forge.core.tool import ToolError
from forge.foundation.suggest import closest

_MENTION = re.compile(r'(?:^|(?<=\s))@(?:agent-([\w:.-]+)|"([^"]+) \(agent\)")')
_SHOWN = 10


async def expand(s: Session, prompt: Prompt) -> Expanded:
    """What a prompt stands for."""
    typed = split_typed(prompt.text)
    if typed is None:
        return Expanded(prompt, _mentioned(s, prompt.text))
    view = s.keep(Ecosystem).view
    found, answer = typed_skill(s.parts.catalog, view, typed[0])
    if found is not None:
        return await _used(s, prompt, found, typed[1])
    if answer:
        return Expanded(prompt, ended=_answered(s, answer))
    if typed[0] == "init":
        return Expanded(expand_init(s, prompt))
    if "/" not in typed[0]:
        s.reminders.append(Reminder("unknown_command", _unknown(s, typed[0])))
    return Expanded(prompt, _mentioned(s, prompt.text))


async def _used(s: Session, prompt: Prompt, found: Component[Skill], arguments: str) -> Expanded:
    skill = found.value
    expansion = Expansion(found.name, arguments, prompt.text, found.origin.scope.value)
    submitted = await told_to_hooks(s, prompt, expansion)
    if submitted.ended is not None:
        return Expanded(prompt, ended=submitted.ended)
    try:
        words = await rendered(s, skill, arguments)
    except Unrendered as error:
        return Expanded(prompt, ended=_answered(s, str(error)))
    grant(s, found, typed=True)
    called = typed_message(found.name, arguments)
    if skill.fork:
        return Expanded(prompt, ended=await _forked(s, prompt, found, (called, words)))
    s.keep(Skills).loaded[found.name] = words
    # As in the reference: messages that follow each other are separated by a line end.
    others = [block for block in prompt.blocks if not isinstance(block, Text)]
    content = [Text(f"{called}\n"), Text(words), *others]
    return Expanded(msgspec.structs.replace(prompt, content=content), submitted.told)


async def _forked(s: Session, prompt: Prompt, found: Component[Skill], texts: tuple[str, str]) -> TurnEnded:
    """A sub-agent follows the instructions; its report is the result and the model is not asked."""
    called, words = texts
    call = ToolUse(f"forked-command-{found.name}", "Skill", {"skill": found.name})
    s.add_prompt(msgspec.structs.replace(prompt, content=called), [])
    fork = import_module("forge.agent.skills.fork")
    try:
        report, _ = await fork.forked(CallContext(s, call), found, words)
    except ToolError as error:
        report = error.message
    s.recorder.reply(_envelope(s.parts.new_id()), [(s.parts.new_id(), Text(str(report)))])
    s.messages.append(Message("assistant", [Text(str(report))], made_by="<synthetic>"))
    return _said(s, str(report))


def _answered(s: Session, words: str) -> TurnEnded:
    """The end of a turn that leaves no trace in the conversation."""
    told = f"<local-command-stdout>{words}</local-command-stdout>"
    s.recorder.system("local_command", content=told, level="info")
    return _said(s, words)


def _said(s: Session, words: str) -> TurnEnded:
    """The end of a turn that needed no model: hosts get the text as if the model had said it."""
    uuid = s.parts.new_id()
    s.emit(Replied(uuid, _envelope(uuid), Text(words)))
    ended = end(s, result=words)
    return msgspec.structs.replace(
        ended, num_turns=0, stop_reason=None, terminal_reason="", local_command="custom"
    )


def _envelope(uuid: str) -> dict[str, Any]:
    return {
        "id": uuid,
        "type": "message",
        "role": "assistant",
        "model": "<synthetic>",
        "stop_reason": "stop_sequence",
        "stop_sequence": "",
        "usage": usage_record(Usage()),
    }


def _unknown(s: Session, name: str) -> str:
    names = [*typable(s.parts.catalog, s.keep(Ecosystem).view), *local_names()]
    near = closest(name, names)
    guess = f" The closest available command is /{near}." if near else ""
    some = ", ".join(f"/{each}" for each in names[:_SHOWN])
    words = text("unknown_command").replace("{name}", name).replace("{guess}", guess).replace("{some}", some)
    return reminder(words)


def _mentioned(s: Session, words: str) -> list[Told]:
    """What the model hears about the agents a prompt mentions; unknown names are just words."""
    names = dict.fromkeys(plain or quoted for plain, quoted in _MENTION.findall(words))
    kinds = [kind for name in names if (kind := find_agent(s.parts.agents, name)) is not None]
    if s.find_tool("Agent") is None:
        return []
    told = [text("agent_mention").replace("{name}", kind.name) for kind in kinds]
    return [Told("agent_mention", t, {"agentType": k.name}) for t, k in zip(told, kinds, strict=True)]
