"""What a version of the CLI can do; everything that depends on the version asks here."""

from __future__ import annotations

import msgspec

Version = tuple[int, int, int]

# The first version that prints the stream of a reply, not only whole blocks.
PARTIAL: Version = (1, 0, 109)
# The first version known to have the flags that keep the user's own settings of the CLI out.
ISOLATED: Version = (2, 1, 0)
# The first version where a hook can leave a call to the host.
DEFER: Version = (2, 1, 89)
# The version these facts were last checked with.
CHECKED: Version = (2, 1, 325)


class Abilities(msgspec.Struct, frozen=True):
    """`partial`: it streams. `isolated`: it can be kept apart from the user's settings of the CLI.

    `defers`: it leaves calls to the host. `wishes`: it takes effort and thinking as flags.
    """

    partial: bool
    isolated: bool
    defers: bool
    wishes: bool


def read_version(printed: str) -> Version | None:
    """The number in what `claude --version` prints, for example `2.1.325 (Claude Code)`."""
    words = printed.strip().split()
    numbers = words[0].partition("-")[0].split(".") if words else []
    if len(numbers) != 3 or not all(n.isascii() and n.isdecimal() for n in numbers):
        return None
    return int(numbers[0]), int(numbers[1]), int(numbers[2])


def abilities(version: Version) -> Abilities:
    """What a version can do; newer ones than we have seen are expected to keep it."""
    return Abilities(
        partial=version >= PARTIAL,
        isolated=version >= ISOLATED,
        defers=version >= DEFER,
        wishes=version >= DEFER,
    )


def dotted(version: Version) -> str:
    """The version as people write it."""
    return ".".join(map(str, version))
