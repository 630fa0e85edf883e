from __future__ import annotations

import pytest

from forge.foundation.permissions.pattern import matches_path
from forge.foundation.permissions.rule import Rule, escape, parse_rule, render, split_rules
from forge.foundation.permissions.situation import Situation


def parsed(text: object, behavior: str = "deny") -> tuple[str, str | None] | str:
    rule = parse_rule(text, behavior, "userSettings", "/anchor")
    return rule if isinstance(rule, str) else (rule.tool, rule.content)


@pytest.mark.parametrize(
    ("text", "tool", "content"),
    [
        ("Bash", "Bash", None),
        ("Bash(*)", "Bash", None),
        ("Bash(npm run *)", "Bash", "npm run *"),
        (" Bash(npm run *) ", "Bash", "npm run *"),
        ("Bash(foo \\(x\\))", "Bash", "foo (x)"),
        ("Bash(foo \\\\)", "Bash", "foo \\"),
        ("Bash(foo \\*)", "Bash", "foo \\*"),
        ("Read((x))", "Read", "(x)"),
        ("Task(Explore)", "Agent", "Explore"),
        ("KillShell", "TaskStop", None),
        ("KillBash", "TaskStop", None),
        ("ListPeers", "ListAgents", None),
        ("Brief", "SendUserMessage", None),
        ("ReadMcpResource", "ReadMcpResourceTool", None),
        ("mcp__server", "mcp__server", None),
        ("mcp__server__*", "mcp__server__*", None),
        ("B*", "B*", None),
        ("WebFetch(domain:example.com)", "WebFetch", "domain:example.com"),
        ("Agent(model:opus)", "Agent", "model:opus"),
    ],
)
def test_rules_are_taken_apart(text: str, tool: str, content: str | None) -> None:
    assert parsed(text) == (tool, content)


@pytest.mark.parametrize(
    ("text", "behavior", "problem"),
    [
        (5, "allow", "a permission rule must be a string, found int"),
        (None, "deny", "a permission rule must be a string, found NoneType"),
        ("", "allow", "'': an empty rule names no tool"),
        ("Bash(npm i", "allow", "'Bash(npm i': the closing ) is missing or text follows it"),
        ("Bash(npm i) x", "deny", "'Bash(npm i) x': the closing ) is missing or text follows it"),
        ("Bash()", "allow", "'Bash()': there is nothing between the parentheses"),
        ("(ls)", "deny", "'(ls)': the tool name before ( is missing"),
        ("Bash)", "deny", "'Bash)': there is a ) without a ("),
        ("*", "allow", "'*': an allow rule may use * in the tool name only after mcp__<server>__"),
        ("B*", "allow", "'B*': an allow rule may use * in the tool name only after mcp__<server>__"),
        ("mcp__*", "allow", "'mcp__*': an allow rule may use * in the tool name only after mcp__<server>__"),
    ],
)
def test_unusable_rules_say_why(text: object, behavior: str, problem: str) -> None:
    assert parsed(text, behavior) == problem


def test_allow_rules_for_all_files_stay_below_the_current_directory() -> None:
    assert [parsed(f"{tool}(*)", "allow") for tool in ("Read", "Edit", "Write", "Bash")] == [
        ("Read", "*"),
        ("Edit", "*"),
        ("Write", "*"),
        ("Bash", None),
    ]


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (["Bash(npm *) Bash(foo *)"], ["Bash(npm *)", "Bash(foo *)"]),
        (["Bash(npm *),Read"], ["Bash(npm *)", "Read"]),
        (["Bash(a, b c)", "Edit"], ["Bash(a, b c)", "Edit"]),
        (["Read , Edit\tWrite"], ["Read", "Edit", "Write"]),
        (["", " ", ","], []),
        (["Bash(npm i"], ["Bash(npm i"]),
    ],
)
def test_lists_split_at_commas_and_blanks_outside_parentheses(values: list[str], found: list[str]) -> None:
    assert split_rules(values) == found


@pytest.mark.parametrize("content", ["npm run *", "foo (x)", "a\\b", "x)", "(", "\\("])
def test_a_rendered_rule_reads_back(content: str) -> None:
    assert parsed(render("Bash", content)) == ("Bash", content)


def test_escaping_protects_parentheses_and_backslashes() -> None:
    assert escape("a(b)\\") == "a\\(b\\)\\\\"


def test_equal_rules_are_equal_values() -> None:
    one = parse_rule("Bash(*)", "deny", "session", "/")
    two = parse_rule(" Bash ", "deny", "session", "/")
    assert isinstance(one, Rule)
    assert (one, hash(one)) == (two, hash(two))


@pytest.mark.parametrize("pattern", ["[z-a].txt", "foo[!]", "**/[b-a]"])
def test_a_pattern_that_cannot_be_meant_matches_nothing(pattern: str) -> None:
    rule = parse_rule(f"Read({pattern})", "deny", "userSettings", "/")
    assert isinstance(rule, Rule) and not matches_path(rule, "/w/a.txt", Situation(cwd="/w"))
