"""What files looked like on disk before, where git stores them in another form (line ends, filters).

Git keeps only the stored form. A checkout would write it as the settings say now, but files need not have
come from a checkout: the index remembers the size they had on disk, which tells the forms apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from forge.core.review.blobs import in_work_tree, recorded_sizes
from forge.core.review.model import LINK, File, Listing
from forge.core.review.repository import Repository


class Wanted(msgspec.Struct, frozen=True):
    """A file, the path its old content goes to, and what is on disk now."""

    file: File
    path: str
    raw: bytes


class Old(msgspec.Struct, frozen=True):
    """An old content as it was on disk. `size` is what the index remembers of it, or -1."""

    content: bytes
    size: int = -1


def old_contents(repo: Repository, listing: Listing, wanted: Sequence[Wanted]) -> dict[int, Old]:
    """The old contents of those that had one, by their position."""
    stored = {at: listing.blobs[one.file.old_id] for at, one in enumerate(wanted) if one.file.old_id}
    plain = [at for at in stored if wanted[at].file.old_mode != LINK]
    made = in_work_tree(repo, [(wanted[at].file.old_id, wanted[at].path) for at in plain])
    written = dict(zip(plain, made, strict=True))
    unsure = [at for at in plain if written[at] != stored[at] or _is_converted(listing, wanted[at])]
    sizes = recorded_sizes(repo, [wanted[at].file.old_path for at in unsure])
    found = {at: Old(content) for at, content in (stored | written).items()}
    for at in unsure:
        one = wanted[at]
        name, size = sizes.get(one.file.old_path, ("", -1))
        size = size if name == one.file.old_id else -1
        found[at] = Old(_likely(listing, one, written[at], size), size)
    return found


def _is_converted(listing: Listing, one: Wanted) -> bool:
    return bool(one.file.new_id) and one.raw != listing.blobs.get(one.file.new_id)


def _likely(listing: Listing, one: Wanted, written: bytes, size: int) -> bytes:
    stored = listing.blobs[one.file.old_id]
    forms = (written, stored, _with_returns(stored))
    if size in (len(form) for form in forms):
        return next(form for form in forms if len(form) == size)
    # No setting asks for carriage returns, but most lines have them: those before had them as well.
    if (
        written == stored
        and _is_converted(listing, one)
        and one.raw.count(b"\r\n") * 2 > one.raw.count(b"\n")
    ):
        return _with_returns(stored)
    return written


def _with_returns(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
