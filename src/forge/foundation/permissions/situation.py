"""What a permission decision depends on, and the decision itself."""

from __future__ import annotations

import os.path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypedDict, Unpack

    from forge.foundation.permissions.rule import Rule

    class SituationFields(TypedDict, total=False):
        start_dir: str
        directories: Iterable[str]
        home: str
        mode: str
        rules: Iterable[Rule]
        deny_instead_of_prompting: bool
        block_reads_outside: bool
        block_writes_outside: bool
        block_reads_exempt: Iterable[str]
        free_read_dirs: Iterable[str]
        config_dirs: Iterable[str]

    class DecisionFields(TypedDict, total=False):
        reason_type: str | None
        reason: str | None
        rule: Rule | None
        blocked_path: str | None
        suggestions: Iterable[dict[str, object]]
        tool_error: bool
        requires_interaction: bool
        counted: bool


class Situation:
    """Directories, mode and rules in force when a tool is about to be used; treat it as a value."""

    __slots__ = (
        "block_reads_exempt",
        "block_reads_outside",
        "block_writes_outside",
        "config_dirs",
        "cwd",
        "deny_instead_of_prompting",
        "directories",
        "free_read_dirs",
        "home",
        "mode",
        "rules",
        "start_dir",
    )

    def __init__(self, *, cwd: str, **fields: Unpack[SituationFields]) -> None:
        self.cwd = os.path.normpath(cwd)
        self.start_dir = os.path.normpath(fields.get("start_dir") or cwd)
        added = [os.path.normpath(path) for path in fields.get("directories", ())]
        self.directories = list(dict.fromkeys([self.start_dir, *added]))
        self.home = os.path.normpath(fields.get("home") or os.path.expanduser("~"))
        self.mode = fields.get("mode", "default")
        self.rules = list(fields.get("rules", ()))
        self.deny_instead_of_prompting = fields.get("deny_instead_of_prompting", False)
        self.block_reads_outside = fields.get("block_reads_outside", False)
        self.block_writes_outside = fields.get("block_writes_outside", False)
        self.block_reads_exempt = list(fields.get("block_reads_exempt", ()))
        self.free_read_dirs = list(fields.get("free_read_dirs", ()))
        self.config_dirs = list(fields.get("config_dirs", ()))

    def changed(self, **fields: object) -> Situation:
        """A copy in which the named fields have new values."""
        unknown = set(fields).difference(self.__slots__)
        if unknown:
            raise TypeError(f"Situation has no field {', '.join(sorted(unknown))}")
        copy = Situation.__new__(Situation)
        for name in self.__slots__:
            setattr(copy, name, fields.get(name, getattr(self, name)))
        return copy

    def having(self, behavior: str) -> list[Rule]:
        """The rules of one behavior, in their order."""
        return [rule for rule in self.rules if rule.behavior == behavior]


class Decision:
    """The verdict on one tool call, with what a host shows and what it may offer to remember.

    `tool_error` marks a denial that the protocol reports as a tool error, `counted` whether it is listed among
    the permission denials of the result.
    """

    __slots__ = (
        "blocked_path",
        "counted",
        "message",
        "reason",
        "reason_type",
        "requires_interaction",
        "rule",
        "suggestions",
        "tool_error",
        "verdict",
    )

    def __init__(self, verdict: str, message: str = "", **fields: Unpack[DecisionFields]) -> None:
        self.verdict = verdict
        self.message = message
        self.reason_type = fields.get("reason_type")
        self.reason = fields.get("reason")
        self.rule = fields.get("rule")
        self.blocked_path = fields.get("blocked_path")
        self.suggestions = list(fields.get("suggestions", ()))
        self.tool_error = fields.get("tool_error", False)
        self.requires_interaction = fields.get("requires_interaction", False)
        self.counted = fields.get("counted", True)

    def __repr__(self) -> str:
        return f"Decision({self.verdict!r}, {self.message!r}, reason_type={self.reason_type!r})"

    def changed(self, **fields: object) -> Decision:
        """A copy in which the named fields have new values."""
        copy = Decision(self.verdict)
        for name in self.__slots__:
            setattr(copy, name, fields.get(name, getattr(self, name)))
        return copy
