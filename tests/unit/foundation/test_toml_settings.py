from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.foundation.errors import ConfigError
from forge.foundation.origin import Scope
from forge.foundation.paths import Places, find_places
from forge.foundation.settings import (
    Settings,
    SettingsRequest,
    append_to_list,
    load_settings,
    remove_from_list,
    remove_setting,
    write_setting,
)

TOML = """\
# my settings
model = "opus"   # the big one
cleanupPeriodDays = 10

[permissions]
allow = ["Read", "Edit"]
deny = [
  "Write",
]

[plugins.ops]
enabled = true

[plugins."with.dot"]
enabled = false
"""


def places(tmp_path: Path, text: str | None = TOML) -> Places:
    p = find_places({"HOME": str(tmp_path)}, str(tmp_path), managed_root=str(tmp_path / "etc"))
    (tmp_path / "forge").mkdir()
    if text is not None:
        (tmp_path / "forge" / ".forge.toml").write_text(text)
    return p


def load(p: Places) -> Settings:
    return load_settings(p, SettingsRequest(), trusted=True)


@pytest.mark.requirement("S1-16")
def test_toml_is_the_weakest_user_layer(tmp_path: Path) -> None:
    p = places(tmp_path)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text('{"model": "haiku"}')
    found = load(p)
    assert [(layer.scope, layer.dialect) for layer in found.layers] == [
        (Scope.USER, "toml"),
        (Scope.USER, ".claude"),
    ]
    assert (found.get("model"), found.get("cleanupPeriodDays"), found.get("permissions.deny")) == (
        "haiku",
        10,
        ["Write"],
    )
    assert found.get("enabledPlugins") == {"ops@local": True, "with.dot@local": False}


@pytest.mark.parametrize(
    ("text", "line", "column", "key", "message"),
    [
        ("model = 3\n", 1, 9, "model", "Expected string, but received number"),
        ('\n[permissions]\nallow = "x"\n', 3, 9, "permissions.allow", "Expected array, but received string"),
        ("model = \n", 1, 9, "", "Invalid TOML: Invalid value (at line 1, column 9)"),
    ],
)
def test_wrong_toml_is_ignored_and_located(
    tmp_path: Path, text: str, line: int, column: int, key: str, message: str
) -> None:
    found = load(places(tmp_path, text))
    assert found.merged == {}
    assert [(n.line, n.column, n.key, n.message, n.origin.path) for n in found.diagnostics] == [
        (line, column, key, message, str(tmp_path / "forge/.forge.toml"))
    ]


def test_dates_become_text(tmp_path: Path) -> None:
    assert load(places(tmp_path, "day = 2026-01-02\nlist = [2026-01-02]\n")).merged == {
        "day": "2026-01-02",
        "list": ["2026-01-02"],
    }


@pytest.mark.parametrize(
    ("key", "value", "old", "new"),
    [
        ("model", "haiku", 'model = "opus"   # the', 'model = "haiku"   # the'),
        ("model", 'q"\x7f', 'model = "opus"   # the', 'model = "q\\"\\u007f"   # the'),
        ("cleanupPeriodDays", 30, "= 10", "= 30"),
        ("permissions.allow", ["A"], '["Read", "Edit"]', '["A"]'),
        (("enabledPlugins", "ops@local"), False, "enabled = true", "enabled = false"),
        (("enabledPlugins", "with.dot@local"), True, "enabled = false", "enabled = true"),
        ("model", "opus", "", ""),
    ],
)
def test_key_that_lives_in_toml_is_changed_there(
    tmp_path: Path, key: Any, value: Any, old: str, new: str
) -> None:
    p = places(tmp_path)
    write_setting(p, Scope.USER, key, value)
    assert (tmp_path / "forge" / ".forge.toml").read_text() == TOML.replace(old, new, 1)
    assert not (tmp_path / ".forge").exists()


def test_lists_and_removals_work_on_toml_lines(tmp_path: Path) -> None:
    p = places(tmp_path)
    append_to_list(p, Scope.USER, "permissions.allow", ["Edit", "Bash"])
    remove_from_list(p, Scope.USER, "permissions.allow", ["Read"])
    remove_setting(p, Scope.USER, "cleanupPeriodDays")
    expected = TOML.replace('["Read", "Edit"]', '["Edit", "Bash"]').replace("cleanupPeriodDays = 10\n", "")
    assert (tmp_path / "forge" / ".forge.toml").read_text() == expected


def test_windows_line_ends_survive(tmp_path: Path) -> None:
    p = places(tmp_path, None)
    file = tmp_path / "forge" / ".forge.toml"
    file.write_bytes(b'model = "a"\r\nother = 1\r\n')
    assert load(p).merged == {"model": "a", "other": 1}
    write_setting(p, Scope.USER, "model", "b")
    assert file.read_bytes() == b'model = "b"\r\nother = 1\r\n'


def test_other_keys_go_to_settings_json(tmp_path: Path) -> None:
    p = places(tmp_path)
    write_setting(p, Scope.USER, "language", "de")
    write_setting(p, Scope.PROJECT, "model", "project")
    assert (tmp_path / "forge" / ".forge.toml").read_text() == TOML
    assert (tmp_path / ".forge" / "settings.json").read_text().count("language") == 1


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("permissions.deny", ["x"], "the value spans several lines"),
        ("model", {"a": 1}, "only single values can be written here"),
    ],
)
def test_change_that_is_too_hard_is_an_error_with_a_hint(
    tmp_path: Path, key: str, value: Any, message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        write_setting(places(tmp_path), Scope.USER, key, value)
    assert caught.value.hint == "Edit the file by hand, or move the key to settings.json."
    assert (tmp_path / "forge" / ".forge.toml").read_text() == TOML
