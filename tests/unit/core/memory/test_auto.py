from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.core.memory.auto import auto_directory, auto_memory, cut
from forge.core.memory.read import Library
from forge.foundation.paths import find_places

ADVICE = "Keep index entries to one line under ~200 chars; move detail into topic files."


@pytest.mark.parametrize(
    ("env", "settings", "directory"),
    [
        ({}, {}, "home/.claude/projects/{slug}/memory/"),
        ({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}, {}, ""),
        ({}, {"autoMemoryEnabled": False}, ""),
        ({"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0"}, {"autoMemoryEnabled": False}, "default"),
        ({}, {"autoMemoryDirectory": "~/notes"}, "home/notes/"),
        ({}, {"autoMemoryDirectory": "relative"}, "default"),
    ],
)
def test_the_directory_of_notes_follows_settings_and_environment(
    env: dict[str, str], settings: dict[str, Any], directory: str, tmp_path: Path
) -> None:
    (tmp_path / "project/sub").mkdir(parents=True)
    (tmp_path / "project/.git").mkdir()
    places = find_places({"HOME": str(tmp_path / "home")}, str(tmp_path / "project/sub"))
    found = auto_directory(places, env, settings.get)
    slug = "".join(c if c.isalnum() else "-" for c in str(tmp_path / "project"))
    wanted = directory.replace("default", "home/.claude/projects/{slug}/memory/").replace("{slug}", slug)
    assert found == (f"{tmp_path}/{wanted}" if wanted else "")


def test_a_short_index_is_shown_as_it_is_and_without_its_imports(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("---\na: b\n---\n<!-- c -->\n- [A](a.md) — hook @a.md\n")
    (tmp_path / "a.md").write_text("not loaded")
    (file,) = auto_memory(f"{tmp_path}/", Library())
    assert file.block == (
        f"Contents of {tmp_path}/MEMORY.md (user's auto-memory, persists across conversations):\n\n"
        "- [A](a.md) — hook @a.md"
    )
    assert auto_memory("", Library()) == auto_memory(f"{tmp_path}/none/", Library()) == []


@pytest.mark.parametrize(
    ("lines", "kept", "warning"),
    [
        (
            ["- hook"] * 250,
            200,
            "250 lines (limit: 200). Only part of it was loaded: 50 of 250 lines were cut off,"
            ' starting at line 201 ("- hook").',
        ),
        (
            ["x" * 199] * 150,
            125,
            "29.3KB (limit: 24.4KB) — index entries are too long. Only part of it was loaded: 25 of 150 lines"
            f' were cut off, starting at line 126 ("{"x" * 79}…").',
        ),
        (
            ["x" * 299] * 250,
            83,
            "250 lines and 73.2KB. Only part of it was loaded: 167 of 250 lines were cut off,"
            f' starting at line 84 ("{"x" * 79}…").',
        ),
    ],
)
def test_a_long_index_is_cut_with_a_warning(lines: list[str], kept: int, warning: str) -> None:
    wanted = "\n".join([*lines[:kept], "", f"> WARNING: MEMORY.md is {warning} {ADVICE}"])
    assert cut("\n".join(lines)) == wanted


def test_one_endless_line_is_cut_too() -> None:
    text = cut("x" * 30_000)
    assert text.startswith("x" * 25_000 + "\n\n> WARNING: MEMORY.md is 29.3KB")
