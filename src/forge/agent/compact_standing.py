"""What must outlive a compaction whatever the summary says: the latest request, files, tasks, the plan."""

from __future__ import annotations

import re

from forge.agent.session import Session
from forge.agent.texts.load import text
from forge.core.message import Text
from forge.core.reminder import is_reminder

_LATEST = "The latest request of the user, word for word:\n<latest-request>\n{}\n</latest-request>"
_FOUND = re.compile(r"<latest-request>\n(.*)\n</latest-request>", re.DOTALL)
# Texts in the user's place that are no request: notes of Forge and of the reference, and summaries.
_OWN = ("continue", "empty", "refused", "structured_output")
_NOTES = (
    "[Request interrupted by user",
    "This session is being continued from a previous conversation",
    "<local-command-",
    "<command-name>",
)


def standing(s: Session, room: int) -> str:
    """The words behind a summary; a long request is cut to `room` characters."""
    parts = []
    if request := latest_request(s):
        shown = request if len(request) <= room else f"{request[:room]}\n[…]"
        parts.append(_LATEST.format(shown))
    if s.seen:
        names = "\n".join(f"- {path}" for path in list(s.seen)[-30:])
        parts.append(
            f"Files read or changed so far (read them again before relying on their content):\n{names}"
        )
    parts += [told for kept in s.kept_objects() if (told := _told(kept))]
    return "".join(f"\n\n{part}" for part in parts)


def latest_request(s: Session) -> str:
    """What the user asked for last; in a resumed conversation as far as its history still tells."""
    if s.asked:
        return s.asked
    own = (*_NOTES, text("compact_summary").partition("\n")[0], *map(text, _OWN))
    for message in reversed(s.messages):
        for block in reversed(message.blocks if message.role == "user" else []):
            if not isinstance(block, Text) or is_reminder(block):
                continue
            if not block.text.startswith(own):
                return block.text
            if found := _FOUND.search(block.text):
                return found[1]
    return ""


def _told(kept: object) -> str:
    """What an object of the session (task list, plan) wants the model to know after a compaction."""
    tell = getattr(kept, "after_compaction", None)
    return str(tell()) if callable(tell) else ""
