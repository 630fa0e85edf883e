"""What is still known about a command that could not be analysed: forbidden words, and deny rules."""

from __future__ import annotations

from forge.core.shell.analysis.decide import DENY, Decision
from forge.core.shell.analysis.record import Finding, Step, Verdict
from forge.core.shell.guard.visible import forbidden_words, raw_commands

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.rules import Rule, RuleSet


def looked_through(verdict: Verdict) -> Verdict:
    """What was not understood is at least searched for what is never allowed."""
    reason = forbidden_words(verdict.text)
    if not reason or verdict.category == "forbidden":
        return verdict
    finding = Finding("F10", f"cannot be analysed, but it shows: {reason}", "visible")
    finding.span = (0, len(verdict.text))
    return Verdict(verdict.text, [finding, *verdict.findings], verdict.steps, verdict.interactive)


def denied_raw(verdict: Verdict, rules: RuleSet) -> Decision | None:
    """Deny rules hold for the raw words of what could not be analysed, too."""
    denying: list[Rule] = rules.of("deny")
    if verdict.analysable or verdict.category == "forbidden" or not denying:
        return None
    for words in raw_commands(verdict.text):
        step = Step(words, (0, 0), 0)
        for rule in denying:
            if rule.matches(step, step.text):
                trace = [f"not analysable; deny rule {rule.text!r} matches the words {step.text!r}"]
                decision = Decision(DENY, rule.reason or f"a deny rule says so: {rule.text}", trace, rule)
                decision.risk = verdict.risk
                return decision
    return None
