"""Judges commands of a session: by its policy and rules, what the user said and what was written before."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping

from forge.core.shell.analysis.analyse import BUDGET_SECONDS, analyse
from forge.core.shell.analysis.decide import ALLOW_SESSION, ASK, DENY, Decision, Memory, decide, explanation
from forge.core.shell.analysis.policy import Policy, add_settings
from forge.core.shell.analysis.record import RANK, Verdict
from forge.core.shell.analysis.rules import RuleSet, permission_rules
from forge.core.shell.analysis.state import Known
from forge.core.shell.analysis.surroundings import Surroundings, home_of
from forge.core.shell.guard.grant import Grant
from forge.core.shell.guard.profiles import profile_for
from forge.core.shell.guard.setup import Source
from forge.core.shell.guard.unclear import denied_raw, looked_through

AGAIN = "This was refused before: trying the same effect in another form will be refused as well."


class Where:
    """Where a command would run; `directories` are those the user works in, the first one to begin with."""

    def __init__(self, cwd: str, home: str, directories: list[str], env: Mapping[str, str]) -> None:
        self.cwd = cwd
        self.home = home
        self.directories = directories
        self.env = env


class Assessed:
    """A judgement and what is to happen; `text` tells the model all of it."""

    def __init__(self, verdict: Verdict, decision: Decision) -> None:
        self.verdict = verdict
        self.decision = decision
        self.text = explanation(decision, verdict)

    @property
    def forbidden(self) -> bool:
        return self.verdict.category == "forbidden"

    def grant(self) -> Grant:
        """What is known of the command for those who run and record it."""
        verdict = self.verdict
        dangerous = RANK.get(verdict.category, 0) >= RANK["dangerous"]
        return Grant(
            verdict.text,
            verdict.category,
            verdict.risk,
            self.decision.verdict,
            tuple(finding.reason for finding in verdict.findings[:8]),
            profile=str(profile_for(verdict)),
            programs=tuple(step.program for step in verdict.steps),
            repository=dangerous and any(f.effect.startswith("git") for f in verdict.findings),
        )


class Judging:
    """The judge of one session."""

    def __init__(self, sources: Iterable[Source] = (), *, seconds: float = BUDGET_SECONDS) -> None:
        self.memory = Memory()
        self._seconds = seconds
        self.policy = Policy()
        self._known = Known()
        for source in sources:
            add_settings(self.policy, {"forgecmd": source.data}, source.path, source.trusted)

    def assess(self, text: str, where: Where, permissions: Mapping[str, list[str]]) -> Assessed:
        """The decision about a command; `permissions` are rules for Bash as settings spell them."""
        around = self._around(where)
        known = Known()
        known.files, known.links = dict(self._known.files), dict(self._known.links)
        verdict = analyse(text, around, self._seconds, known)
        if not verdict.analysable:
            verdict = looked_through(verdict)
        rules = RuleSet([*self.policy.rules.rules, *permission_rules(dict(permissions), "permissions")])
        decision = denied_raw(verdict, rules) or decide(verdict, rules, self.policy.thresholds, self.memory)
        if decision.verdict != DENY:
            self._known = known
        return Assessed(verdict, decision)

    def refused(self, assessed: Assessed) -> str:
        """Counts a refusal; what the model is told about it."""
        again = self.memory.deny(assessed.verdict)
        return f"{assessed.text}\n{AGAIN}" if again else assessed.text

    def _around(self, where: Where) -> Surroundings:
        workspace = where.directories[0] if where.directories else where.cwd
        home = home_of(where.cwd, where.home)
        around = Surroundings(where.cwd, home, workspace, where.env.get("USER", ""))
        temp = where.env.get("TMPDIR", "")
        around.temp = (os.path.normpath(temp),) if os.path.isabs(temp) else ()
        extra = [os.path.expanduser(path) for path in self.policy.extra]
        around.extra = tuple(
            os.path.normpath(os.path.join(workspace, path)) for path in (*where.directories[1:], *extra)
        )
        around.deny = self.policy.deny
        return around


def precious_paths(verdict: Verdict, cwd: str) -> tuple[str, ...]:
    """The files and directories that the dangerous parts of a command name."""
    found: dict[str, None] = {}
    for step in verdict.steps:
        worst = step.worst()
        if worst is None or RANK[worst.category] < RANK["dangerous"]:
            continue
        for word in step.words[1:]:
            path = os.path.join(cwd, word)
            if not word.startswith("-") and os.path.normpath(path) != "/":
                found.update(dict.fromkeys(glob.glob(path) if glob.has_magic(path) else [path]))
    return tuple(os.path.normpath(path) for path in found if os.path.lexists(path))


def needs_question(decision: Decision, mode: str) -> bool:
    """Whether somebody must be asked; planning changes nothing without that."""
    return decision.verdict == ASK or (mode == "plan" and decision.verdict == ALLOW_SESSION)
