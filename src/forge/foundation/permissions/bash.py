"""Decisions on shell commands."""

from __future__ import annotations

from forge.foundation.permissions.commandrule import allows, forbids, is_exact, matches_text
from forge.foundation.permissions.filecommands import accesses
from forge.foundation.permissions.files import may_read, rule_on_path
from forge.foundation.permissions.parser import parse
from forge.foundation.permissions.places import contains, inside, protected, resolve
from forge.foundation.permissions.readonly import is_read_only
from forge.foundation.permissions.situation import Decision
from forge.foundation.permissions.syntax import Script, Simple, Word
from forge.foundation.permissions.wrappers import EVALUATORS, STARTERS, safe_assignment, unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.rule import Rule
    from forge.foundation.permissions.situation import Situation

APPROVAL = "This command requires approval"
BACKGROUND = (
    "This command uses the `&` background operator, which defers execution past approval-time safety checks."
    " Approve only if you trust it."
)
VARIABLE_SET = "A variable set in this command can't be checked before it runs"
EDIT_COMMANDS = frozenset({"mkdir", "touch", "rm", "rmdir", "mv", "cp", "sed"})


def decide_bash(command: str, s: Situation) -> Decision:
    """Decide on a command line in the order deny, ask, safety, allow."""
    script = parse(command, s.home)
    denied = _matching(command, script, s.having("deny"))
    if denied:
        text = f"Permission to use Bash with command {command} has been denied."
        return Decision("deny", text, reason_type="rule", rule=denied)
    touched = _touched(script, s)
    blocked = _denied_path(touched, s)
    if blocked:
        text = f"Permission to use Bash with command {command} has been denied."
        return Decision("deny", text, reason_type="subcommandResults", rule=blocked)
    asked = _matching(command, script, s.having("ask"))
    if asked:
        return Decision("ask", APPROVAL, reason_type="rule", rule=asked)
    critical = _critical(script, s)
    if critical:
        return Decision("ask", critical, reason_type="safetyCheck", reason=critical)
    if s.mode == "bypassPermissions":
        return Decision("allow", reason_type="mode")
    return _approve(command, script, touched, s)


def _approve(command: str, script: Script, touched: list[tuple[str, str, Simple]], s: Situation) -> Decision:
    for kind, path, _simple in touched:
        if kind != "read" and protected(path):
            text = f"Claude requested permissions to edit {path} which is a sensitive file."
            return Decision("ask", text, reason_type="safetyCheck", reason=text, blocked_path=path)
    bare = [rule for rule in s.having("allow") if rule.tool == "Bash" and rule.content is None]
    if bare:
        return Decision("allow", reason_type="rule", rule=bare[0])
    for rule in s.having("allow"):
        if (
            rule.tool == "Bash"
            and rule.content
            and is_exact(rule.content)
            and matches_text(rule.content, command)
        ):
            if not any(not _path_free(kind, path, s) for kind, path, _ in touched):
                return Decision("allow", reason_type="rule", rule=rule)
    if script.problems:
        return Decision("ask", script.problems[0], reason_type="other", reason=script.problems[0])
    for kind, path, simple in touched:
        if not _path_free(kind, path, s):
            return Decision("ask", APPROVAL, blocked_path=path)
    moved = [c for c in script.commands if c.argv[:1] == ["cd"]]
    if moved and any(c.argv[:1] == ["git"] for c in script.commands):
        if any(resolve((c.argv + ["~"])[1], s) != s.cwd for c in moved):
            return Decision("ask", APPROVAL, reason_type="other")
    for simple in script.commands:
        verdict = _part(simple, s)
        if verdict:
            if len(script.commands) > 1:
                return Decision("ask", verdict, reason_type="subcommandResults")
            return Decision("ask", verdict, reason_type="other", reason=verdict)
    if script.background:
        return Decision("ask", BACKGROUND, reason_type="safetyCheck", reason=BACKGROUND)
    return Decision("allow")


def _matching(command: str, script: Script, rules: list[Rule]) -> Rule | None:
    for rule in rules:
        if rule.tool != "Bash":
            continue
        if rule.content is None or matches_text(rule.content, command):
            return rule
        if any(forbids(rule, simple) for simple in script.commands):
            return rule
    return None


def _touched(script: Script, s: Situation) -> list[tuple[str, str, Simple]]:
    found = []
    base = s.cwd
    for simple in script.commands:
        words = _plain(simple)
        for access in accesses(words):
            found.append((access.kind, _path(access.word, s, base), simple))
        for redirect in simple.redirects:
            if redirect.operator in ("<<", "<<-", "<<<", "<&", ">&"):
                if (
                    redirect.operator != ">&"
                    or redirect.target.value.isdigit()
                    or redirect.target.value == "-"
                ):
                    continue
            if redirect.target.value == "/dev/null":
                continue
            kind = "read" if redirect.operator == "<" else "redirect"
            found.append((kind, _path(redirect.target, s, base), simple))
        if words and words[0].value == "cd":
            base = resolve(words[1].value if len(words) > 1 else "~", s, base)
    return found


def _path(word: Word, s: Situation, base: str) -> str:
    value = word.value
    if word.glob:
        cut = min(at for at in (value.find(c) for c in "*?[") if at >= 0)
        value = value[:cut].rpartition("/")[0] or "."
    return resolve(value, s, base)


def _plain(simple: Simple) -> list[Word]:
    words = simple.words
    while words:
        rest, problem = unwrapped(words)
        if problem or rest is words:
            break
        words = rest
    return words


def _denied_path(touched: list[tuple[str, str, Simple]], s: Situation) -> Rule | None:
    for kind, path, _simple in touched:
        rule = None
        if kind in ("read", "copy"):
            rule = rule_on_path("Read", "deny", path, s)
        if not rule and kind != "read":
            rule = rule_on_path("Edit", "deny", path, s)
        if rule:
            return rule
    return None


def _path_free(kind: str, path: str, s: Situation) -> bool:
    if kind == "read":
        return may_read(path, s)
    if kind == "redirect":
        if s.mode == "acceptEdits" and inside(path, s):
            return True
        return rule_on_path("Edit", "allow", path, s) is not None
    return inside(path, s) or rule_on_path("Edit", "allow", path, s) is not None


def _critical(script: Script, s: Situation) -> str:
    for simple in script.commands:
        words = _plain(simple)
        if not words or words[0].value not in ("rm", "rmdir"):
            continue
        for word in words[1:]:
            if word.value.startswith("-"):
                continue
            path = resolve(word.value.removesuffix("*") or ".", s)
            if path.count("/") == 1 or path == s.home:
                return f"Dangerous rm operation on critical path: {path}"
            if contains(path, s.cwd):
                return f"Dangerous rm operation on working directory or its ancestor: {path}"
    return ""


def _part(simple: Simple, s: Situation) -> str:
    """Why one simple command needs approval; empty if it does not."""
    words = _plain(simple)
    if not simple.words:
        if simple.assignments and not all(safe_assignment(word) for word in simple.assignments):
            return VARIABLE_SET
        return ""
    name = simple.words[0].value
    if name in EVALUATORS:
        return f"'{name}' evaluates arguments as shell code"
    if name in STARTERS:
        return f"What '{name}' starts can't be checked before it runs"
    for rule in s.having("allow"):
        if rule.tool == "Bash" and allows(rule, simple):
            return ""
    if all(safe_assignment(word) for word in simple.assignments):
        if is_read_only(words):
            return ""
        if s.mode == "acceptEdits" and words and words[0].value in EDIT_COMMANDS:
            return ""
    return APPROVAL
