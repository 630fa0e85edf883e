"""What a review is about and what was decided: the records every part of diffy shares.

Paths are text with surrogate escapes, content is bytes and stays bytes. The JSON forms are in `exchange`.
"""

from __future__ import annotations

import msgspec

ACCEPT, REJECT, PENDING = "accept", "reject", "pending"
VERDICTS = (ACCEPT, REJECT, PENDING)
TEXT, MODE, RENAME, CONTENT, WHOLE = "text", "mode", "rename", "content", "file"

ABSENT = "000000"
LINK = "120000"
SUBMODULE = "160000"
EXECUTABLE = "100755"


class Unit(msgspec.Struct, frozen=True):
    """The smallest thing that has an id: a text hunk, or a mode, rename, binary content or whole path.

    Each of `lines` is one of b" ", b"+", b"-" and then the raw line with its line end; only the last line of
    a side may lack one. Line numbers are git's: the start of an empty side is the line before the gap.
    """

    id: str
    kind: str
    old_start: int = 0
    old_count: int = 0
    new_start: int = 0
    new_count: int = 0
    lines: tuple[bytes, ...] = ()


class File(msgspec.Struct, frozen=True):
    """One path that differs. `status` is A, D, M, R or T; an id is empty where that side does not exist.

    `whole` says why a text file can only be decided as a whole; it is empty otherwise.
    """

    path: str
    old_path: str
    status: str
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str
    hunks: tuple[Unit, ...]
    binary: bool = False
    whole: str = ""

    @property
    def is_submodule(self) -> bool:
        """Whether a side is a submodule: it is shown and may be commented, but is never written."""
        return SUBMODULE in (self.old_mode, self.new_mode)


class Listing(msgspec.Struct, frozen=True):
    """Everything there is to review between two trees. `blobs` has the content of all object ids in `files`.

    `large` are untracked files above the size limit: they are not captured and cannot be reviewed. `paths`
    are what the listing was limited to.
    """

    base: str
    new: str
    files: tuple[File, ...]
    blobs: dict[str, bytes]
    large: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    @property
    def snapshot(self) -> str:
        """The token other programs hand back with their decisions.

        It has the paths, too: a verdict for everything must not reach what was not listed.
        """
        limits = "\0".join(self.paths).encode("utf-8", "surrogateescape").hex()
        return f"{self.base}-{self.new}-{limits}" if limits else f"{self.base}-{self.new}"

    @property
    def hunks(self) -> int:
        """How many units there are to decide."""
        return sum(len(file.hunks) for file in self.files)


class Remark(msgspec.Struct, frozen=True):
    """A comment on some lines of a hunk: first and last index into `Unit.lines`."""

    text: str
    start: int
    end: int


class FileRemark(msgspec.Struct, frozen=True):
    """A comment on a whole file."""

    path: str
    comment: str


class Decision(msgspec.Struct, frozen=True):
    """What the user wants for one unit, or for some of its lines.

    `lines` are indexes into `Unit.lines`; the verdict then is about these only, and the other lines get the
    opposite one. A hunk may have several decisions about different lines. `edit` is the user's text for the
    new side of a text hunk (context included). `question`: the comment wants an answer, not a change.
    `by` names the rule that decided, if it was not the user.
    """

    hunk: str
    verdict: str = ACCEPT
    comment: str = ""
    lines: tuple[int, ...] | None = None
    edit: str | None = None
    question: bool = False
    remarks: tuple[Remark, ...] = ()
    by: str = ""


class Review(msgspec.Struct, frozen=True):
    """All decisions about one listing, and comments on files and on the whole."""

    snapshot: str = ""
    default: str = ACCEPT
    decisions: tuple[Decision, ...] = ()
    comment: str = ""
    files: tuple[FileRemark, ...] = ()
    version: int = 1


def blocks(unit: Unit) -> list[range]:
    """The separate runs of changed lines of a text hunk as indexes: the parts a split offers."""
    found: list[range] = []
    start = -1
    for at, line in enumerate(unit.lines):
        changed = line[:1] != b" "
        if changed and start < 0:
            start = at
        if not changed and start >= 0:
            found.append(range(start, at))
            start = -1
    return [*found, range(start, len(unit.lines))] if start >= 0 else found
