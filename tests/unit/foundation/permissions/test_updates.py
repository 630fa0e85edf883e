from __future__ import annotations

from typing import Any

import pytest

from forge.foundation.permissions.decide import decide
from forge.foundation.permissions.rule import parse_rule
from forge.foundation.permissions.situation import Situation
from forge.foundation.permissions.updates import apply_updates, problem_of, rule_texts


def situation() -> Situation:
    return Situation(cwd="/repo", home="/home/u")


def rules(kind: str, *contents: str, behavior: str = "allow", destination: str = "session") -> dict[str, Any]:
    listed = [{"toolName": "Bash", "ruleContent": content} for content in contents]
    return {"type": kind, "rules": listed, "behavior": behavior, "destination": destination}


def shown(s: Situation) -> list[tuple[str, str, str]]:
    return [(rule.behavior, rule.source, rule.text) for rule in s.rules]


def test_added_rules_count_for_the_next_call() -> None:
    s, to_save = apply_updates(situation(), [rules("addRules", "foo *")])
    assert (decide("Bash", {"command": "foo a"}, s).verdict, to_save) == ("allow", [])


def test_rules_for_a_settings_file_are_handed_back_for_saving() -> None:
    update = rules("addRules", "foo *", destination="localSettings")
    s, to_save = apply_updates(situation(), [update])
    assert (shown(s), to_save) == ([("allow", "localSettings", "Bash(foo *)")], [update])


def test_the_same_rule_is_added_once() -> None:
    s, _ = apply_updates(situation(), [rules("addRules", "foo *"), rules("addRules", "foo *", "bar")])
    assert shown(s) == [("allow", "session", "Bash(foo *)"), ("allow", "session", "Bash(bar)")]


def test_replacing_touches_only_its_source_and_behavior() -> None:
    s, _ = apply_updates(
        situation(),
        [
            rules("addRules", "a", destination="localSettings"),
            rules("addRules", "b"),
            rules("addRules", "c", behavior="deny"),
            rules("replaceRules", "d"),
        ],
    )
    assert shown(s) == [
        ("allow", "localSettings", "Bash(a)"),
        ("deny", "session", "Bash(c)"),
        ("allow", "session", "Bash(d)"),
    ]


def test_removed_rules_are_gone() -> None:
    s, _ = apply_updates(situation(), [rules("addRules", "a", "b"), rules("removeRules", "a")])
    assert shown(s) == [("allow", "session", "Bash(b)")]


def test_directories_are_added_once_and_removed() -> None:
    add: dict[str, Any] = {
        "type": "addDirectories",
        "directories": ["/x", "y", "~/z"],
        "destination": "session",
    }
    s, _ = apply_updates(situation(), [add, add])
    drop: dict[str, Any] = {
        "type": "removeDirectories",
        "directories": ["/x", "/repo"],
        "destination": "session",
    }
    assert (s.directories, apply_updates(s, [drop])[0].directories) == (
        ["/repo", "/x", "/repo/y", "/home/u/z"],
        ["/repo", "/repo/y", "/home/u/z"],
    )


def test_the_mode_can_be_changed() -> None:
    s, _ = apply_updates(situation(), [{"type": "setMode", "mode": "acceptEdits", "destination": "session"}])
    assert s.mode == "acceptEdits"


@pytest.mark.parametrize(
    ("update", "problem"),
    [
        ("x", "a permission update must be an object"),
        ({"type": "nope", "destination": "session"}, "unknown permission update type 'nope'"),
        (
            {"type": "setMode", "mode": "plan", "destination": "moon"},
            "unknown destination 'moon' of a permission update",
        ),
        ({"type": "setMode", "mode": "x", "destination": "session"}, "unknown permission mode 'x'"),
        (
            {"type": "addDirectories", "directories": "x", "destination": "session"},
            "directories must be a list of strings",
        ),
        (
            {"type": "addRules", "rules": [], "behavior": "maybe", "destination": "session"},
            "unknown behavior 'maybe' of a permission update",
        ),
        ({"type": "addRules", "behavior": "allow", "destination": "session"}, "rules must be a list"),
        (
            {"type": "addRules", "rules": [{}], "behavior": "allow", "destination": "session"},
            "a rule of a permission update needs a toolName",
        ),
        (
            {
                "type": "addRules",
                "rules": [{"toolName": "B*"}],
                "behavior": "allow",
                "destination": "session",
            },
            "'B*': an allow rule may use * in the tool name only after mcp__<server>__",
        ),
    ],
)
def test_malformed_updates_change_nothing(update: Any, problem: str) -> None:
    s, to_save = apply_updates(situation(), [update])
    assert (problem_of(update), shown(s), s.mode, to_save) == (problem, [], "default", [])


def test_rule_texts_are_what_settings_files_hold() -> None:
    update = rules("addRules", "foo (x)")
    assert rule_texts(update) == ["Bash(foo \\(x\\))"]


def test_a_situation_is_copied_not_changed() -> None:
    s = situation()
    rule = parse_rule("Bash", "allow", "session", "/")
    changed = s.changed(rules=[rule], mode="plan")
    assert (s.rules, s.mode, changed.rules, changed.mode, changed.cwd) == (
        [],
        "default",
        [rule],
        "plan",
        "/repo",
    )


def test_a_situation_has_no_unknown_fields() -> None:
    with pytest.raises(TypeError, match="Situation has no field colour"):
        situation().changed(colour="red")
