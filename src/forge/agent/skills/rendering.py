"""The text of a skill as the model gets it: placeholders filled, commands run under the rules for Bash."""

from __future__ import annotations

import msgspec

from forge.agent.context import CallContext
from forge.agent.session import Session
from forge.agent.skills.grants import around, rules_of
from forge.core.components.kinds import Skill
from forge.core.components.render import Piece, prefix, render
from forge.core.components.skill_file import skill_body
from forge.core.message import ToolUse
from forge.core.tool import Tool, ToolError
from forge.foundation.errors import ForgeError
from forge.foundation.permissions.decide import decide, removed
from forge.foundation.permissions.situation import Situation

SWITCHED_OFF = "[shell command execution disabled by policy]"


class Unrendered(ForgeError):
    """A skill cannot be used now: its file is gone, or a command in it may not run or has failed."""


async def rendered(s: Session, skill: Skill, arguments: str) -> str:
    """The instructions of a skill that was called with these arguments; raises Unrendered."""
    try:
        body = skill_body(skill)
    except ForgeError as error:
        raise Unrendered(error.message, error.hint) from error
    pieces = render(skill, body.lstrip(), arguments, around(s))
    texts = [await _output(s, skill, piece) if piece.command else piece.text for piece in pieces]
    return prefix(skill) + "".join(texts)


async def _output(s: Session, skill: Skill, piece: Piece) -> str:
    """What a command prints; nobody is ever asked whether it may run."""
    if s.parts.setting("disableSkillShellExecution", False) is True:
        return SWITCHED_OFF
    if skill.shell == "powershell":
        raise Unrendered(f'Shell command failed for pattern "{piece.text}": only bash can be used here')
    situation = s.situation.changed(rules=[*s.situation.rules, *rules_of(s, skill)])
    tool = s.parts.tools.get("Bash")
    refusal = _refusal(tool, piece.command, situation)
    if refusal or tool is None:
        raise Unrendered(f'Shell command permission check failed for pattern "{piece.text}": {refusal}')
    action = tool.load()
    call = ToolUse(s.parts.new_id(), "Bash", {"command": piece.command})
    cwd = s.situation.cwd
    try:
        output = await action.run(msgspec.convert(call.input, action.args), CallContext(s, call))
    except ToolError as error:
        told = error.message.partition("\n")[2] if error.message.startswith("Exit code ") else error.message
        raise Unrendered(f'Shell command failed for pattern "{piece.text}": [stderr]\n{told}') from error
    finally:
        # A command inside a text does not move the conversation to another directory.
        s.situation = s.situation.changed(cwd=cwd)
    return output.content if isinstance(output.content, str) else ""


def _refusal(tool: Tool | None, command: str, situation: Situation) -> str:
    if tool is None or removed("Bash", situation.rules):
        return "Permission to use Bash has been denied."
    decision = decide("Bash", {"command": command}, situation)
    return "" if decision.verdict == "allow" else decision.message or "it needs approval"
