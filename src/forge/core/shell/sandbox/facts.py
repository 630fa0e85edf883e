"""What can confine commands on a machine."""

from __future__ import annotations

import msgspec

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
