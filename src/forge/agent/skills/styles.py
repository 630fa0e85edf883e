"""Output styles: which one a conversation has, and what the model is told about it."""

from __future__ import annotations

from forge.agent.session import Reminder
from forge.agent.texts.load import text
from forge.core.components.catalog import Catalog, Contribution
from forge.core.components.kinds import OutputStyle
from forge.core.registry import Component
from forge.core.reminder import reminder
from forge.foundation.origin import BUILTIN

KIND = "output_style"
# Name, description, whether the instructions for coding stay; the text of each is a file beside this module.
_BUILTIN = (
    ("default", "Does the task and reports briefly", True),
    ("Proactive", "Goes ahead on sensible assumptions instead of asking", True),
    ("Concise", "Says as little as possible", True),
    ("Explanatory", "Explains why the code is as it is while working on it", True),
    ("Learning", "Leaves small, well chosen parts of the code to you", True),
)


def builtin_styles() -> Contribution:
    """The styles every session has."""
    rows = [OutputStyle(name, about, "", keep_coding_instructions=keeps) for name, about, keeps in _BUILTIN]
    return Contribution(styles=[Component(style.name, style, BUILTIN) for style in rows])


def chosen_style(catalog: Catalog, wanted: str) -> OutputStyle | None:
    """The style in force: one a plugin forces, else the one the settings name; None if there is none."""
    loaded = [c.value for contribution in catalog.contributions for c in contribution.styles]
    forced = next((style for style in loaded if style.forced), None)
    return forced or catalog.styles.get(wanted or "default")


def style_reminder(catalog: Catalog, name: str) -> Reminder | None:
    """What the model reads about a style; None for the default and for names nobody has defined."""
    style = chosen_style(catalog, name)
    if style is None or style.name == "default":
        return None
    body = style.body or _own(catalog, style.name)
    return Reminder(KIND, reminder(f"# Output Style: {style.name}\n{body}"))


def keeps_coding(catalog: Catalog, wanted: str) -> bool:
    """Whether the instructions for coding stay in the system prompt."""
    style = chosen_style(catalog, wanted)
    return style is None or style.keep_coding_instructions


def style_names(catalog: Catalog) -> list[str]:
    """All styles, the built-in ones first."""
    own = [name for name, _, _ in _BUILTIN]
    return [*own, *sorted(c.name for c in catalog.styles if c.name not in own)]


def _own(catalog: Catalog, name: str) -> str:
    builtin = any(c.origin is BUILTIN for c in catalog.styles.find(name)[:1])
    return text(f"style_{name.lower()}") if builtin else ""
