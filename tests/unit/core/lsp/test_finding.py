from __future__ import annotations

from typing import Any

import pytest

from forge.core.lsp.finding import HEADER, Finding, News, read_findings, tell
from forge.core.lsp.hearing import Hearing

PLACE = {"start": {"line": 2, "character": 4}, "end": {"line": 2, "character": 9}}


def test_findings_are_told_worst_first_in_the_words_of_the_reference() -> None:
    raw = [
        {"range": PLACE, "severity": 4, "message": "hint thing"},
        {"range": PLACE, "severity": 1, "message": "bad thing\nmore", "code": "E1", "source": "fake"},
        {"range": PLACE, "severity": 2, "message": "warn thing", "code": 7},
        {"range": PLACE, "severity": 3, "message": "info thing", "source": "fake"},
        {"range": PLACE, "message": "no severity"},
        "nonsense",
    ]
    news = tell({"/p/sub/a.foo": read_findings(raw)})
    assert news.text == (
        "<new-diagnostics>The following new diagnostic issues were detected:\n\na.foo:\n"
        "  ✘ [Line 3:5] bad thing\nmore [E1] (fake)\n"
        "  ✘ [Line 3:5] no severity\n"
        "  ⚠ [Line 3:5] warn thing [7]\n"
        "  ℹ [Line 3:5] info thing (fake)\n"
        "  ★ [Line 3:5] hint thing</new-diagnostics>"
    )
    (file,) = news.files
    assert (file["uri"], [row["severity"] for row in file["diagnostics"]]) == (
        "/p/sub/a.foo",
        ["Error", "Error", "Warning", "Info", "Hint"],
    )
    assert file["diagnostics"][0] == {
        "message": "bad thing\nmore",
        "severity": "Error",
        "range": PLACE,
        "source": "fake",
        "code": "E1",
    }


@pytest.mark.parametrize("raw", [None, 3, {}, [], [1], "x"])
def test_what_is_no_list_of_diagnostics_says_nothing(raw: Any) -> None:
    assert tell({"/a": read_findings(raw)}) == News()


def test_at_most_ten_per_file_and_thirty_in_all_are_told() -> None:
    many = [Finding(n, 1, "m") for n in range(1, 20)]
    told = tell({f"/{name}.py": many for name in "abcd"}).text
    assert [told.count(f"{name}.py:") for name in "abcd"] == [1, 1, 1, 0]
    assert told.count("✘") == 30


def test_a_long_text_is_cut() -> None:
    told = tell({"/a.py": [Finding(1, 1, "x" * 9_000)]}).text
    inner = told.removeprefix(f"<new-diagnostics>{HEADER}\n\n").removesuffix("</new-diagnostics>")
    assert (len(inner), inner.endswith("x…[truncated]")) == (4_000, True)


def test_what_was_told_is_news_again_only_after_an_edit() -> None:
    hearing, one, two = Hearing(), Finding(1, 1, "one"), Finding(2, 1, "two")
    hearing.hear("/a.py", [one])
    first = hearing.take().text
    hearing.hear("/a.py", [one])
    again = hearing.take().text
    hearing.hear("/a.py", [one, two])
    more = hearing.take().text
    hearing.forget("/a.py")
    hearing.hear("/a.py", [one])
    edited = hearing.take().text
    assert ["one" in first, again, "one" in more, "two" in more, "one" in edited, hearing.take().text] == [
        True,
        "",
        False,
        True,
        True,
        "",
    ]
