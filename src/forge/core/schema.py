"""A subset of JSON Schema: which parts of a value do not fit. `format` and unknown keywords are ignored; the
words for a misfit are in `schema_text`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

Schema = dict[str, Any]
Path = tuple[str | int, ...]

_MAX_DEPTH = 200


class Issue(msgspec.Struct, frozen=True):
    """One misfit. `code` is the schema keyword, `expected` its value, `received` the JSON type or count.

    A missing property is reported at its own path. `rank` is the place in the order of the schema.
    """

    path: Path
    code: str
    expected: Any = None
    received: Any = ""
    keys: tuple[str, ...] = ()
    rank: tuple[int, ...] = ()


class _Place(msgspec.Struct, frozen=True):
    root: Schema
    path: Path = ()
    rank: tuple[int, ...] = ()
    depth: int = 0

    def at(self, key: str | int, index: int) -> _Place:
        return _Place(self.root, (*self.path, key), (*self.rank, index), self.depth + 1)

    def issue(self, code: str, expected: Any, received: Any = "", keys: tuple[str, ...] = ()) -> Issue:
        return Issue(self.path, code, expected, received, keys, self.rank)


def issues(schema: Schema, value: object) -> list[Issue]:
    """Everything in `value` that the schema does not allow."""
    return list(_walk(schema, value, _Place(schema)))


def normalize(schema: Schema, value: dict[str, Any], *, shown: bool = False) -> dict[str, Any]:
    """Tool input as it is checked: defaults filled in, what was sent as text converted, optional integers
    below their minimum dropped. As it is `shown`, no default takes the place of what is required."""
    properties: dict[str, Any] = schema.get("properties", {})
    required = schema.get("required", ())
    fill = not shown or all(key in value for key in required)
    defaults = {k: p["default"] for k, p in properties.items() if isinstance(p, dict) and "default" in p}
    result = {k: v for k, v in defaults.items() if fill and not (shown and k in required)}
    for key, item in converted(schema, value).items():
        rule = properties.get(key)
        if shown or key in required or not isinstance(rule, dict) or not _too_small(rule, item):
            result[key] = item
    return result


def converted(schema: Schema, value: dict[str, Any]) -> dict[str, Any]:
    """An object whose values are of the types the schema asks for, as far as they were sent as text."""
    rules = schema.get("properties")
    rules = rules if isinstance(rules, dict) else {}
    return {k: _convert(rules[k], v) if isinstance(rules.get(k), dict) else v for k, v in value.items()}


def json_type(value: object) -> str:
    """The JSON name of a value's type."""
    if value is None:
        return "null"
    for kinds, name in _NAMES:
        if isinstance(value, kinds):
            return name
    return type(value).__name__


_NAMES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "boolean"),
    ((int, float), "number"),
    (str, "string"),
    ((list, tuple), "array"),
    (dict, "object"),
)


def _walk(schema: Any, value: object, place: _Place) -> Iterator[Issue]:
    if schema is False:
        yield place.issue("false", False)
    if not isinstance(schema, dict) or place.depth > _MAX_DEPTH:
        return
    for keyword, check in _CHECKS.items():
        if keyword in schema:
            yield from check(schema, value, place)


def _check_type(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    wanted = schema["type"]
    names = wanted if isinstance(wanted, list) else [wanted]
    if not any(_is_type(value, name) for name in names):
        yield place.issue("type", wanted, json_type(value))


def _is_type(value: object, name: str) -> bool:
    kind = json_type(value)
    if name == "integer":
        return kind == "number" and (isinstance(value, int) or float(str(value)).is_integer())
    return kind == name


def _check_number(keyword: str, fits: Callable[[Any, Any], bool]) -> _Check:
    def check(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
        if json_type(value) == "number" and not fits(value, schema[keyword]):
            yield place.issue(keyword, schema[keyword], value)

    return check


def _check_size(keyword: str, kind: str, fits: Callable[[int, int], bool]) -> _Check:
    def check(schema: Schema, value: Any, place: _Place) -> Iterator[Issue]:
        if json_type(value) == kind and not fits(len(value), schema[keyword]):
            yield place.issue(keyword, schema[keyword], len(value))

    return check


def _check_pattern(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    if isinstance(value, str) and re.search(schema["pattern"], value) is None:
        yield place.issue("pattern", schema["pattern"])


def _check_required(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    if not isinstance(value, dict):
        return
    properties = schema.get("properties", {})
    order = list(properties)
    for name in schema["required"]:
        if name not in value:
            rule = properties.get(name)
            index = order.index(name) if name in properties else len(order)
            yield place.at(name, index).issue("required", _wanted(rule))


def _wanted(rule: Any) -> Any:
    """What a missing property should have been: the name of a type, or a list of options."""
    if not isinstance(rule, dict):
        return "unknown"
    if "enum" in rule:
        return rule["enum"]
    kind = rule.get("type", "unknown")
    return "number" if kind == "integer" else "|".join(kind) if isinstance(kind, list) else kind


def _check_unique(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    if not schema["uniqueItems"] or not isinstance(value, list):
        return
    known: dict[bytes, int] = {}
    for index, item in enumerate(value):
        first = known.setdefault(msgspec.json.encode(item, order="sorted"), index)
        if first != index:
            yield place.issue("uniqueItems", True, f"{index} and {first}")
            return


def _check_enum(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    if not any(_same(value, option) for option in schema["enum"]):
        yield place.issue("enum", schema["enum"], json_type(value))


def _check_const(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    if not _same(value, schema["const"]):
        yield place.issue("const", schema["const"], json_type(value))


def _same(one: object, other: object) -> bool:
    return json_type(one) == json_type(other) and one == other


def _check_not(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    if not any(True for _ in _walk(schema["not"], value, place)):
        yield place.issue("not", None)


def _check_any(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    found = [list(_walk(option, value, place)) for option in schema["anyOf"]]
    if all(found):
        yield from (issue for option in found for issue in option)
        yield place.issue("anyOf", None)


def _check_one(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    found = [list(_walk(option, value, place)) for option in schema["oneOf"]]
    fitting = sum(not option for option in found)
    if fitting == 0:
        yield from (issue for option in found for issue in option)
    if fitting != 1:
        yield place.issue("oneOf", None)


def _check_all(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    for option in schema["allOf"]:
        yield from _walk(option, value, place)


def _check_ref(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    deeper = _Place(place.root, place.path, place.rank, place.depth + 1)
    yield from _walk(resolve(place.root, schema["$ref"]), value, deeper)


def resolve(root: Schema, reference: str) -> Any:
    """The part of a schema a local reference names; None when there is none."""
    if not reference.startswith("#"):
        return None
    found: Any = root
    for step in reference[1:].split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    return found


def _check_items(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(schema["items"], item, place.at(index, index))


def _check_additional(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    rule = schema["additionalProperties"]
    if not isinstance(value, dict) or rule is True:
        return
    properties = schema.get("properties", {})
    extra = tuple(str(key) for key in value if key not in properties)
    if rule is False and extra:
        yield place.issue("additionalProperties", False, keys=extra)
    elif rule is not False:
        for index, key in enumerate(extra, len(properties)):
            yield from _walk(rule, value[key], place.at(key, index))


def _check_properties(schema: Schema, value: object, place: _Place) -> Iterator[Issue]:
    if isinstance(value, dict):
        for index, (key, rule) in enumerate(schema["properties"].items()):
            if key in value:
                yield from _walk(rule, value[key], place.at(key, index))


_Check = Callable[[Schema, Any, _Place], Iterator[Issue]]

# The order is that in which misfits are reported.
_CHECKS: dict[str, _Check] = {
    "type": _check_type,
    "maximum": _check_number("maximum", lambda v, x: v <= x),
    "minimum": _check_number("minimum", lambda v, x: v >= x),
    "exclusiveMaximum": _check_number("exclusiveMaximum", lambda v, x: v < x),
    "exclusiveMinimum": _check_number("exclusiveMinimum", lambda v, x: v > x),
    "multipleOf": _check_number("multipleOf", lambda v, x: v / x == v // x),
    "maxLength": _check_size("maxLength", "string", lambda n, x: n <= x),
    "minLength": _check_size("minLength", "string", lambda n, x: n >= x),
    "pattern": _check_pattern,
    "$ref": _check_ref,
    "const": _check_const,
    "enum": _check_enum,
    "not": _check_not,
    "anyOf": _check_any,
    "oneOf": _check_one,
    "allOf": _check_all,
    "maxItems": _check_size("maxItems", "array", lambda n, x: n <= x),
    "minItems": _check_size("minItems", "array", lambda n, x: n >= x),
    "uniqueItems": _check_unique,
    "items": _check_items,
    "maxProperties": _check_size("maxProperties", "object", lambda n, x: n <= x),
    "minProperties": _check_size("minProperties", "object", lambda n, x: n >= x),
    "required": _check_required,
    "additionalProperties": _check_additional,
    "properties": _check_properties,
}


def _convert(rule: Schema, value: object) -> Any:
    if not isinstance(value, str):
        return value
    kinds = _kinds(rule)
    for kind in () if "string" in kinds else kinds:
        if kind == "boolean" and value in ("true", "false"):
            return value == "true"
        if kind in ("number", "integer") and re.fullmatch(_NUMBERS[kind], value):
            return float(value) if "." in value else int(value)
        if kind in ("array", "object") and value.lstrip()[:1] == _OPENING[kind]:
            return _parsed(value)
    return value


def _kinds(rule: Schema) -> list[str]:
    """The types a schema names; an object counts only if its properties are known."""
    kind = rule.get("type", ())
    found = [kind] if isinstance(kind, str) else list(kind)
    found += [k for part in rule.get("anyOf", ()) if isinstance(part, dict) for k in _kinds(part)]
    return [k for k in found if k != "object" or "properties" in rule]


def _parsed(value: str) -> Any:
    try:
        return msgspec.json.decode(value)
    except msgspec.DecodeError:
        return value


_NUMBERS = {"number": r"-?\d+(\.\d+)?", "integer": r"-?\d+"}
_OPENING = {"array": "[", "object": "{"}


def _too_small(rule: Schema, value: object) -> bool:
    if rule.get("type") != "integer" or not _is_type(value, "integer"):
        return False
    return any(True for _ in _walk({k: rule[k] for k in _LOWER if k in rule}, value, _Place(rule)))


_LOWER = ("minimum", "exclusiveMinimum")
