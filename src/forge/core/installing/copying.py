"""Copies plugin directories: links that lead out, repositories and build results are left behind."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress

from forge.core.plugins.context import PluginFailure
from forge.foundation.inside import is_really_inside
from forge.foundation.permissions.syntax import word_set

VERSION_CONTROL = frozenset((".git", ".hg", ".svn", ".jj", "CVS"))
BUILD_RESULTS = word_set(
    "node_modules target __pycache__ .venv venv .tox .mypy_cache .pytest_cache .ruff_cache .next .gradle"
)
MARKS = frozenset((".orphaned_at", ".in_use"))
MOST_FILES = 50_000
MOST_BYTES = 1 << 30


def copy_plugin(source: str, target: str, *, without: frozenset[str] = VERSION_CONTROL) -> list[str]:
    """Copies a tree to a place that must not exist; returns the links left out because they lead outside."""
    root = os.path.realpath(source)
    beside = f"{target}.partial"
    discard(beside)
    left_out: list[str] = []
    files = size = 0
    try:
        os.makedirs(beside)
        for relative, entry in _walk(root, "", without):
            destination = os.path.join(beside, relative)
            if entry.is_symlink():
                if not _copy_link(root, relative, destination):
                    left_out.append(relative)
            elif entry.is_dir(follow_symlinks=False):
                os.mkdir(destination)
            elif entry.is_file(follow_symlinks=False):
                files, size = files + 1, size + entry.stat(follow_symlinks=False).st_size
                if files > MOST_FILES or size > MOST_BYTES:
                    raise PluginFailure(f"{source} is too large for a plugin.", "error_policy")
                shutil.copyfile(entry.path, destination)
                os.chmod(destination, 0o755 if entry.stat().st_mode & stat.S_IXUSR else 0o644)
        discard(target)
        os.rename(beside, target)
    except OSError as error:
        raise PluginFailure(f"{source} cannot be copied to {target}: {error.strerror}") from None
    finally:
        discard(beside)
    return left_out


def content_hash(directory: str) -> str:
    """Twelve hex digits that change with the names and contents of the files."""
    digest = hashlib.sha256()
    for relative, entry in _walk(os.path.realpath(directory), "", VERSION_CONTROL):
        digest.update(relative.encode("utf-8", "surrogateescape") + b"\0")
        if entry.is_file(follow_symlinks=False):
            with open(entry.path, "rb") as file:
                digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()[:12]


def discard(path: str) -> None:
    """Removes a file, a link or a tree, if it is there."""
    if os.path.islink(path) or os.path.isfile(path):
        with suppress(FileNotFoundError):
            os.remove(path)
    elif os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)


def _walk(root: str, below: str, without: frozenset[str]) -> Iterator[tuple[str, os.DirEntry[str]]]:
    with os.scandir(os.path.join(root, below)) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    for entry in entries:
        if entry.name in without or entry.name in MARKS:
            continue
        relative = os.path.join(below, entry.name)
        yield relative, entry
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(root, relative, without)


def _copy_link(root: str, relative: str, destination: str) -> bool:
    link = os.path.join(root, relative)
    if not is_really_inside(link, root) or not os.path.exists(link):
        return False
    # Written anew relative to its own place, so that it points into the copy and not back to the source.
    os.symlink(os.path.relpath(os.path.realpath(link), os.path.realpath(os.path.dirname(link))), destination)
    return True
