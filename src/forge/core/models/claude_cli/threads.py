"""Which conversation a line belongs to: the main one, or that of a sub-agent."""

from __future__ import annotations

from forge.core.models.claude_cli.drafts import Thread
from forge.core.models.claude_cli.lines import Event
from forge.core.models.claude_cli.run import Run
from forge.core.models.claude_cli.values import text_of


def thread_of(run: Run, line: Event) -> Thread:
    """The thread named by `parent_tool_use_id`; the main one if that names no call we know."""
    parent = line.get("parent_tool_use_id")
    if type(parent) is not str or not (parent in run.children or parent in run.calls):
        return run.main
    thread = child_of(run, parent)
    describe(thread, text_of(line, "agent_id"), text_of(line, "subagent_type"))
    return thread


def child_of(run: Run, call_id: str) -> Thread:
    """The sub-agent of a call; it exists from its first sign on."""
    thread = run.children.get(call_id)
    if thread is None:
        thread = run.children[call_id] = Thread(call_id)
    return thread


def describe(thread: Thread, agent_id: str, agent_type: str, prompt: str = "") -> None:
    """Notes what a line says about a sub-agent, if it was not known yet."""
    thread.agent_id = thread.agent_id or agent_id or None
    thread.agent_type = thread.agent_type or agent_type or None
    thread.prompt = thread.prompt or prompt or None
