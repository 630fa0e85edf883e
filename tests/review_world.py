"""Random repositories and random decisions for diffy, with an independent idea of what must come out.

A world is a dict: path (bytes) to ("file", content, permission bits) or ("link", target). The expected
content after a review is computed from worlds and the line numbers of a listing alone.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any

Entry = tuple[Any, ...]
World = dict[bytes, Entry]

ENV = {
    "PATH": os.environ.get("PATH", ""),
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.invalid",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.invalid",
    "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_DATE": "1700000000 +0000",
}
NAMES = (
    *(b"a.txt", b"b.py", b"dir/c.txt", b"dir/sub/d.txt", b"e", b"with space.txt", b'q"uote.txt'),
    *(
        b"tab\tname",
        b"new\nline.txt",
        b"back\\slash",
        "한글.txt".encode(),
        b"\xff\xfe.txt",
        b"-dash",
        b"x b/y.txt",
    ),
    *(b" lead.txt", b"trail ", b"[g]*?.txt", b":(top)x", b"b/b/z.txt", b"deep/er/and/deeper/f"),
)
LINES = (
    *(
        b"alpha",
        b"beta",
        b"",
        b"    return x",
        b"-- sql",
        b"++ inc",
        b"@@ -1,2 +1,2 @@",
        b"diff --git a/x b/x",
    ),
    *(
        b"\\ No newline at end of file",
        b"a\x0cb\xe2\x80\xa8c\x1cd",
        b"\xb0\xa1\xb3\xaa",
        b"}",
        b"\ttab",
        b"x = 1",
    ),
    *("한글 漢字 👨‍👩‍👧".encode(), b"trailing  ", b"cr in\rside", b"--- a/x", b"+++ b/x", b"index 000..111"),
)


def git(root: str, *args: str, fed: bytes | None = None, codes: tuple[int, ...] = (0,)) -> bytes:
    """What git prints; an assertion if it fails."""
    done = subprocess.run(["git", *args], cwd=root, env=ENV, input=fed, capture_output=True, timeout=60)
    assert done.returncode in codes, (args, done.stderr)
    return done.stdout


def new_repository(root: str, world: World, *, commit: bool = True, settings: Sequence[str] = ()) -> None:
    """A repository with a world, committed or all untracked."""
    os.makedirs(root, exist_ok=True)
    # Without the example hooks that git would copy: they take longer than all the rest.
    git(root, "init", "-q", "-b", "main", "--template=")
    os.makedirs(os.path.join(root, ".git", "info"))
    for setting in settings:
        git(root, "config", *setting.split("=", 1))
    put(root, world)
    if commit:
        git(root, "add", "-A", "-f", ".")
        git(root, "commit", "-q", "--allow-empty", "-m", "start")


def put(root: str, world: World) -> None:
    """Makes the work tree be a world."""
    now = look(root)
    for path in [path for path, entry in now.items() if world.get(path) != entry]:
        os.unlink(_at(root, path))
        directory = os.path.dirname(_at(root, path))
        while directory != os.fsencode(root) and not os.listdir(directory):
            os.rmdir(directory)
            directory = os.path.dirname(directory)
    for path, entry in world.items():
        if now.get(path) == entry:
            continue
        os.makedirs(os.path.dirname(_at(root, path)), exist_ok=True)
        if entry[0] == "link":
            os.symlink(entry[1], _at(root, path))
        else:
            with open(_at(root, path), "wb") as file:
                file.write(entry[1])
            os.chmod(_at(root, path), entry[2])


def look(root: str) -> World:
    """The work tree as a world, without what belongs to git and diffy."""
    found: World = {}
    top = os.fsencode(root)
    for directory, names, files in os.walk(top):
        if directory == top:
            names[:] = [name for name in names if name not in (b".git", b".diffy")]
        for name in [*files, *(n for n in names if os.path.islink(os.path.join(directory, n)))]:
            path = os.path.join(directory, name)
            if os.path.islink(path):
                found[os.path.relpath(path, top)] = ("link", os.readlink(path))
            else:
                with open(path, "rb") as file:
                    found[os.path.relpath(path, top)] = ("file", file.read(), os.stat(path).st_mode & 0o7777)
    return found


def directories(root: str) -> set[bytes]:
    """All directories of the work tree."""
    top = os.fsencode(root)
    found = {os.path.relpath(d, top) for d, _, _ in os.walk(top)}
    return {d for d in found if d.split(b"/")[0] not in (b".git", b".diffy")}


def random_content(rng: random.Random) -> bytes:
    """Text with traps, sometimes binary or empty."""
    kind = rng.random()
    if kind < 0.06:
        return b""
    if kind < 0.13:
        return bytes(rng.randrange(256) for _ in range(40)) + b"\0"
    end = rng.choice([b"\n", b"\n", b"\n", b"\r\n"])
    lines = [rng.choice(LINES) + (end if rng.random() < 0.97 else b"\n") for _ in range(rng.randrange(1, 40))]
    if rng.random() < 0.25:
        lines = lines * 2
    text = b"".join(lines)
    return text[:-1] if rng.random() < 0.25 else text


def random_world(rng: random.Random) -> World:
    """A few files and links."""
    world: World = {}
    for path in rng.sample(NAMES, rng.randrange(1, 8)):
        if rng.random() < 0.08:
            world[path] = ("link", rng.choice([b"a.txt", b"nowhere", b"dir"]))
        else:
            world[path] = ("file", random_content(rng), rng.choice([0o644, 0o644, 0o755, 0o600, 0o750]))
    return world


def changed_content(rng: random.Random, old: bytes) -> bytes:
    """An agent's edit."""
    if rng.random() < 0.1 or not old:
        return random_content(rng)
    lines = old.split(b"\n")
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(lines) + 1)
        action = rng.random()
        if action < 0.4:
            lines[at : at + 1] = [rng.choice(LINES) + b" %d" % rng.randrange(100)]
        elif action < 0.7:
            lines[at:at] = [rng.choice(LINES) for _ in range(rng.randrange(1, 4))]
        else:
            del lines[at : at + rng.randrange(1, 4)]
    text = b"\n".join(lines)
    if rng.random() < 0.15:
        return text.rstrip(b"\n")
    return text + b"\n" if rng.random() < 0.1 else text


def changed_world(rng: random.Random, old: World) -> World:
    """What an agent made of a world."""
    new = dict(old)
    for path in list(old):
        action = rng.random()
        if action < 0.45 and new[path][0] == "file":
            new[path] = ("file", changed_content(rng, new[path][1]), new[path][2])
        elif action < 0.55:
            del new[path]
        elif action < 0.65:
            target = rng.choice([b"moved/" + path.replace(b"/", b"_"), path + b".new"])
            _add(new, target, new.pop(path))
        elif action < 0.72 and new[path][0] == "file":
            new[path] = ("file", new[path][1], new[path][2] ^ (0o111 & (new[path][2] >> 2 | 0o100)))
        elif action < 0.77:
            other = ("link", b"elsewhere") if new[path][0] == "file" else ("file", b"text\n", 0o644)
            new[path] = other
        elif action < 0.80 and b"/" not in path:
            new.pop(path)
            _add(new, path + b"/inside", ("file", b"now a directory\n", 0o644))
    for _ in range(rng.randrange(0, 3)):
        mode = rng.choice([0o644, 0o755])
        _add(new, rng.choice([*NAMES, b"added/%d" % rng.randrange(9)]), ("file", random_content(rng), mode))
    if rng.random() < 0.1 and any(path.startswith(b"dir/") for path in new):
        new = {path: entry for path, entry in new.items() if not path.startswith(b"dir/")}
        _add(new, b"dir", ("file", b"now a file\n", 0o644))
    return new


def _add(world: World, path: bytes, entry: Entry) -> None:
    """Puts an entry where there is room for it."""
    parts = path.split(b"/")
    above = [b"/".join(parts[:n]) for n in range(1, len(parts))]
    if path in world or any(a in world for a in above) or any(p.startswith(path + b"/") for p in world):
        return
    world[path] = entry


def lf_lines(content: bytes) -> list[bytes]:
    parts = content.split(b"\n")
    last = parts.pop()
    return [part + b"\n" for part in parts] + ([last] if last else [])


def expected(old: World, new: World, files: list[dict[str, Any]], rejected: set[str]) -> World | None:
    """The world after rejecting units of a listing in its JSON form; None if they exclude each other."""
    world = dict(new)
    made: World = {}
    for file in files:
        units = {unit["kind"]: unit["id"] in rejected for unit in file["hunks"]}
        if not any(unit["id"] in rejected for unit in file["hunks"]):
            continue
        path, old_path = os.fsencode(file["path"]), os.fsencode(file["old_path"])
        before, after = old.get(old_path), new.get(path)
        world.pop(path, None)
        if units.get("file"):
            if before:
                made[path] = _usual(before)
            continue
        entry = _content(before, after, file, units, rejected)
        if entry:
            made[old_path if units.get("rename") else path] = entry
    together = {**world, **made}
    clash = any(
        b"/".join(p.split(b"/")[:n]) in together for p in together for n in range(1, p.count(b"/") + 1)
    )
    return None if clash or len(together) != len(world) + len(made) else together


def _usual(entry: Entry) -> Entry:
    """What comes back has only the bits git knows."""
    return entry if entry[0] == "link" else ("file", entry[1], 0o755 if entry[2] & 0o100 else 0o644)


def _content(
    before: Entry | None,
    after: Entry | None,
    file: dict[str, Any],
    units: dict[str, bool],
    rejected: set[str],
) -> Entry | None:
    if after and after[0] == "link":
        return after
    texts = [unit for unit in file["hunks"] if unit["kind"] == "text"]
    content = before[1] if before and units.get("content") else after[1] if after else b""
    if texts:
        lines, olds = lf_lines(after[1] if after else b""), lf_lines(before[1] if before else b"")
        for unit in reversed(texts):
            if unit["id"] in rejected:
                at = unit["new_start"] - 1 if unit["new_count"] else unit["new_start"]
                was = unit["old_start"] - 1 if unit["old_count"] else unit["old_start"]
                lines[at : at + unit["new_count"]] = olds[was : was + unit["old_count"]]
        content = b"".join(lines)
        if not content and "000000" in (file["old_mode"], file["new_mode"]):
            return None
    bits = after[2] if after else 0o755 if file["old_mode"] == "100755" else 0o644
    if units.get("mode"):
        bits = bits | (bits & 0o444) >> 2 if file["old_mode"] == "100755" else bits & ~0o111
    return ("file", content, bits)


def facts(root: str) -> tuple[bytes, ...]:
    """What a review must never touch: branches, stash, HEAD and the index's entries."""
    commands = (
        ("for-each-ref",),
        ("rev-parse", "-q", "--verify", "HEAD"),
        ("symbolic-ref", "HEAD"),
        ("ls-files", "-s", "-z"),
    )
    return tuple(git(root, *command, codes=(0, 1)) for command in commands)


def remove(root: str) -> None:
    shutil.rmtree(root)


def _at(root: str, path: bytes) -> bytes:
    return os.path.join(os.fsencode(root), path)
