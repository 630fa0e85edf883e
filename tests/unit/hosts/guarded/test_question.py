from __future__ import annotations

import io

import pytest

from forge.core.shell.analysis.policy import Policy
from forge.core.shell.guard.profiles import profile_for
from forge.hosts.cli.screen import Screen
from forge.hosts.forgecmd.judging import assess, place
from forge.hosts.guarded.permission import Choice, Question, choices
from forge.hosts.guarded.question import ask_person

ENV = {"HOME": "/home/dev", "USER": "dev"}


def question(command: str) -> Question:
    policy = Policy()
    verdict, decision = assess(command, place("/home/dev/proj", ENV, policy), policy)
    return Question(command, verdict, decision, choices(verdict, decision), profile_for(verdict))


def asked(command: str, *answers: str, colour: bool = False) -> tuple[Choice, str]:
    out = io.StringIO()
    lines = iter(answers)
    screen = Screen(out, colour=colour, width=80)
    return ask_person(question(command), screen, lambda: next(lines)), out.getvalue()


@pytest.mark.requirement("S2-31")
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (["o\n"], Choice.ONCE),
        (["session\n"], Choice.SESSION),
        (["  A \n"], Choice.ALWAYS),
        (["n\n"], Choice.NO),
        ([""], Choice.NO),
        (["what?\n", "\n", "s\n"], Choice.SESSION),
    ],
)
def test_answers_are_letters_or_words_and_silence_is_a_no(answers: list[str], expected: Choice) -> None:
    assert asked("git push origin main", *answers)[0] is expected


def test_the_question_says_what_why_and_how_far() -> None:
    _, shown = asked("make && git push origin main", "n\n")
    assert shown == (
        "\ncaution, risk 6 of 10\n"
        "  make && git push origin main\n"
        "\n"
        "  publishes commits.\n"
        "  also: builds the project\n"
        "  Sandbox: not confined\n"
        "\n"
        "  o  once     this command, now\n"
        "  s  session  what it does, until this session ends\n"
        "  a  always   exactly these words, as a rule in your settings\n"
        "  n  no       do not run it\n"
        "Run it? [o/s/a/n] "
    )


def test_the_part_in_question_is_marked_and_escape_sequences_are_not_shown() -> None:
    _, shown = asked("ls; git push 'x'", "n\n", colour=True)
    assert "  ls; \x1b[1mgit push 'x'\x1b[0m\n" in shown
    assert "\x1b[2J" not in asked("git push 'x\x1b[2J'", "n\n", colour=True)[1]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git push origin main", tuple(Choice)),
        ("rm -rf src", (Choice.ONCE, Choice.NO)),
        ('eval "$(cat x)"', (Choice.ONCE, Choice.NO)),
        ("python3 -m pip install x", tuple(Choice)),
        ("rm $x/y", (Choice.ONCE, Choice.NO)),
        ("git push $x", (Choice.ONCE, Choice.SESSION, Choice.NO)),
        ("git push https://u:ghp_" + "a1B2" * 9 + "@h/", (Choice.ONCE, Choice.SESSION, Choice.NO)),
    ],
)
def test_only_answers_that_make_sense_are_offered(command: str, expected: tuple[Choice, ...]) -> None:
    assert question(command).choices == expected


def test_a_dangerous_command_says_that_a_copy_is_made() -> None:
    assert "copied first" in asked("rm -rf src", "n\n")[1]
