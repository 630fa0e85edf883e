from __future__ import annotations

import pytest

from forge.core.review.hunks import DiffError, Hunk, parse, split_lines

HEAD = b"diff --git a/f b/f\nindex 1..2 100644\n--- a/f\n+++ b/f\n"


def test_only_counts_say_where_a_hunk_ends() -> None:
    body = b"--- sql\n+++ inc\n @@ -1,2 +1,2 @@\n diff --git a/x b/x\n \\ No newline\n"
    found = parse(HEAD + b"@@ -1,4 +1,4 @@ def f(): # @@ -1 +1 @@\n" + body + b"diff --git a/g b/g\n")
    lines = (b"--- sql\n", b"+++ inc\n", b" @@ -1,2 +1,2 @@\n", b" diff --git a/x b/x\n", b" \\ No newline\n")
    assert found == [
        (b"diff --git a/f b/f", [Hunk(1, 4, 1, 4, lines)]),
        (b"diff --git a/g b/g", []),
    ]


@pytest.mark.parametrize(
    ("hunk", "lines"),
    [
        (b"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", (b"-a", b"+b\n")),
        (b"@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n", (b"-a\n", b"+b")),
        (
            b"@@ -1,2 +1,2 @@\n-a\n+b\n c\n\\ No newline at end of file\n",
            (b"-a\n", b"+b\n", b" c"),
        ),
        (
            b"@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n",
            (b"-a", b"+b"),
        ),
        (b"@@ -0,0 +1,2 @@\n+a\r\n+\x0c\xe2\x80\xa8\x1c\n", (b"+a\r\n", b"+\x0c\xe2\x80\xa8\x1c\n")),
        (b"@@ -1 +0,0 @@\n-\xb0\xa1\n", (b"-\xb0\xa1\n",)),
    ],
)
def test_lines_are_kept_byte_for_byte(hunk: bytes, lines: tuple[bytes, ...]) -> None:
    assert parse(HEAD + hunk)[0][1][0].lines == lines


@pytest.mark.parametrize(
    "diff",
    [
        b"diff --cc f\n@@@ -1,1 -1,1 +1,1 @@@\n",
        b"\x1b[1mdiff --git a/f b/f\x1b[m\n",
        HEAD + b"@@ -3 +3 @@\n-b\n+B\n",
        HEAD + b"@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n",
        HEAD + b"@@ -1,3 +1,3 @@\n a\n-b\n",
        HEAD + b"@@ -x +1 @@\n-b\n",
        b"@@ -1 +1 @@\n-a\n+b\n",
    ],
    ids=["combined", "coloured", "no context", "blank context", "cut off", "bad header", "no file"],
)
def test_other_forms_are_refused(diff: bytes) -> None:
    with pytest.raises(DiffError):
        parse(diff)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"a", b"a\n", b"a\r\nb", b"a\rb\x0b\x0c\x1c\xc2\x85\xe2\x80\xa8"]
)
def test_only_a_line_feed_ends_a_line(content: bytes) -> None:
    lines = split_lines(content)
    assert b"".join(lines) == content
    assert len(lines) == content.count(b"\n") + (not content.endswith(b"\n") and content != b"")
