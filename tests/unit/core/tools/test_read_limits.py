from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.core.tools.read import ACTION
from unit.core.tools.context import RecordingContext, call, failure

NARROW = (
    "Use offset and limit parameters to read specific portions of the file, or search for specific content "
    "instead of reading the whole file."
)
ANYWAY = (
    "To read it anyway, up to what still fits in your context, call Read again with allow_large: true — only "
    "if you genuinely need all of it or the user asked for the whole file."
)
LINE = "line of exactly forty characters, ended.\n"


def big(tmp_path: Path, lines: int) -> str:
    path = tmp_path / "big.txt"
    path.write_text(LINE * lines)
    return str(path)


@pytest.mark.parametrize("given", [{}, {"offset": 1}, {"offset": 9000}])
def test_a_file_over_256_kb_needs_a_range(tmp_path: Path, given: dict[str, Any]) -> None:
    ctx = RecordingContext(tmp_path)
    assert failure(ACTION, ctx, file_path=big(tmp_path, 10_000), **given) == (
        "failed",
        f"File content (400.4KB) exceeds maximum allowed size (256KB). {NARROW} {ANYWAY}",
    )
    assert ctx.seen == {}


def test_a_range_of_a_large_file_is_streamed(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path)
    path = tmp_path / "large.txt"
    path.write_bytes(b"".join(b"%d\r\n" % n for n in range(1, 300_001)) + b"end")
    read = [
        call(ACTION, ctx, file_path=str(path), **given).data["file"]
        for given in ({"limit": 2}, {"offset": 200_000, "limit": 2}, {"offset": 300_001, "limit": 5})
    ]
    facts = [(f["content"], f["numLines"], f["startLine"], f["totalLines"]) for f in read]
    assert facts == [
        ("1\n2", 2, 1, 300_001),
        ("200000\n200001", 2, 200_000, 300_001),
        ("end", 1, 300_001, 300_001),
    ]
    assert ctx.seen[str(path)].partial
    past = call(ACTION, ctx, file_path=str(path), offset=300_002, limit=5)
    assert "shorter than the provided offset (300002). The file has 300001 lines." in str(past.content)


def test_a_sparse_giant_is_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "giant.log"
    with path.open("wb") as file:
        file.write(b"first\nsecond\n")
        file.truncate(300 * 1024 * 1024)
    ctx = RecordingContext(tmp_path)
    assert failure(ACTION, ctx, file_path=str(path))[1].startswith("File content (300MB) exceeds maximum")
    assert failure(ACTION, ctx, file_path=str(path), allow_large=True)[1].startswith(
        f"File content (300MB) exceeds maximum allowed size (1.3MB). {NARROW} Even with allow_large"
    )


def test_too_many_tokens_are_cut_to_a_page_that_names_the_next(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path)
    path = big(tmp_path, 4000)
    output = call(ACTION, ctx, file_path=path)
    content, file = str(output.content), output.data["file"]
    shown = 85_000 // len(LINE)
    assert content.endswith(
        f"{shown}\t{LINE}\n<system-reminder>\n[Truncated: PARTIAL view — {path}: showing lines 1-{shown} "
        f"of 4001 total (41000 tokens, cap 25000). Call Read with offset={shown + 1} limit={shown} for the "
        f"next page, or Grep to find a specific section. {ANYWAY} Do NOT answer from this page alone if "
        "the answer may be further in the file.]\n</system-reminder>"
    )
    assert (file["numLines"], file["totalLines"], file["truncatedByTokenCap"]) == (shown, 4001, True)
    assert ctx.seen == {}


def test_one_very_long_line_is_cut_by_characters(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("x" * 150_000)
    output = call(ACTION, RecordingContext(tmp_path), file_path=str(path))
    assert "showing the first 85000 of 150000 characters (37500 tokens, cap 25000); this file" in str(
        output.content
    )
    assert output.data["file"]["content"] == "x" * 85_000


@pytest.mark.parametrize(("given", "tokens"), [({"limit": 4000}, 40999), ({"offset": 101}, 39975)])
def test_a_range_with_too_many_tokens_is_an_error(tmp_path: Path, given: dict[str, Any], tokens: int) -> None:
    assert failure(ACTION, RecordingContext(tmp_path), file_path=big(tmp_path, 4000), **given) == (
        "failed",
        f"File content ({tokens} tokens) exceeds maximum allowed tokens (25000). {NARROW} {ANYWAY}",
    )


def test_large_reads_can_be_allowed(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path)
    path = big(tmp_path, 7_000)
    output = call(ACTION, ctx, file_path=path, allow_large=True)
    assert output.data["file"]["numLines"] == 7_001
    assert not ctx.seen[path].partial


def test_a_large_read_still_fits_into_one_message(tmp_path: Path) -> None:
    ctx, path = RecordingContext(tmp_path), big(tmp_path, 12_000)
    output = call(ACTION, ctx, file_path=path, allow_large=True)
    assert output.data["file"]["truncatedByTokenCap"] and len(str(output.content)) < 400_000
    assert "Even with allow_large" in failure(ACTION, ctx, file_path=path, offset=1, allow_large=True)[1]


@pytest.mark.parametrize(
    "name", ["CLAUDE_CODE_FILE_READ_MAX_OUTPUT_TOKENS", "FORGE_FILE_READ_MAX_OUTPUT_TOKENS"]
)
def test_the_token_limit_comes_from_the_environment(tmp_path: Path, name: str) -> None:
    ctx = RecordingContext(tmp_path, {name: "100"})
    text = failure(ACTION, ctx, file_path=big(tmp_path, 20), limit=20)[1]
    assert text.startswith("File content (204 tokens) exceeds maximum allowed tokens (100).")
