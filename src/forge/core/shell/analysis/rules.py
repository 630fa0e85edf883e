"""Rules of the user about commands: their forms, their examples, and which files may say what."""

from __future__ import annotations

import re

from forge.core.shell.analysis.record import Step
from forge.core.shell.analysis.tables import names as names_of
from forge.foundation.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from _typeshed import Incomplete

REST = "..."
KINDS = ("deny", "ask", "allow")
_FIELDS: dict[str, tuple[type, str]] = {
    "pattern": (str, "a text"),
    "regex": (str, "a text"),
    "argv": (list, "a list of words"),
    "reason": (str, "a text"),
    "risk": (int, "a number"),
    "scope": (str, "a text"),
    "override": (str, "a text"),
    "match": (list, "a list of commands"),
    "not_match": (list, "a list of commands"),
}


class Rule:
    """One rule. `words` is the argv form, `expression` the compiled pattern."""

    __slots__ = ("expression", "kind", "override", "reason", "risk", "scope", "source", "text", "words")

    def __init__(self, kind: str, text: str, source: str) -> None:
        self.kind = kind
        self.text = text
        self.source = source
        self.reason = ""
        self.risk = 0
        self.scope = "always"
        self.override = ""
        self.words: list[Incomplete] | None = None
        self.expression: re.Pattern[str] | None = None

    def matches(self, step: Step, pipeline: str) -> bool:
        """Whether the rule is about a simple command; patterns with `|` look at its whole pipeline."""
        if self.words is not None:
            return _fits(self.words, step.words)
        subject = pipeline if "|" in self.text and self.expression else step.text
        return self.expression is not None and bool(self.expression.fullmatch(subject))


class RuleSet:
    """All rules in force, strongest kind first."""

    __slots__ = ("rules",)

    def __init__(self, rules: list[Rule] | None = None) -> None:
        self.rules = rules or []

    def of(self, kind: str) -> list[Rule]:
        """The rules of one kind."""
        return [r for r in self.rules if r.kind == kind]


def load_rules(data: dict[str, Incomplete], source: str, may_allow: bool = True) -> list[Rule]:
    """Reads `forgecmd.rules` of a settings file; project files may only deny and ask."""
    found = []
    for kind in KINDS:
        if kind == "allow" and not may_allow:
            continue
        for at, row in enumerate(data.get(kind, [])):
            where = f"forgecmd.rules.{kind}[{at}]"
            rule = _read(kind, row, source, where)
            rule.override = rule.override if may_allow else ""
            found.append(rule)
    return found


def permission_rules(permissions: dict[str, Incomplete], source: str, may_allow: bool = True) -> list[Rule]:
    """The rules about Bash in `permissions` of a settings file, e.g. `Bash(npm run:*)`."""
    found = []
    for kind in KINDS:
        if kind == "allow" and not may_allow:
            continue
        for text in permissions.get(kind, []):
            if text == "Bash":
                found.append(_pattern(kind, "*", source))
            elif isinstance(text, str) and text.startswith("Bash(") and text.endswith(")"):
                found.append(_pattern(kind, text[5:-1], source))
    return found


def _read(kind: str, row: Incomplete, source: str, where: str) -> Rule:
    if not isinstance(row, dict) or not ({"pattern", "argv", "regex"} & set(row)):
        raise ConfigError(f"{where}: expected an object with pattern, argv or regex", path=source)
    _check_kinds(row, source, where)
    if "argv" in row:
        rule = Rule(kind, " ".join(str(w) for w in row["argv"]), source)
        rule.words = list(row["argv"])
    elif "regex" in row:
        rule = Rule(kind, str(row["regex"]), source)
        rule.expression = _compiled(str(row["regex"]), source, where)
    else:
        rule = _pattern(kind, str(row["pattern"]), source)
    rule.reason = str(row.get("reason", ""))
    rule.risk = int(row.get("risk", 0))
    rule.scope = str(row.get("scope", "always"))
    rule.override = str(row.get("override", ""))
    if kind == "allow":
        _refuse_wide(rule, source, where)
    _check_examples(rule, row, source, where)
    return rule


def _check_kinds(row: dict[str, Incomplete], source: str, where: str) -> None:
    for key, value in row.items():
        kind, wanted = _FIELDS.get(key, (object, ""))
        if not isinstance(value, kind):
            raise ConfigError(f"{where}.{key}: expected {wanted}", path=source)


def _pattern(kind: str, text: str, source: str) -> Rule:
    rule = Rule(kind, text, source)
    rule.expression = re.compile(_glob(text), re.DOTALL)
    return rule


def _glob(text: str) -> str:
    if text.endswith(":*"):
        return re.escape(text[:-2]) + r"(?:\s.*)?"
    ending = ""
    if text.endswith(" *") and text != " *":
        text, ending = text[:-2], r"(?:\s.*)?"
    pieces = re.split(r"(\*+)", text)
    # A star stays inside one command: it never crosses a pipe.
    inside = "[^|]*" if "|" in text else ".*"
    return (
        "".join(inside if p.startswith("*") else re.escape(p).replace(r"\ ", r"\s+") for p in pieces) + ending
    )


def _compiled(text: str, source: str, where: str) -> re.Pattern[str]:
    try:
        return re.compile(text, re.DOTALL)
    except re.error as error:
        raise ConfigError(f"{where}: not a regular expression ({error})", path=source) from error


def _refuse_wide(rule: Rule, source: str, where: str) -> None:
    words = rule.words if rule.words is not None else rule.text.replace(":*", " *").split()
    named = [w for w in words if w not in ("*", REST)]
    first = named[0] if named else "*"
    names = first if isinstance(first, list) else [first.rstrip("*")]
    piped = rule.expression is not None and "|" in rule.text
    # Allowing one of these without further words allows everything.
    wide = not named or any(n in names_of("programs", "runners") for n in names)
    if len(named) <= 1 and wide and not piped:
        raise ConfigError(
            f"{where}: {rule.text!r} would allow every command",
            path=source,
            hint="Name the sub-command or script that may run, for example `python scripts/build.py *`.",
        )


def _check_examples(rule: Rule, row: dict[str, Incomplete], source: str, where: str) -> None:
    for key, wanted in (("match", True), ("not_match", False)):
        for example in row.get(key, []):
            step = Step(example.split(), (0, 0), 0)
            if rule.matches(step, step.text) != wanted:
                said = "does not match" if wanted else "matches"
                raise ConfigError(f"{where}: the rule {said} its example {example!r}", path=source)


def _fits(wanted: list[Incomplete], words: list[str]) -> bool:
    for at, token in enumerate(wanted):
        if token == REST:
            return True
        if at >= len(words):
            return False
        if words[at] not in (token if isinstance(token, list) else [token]):
            return False
    return len(words) == len(wanted)
