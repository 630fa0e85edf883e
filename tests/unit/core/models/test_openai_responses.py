"""The responses API: requests, and events that come incomplete."""

from __future__ import annotations

from typing import Any

import pytest

from fakemodel import serve
from fakemodel.asking import answered, ask_for, open_at, reply
from forge.core.message import Document, Image, Message, Source, Text, Thinking, ToolResult, ToolUse, Usage
from forge.core.model import Finished, ModelCard
from forge.core.models.assemble import Assembler
from forge.core.models.openai_responses import build
from forge.core.models.responses_stream import ITEM, STATE, ResponsesStream
from forge.foundation.errors import ModelError

Json = dict[str, Any]
CARD = ModelCard("m", "p", "openai_responses")
THINKER = ModelCard("m", "p", "openai_responses", effort="medium")
MESSAGE: Json = {
    "type": "message",
    "id": "m1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "hi"}],
}
CALL: Json = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "A", "arguments": '{"x": 1}'}
THOUGHT: Json = {
    "type": "reasoning",
    "id": "r1",
    "summary": [{"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}],
    "encrypted_content": "enc",
}


def read(*events: Json) -> Finished:
    stream, assembler = ResponsesStream("m"), Assembler("p/m")
    for raw in events:
        for event in stream.feed(raw):
            assembler.feed(event)
    return assembler.finish()


def done(item: Json, place: int = 0) -> Json:
    return {"type": "response.output_item.done", "output_index": place, "item": item}


def completed(*items: Json, **more: Any) -> Json:
    return {
        "type": "response.completed",
        "response": {"id": "r", "model": "m", "output": list(items), **more},
    }


def test_a_request_is_stateless_and_schemas_stay_as_they_are() -> None:
    assert build(ask_for(session_id="s1", max_tokens=99), THINKER) == {
        "model": "m",
        "instructions": "Be brief.",
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
        "stream": True,
        "store": False,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "medium", "summary": "auto"},
        "max_output_tokens": 99,
        "prompt_cache_key": "s1",
        "tools": [
            {
                "type": "function",
                "name": "Bash",
                "description": "Runs a command.",
                "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
                "strict": False,
            }
        ],
    }


@pytest.mark.parametrize(
    ("options", "reasoning"),
    [
        ({}, None),
        ({"effort": "high"}, {"effort": "high", "summary": "auto"}),
        ({"thinking": "disabled"}, None),
    ],
)
def test_models_without_reasoning_are_not_asked_for_it(options: Json, reasoning: Json | None) -> None:
    assert build(ask_for(**options), CARD).get("reasoning") == reasoning


def test_thinking_can_be_switched_off() -> None:
    assert build(ask_for(thinking="disabled"), THINKER)["reasoning"] == {"effort": "none"}


@pytest.mark.parametrize(
    ("wish", "choice"),
    [("any", "required"), ("auto", "auto"), ("Bash", {"type": "function", "name": "Bash"})],
)
def test_tool_choice_is_translated(wish: str, choice: object) -> None:
    assert build(ask_for(tool_choice=wish), CARD)["tool_choice"] == choice


def test_pictures_and_papers_become_input_parts() -> None:
    picture = Image(Source("base64", "image/png", "aGk="))
    paper = Document(Source("base64", "application/pdf", "aGk="), title="a.pdf")
    history = Message("user", [ToolResult("c", [Text("see"), picture]), Text("and"), paper])
    assert build(ask_for(history), CARD)["input"] == [
        {"type": "function_call_output", "call_id": "c", "output": "see"},
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Attachments of the tool result c:"},
                {"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"},
                {"type": "input_text", "text": "and"},
                {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,aGk="},
            ],
        },
    ]


def test_several_reasoning_items_go_back_in_order_with_their_calls() -> None:
    turn = [
        {"thinking": "one", "signature": "e1"},
        {"tool": "A", "id": "a", "input": {}},
        {"thinking": "two", "signature": "e2"},
        {"text": "so", "phase": "commentary"},
        {"tool": "B", "id": "b", "input": {}},
    ]
    with serve([turn, [{"text": "ok"}]]) as server:
        finished = reply(open_at(server, "openai_responses"))
        reply(open_at(server, "openai_responses"), ask_for(*answered(finished)))
        sent = server.bodies[1]["input"]
    kinds = [(item.get("type"), item.get("encrypted_content") or item.get("call_id")) for item in sent]
    assert kinds == [
        (None, None),
        ("reasoning", "e1"),
        ("function_call", "a"),
        ("reasoning", "e2"),
        ("message", None),
        ("function_call", "b"),
        ("function_call_output", "a"),
        ("function_call_output", "b"),
    ]
    assert sent[4]["phase"] == "commentary"


def test_finished_items_are_enough_without_any_pieces() -> None:
    finished = read(done(THOUGHT), done(MESSAGE, 1), done(CALL, 2), completed(THOUGHT, MESSAGE, CALL))
    thought, text, call = finished.message.blocks
    assert isinstance(thought, Thinking)
    assert (thought.thinking, text, call) == ("one\n\ntwo", Text("hi"), ToolUse("c1", "A", {"x": 1}))
    assert thought.signature.startswith(STATE)
    assert finished.stop_reason == "tool_use"


def test_the_final_response_alone_is_enough() -> None:
    usage = {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
    finished = read(completed(MESSAGE, usage=usage))
    assert finished.message.blocks == [Text("hi")]
    assert finished.usage == Usage(input=5, output=2, cache_read=4)


def test_a_whole_response_instead_of_a_stream_is_understood() -> None:
    assert read({"object": "response", "id": "r", "output": [MESSAGE]}).message.blocks == [Text("hi")]


def test_pieces_before_the_item_are_not_doubled() -> None:
    pieces = [{"type": "response.output_text.delta", "output_index": 0, "delta": "h"}]
    assert read(*pieces, done(MESSAGE), completed(MESSAGE)).message.blocks == [Text("hi")]


def test_summary_parts_are_paragraphs() -> None:
    events = [
        {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "one"},
        {"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "two"},
    ]
    thought = read(*events, done(THOUGHT), completed(THOUGHT)).message.blocks[0]
    assert isinstance(thought, Thinking)
    assert thought.thinking == "one\n\ntwo"


def test_reasoning_without_encrypted_content_is_not_sent_back() -> None:
    bare = {**THOUGHT, "encrypted_content": None}
    assert read(done(bare), completed(bare)).message.blocks == [Thinking("one\n\ntwo", "")]


def test_unknown_items_are_kept_and_sent_back() -> None:
    odd = {"type": "web_search_call", "id": "w", "status": "completed"}
    finished = read(done(odd), done(MESSAGE, 1), completed(odd, MESSAGE))
    assert finished.message.blocks == [{"type": ITEM, "item": odd}, Text("hi")]
    assert build(ask_for(Message("user", [Text("x")]), finished.message), CARD)["input"][1] == odd


def test_a_refusal_is_a_stop_reason_of_its_own() -> None:
    refusal = {**MESSAGE, "content": [{"type": "refusal", "refusal": "No."}]}
    finished = read(done(refusal), completed(refusal))
    assert (finished.message.text, finished.stop_reason) == ("No.", "refusal")


@pytest.mark.parametrize(
    ("code", "kind", "retryable"),
    [
        ("rate_limit_exceeded", "rate_limit", True),
        ("server_error", "server_error", True),
        ("invalid_prompt", "invalid_request", False),
        ("context_length_exceeded", "context_overflow", False),
    ],
)
def test_a_failed_response_is_raised(code: str, kind: str, retryable: bool) -> None:
    with pytest.raises(ModelError) as caught:
        read({"type": "response.failed", "response": {"error": {"code": code, "message": "x"}}})
    assert (caught.value.kind, caught.value.retryable) == (kind, retryable)
