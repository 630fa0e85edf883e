from __future__ import annotations

from typing import Any

import pytest

from forge.foundation.globs import matches_paths, read_patterns


@pytest.mark.parametrize(
    ("value", "file", "expected"),
    [
        ("src/**/*.ts", "src/a.ts", True),
        ("src/**/*.ts", "src/x/y/a.ts", True),
        ("src/**", "src/a.ts", True),
        ("src/", "src/a.ts", True),
        ("src", "src/a.ts", True),
        ("/src/**", "src/a.ts", True),
        ("/src/*.ts", "lib/src/a.ts", False),
        ("*.ts", "src/a.ts", True),
        ("a.ts", "src/a.ts", True),
        ("src/?.ts", "src/a.ts", True),
        ("src/[ab].ts", "src/a.ts", True),
        ("src/[!ab].ts", "src/a.ts", False),
        ("src/*.{ts,tsx}", "src/a.tsx", True),
        ("{src,lib}/{a,b}.ts", "lib/b.ts", True),
        ("lib/**, src/**", "src/a.ts", True),
        ("SRC/**", "src/a.ts", True),
        ("./src/**", "src/a.ts", False),
        ("/abs/src/a.ts", "src/a.ts", False),
        ("src/@(a|b).ts", "src/a.ts", False),
        ("docs/**", "src/a.ts", False),
        ("src/*/a.ts", "src/x/y/a.ts", False),
        ("**/a.ts", "a.ts", True),
        ("src/**", "../src/a.ts", False),
        ("[src/**", "src/a.ts", False),
        ("*.m[", "src/a.ts", False),
        (r"\*.ts", "src/a.ts", False),
        (["src/**", "!src/a.ts"], "src/a.ts", True),
        (["src/*.ts", "!src/a.ts"], "src/a.ts", False),
        (["!src/a.ts", "src/*.ts"], "src/a.ts", True),
        (["#src"], "#src", False),
    ],
)
def test_patterns_match_as_gitignore_does(value: Any, file: str, expected: bool) -> None:
    patterns = read_patterns(value)
    assert patterns is not None
    assert matches_paths(patterns, file) is expected


@pytest.mark.parametrize("value", [None, "", [], 5, {"a": "b"}, "**", ["**"], " , ", [5]])
def test_values_that_leave_nothing_out_are_no_condition(value: Any) -> None:
    assert read_patterns(value) is None


def test_a_text_is_cut_at_commas_outside_braces() -> None:
    assert read_patterns("a/*.{b,c} , d") == ["a/*.{b,c}", "d"]


def test_braces_cannot_grow_without_limit() -> None:
    assert not matches_paths(["{a,b}" * 60], "x")
