"""Turns one settings document into a layer, or into diagnostics that say exactly what is wrong and where."""

from __future__ import annotations

from typing import Any

from forge.foundation.errors import ConfigError
from forge.foundation.jsonfile import read_json
from forge.foundation.jsontext import JsonError, place
from forge.foundation.origin import Diagnostic, Scope, Severity
from forge.foundation.permissions.rule import BEHAVIORS, parse_rule
from forge.foundation.scalar import as_text
from forge.foundation.settings_hooks import judge_hooks
from forge.foundation.settings_merge import Layer
from forge.foundation.settings_schema import SCHEMA, Problem, check, json_type

_ALIASES = {
    "additionalMarketplaces": "extraKnownMarketplaces",
    "allowedMarketplaces": "strictKnownMarketplaces",
}
_IGNORED_WHOLE = "The whole file is ignored until this is fixed."
_GUARD_HINT = (
    "A PreToolUse or PermissionRequest hook that cannot be loaded may be what guards the permissions beside "
    f"it. {_IGNORED_WHOLE}"
)


def read_layer(place_of: Layer) -> tuple[Layer | None, list[Diagnostic]]:
    """The layer read from the file that `place_of` names; None when there is no file or it cannot be used."""
    try:
        data, text = read_json(place_of.path)
    except (FileNotFoundError, NotADirectoryError):
        return None, []
    except ConfigError as error:
        if place_of.scope is Scope.MANAGED:
            raise (_unusable_policy(place_of) if error.line else error) from error
        return None, [_malformed(place_of, error)]
    return judge(place_of, data, text)


def judge(place_of: Layer, data: Any, text: str = "") -> tuple[Layer | None, list[Diagnostic]]:
    """The usable part of a document; `text` gives diagnostics their line and column."""
    managed = place_of.scope is Scope.MANAGED
    if not isinstance(data, dict):
        if managed:
            raise _unusable_policy(place_of)
        problem = Problem((), f"Expected object, but received {json_type(data)}")
        return None, [_error(place_of, problem, text, _IGNORED_WHOLE)]
    if not data:
        return _with(place_of, {}), []
    data = _normalised(data)
    notes: list[Diagnostic] = []
    fatal = _drop_lenient(place_of, data, check(data), notes, text)
    guards = _judge_hooks(place_of, data, notes, text)
    if managed:
        notes += _drop_fields(place_of, data, [*fatal, *guards], text)
    elif fatal or guards:
        notes = [_error(place_of, p, text, _IGNORED_WHOLE) for p in fatal]
        return None, notes + [_error(place_of, p, text, _GUARD_HINT) for p in guards]
    _drop_nulls(data)
    _clean_env(place_of, data, notes, text)
    _clean_rules(place_of, data, notes, text)
    return _with(place_of, data), notes


def _normalised(data: dict[str, Any]) -> dict[str, Any]:
    """Other spellings of the same thing, in the spelling the rest of Forge reads."""
    data = dict(data)
    for alias, name in _ALIASES.items():
        if alias in data:
            data.setdefault(name, data.pop(alias))
    for name in ("enabledMcpjsonServers", "disabledMcpjsonServers"):
        if isinstance(data.get(name), str):
            data[name] = [data[name]]
    if isinstance(data.get("attribution"), bool):
        data["attribution"] = {} if data["attribution"] else {"commit": "", "pr": "", "sessionUrl": False}
    permissions = data.get("permissions")
    if isinstance(permissions, dict) and permissions.get("defaultMode") == "manual":
        data["permissions"] = {**permissions, "defaultMode": "default"}
    switches = _plugin_switches(data.get("plugins"))
    if switches:
        named = data.get("enabledPlugins")
        data["enabledPlugins"] = {**switches, **named} if isinstance(named, dict) else switches
    return data


def _plugin_switches(plugins: Any) -> dict[str, bool]:
    """`plugins.NAME.enabled` as entries of `enabledPlugins`."""
    if not isinstance(plugins, dict):
        return {}
    return {
        name if "@" in name else f"{name}@local": options["enabled"]
        for name, options in plugins.items()
        if isinstance(options, dict) and isinstance(options.get("enabled"), bool)
    }


def _drop_lenient(
    place_of: Layer, data: dict[str, Any], problems: list[Problem], notes: list[Diagnostic], text: str
) -> list[Problem]:
    """Takes out keys that may be wrong without harm; returns the problems that do harm."""
    fatal = []
    for problem in problems:
        if SCHEMA[problem.path[0]].lenient:
            data.pop(problem.path[0], None)
            notes.append(_warning(place_of, problem, text, "This key is ignored."))
        else:
            fatal.append(problem)
    return fatal


def _judge_hooks(place_of: Layer, data: dict[str, Any], notes: list[Diagnostic], text: str) -> list[Problem]:
    if "hooks" not in data:
        return []
    judged = judge_hooks(data["hooks"])
    notes += [_warning(place_of, problem, text, "This entry is ignored.") for problem in judged.dropped]
    data["hooks"] = judged.hooks
    return judged.fatal


def _drop_fields(
    place_of: Layer, data: dict[str, Any], problems: list[Problem], text: str
) -> list[Diagnostic]:
    """A managed document is never skipped: the wrong fields go, every other policy stays in force."""
    for problem in problems:
        top, *below = problem.path
        inner = data.get(top)
        if problem.path == ("permissions", "defaultMode") and isinstance(inner, dict):
            data[top] = {**inner, "defaultMode": "default"}
        elif below and isinstance(inner, dict) and top != "hooks":
            data[top] = {key: value for key, value in inner.items() if key != below[0]}
        else:
            data.pop(top, None)
    return [
        _error(place_of, problem, text, "This field is ignored; the other policies stay in force.")
        for problem in problems
    ]


def _drop_nulls(data: dict[str, Any]) -> None:
    for key in [k for k, value in data.items() if value is None]:
        wanted = SCHEMA.get(key)
        if wanted is not None and wanted.nullable:
            del data[key]


def _clean_env(place_of: Layer, data: dict[str, Any], notes: list[Diagnostic], text: str) -> None:
    if "env" not in data:
        return
    clean = {}
    for name, value in data["env"].items():
        if not isinstance(value, str | bool | int | float):
            message = f"Expected string, but received {json_type(value)}"
        elif not name or "=" in name or "\0" in name + as_text(value):
            message = "No environment variable can have this name or value"
        else:
            clean[name] = as_text(value)
            continue
        notes.append(_warning(place_of, Problem(("env", name), message), text, "This variable is ignored."))
    data["env"] = clean


def _clean_rules(place_of: Layer, data: dict[str, Any], notes: list[Diagnostic], text: str) -> None:
    permissions = data.get("permissions", {})
    for name in BEHAVIORS:
        kept = []
        for index, rule in enumerate(permissions.get(name, ())):
            parsed = parse_rule(rule, name, place_of.scope.wire, place_of.anchor)
            if isinstance(parsed, str):
                problem = Problem(("permissions", name, str(index)), parsed)
                notes.append(_warning(place_of, problem, text, "This rule is ignored."))
            else:
                kept.append(rule)
        if len(kept) != len(permissions.get(name, ())):
            permissions = {**permissions, name: kept}
            data["permissions"] = permissions


def _with(place_of: Layer, data: dict[str, Any]) -> Layer:
    return Layer(place_of.scope, place_of.path, data, place_of.dialect, place_of.anchor)


def _malformed(place_of: Layer, error: ConfigError) -> Diagnostic:
    detail = detail_of(error)
    return Diagnostic(
        Severity.ERROR,
        "Invalid or malformed JSON" if error.line else detail,
        place_of.origin,
        f"{detail}. {_IGNORED_WHOLE}" if error.line else "The file is ignored.",
        error.line,
        error.column,
    )


def detail_of(error: ConfigError) -> str:
    """The message of an error without the place, which a diagnostic has in fields of its own."""
    where = f"{error.path}:{error.line}:{error.column}" if error.line else error.path
    return error.message.removeprefix(f"{where}: ")


def _unusable_policy(place_of: Layer) -> ConfigError:
    return ConfigError(
        "Managed settings document could not be parsed as a JSON object; none of its settings are in effect. "
        "Fix or remove it.",
        path=place_of.path,
    )


def _error(place_of: Layer, problem: Problem, text: str, hint: str) -> Diagnostic:
    return _diagnostic(Severity.ERROR, place_of, problem, text, hint)


def _warning(place_of: Layer, problem: Problem, text: str, hint: str) -> Diagnostic:
    return _diagnostic(Severity.WARNING, place_of, problem, text, hint)


def _diagnostic(severity: Severity, place_of: Layer, problem: Problem, text: str, hint: str) -> Diagnostic:
    line, column = _position(text, problem.path)
    key = ".".join(problem.path)
    return Diagnostic(severity, problem.message, place_of.origin, hint, line, column, key)


def _position(text: str, path: tuple[str, ...]) -> tuple[int, int]:
    try:
        return place(text, path)
    except JsonError:
        return 0, 0  # not JSON: the values came from somewhere else
