from __future__ import annotations

import pytest

from forge.core.shell.meaning import edits_in_place, exit_meaning, is_silent, plain_commands
from forge.core.shell.words import simple_commands


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("echo a b", [("echo", "a", "b")]),
        ("a; b && c || d | e & f\ng", [(n,) for n in "abcdefg"]),
        ("echo 'a b' \"c d\" e\\ f", [("echo", "a b", "c d", "e f")]),
        ("echo a'b'\"c\"", [("echo", "abc")]),
        ("echo a # b; c", [("echo", "a")]),
        ("echo a#b", [("echo", "a#b")]),
        ("cat < in > out 2>&1 >> more", [("cat",)]),
        ("git -C . log -1", [("git", "-C", ".", "log", "-1")]),
        ("FOO=1 cat x", [("FOO=1", "cat", "x")]),
        ("echo {a,b} $HOME ~", [("echo", "{a,b}", "$HOME", "~")]),
        ("echo a \\\n  b", [("echo", "a", "b")]),
        ("sleep 5 &", [("sleep", "5")]),
        ("", []),
        ("# only a comment", []),
    ],
)
def test_lists_of_simple_commands_are_split(text: str, commands: list[tuple[str, ...]]) -> None:
    assert [c.words for c in simple_commands(text) or []] == commands


@pytest.mark.parametrize(
    "text",
    [
        "(ls)",
        "{ ls; }",
        "if true; then ls; fi",
        "for i in 1; do ls; done",
        "x=$(ls)",
        "echo `ls`",
        'echo "$(ls)"',
        "cat <<EOF\na\nEOF",
        "diff <(a) <(b)",
        "echo 'unclosed",
        "[[ a = b ]]",
        "! true",
        "time ls",
        "f() { ls; }",
        "case x in x) ls;; esac",
    ],
)
def test_anything_else_is_left_to_a_real_parser(text: str) -> None:
    assert simple_commands(text) is None


def test_operators_and_redirections_are_noted() -> None:
    (first, second) = simple_commands("cat a* > b | wc") or []
    assert (first.after, first.redirected, first.plain, first.source) == ("|", True, False, "cat a*")
    assert (second.after, second.redirected, second.plain, second.source) == ("", False, True, "wc")


@pytest.mark.parametrize(
    ("text", "silent"),
    [
        ("mkdir b && touch b/c", True),
        ("cd . > /dev/null", True),
        ("rm -f q &", True),
        ("mkdir c # comment", True),
        ("touch f\nrm f", True),
        ("wait", True),
        ("FOO=1 rm -f q", False),
        ("rm -f q; true", False),
        ("rm -f q | cat", False),
        ("mkdir a || echo x", False),
        ("(mkdir zz)", False),
        ("echo hi > f", False),
        ("", False),
    ],
)
def test_commands_that_print_nothing_are_known(text: str, silent: bool) -> None:
    assert is_silent(simple_commands(text)) is silent


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("grep -q zz f", "No matches found"),
        ("ls | egrep zz", "No matches found"),
        ("cd . && rg zz f 2>&1", "No matches found"),
        ("grep zz f || grep yy f", "No matches found"),
        ("git grep zz", "No matches found"),
        ("git -C . --no-pager diff --no-index f g", "Files differ"),
        ("diff f g", "Files differ"),
        ("find nope", "Some directories were inaccessible"),
        ("diff f g; test 1 = 2", "Condition is false"),
        ("[ -f nope ]", "Condition is false"),
        ("/bin/grep zz f", ""),
        ("FOO=1 grep zz f", ""),
        ("grep zz f && echo yes", ""),
        ("(grep zz f)", ""),
        ("git status", ""),
        ("git", ""),
        ("cmp f g", ""),
    ],
)
def test_an_exit_code_that_is_an_answer_is_put_in_words(text: str, meaning: str) -> None:
    commands = simple_commands(text)
    assert exit_meaning(commands, 1) == meaning
    assert (exit_meaning(commands, 0), exit_meaning(commands, 2)) == ("", "")


@pytest.mark.parametrize(
    ("text", "edits"),
    [
        ("sed -i s/a/b/ f", True),
        ("sed -E -i.bak s/a/b/ f", True),
        ("true && sed --in-place s/a/b/ f", True),
        ("find . -exec sed -ni p {} +", True),
        ("sed s/a/b/ f", False),
        ("grep -i sed f", False),
    ],
)
def test_sed_that_changes_files_is_recognised(text: str, edits: bool) -> None:
    assert edits_in_place(text) is edits


def test_a_comparison_of_what_commands_print_is_an_answer_too() -> None:
    assert exit_meaning(plain_commands("cd x && diff <(sort a) <(sort b | uniq)"), 1) == "Files differ"
    assert (plain_commands("diff a b"), plain_commands("if diff <(a) <(b); then x; fi")) == (None, None)
