"""What the settings say about guarded commands: the mode, the files with rules, where things are kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from forge.foundation.errors import ConfigError

OFF, GUARD, FULL = "off", "guard", "full"
MODES = (OFF, GUARD, FULL)


class Source(msgspec.Struct, frozen=True):
    """The `forgecmd` part of one settings file; one that is not trusted can only make things stricter."""

    path: str
    data: dict[str, Any]
    trusted: bool = True


class Setup(msgspec.Struct, frozen=True):
    """How commands of a session are guarded. Empty paths: no history, no copies of what is deleted."""

    mode: str = GUARD
    sources: tuple[Source, ...] = ()
    history: str = ""
    trash: str = ""


def chosen_mode(sources: Iterable[Source]) -> str:
    """The mode: as set by a trusted file, else full where rules or thresholds are set, else guard."""
    mode = ""
    for source in sources:
        wanted = source.data.get("mode")
        if wanted is not None and wanted not in MODES:
            raise ConfigError(f"forgecmd.mode: expected one of {', '.join(MODES)}", path=source.path)
        if source.trusted:
            mode = wanted or mode
    if mode:
        return mode
    full = any(s.trusted and (s.data.get("rules") or s.data.get("riskThresholds")) for s in sources)
    return FULL if full else GUARD


def keeps_history(sources: Iterable[Source]) -> bool:
    """Whether commands are recorded: unless a trusted file says no."""
    said = [s.data["history"] for s in sources if s.trusted and "history" in s.data]
    return bool(said[-1]) if said else True
