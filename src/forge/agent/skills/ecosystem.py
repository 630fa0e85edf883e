"""What a conversation knows of its skills, commands, styles and plugins besides the catalogue itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from forge.core.components.listing import DEFAULT_BUDGET, LONG_CONTEXT_BUDGET, LONGEST_TEXT, Limits, View
from forge.core.model import ModelCard

BUDGET = "SLASH_COMMAND_TOOL_CHAR_BUDGET"
DEFAULT_STYLE = "default"
_LONG_CONTEXT = 1_000_000
# What a token is worth in characters.
_CHARACTERS = 4


class Ecosystem:
    """Shared by a conversation and its sub-agents.

    `version` grows whenever components came or went: then the model gets the whole lists again. `plugins` and
    `errors` are rows as hosts report them; `reload` looks at the disk again and says what it found.
    `opening` goes before the first prompt. `tool_names` are other names for tools: name → the tool that is
    meant.
    """

    def __init__(self) -> None:
        self.view = View()
        self.plugins: list[dict[str, Any]] = []
        self.errors: list[dict[str, Any]] = []
        self.style = DEFAULT_STYLE
        self.opening = ""
        self.tool_names: dict[str, str] = {}
        self.version = 0
        self.reload: Callable[[], str] | None = None


def listing_limits(card: ModelCard, env: Mapping[str, str], setting: Callable[[str, Any], Any]) -> Limits:
    """How much of a request the list of skills may take."""
    budget = LONG_CONTEXT_BUDGET if card.context_window >= _LONG_CONTEXT else DEFAULT_BUDGET
    fraction = setting("skillListingBudgetFraction", None)
    if isinstance(fraction, int | float) and not isinstance(fraction, bool) and fraction > 0:
        budget = int(card.context_window * _CHARACTERS * fraction)
    given = env.get(BUDGET, "")
    longest = setting("skillListingMaxDescChars", LONGEST_TEXT)
    return Limits(
        int(given) if given.isdecimal() else budget,
        longest if isinstance(longest, int) and longest > 0 else LONGEST_TEXT,
    )
