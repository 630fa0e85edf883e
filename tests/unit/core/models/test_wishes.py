"""Options from environment and settings."""

from __future__ import annotations

from typing import Any

import pytest

from forge.core.model import ModelCard, Options
from forge.core.models.wishes import default_options

THINKER = ModelCard("m", "p", "anthropic", effort="medium")
PLAIN = ModelCard("m", "p", "anthropic")


@pytest.mark.parametrize(
    ("card", "env", "settings", "options"),
    [
        (THINKER, {}, {}, Options()),
        (PLAIN, {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "500"}, {}, Options(max_tokens=500)),
        (PLAIN, {"MAX_THINKING_TOKENS": "2000"}, {}, Options(thinking_budget=2_000)),
        (PLAIN, {"MAX_THINKING_TOKENS": "0"}, {}, Options(thinking="disabled")),
        (PLAIN, {"MAX_THINKING_TOKENS": "lots"}, {}, Options()),
        (PLAIN, {}, {"alwaysThinkingEnabled": False}, Options(thinking="disabled")),
        (THINKER, {}, {"effortLevel": "high"}, Options(effort="high")),
        (THINKER, {"CLAUDE_CODE_EFFORT_LEVEL": "low"}, {"effortLevel": "high"}, Options(effort="low")),
        (THINKER, {}, {"effortLevel": "enormous"}, Options()),
        (PLAIN, {}, {"effortLevel": "high"}, Options()),
        (THINKER, {}, {"effortLevel": "max", "maxEffortLevel": "high"}, Options(effort="high")),
        (
            THINKER,
            {},
            {"modelSettings": {"m": {"effortLevel": "low"}}, "effortLevel": "high"},
            Options(effort="low"),
        ),
        (THINKER, {}, {"promptCacheTtl": "1h"}, Options(cache_ttl="1h")),
    ],
)
def test_wishes_become_options(
    card: ModelCard, env: dict[str, str], settings: dict[str, Any], options: Options
) -> None:
    assert default_options(card, env, settings.get) == options
