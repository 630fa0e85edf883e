from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.foundation.errors import ConfigError
from forge.foundation.origin import Scope, Severity
from forge.foundation.settings_files import judge, read_layer
from forge.foundation.settings_merge import Layer

USER = Layer(Scope.USER, "f.json", {}, ".claude", "/anchor")
MANAGED = Layer(Scope.MANAGED, "m.json", {})
COMMAND = {"type": "command", "command": "true"}


def usable(data: Any) -> dict[str, Any] | None:
    layer, _ = judge(USER, data)
    return None if layer is None else layer.data


def notes(place: Layer, data: Any) -> list[tuple[Severity, str, str]]:
    return [(note.severity, note.key, note.message) for note in judge(place, data)[1]]


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        ({"unknown": None, "$schema": "x"}, {"unknown": None, "$schema": "x"}),
        (
            {"env": {"A": 1, "B": True, "C": 1.5, "D": "x"}},
            {"env": {"A": "1", "B": "true", "C": "1.5", "D": "x"}},
        ),
        ({"env": {"": "x", "A=B": "x", "C": "x\0", "D": {}, "E": None}}, {"env": {}}),
        ({"skipWebFetchPreflight": None, "disableAutoMode": None}, {}),
        ({"permissions": {"defaultMode": "manual"}}, {"permissions": {"defaultMode": "default"}}),
        ({"enabledMcpjsonServers": "a"}, {"enabledMcpjsonServers": ["a"]}),
        ({"attribution": True}, {"attribution": {}}),
        ({"attribution": False}, {"attribution": {"commit": "", "pr": "", "sessionUrl": False}}),
        ({"additionalMarketplaces": {"m": {}}}, {"extraKnownMarketplaces": {"m": {}}}),
        ({"theme": 3, "effortLevel": "huge", "model": "m"}, {"model": "m"}),
        ({"hooks": "x", "model": "m"}, {"hooks": {}, "model": "m"}),
        (
            {"permissions": {"allow": ["Read", "Bash(npm i", 3, None, "*"], "deny": ["B*"]}},
            {"permissions": {"allow": ["Read"], "deny": ["B*"]}},
        ),
        (
            {"plugins": {"a": {"enabled": True}, "b@m": {"enabled": False}, "c": {}, "d": 3}},
            {
                "plugins": {"a": {"enabled": True}, "b@m": {"enabled": False}, "c": {}, "d": 3},
                "enabledPlugins": {"a@local": True, "b@m": False},
            },
        ),
        (
            {"plugins": {"a": {"enabled": True}}, "enabledPlugins": {"a@local": False}},
            {"plugins": {"a": {"enabled": True}}, "enabledPlugins": {"a@local": False}},
        ),
        ({}, {}),
    ],
)
def test_tolerated_content_is_read(data: dict[str, Any], kept: dict[str, Any]) -> None:
    assert usable(data) == kept


@pytest.mark.parametrize(
    ("data", "key", "message"),
    [
        ([], "", "Expected object, but received array"),
        ({"model": None}, "model", "Expected string, but received null"),
        ({"cleanupPeriodDays": 0}, "cleanupPeriodDays", "Number must be greater than or equal to 1"),
        ({"env": [1]}, "env", "Expected record, but received array"),
        (
            {"permissions": {"defaultMode": "zzz"}},
            "permissions.defaultMode",
            'Invalid value. Expected one of: "acceptEdits", "auto", "bypassPermissions", "default", '
            '"dontAsk", "plan"',
        ),
        (
            {"hooks": {"PreToolUse": [COMMAND]}},
            "hooks.PreToolUse.0.hooks",
            "Expected array, but received undefined",
        ),
        ({"hooks": [{"matcher": "x"}]}, "hooks", "Expected record, but received array"),
    ],
)
def test_wrong_content_costs_the_file(data: Any, key: str, message: str) -> None:
    assert usable(data) is None
    assert notes(USER, data) == [(Severity.ERROR, key, message)]


def test_dropped_parts_are_reported_with_their_place() -> None:
    text = (
        '{\n "theme": 3,\n "env": {"A": null},\n "permissions": {"deny": ["(x"]},\n "hooks": {"stop": []}\n}'
    )
    data = {"theme": 3, "env": {"A": None}, "permissions": {"deny": ["(x"]}, "hooks": {"stop": []}}
    _, found = judge(USER, data, text)
    assert [(note.key, note.line, note.column, note.hint) for note in found] == [
        ("theme", 2, 11, "This key is ignored."),
        ("hooks.stop", 5, 20, "This entry is ignored."),
        ("env.A", 3, 15, "This variable is ignored."),
        ("permissions.deny.0", 4, 27, "This rule is ignored."),
    ]
    assert {note.severity for note in found} == {Severity.WARNING}
    assert found[1].message == 'Unknown hook event "stop" was ignored. Did you mean "Stop"?'


def test_managed_document_loses_only_its_wrong_fields() -> None:
    data = {
        "model": 3,
        "language": "x",
        "permissions": {"defaultMode": "zz", "allow": "x", "deny": ["Read"]},
        "hooks": {"PreToolUse": 3},
    }
    layer, found = judge(MANAGED, data)
    assert layer is not None
    assert layer.data == {"language": "x", "permissions": {"defaultMode": "default", "deny": ["Read"]}}
    assert sorted(note.key for note in found) == [
        "hooks.PreToolUse",
        "model",
        "permissions.allow",
        "permissions.defaultMode",
    ]


@pytest.mark.parametrize("content", ["{bad", "[]", '"text"'])
def test_managed_document_that_is_no_object_stops_the_program(tmp_path: Path, content: str) -> None:
    file = tmp_path / "managed-settings.json"
    file.write_text(content)
    with pytest.raises(ConfigError) as caught:
        read_layer(Layer(Scope.MANAGED, str(file), {}))
    assert (caught.value.exit_code, str(caught.value)) == (
        1,
        f"{file}: Managed settings document could not be parsed as a JSON object; none of its settings are "
        "in effect. Fix or remove it.",
    )


@pytest.mark.parametrize(
    ("content", "line", "detail"),
    [
        ('{\n  "a": 1,\n}', 2, "a comma before the closing bracket is not allowed"),
        ('{"a": 1} // note', 1, "comments are not allowed"),
    ],
)
def test_file_that_is_not_json_is_skipped(tmp_path: Path, content: str, line: int, detail: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(content)
    layer, found = read_layer(Layer(Scope.USER, str(file), {}))
    assert (layer, [(note.message, note.line, note.hint) for note in found]) == (
        None,
        [("Invalid or malformed JSON", line, f"{detail}. The whole file is ignored until this is fixed.")],
    )


def test_unreadable_place_is_reported(tmp_path: Path) -> None:
    layer, found = read_layer(Layer(Scope.USER, str(tmp_path), {}))
    assert layer is None
    assert [str(note) for note in found] == [
        f"{tmp_path}: cannot be read: Is a directory. The file is ignored."
    ]


def test_missing_file_and_missing_directory_are_silent(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("none.json", "file/settings.json"):
        assert read_layer(Layer(Scope.USER, str(tmp_path / name), {})) == (None, [])
