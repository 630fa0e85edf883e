"""The model of a run: its client with the fallbacks, and what is asked of it."""

from __future__ import annotations

import msgspec

from forge.core.model import Model, ModelCard, Options
from forge.core.models.catalog import open_model, resolve
from forge.core.models.wishes import default_options
from forge.foundation.errors import UsageError
from forge.hosts.configuration import Configuration
from forge.hosts.options import EFFORTS, RunOptions, own_betas


def open_choice(o: RunOptions, c: Configuration, name: str | None) -> Model:
    """The model client for `name` with the fallbacks of flag or settings.

    Behind an air gap only the provider of the configured model can be reached.
    """
    fallbacks = o.fallback_model.split(",") if o.fallback_model else c.settings.get("fallbackModel", [])
    wanted = [f.strip() for f in fallbacks if f.strip() and f.strip() != name]
    if c.settings.get("airGap", False) is True:
        home = resolve(o.model, c.env, c.settings.get).provider
        others = [n for n in (name, *wanted) if resolve(n, c.env, c.settings.get).provider != home]
        if others:
            words = f"With the setting airGap only models of {home.name} can be used"
            raise UsageError(f"{words}, not {others[0]}.")
    return open_model(name, c.env, c.settings.get, fallbacks=wanted)


def model_options(o: RunOptions, c: Configuration, card: ModelCard, session_id: str) -> Options:
    """What this run wants of every request to the model of `card`."""
    wanted = default_options(card, c.env, c.settings.get)
    display = o.thinking_display or ("updates" if o.output_format == "stream-json" else "omitted")
    return msgspec.structs.replace(
        wanted,
        thinking=o.thinking or wanted.thinking,
        thinking_budget=o.max_thinking_tokens or wanted.thinking_budget,
        thinking_display=display,
        effort=o.effort if o.effort in EFFORTS else wanted.effort,
        session_id=session_id,
        betas=(*wanted.betas, *own_betas(o)),
        task_budget=int(o.task_budget) if o.task_budget else None,
    )
