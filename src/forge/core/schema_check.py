"""Whether a JSON Schema given by a user can be used at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from forge.core.schema import Schema, issues, resolve
from forge.core.schema_text import describe, pointer


def check_schema(schema: object) -> str | None:
    """Why a schema cannot be used (`must be …` or `is not a valid JSON Schema: …`), or None."""
    if not isinstance(schema, dict):
        return "must be a JSON object"
    found = [f"data{pointer(i.path)} {describe(i, brief=True)}" for i in issues(_META, schema)]
    problem = ", ".join(found) or next(_unusable(schema, schema), None)
    return f"is not a valid JSON Schema: {problem}" if problem else None


def _unusable(root: Schema, schema: Any) -> Iterator[str]:
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        if keyword not in _KEYWORDS:
            yield f'strict mode: unknown keyword: "{keyword}"'
        elif keyword == "pattern":
            yield from _bad_pattern(value)
        elif keyword == "$ref" and resolve(root, value) is None:
            yield f"can't resolve reference {value} from id #"
        elif keyword in _MAPS:
            for part in value.values():
                yield from _unusable(root, part)
        elif keyword in _ONE + _SEVERAL:
            for part in value if isinstance(value, list) else [value]:
                yield from _unusable(root, part)


def _bad_pattern(pattern: str) -> Iterator[str]:
    try:
        re.compile(pattern)
    except re.error as error:
        yield f"Invalid regular expression: {error}"


_SELF = {"$ref": "#"}
_LIST = {"type": "array", "minItems": 1, "items": _SELF}
_MAP = {"type": "object", "additionalProperties": _SELF}
_COUNT = {"type": "integer", "minimum": 0}
_NUMBER = {"type": "number"}
_TEXT = {"type": "string"}
_TYPE_NAMES = {"enum": ["array", "boolean", "integer", "null", "number", "object", "string"]}
_TYPE = {"anyOf": [_TYPE_NAMES, {"type": "array", "items": _TYPE_NAMES, "minItems": 1, "uniqueItems": True}]}

_MAPS = ("properties", "patternProperties", "$defs", "definitions")
_ONE = ("items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else")
_SEVERAL = ("anyOf", "oneOf", "allOf", "prefixItems")
_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_TEXTS = ("$ref", "pattern", "format", "title", "description", "$comment", "$id", "$schema")
_FREE = ("default", "const", "examples", "readOnly", "writeOnly", "deprecated", "nullable", "dependencies")

_META: Schema = {
    "type": ["object", "boolean"],
    "properties": {
        "type": _TYPE,
        "enum": {"type": "array"},
        "required": {"type": "array", "items": _TEXT, "uniqueItems": True},
        "uniqueItems": {"type": "boolean"},
        **dict.fromkeys(_MAPS, _MAP),
        **dict.fromkeys(_ONE, _SELF),
        **dict.fromkeys(_SEVERAL, _LIST),
        **dict.fromkeys(_COUNTS, _COUNT),
        **dict.fromkeys(_NUMBERS, _NUMBER),
        **dict.fromkeys(_TEXTS, _TEXT),
    },
}
_KEYWORDS = frozenset(_META["properties"]) | frozenset(_FREE)
