"""Permission updates as hosts send them: applied to a situation, and sorted out for saving."""

from __future__ import annotations

import os.path

from forge.foundation.homes import absolute
from forge.foundation.permissions.modes import canonical_mode
from forge.foundation.permissions.rule import BEHAVIORS, Rule, parse_rule, render

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.situation import Situation

SAVED_DESTINATIONS = frozenset({"userSettings", "projectSettings", "localSettings"})
DESTINATIONS = SAVED_DESTINATIONS | {"session", "cliArg"}


def apply_updates(
    s: Situation, updates: list[dict[str, object]]
) -> tuple[Situation, list[dict[str, object]]]:
    """The situation after the updates, and those of them that the caller must write to a settings file.

    An update that cannot be understood changes nothing and is left out of both; `problem_of` says why.
    """
    to_save = []
    for update in updates:
        if problem_of(update):
            continue
        s = _APPLY[str(update["type"])](s, update)
        if update["destination"] in SAVED_DESTINATIONS:
            to_save.append(update)
    return s, to_save


def problem_of(update: object) -> str:
    """Why an update is malformed, in plain words; empty if it is fine."""
    if not isinstance(update, dict):
        return "a permission update must be an object"
    kind, destination = update.get("type"), update.get("destination")
    if kind not in _APPLY:
        return f"unknown permission update type {kind!r}"
    if destination not in DESTINATIONS:
        return f"unknown destination {destination!r} of a permission update"
    if kind == "setMode":
        known = canonical_mode(str(update.get("mode")))
        return "" if known else f"unknown permission mode {update.get('mode')!r}"
    if kind in ("addDirectories", "removeDirectories"):
        return "" if _strings(update.get("directories")) else "directories must be a list of strings"
    return _problem_of_rules(update)


def rule_texts(update: dict[str, object]) -> list[str]:
    """The rules of an update as settings files spell them."""
    rules = update.get("rules")
    return [_text_of(rule) for rule in rules] if isinstance(rules, list) else []


def _problem_of_rules(update: dict[str, object]) -> str:
    if update.get("behavior") not in BEHAVIORS:
        return f"unknown behavior {update.get('behavior')!r} of a permission update"
    rules = update.get("rules")
    if not isinstance(rules, list):
        return "rules must be a list"
    for rule in rules:
        if not isinstance(rule, dict) or not isinstance(rule.get("toolName"), str):
            return "a rule of a permission update needs a toolName"
        if not isinstance(rule.get("ruleContent"), str | None):
            return "ruleContent must be a string"
        parsed = parse_rule(_text_of(rule), str(update["behavior"]), "session", "")
        if isinstance(parsed, str):
            return parsed
    return ""


def _strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _text_of(rule: object) -> str:
    if not isinstance(rule, dict):
        return ""
    content = rule.get("ruleContent")
    return render(str(rule.get("toolName")), content if isinstance(content, str) else None)


def _rules_of(s: Situation, update: dict[str, object]) -> list[Rule]:
    source = str(update["destination"])
    anchor = os.path.join(s.home, ".claude") if source == "userSettings" else s.start_dir
    parsed = [parse_rule(text, str(update["behavior"]), source, anchor) for text in rule_texts(update)]
    return [rule for rule in parsed if isinstance(rule, Rule)]


def _add_rules(s: Situation, update: dict[str, object]) -> Situation:
    new = [rule for rule in _rules_of(s, update) if rule not in s.rules]
    return s.changed(rules=[*s.rules, *new])


def _replace_rules(s: Situation, update: dict[str, object]) -> Situation:
    source, behavior = update["destination"], update["behavior"]
    kept = [rule for rule in s.rules if rule.source != source or rule.behavior != behavior]
    return s.changed(rules=[*kept, *_rules_of(s, update)])


def _remove_rules(s: Situation, update: dict[str, object]) -> Situation:
    gone = {(rule.tool, rule.content, rule.behavior, rule.source) for rule in _rules_of(s, update)}
    kept = [rule for rule in s.rules if (rule.tool, rule.content, rule.behavior, rule.source) not in gone]
    return s.changed(rules=kept)


def _set_mode(s: Situation, update: dict[str, object]) -> Situation:
    return s.changed(mode=canonical_mode(str(update["mode"])))


def _add_directories(s: Situation, update: dict[str, object]) -> Situation:
    return s.changed(directories=list(dict.fromkeys([*s.directories, *_directories_of(s, update)])))


def _remove_directories(s: Situation, update: dict[str, object]) -> Situation:
    gone = set(_directories_of(s, update)) - {s.start_dir}
    return s.changed(directories=[path for path in s.directories if path not in gone])


def _directories_of(s: Situation, update: dict[str, object]) -> list[str]:
    listed = update.get("directories")
    found = [str(path) for path in listed] if isinstance(listed, list) else []
    return [absolute(path, s.start_dir, s.home) for path in found]


_APPLY = {
    "addRules": _add_rules,
    "replaceRules": _replace_rules,
    "removeRules": _remove_rules,
    "setMode": _set_mode,
    "addDirectories": _add_directories,
    "removeDirectories": _remove_directories,
}
