"""From a judgement to a decision: forbidden, deny rules, ask rules, allow rules, thresholds, memory."""

from __future__ import annotations

from forge.core.shell.analysis.record import RANK, UNANALYSABLE, Finding, Step, Verdict
from forge.core.shell.analysis.rules import Rule, RuleSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

ALLOW, ALLOW_SESSION, ASK, DENY = "allow", "allow_session", "ask", "deny"
_AGAIN = 2


class Thresholds:
    """Up to which risk nothing, once per session, or every time is asked; from `block` on it is refused."""

    __slots__ = ("always_ask", "auto", "block", "session")

    def __init__(self, auto: int = 2, session: int = 5, always_ask: int = 7, block: int = 8) -> None:
        self.auto = auto
        self.session = session
        self.always_ask = always_ask
        self.block = block


class Decision:
    """What happens with a command, why, and each step on the way there."""

    __slots__ = ("finding", "reason", "risk", "rule", "trace", "verdict")

    def __init__(self, verdict: str, reason: str, trace: list[str], rule: Rule | None = None) -> None:
        self.verdict = verdict
        self.reason = reason
        self.trace = trace
        self.rule = rule
        self.risk = 0
        self.finding: Finding | None = None


class Memory:
    """What the user said in this session: effects, not texts."""

    __slots__ = ("_denied", "_keys")

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys: set[str] = set(keys)
        self._denied: dict[str, int] = {}

    def allow_session(self, verdict: Verdict) -> None:
        """Remembers the effects of a command."""
        self._keys.update(verdict.keys())

    def keys(self) -> list[str]:
        """The effects that are allowed for the session, to be stored."""
        return sorted(self._keys)

    def allows(self, verdict: Verdict) -> bool:
        """Whether the user allowed all effects for the session."""
        keys = verdict.keys()
        return bool(keys) and verdict.analysable and all(k in self._keys for k in keys)

    def deny(self, verdict: Verdict) -> bool:
        """Counts a refusal; whether the same effect was refused before in a row."""
        effect = verdict.findings[0].effect if verdict.findings else ""
        count = self._denied.get(effect, 0) + 1
        self._denied = {effect: count}
        return count >= _AGAIN


def decide(
    verdict: Verdict, rules: RuleSet, thresholds: Thresholds, memory: Memory | None = None
) -> Decision:
    """The decision about a judged command; the first stage that has an answer gives it."""
    trace = [f"judged {verdict.category} {verdict.risk}"]
    decision = (
        _forbidden(verdict, trace)
        or _by_rule("deny", DENY, verdict, rules, trace)
        or _asked(verdict, rules, thresholds, trace)
        or _allowed(verdict, rules, trace)
        or _remembered(verdict, memory, trace)
        or _by_threshold(verdict, thresholds, trace)
    )
    decision.risk = max(decision.risk, verdict.risk)
    decision.finding = verdict.findings[0] if verdict.findings else None
    return decision


def _forbidden(verdict: Verdict, trace: list[str]) -> Decision | None:
    if verdict.category != "forbidden":
        trace.append("forbidden: no")
        return None
    trace.append("forbidden: yes, no rule can change that")
    return Decision(DENY, verdict.findings[0].reason, trace)


def _by_rule(kind: str, answer: str, verdict: Verdict, rules: RuleSet, trace: list[str]) -> Decision | None:
    for rule in rules.of(kind):
        for step in verdict.steps:
            if _is_about(rule, step, verdict):
                trace.append(f"{kind} rule {rule.text!r} of {rule.source} matches {step.text!r}")
                decision = Decision(answer, rule.reason or f"a {kind} rule says so: {rule.text}", trace, rule)
                decision.risk = rule.risk
                return decision
    trace.append(f"{kind} rules: none matches")
    return None


def _is_about(rule: Rule, step: Step, verdict: Verdict) -> bool:
    """Whether a rule against commands means this one: `sudo *` and `curl *` both mean `sudo /bin/curl x`."""
    forms = [step, *(Step(words, step.span, step.pipeline) for words in step.forms()[1:])]
    return any(rule.matches(form, _pipeline(form, verdict)) for form in forms)


def _asked(verdict: Verdict, rules: RuleSet, thresholds: Thresholds, trace: list[str]) -> Decision | None:
    """An ask rule makes a decision stricter, never softer, unless it says so."""
    decision = _by_rule("ask", ASK, verdict, rules, trace)
    refused = verdict.category == "dangerous" or verdict.risk >= thresholds.block
    if decision is None or not refused or (decision.rule and decision.rule.override == "dangerous"):
        return decision
    trace.append("but the command is refused anyway")
    return None


def _pipeline(step: Step, verdict: Verdict) -> str:
    if not step.pipeline:
        return step.text
    return " | ".join(s.text for s in verdict.steps if s.pipeline == step.pipeline)


def _allowed(verdict: Verdict, rules: RuleSet, trace: list[str]) -> Decision | None:
    """Every simple command needs a rule or must be harmless, and nothing may be unclear or dangerous."""
    used: list[Rule] = []
    for step in verdict.steps:
        worst = step.worst()
        if worst is None or worst.category == "read_only":
            continue
        rule = next((r for r in rules.of("allow") if r.matches(step, _pipeline(step, verdict))), None)
        if rule is None:
            trace.append(f"allow rules: none matches {step.text!r}")
            return None
        used.append(rule)
    if not used:
        return None
    overriding = all(r.override == "dangerous" for r in used)
    for finding in verdict.findings:
        if finding.effect in (UNANALYSABLE, "persist") or (
            finding.category == "dangerous" and not overriding
        ):
            trace.append(f"allow rules match, but: {finding.reason}")
            return None
        if not any(finding in s.findings for s in verdict.steps) and finding.category != "read_only":
            trace.append(f"allow rules do not cover: {finding.reason}")
            return None
    trace.append(f"allow rule {used[0].text!r} of {used[0].source}")
    return Decision(ALLOW, f"allowed by {used[0].text}", trace, used[0])


def _remembered(verdict: Verdict, memory: Memory | None, trace: list[str]) -> Decision | None:
    if memory is None or RANK.get(verdict.category, 0) >= RANK["dangerous"]:
        return None
    if not memory.allows(verdict):
        return None
    trace.append("the user allowed these effects before")
    return Decision(ALLOW, "allowed by the user in this session", trace)


def _by_threshold(verdict: Verdict, thresholds: Thresholds, trace: list[str]) -> Decision:
    risk = verdict.risk
    reason = verdict.findings[0].reason if verdict.findings else "changes nothing"
    # Caution means a person should look: the same figure is not enough to skip that.
    careful = verdict.category in ("caution", "interactive")
    if verdict.category == "dangerous" or risk >= thresholds.block:
        answer = DENY
    elif verdict.interactive:
        answer, reason = ASK, verdict.interactive
    elif risk <= thresholds.auto:
        answer = ALLOW
    elif risk < thresholds.session or (risk == thresholds.session and not careful):
        answer = ALLOW_SESSION
    else:
        answer = ASK
    trace.append(f"risk {risk} by thresholds: {answer}")
    return Decision(answer, reason, trace)


def explanation(decision: Decision, verdict: Verdict) -> str:
    """What the model is told about a refusal or a question: what, where, why, and a safer way."""
    finding = decision.finding
    where = verdict.text[finding.span[0] : finding.span[1]] if finding else verdict.text
    lines = [f"{decision.verdict}: {verdict.category}, risk {verdict.risk}. {decision.reason}."]
    if where and where != verdict.text:
        lines.append(f"The part in question: {where}")
    if verdict.syntax_error:
        lines.append(f"bash does not accept the command: {verdict.syntax_error}")
    if finding and finding.safer:
        lines.append(f"Safer: {finding.safer}")
    return "\n".join(lines)
