from __future__ import annotations

from typing import Any

import pytest

from forge.foundation.origin import Diagnostic, Origin, Scope, Severity

FILE = Origin(Scope.USER, "/h/settings.json", "tool@shop")


@pytest.mark.parametrize(
    ("origin", "text"),
    [
        (FILE, "/h/settings.json"),
        (Origin(Scope.PLUGIN, plugin="tool@shop"), "tool@shop"),
        (Origin(Scope.CLI), "cli"),
    ],
)
def test_an_origin_is_called_by_the_closest_it_has(origin: Origin, text: str) -> None:
    assert str(origin) == text


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({}, "/h/settings.json: It is wrong."),
        ({"line": 3, "column": 7}, "/h/settings.json:3:7: It is wrong."),
        ({"key": "a.b"}, "/h/settings.json (a.b): It is wrong."),
        ({"hint": "Mend it."}, "/h/settings.json: It is wrong. Mend it."),
        ({"line": 3, "column": 7, "hint": "Mend it.", "whole": True}, "It is wrong."),
    ],
)
def test_a_diagnostic_says_where_and_what(more: dict[str, Any], text: str) -> None:
    found = Diagnostic(Severity.ERROR, "It is wrong.", FILE, **more)
    assert str(found) == text


def test_layers_have_names_on_the_wire() -> None:
    assert [scope.wire for scope in (Scope.MANAGED, Scope.CLI, Scope.SESSION)] == [
        "policySettings",
        "cliArg",
        "session",
    ]
