"""Asks the person at the terminal: what, why, where it would run, and for how long the answer holds."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from forge.core.shell.sandbox.profile import Profile
from forge.hosts.cli.screen import Screen, clean, open_screen
from forge.hosts.guarded.permission import Choice, Question

_MEANINGS = {
    Choice.ONCE: ("o", "once", "this command, now"),
    Choice.SESSION: ("s", "session", "what it does, until this session ends"),
    Choice.ALWAYS: ("a", "always", "exactly these words, as a rule in your settings"),
    Choice.NO: ("n", "no", "do not run it"),
}
_STYLES = {"caution": "yellow", "interactive": "cyan", "dangerous": "alarm", "safe_write": "cyan"}
_REACH = {
    Profile.READ: "may read, but not write or use the network",
    Profile.WORKSPACE: "may write in the workspace; no network",
    Profile.BUILD: "may write in the workspace and use the network",
    Profile.FULL: "not confined",
}


def terminal_screen(env: Mapping[str, str]) -> Screen:
    """Standard error as a screen: questions must not end up in the output of the command."""
    like = open_screen(env)
    colour = sys.stderr.isatty() and not env.get("NO_COLOR") and env.get("TERM") != "dumb"
    return Screen(sys.stderr, colour=colour, width=like.width, signs=like.signs)


def ask_person(question: Question, screen: Screen, read: Callable[[], str]) -> Choice:
    """Shows the question and reads the answer; no answer is a no."""
    _show(question, screen)
    known = {_MEANINGS[choice][0]: choice for choice in question.choices}
    known |= {_MEANINGS[choice][1]: choice for choice in question.choices}
    while True:
        screen.write(f"{screen.paint('Run it?', 'bold')} [{'/'.join(_letters(question))}] ")
        try:
            line = read()
        except KeyboardInterrupt:
            line = ""
        if not line:
            screen.line()
            return Choice.NO
        word = line.strip().lower()
        if word in known:
            return known[word]
        screen.say(f"Please answer with one of: {', '.join(_letters(question))}.", "dim")


def _letters(question: Question) -> list[str]:
    return [_MEANINGS[choice][0] for choice in question.choices]


def _show(question: Question, screen: Screen) -> None:
    verdict, decision = question.verdict, question.decision
    style = _STYLES.get(verdict.category, "")
    screen.line()
    screen.line(f"{screen.paint(f'{verdict.category}, risk {verdict.risk} of 10', style)}")
    for line in _marked(question, screen):
        screen.line(f"  {line}")
    screen.line()
    screen.say(f"{decision.reason}.", first="  ")
    for finding in verdict.findings[1:4]:
        if finding.category != "read_only" and finding.reason != decision.reason:
            screen.say(f"also: {finding.reason}", "dim", first="  ")
    if decision.finding is not None and decision.finding.safer:
        screen.say(f"Safer: {decision.finding.safer}", "green", first="  ")
    screen.say(f"Sandbox: {_REACH[question.profile]}", "dim", first="  ")
    if decision.verdict == "deny":
        screen.say("What it names is copied first, as far as it fits: see `forgecmd restore`.", first="  ")
    screen.line()
    rows = [(_MEANINGS[c][0], _MEANINGS[c][1], _MEANINGS[c][2]) for c in question.choices]
    screen.table(rows, styles={0: "bold", 1: "bold"})


def _marked(question: Question, screen: Screen) -> list[str]:
    """The command with the part in question in bold."""
    text = question.command
    finding = question.decision.finding
    begin, end = finding.span if finding is not None else (0, 0)
    lines = []
    at = 0
    for line in text.split("\n"):
        first, last = max(begin - at, 0), min(max(end - at, 0), len(line))
        if first < last:
            middle = screen.paint(clean(line[first:last]), "bold")
            lines.append(clean(line[:first]) + middle + clean(line[last:]))
        else:
            lines.append(clean(line))
        at += len(line) + 1
    return lines
