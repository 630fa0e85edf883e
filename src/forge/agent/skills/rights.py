"""Whether the model may use a skill without asking: not if the skill would change what else is allowed."""

from __future__ import annotations

from importlib import import_module

from forge.agent.mcp.servers import Servers
from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.core.components.listing import find_skill
from forge.core.message import ToolUse
from forge.foundation.permissions.decide import decide, settled
from forge.foundation.permissions.situation import Decision, Situation

TOOL = "Skill"


def _situation(s: Session, name: str) -> Situation:
    """What a call is judged by: a mode that asks nobody does not count for servers the host has tightened."""
    tightened = s.keep(Servers).tightened
    if not tightened or s.situation.mode not in ("bypassPermissions", "auto"):
        return s.situation
    tool = s.find_tool(name)
    asks = tool is not None and tool.remote is not None and tool.remote.server in tightened
    return s.situation.changed(mode="default") if asks else s.situation


def decide_call(s: Session, call: ToolUse, name: str) -> Decision:
    """The decision on a call of the tool `name`; skills are known under the names rules use for them."""
    decision = decide(name, call.input, _situation(s, name))
    if name != TOOL or decision.verdict != "allow":
        return decision
    asked = str(call.input.get("skill") or "").removeprefix("/")
    found = find_skill(s.parts.catalog, s.keep(Ecosystem).view, asked)
    if found is None:
        return decision
    if found.name != asked:
        decision = decide(TOOL, {"skill": found.name}, s.situation)
    needs = import_module("forge.core.components.calling").needs_permission
    if decision.verdict != "allow" or decision.reason_type or not needs(found.value):
        return decision
    message = (
        f"Execute skill: {asked}. The user can add the allow rule Skill({asked}) to"
        " .claude/settings.local.json to let it run without asking."
    )
    rule = {"toolName": TOOL, "ruleContent": asked}
    suggestion: dict[str, object] = {
        "type": "addRules",
        "rules": [rule],
        "behavior": "allow",
        "destination": "localSettings",
    }
    return settled(TOOL, Decision("ask", message, suggestions=[suggestion]), s.situation)
