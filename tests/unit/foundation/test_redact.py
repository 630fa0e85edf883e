from __future__ import annotations

import pytest

from forge.foundation.redact import MARK, holds_secret, redact
from unit.foundation.secret_kinds import HARMLESS, KINDS, seeded


@pytest.mark.requirement("S2-35")
@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_disappears_and_the_rest_stays(kind: str) -> None:
    text, secret = seeded(kind)
    before, after = text.split(secret)
    cleaned = redact(text)
    assert secret not in cleaned
    assert secret[-12:] not in cleaned
    assert cleaned.startswith(before.rpartition(" ")[0]) and cleaned.endswith(after)
    assert MARK in cleaned and holds_secret(text)


def test_there_are_at_least_forty_kinds() -> None:
    assert len(KINDS) >= 40


@pytest.mark.parametrize("text", HARMLESS)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


def test_known_values_disappear_wherever_they_stand() -> None:
    text = "a=correct-horse b=[correct-horse] c=short"
    assert redact(text, ["correct-horse", "short", "horse-ba"]) == f"a={MARK} b=[{MARK}] c=short"


def test_redacting_twice_changes_nothing_more() -> None:
    for kind in KINDS:
        once = redact(seeded(kind)[0])
        assert redact(once) == once
