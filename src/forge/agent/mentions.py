"""`@path` in a prompt: the file or directory is read before the model is asked."""

from __future__ import annotations

import os
import re
from typing import Any

import msgspec

from forge.agent.context import CallContext
from forge.agent.memory import MENTION, Touch, touched
from forge.agent.session import Prompt, Reminder, Session
from forge.core.message import Image, ToolUse
from forge.core.reminder import reminder
from forge.core.tool import ToolError
from forge.foundation.encode import dumps
from forge.foundation.permissions.decide import decide
from forge.foundation.permissions.places import resolve

_MENTION = re.compile(r'(?:^|(?<=\s))@(?:"([^"]+)"|(\S+))')
_LINES = re.compile(r"#L(\d+)(?:-L?(\d+))?$")
MAX_MENTIONS = 20
MAX_ENTRIES = 1000


async def mentioned(s: Session, prompt: Prompt) -> list[Reminder]:
    """Reminders with the content of every path the prompt mentions that exists and may be read."""
    return await mentioned_in(s, prompt.text)


async def mentioned_in(s: Session, words: str) -> list[Reminder]:
    """The same for a text; names in quotes come first."""
    if "@" not in words:
        return []
    found: list[Reminder] = []
    touches: list[Touch] = []
    pairs = _MENTION.findall(words)
    names = dict.fromkeys([quoted for quoted, _ in pairs if quoted] + [plain for _, plain in pairs if plain])
    for name in list(names)[:MAX_MENTIONS]:
        kind, path = _target(s, _LINES.sub("", name))
        if kind == "directory":
            found += _directory(s, path)
        elif kind == "file":
            told = await _file(s, path, _LINES.search(name))
            found += told
            touches += [Touch(path, True)] if told else []
    found += await touched(s, touches, MENTION)
    return [_separated(r) if 0 < n < len(found) - 1 else r for n, r in enumerate(found)]


def _separated(reminder: Reminder) -> Reminder:
    # As in the reference: messages that follow each other are separated by a line end.
    return msgspec.structs.replace(reminder, text=f"{reminder.text}\n")


def _target(s: Session, name: str) -> tuple[str, str]:
    """What a mention names: a file, a directory or nothing."""
    path = resolve(name, s.situation)
    if os.path.isdir(path):
        return "directory", path
    return ("file", path) if os.path.isfile(path) else ("", path)


async def _file(s: Session, path: str, lines: re.Match[str] | None) -> list[Reminder]:
    shown: dict[str, Any] = {"file_path": path}
    arguments = dict(shown)
    if lines is not None:
        first, last = int(lines[1]), int(lines[2] or lines[1])
        arguments |= {"offset": first, "limit": max(1, last - first + 1)}
    tool = s.find_tool("Read")
    if tool is None or decide("Read", shown, s.situation).verdict != "allow":
        return []
    action = tool.load()
    context = CallContext(s, ToolUse(s.parts.new_id(), "Read", arguments))
    try:
        output = await action.run(msgspec.convert(arguments, action.args), context)
    except ToolError:
        return []
    if isinstance(output.content, str):
        return _called("Read", shown, output.content)
    pictures = [block for block in output.content if isinstance(block, Image)]
    return _shown(s, path, pictures[0], output.data) if len(pictures) == 1 else []


def _shown(s: Session, path: str, picture: Image, data: Any) -> list[Reminder]:
    """An image, kept as the reference keeps it."""
    call = _called("Read", {"file_path": path}, "")[0]
    facts = {"filename": path, "content": data, "displayPath": os.path.relpath(path, s.situation.cwd)}
    return [Reminder("file", call.text, facts, picture=picture)]


def _directory(s: Session, path: str) -> list[Reminder]:
    command = {"command": f"ls {path}", "description": f"Lists files in {path}"}
    if decide("Read", {"file_path": path}, s.situation).verdict != "allow":
        return []
    try:
        names = sorted(n for n in os.listdir(path) if not n.startswith("."))
    except OSError:
        return []
    more = [f"... and {len(names) - MAX_ENTRIES} more"] if len(names) > MAX_ENTRIES else []
    return _called("Bash", command, "\n".join(names[:MAX_ENTRIES] + more))


def _called(tool: str, arguments: dict[str, Any], result: str) -> list[Reminder]:
    given = dumps(arguments).decode()
    called = reminder(f"Called the {tool} tool with the following input: {given}")
    told = reminder(f"Result of calling the {tool} tool:\n{result}")
    # Under a name of its own: of a "file" the reference wants the data, not the words.
    return [Reminder("mention", called), Reminder("mention", told)]
