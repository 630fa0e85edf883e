"""Questions about the paths of a shell command: outside the working directories, or files to be changed."""

from __future__ import annotations

from forge.foundation.permissions.files import rule_on_path
from forge.foundation.permissions.modes import EDITING
from forge.foundation.permissions.parts import APPROVAL, why_ask
from forge.foundation.permissions.places import inside, is_plan, within
from forge.foundation.permissions.reach import ENVIRON, EXPANSION
from forge.foundation.permissions.situation import Decision
from forge.foundation.permissions.suggest import (
    accept_edits,
    add_directory,
    add_rules,
    allow_reading,
    rule_for,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.reach import Touch, Walk
    from forge.foundation.permissions.situation import Situation
    from forge.foundation.permissions.syntax import Script

_PURPOSES = {
    "cat": "concatenate files from",
    "ls": "list files in",
    "cd": "change directories to",
    "head": "read the beginning of files from",
    "tail": "read the end of files from",
    "grep": "search for patterns in files from",
    "find": "search files in",
    "git": "access files with git from",
}
BYPASS = "manual approval required to prevent path resolution bypass"
CD_WRITE = f"Compound command contains cd with write operation - {BYPASS}"
CD_REDIRECT = f"Compound command contains cd with output redirection - {BYPASS}"
UNCLEAR_INPUT = "Input redirection target is a glob or follows a cd - manual approval required"


def path_question(command: str, script: Script, reached: Walk, s: Situation) -> Decision | None:
    """The first path that needs approval, as a question; None if all are free."""
    for touch in reached.touches:
        complaint = _complaint(touch, reached)
        if complaint:
            return complaint
        if not _free(touch, s):
            return _question(command, touch, script, s)
        if touch.complaint:
            return _other(touch.complaint, touch.word.value)
    waiting = [simple for simple in script.commands if why_ask(simple, s)]
    if len(waiting) == 1 and why_ask(waiting[0], s) == APPROVAL:
        touched = [t for t in reached.touches if t.simple is waiting[0] and t.writes and t.kind != "redirect"]
        return _question(command, touched[0], script, s) if touched else None
    return None


def _complaint(touch: Touch, reached: Walk) -> Decision | None:
    """What makes it impossible to say which path is meant, or too dangerous to name it."""
    unclear = _unclear(touch, reached)
    if unclear:
        return _other(unclear, touch.word.value if unclear == UNCLEAR_INPUT else None)
    if touch.complaint == ENVIRON or (touch.complaint == EXPANSION and touch.kind == "redirect"):
        return _other(touch.complaint, None)
    return None


def _unclear(touch: Touch, reached: Walk) -> str:
    if touch.kind == "input" and (touch.word.glob or reached.unsettled):
        return UNCLEAR_INPUT
    if not reached.unsettled or not touch.writes:
        return ""
    return CD_REDIRECT if touch.kind == "redirect" else CD_WRITE


def _other(reason: str, path: str | None) -> Decision:
    return Decision("ask", reason, reason_type="other", reason=reason, blocked_path=path)


def _free(touch: Touch, s: Situation) -> bool:
    path = touch.path
    if is_plan(path, s):
        return True
    if touch.kind in ("read", "input"):
        return inside(path, s) or within(path, s.free_read_dirs) or _ruled("Read", path, s)
    if touch.kind == "redirect":
        free = (s.mode in EDITING and inside(path, s)) or within(path, s.free_write_dirs)
        return free or _ruled("Edit", path, s)
    return inside(path, s) or _ruled("Edit", path, s)


def _ruled(kind: str, path: str, s: Situation) -> bool:
    return rule_on_path(kind, "allow", path, s) is not None


def _question(command: str, touch: Touch, script: Script, s: Situation) -> Decision:
    allowed = ", ".join(f"'{path}'" for path in s.directories)
    subject = {
        "redirect": f"Output redirection to '{touch.path}'",
        "input": f"Input redirection from '{touch.path}'",
    }.get(touch.kind, f"{touch.name} in '{touch.path}'")
    if touch.writes:
        message = subject + _writing(touch, allowed, s)
    else:
        purpose = "read files in" if touch.kind == "input" else _PURPOSES.get(touch.name, "read files from")
        message = (
            f"{subject} was blocked. For security, Claude Code may only {purpose} the allowed working"
            f" directories for this session: {allowed}."
        )
    return Decision("ask", message, blocked_path=touch.path, suggestions=_suggestions(command, touch, script))


def _writing(touch: Touch, allowed: str, s: Situation) -> str:
    if inside(touch.path, s):
        return (
            f" needs approval. The path is inside the working directories for this session ({allowed}), and"
            " Claude Code asks before a shell command creates, changes or removes files there."
        )
    return (
        f" needs approval. The path is outside the working directories for this session ({allowed}). Allowing"
        " runs the command as written."
    )


def _suggestions(command: str, touch: Touch, script: Script) -> list[dict[str, object]]:
    simple = touch.simple
    if touch.path == "/" or simple is None:
        return []
    alone = len(script.commands) == 1
    found = [add_rules([rule_for(simple, command) if alone else command])]
    if not touch.writes:
        return [*found, allow_reading(touch.path)]
    found.append(add_directory(touch.path))
    return found if touch.kind == "redirect" else [*found, accept_edits()]
