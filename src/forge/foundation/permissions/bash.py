"""Decisions on shell commands: deny, ask, dangerous removals, mode, approval of parts, a strict look."""

from __future__ import annotations

from forge.foundation.permissions.approval import approve
from forge.foundation.permissions.commandrule import begins, forbids, matches_text
from forge.foundation.permissions.compound import SUBSHELL
from forge.foundation.permissions.disguise import quoted_command, script_of, started
from forge.foundation.permissions.files import rule_on_path
from forge.foundation.permissions.parser import parse
from forge.foundation.permissions.places import inside, within
from forge.foundation.permissions.reach import plain_words, walk
from forge.foundation.permissions.removal import dangerous_removal, unknown_removal
from forge.foundation.permissions.situation import Decision

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.rule import Rule
    from forge.foundation.permissions.situation import Situation
    from forge.foundation.permissions.syntax import Script, Simple

HIDDEN = "A permission rule denies a command in this shell -c script"
LOST = "This command changes directory too often for the rules on paths to be checked"
GENERIC = "Claude requested permissions to use Bash, but you haven't granted it yet."
_MAX_DEPTH = 4


def decide_bash(command: str, s: Situation) -> Decision:
    """Decide on a command line in the order deny, ask, safety, mode, approval.

    What would be allowed is looked at once more for denied commands in disguise.
    """
    script = parse(command, s.home)
    inner = _scripts(script, s, _MAX_DEPTH)
    decision = (
        _ruled(command, script, s, strict=False) or _removal([script, *inner], s) or _blocked(script, s)
    )
    if not decision and s.mode == "bypassPermissions":
        decision = Decision("allow", reason_type="mode")
    decision = decision or approve(command, script, s)
    if decision.verdict != "allow" or not (s.having("deny") or s.having("ask")):
        return decision
    return _ruled(command, script, s, strict=True) or _hidden(inner, s) or decision


def _scripts(script: Script, s: Situation, depth: int) -> list[Script]:
    """The scripts given to shells with -c, and the scripts inside those."""
    found: list[Script] = []
    for simple in script.commands if depth else ():
        for words in started(simple, strict=True):
            text = script_of(words)
            if text:
                inner = parse(text, s.home)
                found += [inner, *_scripts(inner, s, depth - 1)]
    return found


def _ruled(command: str, script: Script, s: Situation, *, strict: bool) -> Decision | None:
    """The deny or ask rule that decides, if there is one."""
    lines = [words for simple in script.commands for words in started(simple, strict=strict)]
    texts = [quoted_command(words, strict=strict) for words in lines]
    parts = [*script.commands, *(inner for text in texts if text for inner in parse(text, s.home).commands)]
    denied = _matching(command, parts, s.having("deny"), strict=strict)
    if not denied and (script.problems or script.unclosed):
        denied = next((rule for rule in s.having("deny") if begins(rule, command)), None)
    if denied:
        whole = denied.content == command.strip()
        kind = "rule" if whole or script.problems else "subcommandResults"
        return Decision("deny", _refusal(command), reason_type=kind, rule=denied)
    if strict or all(problem == SUBSHELL for problem in script.problems):
        blocked = _denied_path(command, script, s, strict=strict)
        if blocked:
            return blocked
    asked = _matching(command, parts, s.having("ask"), strict=strict)
    return Decision("ask", GENERIC, reason_type="rule", rule=asked) if asked else None


def _matching(command: str, parts: list[Simple], rules: list[Rule], *, strict: bool) -> Rule | None:
    for rule in rules:
        if rule.tool != "Bash" or rule.content is None:
            continue
        if matches_text(rule.content, command) or any(forbids(rule, part, strict=strict) for part in parts):
            return rule
    return None


def _refusal(command: str) -> str:
    return f"Permission to use Bash with command {command} has been denied."


def _denied_path(command: str, script: Script, s: Situation, *, strict: bool) -> Decision | None:
    """The path rule that a file command or a redirection runs into."""
    reached = walk(script, s, strict=strict)
    for touch in sorted(reached.touches, key=lambda touch: touch.name == "cd"):
        for path in dict.fromkeys((touch.path, touch.other)):
            rule = rule_on_path("Read", "deny", path, s) if touch.reads else None
            if not rule and touch.writes:
                rule = rule_on_path("Edit", "deny", path, s)
            if rule and (reached.changes or script.subshell):
                text = f"{touch.name} {'to' if touch.writes else 'from'} '{path}' was blocked by a deny rule."
                return Decision("deny", text, reason_type="rule", rule=rule)
            if rule:
                return Decision("deny", _refusal(command), reason_type="subcommandResults", rule=rule)
    if reached.lost and any(rule.tool in ("Read", "Edit") for rule in s.having("deny")):
        return Decision("ask", LOST, reason_type="safetyCheck", reason=LOST)
    return None


def _hidden(inner: list[Script], s: Situation) -> Decision | None:
    """A denied command in a script for another shell: a person must look at it."""
    if any(_matching("", script.commands, s.having("deny"), strict=True) for script in inner):
        return Decision("ask", HIDDEN, reason_type="safetyCheck", reason=HIDDEN)
    return None


def _removal(scripts: list[Script], s: Situation) -> Decision | None:
    for script in scripts:
        lines = [words for words in map(plain_words, script.commands) if words]
        moved = any(words[0].value == "cd" for words in lines)
        dangers = [dangerous_removal(words, s, moved=moved) for words in lines]
        behind = [words for simple in script.commands for words in started(simple, strict=True)]
        danger = next((d for d in [*dangers, *map(unknown_removal, behind)] if d), None)
        if danger:
            return Decision("ask", danger.message, reason_type="safetyCheck", reason=danger.reason)
    return None


def _blocked(script: Script, s: Situation) -> Decision | None:
    """Paths outside the working directories where settings forbid them in every mode."""
    if not (s.block_reads_outside or s.block_writes_outside):
        return None
    for touch in walk(script, s).touches:
        forbidden = s.block_writes_outside if touch.writes else s.block_reads_outside
        if forbidden and not inside(touch.path, s) and not within(touch.path, s.block_reads_exempt):
            setting = f"permissions.block{'Writes' if touch.writes else 'Reads'}OutsideWorkingDirectories"
            text = f"{touch.path} is outside the working directories, and the {setting} setting is on."
            return Decision("ask", text, reason_type="safetyCheck", reason=text, blocked_path=touch.path)
    return None
