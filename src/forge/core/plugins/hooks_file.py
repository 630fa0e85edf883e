"""Hooks of a plugin: the file form, and what is dropped from or fatal in an event map."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.plugins.shape import Issue, kind_of
from forge.foundation.settings_hooks import EVENTS, GUARDS, HANDLERS
from forge.foundation.settings_schema import check_value

_GUARD = (
    " — a PreToolUse/PermissionRequest hook that cannot be loaded may be what guards the permissions"
    " declared beside it, so nothing it sits in is applied until the entry is fixed or removed"
)
_IGNORED = "; entry ignored at runtime"
NO_CONTENT = "hooks.json must have `hooks` (the hook matchers) or `modules` (hooks modules), or both"


class Judged(msgspec.Struct):
    """The hooks that remain, what is dropped, and what must not be dropped silently."""

    events: dict[str, list[Any]] = {}
    dropped: list[str] = []
    fatal: list[str] = []


def judge_events(events: dict[str, Any], place: str = "hooks") -> Judged:
    """Sorts the entries of an event map; `place` is how messages call the map."""
    judged = Judged({}, [], [])
    for event, groups in events.items():
        where = f"{place}.{event}"
        if event not in EVENTS:
            judged.dropped.append(f"{where}: unknown hook event{_IGNORED}")
            continue
        problems: list[str] = []
        kept = _groups(groups, where, problems)
        if kept:
            judged.events[event] = kept
        if event in GUARDS and groups is not None:
            judged.fatal += [f"{problem}{_GUARD}" for problem in problems]
        else:
            judged.dropped += [f"{problem}{_IGNORED}" for problem in problems]
    return judged


def file_issues(content: Any) -> list[Issue]:
    """What is wrong with the outer form of a hooks file."""
    if not isinstance(content, dict):
        return [Issue(("root",), f"Invalid input: expected object, received {kind_of(content)}")]
    if "hooks" not in content and "modules" not in content:
        return [Issue(("root",), NO_CONTENT)]
    hooks, modules = content.get("hooks", {}), content.get("modules", [])
    found = []
    if not isinstance(hooks, dict):
        found.append(Issue(("hooks",), f"Invalid input: expected record, received {kind_of(hooks)}"))
    if not isinstance(modules, list):
        found.append(Issue(("modules",), f"Invalid input: expected array, received {kind_of(modules)}"))
    return found


def _groups(groups: Any, where: str, problems: list[str]) -> list[Any]:
    if not isinstance(groups, list):
        problems.append(f"{where}: must be an array of matchers; received {_with_article(groups)}")
        return []
    kept = []
    for index, group in enumerate(groups):
        place = f"{where}.{index}"
        wrong = _group_problem(group)
        if wrong:
            problems.append(f"{place}: {wrong}")
        else:
            kept.append({**group, "hooks": _entries(group["hooks"], place, problems)})
    return kept


def _group_problem(group: Any) -> str:
    if not isinstance(group, dict):
        return f"Hook matcher must be an object; received {_with_article(group)}"
    if not isinstance(group.get("hooks"), list):
        got = kind_of(group["hooks"]) if "hooks" in group else "undefined"
        return f'Hook matcher "hooks" must be an array of hook entries; received {got}'
    if not isinstance(group.get("matcher", ""), str):
        wrong = f"matcher: Invalid input: expected string, received {kind_of(group['matcher'])}"
        return f"Invalid hook matcher ({wrong})"
    return ""


def _entries(entries: list[Any], where: str, problems: list[str]) -> list[Any]:
    kept = []
    for index, entry in enumerate(entries):
        wrong = _entry_problem(entry)
        if wrong:
            problems.append(f"{where}.hooks.{index}: {wrong}")
        else:
            kept.append(entry)
    return kept


def _entry_problem(entry: Any) -> str:
    if not isinstance(entry, dict):
        return f"Hook entry must be an object; received {_with_article(entry)}"
    kind = entry.get("type")
    if "type" not in entry:
        return 'Hook entry has no "type"'
    if not isinstance(kind, str) or kind not in HANDLERS:
        return f'Unknown hook type "{kind}"'
    wrong = [_field_problem(entry, problem.path[-1]) for problem in check_value(entry, HANDLERS[kind], ())]
    if not wrong and kind == "http" and "://" not in entry["url"]:
        wrong = ["url: Invalid URL"]
    return f"Invalid {kind} hook ({'; '.join(wrong)})" if wrong else ""


def _field_problem(entry: dict[str, Any], field: str) -> str:
    got = kind_of(entry[field]) if field in entry else "undefined"
    expected = "number" if field == "timeout" else "string"
    return f"{field}: Invalid input: expected {expected}, received {got}"


def _with_article(value: Any) -> str:
    kind = kind_of(value)
    if kind == "null":
        return kind
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
