"""What a permission decision depends on, and the decision itself."""

from __future__ import annotations

import os.path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from forge.foundation.permissions.rule import Rule


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
        "free_write_dirs",
        "home",
        "mode",
        "plan_file",
        "rules",
        "start_dir",
    )

    def __init__(  # noqa: PLR0913 - a record with one argument per field
        self,
        *,
        cwd: str,
        start_dir: str = "",
        directories: Iterable[str] = (),
        home: str = "",
        mode: str = "default",
        rules: Iterable[Rule] = (),
        deny_instead_of_prompting: bool = False,
        block_reads_outside: bool = False,
        block_writes_outside: bool = False,
        block_reads_exempt: Iterable[str] = (),
        free_read_dirs: Iterable[str] = (),
        free_write_dirs: Iterable[str] = (),
        config_dirs: Iterable[str] = (),
        plan_file: str = "",
    ) -> None:
        self.cwd = os.path.normpath(cwd)
        self.start_dir = os.path.normpath(start_dir or cwd)
        added = [os.path.normpath(path) for path in directories]
        self.directories = list(dict.fromkeys([self.start_dir, *added]))
        self.home = os.path.normpath(home or os.path.expanduser("~"))
        self.mode = mode
        self.rules = list(rules)
        self.deny_instead_of_prompting = deny_instead_of_prompting
        self.block_reads_outside = block_reads_outside
        self.block_writes_outside = block_writes_outside
        self.block_reads_exempt = list(block_reads_exempt)
        self.free_read_dirs = list(free_read_dirs)
        self.free_write_dirs = list(free_write_dirs)
        self.config_dirs = list(config_dirs)
        self.plan_file = plan_file

    def changed(self, **fields: object) -> Situation:
        """A copy in which the named fields have new values."""
        unknown = set(fields).difference(self.__slots__)
        if unknown:
            raise TypeError(f"Situation has no field {', '.join(sorted(unknown))}")
        copy = Situation.__new__(Situation)
        for name in self.__slots__:
            setattr(copy, name, fields.get(name, getattr(self, name)))
        return copy

    def at(self, place: str) -> Situation:
        """A copy whose first directory, the one everything starts in, is another one."""
        directories = list(dict.fromkeys([place, *self.directories[1:]]))
        return self.changed(cwd=place, start_dir=place, directories=directories)

    def having(self, behavior: str) -> list[Rule]:
        """The rules of one behavior, in their order."""
        return [rule for rule in self.rules if rule.behavior == behavior]


class Decision:
    """The verdict on one tool call, with what a host shows and what it may offer to remember.

    `tool_error` marks a denial that is reported as a tool error, `counted` whether the result lists it among
    the permission denials.
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

    def __init__(  # noqa: PLR0913 - a record with one argument per field
        self,
        verdict: str,
        message: str = "",
        *,
        reason_type: str | None = None,
        reason: str | None = None,
        rule: Rule | None = None,
        blocked_path: str | None = None,
        suggestions: Iterable[dict[str, object]] = (),
        tool_error: bool = False,
        requires_interaction: bool = False,
        counted: bool = True,
    ) -> None:
        self.verdict = verdict
        self.message = message
        self.reason_type = reason_type
        self.reason = reason
        self.rule = rule
        self.blocked_path = blocked_path
        self.suggestions = list(suggestions)
        self.tool_error = tool_error
        self.requires_interaction = requires_interaction
        self.counted = counted

    def __repr__(self) -> str:
        return f"Decision({self.verdict!r}, {self.message!r}, reason_type={self.reason_type!r})"

    def changed(self, **fields: object) -> Decision:
        """A copy in which the named fields have new values."""
        copy = Decision(self.verdict)
        for name in self.__slots__:
            setattr(copy, name, fields.get(name, getattr(self, name)))
        return copy
