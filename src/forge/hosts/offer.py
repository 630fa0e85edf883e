"""Which tools there are in a run, and which of them the model is offered."""

from __future__ import annotations

from forge.agent.session import Structured
from forge.agent.structured import NAME as STRUCTURED_OUTPUT
from forge.agent.structured import structured_output_tool
from forge.agent.team.agent_tools import agent_tools
from forge.agent.toolset import Circumstances, absence, fitted
from forge.core.model import ModelCard
from forge.core.registry import Component, Registry
from forge.core.shell.builtin import shell_tools
from forge.core.tool import Tool
from forge.core.tools.builtin import builtin_tools
from forge.foundation.origin import Scope
from forge.foundation.permissions.decide import removed
from forge.foundation.permissions.rule import LEGACY_NAMES
from forge.hosts.configuration import Configuration
from forge.hosts.guarding import has_guarded_tools
from forge.hosts.options import RunOptions

TOOL_ORDER = (Scope.MANAGED, Scope.SESSION, Scope.PROJECT, Scope.USER, Scope.PLUGIN, Scope.BUILTIN)

# Offered when named in --tools or an allow rule; models of other vendors always get them.
ON_DEMAND = frozenset({"Grep", "Glob"})
# With the setting `airGap` Forge itself talks to the configured model and to nothing else. Without a provider
# that searches, WebSearch is absent then.
NETWORK_TOOLS = frozenset({"WebFetch"})
BARE_TOOLS = frozenset({"Bash", "Edit", "Read"})
SKILL = "Skill"


def offered(o: RunOptions, c: Configuration, card: ModelCard, names: list[str]) -> frozenset[str]:
    """The names of the tools this run offers."""
    online = NETWORK_TOOLS if c.settings.get("airGap", False) else frozenset()
    if o.tools is not None:
        named = [LEGACY_NAMES.get(n, n) for value in o.tools for n in value.replace(",", " ").split()]
        if named != ["default"]:
            return frozenset(named) - online | {STRUCTURED_OUTPUT}
    if o.bare:
        return BARE_TOOLS | {STRUCTURED_OUTPUT}
    allowed = {r.tool for r in c.rules if r.behavior == "allow"}
    # Who cannot search in the shell gets the tools for it.
    unused = card.provider == "anthropic" and not removed("Bash", c.rules)
    hidden = ON_DEMAND - allowed if unused else frozenset()
    off = {SKILL} if o.disable_slash_commands else frozenset()
    return frozenset(names) - hidden - online - off


def circumstances(o: RunOptions, c: Configuration, card: ModelCard) -> Circumstances:
    """What decides whether a tool makes sense in this run."""
    answers = bool(o.permission_prompt_tool)
    return Circumstances(card, c.env, c.settings.get, answers, has_guarded_tools(o, c))


def all_tools(structured: Structured | None, where: Circumstances) -> Registry[Tool]:
    """Every tool that makes sense for this run."""
    registry: Registry[Tool] = Registry(TOOL_ORDER)
    tools = [*builtin_tools(), *shell_tools(guarded=where.guarded), *agent_tools()]
    tools = [fitted(tool, where) for tool in tools if not absence(tool, where)]
    if structured is not None:
        tools.append(structured_output_tool(structured))
    for tool in tools:
        registry.add(Component(tool.name, tool, tool.origin))
    return registry
