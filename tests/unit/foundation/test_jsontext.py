from __future__ import annotations

import json
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.foundation.jsontext import JsonError, find, line_column, parse, place, value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        (' \r\n\t[1, -0, 1.5, 1e3, "a"]\n', [1, 0, 1.5, 1000.0, "a"]),
        ('{"a": true, "b": false, "c": null}', {"a": True, "b": False, "c": None}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        (r'"\" \\ \/ \b\f\n\r\t A"', '" \\ / \b\f\n\r\t A'),
        (r'"\ud83d\ude00"', "😀"),
        (r'"a\ud800b"', "a�b"),
        ("123456789012345678901234567890", 123456789012345678901234567890),
        ("\ufeff[]", []),
    ],
)
def test_valid_text_gives_its_value(text: str, value: object) -> None:
    assert value_of(text, parse(text)) == value


@pytest.mark.parametrize(
    ("text", "message", "line", "column"),
    [
        ('{"a": 1,}', "a comma before the closing bracket is not allowed", 1, 8),
        ('{\n  // no\n  "a": 1}', "comments are not allowed", 2, 3),
        ("{'a': 1}", "expected a key in double quotes", 1, 2),
        ('{"a" 1}', "expected a colon after the key", 1, 6),
        ('{"a": 1 "b": 2}', "expected a comma or }", 1, 9),
        ('{"a": 1', "the file ends too early: expected a comma or }", 1, 8),
        ('{"a": ', "the file ends too early: expected a value", 1, 7),
        ('{"a": nope}', "expected a value", 1, 7),
        (
            '["line\nbreak"]',
            "the string is not closed, or has an invalid escape or control character",
            1,
            2,
        ),
        ("[1] x", "unexpected text after the end of the document", 1, 5),
        ("\ufeff[1,]", "a comma before the closing bracket is not allowed", 1, 3),
        ("[" * 300, "nested too deeply", 1, 202),
        ("", "the file ends too early: expected a value", 1, 1),
    ],
)
def test_broken_text_names_the_mistake_and_its_place(text: str, message: str, line: int, column: int) -> None:
    with pytest.raises(JsonError) as caught:
        parse(text)
    assert (caught.value.message, line_column(text, caught.value.position)) == (message, (line, column))


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ((), (1, 1)),
        (("a",), (2, 8)),
        (("a", "b", "1"), (3, 14)),
        (("a", "b", "7"), (3, 10)),
        (("a", "missing"), (2, 8)),
        (("twice",), (6, 12)),
    ],
)
def test_place_is_the_value_or_its_nearest_container(path: tuple[str, ...], where: tuple[int, int]) -> None:
    text = '{\n  "a": {\n    "b": [1, 2]\n  },\n  "twice": 1,\n  "twice": 2\n}'
    assert place(text, path) == where


def test_find_gives_nothing_for_an_unknown_path() -> None:
    assert find(parse('{"a": [1]}'), ("a", "x")) is None


def _refuse(word: str) -> NoReturn:
    raise ValueError(word)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet='{}[]",: \n\\u0012d8etrufalsn-+.E/', max_size=25))
def test_parser_agrees_with_the_standard_library_on_any_text(text: str) -> None:
    expected: Any = None
    try:
        expected = json.loads(text, parse_constant=_refuse)
        valid = True
    except ValueError:
        valid = False
    try:
        tree = parse(text)
    except JsonError:
        assert not valid
        return
    assert valid
    found = value_of(text, tree)
    # Halves of surrogate pairs are the one thing read differently.
    assert found == expected or "\\ud8" in text.lower()
