"""What environment and settings want of every request: limits, thinking, effort, cache lifetime."""

from __future__ import annotations

from collections.abc import Mapping

from forge.core.model import ModelCard, Options
from forge.core.models.providers import Setting

_EFFORTS = ("low", "medium", "high", "xhigh", "max")


def default_options(card: ModelCard, env: Mapping[str, str], setting: Setting) -> Options:
    """The options for a model before the command line and the session have their say."""
    budget = _number(env, "MAX_THINKING_TOKENS")
    off = setting("alwaysThinkingEnabled", True) is False or budget == 0
    ttl = setting("promptCacheTtl", "")
    return Options(
        max_tokens=_number(env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS") or None,
        thinking="disabled" if off else "",
        thinking_budget=budget or None,
        effort=_effort(card, env, setting),
        cache_ttl=ttl if ttl in ("5m", "1h") else "",
        betas=tuple(filter(None, map(str.strip, env.get("ANTHROPIC_BETAS", "").split(",")))),
    )


def _effort(card: ModelCard, env: Mapping[str, str], setting: Setting) -> str:
    if not card.effort:
        return ""
    own = (setting("modelSettings", None) or {}).get(card.id) or {}
    wish = env.get("CLAUDE_CODE_EFFORT_LEVEL") or own.get("effortLevel") or setting("effortLevel", "")
    cap = own.get("maxEffortLevel") or setting("maxEffortLevel", "")
    effort = wish if wish in _EFFORTS else card.effort
    if cap in _EFFORTS:
        effort = min(effort, cap, key=_EFFORTS.index)
    return effort if effort != card.effort else ""


def _number(env: Mapping[str, str], name: str) -> int | None:
    text = env.get(name, "").strip()
    return int(text) if text.isdecimal() else None
