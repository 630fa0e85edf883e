"""Compares what `forge` prints with recorded runs: values that differ from run to run become tokens."""

from __future__ import annotations

import re
from typing import Any

UUID = re.compile(r"^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
TIMES = re.compile(r"(_ms|timestamp|^duration|_at)$")

# Fields whose content belongs to the reference's own set of features; only their presence is compared.
OWN_CONTENT = {
    "tools",
    "slash_commands",
    "terminal_slash_commands",
    "agents",
    "skills",
    "plugins",
    "capabilities",
    "errors",
    "uuid",
    "session_id",
}
# Fields one side has and the other need not have, with the reason.
ABSENT = {
    "messaging_socket_path": "Forge has no side channel for other processes",
    "user_message_uuid": "belongs to the lifecycle of queued messages",
    "user_message_uuids": "belongs to the lifecycle of queued messages",
    "request_sent_wall_ms": "timing detail",
    "first_request_input_tokens": "statistics of the reference's own service",
    "first_request_cache_read_input_tokens": "statistics of the reference's own service",
}
ADDED = {
    "forge_version": "says which program speaks",
    "request_id": "the recorded server named no failed request",
}


class Tokens:
    """Replaces ids by numbered tokens, equal ids by equal tokens."""

    def __init__(self, cwd: str, home: str) -> None:
        self._seen: dict[str, str] = {}
        slug = re.sub("[^a-zA-Z0-9]", "-", cwd)
        self._paths = [(cwd, "<cwd>"), (home, "<home>"), (slug, "<cwd-slug>")]

    def of(self, value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {k: self.of(v, k) for k, v in value.items()}
        if isinstance(value, list):
            return [self.of(v, key) for v in value]
        if TIMES.search(key) and value is not None:
            return "<time>"
        return self._text(value) if isinstance(value, str) else value

    def _text(self, value: str) -> str:
        if UUID.match(value) or value.startswith(("msg_", "toolu_", "call_")):
            return "<id>"
        for path, token in self._paths:
            value = value.replace(path, token)
        return value


def recorded(value: Any, key: str = "") -> Any:
    """A recorded value with its tokens made comparable to `Tokens`."""
    if isinstance(value, dict):
        return {k: recorded(v, k) for k, v in value.items()}
    if isinstance(value, list):
        return [recorded(v, key) for v in value]
    if TIMES.search(key) and value is not None:
        return "<time>"
    if isinstance(value, str) and re.match(r"^<(uuid|msg|toolu|session|task|run)-\d+>$", value):
        return "<id>"
    return value


def differences(want: Any, got: Any, path: str = "") -> list[str]:
    """Where two normalised records differ, by the rules above."""
    if isinstance(want, dict) and isinstance(got, dict):
        return _dicts(want, got, path)
    if isinstance(want, list) and isinstance(got, list):
        if len(want) != len(got):
            return [f"{path}: {len(want)} entries wanted, {len(got)} got"]
        return [
            d
            for n, (w, g) in enumerate(zip(want, got, strict=True))
            for d in differences(w, g, f"{path}[{n}]")
        ]
    return [] if want == got else [f"{path}: wanted {want!r}, got {got!r}"]


def _dicts(want: dict[str, Any], got: dict[str, Any], path: str) -> list[str]:
    found = [f"{path}.{k}: missing" for k in want if k not in got and k not in ABSENT]
    found += [f"{path}.{k}: not in the recording" for k in got if k not in want and k not in ADDED]
    for key in want:
        if key in got and key not in OWN_CONTENT:
            found += differences(want[key], got[key], f"{path}.{key}")
    return found
