"""Decisions on reading and writing files, by path."""

from __future__ import annotations

from forge.foundation.permissions.modes import EDITING
from forge.foundation.permissions.pattern import matches_path
from forge.foundation.permissions.places import (
    forms,
    inside,
    is_plan,
    own_configuration,
    protected,
    resolve,
    within,
)
from forge.foundation.permissions.situation import Decision
from forge.foundation.permissions.suggest import accept_edits, add_directory, allow_reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.rule import Rule
    from forge.foundation.permissions.situation import Situation

DENIED_DIRECTORY = "File is in a directory that is denied by your permission settings."
DENIED_BY_READ = "File is covered by a Read deny rule in your permission settings and cannot be written."
READ_TOOLS = frozenset({"Read", "Grep", "Glob", "LS", "LSP", "NotebookRead"})
WRITE_TOOLS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
OUTSIDE = "Path is outside allowed working directories"
_PATH_FIELDS = ("file_path", "filePath", "notebook_path", "path")


def path_of(input: dict[str, object], s: Situation) -> str:
    """The absolute path a file tool works on; searching tools default to the current directory."""
    for field in _PATH_FIELDS:
        value = input.get(field)
        if isinstance(value, str) and value:
            return resolve(value, s)
    return s.cwd


def rule_on_path(kind: str, behavior: str, path: str, s: Situation) -> Rule | None:
    """A rule `kind(pattern)` of a behavior that covers the path.

    For deny and ask it is enough that the path or what it links to is covered; for allow both must be, each
    by some rule.
    """
    rules = [r for r in s.rules if r.behavior == behavior and r.tool == kind and r.content not in (None, "*")]
    found = None
    for place in forms(path) if rules else ():
        covering = next((rule for rule in rules if matches_path(rule, place, s)), None)
        if behavior != "allow" and covering:
            return covering
        if behavior == "allow" and not covering:
            return None
        found = covering
    return found


def readable(path: str, s: Situation) -> bool:
    """False for files that a Read deny rule hides from searches."""
    return rule_on_path("Read", "deny", resolve(path, s), s) is None


def decide_read(path: str, s: Situation) -> Decision:
    """Decide on reading a path with a file tool; bare rules and modes are the caller's."""
    denied = rule_on_path("Read", "deny", path, s)
    if denied:
        return Decision("deny", DENIED_DIRECTORY, reason_type="rule", rule=denied, tool_error=True)
    if s.block_reads_outside and not inside(path, s) and not within(path, s.block_reads_exempt):
        return _blocked(path, "blockReadsOutsideWorkingDirectories", "reads", s)
    message = f"Claude requested permissions to read from {path}, but you haven't granted it yet."
    asked = rule_on_path("Read", "ask", path, s)
    if asked:
        return Decision("ask", message, reason_type="rule", rule=asked)
    if is_plan(path, s) or _may_read(path, s):
        return Decision("allow", reason_type=_of_plan(path, s))
    target = forms(path)[-1]
    if target != path and within(path, [*s.directories, target]):
        reason = leads_outside(path, target)
        return Decision(
            "ask",
            message,
            reason_type="workingDir",
            reason=reason,
            blocked_path=target,
            suggestions=[allow_reading(path), allow_reading(target)],
        )
    suggestions = [allow_reading(path)]
    return Decision("ask", message, reason_type="workingDir", reason=OUTSIDE, suggestions=suggestions)


def decide_write(tool: str, path: str, s: Situation) -> Decision:
    """Decide on writing a path with a file tool; bare rules and other modes are the caller's."""
    denied = _denied_write(path, s)
    if denied:
        return denied
    message = f"Claude requested permissions to write to {path}, but you haven't granted it yet."
    asked = rule_on_path("Edit", "ask", path, s)
    if asked:
        return Decision("ask", message, reason_type="rule", rule=asked)
    sensitive = sensitive_write(path, s)
    if sensitive:
        return Decision(
            "ask",
            sensitive,
            reason_type="safetyCheck",
            reason=sensitive,
            blocked_path=forms(path)[-1] if len(forms(path)) > 1 else None,
            suggestions=[accept_edits()],
        )
    if may_write(path, s) or (_covers_all(tool, s) and within(path, [s.start_dir])):
        return Decision("allow", reason_type=_of_plan(path, s))
    if inside(path, s):
        return Decision("ask", message, suggestions=[accept_edits()])
    suggestions = [accept_edits(), add_directory(path)]
    return Decision("ask", message, reason_type="workingDir", reason=OUTSIDE, suggestions=suggestions)


def sensitive_write(path: str, s: Situation) -> str:
    """Why no rule for a whole tool may approve writing a path; empty if one may."""
    real = forms(path)[-1]
    if within(path, s.free_write_dirs) or is_plan(path, s):
        return ""
    if protected(path):
        if own_configuration(path):
            return f"Claude requested permissions to write to {path}, but you haven't granted it yet."
        return f"Claude requested permissions to edit {path} which is a sensitive file."
    if protected(real):
        return (
            f"Claude requested permissions to edit {path} which is a sensitive file. {path} resolves through"
            f" a symlink to {real}."
        )
    if real != path and within(path, [*s.directories, real]) and not inside(path, s):
        return "" if rule_on_path("Edit", "allow", path, s) else leads_outside(path, real)
    return ""


def leads_outside(path: str, target: str) -> str:
    """What to say about a link out of the working directories."""
    return f"{path} resolves through a symlink to {target}, which is outside the allowed working directories"


def may_write(path: str, s: Situation) -> bool:
    """Whether an unprotected path may be written without approval."""
    if is_plan(path, s):
        return True
    if (s.mode in EDITING and inside(path, s)) or within(path, s.free_write_dirs):
        return True
    return rule_on_path("Edit", "allow", path, s) is not None


def _of_plan(path: str, s: Situation) -> str | None:
    """The kind of reason that hosts hear when the plan of the session is read or written."""
    return "other" if is_plan(path, s) else None


def _may_read(path: str, s: Situation) -> bool:
    if inside(path, s) or within(path, [*s.free_read_dirs, *s.free_write_dirs]):
        return True
    if rule_on_path("Read", "allow", path, s):
        return True
    return not protected(path) and rule_on_path("Edit", "allow", path, s) is not None


def _denied_write(path: str, s: Situation) -> Decision | None:
    denied = rule_on_path("Edit", "deny", path, s)
    if denied:
        return Decision("deny", DENIED_DIRECTORY, reason_type="rule", rule=denied, tool_error=True)
    hidden = rule_on_path("Read", "deny", path, s)
    if hidden:
        return Decision("deny", DENIED_BY_READ, reason_type="rule", rule=hidden, tool_error=True)
    if s.block_writes_outside and not inside(path, s):
        return _blocked(path, "blockWritesOutsideWorkingDirectories", "writes", s)
    return None


def _blocked(path: str, setting: str, what: str, s: Situation) -> Decision:
    text = (
        f"{path} is outside {', '.join(s.directories)}; the permissions.{setting} setting blocks {what}"
        " outside the working directories."
    )
    return Decision("deny", text, reason_type="other", reason=text)


def _covers_all(tool: str, s: Situation) -> bool:
    """`Write(*)` and `Edit(*)` allow their own tool below the start directory."""
    return any(rule.tool == tool and rule.content == "*" for rule in s.having("allow"))
