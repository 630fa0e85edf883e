"""Where a value or a component comes from, and what was wrong with it."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Scope(StrEnum):
    """The layer a value was read from; the order of settings precedence is `SETTINGS_ORDER`."""

    BUILTIN = "builtin"
    PLUGIN = "plugin"
    USER = "user"
    PROJECT = "project"
    LOCAL = "local"
    FLAG = "flag"
    CLI = "cli"
    SESSION = "session"
    MANAGED = "managed"

    @property
    def wire(self) -> str:
        """The name the SDK protocol uses for this layer."""
        return _WIRE.get(self, self.value)


SETTINGS_ORDER = (Scope.USER, Scope.PROJECT, Scope.LOCAL, Scope.FLAG, Scope.MANAGED)

_WIRE = {
    Scope.USER: "userSettings",
    Scope.PROJECT: "projectSettings",
    Scope.LOCAL: "localSettings",
    Scope.FLAG: "flagSettings",
    Scope.MANAGED: "policySettings",
    Scope.CLI: "cliArg",
}


class Origin(msgspec.Struct, frozen=True):
    """Scope, file and plugin a component was read from."""

    scope: Scope
    path: str = ""
    plugin: str = ""

    def __str__(self) -> str:
        return self.path or self.plugin or self.scope.value


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Diagnostic(msgspec.Struct, frozen=True):
    """Something the user should know about a file or a value; never an exception.

    `whole`: the message names its file itself.
    """

    severity: Severity
    message: str
    origin: Origin
    hint: str = ""
    line: int = 0
    column: int = 0
    key: str = ""
    whole: bool = False

    def __str__(self) -> str:
        if self.whole:
            return self.message
        place = f"{self.origin}:{self.line}:{self.column}" if self.line else str(self.origin)
        key = f" ({self.key})" if self.key else ""
        text = f"{self.message.rstrip('.')}. {self.hint}" if self.hint else self.message
        return f"{place}{key}: {text}"


BUILTIN = Origin(Scope.BUILTIN)
