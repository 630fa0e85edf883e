from __future__ import annotations

import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from forge.core.installing.archive import only_folder, unpack
from forge.core.installing.copying import copy_plugin
from forge.core.plugins.context import PluginFailure
from unit.core.installing.workshop import write


def zipped(*names: str, link: str = "") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
        if link:
            entry = zipfile.ZipInfo(link)
            entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(entry, "/etc/passwd")
    return data.getvalue()


def tarred(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, target
        entry.size = 7 if kind == tarfile.REGTYPE else 0
        archive.addfile(entry, io.BytesIO(b"content"))
    return data.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        zipped("../evil"),
        zipped("a/../../evil"),
        zipped("/evil"),
        zipped("..\\evil"),
        zipped("C:/evil"),
        zipped("a", link="passwd"),
        tarred("../evil"),
        tarred("/evil"),
        tarred("link", tarfile.SYMTYPE, "/etc/passwd"),
        tarred("hard", tarfile.LNKTYPE, "/etc/passwd"),
        tarred("pipe", tarfile.FIFOTYPE),
        tarred("device", tarfile.CHRTYPE),
        b"PK\x03\x04 broken",
        b"neither zip nor tar",
        zipped("a/b")[:-30],
    ],
    ids=lambda data: f"{len(data)}-bytes",
)
def test_hostile_and_broken_archives_are_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(PluginFailure, match="The archive was refused"):
        unpack(data, str(tmp_path / "in/side"))
    assert [path for path in tmp_path.rglob("*") if path.is_file() and "side" not in path.parts] == []
    assert not any(path.is_symlink() for path in tmp_path.rglob("*"))


@pytest.mark.parametrize("data", [zipped("a/b", "c"), zipped("./a/b", "c")], ids=["plain", "dotted"])
def test_ordinary_archives_are_unpacked(tmp_path: Path, data: bytes) -> None:
    unpack(data, str(tmp_path / "x"))
    assert (tmp_path / "x/a/b").read_text() == "content"


def test_archive_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", b"\0" * 100_000)
    with pytest.raises(PluginFailure, match="too large"):
        unpack(data.getvalue(), str(tmp_path / "x"), most=10_000)


@pytest.mark.parametrize(("name", "inner"), [("tool-1.0/go.md", "tool-1.0"), ("skills/s/SKILL.md", ".")])
def test_wrapping_folder_is_looked_through(tmp_path: Path, name: str, inner: str) -> None:
    unpack(zipped(name), str(tmp_path / "x"))
    assert only_folder(str(tmp_path / "x")) == os.path.normpath(str(tmp_path / "x" / inner))


def test_copy_keeps_links_that_stay_inside_and_leaves_the_others_out(tmp_path: Path) -> None:
    source = write(tmp_path / "source", {"a/file": "x", ".git/config": "x", "node_modules/m/index.js": "x"})
    (source / "inner").symlink_to(source / "a/file")
    (source / "a/up").symlink_to("../a/file")
    (source / "outer").symlink_to("/etc/passwd")
    (source / "loop").symlink_to("loop")
    os.mkfifo(source / "pipe")
    left_out = copy_plugin(str(source), str(tmp_path / "copy"))
    copy = tmp_path / "copy"
    assert left_out == ["loop", "outer"]
    assert sorted(str(path.relative_to(copy)) for path in copy.rglob("*")) == [
        "a",
        "a/file",
        "a/up",
        "inner",
        "node_modules",
        "node_modules/m",
        "node_modules/m/index.js",
    ]
    assert [os.readlink(copy / name) for name in ("inner", "a/up")] == ["a/file", "file"]
