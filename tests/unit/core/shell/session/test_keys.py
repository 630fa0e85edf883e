from __future__ import annotations

import pytest

from forge.core.shell.session.keys import Key, parse_keys
from forge.core.shell.session.prompts import (
    Line,
    Prompt,
    UnclearLine,
    asks_for_secret,
    looks_like_question,
    prompt_of,
    submitted_lines,
)


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        ("abc", "abc"),
        ("a<Enter>b", "a\rb"),
        ("a\nb", "a\rb"),
        ("<Esc>:wq<CR>", "\x1b:wq\r"),
        ("<C-c><C-d><c-A><C-[><C-@><C-Space>", "\x03\x04\x01\x1b\0\0"),
        ("<Up><Down><Left><Right><Home><End>", "\x1b[A\x1b[B\x1b[D\x1b[C\x1b[H\x1b[F"),
        ("<F1><F4><F5><F10><F12>", "\x1bOP\x1bOS\x1b[15~\x1b[21~\x1b[24~"),
        ("<PageUp><PgDn><Del><Insert>", "\x1b[5~\x1b[6~\x1b[3~\x1b[2~"),
        ("<Tab><S-Tab><BS><Space>", "\t\x1b[Z\x7f "),
        ("<M-x><A-b><M-C-c>", "\x1bx\x1bb\x1b\x03"),
        ("<C-Up><S-F5><C-S-Right>", "\x1b[1;5A\x1b[15;2~\x1b[1;6C"),
        ("<lt>div> <div> a<b", "<div> <div> a<b"),
        ("<C-Enter><Nokey>", "<C-Enter><Nokey>"),
    ],
)
def test_names_of_keys_become_what_a_terminal_sends(keys: str, sent: str) -> None:
    assert "".join(key.sent for key in parse_keys(keys)) == sent


def test_arrow_keys_have_another_form_when_a_program_wants_it() -> None:
    assert parse_keys("<Up>x", application=True) == [Key("\x1bOA"), Key("x", "x")]


@pytest.mark.parametrize(
    ("line", "kind", "typed"),
    [
        ("$ ls", Prompt.SHELL, "ls"),
        ("user@host:~/src$ git st", Prompt.SHELL, "git st"),
        ("(venv) root@x:/# ", Prompt.SHELL, ""),
        ("PS C:\\Users> dir", Prompt.SHELL, "dir"),
        (">>> 1+1", Prompt.REPL, "1+1"),
        ("... x", Prompt.REPL, "x"),
        ("In [3]: x", Prompt.REPL, "x"),
        ("sqlite> drop", Prompt.REPL, "drop"),
        ("postgres=# select", Prompt.REPL, "select"),
        ("mysql> x", Prompt.REPL, "x"),
        ("Continue? [y/N] ", Prompt.OTHER, "Continue? [y/N] "),
        ("~", Prompt.OTHER, "~"),
    ],
)
def test_a_line_is_known_by_its_prompt(line: str, kind: Prompt, typed: str) -> None:
    assert prompt_of(line) == (kind, typed)


@pytest.mark.parametrize(
    ("line", "question", "secret"),
    [
        ("Continue? [Y/n] ", True, False),
        ("Overwrite (yes/no)", True, False),
        ("Password: ", True, True),
        ("Enter passphrase for key '/x/id': ", True, True),
        ("[sudo] password for dev: ", True, True),
        ("Name: ", True, False),
        ("compiling 3 of 4", False, False),
    ],
)
def test_questions_are_recognised_by_their_end(line: str, question: bool, secret: bool) -> None:
    assert (looks_like_question(line), asks_for_secret(line)) == (question, secret)


@pytest.mark.parametrize(
    ("keys", "line", "expected"),
    [
        ("ls -l<Enter>", "$ ", ["ls -l"]),
        ("a<Enter>b\nc", "$ ", ["a", "b"]),
        ("<Enter>", "$ rm -rf x", ["rm -rf x"]),
        ("x<C-c>y<Enter>", "$ z", ["y"]),
        ("ls", "$ ", []),
        ("ls<Enter>", "some output", []),
    ],
)
def test_lines_that_would_run_are_known_before_they_are_sent(
    keys: str, line: str, expected: list[str]
) -> None:
    assert submitted_lines(parse_keys(keys), line) == [Line(Prompt.SHELL, text) for text in expected]


@pytest.mark.parametrize("keys", ["<Up><Enter>", "rm<Tab><Enter>", "x<BS><Enter>", "<C-r>rm<Enter>"])
def test_a_line_that_cannot_be_known_is_not_guessed(keys: str) -> None:
    with pytest.raises(UnclearLine):
        submitted_lines(parse_keys(keys), "$ ")
