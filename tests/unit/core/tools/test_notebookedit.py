from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forge.core.tools import read
from forge.core.tools.notebookedit import ACTION
from unit.core.tools.context import RecordingContext, call, failure

CODE: dict[str, Any] = {
    "cell_type": "code",
    "id": "c1",
    "metadata": {},
    "execution_count": 3,
    "outputs": [{"output_type": "stream", "name": "stdout", "text": ["hi\n"]}],
    "source": ["print(1)\n", "x"],
}
WORDS: dict[str, Any] = {"cell_type": "markdown", "id": "m1", "metadata": {"t": 1}, "source": "# T"}
META = {"kernelspec": {"language": "julia"}}


def notebook(*cells: dict[str, Any], minor: int = 5) -> dict[str, Any]:
    return {"cells": list(cells), "metadata": META, "nbformat": 4, "nbformat_minor": minor}


def opened(tmp_path: Path, text: str | None = None) -> tuple[RecordingContext, Path]:
    """A context that has read a notebook."""
    path = tmp_path / "n.ipynb"
    path.write_text(json.dumps(notebook(CODE, WORDS), indent=1) + "\n" if text is None else text, newline="")
    ctx = RecordingContext(tmp_path)
    call(read.ACTION, ctx, file_path=str(path))
    return ctx, path


FRESH: dict[str, Any] = {"metadata": {}, "execution_count": None, "outputs": []}


@pytest.mark.parametrize(
    ("given", "words", "cells"),
    [
        (
            {"cell_id": "c1", "new_source": "y = 1\nz"},
            "Updated cell c1 with y = 1\nz",
            [{**CODE, "execution_count": None, "outputs": [], "source": ["y = 1\n", "z"]}, WORDS],
        ),
        (
            {"cell_id": "cell-1", "new_source": "by index"},
            "Updated cell cell-1 with by index",
            [CODE, {**WORDS, "source": "by index"}],
        ),
        (
            {"cell_id": "m1", "new_source": "q=1", "cell_type": "code"},
            "Updated cell m1 with q=1",
            [CODE, {**WORDS, "cell_type": "code", "source": "q=1", "execution_count": None, "outputs": []}],
        ),
        (
            {"cell_id": "c1", "new_source": "# md", "cell_type": "markdown"},
            "Updated cell c1 with # md",
            [{"cell_type": "markdown", "id": "c1", "metadata": {}, "source": ["# md"]}, WORDS],
        ),
        ({"cell_id": "m1", "new_source": "", "edit_mode": "delete"}, "Deleted cell m1", [CODE]),
    ],
    ids=["replace", "by index", "to code", "to markdown", "delete"],
)
def test_one_cell_changes(
    tmp_path: Path, given: dict[str, Any], words: str, cells: list[dict[str, Any]]
) -> None:
    ctx, path = opened(tmp_path)
    output = call(ACTION, ctx, notebook_path=str(path), **given)
    assert output.content == words
    assert json.loads(path.read_text()) == notebook(*cells)
    assert path.read_text() == json.dumps(notebook(*cells), indent=1) + "\n"


@pytest.mark.parametrize(
    ("after", "kind", "place", "extra"),
    [("c1", "code", 1, FRESH), ("m1", "code", 2, FRESH), ("", "markdown", 0, {"metadata": {}})],
)
def test_a_cell_is_inserted_behind_another_or_in_front(
    tmp_path: Path, after: str, kind: str, place: int, extra: dict[str, Any]
) -> None:
    ctx, path = opened(tmp_path)
    where = {"cell_id": after} if after else {}
    output = call(
        ACTION, ctx, notebook_path=str(path), new_source="n", edit_mode="insert", cell_type=kind, **where
    )
    made = output.data["cell_id"]
    assert len(made) == 8
    assert output.content == f"Inserted cell {made} with n"
    cells = [CODE, WORDS]
    cells.insert(place, {"cell_type": kind, "id": made, "source": "n", **extra})
    assert path.read_text() == json.dumps(notebook(*cells), indent=1) + "\n"


def test_cells_of_an_old_format_get_no_id(tmp_path: Path) -> None:
    old = {"cell_type": "code", **FRESH, "source": ["a"]}
    ctx, path = opened(tmp_path, json.dumps(notebook(old, minor=2), indent=4))
    output = call(
        ACTION,
        ctx,
        notebook_path="n.ipynb",
        new_source="c",
        cell_id="cell-0",
        edit_mode="insert",
        cell_type="code",
    )
    assert (output.content, "cell_id" in output.data) == ("Inserted a new cell with c", False)
    new = {"cell_type": "code", "source": "c", **FRESH}
    assert path.read_text() == json.dumps(notebook(old, new, minor=2), indent=4)


@pytest.mark.parametrize("end", ["", "\n", "\n\n"])
@pytest.mark.parametrize("indent", [None, 1, 2, 4, "\t"])
def test_indentation_and_the_end_of_the_file_stay(tmp_path: Path, indent: int | str | None, end: str) -> None:
    separators = (",", ":") if indent is None else None
    text = json.dumps(notebook(WORDS), indent=indent, separators=separators) + end
    ctx, path = opened(tmp_path, text)
    call(ACTION, ctx, notebook_path=str(path), cell_id="m1", new_source="# Ü")
    assert path.read_bytes().decode() == text.replace("# T", "# Ü")


def test_line_ends_stay(tmp_path: Path) -> None:
    text = (json.dumps(notebook(WORDS), indent=1) + "\n").replace("\n", "\r\n")
    ctx, path = opened(tmp_path, text)
    call(ACTION, ctx, notebook_path=str(path), cell_id="m1", new_source="x")
    assert path.read_bytes().decode() == text.replace("# T", "x")


def test_hosts_get_both_versions_of_the_file(tmp_path: Path) -> None:
    ctx, path = opened(tmp_path)
    before = path.read_text()
    output = call(ACTION, ctx, notebook_path="n.ipynb", cell_id="c1", new_source="y")
    assert output.data == {
        "new_source": "y",
        "old_source": "print(1)\nx",
        "cell_type": "code",
        "language": "julia",
        "edit_mode": "replace",
        "cell_id": "c1",
        "error": "",
        "notebook_path": str(path),
        "original_file": before,
        "updated_file": path.read_text(),
    }


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"new_source": "x"}, "Cell ID must be specified when not inserting a new cell."),
        ({"cell_id": "1"}, 'Cell with ID "1" not found in notebook.'),
        ({"cell_id": "cell-99"}, "Cell with index 99 does not exist in notebook."),
        ({"edit_mode": "insert"}, "Cell type is required when using edit_mode=insert."),
        (
            {"notebook_path": "x.txt"},
            "File must be a Jupyter notebook (.ipynb file). For editing other file types, use the FileEdit "
            "tool.",
        ),
        (
            {"notebook_path": "none.ipynb", "cell_id": "c1"},
            "File has not been read yet. Read it first before writing to it.",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_in_known_words(
    tmp_path: Path, given: dict[str, Any], words: str
) -> None:
    ctx, path = opened(tmp_path)
    before = path.read_bytes()
    assert failure(ACTION, ctx, **{"notebook_path": str(path), "new_source": "x", **given}) == (
        "refused",
        words,
    )
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["not json", "[]", '{"cells": 1}', '{"cells": [1]}'])
def test_a_notebook_that_got_damaged_is_not_touched(tmp_path: Path, text: str) -> None:
    ctx, path = opened(tmp_path)
    path.write_text(text)
    kind, words = failure(ACTION, ctx, notebook_path=str(path), cell_id="c1", new_source="x")
    assert (kind, words.startswith("Notebook is not valid")) == ("refused", True)
    assert path.read_text() == text
