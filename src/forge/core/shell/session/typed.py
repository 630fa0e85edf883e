"""Which of the keys that are sent are lines for a shell, an interpreter, or a command of an editor.

A prompt on the screen tells, where it can be recognised; where not, what the program is and what was typed.
"""

from __future__ import annotations

import re

from forge.core.shell.session.keys import SUBMITTING, Key
from forge.core.shell.session.prompts import Line, Prompt, UnclearLine, submitted_lines
from forge.core.shell.session.screen import View

SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "busybox", "fish", "su", "ssh", "tmux", "screen",
          "script", "docker", "podman", "sudo", "nsenter", "chroot")  # fmt: skip
# How a line for an interpreter is written as a command that can be judged.
CODE = {
    "python": "python3 -c", "python3": "python3 -c", "ipython": "python3 -c", "node": "node -e",
    "ruby": "ruby -e", "irb": "ruby -e", "perl": "perl -e", "php": "php -r", "psql": "psql -c",
    "mysql": "mysql -e", "mariadb": "mysql -e", "sqlite3": "sqlite3 x.db", "redis-cli": "redis-cli",
}  # fmt: skip
# Programs that run a command for their user, as in `:!make`.
_ESCAPING = ("vi", "vim", "nvim", "view", "vimdiff", "ex", "ed", "less", "more", "most", "man", "gdb", "lldb",
             "git", "mutt", "w3m", "links", "mc", "ranger", "nnn")  # fmt: skip
_ESCAPE = re.compile(r"(?m)(?:^|:)[^:!\n]*!(.*)$|^shell\s+(.*)$")
# These run another program, which matters more.
_AROUND = ("sudo", "su", "docker", "podman", "ssh", "script", "nsenter", "chroot", "busybox", "git")
# Lines that change what later lines mean.
_LASTING = re.compile(r"\b(?:cd|pushd|popd|alias|export|declare|set|shopt|source|function|unset)\b|\w=|\(\)")
_MOST_LASTING = 200
_EDITED = "Which line would run cannot be told: type the whole line, without keys that edit."


class Typing:
    """What was typed into one program: the open line, and earlier lines that change what later ones mean."""

    def __init__(self, command: str) -> None:
        self.program = program_of(command)
        self.lasting: list[str] = []
        self.typed = ""
        self.edited = False

    def took(self, lines: list[Line], keys: list[Key]) -> None:
        """Notes that keys were sent, and the lines they were."""
        shell = [line.text for line in lines if line.kind is Prompt.SHELL]
        self.lasting = [*self.lasting, *(text for text in shell if _LASTING.search(text))][-_MOST_LASTING:]
        for key in keys:
            if key.sent in (*SUBMITTING, "\x03"):
                self.typed, self.edited = "", False
            elif key.text:
                self.typed += key.text
            else:
                self.edited = True


def program_of(command: str) -> str:
    """The name of the program in a command that reads what is typed, as far as it is one of those known."""
    names = [re.sub(r"(?<=[a-z])[\d.]+$", "", word.rpartition("/")[2]) for word in command.split()]
    names = [name + "3" if name == "sqlite" else name for name in names]
    found = [name for name in names if name in SHELLS or name in CODE or name in _ESCAPING]
    return next((name for name in found if name not in _AROUND), found[0] if found else "")


def lines_of(keys: list[Key], view: View, typing: Typing) -> list[Line]:
    """The lines that keys would have a program run; UnclearLine if that cannot be told."""
    if not view.alternate and (prompted := submitted_lines(keys, view.cursor_line())):
        return _joined(prompted)
    # Prompts can look like anything, and a screen within the screen can hide them.
    if typing.program in SHELLS:
        return _joined(_typed(keys, typing, Prompt.SHELL))
    if typing.program in CODE and not view.alternate:
        return _joined(_typed(keys, typing, Prompt.REPL))
    return _escapes(keys, typing) if typing.program in _ESCAPING else []


def as_command(line: Line, typing: Typing) -> str:
    """A line as a command with the same effect, after the lines that change what it means."""
    if line.kind is Prompt.SHELL:
        return "\n".join([*typing.lasting, line.text])
    start = CODE.get(typing.program)
    quoted = "'" + line.text.strip().replace("'", "'\\''") + "'"
    return f"{start} {quoted}" if start else line.text


def _typed(keys: list[Key], typing: Typing, kind: Prompt) -> list[Line]:
    lines: list[Line] = []
    text, edited = typing.typed, typing.edited
    for key in keys:
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


def _escapes(keys: list[Key], typing: Typing) -> list[Line]:
    text = typing.typed
    found: list[Line] = []
    for key in keys:
        if key.sent not in SUBMITTING:
            # Keys without a text end what was typed before them.
            text += key.text or "\n"
            continue
        commands = [match[1] or match[2] or "" for match in _ESCAPE.finditer(text)]
        found += [Line(Prompt.SHELL, command) for command in commands if command.strip()]
        text = ""
    return found
