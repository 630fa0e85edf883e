from __future__ import annotations

from typing import Any

import pytest

from forge.core.shell.guard.setup import Source, chosen_mode, keeps_history
from forge.foundation.errors import ConfigError


def sources(*rows: tuple[dict[str, Any], bool]) -> list[Source]:
    return [Source("settings.json", data, trusted) for data, trusted in rows]


RULES = {"rules": {"deny": [{"pattern": "x"}]}}


@pytest.mark.requirement("S2-46", "S2-19")
@pytest.mark.parametrize(
    ("rows", "mode"),
    [
        ([], "guard"),
        ([({"mode": "off"}, True)], "off"),
        ([({"mode": "off"}, True), ({"mode": "full"}, True)], "full"),
        ([(RULES, True)], "full"),
        ([({"riskThresholds": {"block": 7}}, True)], "full"),
        ([({**RULES, "mode": "guard"}, True)], "guard"),
        ([({"mode": "off"}, False)], "guard"),
        ([({"mode": "full"}, False)], "guard"),
        ([(RULES, False)], "guard"),
        ([({"mode": "full"}, True), ({"mode": "off"}, False)], "full"),
    ],
)
def test_only_trusted_files_choose_the_mode(rows: list[tuple[dict[str, Any], bool]], mode: str) -> None:
    assert chosen_mode(sources(*rows)) == mode


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(
        ConfigError, match=r"settings\.json: forgecmd\.mode: expected one of off, guard, full"
    ):
        chosen_mode(sources(({"mode": "on"}, True)))


@pytest.mark.parametrize(
    ("rows", "kept"),
    [([], True), ([({"history": False}, True)], False), ([({"history": False}, False)], True)],
)
def test_the_history_can_be_switched_off_by_trusted_files(
    rows: list[tuple[dict[str, Any], bool]], kept: bool
) -> None:
    assert keeps_history(sources(*rows)) is kept
