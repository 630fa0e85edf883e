from __future__ import annotations

import io
import zipfile
from functools import partial
from pathlib import Path

import pytest

from forge.core.installing.archive import unpack
from forge.core.plugins.discover import discover
from forge.core.plugins.packed import unpack_plugin
from unit.core.plugins.plugin_tree import MANIFEST, TEXT, errors, request


def packed(path: Path, files: dict[str, str]) -> str:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    path.write_bytes(content.getvalue())
    return str(path)


@pytest.mark.parametrize("folder", ["", "inner/"])
def test_a_plugin_in_an_archive_is_loaded(folder: str, tmp_path: Path) -> None:
    files = {f"{folder}{MANIFEST}": '{"name": "z"}', f"{folder}skills/a/SKILL.md": TEXT}
    extract = partial(unpack_plugin, temp_dir=str(tmp_path), extract=unpack)
    asked = request(tmp_path, plugin_dirs=[packed(tmp_path / "z.zip", files)], unpack=extract)
    assert [(p.id, p.state) for p in discover(asked).plugins] == [("z@inline", "active")]


def test_the_same_archive_is_unpacked_once(tmp_path: Path) -> None:
    path = packed(tmp_path / "z.zip", {MANIFEST: '{"name": "z"}'})
    first = unpack_plugin(path, str(tmp_path), unpack)
    (Path(first) / "mark").write_text("x")
    assert unpack_plugin(path, str(tmp_path), unpack) == first
    assert (Path(first) / "mark").exists()


@pytest.mark.parametrize("name", ["../out.txt", "/out.txt", "a/../../out.txt"])
def test_an_archive_that_breaks_out_is_an_error_and_writes_nothing(name: str, tmp_path: Path) -> None:
    place = tmp_path / "a" / "b"
    place.mkdir(parents=True)
    extract = partial(unpack_plugin, temp_dir=str(place), extract=unpack)
    path = packed(tmp_path / "z.zip", {name: "x", MANIFEST: '{"name": "z"}'})
    found = discover(request(tmp_path, plugin_dirs=[path], unpack=extract))
    assert (errors(found), found.plugins) == ([("inline[0]", "generic-error")], [])
    assert list(tmp_path.rglob("out.txt")) == []
