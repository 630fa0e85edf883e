from __future__ import annotations

import pytest

from forge.foundation.permissions.decide import decide, removed
from forge.foundation.permissions.rule import Rule, parse_rule
from forge.foundation.permissions.situation import Situation

COUNT = "wasm__words__count"


def rules(behavior: str, *texts: str) -> list[Rule]:
    parsed = [parse_rule(text, behavior, "userSettings", "/") for text in texts]
    return [rule for rule in parsed if not isinstance(rule, str)]


@pytest.mark.parametrize(
    ("allow", "verdict"),
    [
        ("", "ask"),
        (COUNT, "allow"),
        ("wasm__words", "allow"),
        ("wasm__words__*", "allow"),
        ("wasm__word", "ask"),
        ("wasm__other__*", "ask"),
        ("mcp__words", "ask"),
    ],
)
def test_a_webassembly_tool_is_judged_like_one_of_a_server(allow: str, verdict: str) -> None:
    s = Situation(cwd="/p", home="/h", rules=rules("allow", allow) if allow else [])
    assert decide(COUNT, {"text": "x"}, s).verdict == verdict


@pytest.mark.parametrize("text", ["wasm__*", "wasm__*__count", "wasm__w*__count"])
def test_an_allow_rule_cannot_cover_all_plugins(text: str) -> None:
    assert isinstance(parse_rule(text, "allow", "userSettings", "/"), str)


@pytest.mark.parametrize("text", [COUNT, "wasm__words", "wasm__*"])
def test_a_deny_rule_takes_the_tools_away(text: str) -> None:
    assert removed(COUNT, rules("deny", text))


@pytest.mark.parametrize(
    ("path", "deny", "verdict"),
    [
        ("/p/a.py", "", "allow"),
        ("a.py", "", "allow"),
        ("/elsewhere/a.py", "", "ask"),
        ("/p/a.py", "Read(//p/**)", "deny"),
    ],
)
def test_language_servers_may_look_where_read_may(path: str, deny: str, verdict: str) -> None:
    s = Situation(cwd="/p", home="/h", rules=rules("deny", deny) if deny else [])
    question = {"operation": "hover", "filePath": path, "line": 1, "character": 1}
    assert decide("LSP", question, s).verdict == verdict
    if verdict == "ask":
        told = decide("LSP", question, s).message
        assert told == f"Claude requested permissions to read from {path}, but you haven't granted it yet."
