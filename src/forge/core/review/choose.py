"""Turns decisions into one choice per unit, and refuses those that do not fit the listing."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from forge.core.review.model import (
    ACCEPT,
    PENDING,
    REJECT,
    TEXT,
    VERDICTS,
    Decision,
    Listing,
    Review,
    Unit,
)
from forge.core.review.repository import Refused
from forge.foundation.errors import UsageError

_OPPOSITE = {ACCEPT: REJECT, REJECT: ACCEPT, PENDING: ACCEPT}


class Choice(msgspec.Struct, frozen=True):
    """What becomes of a unit. `rejected` and `pending` are the changed lines of a text hunk by index.

    `verdict` is about the whole; a hunk that is rejected in part counts as rejected.
    """

    verdict: str
    rejected: frozenset[int] = frozenset()
    pending: frozenset[int] = frozenset()
    edit: bytes | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether the new content stays as it is, for good."""
        return self.verdict == ACCEPT and self.edit is None


def choose(listing: Listing, review: Review) -> dict[str, Choice]:
    """One choice for every unit of a listing, by id."""
    if review.snapshot and review.snapshot != listing.snapshot:
        raise Refused("the decisions are about another state of the files", "List the changes again.")
    units = {unit.id: unit for file in listing.files for unit in file.hunks}
    by_unit: dict[str, list[Decision]] = {}
    for decision in review.decisions:
        if decision.hunk not in units:
            raise Refused(f"there is no hunk {decision.hunk!r} in this review", "List the changes again.")
        by_unit.setdefault(decision.hunk, []).append(decision)
    verdicts = {review.default, *(decision.verdict for decision in review.decisions)}
    if unknown := verdicts.difference(VERDICTS):
        raise UsageError(f"unknown verdict {unknown.pop()!r}: expected accept or reject")
    return {name: _choice(unit, by_unit.get(name, []), review.default) for name, unit in units.items()}


def _choice(unit: Unit, decisions: list[Decision], default: str) -> Choice:
    whole = {decision.verdict for decision in decisions if decision.lines is None}
    if len(whole) > 1:
        raise UsageError(f"hunk {unit.id} is both {' and '.join(sorted(whole))}ed")
    parts = [decision for decision in decisions if decision.lines is not None]
    edit = _edit(unit, decisions)
    if edit is not None:
        return Choice(ACCEPT, edit=edit)
    if not parts:
        return _whole(unit, next(iter(whole), default))
    if unit.kind != TEXT:
        raise UsageError(f"hunk {unit.id} has no lines to choose from (kind {unit.kind})")
    rest = next(iter(whole), _rest(parts, default))
    return _by_lines(unit, parts, rest)


def _edit(unit: Unit, decisions: list[Decision]) -> bytes | None:
    edits = {decision.edit for decision in decisions if decision.edit is not None}
    if not edits:
        return None
    if len(edits) > 1 or unit.kind != TEXT or any(decision.lines is not None for decision in decisions):
        raise UsageError(f"hunk {unit.id}: an edit is one text for a whole text hunk")
    try:
        return edits.pop().encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise UsageError(f"hunk {unit.id}: the edit is not text: {error.reason}") from error


def _whole(unit: Unit, verdict: str) -> Choice:
    changed = _changed(unit)
    rejected = changed if verdict == REJECT else frozenset[int]()
    return Choice(verdict, rejected, changed if verdict == PENDING else frozenset())


def _rest(parts: Sequence[Decision], default: str) -> str:
    verdicts = {part.verdict for part in parts}
    return _OPPOSITE[verdicts.pop()] if len(verdicts) == 1 else default


def _by_lines(unit: Unit, parts: Sequence[Decision], rest: str) -> Choice:
    changed = _changed(unit)
    verdicts: dict[int, str] = {}
    for part in parts:
        for at in part.lines or ():
            if not 0 <= at < len(unit.lines):
                raise UsageError(f"hunk {unit.id} has no line {at}: it has {len(unit.lines)}")
            if verdicts.setdefault(at, part.verdict) != part.verdict:
                raise UsageError(f"line {at} of hunk {unit.id} has two verdicts")
    rejected = frozenset(at for at in changed if verdicts.get(at, rest) == REJECT)
    pending = frozenset(at for at in changed if verdicts.get(at, rest) == PENDING)
    verdict = REJECT if rejected else PENDING if pending else ACCEPT
    return Choice(verdict, rejected, pending)


def _changed(unit: Unit) -> frozenset[int]:
    return frozenset(at for at, line in enumerate(unit.lines) if line[:1] != b" ")
