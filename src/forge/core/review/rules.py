"""Rules that accept some hunks by themselves. All are off unless the user turns them on, and each decision
names its rule."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence

import msgspec

from forge.core.review.model import ACCEPT, TEXT, Decision, File, Listing, Unit
from forge.foundation.errors import UsageError

LOCK, GENERATED, FORMATTING = "lock", "generated", "formatting"
_GLOB = "path:"
_LOCK_FILES = frozenset(
    {
        *("package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb"),
        *("poetry.lock", "uv.lock", "pdm.lock", "pipfile.lock", "requirements.lock", "cargo.lock", "go.sum"),
        *("composer.lock", "gemfile.lock", "mix.lock", "flake.lock", "packages.lock.json", "deno.lock"),
        *("podfile.lock", "pubspec.lock", "gradle.lockfile", ".terraform.lock.hcl", "package.resolved"),
    }
)
_GENERATED_NAMES = (
    "*.min.js",
    "*.min.css",
    "*.pb.go",
    "*_pb2.py",
    "*_pb2_grpc.py",
    "*.g.dart",
    "*.designer.cs",
)
_GENERATED_MARK = re.compile(
    rb"@generated|Code generated .{0,80}DO NOT EDIT|automatically generated|AUTO-?GENERATED"
)
_MARK_WITHIN = 2000
# A rule never decides about what runs by itself or guards something.
_ALWAYS_ASK = (
    *(".github/*", ".gitlab-ci.yml", ".circleci/*", "*/hooks/*", ".git*", "*.env", ".env*", ".claude/*"),
    *(".forge/*", ".vscode/*", ".husky/*", "jenkinsfile", ".pre-commit-config.yaml", "*/.github/*"),
)


class Rules(msgspec.Struct, frozen=True):
    """Which rules are on; `paths` are patterns of paths to accept."""

    lock: bool = False
    generated: bool = False
    formatting: bool = False
    paths: tuple[str, ...] = ()


def parse_rules(words: Sequence[str]) -> Rules:
    """Rules by their names: lock, generated, formatting, and `path:PATTERN`."""
    if unknown := [w for w in words if w not in (LOCK, GENERATED, FORMATTING) and not w.startswith(_GLOB)]:
        raise UsageError(
            f"unknown rule {unknown[0]!r}", "Rules are: lock, generated, formatting and path:PATTERN."
        )
    paths = tuple(word.removeprefix(_GLOB) for word in words if word.startswith(_GLOB))
    return Rules(LOCK in words, GENERATED in words, FORMATTING in words, paths)


def auto_accept(listing: Listing, rules: Rules) -> tuple[Decision, ...]:
    """Decisions the rules make; everything else is left to the user."""
    found = []
    for file in listing.files:
        if file.is_submodule or file.status == "D" or _matches(file.path, _ALWAYS_ASK):
            continue
        reason = _file_reason(listing, file, rules)
        for unit in file.hunks:
            by = reason or ("formatting" if rules.formatting and is_formatting(unit) else "")
            if by:
                found.append(Decision(unit.id, ACCEPT, by=by))
    return tuple(found)


def is_formatting(unit: Unit) -> bool:
    """Whether a hunk changes nothing but spaces, tabs and line ends, with every line's indentation kept.

    Indentation means something in some languages, so a change of it is no mere formatting.
    """
    if unit.kind != TEXT:
        return False
    sides = [[line[1:] for line in unit.lines if line[:1] == kind] for kind in (b"-", b"+")]
    if not sides[0] or not sides[1]:
        return False
    old, new = ([line for line in map(_squeezed, side) if line[1]] for side in sides)
    return old == new


def _squeezed(line: bytes) -> tuple[bytes, bytes]:
    stripped = line.lstrip(b" \t")
    return line[: len(line) - len(stripped)], b" ".join(stripped.split())


def _file_reason(listing: Listing, file: File, rules: Rules) -> str:
    if rules.lock and file.path.rpartition("/")[2].lower() in _LOCK_FILES:
        return "lock file"
    if rules.generated and _is_generated(listing, file):
        return "generated file"
    pattern = next((p for p in rules.paths if fnmatch.fnmatchcase(file.path, p)), "")
    return f"path {pattern}" if pattern else ""


def _is_generated(listing: Listing, file: File) -> bool:
    """By name, or because the file said so before: a mark that has just been added proves nothing."""
    if _matches(file.path.rpartition("/")[2], _GENERATED_NAMES):
        return True
    old = listing.blobs.get(file.old_id, b"")
    return bool(_GENERATED_MARK.search(old[:_MARK_WITHIN]))


def _matches(path: str, patterns: Sequence[str]) -> bool:
    lower = path.lower()
    return any(fnmatch.fnmatchcase(lower, pattern) for pattern in patterns)
