"""What the page asks for and what it changes: routes to functions on the draft of one review."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec

from forge.core.review.draft import Comment, State
from forge.core.review.exchange import listing_json
from forge.core.review.model import ACCEPT, PENDING, REJECT
from forge.foundation.encode import NOT_JSON
from forge.hosts.diffy.sitting import Sitting
from forge.hosts.diffy.web.http import Wrong

_KINDS = {
    "": ("page.html", "text/html; charset=utf-8"),
    "page.js": ("page.js", "text/javascript; charset=utf-8"),
    "page.css": ("page.css", "text/css; charset=utf-8"),
}
_MOST_COMMENT = 20_000
T = TypeVar("T")


class Decided(msgspec.Struct, frozen=True):
    """A verdict for some hunks; an empty one takes it away."""

    hunks: Sequence[str]
    verdict: str


class Commented(msgspec.Struct, frozen=True):
    """A comment on a hunk, or on everything."""

    text: str
    hunk: str = ""
    path: str = ""


class Questioned(msgspec.Struct, frozen=True):
    """A hunk that becomes a question, or is none any more."""

    hunk: str


class Ended(msgspec.Struct, frozen=True):
    """The end of the review, and what becomes of hunks without a verdict."""

    rest: str


class Answers:
    """One review behind a page. `closed` says why there is nothing more to do."""

    def __init__(self, sitting: Sitting) -> None:
        self._sitting = sitting
        self._units = {unit.id: file.path for file in sitting.listing.files for unit in file.hunks}
        self.closed = ""

    def page(self, name: str) -> tuple[str, bytes] | None:
        """Kind and content of a part of the page."""
        if name not in _KINDS:
            return None
        file, kind = _KINDS[name]
        with open(os.path.join(os.path.dirname(__file__), file), "rb") as source:
            return kind, source.read()

    def get(self, name: str) -> bytes:
        """What the page wants to know."""
        if name == "review":
            state = self._sitting.state
            rest = {"root": state.root, "guard_ms": state.guard_ms, **self._marks()}
            return b'{"listing":%s,%s' % (listing_json(self._sitting.listing), _json(rest)[1:])
        if name == "state":
            return _json({"waiting": self._sitting.waiting, "closed": self.closed})
        raise Wrong(404, "nothing here")

    def post(self, name: str, body: bytes) -> bytes:
        """What the page changes; everything is kept before it is answered."""
        if self.closed:
            raise Wrong(409, self.closed)
        changes: dict[str, Callable[[bytes], str]] = {
            "decide": self._decide,
            "comment": self._comment,
            "question": self._question,
            "undo": self._undo,
            "redo": self._redo,
        }
        if name == "finish":
            return self._finish(body)
        if name not in changes:
            raise Wrong(404, "nothing here")
        at = changes[name](body)
        self._sitting.save()
        return _json({**self._marks(), "at": at})

    def _decide(self, body: bytes) -> str:
        asked = _read(body, Decided)
        if asked.verdict not in (ACCEPT, REJECT, ""):
            raise Wrong(400, "no such verdict")
        self._sitting.draft.decide([self._known(hunk) for hunk in asked.hunks], asked.verdict)
        return ""

    def _comment(self, body: bytes) -> str:
        asked = _read(body, Commented)
        path = self._units[self._known(asked.hunk)] if asked.hunk else ""
        self._sitting.draft.comment(Comment(asked.text[:_MOST_COMMENT], path, asked.hunk))
        return ""

    def _question(self, body: bytes) -> str:
        hunk = self._known(_read(body, Questioned).hunk)
        draft = self._sitting.draft
        draft.ask(hunk, on=draft.state(hunk) is not State.ASKED)
        return ""

    def _undo(self, _: bytes) -> str:
        return next(iter(self._sitting.draft.undo()[1]), "")

    def _redo(self, _: bytes) -> str:
        return next(iter(self._sitting.draft.redo()[1]), "")

    def _finish(self, body: bytes) -> bytes:
        rest = _read(body, Ended).rest
        if rest not in (ACCEPT, PENDING):
            raise Wrong(400, "the rest is accepted or stays pending")
        self.closed = self._sitting.finish(rest)
        return _json({"said": self.closed})

    def _known(self, hunk: str) -> str:
        if hunk not in self._units:
            raise Wrong(400, "no such hunk")
        return hunk

    def _marks(self) -> dict[str, Any]:
        draft = self._sitting.draft
        states = {hunk: draft.state(hunk) for hunk in self._units}
        comments = [msgspec.to_builtins(comment) for comment in draft.comments]
        return {
            "states": {hunk: state for hunk, state in states.items() if state is not State.PENDING},
            "rules": {hunk: rule for hunk in self._units if (rule := draft.mark(hunk).by)},
            "comments": comments,
        }


def _json(value: Any) -> bytes:
    # Names and lines that are not UTF-8 hold lone surrogates, which only this writer lets pass.
    return json.dumps(value).encode()


def _read(body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except NOT_JSON as error:
        raise Wrong(400, str(error)) from None
