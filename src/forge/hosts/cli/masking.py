"""Settings as they may be shown: whatever looks like a secret is replaced, wherever it is."""

from __future__ import annotations

import re
from typing import Any

MASK = "********"

_SECRET_NAME = re.compile(
    r"(?:^|[^a-z])(?:api|auth|access|private|secret)?[_-]?(?:key|keys|token|secret|password|passwd|credentials?)"
    r"(?:$|[^a-z])|authorization|cookie",
    re.IGNORECASE,
)
_SECRET_VALUE = re.compile(r"\b(?:sk-|sk_|ghp_|gho_|github_pat_|glpat-|xox[abp]-|AKIA|AIza|eyJ)[\w.\-]{8,}")
_URL_PASSWORD = re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)")

# Everything inside is hidden: nobody can tell which header carries the key.
_HIDDEN_OBJECTS = frozenset({"headers"})
# Settings whose value names where a secret is, and is not one.
_HARMLESS = frozenset({"apiKeyHelper", "apiKeyEnv", "ANTHROPIC_AUTH_HEADER"})


def masked(value: Any, path: tuple[str, ...] = ()) -> Any:
    """The value without secrets; `path` are the keys that lead to it."""
    if isinstance(value, dict):
        return {key: masked(each, (*path, key)) for key, each in value.items()}
    if isinstance(value, list):
        return [masked(each, path) for each in value]
    if not isinstance(value, str) or not value:
        return value
    if _HIDDEN_OBJECTS.intersection(path[:-1]) or is_secret_name(path[-1] if path else ""):
        return MASK
    return _URL_PASSWORD.sub(MASK, _SECRET_VALUE.sub(MASK, value))


def is_secret_name(name: str) -> bool:
    """Whether a variable or setting of this name holds something that must not be shown."""
    if name in _HARMLESS:
        return False
    # apiKey, API_KEY and api-key are one word here.
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return bool(_SECRET_NAME.search(spaced)) or spaced.upper().endswith(
        ("_KEY", "_TOKEN", "_HEADERS", "_PAT")
    )
