from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from forge.core.plan import plan_path, slug


def path_for(home: Path, setting: dict[str, Any], session: str = "s") -> str:
    return plan_path(session, {"HOME": str(home)}, setting.get, str(home / "project"))


@pytest.mark.parametrize(
    ("chosen", "folder"),
    [(None, ".claude/plans"), ("plans", "project/plans"), ("~/p", "p"), ("{home}/x", "x")],
)
def test_plans_are_kept_where_the_settings_say(tmp_path: Path, chosen: str | None, folder: str) -> None:
    setting = {} if chosen is None else {"plansDirectory": chosen.replace("{home}", str(tmp_path))}
    assert path_for(tmp_path, setting) == str(tmp_path / folder / f"{slug('s')}.md")


def test_a_session_has_the_same_words_each_time_and_others_have_others() -> None:
    names = {slug(f"session-{n}") for n in range(200)}
    assert slug("session-7") in names
    assert len(names) == 200
    assert all(re.fullmatch("[a-z]+(-[a-z]+){3}", name) for name in names)
