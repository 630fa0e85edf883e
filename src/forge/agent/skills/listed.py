"""Skills in a conversation: the list the model gets, what was used, and what touched files bring in."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from forge.agent.done import Done
from forge.agent.event import Noted
from forge.agent.hooks.port import Told
from forge.agent.hooks.sites import tell, tell_now
from forge.agent.local import local_names
from forge.agent.session import Reminder, Session
from forge.agent.skills.ecosystem import Ecosystem, listing_limits
from forge.agent.team.agents import listing as agent_listing
from forge.core.components.listing import HEADING, listing, typable
from forge.core.message import Aside, Text, ToolUse
from forge.core.reminder import plain, reminder
from forge.foundation.permissions.places import resolve

if TYPE_CHECKING:
    from collections.abc import Callable

    from forge.core.components.nested import Touch

TOOL = "Skill"
LISTING = "skill_listing"
AGENTS = "agent_listing_delta"
# Of what was used, this much is told again after a compaction: per skill and in all, in characters.
KEPT_OF_ONE, KEPT_OF_ALL = 20_000, 100_000

_FIELDS = {"Read": "file_path", "Edit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}


class Skills:
    """What a session has told its model about skills, and those it has used: name → text.

    `handed` are texts of skills that go behind the results of the calls under way.
    """

    def __init__(self) -> None:
        self.told = 0
        self.loaded: dict[str, str] = {}
        self.handed: list[str] = []

    def begin_anew(self) -> None:
        """Another conversation uses none of them yet."""
        self.loaded = {}

    def after_compaction(self) -> str:
        """The skills in use, the newest first as long as there is room."""
        left = KEPT_OF_ALL
        kept: list[str] = []
        for name, words in reversed(self.loaded.items()):
            part = words[: min(KEPT_OF_ONE, left)]
            if not part:
                break
            left -= len(part)
            kept.append(f"### Skill: {name}\n\n{part}")
        if not kept:
            return ""
        return "\n\n".join(["Skills used so far; their instructions still apply:", *reversed(kept)])


class Nested:
    """The skills that touched files have brought in, and the way to take them out again."""

    def __init__(self) -> None:
        self.touch: Touch | None = None
        self.remove: Callable[[], None] | None = None


def skill_list(s: Session) -> str:
    """What the model reads about the skills it can use; empty without any."""
    limits = listing_limits(s.model.card, s.parts.env, s.parts.setting)
    return listing(s.parts.catalog, s.keep(Ecosystem).view, limits)


def slash_commands(s: Session) -> list[str]:
    """Everything a user may type after a slash: skills and commands, then what Forge answers itself."""
    view = s.keep(Ecosystem).view
    if view.disabled:
        return local_names()
    found = typable(s.parts.catalog, view)
    return [*found, *(name for name in local_names() if name not in found)]


def tell_skills(s: Session) -> None:
    """Puts the list of skills in front of the first prompt; a resumed conversation gets a changed one."""
    s.keep(Skills).told = s.keep(Ecosystem).version
    if s.find_tool(TOOL) is None:
        return
    words = skill_list(s)
    standing = [Reminder(LISTING, reminder(words))] if words else []
    s.standing = [*(r for r in s.standing if r.kind != LISTING), *standing]
    if not s.messages or (words and words not in _last_list(s)):
        s.reminders = [*(r for r in s.reminders if r.kind != LISTING), *standing]


def component_news(s: Session) -> None:
    """Tells the model the lists anew when components came or went since it last heard them."""
    mine, version = s.keep(Skills), s.keep(Ecosystem).version
    if mine.told == version:
        return
    mine.told = version
    told: list[Told] = []
    if s.find_tool("Agent") is not None:
        told.append(Told(AGENTS, plain(agent_listing(s.parts.agents))))
    words = skill_list(s) if s.find_tool(TOOL) is not None else ""
    if words:
        told.append(Told(LISTING, words))
    kinds = {t.kind: Reminder(t.kind, reminder(t.text)) for t in told}
    s.standing = [*(r for r in s.standing if r.kind not in (AGENTS, LISTING)), *kinds.values()]
    tell_now(s, told)


def skills_of_calls(s: Session, calls: list[ToolUse], done: Mapping[str, Done]) -> None:
    """After tool calls: the texts of skills they used, and the skills of files they touched."""
    _hand_over(s)
    eco = s.keep(Ecosystem)
    if eco.view.disabled or s.find_tool(TOOL) is None:
        return
    for call in calls:
        outcome, named = done.get(call.id), call.input.get(_FIELDS.get(call.name, ""))
        if outcome is None or not isinstance(named, str) or "non_execution_kind" in (outcome.meta or {}):
            continue
        _touched(s, eco, resolve(named, s.situation))


def _hand_over(s: Session) -> None:
    skills = s.keep(Skills)
    handed, skills.handed = skills.handed, []
    for words in handed:
        uuid = s.parts.new_id()
        s.recorder.prompt(uuid, [Text(words)], isMeta=True)
        s.turn.asides.append(Text(words))
        s.turn.user_events += 1
        s.emit(Noted(uuid, words, synthetic=True))


def _touched(s: Session, eco: Ecosystem, path: str) -> None:
    nested = import_module("forge.core.components.nested")
    kept, catalog = s.keep(Nested), s.parts.catalog
    before = kept.touch or nested.NOTHING
    touch: Touch | None = nested.touched(catalog, eco.view, s.situation.start_dir, path, before)
    if touch is None:
        return
    if kept.remove is not None:
        kept.remove()
    kept.touch, kept.remove = touch, catalog.add(touch.contribution)
    eco.view = msgspec.structs.replace(eco.view, active=eco.view.active | touch.active)
    words = nested.announcement(catalog, eco.view, touch)
    if words:
        tell(s, [Told(LISTING, words)])


def _last_list(s: Session) -> str:
    """The newest list of skills in the conversation."""
    texts = [b.text for m in s.messages for b in m.blocks if isinstance(b, Text | Aside)]
    return next((t for t in reversed(texts) if plain(t).startswith(HEADING)), "")
