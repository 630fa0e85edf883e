from __future__ import annotations

from typing import Any

import pytest

from forge.foundation.settings_schema import SCHEMA, Problem, check, json_type

# The reference says the same about each of these values.
MESSAGES: list[tuple[str, Any, str]] = [
    ("model", 3, "Expected string, but received number"),
    ("model", None, "Expected string, but received null"),
    ("model", ["a"], "Expected string, but received array"),
    ("verbose", "yes", "Expected boolean, but received string"),
    ("verbose", None, "Expected boolean, but received null"),
    ("skipWebFetchPreflight", 1, "Expected boolean, but received number"),
    ("fallbackModel", "a", "Expected array, but received string"),
    ("env", "a", "Expected record, but received string"),
    ("sandbox", True, "Expected object, but received boolean"),
    ("cleanupPeriodDays", 1.5, "Expected int, but received number"),
    ("cleanupPeriodDays", "1", "Expected number, but received string"),
    ("cleanupPeriodDays", True, "Expected number, but received boolean"),
    ("skillListingBudgetFraction", 2, "Too big: expected number to be <=1"),
    ("feedbackSurveyRate", -1, "Number must be greater than or equal to 0"),
    ("tui", "x", 'Invalid value. Expected one of: "default", "fullscreen"'),
    ("tui", {}, 'Invalid value. Expected one of: "default", "fullscreen"'),
    ("disableAutoMode", True, 'Invalid value. Expected one of: "disable"'),
]

NESTED: list[tuple[dict[str, Any], str, str]] = [
    ({"permissions": {"allow": None}}, "permissions.allow", "Expected array, but received null"),
    (
        {"permissions": {"additionalDirectories": [1]}},
        "permissions.additionalDirectories.0",
        "Expected string, but received number",
    ),
    ({"availableModels": ["a", 1]}, "availableModels.1", "Expected string, but received number"),
    ({"sandbox": {"enabled": "x"}}, "sandbox.enabled", "Expected boolean, but received string"),
    ({"sandbox": {"ripgrep": {}}}, "sandbox.ripgrep.command", "Expected string, but received undefined"),
    ({"statusLine": {"command": "x"}}, "statusLine.type", 'Invalid value. Expected one of: "command"'),
    ({"attribution": {"pr": 1}}, "attribution.pr", "Expected string, but received number"),
    ({"modelOverrides": {"a": 1}}, "modelOverrides.a", "Expected string, but received number"),
    ({"worktree": {"baseRef": "x"}}, "worktree.baseRef", 'Invalid value. Expected one of: "fresh", "head"'),
    ({"autoMode": {"allow": [1]}}, "autoMode.allow.0", "Expected string, but received number"),
]


@pytest.mark.parametrize(("key", "value", "message"), MESSAGES)
def test_wrong_value_is_described_like_in_the_reference(key: str, value: object, message: str) -> None:
    assert check({key: value}) == [Problem((key,), message)]


@pytest.mark.parametrize(("data", "key", "message"), NESTED)
def test_wrong_value_inside_is_found(data: dict[str, Any], key: str, message: str) -> None:
    assert check(data) == [Problem(tuple(key.split(".")), message)]


def test_right_values_and_unknown_keys_pass() -> None:
    data = {
        "model": "opus",
        "cleanupPeriodDays": 30,
        "skillListingBudgetFraction": 0.5,
        "permissions": {"allow": ["Read", 3], "defaultMode": "plan", "unknown": 1},
        "enabledPlugins": {"a@b": True, "c@d": ["1.0"]},
        "skillOverrides": {"x": "off"},
        "statusLine": {"type": "command", "command": "x", "padding": 2},
        "attribution": False,
        "disableAutoMode": None,
        "isolatePeerMachines": None,
        "unknown": {"anything": [None]},
    }
    assert check(data) == []


def test_every_problem_is_reported() -> None:
    found = check({"model": 1, "permissions": {"allow": 1, "deny": 2}})
    assert [".".join(problem.path) for problem in found] == ["model", "permissions.allow", "permissions.deny"]


def test_every_known_key_has_a_known_kind() -> None:
    kinds = {"any", "boolean", "string", "number", "int", "array", "object", "record", "enum"}
    assert {wanted.kind for wanted in SCHEMA.values()} <= kinds


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "null"),
        (True, "boolean"),
        (1, "number"),
        (1.5, "number"),
        ("", "string"),
        ([], "array"),
        ({}, "object"),
    ],
)
def test_json_types_have_their_names(value: object, name: str) -> None:
    assert json_type(value) == name
