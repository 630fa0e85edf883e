"""The JSON other programs read and write: the listing of a review, and decisions about it."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from forge.core.review.model import File, Listing, Review, Unit
from forge.foundation.errors import UsageError


def listing_json(listing: Listing) -> bytes:
    """A listing; bytes that are not UTF-8 are surrogate escapes, as in Python's file names."""
    value: dict[str, Any] = {
        "version": 1,
        "snapshot": listing.snapshot,
        "files": [_file(file) for file in listing.files],
    }
    if listing.large:
        value["large"] = list(listing.large)
    return _encoded(value)


def read_review(data: bytes) -> Review:
    """Decisions from JSON."""
    try:
        review = msgspec.convert(_without_nulls(json.loads(data.decode("utf-8", "surrogateescape"))), Review)
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        raise UsageError(f"the decisions cannot be read: {error}") from error
    if review.version != 1:
        raise UsageError(f"the decisions have version {review.version}; this diffy knows version 1")
    return review


def review_json(review: Review) -> bytes:
    """Decisions as `read_review` takes them."""
    return _encoded(msgspec.to_builtins(review))


def _without_nulls(value: Any) -> Any:
    """Null is the same as not given."""
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _file(file: File) -> dict[str, Any]:
    value: dict[str, Any] = {
        "path": file.path,
        "old_path": file.old_path,
        "status": file.status,
        "old_mode": file.old_mode,
        "new_mode": file.new_mode,
        "hunks": [_unit(unit) for unit in file.hunks],
    }
    return value | {"whole": file.whole} if file.whole else value


def _unit(unit: Unit) -> dict[str, Any]:
    return {
        "id": unit.id,
        "kind": unit.kind,
        "old_start": unit.old_start,
        "old_count": unit.old_count,
        "new_start": unit.new_start,
        "new_count": unit.new_count,
        "lines": [_line(line) for line in unit.lines],
    }


def _line(line: bytes) -> dict[str, Any]:
    text = line[1:].decode("utf-8", "surrogateescape")
    if text.endswith("\n"):
        return {"t": chr(line[0]), "text": text[:-1]}
    return {"t": chr(line[0]), "text": text, "no_eol": True}


def _encoded(value: Any) -> bytes:
    # Only this encoder writes surrogate escapes.
    return json.dumps(value).encode() + b"\n"
