from __future__ import annotations

from typing import Any

import pytest

from forge.core.schema import converted, issues, normalize
from forge.core.schema_check import check_schema
from forge.core.schema_text import input_error, output_error

GREP = {
    "type": "object",
    "properties": {
        "pattern": {"type": "string"},
        "path": {"type": "string"},
        "output_mode": {"type": "string", "enum": ["content", "files_with_matches", "count"]},
        "-A": {"type": "number"},
        "-n": {"type": "boolean"},
    },
    "required": ["pattern"],
    "additionalProperties": False,
}
READ = {
    "type": "object",
    "properties": {
        "file_path": {"type": "string"},
        "offset": {"type": "integer", "minimum": 0},
        "limit": {"type": "integer", "exclusiveMinimum": 0},
        "pages": {"type": "string"},
        "allow_large": {"type": "boolean"},
    },
    "required": ["file_path"],
    "additionalProperties": False,
}
EDIT = {
    "type": "object",
    "properties": {"file_path": {"type": "string"}, "replace_all": {"type": "boolean", "default": False}},
    "required": ["file_path"],
    "additionalProperties": False,
}
ASK = {
    "type": "object",
    "properties": {
        "questions": {
            "type": "array",
            "minItems": 1,
            "maxItems": 4,
            "items": {
                "type": "object",
                "properties": {
                    "header": {"type": "string"},
                    "options": {
                        "type": "array",
                        "minItems": 2,
                        "items": {
                            "type": "object",
                            "properties": {"label": {"type": "string"}, "description": {"type": "string"}},
                            "required": ["label", "description"],
                        },
                    },
                },
                "required": ["header", "options"],
            },
        }
    },
    "required": ["questions"],
}
SEARCH = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 2},
        "domains": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["query"],
}
ACTION = {"type": "object", "properties": {"action": {"enum": ["keep", "remove"]}}, "required": ["action"]}
WAIT = {"type": "object", "properties": {"ms": {"type": "number", "minimum": 1000, "maximum": 3600}}}
UNION = {
    "type": "object",
    "properties": {"id": {"type": "string"}, "status": {"anyOf": [{"enum": ["a", "b"]}, {"const": "gone"}]}},
}


@pytest.mark.parametrize(
    ("schema", "value", "lines"),
    [
        (GREP, {}, ["The required parameter `pattern` is missing"]),
        (
            GREP,
            {"pattern": 5},
            ["The parameter `pattern` type is expected as `string` but provided as `number`"],
        ),
        (
            GREP,
            {"pattern": None},
            ["The parameter `pattern` type is expected as `string` but provided as `null`"],
        ),
        (
            GREP,
            {"pattern": ["a"]},
            ["The parameter `pattern` type is expected as `string` but provided as `array`"],
        ),
        (
            GREP,
            {"-n": "x", "zz": 1, "yy": 2},
            [
                "The required parameter `pattern` is missing",
                "An unexpected parameter `zz` was provided",
                "An unexpected parameter `yy` was provided",
                "The parameter `-n` type is expected as `boolean` but provided as `string`",
            ],
        ),
        (
            GREP,
            {"pattern": 5, "output_mode": 7, "path": [], "-A": {}},
            [
                "The parameter `pattern` type is expected as `string` but provided as `number`",
                "The parameter `path` type is expected as `string` but provided as `array`",
                "The parameter `-A` type is expected as `number` but provided as `object`",
                "The parameter `output_mode` is invalid: Invalid option: expected one of "
                '"content"|"files_with_matches"|"count"',
            ],
        ),
        (
            READ,
            {"file_path": "a", "offset": 1.5},
            ["The parameter `offset` type is expected as `int` but provided as `number`"],
        ),
        (
            READ,
            {"file_path": "a", "offset": True},
            ["The parameter `offset` type is expected as `number` but provided as `boolean`"],
        ),
        (
            SEARCH,
            {"query": "abc", "domains": ["a", 5, None]},
            [
                "The parameter `domains[1]` type is expected as `string` but provided as `number`",
                "The parameter `domains[2]` type is expected as `string` but provided as `null`",
            ],
        ),
        (
            ASK,
            {"questions": [{"header": "h", "options": [{"label": 5}]}]},
            [
                "The required parameter `questions[0].options[0].description` is missing",
                "The parameter `questions[0].options[0].label` type is expected as `string` "
                "but provided as `number`",
                "The parameter `questions[0].options` is invalid: "
                "Too small: expected array to have >=2 items",
            ],
        ),
        (
            UNION,
            {"id": 1, "status": 5},
            [
                "The parameter `id` type is expected as `string` but provided as `number`",
                "The parameter `status` matches none of the accepted forms",
            ],
        ),
    ],
)
def test_input_that_does_not_fit_is_listed_in_the_observed_words(
    schema: dict[str, Any], value: dict[str, Any], lines: list[str]
) -> None:
    noun = "issue" if len(lines) == 1 else "issues"
    expected = "\n".join([f"InputValidationError: Tool failed due to the following {noun}:", *lines])
    assert input_error("Tool", issues(schema, value))[0] == expected


BAD_BASH_DATA = """InputValidationError: [
  {
    "expected": "string",
    "code": "invalid_type",
    "path": [
      "pattern"
    ],
    "message": "Invalid input: expected string, received undefined"
  },
  {
    "code": "unrecognized_keys",
    "keys": [
      "cmd",
      "foo"
    ],
    "path": [],
    "message": "Unrecognized keys: \\"cmd\\", \\"foo\\""
  }
]"""

OPTION_DATA = """InputValidationError: [
  {
    "code": "invalid_value",
    "values": [
      "keep",
      "remove"
    ],
    "path": [
      "action"
    ],
    "message": "Invalid option: expected one of \\"keep\\"|\\"remove\\""
  }
]"""

SMALL_DATA = """InputValidationError: [
  {
    "origin": "number",
    "code": "too_small",
    "minimum": 1000,
    "inclusive": true,
    "path": [
      "ms"
    ],
    "message": "Too small: expected number to be >=1000"
  }
]"""


@pytest.mark.parametrize(
    ("schema", "value", "data"),
    [
        (GREP, {"cmd": "x", "foo": 1}, BAD_BASH_DATA),
        (ACTION, {}, OPTION_DATA),
        (ACTION, {"action": "x"}, OPTION_DATA),
        (WAIT, {"ms": 5}, SMALL_DATA),
    ],
)
def test_hosts_get_the_issues_as_indented_json(
    schema: dict[str, Any], value: dict[str, Any], data: str
) -> None:
    assert input_error("Tool", issues(schema, value))[1] == data


@pytest.mark.parametrize("value", [{"action": "x"}, {}])
def test_issues_without_a_sentence_of_their_own_are_shown_as_json(value: dict[str, Any]) -> None:
    assert input_error("ExitWorktree", issues(ACTION, value)) == (OPTION_DATA, OPTION_DATA)


OUTPUT = {
    "type": "object",
    "properties": {
        "n": {"type": "integer", "minimum": 1, "maximum": 9},
        "s": {"type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"},
        "e": {"enum": ["a", "b"]},
        "c": {"const": 5},
        "l": {
            "type": "array",
            "items": {"type": "string"},
            "minItems": 1,
            "maxItems": 2,
            "uniqueItems": True,
        },
        "o": {
            "type": "object",
            "properties": {
                "x": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 5, "multipleOf": 0.5}
            },
            "required": ["x"],
            "additionalProperties": False,
        },
        "u": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        "v": {"oneOf": [{"type": "string"}, {"minLength": 1}]},
        "w": {"allOf": [{"type": "string"}, {"minLength": 3}]},
        "z": {"not": {"type": "string"}},
        "t": {"type": ["string", "null"]},
        "r": {"$ref": "#/$defs/R"},
        "b": {"type": "boolean"},
        "nul": {"type": "null"},
        "f": {"type": "string", "format": "date"},
        "m": {"type": "object", "minProperties": 1, "maxProperties": 2},
        "ap": {"type": "object", "additionalProperties": {"type": "integer"}},
        "a/b": {"type": "integer"},
    },
    "required": ["n"],
    "additionalProperties": False,
    "$defs": {"R": {"type": "integer"}},
}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({}, "root: must have required property 'n'"),
        ({"n": "x"}, "/n: must be integer"),
        ({"n": 1.5}, "/n: must be integer"),
        ({"n": 0}, "/n: must be >= 1"),
        ({"n": 10}, "/n: must be <= 9"),
        (
            {"n": 1, "extra": 1, "extra2": 2},
            "root: must NOT have additional properties ('extra' is not allowed), "
            "root: must NOT have additional properties ('extra2' is not allowed)",
        ),
        ({"n": 1, "s": "abcde"}, "/s: must NOT have more than 4 characters (got 5)"),
        (
            {"n": 1, "s": "A"},
            '/s: must NOT have fewer than 2 characters (got 1), /s: must match pattern "^[a-z]+$"',
        ),
        ({"n": 1, "e": "z"}, '/e: must be equal to one of the allowed values: ["a","b"]'),
        ({"n": 1, "c": 6}, "/c: must be equal to constant: 5"),
        ({"n": 1, "l": []}, "/l: must NOT have fewer than 1 items (got 0)"),
        ({"n": 1, "l": ["a", "b", "c"]}, "/l: must NOT have more than 2 items (got 3)"),
        ({"n": 1, "l": ["a", "a"]}, "/l: must NOT have duplicate items (items ## 1 and 0 are identical)"),
        ({"n": 1, "l": [1]}, "/l/0: must be string"),
        ({"n": 1, "l": "x"}, "/l: must be array"),
        ({"n": 1, "o": {}}, "/o: must have required property 'x'"),
        ({"n": 1, "o": {"x": 0}}, "/o/x: must be > 0"),
        ({"n": 1, "o": {"x": 5}}, "/o/x: must be < 5"),
        ({"n": 1, "o": {"x": 1.3}}, "/o/x: must be multiple of 0.5"),
        ({"n": 1, "o": {"x": 1, "y": 2}}, "/o: must NOT have additional properties ('y' is not allowed)"),
        ({"n": 1, "u": True}, "/u: must be string, /u: must be number, /u: must match a schema in anyOf"),
        ({"n": 1, "v": "ab"}, "/v: must match exactly one schema in oneOf"),
        ({"n": 1, "w": "a"}, "/w: must NOT have fewer than 3 characters (got 1)"),
        ({"n": 1, "w": 5}, "/w: must be string"),
        ({"n": 1, "z": "s"}, "/z: must NOT be valid"),
        ({"n": 1, "t": 5}, "/t: must be string,null"),
        ({"n": 1, "r": "x"}, "/r: must be integer"),
        ({"n": 1, "nul": 0}, "/nul: must be null"),
        ({"n": 1, "m": {}}, "/m: must NOT have fewer than 1 properties (got 0)"),
        ({"n": 1, "m": {"a": 1, "b": 2, "c": 3}}, "/m: must NOT have more than 2 properties (got 3)"),
        ({"n": 1, "ap": {"q": "s"}}, "/ap/q: must be integer"),
        ({"n": 1, "a/b": "s"}, "/a~1b: must be integer"),
        ({"n": None, "s": 5, "b": 1}, "/n: must be integer, /s: must be string, /b: must be boolean"),
    ],
)
def test_output_that_does_not_fit_is_described_in_the_observed_words(
    value: dict[str, Any], text: str
) -> None:
    assert output_error(issues(OUTPUT, value)) == f"Output does not match required schema: {text}"


@pytest.mark.parametrize(
    "value", [{"n": 1}, {"n": 2.0}, {"n": 1, "f": "no date"}, {"n": 1, "v": 5}, {"n": 1, "l": ["1", "2"]}]
)
def test_output_that_fits_has_no_issues(value: dict[str, Any]) -> None:
    assert issues(OUTPUT, value) == []


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        (READ, {"file_path": "a", "offset": "3"}, {"file_path": "a", "offset": 3}),
        (READ, {"file_path": "a", "offset": "x"}, {"file_path": "a", "offset": "x"}),
        (READ, {"file_path": "a", "allow_large": "true"}, {"file_path": "a", "allow_large": True}),
        (READ, {"file_path": "5"}, {"file_path": "5"}),
        (READ, {"file_path": "a", "offset": -1, "limit": 0}, {"file_path": "a"}),
        (READ, {"file_path": "a", "other": "1"}, {"file_path": "a", "other": "1"}),
        (EDIT, {"file_path": "a"}, {"replace_all": False, "file_path": "a"}),
        (EDIT, {"file_path": "a", "replace_all": "true"}, {"replace_all": True, "file_path": "a"}),
        (GREP, {"pattern": "a", "-A": "2.5", "-n": "false"}, {"pattern": "a", "-A": 2.5, "-n": False}),
    ],
)
def test_loose_input_is_put_in_order_before_it_is_checked(
    schema: dict[str, Any], value: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert normalize(schema, value) == expected


_NO_TYPE = (
    "{0} must be equal to one of the allowed values, {0} must be array, {0} must match a schema in anyOf"
)


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({}, None),
        (OUTPUT, None),
        ({"anyOf": [{"type": "object"}]}, None),
        ({"type": "object", "properties": {"self": {"$ref": "#"}}}, None),
        ([], "must be a JSON object"),
        (True, "must be a JSON object"),
        ({"type": "objekt"}, "is not a valid JSON Schema: " + _NO_TYPE.format("data/type")),
        (
            {"type": "object", "properties": {"a": {"type": "strin"}}},
            "is not a valid JSON Schema: " + _NO_TYPE.format("data/properties/a/type"),
        ),
        ({"properties": 5}, "is not a valid JSON Schema: data/properties must be object"),
        ({"required": "x"}, "is not a valid JSON Schema: data/required must be array"),
        (
            {"properties": {"a": {"enum": 5}}},
            "is not a valid JSON Schema: data/properties/a/enum must be array",
        ),
        ({"items": {"minimum": "x"}}, "is not a valid JSON Schema: data/items/minimum must be number"),
        ({"foo": 1}, 'is not a valid JSON Schema: strict mode: unknown keyword: "foo"'),
        (
            {"properties": {"a": {"$ref": "#/nope"}}},
            "is not a valid JSON Schema: can't resolve reference #/nope from id #",
        ),
        (
            {"properties": {"a": {"pattern": "("}}},
            "is not a valid JSON Schema: Invalid regular expression: "
            "missing ), unterminated subpattern at position 0",
        ),
    ],
)
def test_a_schema_is_checked_before_use(schema: object, problem: str | None) -> None:
    assert check_schema(schema) == problem


def test_a_reference_to_itself_ends() -> None:
    assert issues({"$ref": "#"}, {"a": 1}) == []


@pytest.mark.parametrize(
    ("rule", "sent", "meant"),
    [
        ({"type": "integer"}, "-2", -2),
        ({"type": "integer"}, "1.5", "1.5"),
        ({"type": "number"}, "1.5", 1.5),
        ({"type": ["integer", "null"]}, "1", 1),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "1", 1),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "1", "1"),
        ({"type": "boolean"}, "True", "True"),
        ({"type": "array"}, ' [1, "2"]', [1, "2"]),
        ({"type": "array"}, "[1,", "[1,"),
        ({"type": "object", "properties": {}}, '{"a": "1"}', {"a": "1"}),
        ({"type": "object"}, '{"a": 1}', '{"a": 1}'),
    ],
)
def test_values_that_were_sent_as_text_become_what_the_schema_asks_for(
    rule: dict[str, Any], sent: str, meant: object
) -> None:
    assert converted({"properties": {"x": rule}}, {"x": sent, "y": "1"}) == {"x": meant, "y": "1"}


def test_shown_input_has_no_default_in_the_place_of_what_is_required() -> None:
    schema = {"properties": {"a": {}, "b": {"default": 1}, "c": {"default": 2}}, "required": ["a", "b"]}
    assert normalize(schema, {"a": 0}) == {"a": 0, "b": 1, "c": 2}
    assert normalize(schema, {"a": 0}, shown=True) == {"a": 0}
    assert normalize(schema, {"a": 0, "b": 3}, shown=True) == {"a": 0, "b": 3, "c": 2}
