"""Requests of the chat completions API."""

from __future__ import annotations

from typing import Any

import pytest

from fakemodel import serve
from fakemodel.asking import answered, ask, ask_for, open_at, reply
from forge.core.message import Block, Document, Image, Message, Source, Text, Thinking, ToolResult, ToolUse
from forge.core.model import ModelCard
from forge.core.models.openai_chat import build
from forge.foundation.errors import ModelError

CARD = ModelCard("m", "p", "openai_chat")
PICTURE = Image(Source("base64", "image/png", "aGk="))
URL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}


def messages(*history: Message, quirks: frozenset[str] = frozenset()) -> list[Any]:
    sent: list[Any] = build(ask_for(*history), CARD, quirks)["messages"]
    return sent


def user(*blocks: Block) -> Message:
    return Message("user", list(blocks))


def assistant(*blocks: Block) -> Message:
    return Message("assistant", list(blocks), made_by="p/m")


def test_a_request_asks_for_usage_and_nothing_superfluous() -> None:
    assert build(ask_for(), CARD) == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "Bash",
                    "description": "Runs a command.",
                    "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
                },
            }
        ],
    }


@pytest.mark.parametrize(
    ("options", "quirks", "part"),
    [
        ({"max_tokens": 9}, (), {"max_completion_tokens": 9}),
        ({"max_tokens": 9}, ("max_tokens",), {"max_tokens": 9}),
        ({}, ("max_tokens", "send_limit"), {"max_tokens": 32_000}),
        ({"effort": "high"}, (), {"reasoning_effort": "high"}),
        ({"tool_choice": "any"}, (), {"tool_choice": "required"}),
        ({"tool_choice": "none"}, (), {"tool_choice": "none"}),
        ({"tool_choice": "Bash"}, (), {"tool_choice": {"type": "function", "function": {"name": "Bash"}}}),
    ],
)
def test_options_are_translated(
    options: dict[str, Any], quirks: tuple[str, ...], part: dict[str, Any]
) -> None:
    body = build(ask_for(**options), CARD, frozenset(quirks))
    assert {key: body.get(key) for key in part} == part


def test_servers_without_stream_options_are_not_sent_any() -> None:
    assert "stream_options" not in build(ask_for(), CARD, frozenset({"no_stream_options"}))


def test_calls_and_results_follow_each_other() -> None:
    history = (
        user(Text("go")),
        assistant(Text("Two things."), ToolUse("a", "Bash", {"x": 1}), ToolUse("b", "Read", {})),
        user(ToolResult("a", "one"), ToolResult("b", [Text("two"), Text("three")]), Text("and now?")),
    )
    assert messages(*history)[1:] == [
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "Two things.",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "Bash", "arguments": '{"x":1}'}},
                {"id": "b", "type": "function", "function": {"name": "Read", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": "one"},
        {"role": "tool", "tool_call_id": "b", "content": "two\nthree"},
        {"role": "user", "content": "and now?"},
    ]


def test_images_of_results_move_to_a_user_message() -> None:
    assert messages(user(ToolResult("a", [Text("see"), PICTURE]), ToolResult("b", [PICTURE])))[1:] == [
        {"role": "tool", "tool_call_id": "a", "content": "see"},
        {"role": "tool", "tool_call_id": "b", "content": "(see the attachments below)"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Attachments of the tool result a:"},
                URL,
                {"type": "text", "text": "Attachments of the tool result b:"},
                URL,
            ],
        },
    ]


@pytest.mark.parametrize(
    ("document", "part"),
    [
        (
            Document(Source("base64", "application/pdf", "aGk="), title="a.pdf"),
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="}},
        ),
        (Document(Source("text", "text/plain", "plain words")), {"type": "text", "text": "plain words"}),
    ],
)
def test_documents_become_files_or_text(document: Document, part: dict[str, Any]) -> None:
    content = messages(user(PICTURE, document))[-1]["content"]
    assert content == [URL, part]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        (ToolResult("a", ""), "(no output)"),
        (ToolResult("a", "bad", is_error=True), "Error: bad"),
        (ToolResult("a", "Error: bad", is_error=True), "Error: bad"),
        (
            ToolResult("a", "<tool_use_error>x</tool_use_error>", is_error=True),
            "<tool_use_error>x</tool_use_error>",
        ),
    ],
)
def test_results_are_never_empty_and_failures_are_words(result: ToolResult, text: str) -> None:
    assert messages(user(result))[-1]["content"] == text


def test_results_with_unknown_fields_are_results_all_the_same() -> None:
    content = [{"type": "text", "text": "r"}]
    odd: Block = {"type": "tool_result", "tool_use_id": "a", "content": content, "cache_control": {}}
    history = (user(Text("go")), assistant(ToolUse("a", "Bash", {})), user(Text("more"), odd))
    assert messages(*history)[-2:] == [
        {"role": "tool", "tool_call_id": "a", "content": "r"},
        {"role": "user", "content": "more"},
    ]


def test_servers_that_want_their_thoughts_back_get_them_only_in_the_tool_loop() -> None:
    loop = (
        user(Text("go")),
        assistant(Thinking("old", "chat:{}"), Text("done")),
        user(Text("more")),
        assistant(Thinking("new", "chat:{}"), ToolUse("a", "Bash", {})),
        user(ToolResult("a", "r")),
    )
    sent = messages(*loop, quirks=frozenset({"echo_reasoning"}))
    assert [m.get("reasoning_content") for m in sent if m["role"] == "assistant"] == [None, "new"]
    assert "old" not in str(messages(*loop)) + str(sent)


def test_state_beside_calls_and_details_go_back_where_they_were() -> None:
    extra = {"extra_content": {"google": {"thought_signature": "sig"}}}
    detail = {"type": "reasoning.encrypted", "data": "x", "index": 0}
    raw = [
        {"choices": [{"delta": {"reasoning_details": [detail]}}]},
        {"choices": [{"delta": {"tool_calls": [{"id": "a", "function": {"name": "Bash"}, **extra}]}}]},
    ]
    with serve([{"raw": raw}, [{"text": "ok"}]]) as server:
        finished = reply(open_at(server, "openai_chat"))
        reply(open_at(server, "openai_chat"), ask_for(*answered(finished)))
        sent = server.bodies[1]["messages"][2]
    call = {"id": "a", "type": "function", "function": {"name": "Bash", "arguments": "{}"}, **extra}
    assert sent == {"role": "assistant", "content": None, "tool_calls": [call], "reasoning_details": [detail]}


def test_short_call_ids_agree_on_both_sides() -> None:
    history = (assistant(ToolUse("toolu_long_1", "Bash", {})), user(ToolResult("toolu_long_1", "r")))
    sent = messages(*history, quirks=frozenset({"short_ids"}))
    call_id = sent[1]["tool_calls"][0]["id"]
    assert (len(call_id), sent[2]["tool_call_id"]) == (9, call_id)


def test_the_key_is_sent_as_bearer_and_own_headers_are_added() -> None:
    with serve([[{"text": "x"}]]) as server:
        model = open_at(
            server, "openai_chat", env={"MY_KEY": "k1"}, apiKeyEnv="MY_KEY", headers={"x-title": "forge"}
        )
        reply(model)
        request = server.requests[0]
    assert request.path == "/v1/chat/completions"
    assert (request.headers["authorization"], request.headers["x-title"]) == ("Bearer k1", "forge")


def test_an_error_with_status_200_is_an_error() -> None:
    garbage = {"garbage": '{"error": {"message": "model is loading", "type": "server_error"}}'}
    with serve([{"errors": [garbage], "blocks": []}]) as server, pytest.raises(ModelError) as caught:
        ask(open_at(server, "openai_chat"))
    assert caught.value.message == "API Error: model is loading"


def test_comments_and_a_missing_end_mark_are_survived() -> None:
    text = ': keep-alive\n\ndata:{"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\n'
    with serve([{"errors": [{"garbage": text}], "blocks": []}]) as server:
        assert reply(open_at(server, "openai_chat")).message.text == "hi"
