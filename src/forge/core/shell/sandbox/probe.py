"""Finds out what can confine commands on this machine, by trying each thing once."""

from __future__ import annotations

from forge.core.shell.sandbox.facts import Facts
from forge.foundation.system.facts import platform_name
from forge.foundation.system.keeping import Confinement, Keeper, NotStarted, Order
from forge.foundation.system.landlock import landlock_version
from forge.foundation.system.process import Unsupported

_NOTHING = "/bin/true"


async def probe(keeper: Keeper) -> Facts:
    """Tries every layer with a program that does nothing."""
    missing: list[tuple[str, str]] = []
    tries = {
        "Landlock": Confinement(landlock=True),
        "seccomp": Confinement(seccomp=True),
        "namespaces": Confinement(namespaces=True, no_network=True),
        "own /proc": Confinement(namespaces=True, no_network=True, fresh_proc=True),
    }
    for name, sandbox in tries.items():
        if reason := await _failure(keeper, sandbox):
            missing.append((name, reason))
    failed = {name for name, _ in missing}
    return Facts(
        0 if "Landlock" in failed else landlock_version(),
        "seccomp" not in failed,
        "namespaces" not in failed,
        "own /proc" not in failed,
        tuple(missing),
    )


async def _failure(keeper: Keeper, sandbox: Confinement) -> str:
    if platform_name() != "linux":
        return f"not available on {platform_name()}"
    try:
        held = await keeper.start(Order([_NOTHING], "/", {}, sandbox=sandbox))
    except (NotStarted, Unsupported) as error:
        return str(error)
    code = await held.wait()
    return f"{_NOTHING} ended with exit code {code}" if code else ""
