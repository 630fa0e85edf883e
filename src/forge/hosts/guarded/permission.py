"""Whether a judged command may run: by rule, by memory, or by the answer of a person."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable
from enum import StrEnum

import msgspec

from forge.core.shell.analysis.decide import Decision, explanation
from forge.core.shell.analysis.paths import display
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.record import RANK, Verdict
from forge.core.shell.analysis.rules import load_rules
from forge.core.shell.guard.profiles import profile_for
from forge.core.shell.sandbox.profile import Profile
from forge.foundation.errors import ConfigError
from forge.foundation.homes import forge_home
from forge.foundation.jsonfile import patch_json
from forge.foundation.jsonpatch import append
from forge.foundation.redact import redact
from forge.hosts.forgecmd.judging import ALLOWED
from forge.hosts.guarded.ground import Ground

AGAIN = "The same was refused before: another form of it will be refused too."
_NOBODY = "Nobody can be asked here."


class Choice(StrEnum):
    """What a person can answer."""

    ONCE = "once"
    SESSION = "session"
    ALWAYS = "always"
    NO = "no"


class Question(msgspec.Struct, frozen=True):
    """What a person is asked; `choices` are the answers that make sense, `profile` is the sandbox it gets."""

    command: str
    verdict: Verdict
    decision: Decision
    choices: tuple[Choice, ...]
    profile: Profile


class Permission(msgspec.Struct, frozen=True):
    """`status` and `scope` are words of the history. `reason` says why something was refused."""

    granted: bool
    status: str
    scope: str | None = None
    reason: str = ""


Asking = Callable[[Question], Awaitable[Choice]]


async def permit(
    ground: Ground, verdict: Verdict, decision: Decision, ask: Asking | None, *, danger: bool = False
) -> Permission:
    """Whether the command may run. `danger`: the person may allow a dangerous command, once."""
    if decision.verdict in ALLOWED:
        return Permission(True, "auto_approved")
    if decision.verdict == "deny" and not (danger and _may_be_dared(verdict, decision)):
        return _refused(ground, verdict, decision)
    if ask is None:
        return _refused(ground, verdict, decision, _NOBODY)
    offered = choices(verdict, decision)
    choice = await ask(Question(verdict.text, verdict, decision, offered, profile_for(verdict)))
    if choice is Choice.NO:
        return _refused(ground, verdict, decision, "The user refused.")
    if choice is Choice.SESSION:
        ground.memory.allow_session(verdict)
        ground.remember()
    elif choice is Choice.ALWAYS:
        _write_rules(ground, verdict)
    scope = {Choice.ALWAYS: "permanent"}.get(choice, str(choice))
    return Permission(True, "granted", scope)


def choices(verdict: Verdict, decision: Decision) -> tuple[Choice, ...]:
    """What makes sense as an answer: what is dangerous or unclear is only ever allowed once."""
    clear = verdict.analysable and RANK.get(verdict.category, 0) < RANK["dangerous"] and verdict.keys()
    # What lies in an unknown place is another thing each time; an ask rule wants to be asked each time.
    each_time = decision.rule is not None or any(f.place == "unknown" for f in verdict.findings)
    if decision.verdict == "deny" or not clear or each_time:
        return Choice.ONCE, Choice.NO
    return tuple(Choice) if _rules(verdict) else (Choice.ONCE, Choice.SESSION, Choice.NO)


def _may_be_dared(verdict: Verdict, decision: Decision) -> bool:
    return verdict.category != "forbidden" and decision.rule is None


def _refused(ground: Ground, verdict: Verdict, decision: Decision, more: str = "") -> Permission:
    again = AGAIN if ground.memory.deny(verdict) else ""
    lines = [redact(explanation(decision, verdict), ground.filtered.secrets), more, again]
    return Permission(False, "denied", None, "\n".join(line for line in lines if line))


def _rules(verdict: Verdict) -> list[dict[str, list[str]]]:
    """Rules that allow exactly these words; none if a word is not known or the rule would be too wide."""
    steps = [s for s in verdict.steps if (worst := s.worst()) and worst.category != "read_only"]
    rules = [{"argv": list(step.words)} for step in steps]
    if any(mark in word for step in steps for word in step.words for mark in (UNKNOWN, display(UNKNOWN))):
        return []
    if any(f.effect == "persist" for f in verdict.findings):
        return []
    # A secret must not be written into a settings file.
    if redact(verdict.text) != verdict.text:
        return []
    try:
        load_rules({"allow": rules}, "")
    except ConfigError:
        return []
    return rules


def _write_rules(ground: Ground, verdict: Verdict) -> None:
    path = os.path.join(forge_home(ground.env), "settings.json")
    patch_json(path, [append(("forgecmd", "rules", "allow"), _rules(verdict))])
