"""The words for values that do not fit a schema: one vocabulary for tool input, one for structured output.
Both are compared with recorded texts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from forge.core.schema import Issue, Path

_LAST = 1 << 30


def input_error(tool_name: str, found: list[Issue]) -> tuple[str, str]:
    """The text for the model and the structured form for hosts."""
    ordered = _input_order(found)
    data = msgspec.json.format(msgspec.json.encode([_input_entry(i) for i in ordered]), indent=2).decode()
    missing = [f"The required parameter `{_name(i.path)}` is missing" for i in ordered if _is_missing(i)]
    unexpected = [f"An unexpected parameter `{k}` was provided" for i in ordered for k in i.keys]
    wrong = [
        f"The parameter `{_name(i.path)}` type is expected as `{_expected_type(i)}` "
        f"but provided as `{i.received}`"
        for i in ordered
        if i.code == "type"
    ]
    lines = missing + unexpected + wrong
    if not lines:
        return f"InputValidationError: {data}", f"InputValidationError: {data}"
    lines += [_other_line(i) for i in ordered if not (_is_missing(i) or i.keys or i.code == "type")]
    noun = "issue" if len(lines) == 1 else "issues"
    text = f"InputValidationError: {tool_name} failed due to the following {noun}:\n" + "\n".join(lines)
    return text, f"InputValidationError: {data}"


def custom_issue(message: str, path: list[str]) -> str:
    """The text for an input that fits its schema and is wrong all the same."""
    issue = msgspec.json.encode([{"code": "custom", "path": path, "message": message}])
    return f"InputValidationError: {msgspec.json.format(issue, indent=2).decode()}"


def _input_order(found: list[Issue]) -> list[Issue]:
    """In the order of the schema, children before their parent; a wrong option is not also a wrong type, and
    the alternatives of a union are one issue."""
    unions = {i.path for i in found if i.code in ("anyOf", "oneOf")}
    options = {i.path for i in found if i.code in ("enum", "const")}
    kept = [
        i
        for i in found
        if (i.path not in unions or i.code in ("anyOf", "oneOf"))
        and not (i.code == "type" and i.path in options)
    ]
    return sorted(kept, key=lambda i: (*i.rank, _LAST))


def _is_missing(issue: Issue) -> bool:
    return issue.code == "required" and isinstance(issue.expected, str)


def _expected_type(issue: Issue) -> str:
    if issue.expected == "integer":
        return "int" if issue.received == "number" else "number"
    if isinstance(issue.expected, list):
        return "|".join(issue.expected)
    return str(issue.expected)


def _other_line(issue: Issue) -> str:
    if issue.code in ("anyOf", "oneOf"):
        return f"The parameter `{_name(issue.path)}` matches none of the accepted forms"
    return f"The parameter `{_name(issue.path)}` is invalid: {_input_message(issue)}"


def _input_entry(issue: Issue) -> dict[str, Any]:
    place = {"path": list(issue.path), "message": _input_message(issue)}
    if issue.keys:
        return {"code": "unrecognized_keys", "keys": list(issue.keys), **place}
    if issue.code == "type" or _is_missing(issue):
        expected = _expected_type(issue)
        kind = {"format": "safeint"} if expected == "int" else {}
        return {"expected": expected, **kind, "code": "invalid_type", **place}
    if issue.code in ("enum", "const", "required"):
        return {"code": "invalid_value", "values": _options(issue), **place}
    if issue.code in ("anyOf", "oneOf"):
        return {"code": "invalid_union", **place}
    limit = _LIMITS.get(issue.code)
    if limit is None:
        return {"code": "custom", **place}
    code, bound, inclusive, _ = limit
    return {"origin": _origin(issue), "code": code, bound: issue.expected, "inclusive": inclusive, **place}


def _input_message(issue: Issue) -> str:
    if issue.keys:
        noun = "key" if len(issue.keys) == 1 else "keys"
        return f"Unrecognized {noun}: " + ", ".join(f'"{k}"' for k in issue.keys)
    if issue.code == "type" or _is_missing(issue):
        received = "undefined" if _is_missing(issue) else issue.received
        return f"Invalid input: expected {_expected_type(issue)}, received {received}"
    if issue.code in ("enum", "const", "required"):
        options = [_json(v) for v in _options(issue)]
        if len(options) == 1:
            return f"Invalid input: expected {options[0]}"
        return "Invalid option: expected one of " + "|".join(options)
    limit = _LIMITS.get(issue.code)
    if limit is None:
        return "Invalid input"
    code, _, _, sign = limit
    verdict = "Too small" if code == "too_small" else "Too big"
    unit = {"string": "characters", "array": "items", "object": "keys"}.get(_origin(issue))
    amount = f"to have {sign}{issue.expected} {unit}" if unit else f"to be {sign}{issue.expected}"
    return f"{verdict}: expected {_origin(issue)} {amount}"


_LIMITS = {
    "minimum": ("too_small", "minimum", True, ">="),
    "exclusiveMinimum": ("too_small", "minimum", False, ">"),
    "maximum": ("too_big", "maximum", True, "<="),
    "exclusiveMaximum": ("too_big", "maximum", False, "<"),
    "minLength": ("too_small", "minimum", True, ">="),
    "maxLength": ("too_big", "maximum", True, "<="),
    "minItems": ("too_small", "minimum", True, ">="),
    "maxItems": ("too_big", "maximum", True, "<="),
    "minProperties": ("too_small", "minimum", True, ">="),
    "maxProperties": ("too_big", "maximum", True, "<="),
}


def _origin(issue: Issue) -> str:
    for ending, origin in (("Length", "string"), ("Items", "array"), ("Properties", "object")):
        if issue.code.endswith(ending):
            return origin
    return "number"


def _options(issue: Issue) -> list[Any]:
    return list(issue.expected) if isinstance(issue.expected, list) else [issue.expected]


def _name(path: Path) -> str:
    name = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    return name.removeprefix(".")


def output_error(found: list[Issue]) -> str:
    """The text for the model when its structured output does not fit."""
    lines = [f"{pointer(_owner(i)) or 'root'}: {describe(i)}" for i in _one_per_key(found)]
    return "Output does not match required schema: " + ", ".join(lines)


def _one_per_key(found: list[Issue]) -> Iterator[Issue]:
    for issue in found:
        if issue.keys:
            yield from (msgspec.structs.replace(issue, keys=(k,)) for k in issue.keys)
        else:
            yield issue


def _owner(issue: Issue) -> Path:
    return issue.path[:-1] if issue.code == "required" else issue.path


def pointer(path: Path) -> str:
    """A JSON pointer."""
    return "".join("/" + str(p).replace("~", "~0").replace("/", "~1") for p in path)


def describe(issue: Issue, *, brief: bool = False) -> str:
    """One misfit in the words for structured output; `brief` leaves out the allowed values."""
    wanted = issue.expected
    if issue.keys:
        return f"must NOT have additional properties ('{issue.keys[0]}' is not allowed)"
    if issue.code in ("enum", "const"):
        what = "one of the allowed values" if issue.code == "enum" else "constant"
        return f"must be equal to {what}" + ("" if brief else f": {_json(wanted)}")
    if issue.code in _LIMITS:
        return _limit_message(issue)
    return {
        "type": f"must be {','.join(wanted) if isinstance(wanted, list) else wanted}",
        "required": f"must have required property '{issue.path[-1] if issue.path else ''}'",
        "pattern": f'must match pattern "{wanted}"',
        "uniqueItems": f"must NOT have duplicate items (items ## {issue.received} are identical)",
        "multipleOf": f"must be multiple of {wanted}",
        "anyOf": "must match a schema in anyOf",
        "oneOf": "must match exactly one schema in oneOf",
        "not": "must NOT be valid",
        "false": "boolean schema is false",
    }[issue.code]


def _limit_message(issue: Issue) -> str:
    unit = {"string": "characters", "array": "items", "object": "properties"}.get(_origin(issue))
    if unit is None:
        return f"must be {_LIMITS[issue.code][3]} {issue.expected}"
    few = "fewer" if issue.code.startswith("min") else "more"
    return f"must NOT have {few} than {issue.expected} {unit} (got {issue.received})"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
