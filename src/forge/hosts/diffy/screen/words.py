"""Which parts of a changed line are different: compared by words, so that the eye finds the change."""

from __future__ import annotations

import re
from difflib import SequenceMatcher
from functools import lru_cache

Spans = tuple[tuple[int, int], ...]

_MOST_CHARACTERS = 500
_MOST_TOKENS = 200
# Below this the lines have nothing to do with each other, and marking all of them says nothing.
_LIKENESS = 0.35
# Scripts without spaces by character; what is drawn as one character is never cut.
_TOKEN = re.compile(
    "[\u3040-\u30ff\u3400-\u9fff]|[\U0001f1e6-\U0001f1ff]{2}|\\w+|\\s+|"
    ".(?:\u200d.|[\ufe0f\u20e3\u0300-\u036f\U0001f3fb-\U0001f3ff])*",
    re.DOTALL,
)


@lru_cache(maxsize=2048)
def different(old: str, new: str) -> tuple[Spans, Spans]:
    """The parts of the old and of the new line that differ; none if the lines are too long or too unlike."""
    if len(old) > _MOST_CHARACTERS or len(new) > _MOST_CHARACTERS:
        return (), ()
    left, right = _TOKEN.findall(old), _TOKEN.findall(new)
    if max(len(left), len(right)) > _MOST_TOKENS:
        return (), ()
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    if matcher.quick_ratio() < _LIKENESS:
        return (), ()
    olds: list[tuple[int, int]] = []
    news: list[tuple[int, int]] = []
    same = 0
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            same += sum(map(len, left[a:b]))
            continue
        _add(olds, left, a, b)
        _add(news, right, c, d)
    if 2 * same < _LIKENESS * (len(old) + len(new)):
        return (), ()
    return tuple(olds), tuple(news)


def _add(spans: list[tuple[int, int]], tokens: list[str], first: int, end: int) -> None:
    if first == end:
        return
    start = sum(map(len, tokens[:first]))
    spans.append((start, start + sum(map(len, tokens[first:end]))))


def partner(kinds: str, index: int) -> int:
    """The line of a body that stands opposite to a changed one; -1 if there is none."""
    first = kinds.rfind(" ", 0, index) + 1
    end = kinds.find(" ", index)
    end = len(kinds) if end < 0 else end
    removed = kinds.count("-", first, end)
    if kinds.find("+", first, first + removed) >= 0:
        return -1  # not all removed lines come first
    if kinds[index] == "-":
        other = index + removed
        return other if other < end else -1
    other = index - removed
    return other if other < first + removed else -1


def only_spaces(old: list[str], new: list[str]) -> bool:
    """Whether two versions differ in white space alone."""
    return "".join("".join(old).split()) == "".join("".join(new).split())
