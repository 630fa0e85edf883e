"""The vendors' own clients as peers: they understand the scripted server and pass on what Forge sends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import anthropic
import msgspec
import openai
import pytest
from anthropic.resources import Messages
from openai.resources import Chat
from openai.resources.responses import Responses

from fakemodel import Server, serve
from fakemodel.asking import ask_for
from forge.core.message import Document, Image, Message, Source, Text, Thinking, ToolResult, ToolUse
from forge.core.model import ModelCard, Request
from forge.core.models import anthropic as messages_api
from forge.core.models import openai_chat, openai_responses
from forge.core.models.responses_stream import STATE

# The clients import these on first use, which takes a second that no test should be charged for.
RESOURCES = (Messages, Chat, Responses)
TURN = [
    {"thinking": "let me think"},
    {"text": "I will look."},
    {"tool": "Bash", "id": "call_a", "input": {"command": "ls"}, "pieces": 3},
    {"tool": "Read", "id": "call_b", "input": {"file_path": "x"}},
]
CALLS = [("call_a", "Bash", '{"command": "ls"}'), ("call_b", "Read", '{"file_path": "x"}')]


@pytest.fixture
def server() -> Iterator[Server]:
    with serve([TURN]) as running:
        yield running


@pytest.fixture
def claude(server: Server) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=server.url, api_key="k", max_retries=0) as client:
        yield client


@pytest.fixture
def gpt(server: Server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="k", max_retries=0) as client:
        yield client


def history(signature: str) -> Request:
    """A conversation with everything in it that can be sent."""
    return ask_for(
        Message("user", [Text("look"), Image(Source("base64", "image/png", "aGk="))]),
        Message(
            "assistant",
            [Thinking("t", signature), Text("ok"), ToolUse("call_a", "Bash", {"x": 1})],
            made_by="p/m",
        ),
        Message(
            "user",
            [
                ToolResult(
                    "call_a", [Text("r"), Image(Source("base64", "image/png", "aGk="))], is_error=True
                ),
                Document(Source("base64", "application/pdf", "aGk="), title="a.pdf"),
            ],
        ),
        session_id="s1",
        effort="high",
        max_tokens=500,
        tool_choice="auto",
    )


def plain(body: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(body))
    return found


def test_the_anthropic_client_reads_the_scripted_server(claude: anthropic.Anthropic) -> None:
    with claude.messages.stream(
        model="claude-opus-5-5", max_tokens=99, messages=[{"role": "user", "content": "hi"}]
    ) as stream:
        message = stream.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    calls = [block for block in message.content if block.type == "tool_use"]
    assert [(c.id, c.name, c.input) for c in calls] == [
        ("call_a", "Bash", {"command": "ls"}),
        ("call_b", "Read", {"file_path": "x"}),
    ]
    assert (message.stop_reason, message.usage.input_tokens) == ("tool_use", 10)


def test_the_openai_client_reads_scripted_chat_completions(gpt: openai.OpenAI) -> None:
    with gpt.chat.completions.stream(
        model="m", messages=[{"role": "user", "content": "hi"}], stream_options={"include_usage": True}
    ) as stream:
        completion = stream.get_final_completion()
    choice = completion.choices[0]
    calls = [c for c in choice.message.tool_calls or () if c.type == "function"]
    assert [(c.id, c.function.name, c.function.arguments) for c in calls] == CALLS
    assert (choice.message.content, choice.finish_reason) == ("I will look.", "tool_calls")
    assert completion.usage is not None
    assert completion.usage.prompt_tokens == 10


def test_the_openai_client_reads_scripted_responses(gpt: openai.OpenAI) -> None:
    with gpt.responses.stream(model="m", input="hi") as stream:
        response = stream.get_final_response()
    assert [item.type for item in response.output] == [
        "reasoning",
        "message",
        "function_call",
        "function_call",
    ]
    calls = [item for item in response.output if item.type == "function_call"]
    assert [(c.call_id, c.name, c.arguments) for c in calls] == CALLS
    assert response.output_text == "I will look."


def test_the_anthropic_client_passes_on_a_request_of_forge(
    claude: anthropic.Anthropic, server: Server
) -> None:
    card = ModelCard("m", "p", "anthropic", thinking="adaptive", effort="medium")
    body = plain(messages_api.build(history("sig"), card, device_id="d"))
    with claude.messages.create(**body) as events:
        kinds = {event.type for event in events}
    assert "message_stop" in kinds
    assert server.bodies == [body]


def test_the_openai_client_passes_on_a_chat_request_of_forge(gpt: openai.OpenAI, server: Server) -> None:
    body = plain(openai_chat.build(history("chat:{}"), ModelCard("m", "p", "openai_chat")))
    with gpt.chat.completions.create(**body) as chunks:
        assert [chunk for chunk in chunks if chunk.usage]
    assert server.bodies == [body]


def test_the_openai_client_passes_on_a_responses_request_of_forge(gpt: openai.OpenAI, server: Server) -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "enc"}
    state = STATE + msgspec.json.encode({"item": item}).decode()
    body = plain(openai_responses.build(history(state), ModelCard("m", "p", "openai_responses")))
    with gpt.responses.create(**body) as events:
        assert "response.completed" in {event.type for event in events}
    assert server.bodies == [body]
    assert item in body["input"]
