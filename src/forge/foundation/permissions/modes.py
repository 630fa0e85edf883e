"""The permission modes and which one a session starts in."""

from __future__ import annotations

MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions", "auto")
# In these, files of the workspace are changed without a question.
EDITING = ("acceptEdits", "auto")

_SYNONYMS = {"manual": "default"}

_UNTRUSTED_SOURCES = frozenset({"projectSettings", "localSettings"})
_TOO_STRONG_FOR_PROJECTS = frozenset({"bypassPermissions", "auto"})


def canonical_mode(name: str) -> str | None:
    """The wire value of a mode name, or None if there is no such mode."""
    name = _SYNONYMS.get(name, name)
    return name if name in MODES else None


def starting_mode(
    flag: str | None, configured: list[tuple[str, str]], *, bypass_disabled: bool
) -> tuple[str, str | None]:
    """The first mode of a session and, if a wish could not be granted, a note for the user.

    `configured` holds (source, value) from the lowest to the highest layer.
    """
    if flag is not None:
        mode, note = _from_flag(flag)
    else:
        mode, note = _from_settings(configured)
    if mode == "bypassPermissions" and bypass_disabled:
        return "default", "bypassPermissions is disabled by settings; the session starts in default mode"
    return mode, note


def _from_flag(flag: str) -> tuple[str, str | None]:
    mode = canonical_mode(flag)
    if mode is None:
        return "default", f"unknown permission mode {flag!r}; known: {', '.join(MODES)}"
    return mode, None


def _from_settings(configured: list[tuple[str, str]]) -> tuple[str, str | None]:
    note = None
    for source, value in reversed(configured):
        mode = canonical_mode(value) if isinstance(value, str) else None
        if mode is None:
            return "default", f"permissions.defaultMode {value!r} in {source} is not a permission mode"
        if source in _UNTRUSTED_SOURCES and mode in _TOO_STRONG_FOR_PROJECTS:
            note = note or f"permissions.defaultMode {mode!r} is ignored in {source}"
            continue
        return mode, note
    return "default", note
