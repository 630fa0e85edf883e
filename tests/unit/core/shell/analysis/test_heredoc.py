from __future__ import annotations

import pytest

from forge.core.shell.analysis.heredoc import prepare
from unit.core.shell.analysis.judged import judged


@pytest.mark.parametrize(
    ("text", "stripped", "bodies"),
    [
        ("cat <<EOF\na $x\nEOF\nls", "cat < __HD0__\nls", [("a $x\n", False)]),
        ("cat <<'EOF'; ls\n$(rm x)\nEOF\n", "cat < __HD0__; ls\n", [("$(rm x)\n", True)]),
        ("cat <<E'O'F\n$((1))\nEOF\nls", "cat < __HD0__\nls", [("$((1))\n", True)]),
        ("cat <<-EOF\n\ta\n\tEOF\nls", "cat < __HD0__\nls", [("a\n", False)]),
        ("a <<X; b <<Y\n1\nX\n2\nY\nc", "a < __HD0__; b < __HD1__\nc", [("1\n", False), ("2\n", False)]),
        ('x "$(cat <<E\na\nE\n)"', 'x "$(cat < __HD0__\n)"', [("a\n", False)]),
        ("cat <<EOF\na\\\nEOF\nb\nEOF", "cat < __HD0__\n", [("a\\\nEOF\nb\n", False)]),
        ("echo '<<EOF'", "echo '<<EOF'", []),
        ("echo $((1<<2))", "echo $((1<<2))", []),
        ("cat <<< word", "cat <<< word", []),
        ("# <<EOF\nls", "# <<EOF\nls", []),
    ],
)
def test_bodies_are_taken_out_by_the_rules_of_bash(
    text: str, stripped: str, bodies: list[tuple[str, bool]]
) -> None:
    prepared = prepare(text)
    assert prepared.trouble == ""
    assert (prepared.text, [(b.text, b.literal) for b in prepared.bodies]) == (stripped, bodies)


@pytest.mark.parametrize("text", ["cat <<$X\na\n$X", "cat <<EOF", 'cat <<EOF "x\nEOF', "echo __HD0__ <<E\nE"])
def test_a_form_that_is_not_followed_is_said(text: str) -> None:
    assert prepare(text).trouble != ""


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("r\\\nm x", "rm x"),
        ("ls\n\\rm x", "ls\n'r'm x"),
        ("exec 3<>f", "exec 3>>f"),
        ("a) b;& c", "a) b;; c"),
    ],
)
def test_what_the_grammar_reads_wrongly_is_written_differently(text: str, same: str) -> None:
    assert prepare(text).text == same


def test_a_finding_points_into_the_text_that_was_given() -> None:
    text = "cat <<'EOF' > a\nöde\nEOF\nls; git reset --hard"
    verdict = judged(text)
    start, end = verdict.findings[0].span
    assert text[start:end] == "git reset --hard"
