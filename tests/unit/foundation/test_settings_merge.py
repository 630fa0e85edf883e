from __future__ import annotations

from typing import Any

import pytest

from forge.foundation.origin import Origin, Scope
from forge.foundation.paths import find_places
from forge.foundation.settings_merge import Layer, Settings, build, merge

HOOK = {"hooks": [{"type": "command", "command": "x"}]}


@pytest.mark.parametrize(
    ("low", "high", "merged"),
    [
        ({"a": 1, "b": 1}, {"a": 2}, {"a": 2, "b": 1}),
        (
            {"statusLine": {"command": "u", "padding": 2}},
            {"statusLine": {"command": "p"}},
            {"statusLine": {"command": "p", "padding": 2}},
        ),
        ({"l": ["a", "b"]}, {"l": ["b", "c", "c"]}, {"l": ["a", "b", "c"]}),
        ({"l": [1, True]}, {"l": [1.0, False, 1]}, {"l": [1, True, 1.0, False]}),
        (
            {"p": {"allow": ["a"]}},
            {"p": {"allow": ["b"], "deny": ["c"]}},
            {"p": {"allow": ["a", "b"], "deny": ["c"]}},
        ),
        ({"hooks": {"Stop": [HOOK]}}, {"hooks": {"Stop": [HOOK]}}, {"hooks": {"Stop": [HOOK, HOOK]}}),
        ({"fallbackModel": ["a", "b"]}, {"fallbackModel": ["c"]}, {"fallbackModel": ["c"]}),
        ({"modelPicker": {"a": 1}}, {"modelPicker": {"b": 1}}, {"modelPicker": {"b": 1}}),
        ({"x": [1], "y": {"a": 1}}, {"x": {"b": 1}, "y": [2]}, {"x": {"b": 1}, "y": [2]}),
        ({"isolatePeerMachines": True}, {"isolatePeerMachines": False}, {"isolatePeerMachines": True}),
        ({"airGap": True}, {"airGap": False}, {"airGap": True}),
        (
            {"permissions": {"blockReadsOutsideWorkingDirectories": True}},
            {"permissions": {"blockReadsOutsideWorkingDirectories": False}},
            {"permissions": {"blockReadsOutsideWorkingDirectories": True}},
        ),
        ({"maxEffortLevel": "low"}, {"maxEffortLevel": "max"}, {"maxEffortLevel": "low"}),
        ({"maxEffortLevel": "high"}, {"maxEffortLevel": "medium"}, {"maxEffortLevel": "medium"}),
    ],
)
def test_two_layers_become_one(low: dict[str, Any], high: dict[str, Any], merged: dict[str, Any]) -> None:
    before = repr((low, high))
    assert merge([low, high]) == merged
    assert repr((low, high)) == before


def test_nothing_merges_to_nothing() -> None:
    assert merge([]) == {}


def settings(*layers: Layer) -> Settings:
    return build(find_places({"HOME": "/h"}, "/"), list(layers), [])


def test_origin_is_the_layer_that_gave_the_value() -> None:
    user = Layer(Scope.USER, "/u", {"a": 1, "list": [1], "isolatePeerMachines": True, "o": {"x": 1}})
    flag = Layer(Scope.FLAG, "/f", {"a": 2, "list": [2], "isolatePeerMachines": False, "o": {"y": 1}})
    found = settings(user, flag)
    assert [found.origin(key) for key in ("a", "list", "isolatePeerMachines", "o.x", "o", "none")] == [
        Origin(Scope.FLAG, "/f"),
        Origin(Scope.FLAG, "/f"),
        Origin(Scope.USER, "/u"),
        Origin(Scope.USER, "/u"),
        Origin(Scope.FLAG, "/f"),
        None,
    ]
    assert found.origins("list") == [Origin(Scope.USER, "/u"), Origin(Scope.FLAG, "/f")]
