"""Full mode: forbidden, deny, ask and allow rules, thresholds, what the user said; then the user is asked."""

from __future__ import annotations

from typing import Any

from forge.agent.guard.guarding import where_of
from forge.agent.host import Allow, AskPermission
from forge.agent.session import Session
from forge.core.message import ToolUse
from forge.core.shell.analysis.decide import ALLOW, ALLOW_SESSION, DENY
from forge.core.shell.analysis.record import RANK
from forge.core.shell.guard.guard import Guard
from forge.core.shell.guard.judging import Assessed, needs_question, precious_paths
from forge.core.shell.sandbox.profile import Profile
from forge.foundation.permissions.decide import settled
from forge.foundation.permissions.situation import Decision

# Up to this risk commands run although nothing can be recorded.
_HARMLESS = 4
# A refusal with one of these reasons comes from a question that nobody could answer.
_UNASKED = ("mode", "asyncAgent")
_ORDER = (DENY, "ask", ALLOW_SESSION, ALLOW)
_SHELL = ("Bash", "forgecmd")
_TYPING = "forgecmd_session"
_TERMINAL = (
    "It needs a terminal: run it with forgecmd and interactive set, then drive it with forgecmd_session."
)


async def decide_full(s: Session, call: ToolUse, texts: list[str], rules: Decision) -> Decision:
    """The decision on the commands of a call; `rules` is what the rules alone would say."""
    guard = s.keep(Guard)
    judging = guard.judging()
    where, permissions = where_of(s), _permissions(s)
    found = [judging.assess(text, where, permissions) for text in texts]
    assessed = min(found, key=lambda each: _ORDER.index(each.decision.verdict))
    guard.grants[call.id] = assessed.grant()
    guard.mark(call.id, precious=precious_paths(assessed.verdict, s.situation.cwd), lines=tuple(texts))
    if rules.verdict == "deny" and rules.reason_type not in _UNASKED and not assessed.forbidden:
        return rules
    if assessed.decision.verdict == DENY:
        return _refusal(judging.refused(assessed), assessed)
    if _wants_terminal(assessed) and call.input.get("interactive") is not True and call.name != _TYPING:
        return _refusal(f"{assessed.text}\n{_TERMINAL}", assessed)
    if refusal := await _unrecorded(s, assessed):
        return refusal
    confined = await guard.workplace().enforces()
    if not confined:
        guard.mark(call.id, profile="")
        _say_once(
            s, "sandbox", "forgecmd: no kernel sandbox works here, so more is asked; see forgecmd doctor."
        )
    question = needs_question(assessed.decision, s.situation.mode)
    question = question and not (_wants_terminal(assessed) and _is_safe(assessed))
    question = question or (not confined and assessed.decision.verdict == ALLOW_SESSION)
    _offer_wider(s, call)
    if not question or _is_bypassed(s, assessed):
        return Decision("allow", reason_type="rule" if assessed.decision.rule else "other")
    guard.assessed[call.id] = assessed
    return _question(s, call, assessed, rules)


def _wants_terminal(assessed: Assessed) -> bool:
    """Whether the only question is that the program is driven by keys."""
    decision, verdict = assessed.decision, assessed.verdict
    asked = decision.verdict == "ask" and decision.rule is None
    return asked and bool(verdict.interactive) and decision.reason == verdict.interactive


def _is_safe(assessed: Assessed) -> bool:
    return all(RANK[f.category] < RANK["caution"] for f in assessed.verdict.findings)


def _permissions(s: Session) -> dict[str, list[str]]:
    """The rules for commands in force, as settings spell them."""
    found: dict[str, list[str]] = {"allow": [], "ask": [], "deny": []}
    for rule in s.situation.rules:
        if rule.tool in _SHELL:
            found[rule.behavior].append("Bash" if rule.content is None else f"Bash({rule.content})")
    return found


def _refusal(text: str, assessed: Assessed) -> Decision:
    kind = "rule" if assessed.decision.rule is not None else "safetyCheck"
    return Decision("deny", text, reason_type=kind, reason=assessed.decision.reason)


async def _unrecorded(s: Session, assessed: Assessed) -> Decision | None:
    """Without a history only what is harmless runs."""
    failure = await s.keep(Guard).history_failure(s.parts.env)
    if not failure:
        return None
    _say_once(s, "history", f"forgecmd: commands cannot be recorded: {failure}")
    if assessed.verdict.risk <= _HARMLESS:
        return None
    words = f"The command history cannot be written ({failure}), so only harmless commands run."
    return Decision("deny", f"{words}\n{assessed.text}", reason_type="safetyCheck", reason=words)


def _is_bypassed(s: Session, assessed: Assessed) -> bool:
    """Whoever skips all questions is not asked; what a rule wants asked is asked nevertheless."""
    return s.situation.mode == "bypassPermissions" and assessed.decision.rule is None


def _question(s: Session, call: ToolUse, assessed: Assessed, rules: Decision) -> Decision:
    kind = "rule" if assessed.decision.rule is not None else "other"
    decision = Decision(
        "ask",
        assessed.text,
        reason_type=kind,
        reason=assessed.decision.reason,
        suggestions=_suggestions(assessed, rules),
    )
    answer = settled(call.name, decision, s.situation)
    if answer.verdict == "deny":
        answer = answer.changed(message=f"{answer.message}\n{assessed.text}")
    return answer


def _suggestions(assessed: Assessed, rules: Decision) -> list[dict[str, Any]]:
    """For this session, and for good; nothing where only this one time can be meant."""
    if not assessed.verdict.analysable or assessed.verdict.interactive:
        return []
    rule = [{"toolName": "Bash", "ruleContent": assessed.verdict.text}]
    session: dict[str, Any] = {
        "type": "addRules",
        "rules": rule,
        "behavior": "allow",
        "destination": "session",
    }
    lasting = [each for each in rules.suggestions if each.get("type") == "addRules"]
    return [session, *(lasting or [{**session, "destination": "localSettings"}])]


def _offer_wider(s: Session, call: ToolUse) -> None:
    """Lets the tool have the user asked for another try with fewer limits."""
    guard = s.keep(Guard)
    grant = guard.grant_of(call.id)
    if grant is None or grant.profile in ("", Profile.FULL):
        return

    async def ask(narrow: str, wide: str) -> bool:
        words = f"The command failed in the sandbox profile {narrow!r}. Run it once more in {wide!r}?"
        decision = Decision("ask", words, reason_type="sandboxOverride", reason=words)
        if s.situation.mode == "bypassPermissions":
            return True
        if settled(call.name, decision, s.situation).verdict == "deny":
            return False
        return isinstance(await s.host.ask(AskPermission(call, decision)), Allow)

    guard.wider[call.id] = ask


def _say_once(s: Session, about: str, words: str) -> None:
    said = s.keep(Guard).said
    if about not in said:
        said.add(about)
        s.warn(words)
