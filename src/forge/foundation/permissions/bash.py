"""Decisions on shell commands: deny, ask, dangerous removals, then approval of every part."""

from __future__ import annotations

from forge.foundation.permissions.commandrule import forbids, matches_text
from forge.foundation.permissions.files import rule_on_path, sensitive_write
from forge.foundation.permissions.parser import parse
from forge.foundation.permissions.parts import APPROVAL, VARIABLE_SET, exactly_allowed, why_ask
from forge.foundation.permissions.pathquestion import path_question
from forge.foundation.permissions.places import inside, resolve, within
from forge.foundation.permissions.reach import plain_words, walk
from forge.foundation.permissions.removal import dangerous_removal
from forge.foundation.permissions.situation import Decision
from forge.foundation.permissions.suggest import accept_edits, add_directory, add_rules, rule_for
from forge.foundation.permissions.syntax import text_of
from forge.foundation.permissions.wrappers import quoted_command, script_of, started

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.reach import Walk
    from forge.foundation.permissions.rule import Rule
    from forge.foundation.permissions.situation import Situation
    from forge.foundation.permissions.syntax import Script, Simple

BACKGROUND = (
    "This command uses the `&` background operator, which defers execution past approval-time safety checks."
    " Approve only if you trust it."
)
CD_AND_GIT = (
    "This command changes directory before running a version-control command, which can pick up untrusted hooks or"
    " repository configuration from the target directory. Approve only if you trust it."
)
SEVERAL_CD = "Multiple directory changes in one command require approval for clarity"
HIDDEN = "A script passed to a shell contains a command that a deny rule names"
GENERIC = "Claude requested permissions to use Bash, but you haven't granted it yet."
_MAX_DEPTH = 4


def decide_bash(command: str, s: Situation) -> Decision:
    """Decide on a command line in the order deny, ask, dangerous removals, mode, approval."""
    script = parse(command, s.home)
    quoted = _quoted_commands(script, s)
    denied = _denied(command, script, quoted, s)
    if denied:
        return denied
    inner = _scripts(script, s, _MAX_DEPTH)
    if any(_matching("", part.commands, s.having("deny")) for part in inner):
        return Decision("ask", HIDDEN, reason_type="safetyCheck", reason=HIDDEN)
    asked = _matching(command, [*script.commands, *quoted], s.having("ask"))
    if asked:
        return Decision("ask", GENERIC, reason_type=_kind(command, script, asked), rule=asked)
    removal = _removal([script, *inner], s)
    if removal:
        return removal
    blocked = _blocked(script, s)
    if blocked:
        return blocked
    if s.mode == "bypassPermissions":
        return Decision("allow", reason_type="mode")
    return _approve(command, script, s)


def _quoted_commands(script: Script, s: Situation) -> list[Simple]:
    """What eval and the like get as text; deny and ask rules must see it."""
    texts = [quoted_command(words) for simple in script.commands for words in started(simple)]
    return [inner for text in texts if text for inner in parse(text, s.home).commands]


def _denied(command: str, script: Script, quoted: list[Simple], s: Situation) -> Decision | None:
    rule = _matching(command, [*script.commands, *quoted], s.having("deny"))
    text = f"Permission to use Bash with command {command} has been denied."
    if rule:
        return Decision("deny", text, reason_type=_kind(command, script, rule), rule=rule)
    reached = walk(script, s, strict=True)
    for touch in reached.touches:
        for path in dict.fromkeys((touch.path, touch.other)):
            rule = rule_on_path("Read", "deny", path, s) if touch.kind in ("read", "input", "copy") else None
            if not rule and touch.writes:
                rule = rule_on_path("Edit", "deny", path, s)
            if not rule:
                continue
            if reached.changes or script.subshell:
                way = "to" if touch.writes else "from"
                text = f"{touch.name} {way} '{path}' was blocked by a deny rule."
                return Decision("deny", text, reason_type="rule", rule=rule)
            return Decision("deny", text, reason_type="subcommandResults", rule=rule)
    return None


def _matching(command: str, parts: list[Simple], rules: list[Rule]) -> Rule | None:
    for rule in rules:
        if rule.tool != "Bash" or (rule.content is None and not command):
            continue
        if rule.content is None or matches_text(rule.content, command):
            return rule
        if any(forbids(rule, simple) for simple in parts):
            return rule
    return None


def _kind(command: str, script: Script, rule: Rule) -> str:
    """How the protocol calls the ground of a match: the whole line, or one of its parts."""
    if rule.content is None or (matches_text(rule.content, command) and rule.content.strip() == command.strip()):
        return "rule"
    if rule.behavior == "ask":
        return "rule" if len(script.commands) == 1 else "subcommandResults"
    return "rule" if script.problems else "subcommandResults"


def _scripts(script: Script, s: Situation, depth: int) -> list[Script]:
    """The scripts given to shells with -c, and the scripts inside those."""
    found: list[Script] = []
    for simple in script.commands:
        for words in started(simple):
            text = script_of(words)
            if text and depth:
                inner = parse(text, s.home)
                found += [inner, *_scripts(inner, s, depth - 1)]
    return found


def _removal(scripts: list[Script], s: Situation) -> Decision | None:
    for script in scripts:
        moved = any(plain_words(simple)[:1] and plain_words(simple)[0].value == "cd" for simple in script.commands)
        for simple in script.commands:
            danger = dangerous_removal(plain_words(simple), s, moved=moved)
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
            what = "Writes" if touch.writes else "Reads"
            text = f"{touch.path} is outside the working directories; permissions.block{what}OutsideWorkingDirectories is set."
            return Decision("ask", text, reason_type="safetyCheck", reason=text, blocked_path=touch.path)
    return None


def _approve(command: str, script: Script, s: Situation) -> Decision:
    reached = walk(script, s)
    if not script.problems:
        for touch in reached.touches:
            sensitive = sensitive_write(touch.path, s) if touch.writes else ""
            if sensitive:
                return _sensitive(touch.path, sensitive, redirect=touch.kind == "redirect")
    bare = next((r for r in s.having("allow") if r.tool == "Bash" and r.content is None), None)
    if bare and not (script.background and s.mode == "dontAsk"):
        return Decision("allow", reason_type="rule", rule=bare)
    exact = exactly_allowed(command, s) and not script.piped and not script.subshell
    if script.problems and not exact:
        return _problem(script.problems[0])
    if script.problems and not script.background:
        return Decision("allow", reason_type="rule")
    question = _directories(script, reached, s) or path_question(command, script, reached, s)
    if question:
        return question
    waiting = [] if exact else _waiting(script, s)
    if waiting:
        return _parts_question(script, waiting)
    if script.background:
        return Decision("ask", BACKGROUND, reason_type="safetyCheck", reason=BACKGROUND)
    return Decision("allow")


def _sensitive(path: str, text: str, *, redirect: bool) -> Decision:
    suggestions = [add_directory(path)] if redirect else [add_directory(path), accept_edits()]
    return Decision(
        "ask", text, reason_type="safetyCheck", reason=text, blocked_path=path, suggestions=suggestions
    )


def _problem(text: str) -> Decision:
    return Decision("ask", text, reason_type="other", reason=text)


def _directories(script: Script, reached: Walk, s: Situation) -> Decision | None:
    if len(reached.changes) > 1:
        return _problem(SEVERAL_CD)
    names = [words[0].value for words in map(plain_words, script.commands) if words]
    if "git" in names and any(resolve(path, s) != s.cwd for path in reached.changes):
        return _problem(CD_AND_GIT)
    return None


def _waiting(script: Script, s: Situation) -> list[tuple[Simple, str]]:
    """The parts of a line that need approval, with the reason for each."""
    reasons = [(simple, why_ask(simple, s)) for simple in script.commands if not simple.nested]
    found = [(simple, reason) for simple, reason in reasons if reason]
    if script.loop_variable and not found:
        found = [(script.commands[0], VARIABLE_SET)] if script.commands else []
    return found


def _parts_question(script: Script, waiting: list[tuple[Simple, str]]) -> Decision:
    texts = [text_of([*simple.assignments, *simple.words]) for simple, _ in waiting]
    if len(script.commands) == 1 or (len(waiting) == 1 and waiting[0][1] != APPROVAL):
        reason = waiting[0][1]
        remembered = [] if reason != APPROVAL else [add_rules([rule_for(waiting[0][0], texts[0])])]
        return Decision("ask", reason, reason_type="other", reason=reason, suggestions=remembered)
    message = (
        "This Bash command contains multiple operations. The following parts require approval: " + ", ".join(texts)
    )
    contents = [rule_for(simple, text) for (simple, _), text in zip(waiting, texts, strict=True)]
    suggestions = [add_rules([c]) for c in contents] if script.piped else [add_rules(contents)]
    return Decision("ask", message, reason_type="subcommandResults", suggestions=suggestions)
