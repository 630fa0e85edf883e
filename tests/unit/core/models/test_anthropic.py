"""Requests of the Messages API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakemodel import serve
from fakemodel.asking import ask, ask_for, no_setting, open_at, reply
from forge.core.message import Image, Message, RedactedThinking, Source, Text, Thinking, ToolResult, ToolUse
from forge.core.model import ModelCard, Request
from forge.core.models.anthropic import build, needed_betas
from forge.core.models.catalog import open_model, resolve
from forge.foundation.errors import ModelError

MARK = {"cache_control": {"type": "ephemeral"}}
OPUS = ModelCard(
    "claude-opus-5-5", "anthropic", "anthropic", max_output=128_000, thinking="adaptive", effort="medium"
)
SONNET = ModelCard("claude-sonnet-4-5", "anthropic", "anthropic", thinking="enabled")
PLAIN = ModelCard("m", "fake", "anthropic")


def test_a_request_has_marks_on_the_last_system_blocks_and_the_last_block() -> None:
    request = Request("x", ["one", "", "two", "three"], list(ask_for().messages), list(ask_for().tools))
    assert build(request, PLAIN) == {
        "model": "m",
        "max_tokens": 32_000,
        "stream": True,
        "system": [
            {"type": "text", "text": "one"},
            {"type": "text", "text": "two", **MARK},
            {"type": "text", "text": "three", **MARK},
        ],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", **MARK}]}],
        "tools": [
            {
                "name": "Bash",
                "description": "Runs a command.",
                "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
            }
        ],
    }


def test_the_mark_carries_a_long_lifetime_when_asked_for() -> None:
    body = build(ask_for(cache_ttl="1h"), PLAIN)
    assert body["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


def test_thinking_never_carries_a_mark() -> None:
    last = Message("assistant", [Thinking("t", "s")], made_by="fake/m")
    body = build(ask_for(Message("user", [Text("a")]), last), PLAIN)
    assert body["messages"][-1]["content"] == [Thinking("t", "s")]


@pytest.mark.parametrize(
    ("card", "options", "thinking"),
    [
        (OPUS, {}, {"type": "adaptive"}),
        (OPUS, {"thinking_display": "updates"}, {"type": "adaptive", "display": "updates"}),
        (OPUS, {"thinking": "enabled"}, {"type": "adaptive"}),
        (OPUS, {"thinking": "disabled"}, {"type": "disabled"}),
        (SONNET, {}, {"type": "enabled", "budget_tokens": 31_999}),
        (SONNET, {"max_tokens": 4_000}, {"type": "enabled", "budget_tokens": 3_999}),
        (SONNET, {"max_tokens": 1_000}, None),
        (SONNET, {"thinking_budget": 2_000}, {"type": "enabled", "budget_tokens": 2_000}),
        (SONNET, {"thinking": "disabled"}, {"type": "disabled"}),
        (SONNET, {"tool_choice": "any"}, None),
        (SONNET, {"tool_choice": "auto"}, {"type": "enabled", "budget_tokens": 31_999}),
        (PLAIN, {}, None),
        (PLAIN, {"thinking": "disabled"}, None),
        (PLAIN, {"thinking": "adaptive"}, {"type": "adaptive"}),
    ],
)
def test_thinking_follows_the_model_and_the_wish(
    card: ModelCard, options: dict[str, Any], thinking: dict[str, Any] | None
) -> None:
    assert build(ask_for(**options), card).get("thinking") == thinking


@pytest.mark.parametrize(
    ("blocks", "made_by", "thinks"),
    [
        ([Thinking("t", "s"), ToolUse("a", "Bash", {})], "anthropic/claude-sonnet-4-5", True),
        ([RedactedThinking("x"), ToolUse("a", "Bash", {})], "anthropic/claude-sonnet-4-5", True),
        ([Thinking("t", "s"), ToolUse("a", "Bash", {})], "anthropic/claude-opus-5-5", False),
        ([ToolUse("a", "Bash", {})], "anthropic/claude-sonnet-4-5", False),
    ],
)
def test_a_tool_loop_that_began_without_thinking_ends_without_it(
    blocks: list[Any], made_by: str, thinks: bool
) -> None:
    history = [
        Message("user", [Text("go")]),
        Message("assistant", blocks, made_by=made_by),
        Message("user", [ToolResult("a", "r"), Text("a reminder")]),
    ]
    assert ("thinking" in build(ask_for(*history), SONNET)) is thinks
    assert "thinking" in build(ask_for(*history), OPUS)
    assert "thinking" in build(ask_for(*history, Message("user", [Text("next")])), SONNET) or not thinks


@pytest.mark.parametrize(
    ("card", "options", "betas"),
    [
        (SONNET, {}, ["interleaved-thinking-2025-05-14"]),
        (OPUS, {}, ["effort-2025-11-24"]),
        (OPUS, {"thinking_display": "updates"}, ["thinking-display-updates-2026-08-18", "effort-2025-11-24"]),
        (PLAIN, {}, []),
    ],
)
def test_only_needed_betas_are_named(card: ModelCard, options: dict[str, Any], betas: list[str]) -> None:
    assert needed_betas(build(ask_for(**options), card), card) == betas


@pytest.mark.parametrize(
    ("wish", "choice"),
    [
        ("auto", {"type": "auto"}),
        ("any", {"type": "any"}),
        ("none", {"type": "none"}),
        ("Bash", {"type": "tool", "name": "Bash"}),
    ],
)
def test_tool_choice_is_translated(wish: str, choice: dict[str, str]) -> None:
    assert build(ask_for(tool_choice=wish), PLAIN)["tool_choice"] == choice


def test_the_user_is_an_anonymous_device_and_a_session() -> None:
    body = build(ask_for(session_id="s1"), PLAIN, device_id="d1")
    user = json.loads(body["metadata"]["user_id"])
    assert user == {"device_id": "d1", "account_uuid": "", "session_id": "s1"}


def test_images_stay_inside_tool_results() -> None:
    image = Image(Source("base64", "image/png", "aGk="))
    with serve([[{"text": "x"}]]) as server:
        reply(open_at(server, "anthropic"), ask_for(Message("user", [ToolResult("c", [Text("see"), image])])))
        content = server.bodies[0]["messages"][0]["content"]
    assert content == [
        {
            "type": "tool_result",
            "tool_use_id": "c",
            "content": [
                {"type": "text", "text": "see"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}},
            ],
            **MARK,
        }
    ]


def test_redacted_thinking_and_unknown_blocks_go_back_unchanged() -> None:
    odd = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"q": "x"}}
    turn = [{"redacted": "opaque"}, {"block": odd, "deltas": []}, {"tool": "Bash", "id": "c", "input": {}}]
    with serve([turn, [{"text": "ok"}]]) as server:
        first = reply(open_at(server, "anthropic"))
        history = [Message("user", [Text("hi")]), first.message, Message("user", [ToolResult("c", "r")])]
        reply(open_at(server, "anthropic"), ask_for(*history))
        sent = server.bodies[1]["messages"][1]["content"]
    assert first.message.blocks == [RedactedThinking("opaque"), odd, ToolUse("c", "Bash", {})]
    assert sent == [
        {"type": "redacted_thinking", "data": "opaque"},
        odd,
        {"type": "tool_use", "id": "c", "name": "Bash", "input": {}},
    ]


def test_the_official_provider_sends_key_version_and_custom_headers() -> None:
    with serve([[{"text": "x"}]]) as server:
        env = {
            "ANTHROPIC_API_KEY": "k1",
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_CUSTOM_HEADERS": "X-Team: red\nX-Other: a: b",
        }
        reply(open_model("sonnet", env, no_setting))
        request = server.requests[0]
    wanted = ("x-api-key", "anthropic-version", "x-team", "x-other", "authorization", "anthropic-beta")
    assert request.path == "/v1/messages?beta=true"
    assert {name: request.headers.get(name) for name in wanted} == {
        "x-api-key": "k1",
        "anthropic-version": "2023-06-01",
        "x-team": "red",
        "x-other": "a: b",
        "authorization": None,
        "anthropic-beta": "effort-2025-11-24",
    }


def test_a_token_is_sent_as_bearer() -> None:
    with serve([[{"text": "x"}]]) as server:
        env = {"ANTHROPIC_AUTH_TOKEN": "t1", "ANTHROPIC_API_KEY": "k1", "ANTHROPIC_BASE_URL": server.url}
        assert resolve("sonnet", env, no_setting).key_source == "ANTHROPIC_AUTH_TOKEN"
        reply(open_model("sonnet", env, no_setting))
        headers = server.requests[0].headers
    assert (headers["authorization"], "x-api-key" in headers) == ("Bearer t1", False)


def test_an_unexplained_400_is_tried_once_with_fewer_features_and_remembered() -> None:
    bad = {"status": 400, "error": {"message": "unknown field: output_config"}}
    with serve([{"errors": [bad], "blocks": [{"text": "x"}]}, [{"text": "y"}]]) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        model = open_model("opus", env, no_setting)
        reply(model, ask_for(thinking_display="updates"))
        reply(model, ask_for(thinking_display="updates"))
        bodies, requests = server.bodies, server.requests
    assert [("output_config" in b, b["thinking"]) for b in bodies] == [
        (True, {"type": "adaptive", "display": "updates"}),
        (False, {"type": "adaptive"}),
        (False, {"type": "adaptive"}),
    ]
    assert ["anthropic-beta" in r.headers for r in requests] == [True, False, False]


def test_a_complaint_about_thinking_drops_thinking() -> None:
    bad = {"status": 400, "error": {"message": "thinking.type: adaptive is not supported"}}
    with serve([{"errors": [bad], "blocks": [{"text": "x"}]}]) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        reply(open_model("opus", env, no_setting))
        assert ["thinking" in body for body in server.bodies] == [True, False]


def test_an_overflow_is_not_tried_with_fewer_features() -> None:
    bad = {"status": 400, "error": {"message": "prompt is too long: 9 tokens > 8 maximum"}}
    with serve([{"errors": [bad], "blocks": [{"text": "x"}]}]) as server:
        with pytest.raises(ModelError) as caught:
            ask(open_at(server, "anthropic"))
        assert (caught.value.kind, len(server.requests)) == ("context_overflow", 1)


def test_a_million_token_wish_is_announced_to_older_models() -> None:
    with serve([[{"text": "x"}]]) as server:
        env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
        reply(open_model("claude-sonnet-4-5[1m]", env, no_setting))
        request = server.requests[0]
    assert request.body["model"] == "claude-sonnet-4-5"
    assert "context-1m-2025-08-07" in request.headers["anthropic-beta"]


def test_a_server_that_repeats_the_key_does_not_reveal_it() -> None:
    bad = {"status": 403, "error": {"message": "key sk-secret-123 is not allowed"}}
    with serve([{"errors": [bad], "blocks": []}]) as server:
        env = {"ANTHROPIC_API_KEY": "sk-secret-123", "ANTHROPIC_BASE_URL": server.url}
        with pytest.raises(ModelError) as caught:
            ask(open_model("opus", env, no_setting))
    assert caught.value.message == "Failed to authenticate. API Error: 403 key [key] is not allowed"
