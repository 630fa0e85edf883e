"""After tool calls: the memory files that belong to the files they have touched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from forge.agent.done import Done
from forge.agent.hooks.port import Told
from forge.agent.hooks.sites import tell
from forge.agent.memory import Memory, Touch, touched
from forge.agent.session import Session
from forge.core.message import ToolUse
from forge.core.tool import FileStamp
from forge.foundation.permissions.places import resolve

_FIELDS = {"Read": "file_path", "Edit": "file_path", "Write": "file_path", "NotebookEdit": "notebook_path"}


def files_before(s: Session) -> dict[str, FileStamp]:
    """What `memory_of_calls` compares with, to know which files a command has shown."""
    return dict(s.seen) if s.keep(Memory).request is not None else {}


async def memory_of_calls(
    s: Session, calls: list[ToolUse], done: Mapping[str, Done], before: dict[str, FileStamp]
) -> list[str]:
    """Texts to put behind the results of `calls`; they are written into the transcript here."""
    if s.keep(Memory).request is None:
        return []
    told = await touched(s, list(_touches(s, calls, done, before)), "tool.call")
    last = next((call.id for call in reversed(calls) if call.id in done), "")
    tell(s, [Told(r.kind, r.text, r.facts) for r in told if r.aside], last)
    told = [r for r in told if not r.aside]
    texts = []
    for n, reminder in enumerate(told):
        # As in the reference: blocks that follow each other are separated by a line end.
        words = reminder.text if n == len(told) - 1 else f"{reminder.text}\n"
        s.recorder.reminder(reminder.kind, words, reminder.facts)
        texts.append(words)
    return texts


def _touches(
    s: Session, calls: list[ToolUse], done: Mapping[str, Done], before: dict[str, FileStamp]
) -> Iterator[Touch]:
    for call in calls:
        outcome = done.get(call.id)
        named = call.input.get(_FIELDS.get(call.name, ""))
        if outcome is not None and isinstance(named, str) and not _refused(outcome):
            yield Touch(resolve(named, s.situation), call.name == "Read")
    if any(call.name == "Bash" for call in calls):
        yield from (Touch(path, False) for path, stamp in s.seen.items() if before.get(path) is not stamp)


def _refused(outcome: Done) -> bool:
    return "non_execution_kind" in (outcome.meta or {})
