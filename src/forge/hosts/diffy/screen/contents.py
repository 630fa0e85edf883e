"""What the screen shows: a listing with bodies as one string of kinds and texts that are decoded on use."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from forge.core.review.model import (
    ABSENT,
    CONTENT,
    EXECUTABLE,
    LINK,
    MODE,
    RENAME,
    File,
    Listing,
    Unit,
)
from forge.hosts.diffy.screen.visible import plain

_LARGE = "large, not captured: no part of this review"
_RUN = re.compile("[+-]+")


class Texts:
    """The lines of a body as text: without their sign and line end, bytes that are no UTF-8 escaped."""

    def __init__(self, lines: tuple[bytes, ...]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, index: int) -> str:
        return self._lines[index][1:].removesuffix(b"\n").decode("utf-8", "surrogateescape")

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self._lines)))

    def ends(self, index: int) -> bool:
        """Whether a line has a line end."""
        return self._lines[index].endswith(b"\n")

    def all(self) -> str:
        """All lines as one text, one after the other."""
        return b"".join([line[1:] for line in self._lines]).decode("utf-8", "surrogateescape")


class Piece(msgspec.Struct, frozen=True):
    """A unit of the review as the screen needs it. `title` says what a unit without lines would do."""

    unit: Unit
    entry: int
    title: str
    kinds: str  # one of ` `, `+`, `-` per line
    texts: Texts

    @property
    def id(self) -> str:
        return self.unit.id

    @property
    def changes(self) -> list[int]:
        """The indexes of the changed lines."""
        return [index for index, kind in enumerate(self.kinds) if kind != " "]

    @property
    def blocks(self) -> list[tuple[int, int]]:
        """The runs of changed lines, first and last."""
        return [(match.start(), match.end() - 1) for match in _RUN.finditer(self.kinds)]


class Entry(msgspec.Struct, frozen=True):
    """One file and the range of its pieces."""

    file: File
    first: int
    end: int
    added: int
    removed: int

    @property
    def path(self) -> str:
        return self.file.path


class Contents(msgspec.Struct, frozen=True):
    """Everything that is to be reviewed."""

    listing: Listing
    entries: tuple[Entry, ...]
    pieces: tuple[Piece, ...]
    places: dict[str, int]  # where the piece with an id is

    @property
    def ids(self) -> list[str]:
        return list(self.places)


def contents_of(listing: Listing) -> Contents:
    """A listing, made ready for the screen."""
    entries: list[Entry] = []
    pieces: list[Piece] = []
    for number, file in enumerate(listing.files):
        first = len(pieces)
        added = removed = 0
        for unit in file.hunks:
            kinds = bytes([line[0] for line in unit.lines]).decode("latin-1")
            added += kinds.count("+")
            removed += kinds.count("-")
            title = "" if kinds else title_of(file, unit)
            pieces.append(Piece(unit, number, title, kinds, Texts(unit.lines)))
        entries.append(Entry(file, first, len(pieces), added, removed))
    for path in listing.large:
        large = File(path, path, "A", ABSENT, "100644", "", "", (), whole=_LARGE)
        entries.append(Entry(large, len(pieces), len(pieces), 0, 0))
    places = {piece.unit.id: number for number, piece in enumerate(pieces)}
    return Contents(listing, tuple(entries), tuple(pieces), places)


def title_of(file: File, unit: Unit) -> str:
    """What a unit without lines does, in words."""
    if unit.kind == RENAME:
        return f"renamed from {plain(file.old_path)}"
    if unit.kind == MODE:
        return "made executable" if file.new_mode == EXECUTABLE else "no longer executable"
    if file.is_submodule:
        return "submodule moved: shown only, never changed by a review"
    if unit.kind == CONTENT:
        return "binary content changed"
    if ABSENT not in (file.old_mode, file.new_mode):
        return f"{_what(file.old_mode, file)} became {_what(file.new_mode, file)}"
    added = file.new_mode != ABSENT
    return f"{_what(file.new_mode if added else file.old_mode, file)} {'added' if added else 'deleted'}"


def _what(mode: str, file: File) -> str:
    if mode == LINK:
        return "symbolic link"
    return "binary file" if file.binary else "file"


def numbers(piece: Piece, index: int) -> tuple[int, int]:
    """The old and the new line number of a line of a body; 0 on the side where it is not."""
    unit, kind = piece.unit, piece.kinds[index]
    # The start of an empty side is the line before the gap.
    old = unit.old_start + index - piece.kinds.count("+", 0, index) + (unit.old_count == 0)
    new = unit.new_start + index - piece.kinds.count("-", 0, index) + (unit.new_count == 0)
    return (0 if kind == "+" else old, 0 if kind == "-" else new)


def side(piece: Piece, gone: str) -> list[str]:
    """The lines of one side of a body: `gone` is the sign of the other side."""
    return [piece.texts[index] for index, kind in enumerate(piece.kinds) if kind != gone]


def new_text(piece: Piece) -> str:
    """The new side of a body with its line ends."""
    indexes = [index for index, kind in enumerate(piece.kinds) if kind != "-"]
    return "".join(piece.texts[i] + ("\n" if piece.texts.ends(i) else "") for i in indexes)


def around(contents: Contents, number: int, lines: int) -> tuple[list[str], list[str]]:
    """Up to so many unchanged lines before and after a piece."""
    piece = contents.pieces[number]
    entry = contents.entries[piece.entry]
    blob = contents.listing.blobs.get(entry.file.new_id)
    if not piece.kinds or blob is None:
        return [], []
    content = blob.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n")
    start = piece.unit.new_start - (piece.unit.new_count > 0)
    end = start + piece.unit.new_count
    before, after = 0, len(content)
    if number > entry.first:
        other = contents.pieces[number - 1].unit
        before = other.new_start - (other.new_count > 0) + other.new_count
    if number + 1 < entry.end:
        other = contents.pieces[number + 1].unit
        after = other.new_start - (other.new_count > 0)
    return content[max(before, start - lines) : start], content[end : min(after, end + lines)]


def search(contents: Contents, words: str) -> list[tuple[int, int]]:
    """The lines (piece, index) that hold the words; small letters stand for both."""
    found: list[tuple[int, int]] = []
    if not words:
        return found
    exact = words != words.lower()
    for number, piece in enumerate(contents.pieces):
        text = piece.texts.all()
        text = text if exact else text.lower()
        place = text.find(words)
        line = start = 0
        while place >= 0:
            line += text.count("\n", start, place)
            found.append((number, line))
            start = text.find("\n", place)
            if start < 0:
                break
            place = text.find(words, start)
    return found
