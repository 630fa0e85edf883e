"""Approval of a shell command that no deny or ask rule names: paths first, then every part."""

from __future__ import annotations

from forge.foundation.permissions.files import sensitive_write
from forge.foundation.permissions.parts import (
    APPROVAL,
    VARIABLE_SET,
    always_checked,
    exactly_allowed,
    why_ask,
)
from forge.foundation.permissions.pathquestion import path_question
from forge.foundation.permissions.places import resolve
from forge.foundation.permissions.reach import plain_words, walk
from forge.foundation.permissions.situation import Decision
from forge.foundation.permissions.suggest import accept_edits, add_directory, add_rules, rule_for
from forge.foundation.permissions.syntax import text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from forge.foundation.permissions.reach import Walk
    from forge.foundation.permissions.situation import Situation
    from forge.foundation.permissions.syntax import Script, Simple

BACKGROUND = (
    "This command uses the `&` background operator, which defers execution past approval-time safety checks."
    " Approve only if you trust it."
)
CD_AND_GIT = (
    "This command changes directory before running a version-control command, which can pick up untrusted"
    " hooks or repository configuration from the target directory. Approve only if you trust it."
)
SEVERAL_CD = "Multiple directory changes in one command require approval for clarity"
PARTS = "This Bash command contains multiple operations. The following parts require approval: "


def approve(command: str, script: Script, s: Situation) -> Decision:
    """Allow a command or say what needs approval."""
    reached = walk(script, s)
    sensitive = None if script.problems else _sensitive(reached, s)
    if sensitive:
        return sensitive
    bare = next((r for r in s.having("allow") if r.tool == "Bash" and r.content is None), None)
    if bare and not script.background:
        return Decision("allow", reason_type="rule", rule=bare)
    decision = _question(command, script, reached, _without_bare(s))
    if bare and decision.reason != BACKGROUND:
        return Decision("allow", reason_type="rule", rule=bare)
    return decision


def _without_bare(s: Situation) -> Situation:
    return s.changed(rules=[r for r in s.rules if r.tool != "Bash" or r.content is not None])


def _question(command: str, script: Script, reached: Walk, s: Situation) -> Decision:
    """The decision that rules on single commands and the mode lead to."""
    exact = exactly_allowed(command, s) and not script.piped and not script.subshell
    if script.problems:
        understood = exact and not script.background
        return Decision("allow", reason_type="rule") if understood else _problem(script.problems[0])
    question = _directories(script, reached, s) or path_question(command, script, reached, s)
    if not question:
        question = _parts(script, always_checked if exact else lambda simple: why_ask(simple, s))
    if not question and script.background:
        question = Decision("ask", BACKGROUND, reason_type="safetyCheck", reason=BACKGROUND)
    return question or Decision("allow")


def _problem(text: str) -> Decision:
    return Decision("ask", text, reason_type="other", reason=text)


def _sensitive(reached: Walk, s: Situation) -> Decision | None:
    for touch in reached.touches:
        text = sensitive_write(touch.path, s) if touch.writes else ""
        if text:
            suggestions = [add_directory(touch.path)]
            if touch.kind != "redirect":
                suggestions.append(accept_edits())
            return Decision(
                "ask",
                text,
                reason_type="safetyCheck",
                reason=text,
                blocked_path=touch.path,
                suggestions=suggestions,
            )
    return None


def _directories(script: Script, reached: Walk, s: Situation) -> Decision | None:
    if len(reached.changes) > 1:
        return _problem(SEVERAL_CD)
    names = [words[0].value for words in map(plain_words, script.commands) if words]
    if "git" in names and any(resolve(path, s) not in (s.cwd, s.start_dir) for path in reached.changes):
        return _problem(CD_AND_GIT)
    return None


def _parts(script: Script, reason: Callable[[Simple], str]) -> Decision | None:
    waiting = _waiting(script, reason)
    if not waiting:
        return None
    texts = [text_of([*simple.assignments, *simple.words]) for simple, _ in waiting]
    first = waiting[0][1]
    if len(script.commands) == 1 or (len(waiting) == 1 and first != APPROVAL):
        remembered = [] if first != APPROVAL else [add_rules([rule_for(waiting[0][0], texts[0])])]
        return Decision("ask", first, reason_type="other", reason=first, suggestions=remembered)
    contents = [rule_for(simple, text) for (simple, _), text in zip(waiting, texts, strict=True)]
    suggestions = [add_rules([content]) for content in contents] if script.piped else [add_rules(contents)]
    return Decision("ask", PARTS + ", ".join(texts), reason_type="subcommandResults", suggestions=suggestions)


def _waiting(script: Script, reason: Callable[[Simple], str]) -> list[tuple[Simple, str]]:
    """The parts of a line that need approval, with the reason for each."""
    reasons = [(simple, reason(simple)) for simple in script.commands if not simple.nested]
    found = [(simple, text) for simple, text in reasons if text]
    if script.loop_variable and not found and script.commands and reason is not always_checked:
        return [(script.commands[0], VARIABLE_SET)]
    return found
