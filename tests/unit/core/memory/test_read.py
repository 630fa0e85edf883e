from __future__ import annotations

import os
from pathlib import Path

import pytest

from forge.core.memory.file import MemoryFile, Skipped
from forge.core.memory.read import Library, Reading, parse
from unit.core.memory.places import plant, short


def read(root: Path, *, kind: str = "Project", approved: bool = False) -> Reading:
    reading = Reading(Library(), str(root / "project"), home=str(root / "home"), external=lambda: approved)
    reading.with_imports(str(root / "project/CLAUDE.md"), kind)
    return reading


def found(root: Path, *, kind: str = "Project", approved: bool = False) -> list[str]:
    reading = Reading(Library(), str(root / "project"), home=str(root / "home"), external=lambda: approved)
    return short(root / "project", reading.with_imports(str(root / "project/CLAUDE.md"), kind))


def test_imports_follow_their_file_depth_first_and_know_their_parent(tmp_path: Path) -> None:
    plant(tmp_path, {"CLAUDE.md": "@a.md @c.md", "a.md": "A @b.md", "b.md": "B", "c.md": "C"})
    root = str(tmp_path)
    reading = Reading(Library(), root)
    assert reading.with_imports(f"{root}/CLAUDE.md", "Local") == [
        MemoryFile(f"{root}/CLAUDE.md", "Local", "@a.md @c.md"),
        MemoryFile(f"{root}/a.md", "Local", "A @b.md", "include", parent=f"{root}/CLAUDE.md"),
        MemoryFile(f"{root}/b.md", "Local", "B", "include", parent=f"{root}/a.md"),
        MemoryFile(f"{root}/c.md", "Local", "C", "include", parent=f"{root}/CLAUDE.md"),
    ]


def test_imports_end_after_four_levels(tmp_path: Path) -> None:
    plant(tmp_path, {f"project/a{n}.md": f"@a{n + 1}.md" for n in range(1, 7)})
    plant(tmp_path, {"project/CLAUDE.md": "@a1.md"})
    assert found(tmp_path) == ["CLAUDE.md", "a1.md", "a2.md", "a3.md", "a4.md"]


@pytest.mark.requirement("S1-82")
def test_files_that_include_each_other_are_read_once(tmp_path: Path) -> None:
    plant(tmp_path, {"project/CLAUDE.md": "@include b.md\n\n@b.md", "project/b.md": "@include CLAUDE.md"})
    assert found(tmp_path) == ["CLAUDE.md", "b.md"]


def test_a_second_name_of_a_file_does_not_make_it_count_twice(tmp_path: Path) -> None:
    plant(tmp_path, {"project/CLAUDE.md": "@one.md @two.md", "project/one.md": "x"})
    os.symlink("one.md", tmp_path / "project/two.md")
    assert found(tmp_path) == ["CLAUDE.md", "one.md"]


@pytest.mark.parametrize("kind", ["Project", "Local", "Managed"])
def test_imports_from_outside_need_approval(kind: str, tmp_path: Path) -> None:
    outside = {"outside.md": "o", "home/h.md": "h"}
    plant(tmp_path, {"project/CLAUDE.md": "@../outside.md @~/h.md @in.md", "project/in.md": "i", **outside})
    assert found(tmp_path, kind=kind) == ["CLAUDE.md", "in.md"]
    assert len(found(tmp_path, kind=kind, approved=True)) == 4
    why = f"{tmp_path}/project/CLAUDE.md imports it from outside the project, which is not approved"
    assert read(tmp_path, kind=kind).skipped == [Skipped(str(tmp_path / name), why) for name in outside]


def test_files_of_the_user_import_from_anywhere(tmp_path: Path) -> None:
    plant(tmp_path, {"project/CLAUDE.md": "@../outside.md", "outside.md": "o"})
    assert len(found(tmp_path, kind="User")) == 2


@pytest.mark.parametrize("name", ["a.txt", "a.TSX", "a.f90", "a.lock", "Makefile", ".envrc", "x.tar/README"])
def test_text_files_are_imported(name: str, tmp_path: Path) -> None:
    plant(tmp_path, {"project/CLAUDE.md": f"@{name}", f"project/{name}": "x"})
    assert found(tmp_path) == ["CLAUDE.md", name]


@pytest.mark.parametrize("name", ["a.png", "a.svg", "a.pdf", "a.ipynb", "a.mdx", "a.tar.gz", "a.key", "a.tf"])
def test_other_files_are_not_imported(name: str, tmp_path: Path) -> None:
    plant(tmp_path, {"project/CLAUDE.md": f"@{name}", f"project/{name}": "x"})
    assert found(tmp_path) == ["CLAUDE.md"]
    assert [s.path for s in read(tmp_path).skipped] == [str(tmp_path / "project" / name)]


def test_missing_files_directories_and_empty_files_are_passed_over(tmp_path: Path) -> None:
    plant(tmp_path, {"project/CLAUDE.md": "@none.md @dir @empty.md", "project/dir/x.md": "x"})
    plant(tmp_path, {"project/empty.md": "<!-- nothing -->\n"})
    assert found(tmp_path) == ["CLAUDE.md"]


@pytest.mark.requirement("S1-76")
@pytest.mark.parametrize(
    ("text", "content", "globs", "names"),
    [
        ("---\npaths: src/**\ninclude: a.md\n---\nBody", "Body", ["src/**"], ["a.md"]),
        ("---\ninclude:\n  - a.md\n  - b.md\n---\nBody", "Body", None, ["a.md", "b.md"]),
        ("No front matter", "No front matter", None, []),
        ("---\npaths: x\nno end", "---\npaths: x\nno end", None, []),
        ("---\nother: [broken\n---\nBody", "Body", None, []),
    ],
)
def test_front_matter_names_paths_and_includes(
    text: str, content: str, globs: list[str] | None, names: list[str]
) -> None:
    parsed = parse(text, "rule.md")
    assert (parsed.content, parsed.globs, parsed.imports) == (content, globs, names)


def test_what_cannot_be_read_is_reported(tmp_path: Path) -> None:
    loop = tmp_path / "project/CLAUDE.md"
    plant(tmp_path, {"project/x": ""})
    loop.symlink_to(loop)
    (note,) = read(tmp_path).diagnostics
    assert str(note).startswith(f"{loop}: cannot be read (Too many levels of symbolic links)")
    loop.unlink()
    plant(tmp_path, {"project/CLAUDE.md": "---\npaths:\n  - **/*.ts\n---\nRule."})
    (note,) = read(tmp_path).diagnostics
    assert str(note).startswith(f"{loop}:") and "not valid YAML" in str(note)
    loop.unlink()
    os.mkfifo(loop)
    assert found(tmp_path) == []


def test_odd_bytes_are_kept_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(b"\xef\xbb\xbfa\x00b\xff\r\nc")
    parsed = Library().parsed(str(path))
    assert parsed is not None and parsed.content == "a\x00b\ufffd\r\nc"


@pytest.mark.requirement("S1-75")
def test_unreadable_files_are_ignored_and_unchanged_ones_not_read_again(tmp_path: Path) -> None:
    library, path = Library(), tmp_path / "CLAUDE.md"
    assert library.parsed(str(path)) is None
    assert library.parsed(str(tmp_path)) is None
    path.write_text("one")
    first = library.parsed(str(path))
    assert library.parsed(str(path)) is first
    path.write_text("three")
    again = library.parsed(str(path))
    assert again is not None and again.content == "three"
