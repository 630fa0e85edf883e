"""YAML 1.2 values from the events of PyYAML's fast parser; harmless for input of any size and depth."""

from __future__ import annotations

import re
from typing import Any

import yaml

from forge.foundation.scalar import as_text, resolve

MAX_DEPTH = 64
MAX_VALUES = 20_000

_UNREADABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NO_KEY: Any = object()


class YamlError(ValueError):
    """The text is not YAML, or larger inside than it looks; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class _Open:
    """A list or mapping whose end has not been reached."""

    __slots__ = ("anchor", "before", "key", "merged", "value")

    def __init__(self, value: Any, anchor: str | None, before: int) -> None:
        self.value = value
        self.anchor = anchor
        self.before = before
        self.key = _NO_KEY
        self.merged: list[Any] = []


class _Builder:
    """Puts events together to one value; counts what aliases would unfold to."""

    def __init__(self) -> None:
        self.stack: list[_Open] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.count = 0
        self.root: Any = None
        self.lines: dict[str, int] = {}

    def take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            value = _scalar(event)
            self._add(value, event, 1)
            if event.anchor:
                self.anchors[event.anchor] = (value, 1)
        elif kind is yaml.AliasEvent:
            if event.anchor not in self.anchors:
                raise YamlError(f"there is no anchor named {event.anchor}", _line(event))
            value, size = self.anchors[event.anchor]
            self._add(value, event, size)
        elif kind in (yaml.SequenceStartEvent, yaml.MappingStartEvent):
            self._open([] if kind is yaml.SequenceStartEvent else {}, event)
        elif kind in (yaml.SequenceEndEvent, yaml.MappingEndEvent):
            self._close(event)

    def _open(self, value: Any, event: Any) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise YamlError("nested too deeply", _line(event))
        self.stack.append(_Open(value, event.anchor, self.count))

    def _close(self, event: Any) -> None:
        done = self.stack.pop()
        for mapping in done.merged:
            for key, value in mapping.items():
                done.value.setdefault(key, value)
        if done.anchor:
            self.anchors[done.anchor] = (done.value, self.count - done.before + 1)
        self._add(done.value, event, 1)

    def _add(self, value: Any, event: Any, size: int) -> None:
        self.count += size
        if self.count > MAX_VALUES:
            raise YamlError("too many values", _line(event))
        if not self.stack:
            self.root = value
            return
        top = self.stack[-1]
        if isinstance(top.value, list):
            top.value.append(value)
        elif top.key is _NO_KEY:
            top.key = _key(value)
            if len(self.stack) == 1:
                self.lines[top.key] = _line(event)
        else:
            _store(top, value)
            top.key = _NO_KEY


def load(text: str) -> tuple[Any, dict[str, int]]:
    """The value of the first document and the lines of its top-level keys; YamlError when it has none."""
    builder = _Builder()
    try:
        for event in yaml.parse(_UNREADABLE.sub(" ", text), Loader=_LOADER):
            if type(event) is yaml.DocumentEndEvent:
                break
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(str(error.problem or error.context), mark.line + 1 if mark else 1) from error
    except yaml.YAMLError as error:
        raise YamlError(str(error), 1) from error
    return builder.root, builder.lines


def _scalar(event: Any) -> Any:
    # Tags are dropped: what is not plain, or is marked as something, is the text it shows.
    plain = event.implicit[0] and not event.tag
    return resolve(event.value) if plain else event.value


def _store(top: _Open, value: Any) -> None:
    if top.key != "<<":
        top.value[top.key] = value
        return
    merged = value if isinstance(value, list) else [value]
    top.merged += [mapping for mapping in merged if isinstance(mapping, dict)]


def _key(value: Any) -> str:
    if isinstance(value, str):
        return value
    return (
        as_text(value) if isinstance(value, bool | int | float) else "null" if value is None else str(value)
    )


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
