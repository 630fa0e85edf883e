from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.foundation.errors import ConfigError, UsageError
from forge.foundation.origin import Scope
from forge.foundation.paths import Places, find_places
from forge.foundation.settings import SettingsRequest, load_settings
from forge.foundation.settings_policy import flag_layer, inline_managed, managed_layers


def places(tmp_path: Path) -> Places:
    return find_places(
        {"HOME": str(tmp_path), "TMPDIR": "/t"}, str(tmp_path), managed_root=str(tmp_path / "etc")
    )


def write(file: Path, content: Any) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content if isinstance(content, str) else json.dumps(content))


@pytest.mark.parametrize("flag", ['{"model": "f"}', ' {"model": "f"}'])
def test_flag_with_an_object_is_taken_literally(tmp_path: Path, flag: str) -> None:
    layer, notes = flag_layer(places(tmp_path), flag)
    assert layer is not None
    assert (layer.scope, layer.path, layer.data, layer.anchor, notes) == (
        Scope.FLAG,
        "--settings",
        {"model": "f"},
        "/t/forge-inline-settings",
        [],
    )


def test_flag_with_a_file_is_anchored_there(tmp_path: Path) -> None:
    write(tmp_path / "x" / "f.json", {"model": "f"})
    layer, _ = flag_layer(places(tmp_path), "x/f.json")
    assert layer is not None
    assert (layer.path, layer.data, layer.anchor) == (
        str(tmp_path / "x/f.json"),
        {"model": "f"},
        str(tmp_path / "x"),
    )


@pytest.mark.parametrize("flag", ["{bad", "none.json", "[]", '{"a": 1} x'])
def test_flag_that_names_no_file_is_a_usage_error(tmp_path: Path, flag: str) -> None:
    with pytest.raises(UsageError) as caught:
        flag_layer(places(tmp_path), flag)
    assert str(caught.value) == f"Error: Settings file not found: {tmp_path}/{flag}"


def test_flag_with_a_directory_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="Cannot use settings file"):
        flag_layer(places(tmp_path), str(tmp_path))


def test_flag_file_over_two_megabytes_is_a_usage_error(tmp_path: Path) -> None:
    write(tmp_path / "big.json", json.dumps({"x": "a" * 2 * 1024 * 1024}))
    with pytest.raises(UsageError) as caught:
        flag_layer(places(tmp_path), "big.json")
    assert str(caught.value) == f"Error: Settings file exceeds the 2MiB limit: {tmp_path}/big.json"


def test_flag_with_a_wrong_type_is_skipped(tmp_path: Path) -> None:
    layer, notes = flag_layer(places(tmp_path), '{"model": 3}')
    assert (layer, [(note.line, note.column, note.key) for note in notes]) == (None, [(1, 11, "model")])


def test_managed_files_are_read_in_order(tmp_path: Path) -> None:
    etc = tmp_path / "etc" / "claude-code"
    names = ["managed-settings.json", "managed-settings.d/10.json", "managed-settings.d/20.json"]
    for name in [*reversed(names), "managed-settings.d/.hidden.json", "managed-settings.d/read.me"]:
        write(etc / name, {"from": name})
    layers, notes = managed_layers(places(tmp_path))
    assert ([layer.data["from"] for layer in layers], notes) == (names, [])


def test_broken_drop_in_stops_the_program(tmp_path: Path) -> None:
    write(tmp_path / "etc/forge/managed-settings.d/a.json", "{bad")
    with pytest.raises(ConfigError, match="Managed settings document could not be parsed"):
        managed_layers(places(tmp_path))


@pytest.mark.parametrize(
    ("data", "kept"),
    [
        ({"model": "m", "env": {"A": "1"}, "hooks": {}}, {}),
        ({"disableRemoteControl": True, "sandbox": {"enabled": True}}, None),
        (
            {"permissions": {"allow": ["Edit"], "deny": ["Read"], "defaultMode": "plan"}},
            {"permissions": {"deny": ["Read"]}},
        ),
        (
            {"allowManagedPermissionRulesOnly": True, "permissions": {"allow": ["Edit"]}},
            None,
        ),
    ],
)
def test_inline_policy_can_only_restrict(data: dict[str, Any], kept: dict[str, Any] | None) -> None:
    layer, _ = inline_managed(json.dumps(data))
    assert layer is not None
    assert layer.data == (data if kept is None else kept)


@pytest.mark.parametrize("text", ["{bad", "", "["])
def test_inline_policy_that_is_not_json_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError, match="--managed-settings is not a JSON object"):
        inline_managed(text)


def test_managed_file_takes_the_place_of_the_inline_policy(tmp_path: Path) -> None:
    request = SettingsRequest(managed='{"disableRemoteControl": true}')
    assert load_settings(places(tmp_path), request, trusted=True).merged == {"disableRemoteControl": True}
    write(tmp_path / "etc/forge/managed-settings.json", {"model": "m"})
    assert load_settings(places(tmp_path), request, trusted=True).merged == {"model": "m"}
