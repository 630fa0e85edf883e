"""Memory files in a conversation: at its start, when files are touched, after a compaction."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from forge.agent.session import Reminder, Session
from forge.agent.texts.load import text
from forge.core.components.agent_type import AgentType
from forge.core.memory.file import AUTO, Loaded, MemoryFile
from forge.core.memory.nested import load_nested, load_nested_agents
from forge.core.memory.read import Library
from forge.core.memory.sources import MemoryRequest, load_start
from forge.core.message import Aside, Text
from forge.core.reminder import is_reminder, plain, reminder

KIND = "instructions"
MENTION = "prompt.mention"

# What follows the instructions among the reminders of a first prompt.
_LATER = ("session_context", "date")
_NESTED = r"(?:^|\n| context: )Contents of (.+):\n\n"
_NESTED_STARTS = (
    "Contents of ",
    "tool.call hook additional context: ",
    "prompt.mention hook additional context: ",
)


class Memory:
    """What a conversation knows of its memory files; `request` None means that it has none."""

    def __init__(self) -> None:
        self.request: MemoryRequest | None = None
        self.library = Library()
        self.start = Loaded([])
        self.delivered: set[str] = set()
        self.looked_back = False


class Touch(msgspec.Struct, frozen=True):
    """A file a call or a prompt has named; `reads` when its content was shown."""

    path: str
    reads: bool


async def start_memory(s: Session, request: MemoryRequest) -> None:
    """Loads the files a conversation starts with; a resumed one is told only what has changed since."""
    memory = s.keep(Memory)
    memory.request = request
    memory.start = load_start(request, memory.library)
    earlier = [t for t in _told(s) if "\n\nContents of " in t]
    if earlier:
        changed = [f for f in memory.start.files if not _is_known(f, earlier)]
        if changed:
            s.reminders.append(_reminder(text("memory_changed"), changed))
    elif memory.start.files:
        s.reminders = _placed(s.reminders, _reminder(text("memory"), memory.start.files))
    if memory.start.files:
        s.standing = _placed(s.standing, _reminder(text("memory"), memory.start.files))
    await _announce(s, memory.start.files)


async def renew_memory(s: Session) -> None:
    """Reads the files of the start again, for a history that begins anew; nested ones may come back."""
    memory = s.keep(Memory)
    if memory.request is None:
        return
    memory.start = load_start(memory.request, memory.library)
    memory.delivered.clear()
    memory.looked_back = True
    kept = [r for r in s.standing if r.kind != KIND]
    files = memory.start.files
    s.standing = _placed(kept, _reminder(text("memory"), files)) if files else kept
    await _announce(s, [msgspec.structs.replace(f, load_reason="compact") for f in files])


def move_memory(s: Session, cwd: str, worktree: str) -> Reminder | None:
    """Goes on with the files of another directory; returns what the conversation does not know of them."""
    memory = s.keep(Memory)
    if memory.request is None:
        return None
    known = {f.content for f in memory.start.files}
    memory.request = msgspec.structs.replace(memory.request, cwd=cwd, worktree=worktree)
    memory.start = load_start(memory.request, memory.library)
    files = memory.start.files
    kept = [r for r in s.standing if r.kind != KIND]
    s.standing = _placed(kept, _reminder(text("memory"), files)) if files else kept
    news = [f for f in files if f.content not in known]
    return _reminder(text("memory_changed"), news) if news else None


def inherit_memory(parent: Session, child: Session, kind: AgentType) -> None:
    """Gives a sub-agent the instructions of the conversation, unless its kind does without."""
    theirs, own = parent.keep(Memory), child.keep(Memory)
    own.request, own.library, own.start = theirs.request, theirs.library, theirs.start
    if kind.omit_claude_md or not own.start.files:
        return
    told = _reminder(text("memory"), own.start.files)
    child.reminders, child.standing = _placed(child.reminders, told), _placed(child.standing, told)


async def touched(s: Session, touches: Iterable[Touch], cause: str) -> list[Reminder]:
    """The memory files that touched files bring in for the first time, as texts for the model."""
    memory = s.keep(Memory)
    request = memory.request
    if request is None:
        return []
    _look_back(s, memory)
    told: list[Reminder] = []
    for touch in touches:
        memory.delivered.add(touch.path)
        known = memory.delivered | {f.path for f in memory.start.files}
        files = load_nested(request, memory.library, touch.path, known)
        told += [_nested(f, request.cwd) for f in files]
        known |= {f.path for f in files}
        stand_ins = []
        if touch.reads and memory.start.agents_active:
            stand_ins = load_nested_agents(request, memory.library, touch.path, known)
            told += [_stand_ins(stand_ins, cause)] if stand_ins else []
        memory.delivered |= {f.path for f in (*files, *stand_ins)}
        await _announce(s, [*files, *stand_ins])
    return told


def _look_back(s: Session, memory: Memory) -> None:
    """Finds what was delivered in an earlier run of the same conversation."""
    if memory.looked_back:
        return
    memory.looked_back = True
    memory.delivered |= set(s.seen)
    for told in _told(s):
        if told.startswith(_NESTED_STARTS):
            memory.delivered.update(re.findall(_NESTED, told))


def _told(s: Session) -> list[str]:
    """What the model heard from Forge itself so far."""
    blocks = [b for m in s.messages if m.role == "user" for b in m.blocks]
    return [plain(b.text) for b in blocks if isinstance(b, Text | Aside) and is_reminder(b)]


def _is_known(file: MemoryFile, earlier: list[str]) -> bool:
    """Whether the newest copy of a file in the conversation is what it is now."""
    head = f"Contents of {file.path} ({file.label}):\n\n"
    newest = next((t for t in reversed(earlier) if head in t), "")
    return newest.endswith(file.block) or f"{file.block}\n\nContents of " in newest


def _placed(reminders: list[Reminder], told: Reminder) -> list[Reminder]:
    at = next((n for n, r in enumerate(reminders) if r.kind in _LATER), len(reminders))
    return [*reminders[:at], told, *reminders[at:]]


def _reminder(opening: str, files: list[MemoryFile]) -> Reminder:
    blocks = "\n\n".join(f.block for f in files)
    facts = [{"path": f.path, "type": f.memory_type, "content": f.content.strip()} for f in files]
    return Reminder(KIND, reminder(f"{opening}\n\n{blocks}"), {"files": facts})


def _nested(file: MemoryFile, cwd: str) -> Reminder:
    content: dict[str, Any] = {"path": file.path, "type": file.memory_type, "content": file.content}
    if file.globs:
        content["globs"] = file.globs
    facts = {"path": file.path, "content": content, "displayPath": os.path.relpath(file.path, cwd)}
    return Reminder("nested_memory", reminder(file.nested_block), facts)


def _stand_ins(files: list[MemoryFile], cause: str) -> Reminder:
    blocks = [f.nested_block for f in files]
    words = "\n".join(blocks)
    facts = {
        "content": blocks,
        "hookName": cause,
        "toolUseID": f"{cause}-context",
        "hookEvent": "PostToolUse",
    }
    told = f"{cause} hook additional context: {words}"
    if cause == MENTION:
        told = reminder(told)
    return Reminder("hook_additional_context", told, facts, aside=cause != MENTION)


async def _announce(s: Session, files: list[MemoryFile]) -> None:
    """Tells hooks of every file; what is no file of the user is not reported."""
    real = [f for f in files if f.memory_type != AUTO and os.path.isabs(f.path)]
    if real:
        await asyncio.gather(*(s.hooks.fire("InstructionsLoaded", **_facts(f)) for f in real))


def _facts(file: MemoryFile) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "file_path": file.path,
        "memory_type": file.memory_type,
        "load_reason": file.load_reason,
    }
    if file.globs:
        facts["globs"] = [g.removesuffix("/**") for g in file.globs]
    if file.trigger:
        facts["trigger_file_path"] = file.trigger
    if file.parent:
        facts["parent_file_path"] = file.parent
    return facts
