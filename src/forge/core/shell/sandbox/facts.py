"""What can confine commands on this machine, found out by trying each thing once."""

from __future__ import annotations

import msgspec

from forge.foundation.system.facts import platform_name
from forge.foundation.system.keeping import Confinement, Keeper, NotStarted, Order
from forge.foundation.system.landlock import landlock_version
from forge.foundation.system.process import Unsupported

_NOTHING = "/bin/true"
_NAMES = {
    1: "namespaces, Landlock and seccomp",
    3: "Landlock and seccomp",
    4: "seccomp only",
    5: "no kernel sandbox",
}


class Facts(msgspec.Struct, frozen=True):
    """`landlock` is the version of the kernel's interface, 0 if there is none.

    `missing` says for each thing that does not work why.
    """

    landlock: int = 0
    seccomp: bool = False
    namespaces: bool = False
    fresh_proc: bool = False
    missing: tuple[tuple[str, str], ...] = ()

    @property
    def layer(self) -> int:
        """1 is the best, 5 is none at all (2, a network namespace alone, is never used here)."""
        if self.namespaces and self.landlock and self.seccomp:
            return 1
        if self.landlock and self.seccomp:
            return 3
        return 4 if self.seccomp else 5

    def lines(self) -> list[str]:
        """The facts as a person reads them."""
        works = {
            "Landlock": f"version {self.landlock}" if self.landlock else "",
            "seccomp": "works" if self.seccomp else "",
            "namespaces": "user, mount, process and network" if self.namespaces else "",
            "own /proc": "works" if self.fresh_proc else "",
        }
        reasons = dict(self.missing)
        found = [f"{name}: {value or 'missing: ' + reasons.get(name, '')}" for name, value in works.items()]
        return [f"protection: {_NAMES[self.layer]}", *found]


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
