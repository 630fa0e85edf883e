"""Errors a user may see. Each says what happened and, in `hint`, what to do about it."""

from __future__ import annotations


class ForgeError(Exception):
    """A failure with a message for the user, an optional hint and the process exit code."""

    exit_code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(ForgeError):
    """The command line is wrong."""


class ConfigError(ForgeError):
    """A configuration file cannot be used; names the file and, where known, the position."""

    def __init__(self, message: str, *, path: str, line: int = 0, column: int = 0, hint: str = "") -> None:
        where = f"{path}:{line}:{column}" if line else path
        super().__init__(f"{where}: {message}", hint)
        self.path, self.line, self.column = path, line, column


class Answer:
    """What a server said along with a failure; `details` is all of it, where it helps to have all of it."""

    __slots__ = ("details", "error_type", "request_id", "retry_after", "status")

    def __init__(
        self,
        status: int | None = None,
        error_type: str | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
        details: str = "",
    ) -> None:
        self.details = details
        self.status = status
        self.error_type = error_type
        self.retry_after = retry_after
        self.request_id = request_id


class ModelError(ForgeError):
    """A model request failed for good, or may be sent again (`retryable`).

    `kind` is one of: authentication_failed, billing_error, rate_limit, overloaded, invalid_request,
    model_not_found, server_error, context_overflow, request_too_large, connection, malformed_stream, unknown.
    """

    def __init__(
        self,
        message: str,
        *,
        kind: str = "unknown",
        retryable: bool = False,
        answer: Answer | None = None,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint)
        self.kind = kind
        self.retryable = retryable
        self.answer = answer or Answer()
