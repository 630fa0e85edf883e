"""Failed answers in the user's words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from forge.core.models.errors import (
    Peer,
    final_word,
    http_error,
    read_complaint,
    retry_after,
    retry_word,
    stream_error,
)
from forge.foundation.errors import ModelError

PEER = Peer("claude-x", "127.0.0.1:8080", "ANTHROPIC_API_KEY")
GATEWAY = (
    "This is a server-side issue, usually temporary — try again in a moment. If it persists, check your "
    "inference gateway (127.0.0.1:8080)."
)


def fail(status: int, body: Any, headers: dict[str, str] | None = None) -> ModelError:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return http_error(status, headers or {}, raw, PEER)


def told(kind: str, message: str, **more: Any) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message, **more}}


@pytest.mark.parametrize(
    ("status", "body", "text"),
    [
        (400, told("invalid_request_error", "bad thing"), "API Error: 400 bad thing"),
        (401, told("authentication_error", "invalid x-api-key"), "Invalid API key · Fix external API key"),
        (401, told("authentication_error", "who?"), "Failed to authenticate. API Error: 401 who?"),
        (402, told("billing_error", "pay up"), "API Error: 402 pay up"),
        (403, told("permission_error", "no"), "Failed to authenticate. API Error: 403 no"),
        (429, told("rate_limit_error", "slow down"), "API Error: Request rejected (429) · slow down"),
        (500, told("api_error", "Internal server error"), f"API Error: 500 Internal server error. {GATEWAY}"),
        (529, told("overloaded_error", "Overloaded"), f"API Error: 529 Overloaded. {GATEWAY}"),
        (502, b"<html><title>Bad gateway</title></html>", f"API Error: 502 Bad gateway. {GATEWAY}"),
        (
            404,
            told("not_found_error", "model: claude-x"),
            "There's an issue with the selected model (claude-x). It may not exist or you may not have "
            "access to it. Run --model to pick a different model.",
        ),
        (
            413,
            told("request_too_large", "too big"),
            "Request too large (max 32MB). Accumulated images and attachments in the conversation pushed the "
            "request over the limit. Remove older images or compact the conversation.",
        ),
        (
            400,
            told("invalid_request_error", "Your credit balance is too low to access the API."),
            "Credit balance is too low",
        ),
    ],
)
def test_texts_are_those_scripts_know(status: int, body: Any, text: str) -> None:
    assert fail(status, body).message == text


@pytest.mark.parametrize(
    ("status", "body", "details"),
    [
        (413, told("request_too_large", "big"), "request_too_large: 413 "),
        (400, told("invalid_request_error", "prompt is too long: 3 tokens > 2 maximum"), "400 "),
        (413, b"Payload Too Large", "request_too_large: 413 "),
        (400, told("invalid_request_error", "bad thing"), None),
    ],
)
def test_what_was_too_large_is_told_in_full(status: int, body: Any, details: str | None) -> None:
    whole = body.decode() if isinstance(body, bytes) else json.dumps(body, separators=(",", ":"))
    assert fail(status, body).answer.details == ("" if details is None else details + whole)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (
            400,
            told("invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"),
            "overflow",
        ),
        (
            400,
            told("invalid_request_error", "input length and `max_tokens` exceed context limit: 1 + 2"),
            "overflow",
        ),
        (400, {"error": {"message": "too long", "code": "context_length_exceeded"}}, "overflow"),
        (400, {"error": {"message": "This model's maximum context length is 8192 tokens."}}, "overflow"),
        (400, {"error": {"message": "the request exceeds the available context size"}}, "overflow"),
        (500, {"error": "context length exceeded"}, "overflow"),
        (400, {"detail": "too many tokens in the prompt"}, "overflow"),
        (400, [{"error": {"code": 400, "message": "input token count (9) exceeds the maximum"}}], "overflow"),
        (429, {"error": {"message": "context window quota", "type": "tokens"}}, "rate_limit"),
        (429, {"error": {"message": "no money", "code": "insufficient_quota"}}, "billing_error"),
        (400, {"error": {"message": "foo is not a valid model ID", "code": 400}}, "model_not_found"),
        (404, {"error": "model 'x' not found"}, "model_not_found"),
        (418, b"", "unknown"),
        (503, b"", "server_error"),
        (408, b"", "server_error"),
    ],
)
def test_kinds_are_found_for_every_vendor(status: int, body: Any, kind: str) -> None:
    assert fail(status, body).kind == ("context_overflow" if kind == "overflow" else kind)


@pytest.mark.parametrize(
    "words",
    [
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "The prompt (total length 5000) is too long to fit into the model (context length 4096).",
        "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
        "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096.",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        "prompt too long; exceeded max context length by 10 tokens",
        "input length exceeds the context length",
        "Too many input tokens",
        "Range of input length should be [1, 30720]",
        "Your request exceeded model token limit: 8192",
        "Prompt exceeds max length",
        "prompt token count of 130000 exceeds the limit of 128000",
        "Invalid 'messages[1].content': string too long. Expected a string with maximum length 10485760",
    ],
)
def test_every_vendor_has_its_own_words_for_a_conversation_that_is_too_long(words: str) -> None:
    assert fail(400, {"error": {"message": words}}).kind == "context_overflow"


@pytest.mark.parametrize(
    ("status", "body", "headers", "retryable"),
    [
        (429, told("rate_limit_error", "x"), {}, True),
        (429, told("x", "x", details={"error_code": "enforced_spend_limit_reached"}), {}, False),
        (429, {"error": {"message": "x", "code": "insufficient_quota"}}, {"x-should-retry": "true"}, False),
        (400, told("x", "x"), {"x-should-retry": "true"}, True),
        (500, told("x", "x"), {"x-should-retry": "false"}, False),
        (409, told("x", "x"), {}, True),
        (402, told("x", "x"), {}, False),
    ],
)
def test_the_server_has_the_last_word_on_retries(
    status: int, body: Any, headers: dict[str, str], retryable: bool
) -> None:
    assert fail(status, body, headers).retryable is retryable


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        (
            {"retry-after": "Wed, 01 Mar 2028 00:00:10 GMT", "date": "Tue, 29 Feb 2028 23:59:50 GMT"},
            20.0,
        ),
        ({"retry-after": "Fri, 01 Jan 2027 00:00:00 GMT", "date": "Fri, 01 Jan 2027 00:00:30 GMT"}, 0.0),
        ({"retry-after": "Fri, 01 Jan 2027 00:00:00 GMT"}, None),
        ({"retry-after": "soon", "date": "x"}, None),
    ],
)
def test_the_wait_a_server_asks_for_is_understood(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_what_the_server_said_is_kept_beside_the_text() -> None:
    error = fail(429, told("rate_limit_error", "x"), {"request-id": "req_9", "retry-after": "3"})
    answer = error.answer
    found = (answer.status, answer.error_type, answer.request_id, answer.retry_after)
    assert found == (429, "rate_limit_error", "req_9", 3.0)


def test_redirects_are_not_followed_but_explained() -> None:
    error = fail(307, b"", {"location": "https://user:pw@new.example/v1?key=1"})
    assert (
        error.message == "API Error: 307 the server redirects to new.example/v1; redirects are not followed."
    )
    assert "base URL" in error.hint


@pytest.mark.parametrize(
    ("event", "kind", "retryable"),
    [
        (told("overloaded_error", "Overloaded"), "overloaded", True),
        (told("invalid_request_error", "bad"), "invalid_request", False),
        ({"error": {"code": "rate_limit_exceeded", "message": "x"}}, "rate_limit", True),
        ({"error": {"code": "server_error", "message": "x"}}, "server_error", True),
        ({"error": {"code": 502, "message": "upstream"}}, "server_error", True),
        ({"error": "something odd"}, "server_error", True),
        ({"error": {"message": "prompt is too long"}}, "context_overflow", False),
    ],
)
def test_errors_in_a_stream_are_classified(event: dict[str, Any], kind: str, retryable: bool) -> None:
    error = stream_error(event, "req_1")
    assert (error.kind, error.retryable, error.answer.request_id) == (kind, retryable, "req_1")


def test_huge_bodies_are_shortened() -> None:
    assert len(read_complaint(b"x" * 100_000).message) == 601


@pytest.mark.parametrize(
    ("kind", "final", "retry"),
    [
        ("invalid_request", "unknown", "unknown"),
        ("authentication_failed", "authentication_failed", "authentication_failed"),
        ("rate_limit", "rate_limit", "rate_limit"),
        ("overloaded", "server_error", "overloaded"),
        ("context_overflow", "invalid_request", "context_overflow"),
        ("connection", "server_error", "unknown"),
    ],
)
def test_hosts_get_the_words_of_the_reference_protocol(kind: str, final: str, retry: str) -> None:
    assert (final_word(kind), retry_word(kind)) == (final, retry)


@pytest.mark.parametrize("body", [b'{"error": {"message": "d\xe9j\xe0 vu"}}', b"[" * 100_000])
def test_bodies_that_only_look_like_json_are_errors_like_others(body: bytes) -> None:
    assert http_error(400, {}, body, PEER).kind == "invalid_request"
