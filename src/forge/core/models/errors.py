"""Failed answers of model servers in the user's words: kind, whether to try again, text and advice.

The texts scripts may look for are those of the reference program; secrets and whole bodies never appear
in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import msgspec

from forge.foundation.encode import NOT_JSON
from forge.foundation.errors import Answer, ModelError

_KIND_OF_STATUS = {
    400: "invalid_request",
    401: "authentication_failed",
    402: "billing_error",
    403: "authentication_failed",
    404: "model_not_found",
    408: "server_error",
    409: "server_error",
    413: "request_too_large",
    429: "rate_limit",
    529: "overloaded",
}
_KIND_OF_TYPE = {
    "authentication_error": "authentication_failed",
    "permission_error": "authentication_failed",
    "invalid_api_key": "authentication_failed",
    "billing_error": "billing_error",
    "insufficient_quota": "billing_error",
    "not_found_error": "model_not_found",
    "model_not_found": "model_not_found",
    "request_too_large": "request_too_large",
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "overloaded_error": "overloaded",
    "api_error": "server_error",
    "server_error": "server_error",
    "timeout_error": "server_error",
    "context_length_exceeded": "context_overflow",
    "exceed_context_size_error": "context_overflow",
    "invalid_request_error": "invalid_request",
    "invalid_prompt": "invalid_request",
}
_RETRYABLE = frozenset({"rate_limit", "overloaded", "server_error", "connection", "malformed_stream"})
_FINAL_CODES = frozenset({"enforced_spend_limit_reached", "insufficient_quota"})
_OVERFLOW = (
    "prompt is too long",
    "exceed context limit",
    "maximum context length",
    "context length exceeded",
    "context window",
    "context_length",
    "too many tokens",
    "exceeds the available context size",
    "input is too long",
    "input token count",
    "reduce the length of the messages",
    "context the overflows",
    "context length of only",
    "max context length",
    "exceeds the context length",
    "greater than the context length",
    "model's context length",
    "maximum model length",
    "maximum prompt length",
    "too long to fit into the model",
    "prompt exceeds max length",
    "prompt token count",
    "too many input tokens",
    "`inputs` tokens",
    "exceeded model token limit",
    "range of input length",
    "string too long",
)
_TELLING = {
    "credit balance is too low": "billing_error",
    "not a valid model": "model_not_found",
}
_SERVER_SIDE = "This is a server-side issue, usually temporary — try again in a moment. If it persists, check"
_TOO_LARGE = (
    "Request too large (max 32MB). Accumulated images and attachments in the conversation pushed the request "
    "over the limit. Remove older images or compact the conversation."
)


class Peer(msgspec.Struct, frozen=True):
    """Who was asked: for texts only."""

    model: str
    host: str
    key_variable: str = ""
    official: bool = False


class Complaint(msgspec.Struct, frozen=True):
    """What a server says about a failure, in whatever shape it said it."""

    message: str = ""
    type: str = ""
    code: str = ""
    request_id: str = ""


def http_error(status: int, headers: Mapping[str, str], body: bytes, peer: Peer) -> ModelError:
    """The error for an answer with a failing status."""
    complaint = read_complaint(body)
    kind = classify(status, complaint)
    retryable = kind in _RETRYABLE
    wish = headers.get("x-should-retry")
    if wish in ("true", "false"):
        retryable = wish == "true"
    if complaint.code in _FINAL_CODES:
        retryable = False
    request_id = headers.get("request-id") or headers.get("x-request-id") or complaint.request_id or None
    answer = Answer(status, complaint.type or complaint.code or None, retry_after(headers), request_id)
    answer.details = _details(kind, status, body)
    if 300 <= status < 400:
        return _redirected(status, headers.get("location", ""), answer)
    message, hint = _words(kind, status, complaint.message or "no details", peer)
    return ModelError(message, kind=kind, retryable=retryable, answer=answer, hint=hint)


def _details(kind: str, status: int, body: bytes) -> str:
    """The whole answer to a request that was too large for the server or the model."""
    if kind not in ("context_overflow", "request_too_large"):
        return ""
    with suppress(*NOT_JSON):  # it may be a gateway's own words
        body = msgspec.json.encode(msgspec.json.decode(body))
    label = "request_too_large: " if kind == "request_too_large" else ""
    return f"{label}{status} {body[:10_000].decode('utf-8', 'replace')}"


def stream_error(event: Mapping[str, Any], request_id: str = "") -> ModelError:
    """The error for a failure told in the middle of a stream that began well."""
    complaint = _from_json(event)
    status = int(complaint.code) if complaint.code.isdecimal() else None
    kind = classify(status, complaint)
    if kind == "unknown":
        kind = "server_error"
    answer = Answer(status, complaint.type or complaint.code or None, None, request_id or None)
    retryable = kind in _RETRYABLE and complaint.code not in _FINAL_CODES
    hint = "This is a server-side issue, usually temporary: try again in a moment." if retryable else ""
    message = f"API Error: {complaint.message or complaint.type or 'the server reported a failure'}"
    return ModelError(message, kind=kind, retryable=retryable, answer=answer, hint=hint)


def cut_off(request_id: str, *, started: bool) -> ModelError:
    """The error for a stream that ends before the answer does."""
    what = "in the middle of the answer" if started else "before the answer began"
    return ModelError(
        f"API Error: The server ended the stream {what}.",
        kind="malformed_stream",
        retryable=True,
        answer=Answer(request_id=request_id or None),
        hint="If it happens again, a proxy or gateway in between may be cutting long answers.",
    )


def unreadable(what: str, request_id: str = "") -> ModelError:
    """The error for something in a stream that is not what the protocol promises."""
    return ModelError(
        f"API Error: The server sent {what}.",
        kind="malformed_stream",
        retryable=True,
        answer=Answer(request_id=request_id or None),
        hint="Check that the base URL belongs to a server of this protocol, and any proxy or gateway.",
    )


def final_word(kind: str) -> str:
    """The name hosts of the reference protocol expect for a failed turn."""
    return _FINAL_WORDS.get(kind, kind)


def retry_word(kind: str) -> str:
    """The name hosts of the reference protocol expect in an announcement of another try."""
    return _RETRY_WORDS.get(kind, kind)


_FINAL_WORDS = {
    "overloaded": "server_error",
    "connection": "server_error",
    "invalid_request": "unknown",
    "context_overflow": "invalid_request",
    "request_too_large": "invalid_request",
    "rapid_refill": "invalid_request",
    "malformed_stream": "unknown",
}
_RETRY_WORDS = {"connection": "unknown", "malformed_stream": "unknown", "invalid_request": "unknown"}


def classify(status: int | None, complaint: Complaint) -> str:
    """The kind of a failure; the server's own code is more precise than the status."""
    text = complaint.message.lower()
    if status not in (401, 403, 429) and any(sign in text for sign in _OVERFLOW):
        return "context_overflow"
    for sign, kind in _TELLING.items():
        if sign in text:
            return kind
    for found in (
        _KIND_OF_TYPE.get(complaint.code),
        _KIND_OF_STATUS.get(status or 0),
        _KIND_OF_TYPE.get(complaint.type),
    ):
        if found:
            return found
    return "server_error" if status and status >= 500 else "unknown"


def read_complaint(body: bytes) -> Complaint:
    """Finds message, type and code in a JSON, HTML or plain text body."""
    try:
        return _from_json(msgspec.json.decode(body))
    except NOT_JSON:
        pass
    text = body[:10_000].decode("utf-8", "replace").strip()
    if text.startswith("<"):
        lower = text.lower()
        start, end = lower.find("<title>"), lower.find("</title>")
        text = text[start + 7 : end].strip() if 0 <= start < end else "a web page instead of an answer"
    return Complaint(_short(text))


def _from_json(raw: Any) -> Complaint:
    if isinstance(raw, list) and raw:
        raw = raw[0]
    if not isinstance(raw, Mapping):
        return Complaint(_short(str(raw)))
    error = raw.get("error", raw)
    if not isinstance(error, Mapping):
        return Complaint(_short(str(error)))
    details = error.get("details")
    code = details.get("error_code") if isinstance(details, Mapping) else None
    message = error.get("message") or error.get("detail") or ""
    return Complaint(
        _short(message if isinstance(message, str) else msgspec.json.encode(message).decode()),
        _word(error.get("type")),
        _word(code or error.get("code")),
        _word(raw.get("request_id")),
    )


def _word(value: Any) -> str:
    return str(value) if isinstance(value, str | int) else ""


def _short(text: str) -> str:
    return text if len(text) <= 600 else text[:600] + "…"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds the server asks to wait; a date is measured against the server's own clock."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        value = headers.get("retry-after", "")
        if value[:1].isdecimal():
            return float(value)
        if value and "date" in headers:
            return max(0.0, _http_date(value) - _http_date(headers["date"]))
    except ValueError:
        return None
    return None


def _http_date(text: str) -> float:
    """Seconds of `Sun, 06 Nov 1994 08:49:37 GMT` on a scale of its own."""
    _, day, month, year, clock, *_ = text.split()
    number = _MONTHS.index(month.lower()) + 1
    hour, minute, second = (int(part) for part in clock.split(":"))
    # Counting years from March makes the leap day the last of its year.
    months = (number + 9) % 12
    years = int(year) - months // 10
    days = 365 * years + years // 4 - years // 100 + years // 400 + (months * 306 + 5) // 10 + int(day)
    return days * 86400.0 + hour * 3600 + minute * 60 + second


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def _words(kind: str, status: int, text: str, peer: Peer) -> tuple[str, str]:
    """Message and hint."""
    key = peer.key_variable or "the API key"
    if kind in ("overloaded", "server_error"):
        where = "status.claude.com" if peer.official else f"your inference gateway ({peer.host})"
        return f"API Error: {status} {text.rstrip('.')}. {_SERVER_SIDE} {where}.", ""
    if kind == "authentication_failed" and status == 401 and "x-api-key" in text.lower():
        return (
            "Invalid API key · Fix external API key",
            f"{peer.host} refused {key}: set it to a valid key.",
        )
    if kind == "billing_error" and "credit balance is too low" in text.lower():
        return "Credit balance is too low", "Add credit to the account, or choose another model with --model."
    plain = f"API Error: {status} {text}"
    table = {
        "authentication_failed": (f"Failed to authenticate. {plain}", f"{key} may not use this model."),
        "rate_limit": (
            f"API Error: Request rejected ({status}) · {text}",
            "Wait a little, or use --fallback-model.",
        ),
        "request_too_large": (_TOO_LARGE, ""),
        "context_overflow": (f"Prompt is too long · {text}", "Compact the conversation or start a new one."),
        "model_not_found": (
            f"There's an issue with the selected model ({peer.model}). It may not exist or you may not "
            "have access to it. Run --model to pick a different model.",
            f"{peer.host} said: {text}",
        ),
    }
    return table.get(kind, (plain, ""))


def _redirected(status: int, location: str, answer: Answer) -> ModelError:
    place = location.partition("?")[0].rpartition("@")[2] or "another address"
    return ModelError(
        f"API Error: {status} the server redirects to {place}; redirects are not followed.",
        kind="invalid_request",
        answer=answer,
        hint="Set the provider's base URL to the final address.",
    )
