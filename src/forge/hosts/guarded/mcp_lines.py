"""Which of the keys that are sent are lines for a shell or an interpreter, and whether these may run."""

from __future__ import annotations

import ast
import re
import shlex

from forge.core.shell.session.keys import SUBMITTING, Key, parse_keys
from forge.core.shell.session.program import Program
from forge.core.shell.session.prompts import Line, Prompt, UnclearLine, submitted_lines
from forge.hosts.forgecmd.judging import only_waits
from forge.hosts.guarded.ground import Ground
from forge.hosts.guarded.perform import Job, note_refusal
from forge.hosts.guarded.permission import Asking, permit

_SHELLS = (
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "busybox", "fish", "su", "sudo", "ssh", "tmux",
    "screen", "script", "docker",
)  # fmt: skip
# How a line for an interpreter is written as a command that can be judged.
_CODE = {
    "python": "python3 -c", "python3": "python3 -c", "ipython": "python3 -c", "node": "node -e",
    "ruby": "ruby -e", "irb": "ruby -e", "perl": "perl -e", "php": "php -r", "psql": "psql -c",
    "mysql": "mysql -e", "mariadb": "mysql -e", "sqlite3": "sqlite3 x.db", "redis-cli": "redis-cli",
}  # fmt: skip
# Lines that change what later lines mean.
_LASTING = re.compile(r"\b(?:cd|pushd|popd|alias|export|declare|set|shopt|source|function|unset)\b|\w=|\(\)")
_MOST_LASTING = 200
_ESCAPING = (
    "vi", "vim", "nvim", "view", "vimdiff", "ex", "ed", "less", "more", "most", "man", "gdb", "lldb", "git",
    "mutt", "w3m", "links", "mc", "ranger", "nnn",
)  # fmt: skip
_ESCAPE = re.compile(r"(?m)(?:^|:)[^:!\n]*!(.*)$|^shell\s+(.*)$")
_EDITED = "Which line that would run cannot be told: type the whole line, without keys that edit."


class Typing:
    """What was typed into one session: the open line, and earlier lines that change what later ones mean."""

    def __init__(self, cwd: str, program: str) -> None:
        self.cwd = cwd
        self.program = program
        self.lasting: list[str] = []
        self.typed = ""
        self.edited = False

    def took(self, lines: list[Line], keys: str) -> None:
        """Notes that keys were sent."""
        self.lasting += [
            line.text for line in lines if line.kind is Prompt.SHELL and _LASTING.search(line.text)
        ]
        del self.lasting[:-_MOST_LASTING]
        for key in parse_keys(keys):
            if key.sent in (*SUBMITTING, "\x03"):
                self.typed, self.edited = "", False
            elif key.text:
                self.typed += key.text
            else:
                self.edited = True


def lines_of(program: Program, typing: Typing, keys: str) -> list[Line]:
    """The lines that keys would have a shell or interpreter run; UnclearLine if that cannot be told."""
    parsed = parse_keys(keys, application=program.screen.application_keys)
    view = program.screen.view()
    if not view.alternate and (prompted := submitted_lines(parsed, view.cursor_line())):
        return _joined(prompted)
    # Prompts can look like anything, and a screen within the screen can hide them.
    if typing.program in _SHELLS:
        return _joined(_typed(parsed, typing, Prompt.SHELL))
    if typing.program in _CODE and not view.alternate:
        return _joined(_typed(parsed, typing, Prompt.REPL))
    return _escapes(parsed, typing) if typing.program in _ESCAPING else []


def _typed(parsed: list[Key], typing: Typing, kind: Prompt) -> list[Line]:
    lines: list[Line] = []
    text, edited = typing.typed, typing.edited
    for key in parsed:
        if key.sent in SUBMITTING:
            if edited:
                raise UnclearLine(_EDITED)
            lines.append(Line(kind, text))
            text = ""
        elif key.sent == "\x03":
            text, edited = "", False
        elif key.text:
            text += key.text
        else:
            edited = True
    return lines


def _joined(lines: list[Line]) -> list[Line]:
    """Lines that are sent together mean something together: a loop, a text for a file."""
    texts = [line.text for line in lines]
    return [Line(lines[0].kind, "\n".join(texts))] if any(text.strip() for text in texts) else []


def _escapes(parsed: list[Key], typing: Typing) -> list[Line]:
    """Commands that editors and pagers run for their user, as in `:!make`."""
    text = typing.typed
    found: list[Line] = []
    for key in parsed:
        if key.sent in SUBMITTING:
            found += [Line(Prompt.SHELL, command) for command in _commands(text)]
            text = ""
        else:
            # Keys without a text end what was typed before them.
            text += key.text or "\n"
    return found


def _commands(text: str) -> list[str]:
    found = [match[1] or match[2] or "" for match in _ESCAPE.finditer(text)]
    return [command for command in found if command.strip()]


async def may_run(ground: Ground, typing: Typing, line: Line, ask: Asking | None) -> str:
    """Why a line must not run, or nothing."""
    text = _as_command(typing, line)
    verdict, decision = ground.assess(text, typing.cwd)
    if line.kind is Prompt.REPL and decision.verdict == "ask" and _is_unfinished(typing, line.text):
        return ""
    if decision.verdict == "ask" and only_waits(verdict):
        return ""
    permission = await permit(ground, verdict, decision, ask)
    if permission.granted:
        return ""
    note_refusal(ground, Job(text, typing.cwd, verdict, decision, permission))
    return permission.reason


def _as_command(typing: Typing, line: Line) -> str:
    if line.kind is Prompt.SHELL:
        return "\n".join([*typing.lasting, line.text])
    start = _CODE.get(typing.program)
    if start is None:
        return line.text
    return f"{start} {shlex.quote(line.text.strip())}"


def _is_unfinished(typing: Typing, text: str) -> bool:
    """Whether code is only the beginning of a statement, whose other lines are judged on their own."""
    if _CODE.get(typing.program) != "python3 -c":
        return typing.program not in _CODE
    try:
        ast.parse(text.strip())
    except SyntaxError:
        return True
    return False
