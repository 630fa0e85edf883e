"""What must hold for every wire protocol, against the scripted server."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from fakemodel import serve
from fakemodel.asking import PROTOCOLS, answered, ask, ask_for, deltas_of, open_at, reply, skip_to
from forge.core.message import UNPARSED_INPUT, Message, Text, Thinking, ToolResult, ToolUse, Usage
from forge.core.model import BlockDelta, BlockFinished, BlockStarted, Ending, Finished, Retrying, Started
from forge.foundation.errors import ModelError

every_protocol = pytest.mark.parametrize("protocol", PROTOCOLS)
CALL: dict[str, Any] = {"tool": "Bash", "id": "call_a", "input": {"command": "ls"}}
EVENTS_BEFORE_TEXT = {"anthropic": 3, "openai_chat": 1, "openai_responses": 4}


@every_protocol
def test_plain_text_arrives_in_pieces_and_as_a_whole(protocol: str) -> None:
    with serve([[{"text": "one two three"}]]) as server:
        deltas = ask(open_at(server, protocol))
    pieces = [d.text for d in deltas if isinstance(d, BlockDelta)]
    assert [type(d) for d in deltas if not isinstance(d, BlockDelta)] == [
        Started,
        BlockStarted,
        BlockFinished,
        Ending,
        Ending,
        Finished,
    ]
    assert pieces == ["one ", "two ", "three"]
    finished = deltas[-1]
    assert isinstance(finished, Finished)
    assert (finished.message.blocks, finished.stop_reason) == ([Text("one two three")], "end_turn")
    assert finished.usage == Usage(input=10, output=5)
    assert finished.message.made_by == "fake/m"
    assert finished.request_id == "req_fake"


@every_protocol
@pytest.mark.parametrize("chunk", [0, 1, 7, 4096])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("framing", ["chunked", "length", "close"])
def test_any_cut_line_end_and_framing_gives_the_same_reply(
    protocol: str, chunk: int, newline: str, framing: str
) -> None:
    turn = [{"text": "grüße 🙂"}, CALL]
    with serve([turn], chunk=chunk, newline=newline, framing=framing, space=chunk != 7) as server:
        finished = reply(open_at(server, protocol))
    assert finished.message.blocks == [Text("grüße 🙂"), ToolUse("call_a", "Bash", {"command": "ls"})]
    assert finished.stop_reason == "tool_use"


@every_protocol
def test_parallel_calls_with_split_arguments_are_put_together(protocol: str) -> None:
    second = {"tool": "Read", "id": "call_b", "input": {"file_path": "/a b.txt", "limit": 3}, "pieces": 5}
    with serve([[{**CALL, "pieces": 4}, second]]) as server:
        finished = reply(open_at(server, protocol))
    assert finished.message.calls == [
        ToolUse("call_a", "Bash", {"command": "ls"}),
        ToolUse("call_b", "Read", {"file_path": "/a b.txt", "limit": 3}),
    ]


@every_protocol
@pytest.mark.parametrize(
    ("raw", "parsed"),
    [
        ("", {}),
        ("{}", {}),
        ("null", {}),
        ('{"command": "l', {UNPARSED_INPUT: {"raw": '{"command": "l', "len": 14}}),
        ("[1]", {UNPARSED_INPUT: {"raw": "[1]", "len": 3}}),
    ],
)
def test_odd_arguments_are_data_not_errors(protocol: str, raw: str, parsed: dict[str, Any]) -> None:
    with serve([[{"tool": "Bash", "id": "c", "arguments": raw}]]) as server:
        finished = reply(open_at(server, protocol))
    assert finished.message.calls == [ToolUse("c", "Bash", parsed)]


@every_protocol
@pytest.mark.parametrize("stop", ["max_tokens", "refusal"])
def test_stop_reasons_are_told_in_one_language(protocol: str, stop: str) -> None:
    with serve([{"blocks": [{"text": "half"}], "stop": stop}]) as server:
        assert reply(open_at(server, protocol)).stop_reason == stop


@every_protocol
def test_cached_tokens_are_not_counted_as_input(protocol: str) -> None:
    usage = {
        "anthropic": {"input_tokens": 20, "output_tokens": 7, "cache_read_input_tokens": 80},
        "openai_chat": {
            "prompt_tokens": 100,
            "completion_tokens": 7,
            "prompt_tokens_details": {"cached_tokens": 80},
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
        "openai_responses": {
            "input_tokens": 100,
            "output_tokens": 7,
            "input_tokens_details": {"cached_tokens": 80},
            "output_tokens_details": {"reasoning_tokens": 3},
        },
    }[protocol]
    with serve([{"blocks": [{"text": "x"}], "usage": usage}]) as server:
        price = {"input": 1.0, "output": 10.0, "cacheRead": 0.1}
        model = open_at(server, protocol, models={"m": {"price": price}})
        finished = reply(model)
    reasoning = 0 if protocol == "anthropic" else 3
    assert finished.usage == Usage(input=20, output=7, cache_read=80, reasoning=reasoning)
    assert model.card.cost(finished.usage) == pytest.approx((20 + 70 + 8) / 1e6)


@every_protocol
def test_thinking_goes_back_exactly_as_it_came_and_before_its_call(protocol: str) -> None:
    turn = [{"thinking": "let me think", "signature": "b3BhcXVl"}, CALL]
    with serve([turn, [{"text": "ok"}]]) as server:
        finished = reply(open_at(server, protocol))
        reply(open_at(server, protocol), ask_for(*answered(finished)))
        again = server.bodies[1]
    thought, call = finished.message.blocks
    assert isinstance(thought, Thinking)
    assert (thought.thinking, call) == ("let me think", ToolUse("call_a", "Bash", {"command": "ls"}))
    wire_call = {"name": "Bash", "arguments": '{"command":"ls"}'}
    expected = {
        "anthropic": [
            {"type": "thinking", "thinking": "let me think", "signature": "b3BhcXVl"},
            {"type": "tool_use", "id": "call_a", "name": "Bash", "input": {"command": "ls"}},
        ],
        "openai_chat": {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_a", "type": "function", "function": wire_call}],
        },
        "openai_responses": [
            {
                "type": "reasoning",
                "id": "rs_call_0_0",
                "summary": [{"type": "summary_text", "text": "let me think"}],
                "encrypted_content": "b3BhcXVl",
            },
            {"type": "function_call", "call_id": "call_a", **wire_call},
        ],
    }
    sent = {
        "anthropic": lambda: again["messages"][1]["content"],
        "openai_chat": lambda: again["messages"][2],
        "openai_responses": lambda: again["input"][1:3],
    }[protocol]()
    assert sent == expected[protocol]


@every_protocol
def test_thinking_of_another_model_is_not_sent(protocol: str) -> None:
    foreign = Message("assistant", [Thinking("secret", "sig"), Text("I said this.")], made_by="fake/other")
    with serve([[{"text": "unused"}], [{"text": "ok"}]]) as server:
        reply(open_at(server, protocol), ask_for(Message("user", [Text("hi")]), foreign))
        body = str(server.bodies[0])
    assert "secret" not in body
    assert "I said this." in body


@every_protocol
def test_unknown_events_are_ignored(protocol: str) -> None:
    extra = {"anthropic": {"type": "brand_new"}, "openai_chat": {"choices": [], "brand": "new"}}.get(
        protocol, {"type": "response.brand_new", "delta": {"x": 1}}
    )
    with serve([{"blocks": [{"text": "fine"}], "extra": [extra]}]) as server:
        assert reply(open_at(server, protocol)).message.blocks == [Text("fine")]


@every_protocol
@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"status": 400, "error": {"message": "bad thing"}}, "invalid_request", False),
        ({"status": 401}, "authentication_failed", False),
        ({"status": 403}, "authentication_failed", False),
        ({"status": 404}, "model_not_found", False),
        ({"status": 413}, "request_too_large", False),
        ({"status": 429, "headers": {"retry-after": "2"}}, "rate_limit", True),
        ({"status": 500}, "server_error", True),
        ({"status": 529}, "overloaded", True),
        ({"status": 500, "headers": {"x-should-retry": "false"}}, "server_error", False),
        (
            {"status": 400, "error": {"message": "maximum context length is 8192 tokens"}},
            "context_overflow",
            False,
        ),
        ({"cut": -1}, "connection", True),
        ({"garbage": "data: {nope\n\n"}, "malformed_stream", True),
        ({"garbage": "hello, I am a web page"}, "malformed_stream", True),
        ({"garbage": ""}, "malformed_stream", True),
        (
            {"garbage": '{"error": {"message": "quota", "code": "insufficient_quota"}}'},
            "billing_error",
            False,
        ),
    ],
)
def test_failures_are_classified(protocol: str, error: dict[str, Any], kind: str, retryable: bool) -> None:
    # A Messages server is asked once more with fewer features after a 400.
    with (
        serve([{"errors": [error, error], "blocks": [{"text": "never"}]}]) as server,
        pytest.raises(ModelError) as caught,
    ):
        ask(open_at(server, protocol))
    assert (caught.value.kind, caught.value.retryable) == (kind, retryable)
    if "status" in error:
        assert caught.value.answer.status == error["status"]
        assert caught.value.answer.request_id == "req_fake"
        assert caught.value.answer.retry_after == (2.0 if "retry-after" in error.get("headers", {}) else None)


@every_protocol
@pytest.mark.parametrize("after_text", [False, True])
@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_a_cut_connection_is_retryable(protocol: str, after_text: bool, framing: str) -> None:
    events = EVENTS_BEFORE_TEXT[protocol] + (1 if after_text else 0)
    with (
        serve([{"errors": [{"cut": events}], "blocks": [{"text": "a b c"}]}], framing=framing) as server,
        pytest.raises(ModelError) as caught,
    ):
        ask(open_at(server, protocol))
    assert (caught.value.kind in ("connection", "malformed_stream"), caught.value.retryable) == (True, True)


@every_protocol
def test_an_error_told_in_the_stream_is_raised(protocol: str) -> None:
    event = {
        "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        "openai_chat": {"error": {"message": "Overloaded", "type": "overloaded_error", "code": 529}},
        "openai_responses": {"type": "error", "code": "overloaded_error", "message": "Overloaded"},
    }[protocol]
    error = {"event": event, "after": EVENTS_BEFORE_TEXT[protocol] + 1}
    with (
        serve([{"errors": [error], "blocks": [{"text": "a b"}]}]) as server,
        pytest.raises(ModelError) as caught,
    ):
        ask(open_at(server, protocol))
    found = (caught.value.kind, caught.value.retryable, caught.value.message)
    assert found == ("overloaded", True, "API Error: Overloaded")


@every_protocol
def test_overloaded_twice_then_success_announces_two_retries(protocol: str) -> None:
    turn = {
        "errors": [{"status": 529, "headers": {"retry-after-ms": "1"}}] * 2,
        "blocks": [{"text": "finally"}],
    }
    with serve([turn]) as server:
        deltas = ask(open_at(server, protocol, env={"CLAUDE_CODE_MAX_RETRIES": "10"}))
    retries = [d for d in deltas if isinstance(d, Retrying)]
    assert [(r.attempt, r.max_retries, r.delay_ms, r.status, r.kind) for r in retries] == [
        (1, 10, 1.0, 529, "overloaded"),
        (2, 10, 1.0, 529, "overloaded"),
    ]
    assert isinstance(deltas[-1], Finished)
    assert deltas[-1].message.text == "finally"


@every_protocol
def test_an_abort_closes_the_socket_and_asks_no_more(protocol: str) -> None:
    error = {"hang": EVENTS_BEFORE_TEXT[protocol] + 1}
    with serve([{"errors": [error], "blocks": [{"text": "a b c"}]}]) as server:

        async def start_and_leave() -> None:
            model = open_at(server, protocol, env={"CLAUDE_CODE_MAX_RETRIES": "10"})
            stream: Any = model.stream(ask_for())
            await skip_to(stream, BlockDelta)
            await stream.aclose()
            gone = await asyncio.to_thread(server.gone.wait, 5)
            await model.close()
            assert gone

        asyncio.run(start_and_leave())
        assert len(server.requests) == 1


@every_protocol
def test_a_cancelled_task_closes_the_socket(protocol: str) -> None:
    with serve([{"errors": [{"hang": 0}], "blocks": [{"text": "a"}]}]) as server:

        async def cancel_while_waiting() -> None:
            model = open_at(server, protocol)
            waiting = asyncio.ensure_future(deltas_of(model, ask_for()))
            await asyncio.to_thread(server.asked.wait, 5)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert await asyncio.to_thread(server.gone.wait, 5)
            await model.close()

        asyncio.run(cancel_while_waiting())


@every_protocol
def test_two_requests_share_one_connection(protocol: str) -> None:
    with serve([[{"text": "a"}]]) as server:

        async def twice() -> None:
            model = open_at(server, protocol)
            for _ in range(2):
                async for _ in model.stream(ask_for()):
                    pass
            await model.close()

        asyncio.run(twice())
        assert (server.connections, len(server.requests)) == (1, 2)


@every_protocol
def test_long_tool_names_are_mapped_there_and_back(protocol: str) -> None:
    name = "mcp__plugin_a_very_long_plugin_name__a_tool_with_a_name_that_is_far_too_long_for_any_api"
    tool = ask_for().tools[0]
    long = type(tool)(name, tool.description, tool.input_schema)
    with serve([[{"text": "first"}]]) as server:
        reply(open_at(server, protocol), ask_for(tools=(long,)))
        entry = server.bodies[0]["tools"][0]
    wire = entry["function"]["name"] if protocol == "openai_chat" else entry["name"]
    assert len(wire) == 64
    with serve([[{"tool": wire, "id": "c", "input": {}}]]) as server:
        finished = reply(open_at(server, protocol), ask_for(tools=(long,)))
    assert finished.message.calls == [ToolUse("c", name, {})]


@every_protocol
def test_a_failed_tool_result_says_so(protocol: str) -> None:
    history = (
        Message("user", [Text("go")]),
        Message("assistant", [ToolUse("c", "Bash", {})], made_by="fake/m"),
        Message("user", [Text("also"), ToolResult("c", "no such file", is_error=True)]),
    )
    with serve([[{"text": "x"}], [{"text": "ok"}]]) as server:
        reply(open_at(server, protocol), ask_for(*history))
        body = server.bodies[0]
    if protocol == "anthropic":
        content = body["messages"][-1]["content"]
        assert [block["type"] for block in content] == ["tool_result", "text"]
        assert content[0]["is_error"] is True
    elif protocol == "openai_chat":
        assert body["messages"][-2:] == [
            {"role": "tool", "tool_call_id": "c", "content": "Error: no such file"},
            {"role": "user", "content": "also"},
        ]
    else:
        assert body["input"][-2:] == [
            {"type": "function_call_output", "call_id": "c", "output": "Error: no such file"},
            {"role": "user", "content": [{"type": "input_text", "text": "also"}]},
        ]
