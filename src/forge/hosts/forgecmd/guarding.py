"""The guard in a process of its own, for when none stays in memory."""

from __future__ import annotations

import sys
from importlib import import_module

from forge.hosts.forgecmd.hook import answer
from forge.hosts.forgecmd.policies import load_policy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from forge.core.shell.analysis.policy import Policy


def guard(raw: bytes, env: Mapping[str, str], *, resident: bool) -> int:
    """Prints the decision about an event; `resident`: the next event may find a daemon."""
    wanted = [resident]

    def load(around: Mapping[str, str], cwd: str) -> Policy:
        policy = load_policy(around, cwd)
        wanted.append(policy.daemon)
        return policy

    sys.stdout.write(answer(raw, env, load))
    sys.stdout.flush()
    if any(wanted):
        import_module("forge.hosts.forgecmd.daemon").start(env)
    return 0
