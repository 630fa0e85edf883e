"""What a JSON value must look like, as data, and the check of a value against it.

Messages and the rule for alternatives are those of the reference: an alternative of the right type reports
its own problems, otherwise all one learns is `Invalid input`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

Path = tuple[str, ...]


class Finding(msgspec.Struct, frozen=True):
    """Something a validator says about one place of a file."""

    path: str
    message: str
    code: str | None = None

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


class Issue(msgspec.Struct, frozen=True):
    """A problem at a path; a `firm` one says that the value is of another type altogether."""

    path: Path
    message: str
    firm: bool = True


Rule = Callable[[Any], list[Issue]]


class Shape(msgspec.Struct, frozen=True):
    """A type, what is inside, and rules for values of that type (their paths start at the value)."""

    kind: str  # string number integer boolean array object record one_of any, or choice
    items: Shape | None = None
    keys: dict[str, Shape] = {}
    required: tuple[str, ...] = ()
    strict: bool = False
    options: tuple[Shape, ...] = ()
    values: tuple[str, ...] = ()
    key_rule: Callable[[str], bool] | None = None
    rules: tuple[Rule, ...] = ()


ANY = Shape("any")
STRING = Shape("string")
BOOLEAN = Shape("boolean")
NUMBER = Shape("number")
STRINGS = Shape("array", items=STRING)
STRING_MAP = Shape("record", items=STRING)

_ABSENT: Any = object()


def check(value: Any, shape: Shape) -> list[Finding]:
    """Everything wrong with a value, in the order of the shape."""
    return [Finding(".".join(i.path), i.message) for i in issues(value, shape, ())]


def issues(value: Any, shape: Shape, path: Path) -> list[Issue]:
    """The problems of a value, with their paths below `path`."""
    found = _CHECKS[shape.kind](value, shape, path)
    if not shape.rules or any(issue.firm for issue in found):
        return found
    own = [Issue((*path, *i.path), i.message, i.firm) for rule in shape.rules for i in rule(value)]
    return found + own if own else found


def soft(message: str, *path: str) -> list[Issue]:
    """One problem of a value that has the right type."""
    return [Issue(path, message, firm=False)]


def kind_of(value: Any) -> str:
    """The name of a value's type as messages spell it."""
    if value is _ABSENT:
        return "undefined"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    names: list[tuple[type, str]] = [(str, "string"), (int, "number"), (float, "number"), (list, "array")]
    return next((name for kind, name in names if isinstance(value, kind)), "object")


def prefix(start: str) -> Rule:
    """The text must begin with this."""
    return lambda text: [] if text.startswith(start) else soft(f'Invalid string: must start with "{start}"')


def suffix(end: str) -> Rule:
    """The text must end with this."""
    return lambda text: [] if text.endswith(end) else soft(f'Invalid string: must end with "{end}"')


def filled(message: str = "Too small: expected string to have >=1 characters") -> Rule:
    """The text must not be empty."""
    return lambda text: [] if text else soft(message)


def least(limit: int, *, beyond: bool = False) -> Rule:
    """The number must be at least this, or greater."""
    sign = ">" if beyond else ">="
    message = f"Too small: expected number to be {sign}{limit}"
    return lambda number: [] if (number > limit if beyond else number >= limit) else soft(message)


def one_of(*options: Shape, rules: tuple[Rule, ...] = ()) -> Shape:
    """Any of these alternatives."""
    return Shape("one_of", options=options, rules=rules)


def text(*rules: Rule) -> Shape:
    """A string with rules."""
    return Shape("string", rules=rules)


def choice(words: str) -> Shape:
    """One of some words."""
    return Shape("choice", values=tuple(words.split()))


def _typed(kinds: tuple[type, ...], expected: str) -> Callable[[Any, Shape, Path], list[Issue]]:
    def typed(value: Any, _shape: Shape, path: Path) -> list[Issue]:
        right = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        return [] if right else [_mismatch(value, expected, path)]

    return typed


def _mismatch(value: Any, expected: str, path: Path) -> Issue:
    return Issue(path, f"Invalid input: expected {expected}, received {kind_of(value)}")


def _array(value: Any, shape: Shape, path: Path) -> list[Issue]:
    if not isinstance(value, list):
        return [_mismatch(value, "array", path)]
    if shape.items is None:
        return []
    return [i for n, item in enumerate(value) for i in issues(item, shape.items, (*path, str(n)))]


def _object(value: Any, shape: Shape, path: Path) -> list[Issue]:
    if not isinstance(value, dict):
        return [_mismatch(value, "object", path)]
    found: list[Issue] = []
    for key, inner in shape.keys.items():
        if key in value:
            found += issues(value[key], inner, (*path, key))
        elif key in shape.required:
            found += issues(_ABSENT, inner, (*path, key))
    unknown = [key for key in value if key not in shape.keys] if shape.strict else []
    if unknown:
        names = ", ".join(f'"{key}"' for key in unknown)
        found.append(Issue(path, f"Unrecognized key{'s' if unknown[1:] else ''}: {names}", firm=False))
    return found


def _record(value: Any, shape: Shape, path: Path) -> list[Issue]:
    if not isinstance(value, dict):
        return [_mismatch(value, "record", path)]
    found: list[Issue] = []
    for key, item in value.items():
        if shape.key_rule is not None and not shape.key_rule(key):
            found.append(Issue((*path, key), "Invalid key in record"))
        elif shape.items is not None:
            found += issues(item, shape.items, (*path, key))
    return found


def _one_of(value: Any, shape: Shape, path: Path) -> list[Issue]:
    fitting = []
    for option in shape.options:
        found = issues(value, option, path)
        if not found:
            return []
        if not any(issue.firm for issue in found):
            fitting.append(found)
    return fitting[0] if len(fitting) == 1 else [Issue(path, "Invalid input")]


def _choice(value: Any, shape: Shape, path: Path) -> list[Issue]:
    if value in shape.values:
        return []
    if len(shape.values) == 1:
        return [Issue(path, f'Invalid input: expected "{shape.values[0]}"')]
    names = "|".join(f'"{word}"' for word in shape.values)
    return [Issue(path, f"Invalid option: expected one of {names}")]


_CHECKS: dict[str, Callable[[Any, Shape, Path], list[Issue]]] = {
    "any": lambda _value, _shape, _path: [],
    "string": _typed((str,), "string"),
    "number": _typed((int, float), "number"),
    "integer": _typed((int,), "int"),
    "boolean": _typed((bool,), "boolean"),
    "array": _array,
    "object": _object,
    "record": _record,
    "one_of": _one_of,
    "choice": _choice,
}
