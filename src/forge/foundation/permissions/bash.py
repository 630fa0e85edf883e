"""Decisions on shell commands: deny, ask, dangerous removals, mode, then approval of every part."""

from __future__ import annotations

from forge.foundation.permissions.approval import approve
from forge.foundation.permissions.commandrule import forbids, matches_text
from forge.foundation.permissions.files import rule_on_path
from forge.foundation.permissions.parser import parse
from forge.foundation.permissions.places import inside, within
from forge.foundation.permissions.reach import plain_words, walk
from forge.foundation.permissions.removal import dangerous_removal, unknown_removal
from forge.foundation.permissions.situation import Decision
from forge.foundation.permissions.wrappers import quoted_command, script_of, started

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.rule import Rule
    from forge.foundation.permissions.situation import Situation
    from forge.foundation.permissions.syntax import Script, Simple

HIDDEN = "A permission rule denies a command in this shell -c script"
GENERIC = "Claude requested permissions to use Bash, but you haven't granted it yet."
_MAX_DEPTH = 4


def decide_bash(command: str, s: Situation) -> Decision:
    """Decide on a command line in the order deny, ask, safety, mode, approval."""
    script = parse(command, s.home)
    parts = [*script.commands, *_quoted_commands(script, s)]
    inner = _scripts(script, s, _MAX_DEPTH)
    decision = (
        _denied(command, script, parts, s)
        or _hidden(inner, s)
        or _asked(command, script, parts, s)
        or _removal([script, *inner], s)
        or _blocked(script, s)
    )
    if decision:
        return decision
    if s.mode == "bypassPermissions":
        return Decision("allow", reason_type="mode")
    return approve(command, script, s)


def _quoted_commands(script: Script, s: Situation) -> list[Simple]:
    """What eval and the like get as text; deny and ask rules must see it."""
    texts = [quoted_command(words) for simple in script.commands for words in started(simple)]
    return [inner for text in texts if text for inner in parse(text, s.home).commands]


def _scripts(script: Script, s: Situation, depth: int) -> list[Script]:
    """The scripts given to shells with -c, and the scripts inside those."""
    found: list[Script] = []
    for simple in script.commands if depth else ():
        for words in started(simple):
            text = script_of(words)
            if text:
                inner = parse(text, s.home)
                found += [inner, *_scripts(inner, s, depth - 1)]
    return found


def _denied(command: str, script: Script, parts: list[Simple], s: Situation) -> Decision | None:
    text = f"Permission to use Bash with command {command} has been denied."
    rule = _matching(command, parts, s.having("deny"))
    if rule:
        whole = matches_text(rule.content or "", command) and rule.content == command.strip()
        kind = "rule" if whole or script.problems else "subcommandResults"
        return Decision("deny", text, reason_type=kind, rule=rule)
    reached = walk(script, s, strict=True)
    for touch in sorted(reached.touches, key=lambda touch: touch.name == "cd"):
        for path in dict.fromkeys((touch.path, touch.other)):
            rule = rule_on_path("Read", "deny", path, s) if touch.reads else None
            if not rule and touch.writes:
                rule = rule_on_path("Edit", "deny", path, s)
            if rule and (reached.changes or script.subshell):
                text = f"{touch.name} {'to' if touch.writes else 'from'} '{path}' was blocked by a deny rule."
                return Decision("deny", text, reason_type="rule", rule=rule)
            if rule:
                return Decision("deny", text, reason_type="subcommandResults", rule=rule)
    return None


def _hidden(inner: list[Script], s: Situation) -> Decision | None:
    """A denied command in a script for another shell: a person must look at it."""
    if any(_matching("", script.commands, s.having("deny")) for script in inner):
        return Decision("ask", HIDDEN, reason_type="safetyCheck", reason=HIDDEN)
    return None


def _asked(command: str, script: Script, parts: list[Simple], s: Situation) -> Decision | None:
    rule = _matching(command, parts, s.having("ask"))
    if not rule:
        return None
    return Decision("ask", GENERIC, reason_type="rule", rule=rule)


def _matching(command: str, parts: list[Simple], rules: list[Rule]) -> Rule | None:
    for rule in rules:
        if rule.tool != "Bash" or rule.content is None:
            continue
        if matches_text(rule.content, command) or any(forbids(rule, simple) for simple in parts):
            return rule
    return None


def _removal(scripts: list[Script], s: Situation) -> Decision | None:
    for script in scripts:
        lines = [words for words in map(plain_words, script.commands) if words]
        moved = any(words[0].value == "cd" for words in lines)
        dangers = [dangerous_removal(words, s, moved=moved) for words in lines]
        dangers += [unknown_removal(words) for simple in script.commands for words in started(simple)]
        danger = next((danger for danger in dangers if danger), None)
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
