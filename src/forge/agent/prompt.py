"""Prompt assembly: stable system text, and what changes (environment, git, date) as reminders to the user."""

from __future__ import annotations

import time

import msgspec

from forge.agent.session import Reminder
from forge.agent.texts.load import text
from forge.core.model import ModelCard
from forge.core.reminder import reminder


class Surroundings(msgspec.Struct, frozen=True):
    """What the model is told about where it works."""

    cwd: str
    is_git: bool
    platform: str
    shell: str
    os_version: str
    directories: list[str] = []
    git_status: str = ""


def system_prompt(
    custom: str | None, appended: str, *, bare: bool = False, notes_dir: str = "", coding: bool = True
) -> list[str]:
    """The system blocks: who the model is, then how it works; `custom` replaces the second.

    `notes_dir` is where the model keeps notes for later conversations, empty if it keeps none. Output styles
    can do without the instructions for `coding`.
    """
    own = f"{text('system_coding')}\n\n{text('system')}" if coding else text("system")
    main = custom if custom is not None else "" if bare else own
    if notes_dir and main and custom is None:
        main = f"{main}\n\n{text('memory_notes').replace('{directory}', notes_dir)}"
    if appended:
        main = f"{main}\n\n{appended}" if main else appended
    return [text("identity"), main] if main else [text("identity")]


def start_reminders(where: Surroundings, card: ModelCard, now: float, *, custom: bool) -> list[Reminder]:
    """The reminders in front of the first prompt; a custom system prompt gets no git status."""
    reminders = [
        Reminder("environment", reminder(_environment(where))),
        Reminder("model", reminder(_identity(card))),
    ]
    if where.git_status and not custom:
        words = f"{text('git_status')}\n\n{where.git_status}"
        reminders.append(Reminder("session_context", reminder(words)))
    day = time.strftime("%Y-%m-%d", time.localtime(now))
    reminders.append(Reminder("date", reminder(f"Today's date is {day}.")))
    return reminders


def _environment(where: Surroundings) -> str:
    lines = [
        "# Environment",
        f"- Working directory: {where.cwd}",
        f"- Git repository: {'yes' if where.is_git else 'no'}",
        f"- Platform: {where.platform} ({where.os_version})",
        f"- Shell: {where.shell}",
    ]
    lines += [f"- Additional working directory: {d}" for d in where.directories]
    return "\n".join(lines)


def _identity(card: ModelCard) -> str:
    known = f" Its knowledge ends in {card.knowledge_cutoff}." if card.knowledge_cutoff else ""
    return f"You run on the model {card.label or card.id} (id {card.id}).{known}"
