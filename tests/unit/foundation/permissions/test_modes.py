from __future__ import annotations

import pytest

from forge.foundation.permissions.modes import MODES, canonical_mode, starting_mode


def start(flag: str | None, *configured: tuple[str, str]) -> tuple[str, str | None]:
    return starting_mode(flag, list(configured), bypass_disabled=False)


@pytest.mark.parametrize("mode", MODES)
def test_the_flag_takes_every_mode(mode: str) -> None:
    assert start(mode, ("userSettings", "plan")) == (mode, None)


def test_manual_is_another_name_for_default() -> None:
    assert (canonical_mode("manual"), start("manual"), start(None, ("userSettings", "manual"))) == (
        "default",
        ("default", None),
        ("default", None),
    )


def test_without_any_wish_the_mode_is_default() -> None:
    assert start(None) == ("default", None)


@pytest.mark.parametrize("source", ["userSettings", "projectSettings", "localSettings", "flagSettings"])
@pytest.mark.parametrize("mode", ["acceptEdits", "plan", "dontAsk"])
def test_every_settings_file_may_choose_a_harmless_mode(source: str, mode: str) -> None:
    assert start(None, (source, mode)) == (mode, None)


@pytest.mark.parametrize("source", ["projectSettings", "localSettings"])
@pytest.mark.parametrize("mode", ["bypassPermissions", "auto"])
def test_project_files_cannot_switch_permissions_off(source: str, mode: str) -> None:
    note = f"permissions.defaultMode {mode!r} is ignored in {source}"
    assert start(None, (source, mode)) == ("default", note)


def test_user_settings_may_start_without_prompts() -> None:
    assert start(None, ("userSettings", "bypassPermissions")) == ("bypassPermissions", None)


def test_an_ignored_wish_uncovers_the_layer_below() -> None:
    note = "permissions.defaultMode 'auto' is ignored in projectSettings"
    assert start(None, ("userSettings", "plan"), ("projectSettings", "auto")) == ("plan", note)


def test_the_highest_layer_wins() -> None:
    assert start(None, ("userSettings", "plan"), ("localSettings", "dontAsk")) == ("dontAsk", None)


def test_unknown_modes_fall_back_to_default_with_a_note() -> None:
    assert start(None, ("userSettings", "nonsense")) == (
        "default",
        "permissions.defaultMode 'nonsense' in userSettings is not a permission mode",
    )


@pytest.mark.parametrize("flag", ["bypassPermissions", None])
def test_disabled_bypass_starts_in_default(flag: str | None) -> None:
    mode, note = starting_mode(flag, [("userSettings", "bypassPermissions")], bypass_disabled=True)
    assert (mode, bool(note)) == ("default", True)
