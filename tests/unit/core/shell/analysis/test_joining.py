from __future__ import annotations

import pytest

from forge.core.shell.analysis.joining import join_lines
from unit.core.shell.analysis.judged import judged


@pytest.mark.parametrize(
    ("text", "joined", "cuts"),
    [
        ("r\\\nm -rf x", "rm -rf x", [1]),
        ("rm -r\\\n\\\nf x", "rm -rf x", [5, 5]),
        ("ls \\\n  -la", "ls \\\n  -la", []),
        ("echo 'a\\\nb'", "echo 'a\\\nb'", []),
        ('echo "a\\\nb"', 'echo "a\\\nb"', []),
        ("ls # a\\\nrm", "ls # a\\\nrm", []),
        ("cat <<E\na\\\nb\nE", "cat <<E\na\\\nb\nE", []),
        ("echo $(r\\\nm x)", "echo $(rm x)", [8]),
        ("echo 'open\\\n", "echo 'open\\\n", []),
    ],
)
def test_only_line_breaks_that_glue_words_are_taken_out(text: str, joined: str, cuts: list[int]) -> None:
    assert join_lines(text) == (joined, cuts)


def test_places_of_findings_are_those_of_the_text_as_it_was_given() -> None:
    text = "ec\\\nho a; rm -rf src"
    worst = judged(text).findings[0]
    assert (worst.category, text[slice(*worst.span)]) == ("dangerous", "rm -rf src")


@pytest.mark.parametrize(
    "text", ["a=(1); a=rm eval '$a -rf /'", "a=ls; a=rm eval '$a -rf /'", "f() { $x -rf /; }; x=rm f"]
)
def test_what_stands_before_a_command_holds_while_it_runs(text: str) -> None:
    assert judged(text).category == "forbidden"


def test_only_one_digit_names_an_argument_without_braces() -> None:
    assert judged("f() { /bin/$10 -rf /; }; f r").steps[-1].text == "/bin/r0 -rf /"


def test_what_stood_before_a_command_is_undone() -> None:
    assert judged("x=ls; x=rm true; $x").category == "read_only"
