"""Everything the model must hear before a request because it happened beside the conversation."""

from __future__ import annotations

from forge.agent.asides.edited import tell_edited
from forge.agent.hooks.sites import late_texts
from forge.agent.mcp.servers import tell_servers
from forge.agent.plugins.diagnostics import tell_diagnostics
from forge.agent.plugins.tools import renew_tools
from forge.agent.session import Session
from forge.agent.skills.listed import component_news


def tell_news(s: Session) -> None:
    """Late answers of hooks, changed files, components and tools that came or went, findings of servers."""
    late_texts(s)
    tell_edited(s)
    renew_tools(s)
    tell_servers(s)
    component_news(s)
    tell_diagnostics(s)
