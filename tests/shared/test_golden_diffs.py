from __future__ import annotations

import base64
import itertools
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from forge.core.review.choose import Choice
from forge.core.review.hunks import DiffError, Hunk, parse, split_lines
from forge.core.review.listing import list_changes
from forge.core.review.model import Unit, blocks
from forge.core.review.repository import Repository, find
from forge.core.review.snapshot import take
from forge.core.review.splice import without
from review_world import ENV, World, git, look, put
from unit.core.review.reviewing import apply

DIFFS = Path(__file__).resolve().parents[3] / "shared" / "golden" / "diffs"
FIXTURES: dict[str, Any] = (
    json.loads((DIFFS / "index.json").read_text())["fixtures"] if DIFFS.is_dir() else {}
)
FILES = [name for name, one in FIXTURES.items() if one["expect"] == "parse" and name != "submodule"]
# Git calls these binary; diffy reads the content itself.
SHOWN_AS_TEXT = ("attr_no_diff",)

pytestmark = pytest.mark.skipif(not FIXTURES, reason="the fixtures are not beside this checkout")


def content(value: str | None) -> bytes:
    return base64.b64decode(value) if value is not None else b""


def numbers(hunk: Hunk | dict[str, Any]) -> tuple[int, int, int, int]:
    if isinstance(hunk, dict):
        return hunk["old_start"], hunk["old_count"], hunk["new_start"], hunk["new_count"]
    return hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count


def patch(name: str) -> bytes:
    return Path(DIFFS, FIXTURES[name]["patch"]).read_bytes()


def units(hunks: list[Hunk]) -> list[Unit]:
    return [Unit(str(at), "text", *numbers(hunk), hunk.lines) for at, hunk in enumerate(hunks)]


@pytest.mark.parametrize("name", [n for n, one in FIXTURES.items() if one["expect"] == "parse"])
def test_each_patch_is_read_as_recorded(name: str) -> None:
    sections = [hunks for _, hunks in parse(patch(name))]
    recorded = [file for file in FIXTURES[name]["files"] if file["hunks"] or file["status"] == "M"]
    found = [[numbers(hunk) for hunk in hunks] for hunks in sections if hunks]
    expected = [[numbers(hunk) for hunk in file["hunks"]] for file in recorded if file["hunks"]]
    regular = [one for one in found if one in expected]
    assert regular == expected
    for hunks, file in zip(
        [h for h in sections if h and [numbers(x) for x in h] in expected], recorded, strict=False
    ):
        body = units(hunks)
        assert [len(blocks(unit)) for unit in body] == [hunk["blocks"] for hunk in file["hunks"]]


@pytest.mark.parametrize("name", FILES)
def test_every_choice_of_hunks_is_the_same_from_both_sides(name: str) -> None:
    for (_, hunks), file in zip(parse(patch(name)), FIXTURES[name]["files"], strict=False):
        if len(FIXTURES[name]["files"]) > 1 or not file["hunks"] or len(hunks) > 6:
            continue
        old, new = split_lines(content(file["old_b64"])), split_lines(content(file["new_b64"]))
        body = units(hunks)
        for chosen in itertools.product((False, True), repeat=len(body)):
            choices = {
                unit.id: Choice("reject", frozenset(range(len(unit.lines)))) if gone else Choice("accept")
                for unit, gone in zip(body, chosen, strict=True)
            }
            forward = list(old)
            for unit, gone in reversed(list(zip(body, chosen, strict=True))):
                at = unit.old_start - 1 if unit.old_count else unit.old_start
                if not gone:
                    forward[at : at + unit.old_count] = [ln[1:] for ln in unit.lines if ln[:1] != b"-"]
            assert without(new, old, body, choices) == b"".join(forward)


@pytest.mark.parametrize("name", [n for n, one in FIXTURES.items() if one["expect"] != "parse"])
def test_other_forms_are_refused_or_mean_the_same(name: str) -> None:
    fixture = FIXTURES[name]
    try:
        found = [numbers(hunk) for _, hunks in parse(patch(name)) for hunk in hunks]
    except DiffError:
        return
    assert fixture["expect"] == "normalise"
    same = FIXTURES[fixture["same_as"]]
    assert found == [numbers(hunk) for file in same["files"] for hunk in file["hunks"]]


@pytest.fixture(scope="session")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    root = str(tmp_path_factory.mktemp("diffs"))
    git(root, "init", "-q")
    return find(root, ENV)


def worlds(name: str) -> tuple[World, World]:
    old: World = {}
    new: World = {}
    for file in FIXTURES[name]["files"]:
        for world, side in ((old, "old"), (new, "new")):
            mode, path = file[f"{side}_mode"], file["old_path" if side == "old" else "path"]
            data = content(file[f"{side}_b64"])
            if mode != "000000":
                link = mode == "120000"
                bits = 0o755 if mode == "100755" else 0o644
                world[os.fsencode(path)] = ("link", data) if link else ("file", data, bits)
    return old, new


@pytest.mark.parametrize("name", FILES)
def test_each_change_is_listed_as_recorded_and_comes_back_whole(name: str, repo: Repository) -> None:
    old, new = worlds(name)
    put(repo.root, old)
    base = take(repo).tree
    put(repo.root, new)
    found = list_changes(repo, base, take(repo).tree)
    facts = ("status", "old_path", "path", "old_mode", "new_mode")
    recorded = [tuple(file[fact] for fact in facts) for file in FIXTURES[name]["files"]]
    assert [tuple(getattr(file, fact) for fact in facts) for file in found.files] == recorded
    for file, known in zip(found.files, FIXTURES[name]["files"], strict=True):
        lines = sum(unit.kind == "text" for unit in file.hunks)
        assert bool(lines) == bool(known["hunks"] or name in SHOWN_AS_TEXT)
        assert file.hunks
    apply(repo, found, [unit.id for file in found.files for unit in file.hunks])
    assert look(repo.root) == old


def test_all_fixtures_are_there() -> None:
    assert len(FIXTURES) == 74
    assert [name for name in FIXTURES if not re.fullmatch(r"[a-z0-9_]+", name)] == []
