"""Content of git objects, many at once: as stored, as hunks between two, and as a checkout writes it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from forge.core.review.git import GitError
from forge.core.review.hunks import DiffError, Hunk, parse
from forge.core.review.repository import Refused, Repository

_DIFF = (
    *("diff-tree", "-r", "-p", "--no-renames", "--no-color", "--no-ext-diff", "--no-textconv", "--text"),
    *("--full-index", "--src-prefix=a/", "--dst-prefix=b/", "-U3", "--inter-hunk-context=0"),
    *("--submodule=short", "--ignore-submodules=none", "--no-relative"),
    *("--ws-error-highlight=none", "--indent-heuristic", "--no-function-context"),
)

# The better algorithm takes a time that grows with the square of the length.
_LONG = 4000
_AT_ONCE = 500
_RECORD = re.compile(rb"(\d{6}) ([0-9a-f]+) 0\t([^\0]*)\0  ctime:[^\0]*?size: (\d+)\tflags: [0-9a-f]+\n")


def read_blobs(repo: Repository, ids: Iterable[str]) -> dict[str, bytes]:
    """The content of objects by their ids."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    out = repo.git("cat-file", "--batch", fed="".join(f"{name}\n" for name in wanted).encode())
    found, at = {}, 0
    for name in wanted:
        end = out.index(b"\n", at)
        header = out[at:end].split(b" ")
        if len(header) != 3:
            raise Refused(f"the object {name} of this review is gone", "List the changes again.")
        size = int(header[2])
        found[name] = out[end + 1 : end + 1 + size]
        at = end + size + 2
    return found


def hunks_between(
    repo: Repository, pairs: Sequence[tuple[str, str]], blobs: Mapping[str, bytes]
) -> list[list[Hunk]]:
    """The hunks of each pair of text objects."""
    long = [at for at, pair in enumerate(pairs) if any(blobs[name].count(b"\n") > _LONG for name in pair)]
    short = [at for at in range(len(pairs)) if at not in set(long)]
    found: dict[int, list[Hunk]] = {}
    for algorithm, some in (("histogram", short), ("myers", long)):
        found |= zip(some, _diff(repo, [pairs[at] for at in some], algorithm), strict=True)
    return [found[at] for at in range(len(pairs))]


def _diff(repo: Repository, pairs: Sequence[tuple[str, str]], algorithm: str) -> list[list[Hunk]]:
    """The hunks of pairs by one run of git.

    Two trees are made in which the objects have numbers for names: no attribute of a real path can apply.
    """
    if not pairs:
        return []
    old, new = (_tree(repo, [pair[side] for pair in pairs]) for side in (0, 1))
    found: list[list[Hunk]] = [[] for _ in pairs]
    for header, hunks in parse(repo.git(*_DIFF, f"--diff-algorithm={algorithm}", old, new)):
        name = header.rpartition(b" b/")[2]
        if not name.isdigit():
            raise DiffError(f"unexpected name in git's output: {name!r}")
        found[int(name)] = hunks
    return found


def in_work_tree(repo: Repository, wanted: Sequence[tuple[str, str]]) -> list[bytes]:
    """The content of (object id, path) pairs as a checkout would write it: line ends and filters applied."""
    plain = [at for at, (_, path) in enumerate(wanted) if path[:1] not in " \t" and "\n" not in path]
    found = dict(zip(plain, _filtered(repo, [wanted[at] for at in plain]), strict=True))
    for at, (name, path) in enumerate(wanted):
        if at not in found:
            found[at] = repo.git("cat-file", "--filters", f"--path={path}", name)
    return [found[at] for at in range(len(wanted))]


def recorded_sizes(repo: Repository, paths: Sequence[str]) -> dict[str, tuple[str, int]]:
    """What the index knows of files: object id, and the size on disk when git last saw that content."""
    found: dict[str, tuple[str, int]] = {}
    for some in chunks(paths):
        out = repo.git("--literal-pathspecs", "ls-files", "-s", "-z", "--debug", "--", *some)
        found |= {os.fsdecode(row[2]): (row[1].decode(), int(row[3])) for row in _RECORD.findall(out)}
    return found


def chunks(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    """Parts of a list that fit into a command line."""
    return (paths[at : at + _AT_ONCE] for at in range(0, len(paths), _AT_ONCE))


def as_stored(repo: Repository, path: str, raw: bytes) -> str:
    """The object id that raw content of a path has in git."""
    return repo.git("hash-object", "--stdin", f"--path={path}", fed=raw).decode().strip()


def write_blobs(repo: Repository, contents: Sequence[bytes]) -> list[str]:
    """Stores contents as they are in the private store and returns their object ids."""
    if not contents:
        return []
    waiting = [os.path.join(repo.state, f"blob-{os.getpid()}-{at}") for at in range(len(contents))]
    try:
        for path, data in zip(waiting, contents, strict=True):
            with open(path, "wb") as file:
                file.write(data)
        fed = b"".join(os.fsencode(path) + b"\n" for path in waiting)
        return repo.git("hash-object", "-w", "--no-filters", "--stdin-paths", fed=fed).decode().split()
    finally:
        for path in waiting:
            with suppress(FileNotFoundError):
                os.remove(path)


def _tree(repo: Repository, ids: list[str]) -> str:
    rows = "".join(f"100644 blob {name}\t{at:08d}\0" for at, name in enumerate(ids))
    return repo.git("mktree", "-z", fed=rows.encode()).decode().strip()


def _filtered(repo: Repository, wanted: list[tuple[str, str]]) -> list[bytes]:
    """Git announces the size before filtering, so a word that no content can have separates the answers."""
    if not wanted:
        return []
    word = os.urandom(16).hex().encode()
    fed = b"".join(name.encode() + b" " + os.fsencode(path) + b"\n" for name, path in wanted)
    out = repo.git("cat-file", f"--batch={word.decode()}", "--filters", fed=fed)
    parts = out.split(word + b"\n")
    if len(parts) != len(wanted) + 1:
        raise GitError("git cat-file did not return every file of the review")
    return [part[:-1] for part in parts[1:]]
