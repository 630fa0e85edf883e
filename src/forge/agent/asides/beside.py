"""What models hear beside prompts and results: that their task list rests, and the tokens that are left."""

from __future__ import annotations

from importlib import import_module

from forge.agent.asides.tokens_left import opening_tokens, tokens_after
from forge.agent.session import Reminder, Session
from forge.core.message import Aside, Block, Message, Text, ToolResult, ToolUse

# So many texts and calls of the model without a change of the list, or since the last reminder.
REST = 10
MARK = "The task list has not been touched for a while."
CHANGES = ("TaskCreate", "TaskUpdate", "TodoWrite")


def beside_prompt(s: Session) -> list[Reminder]:
    """What a prompt comes with."""
    return [*_tasks(s), *opening_tokens(s)]


def beside_results(s: Session, results: list[ToolResult]) -> list[Block]:
    """What stands behind the last result of a reply's calls."""
    told: list[Block] = []
    for each in _tasks(s) if results else []:
        s.recorder.reminder(each.kind, each.text, each.facts, aside=True)
        told.append(Aside(each.text, results[-1].tool_use_id))
    return [*told, *tokens_after(s, results)]


def _tasks(s: Session) -> list[Reminder]:
    # Models that know asides keep their lists by themselves.
    if s.model.card.asides or not _rests(s.messages):
        return []
    told: list[Reminder] = import_module("forge.agent.asides.task_reminder").task_reminder(s)
    return told


def _rests(messages: list[Message]) -> bool:
    """Whether the model has done enough since it changed the list or was reminded of it."""
    done = 0
    for message in reversed(messages):
        for block in reversed(message.blocks):
            if isinstance(block, Aside) and block.text.startswith(MARK):
                return False
            if isinstance(block, ToolUse) and block.name in CHANGES:
                return False
            done += message.role == "assistant" and isinstance(block, Text | ToolUse)
        if done >= REST:
            return True
    return False
