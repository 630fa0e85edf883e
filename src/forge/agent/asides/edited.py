"""Files the model has written and somebody else has changed since: it hears what they say now."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from forge.agent.session import Session
from forge.agent.texts.load import text
from forge.core.message import Text
from forge.core.reminder import reminder
from forge.core.seen import stamp
from forge.core.written import Written

_MOST_BYTES = 256 * 1024
_MOST_SHOWN = 8_000


def tell_edited(s: Session) -> None:
    """Puts the changes since the last request into the history; the files count as seen with them."""
    written = s.keep(Written)
    for path, old in list(written.texts.items()):
        new = _reread(s, path)
        if new is None:
            del written.texts[path]
        elif new != old:
            written.put(path, new)
            _tell(s, path, _snippet(old, new))


def _reread(s: Session, path: str) -> str | None:
    """The text of the file, read again if it looks changed; None if there is nothing to follow any more."""
    known = s.seen.get(path)
    try:
        status = os.stat(path)
        if known is None or known.partial or status.st_size > _MOST_BYTES:
            return None
        if (known.mtime_ns, known.size) == (status.st_mtime_ns, status.st_size):
            return s.keep(Written).texts[path]
        with open(path, "rb") as file:
            raw = file.read(_MOST_BYTES)
    except OSError:
        return None
    found: Any = import_module("forge.core.tools.textfile").decode(raw)
    if found.flaw:
        return None
    s.seen[path] = stamp(status, raw)
    return str(found.text)


def _snippet(old: str, new: str) -> str:
    """The changed places of a text with the numbers of their lines."""
    hunks: list[dict[str, Any]] = import_module("forge.core.tools.patch").structured_patch(old, new)
    shown = []
    for hunk in hunks:
        lines = [line[1:] for line in hunk["lines"] if line[0] in " +"]
        shown.append("\n".join(f"{n}\t{line}" for n, line in enumerate(lines, hunk["newStart"])))
    whole = "\n...\n".join(shown)
    return whole if len(whole) <= _MOST_SHOWN else f"{whole[:_MOST_SHOWN]}\n[...]"


def _tell(s: Session, path: str, snippet: str) -> None:
    name = os.fsencode(path).decode("utf-8", "replace")
    words = reminder(text("file_edited").replace("{path}", name).replace("{changes}", snippet))
    s.recorder.reminder("edited_text_file", words, {"filename": name, "snippet": snippet})
    s.add_user([Text(words)])
