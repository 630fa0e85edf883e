from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.foundation.jsonpatch import Change, append, delete, difference, patch, put, remove, same
from forge.foundation.jsontext import JsonError, member, parse

PRETTY = """{
    "z": 1.0,
    "a": {
        "n": 1e3,
        "big": 123456789012345678901234567890,
        "s": "\\u00e9 \\/ é"
    },
    "list": [
        "x"
    ],
    "inline": [1, 2],
    "dup": 1,
    "dup": 2
}
"""


@pytest.mark.parametrize(
    ("old", "change", "new"),
    [
        ('{"a": 1}', put(("a",), 2), '{"a": 2}'),
        ('{"a":1}', put(("b",), 2), '{"a":1,"b":2}'),
        ('{"a": 1}', put(("b",), [1, {"c": 2}]), '{"a": 1, "b": [1, {"c": 2}]}'),
        ('{"a":1,"b":2}', put(("c",), [1, {"c": 2}]), '{"a":1,"b":2,"c":[1,{"c":2}]}'),
        ('{ "a": 1 }', put(("b",), 2), '{ "a": 1, "b": 2 }'),
        ("{}", put(("a",), 1), '{\n  "a": 1\n}'),
        ("", put(("a",), 1), '{\n  "a": 1\n}\n'),
        ("\ufeff", put(("a",), 1), '\ufeff{\n  "a": 1\n}\n'),
        ("{}\n", put(("a", "b"), {"c": []}), '{\n  "a": {\n    "b": {\n      "c": []\n    }\n  }\n}\n'),
        ('{\n\t"a": {}\n}', put(("a", "b"), 1), '{\n\t"a": {\n\t\t"b": 1\n\t}\n}'),
        ('{\r\n  "a": 1\r\n}', put(("b",), [1]), '{\r\n  "a": 1,\r\n  "b": [\r\n    1\r\n  ]\r\n}'),
        ('{\n"a": 1\n}', put(("b",), 2), '{\n"a": 1,\n"b": 2\n}'),
        ('{"a" : 1}', put(("b",), 2), '{"a" : 1, "b" : 2}'),
        ('{"a": 1, "a": 2}', put(("a",), 3), '{"a": 1, "a": 3}'),
        ('{"a": 1, "a": 2, "b": 3}', delete(("a",)), '{"b": 3}'),
        ('{"b": 3, "a": 1, "a": 2}', delete(("a",)), '{"b": 3}'),
        ('{\n  "a": 1,\n  "b": 2\n}', delete(("b",)), '{\n  "a": 1\n}'),
        ('{\n  "a": 1,\n  "b": 2\n}', delete(("a",)), '{\n  "b": 2\n}'),
        ('{\n  "a": 1\n}\n', delete(("a",)), "{}\n"),
        ('{"a": {"b": 1}}', delete(("a", "b")), '{"a": {}}'),
        ('{"a": 1}', delete(("x", "y")), '{"a": 1}'),
        ('{"a": ["x"]}', append(("a",), ["x", "y"]), '{"a": ["x", "y"]}'),
        ('{"a": []}', append(("a",), ["x"]), '{"a": ["x"]}'),
        ('{\n "a": []\n}', append(("a",), ["x", "y"]), '{\n "a": [\n  "x",\n  "y"\n ]\n}'),
        ("{}", append(("a", "b"), ["x"]), '{\n  "a": {\n    "b": [\n      "x"\n    ]\n  }\n}'),
        ('{"a": [1, true, 1.0]}', append(("a",), [1, True, False]), '{"a": [1, true, 1.0, false]}'),
        ('{"a": ["x", "y", "x"]}', remove(("a",), ["x"]), '{"a": ["y"]}'),
        ('{"a": ["x"]}', remove(("a",), ["x"]), '{"a": []}'),
        ('{"a": 1}', remove(("b",), ["x"]), '{"a": 1}'),
        ('{"a": 1.0}', put(("a",), 1), '{"a": 1.0}'),
        ('{"a": 1}', put(("a",), True), '{"a": true}'),
        ('{"a": {"x": 1, "y": 2}}', put(("a",), {"y": 3, "z": 4}), '{"a": {"y": 3, "z": 4}}'),
        ('{"a": [1, 2]}', put(("a",), [1, 2, 2]), '{"a": [1, 2, 2]}'),
        ('{"a": [1, 2]}', put(("a",), [2]), '{"a": [2]}'),
        ("{}", put(('k"\n\ud800',), "é\u2028"), '{\n  "k\\"\\n\\ud800": "é\u2028"\n}'),
    ],
)
def test_change_touches_only_its_key(old: str, change: Change, new: str) -> None:
    assert patch(old, [change]) == new


@pytest.mark.requirement("S0-05")
def test_pretty_file_keeps_every_other_spelling() -> None:
    changes = [
        put(("a", "new"), {"k": 1}),
        append(("list",), ["y"]),
        append(("inline",), [3]),
        put(("dup",), 9),
    ]
    assert patch(PRETTY, changes) == (
        PRETTY.replace('\\/ é"\n', '\\/ é",\n        "new": {\n            "k": 1\n        }\n')
        .replace('"x"\n', '"x",\n        "y"\n')
        .replace("[1, 2]", "[1, 2, 3]")
        .replace('"dup": 2', '"dup": 9')
    )


@pytest.mark.parametrize(
    ("old", "change", "message", "position"),
    [
        ('{"a": 1}', put(("a", "b"), 1), "expected an object at a", 6),
        ("[]", put(("a",), 1), "expected an object at the top level", 0),
        ('{"a": {}}', append(("a",), [1]), "expected a list at a", 6),
        ('{"a": 1,}', put(("a",), 2), "a comma before the closing bracket is not allowed", 7),
    ],
)
def test_impossible_change_says_where(old: str, change: Change, message: str, position: int) -> None:
    with pytest.raises(JsonError) as caught:
        patch(old, [change])
    assert (caught.value.message, caught.value.position) == (message, position)


def test_infinite_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        patch("{}", [put(("a",), float("inf"))])


SCALARS = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)


@st.composite
def documents(draw: st.DrawFn) -> tuple[dict[str, Any], str]:
    """An object and a text for it in one of many styles."""
    data = draw(OBJECTS)
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    separators = draw(st.sampled_from([None, (",", ":"), (", ", ": "), (",", " : ")]))
    text = json.dumps(data, indent=indent, separators=separators, ensure_ascii=draw(st.booleans()))
    text = draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", "\n", " \n\n"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return data, text


def load(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


@settings(max_examples=150, deadline=None)
@given(documents(), st.text(max_size=4), VALUES)
def test_put_is_a_dictionary_update_that_leaves_the_rest_alone(
    document: tuple[dict[str, Any], str], key: str, value: Any
) -> None:
    data, text = document
    new = patch(text, [put((key,), value)])
    assert same(load(new), {**data, key: value})
    assert patch(new, [put((key,), value)]) == new
    root = parse(text)
    found = member(root, key)
    if found is not None and not same(data[key], value):
        start, end = found.value.start, found.value.end
    elif found is None and root.members:
        start = end = root.members[-1].value.end
    elif found is None:
        start, end = root.start, root.end
    else:
        assert new == text
        return
    assert new[:start] == text[:start]
    assert new.endswith(text[end:])


@settings(max_examples=100, deadline=None)
@given(documents(), st.data())
def test_delete_leaves_the_other_members_as_they_were(
    document: tuple[dict[str, Any], str], choice: st.DataObject
) -> None:
    data, text = document
    key = choice.draw(st.sampled_from([*data, "missing"]))
    new = patch(text, [delete((key,))])
    assert same(load(new), {k: v for k, v in data.items() if k != key})
    for kept in parse(text).members:
        assert kept.key == key or text[kept.key_start : kept.value.end] in new


@settings(max_examples=100, deadline=None)
@given(documents(), OBJECTS)
def test_difference_turns_one_object_into_the_other(
    document: tuple[dict[str, Any], str], wanted: dict[str, Any]
) -> None:
    data, text = document
    assert same(load(patch(text, difference(data, wanted))), wanted)


@settings(max_examples=100, deadline=None)
@given(st.lists(SCALARS, max_size=4), st.lists(SCALARS, max_size=4), st.sampled_from([None, 2, "\t"]))
def test_append_adds_only_what_is_missing(have: list[Any], more: list[Any], indent: int | str | None) -> None:
    text = json.dumps({"list": have, "after": 1}, indent=indent)
    expected = list(have)
    for value in more:
        if not any(same(value, other) for other in expected):
            expected.append(value)
    assert same(load(patch(text, [append(("list",), more)])), {"list": expected, "after": 1})
