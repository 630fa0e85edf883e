from __future__ import annotations

from typing import Any

import pytest

from forge.core.mcp.config import expand, launch, transport
from forge.core.mcp.port import Launch

TRANSPORTS: list[tuple[Any, str]] = [
    ({"command": "x"}, "stdio"),
    ({"type": "stdio", "command": "x", "args": ["a"], "env": {"A": "1"}}, "stdio"),
    ({"type": "stdio"}, ""),
    ({"command": ""}, ""),
    ({"command": "x", "args": "a"}, ""),
    ({"command": "x", "args": [1]}, ""),
    ({"command": "x", "env": {"A": 1}}, ""),
    ({"type": "http", "url": "http://x"}, "http"),
    ({"type": "http"}, ""),
    ({"type": "sse", "url": "http://x"}, "sse"),
    ({"type": "ws", "url": "ws://x"}, "ws"),
    ({"type": "sdk", "name": "x"}, "sdk"),
    ({"type": "carrier pigeon", "command": "x"}, ""),
    ({}, ""),
    (5, ""),
]


@pytest.mark.requirement("S0-48")
@pytest.mark.parametrize(("entry", "expected"), TRANSPORTS)
def test_how_an_entry_is_reached(entry: Any, expected: str) -> None:
    assert transport(entry) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("${A}", "1"),
        ("a${A}b${A}", "a1b1"),
        ("${A:-x}", "1"),
        ("${B:-x}", "x"),
        ("${B:-}", ""),
        ("${B}", "${B}"),
        ("$A", "$A"),
        ("${EMPTY}", ""),
        ("${EMPTY:-x}", "x"),
    ],
)
def test_variables_are_replaced_as_far_as_they_are_known(text: str, expected: str) -> None:
    assert expand({"k": [text]}, {"A": "1", "EMPTY": ""}) == {"k": [expected]}


def test_an_entry_says_how_the_server_is_started() -> None:
    entry = {"command": "${A}", "args": ["${B:-b}"], "env": {"C": "${A}"}, "timeout": 2500}
    env = {"A": "1", "MCP_TIMEOUT": "1500", "MCP_TOOL_TIMEOUT": "9000"}
    expected = Launch("srv", "1", ["b"], {**env, "C": "1"}, "/p", start_seconds=1.5, call_seconds=2.5)
    assert launch("srv", entry, env, "/p") == expected


@pytest.mark.parametrize(
    ("timeout", "env", "expected"),
    [
        (999, {}, None),
        (1000, {}, 1.0),
        (999, {"MCP_TOOL_TIMEOUT": "7000"}, 7.0),
        (None, {}, None),
        (True, {}, None),
    ],
)
def test_a_timeout_of_an_entry_counts_from_a_second_on(
    timeout: Any, env: dict[str, str], expected: float | None
) -> None:
    assert launch("srv", {"command": "x", "timeout": timeout}, env, "/").call_seconds == expected


def test_secrets_of_a_server_are_not_shown() -> None:
    shown = repr(Launch("srv", "x", ["--key=hunter2"], {"KEY": "hunter2"}))
    assert shown == "Launch(name='srv', command='x')"
