from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.foundation.plainyaml import read_plain
from forge.foundation.yaml12 import YamlError, load

PIECES = [
    "a",
    "b1",
    "name",
    "tools",
    "true",
    "no",
    ":",
    ": ",
    " ",
    "-",
    "- ",
    "\n",
    "\r\n",
    "#",
    " #",
    '"',
    "'",
]
PIECES += [
    "[",
    "]",
    ",",
    ", ",
    "{",
    "}",
    "12",
    "0x1F",
    "1.5",
    "~",
    "\\",
    "|",
    ">",
    "&x",
    "*",
    "!",
    "%",
    "?",
    ".",
]
PIECES += [
    "é",
    "\t",
    "\u2028",
    "\x85",
    "...",
    "null",
    "key: ",
    "\nk: ",
    "\n- ",
    "\n  - ",
    "@",
    "`",
    "=",
    "<<",
]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_what_is_read_plainly_is_what_the_parser_reads(raw: str) -> None:
    plain = read_plain(raw)
    if plain is None:
        return
    try:
        values, lines = load(raw)
    except YamlError as error:
        pytest.fail(f"{raw!r} is not YAML: {error}")
    assert plain == (values or {}, lines)


@pytest.mark.parametrize(
    ("raw", "values", "lines"),
    [
        ("", {}, {}),
        ("a: b c\n\nd: 5\r\n", {"a": "b c", "d": 5}, {"a": 1, "d": 3}),
        ("a: \"x: y\"\nb: 'it # is'  \n", {"a": "x: y", "b": "it # is"}, {"a": 1, "b": 2}),
        ("a: true\nb:\nc: ~", {"a": True, "b": None, "c": None}, {"a": 1, "b": 2, "c": 3}),
        ("a: [Read, \"b, c\", 'd', 5]\n", {"a": ["Read", "b, c", "d", 5]}, {"a": 1}),
        ("a: []\n", {"a": []}, {"a": 1}),
        (
            "a:\n  - Read\n  - Bash(git add:*)\nb: 1\n",
            {"a": ["Read", "Bash(git add:*)"], "b": 1},
            {"a": 1, "b": 4},
        ),
        ("a:\n- x\n- y\n", {"a": ["x", "y"]}, {"a": 1}),
        ("a: 1\na: 2\n", {"a": 2}, {"a": 2}),
    ],
)
def test_simple_blocks_need_no_parser(raw: str, values: dict[str, Any], lines: dict[str, int]) -> None:
    assert read_plain(raw) == (values, lines)


@pytest.mark.parametrize(
    "raw",
    [
        "a: b: c\n",
        "a: b # c\n",
        "a: |\n  x\n",
        "a: one\n  two\n",
        "a: {b: c}\n",
        "a: *x\n",
        'a: "b\\n"\n',
        "a:\tb\n",
        "- a\n",
        "true: 1\n",
        "a:\n  b: c\n",
        "a: b:\n",
    ],
)
def test_everything_else_is_left_to_the_parser(raw: str) -> None:
    assert read_plain(raw) is None
