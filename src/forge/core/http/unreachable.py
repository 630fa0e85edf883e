"""Words for failures below HTTP: what could not be reached, why, and what to do about it."""

from __future__ import annotations

import errno
import socket
import ssl

from forge.core.http.framing import BadAnswer
from forge.foundation.errors import Answer, ModelError

# What `Answer.error_type` says when nothing listens at the address; retrying is only worth a few seconds.
REFUSED = "connection_refused"


def unreachable(error: Exception, origin: str, hint: str = "") -> ModelError:
    """Turns a network failure into one sentence for the user; `hint` says how to fix this server."""
    if isinstance(error, ConnectionRefusedError):
        return ModelError(
            f"API Error: Connection refused by {origin}: no server is listening there (ECONNREFUSED).",
            kind="connection",
            retryable=True,
            answer=Answer(error_type=REFUSED),
            hint=hint,
        )
    if isinstance(error, ssl.SSLCertVerificationError):
        # The certificate will be the same next time.
        return ModelError(
            f"API Error: The certificate of {origin} is not trusted: {error.verify_message}.",
            kind="connection",
            hint="Set NODE_EXTRA_CA_CERTS (or SSL_CERT_FILE) to a PEM file with the authority's certificate.",
        )
    return ModelError(f"API Error: {_reason(error, origin)}", kind="connection", retryable=True, hint=hint)


def too_slow(origin: str, what: str, seconds: float, hint: str = "") -> ModelError:
    """No connection, or no byte, within the time allowed."""
    text = f"API Error: {origin} {what} within {seconds:g} seconds."
    return ModelError(text, kind="connection", retryable=True, answer=Answer(error_type="timeout"), hint=hint)


def _reason(error: Exception, origin: str) -> str:
    if isinstance(error, socket.gaierror):
        return f"The host name of {origin} cannot be resolved."
    if isinstance(error, ssl.SSLError):
        reason = (error.reason or "handshake failed").replace("_", " ").lower()
        return f"No secure connection to {origin}: {reason}."
    if isinstance(error, BadAnswer):
        return f"{origin} broke off: {error}."
    if isinstance(error, OSError) and error.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH):
        return f"{origin} cannot be reached from this network."
    return f"The connection to {origin} was lost."
