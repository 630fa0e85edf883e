from __future__ import annotations

import pytest

from forge.foundation.suggest import closest, distance


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("stop", "Stop"),
        ("pre_tool_use", "PreToolUse"),
        ("PreToolUsed", "PreToolUse"),
        ("Preetoluse", "PreToolUse"),
        ("Something", ""),
        ("St", ""),
        ("", ""),
    ],
)
def test_typing_mistakes_find_the_known_name(word: str, meant: str) -> None:
    assert closest(word, ["PreToolUse", "PostToolUse", "Stop"]) == meant


def test_without_known_names_there_is_no_suggestion() -> None:
    assert closest("stop", []) == ""


def test_distance_counts_single_edits() -> None:
    assert [distance("kitten", "sitting"), distance("", "ab"), distance("ab", "ab")] == [3, 2, 0]
