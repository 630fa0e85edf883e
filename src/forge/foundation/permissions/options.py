"""Checking the options of a command against a table of the harmless ones."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.syntax import Word

_COUNT = r"-\d+"
_BUNDLE = r"-[A-Za-z0-9]{2,}"


class Options:
    """The options a read-only command may have.

    The table is a text: `-a` takes no value, `-k=` takes any, `-n#` takes a number, `--short?` may take one;
    a doubled sign (`--sort==`) accepts the value only behind an equals sign, `--merged??` only without one.
    The same holds for long options.
    """

    __slots__ = ("attached", "bundles", "counts", "globs", "table")

    def __init__(
        self,
        table: str,
        *,
        counts: bool = False,
        attached: bool = False,
        globs: bool = False,
        bundles: bool = True,
    ) -> None:
        self.table = table
        self.bundles = bundles
        self.counts = counts
        self.attached = attached
        self.globs = globs

    def operands(self, arguments: list[Word]) -> list[str] | None:
        """The arguments that are no options, or None if an option is not in the table."""
        if not self.globs and any(word.glob for word in arguments):
            return None
        known = {token.rstrip("=#?"): token[len(token.rstrip("=#?")) :] for token in self.table.split()}
        values = [word.value for word in arguments]
        found: list[str] = []
        at = 0
        while at < len(values):
            value = values[at]
            if value == "--":
                return found + values[at + 1 :]
            if not value.startswith("-") or value == "-":
                found.append(value)
                at += 1
                continue
            used = self._used(known, value, values[at + 1 : at + 2])
            if not used:
                return None
            at += used
        return found

    def _used(self, known: dict[str, str], value: str, following: list[str]) -> int:
        """How many arguments the option takes up; nothing if it is not acceptable."""
        name, equals, inline = value.partition("=")
        kind = known.get(name)
        if kind is None:
            return int(self._several(known, value))
        if equals:
            return int(kind not in ("", "??") and (kind[-1] != "#" or inline.isdigit()))
        if not kind:
            return 1
        if kind[0] == "?":
            return 2 if following and not following[0].startswith("-") else 1
        return 2 if len(kind) == 1 and following and _plausible(kind, following[0]) else 0

    def _several(self, known: dict[str, str], value: str) -> bool:
        if self.counts and re.fullmatch(_COUNT, value):
            return True
        if self.attached and value[2:].isdigit() and known.get(value[:2]):
            return True
        return (
            self.bundles
            and bool(re.fullmatch(_BUNDLE, value))
            and all(known.get("-" + letter) == "" for letter in value[1:])
        )


def _plausible(kind: str, value: str) -> bool:
    return value.isdigit() if kind == "#" else not value.startswith("-")
