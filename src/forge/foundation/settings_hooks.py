"""Judges the `hooks` of a settings file: what is kept, what is dropped, and what makes the file unusable."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.foundation.hookspec import EVENTS
from forge.foundation.settings_schema import (
    BOOLEAN,
    STRING,
    STRINGS,
    Problem,
    Type,
    check_value,
    enum,
    json_type,
    words,
)
from forge.foundation.suggest import closest

__all__ = ["EVENTS", "GUARDS", "HANDLERS", "Judged", "judge_hooks"]

# A hook of these events may be what guards the permissions beside it, so a broken one spoils its file.
GUARDS = ("PreToolUse", "PermissionRequest")

_COMMON = {
    "if": STRING,
    "timeout": Type("number", least=0),
    "statusMessage": STRING,
    "once": BOOLEAN,
    "onFailure": enum("continue block"),
}
_RECORD_OF_STRINGS = Type("record", items=STRING)


def _handler(required: str, **fields: Type) -> Type:
    return Type("object", keys={**_COMMON, **fields}, required=words(required))


HANDLERS = {
    "command": _handler(
        "command",
        command=STRING,
        args=STRINGS,
        shell=enum("bash powershell"),
        asyncRewake=BOOLEAN,
        **{"async": BOOLEAN},
    ),
    "prompt": _handler("prompt", prompt=STRING, model=STRING, continueOnBlock=BOOLEAN),
    "agent": _handler("prompt", prompt=STRING, model=STRING),
    "http": _handler("url", url=STRING, headers=_RECORD_OF_STRINGS, allowedEnvVars=STRINGS),
    "mcp_tool": _handler("server tool", server=STRING, tool=STRING, input=Type("record")),
}


class Judged(msgspec.Struct):
    """The hooks that remain, what was dropped, and the problems that cost the whole file."""

    hooks: dict[str, list[Any]] = {}
    dropped: list[Problem] = []
    fatal: list[Problem] = []


def judge_hooks(hooks: Any) -> Judged:
    """Sorts the entries of a `hooks` value."""
    judged = Judged({}, [], [])
    if not isinstance(hooks, dict):
        # A list of entries is a misplaced guard; anything else is no hook at all.
        looks_like_hooks = isinstance(hooks, list) and any(isinstance(item, dict) for item in hooks)
        (judged.fatal if looks_like_hooks else judged.dropped).append(
            Problem(("hooks",), f"Expected record, but received {json_type(hooks)}")
        )
        return judged
    for event, groups in hooks.items():
        if event not in EVENTS:
            judged.dropped.append(_unknown_event(event))
            continue
        if groups is None:
            continue
        problems = _judge_event(judged, event, groups)
        (judged.fatal if event in GUARDS else judged.dropped).extend(problems)
    return judged


def _unknown_event(event: str) -> Problem:
    meant = closest(event, EVENTS)
    advice = f'Did you mean "{meant}"?' if meant else f"Valid events: {', '.join(EVENTS)}"
    return Problem(("hooks", event), f'Unknown hook event "{event}" was ignored. {advice}')


def _judge_event(judged: Judged, event: str, groups: Any) -> list[Problem]:
    path = ("hooks", event)
    if not isinstance(groups, list):
        return [Problem(path, f"Expected array, but received {json_type(groups)}")]
    problems: list[Problem] = []
    kept = []
    for index, group in enumerate(groups):
        found = check_value(group, _GROUP, (*path, str(index)))
        if not found:
            kept.append(_judge_group(group, (*path, str(index)), problems))
        problems += found
    if kept:
        judged.hooks[event] = kept
    return problems


_GROUP = Type("object", keys={"matcher": STRING, "hooks": Type("array")}, required=("hooks",))


def _judge_group(group: dict[str, Any], path: tuple[str, ...], problems: list[Problem]) -> dict[str, Any]:
    kept = []
    for index, handler in enumerate(group["hooks"]):
        found = _check_handler(handler, (*path, "hooks", str(index)))
        if not found:
            kept.append(handler)
        problems += found
    return {**group, "hooks": kept}


def _check_handler(handler: Any, path: tuple[str, ...]) -> list[Problem]:
    if not isinstance(handler, dict):
        return [Problem(path, f"Expected object, but received {json_type(handler)}")]
    kind = handler.get("type")
    if not isinstance(kind, str) or kind not in HANDLERS:
        said = f'Unknown hook type "{kind}"' if "type" in handler else 'Hook entry has no "type"'
        return [Problem((*path, "type"), f"{said}. Valid types: {', '.join(HANDLERS)}")]
    problems = check_value(handler, HANDLERS[kind], path)
    if not problems and handler.get("timeout") == 0:
        problems = [Problem((*path, "timeout"), "Number must be greater than 0")]
    if not problems and kind == "http" and "://" not in handler["url"]:
        problems = [Problem((*path, "url"), "Invalid URL")]
    return problems
