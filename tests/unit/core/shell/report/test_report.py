from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.core.shell.report.condense import without_passes, without_repeats
from forge.core.shell.report.excerpt import excerpt
from forge.core.shell.report.report import Report, binary_note, make_report, shows_content
from forge.core.shell.report.settle import settled_text


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain\ntext  \n", "plain\ntext  \n"),
        ("a\r\nb\r\n", "a\r\nb\r\n"),
        ("10%\r50%\r100%\ndone\n", "100%\ndone\n"),
        ("|\b/\b-\b\\\bok\n", "ok\n"),
        ("\x1b[32mgreen\x1b[0m\n", "green\n"),
        ("loading 1\x1b[2K\rloading 2\x1b[2K\rready\n", "ready\n"),
        ("one: 0%\ntwo: 0%\n\x1b[2A\x1b[2Kone: 9%\n\x1b[2Ktwo: 9%\nend\n", "one: 9%\ntwo: 9%\nend\n"),
        ("a\x1b[Kb", "ab"),
        ("\x1b]0;title\x07text\n", "text\n"),
        ("x" * 300 + "\r" + "y" * 300 + "\n", "y" * 300 + "\n"),
        ("\x1b[?1049hfull screen\x1b[?1049lafter\n", "after\n"),
    ],
)
@pytest.mark.requirement("S2-09")
def test_progress_leaves_its_last_state(output: str, text: str) -> None:
    assert settled_text(output) == text


def test_everything_that_scrolled_away_is_there() -> None:
    output = "".join(f"\x1b[1mline {n}\x1b[0m\n" for n in range(5000))
    assert settled_text(output) == "".join(f"line {n}\n" for n in range(5000))


@given(st.text(st.characters(exclude_characters="\x1b\b\x7f\x0e\x0f\x9b\r"), max_size=200))
def test_text_without_movement_is_not_touched(text: str) -> None:
    assert settled_text(text) == text


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("a\na\na\nb", "a\na\na\nb"),
        ("a\na\na\na\na\nb", "a\n[the line above 4 more times]\nb"),
        ("a\n\n\n\n\nb", "a\n\n\nb"),
        ("1\n2\n3\n4", "1\n2\n3\n4"),
    ],
)
def test_only_identical_lines_in_a_row_are_merged(output: str, text: str) -> None:
    assert without_repeats(output) == text


PYTEST = "\n".join(
    [
        "collected 8 items",
        *(f"tests/test_a.py::test_{n} PASSED    [ {n}0%]" for n in range(4)),
        "tests/test_a.py::test_bad FAILED        [ 50%]",
        *(f"tests/test_b.py::test_{n}[x y] PASSED    [ 9{n}%]" for n in range(3)),
        "=================================== FAILURES ===================================",
        *(f"tests/test_a.py::test_{n} PASSED    [ {n}0%]" for n in range(4)),
        "E   assert 1 == 2",
        "1 failed, 7 passed in 0.12s",
    ]
)


def test_tests_that_passed_become_their_number_and_failures_stay() -> None:
    lines = without_passes(PYTEST).split("\n")
    assert lines[:4] == [
        "collected 8 items",
        "[4 lines about success]",
        "tests/test_a.py::test_bad FAILED        [ 50%]",
        "[3 lines about success]",
    ]
    assert lines[4:] == PYTEST.split("\n")[9:]


@pytest.mark.parametrize(
    "line",
    [
        "test_x (pkg.Case) ... ok",
        "=== RUN   TestX",
        "    --- PASS: TestX/sub (0.00s)",
        "test module::name ... ok",
        "  ✓ adds numbers (3 ms)",
        "ok 12 - works",
        "  3/10 Test  #3: name .............   Passed    0.01 sec",
        "ClassTest > method() PASSED",
        "   Compiling serde v1.0.200",
    ],
)
def test_lines_about_success_of_many_tools_are_known(line: str) -> None:
    assert without_passes("\n".join([line] * 3)) == "[3 lines about success]"


@pytest.mark.parametrize(
    "line",
    ["FAILED tests/x.py::test", "--- FAIL: TestX", "test x ... FAILED", "not ok 3", "✗ breaks", "error: x"],
)
def test_failures_are_never_taken_for_success(line: str) -> None:
    text = "\n".join([line] * 3)
    assert without_passes(text) == text


def test_a_long_output_keeps_start_end_and_errors() -> None:
    lines = [f"line {n}" for n in range(10_000)]
    lines[5000] = "src/x.c:3: error: expected ';'"
    text = "\n".join(lines)
    short = excerpt(text, 4000, source="history 7")
    assert short.startswith("line 0\n") and short.endswith("\nline 9999")
    assert len(short) <= 4000
    assert "error: expected ';'" in short and "Whole output: history 7." in short


def test_an_excerpt_is_cut_between_lines_unless_they_are_very_long() -> None:
    shown = excerpt("\n".join(f"line {n}." for n in range(1000)), 1000).split("\n")
    note = next(n for n, line in enumerate(shown) if line.startswith("[..."))
    first, last = note, 1000 - (len(shown) - note - 1)
    assert shown == [f"line {n}." for n in range(first)] + [shown[note]] + [
        f"line {n}." for n in range(last, 1000)
    ]
    long = excerpt("x" * 5000 + "\n" + "y" * 5000, 1000).split("\n")
    assert ({*long[0]}, {*long[-1]}) == ({"x"}, {"y"})


def test_a_short_output_is_shown_whole() -> None:
    assert excerpt("abc\n", 4) == "abc\n"


@given(st.text(st.characters(codec="utf-8"), max_size=3000), st.integers(500, 2000))
def test_an_excerpt_is_never_longer_than_its_source_or_much_longer_than_its_limit(
    text: str, limit: int
) -> None:
    assert len(excerpt(text, limit)) <= max(limit + 200, len(text) if len(text) <= limit else 0)


@pytest.mark.requirement("S2-38")
def test_a_report_says_what_was_done_and_what_it_saved() -> None:
    output = "50%\r100%\n" + "same\n" * 10
    text = "100%\nsame\n[the line above 9 more times]\n"
    assert make_report(output, verbatim=False) == Report(text, len(output), len(text), ("settled", "repeats"))


def test_content_that_is_read_stays_as_it_is() -> None:
    output = "same\n" * 10 + "ok 1\nok 2\nok 3\n"
    assert make_report(output, verbatim=True) == Report(output, len(output), len(output))
    raw = "\x1b[31mred\x1b[0m\r!\n"
    assert make_report(raw, verbatim=True) == Report(raw, len(raw), len(raw))
    assert make_report(raw, verbatim=True, terminal=True).text == "!ed\n"
    assert [shows_content(name) for name in ("cat", "/usr/bin/rg", "make", "pytest")] == [
        True,
        True,
        False,
        False,
    ]


def test_binary_output_is_named_and_not_shown() -> None:
    expected = "[The output is PNG image, 12 bytes, and is not shown. It was saved to /x.]"
    assert binary_note("PNG image", 12, "/x") == expected
