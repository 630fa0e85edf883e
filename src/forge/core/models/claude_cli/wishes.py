"""What the user wants of the CLI: the options of the provider's row in the settings."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from forge.core.models.claude_cli.capabilities import DEFER, PARTIAL, Version, abilities, dotted
from forge.foundation.errors import ConfigError, UsageError


class Wishes(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """`mode` is model (Forge runs the tools) or agent (the CLI runs its own)."""

    mode: Literal["model", "agent"] = "model"
    idle_seconds: float = 300.0


def read_wishes(options: dict[str, Any], provider: str) -> Wishes:
    """The options as a value; raises `ConfigError`."""
    try:
        return msgspec.convert(options, Wishes)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{error}", path=f"settings: providers.{provider}.options") from None


def check_version(version: Version, wishes: Wishes, path: str) -> None:
    """Raises `UsageError` if this CLI cannot do what is wanted."""
    can = abilities(version)
    least, enough = (DEFER, can.defers) if wishes.mode == "model" else (PARTIAL, can.partial)
    if enough:
        return
    other = ' Or let it run its own tools: providers.claude-code.options {"mode": "agent"}.'
    raise UsageError(
        f"{path} is version {dotted(version)}; {wishes.mode} mode needs {dotted(least)} or newer.",
        "Update Claude Code." + (other if can.partial else ""),
    )
