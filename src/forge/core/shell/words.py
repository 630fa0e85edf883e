"""Splits a command into simple commands: enough to recognise plain ones, silent about the rest.

Anything with a meaning beyond words, quotes, redirections and lists yields None. No decision about safety may
be based on this.
"""

from __future__ import annotations

import re

import msgspec

from forge.foundation.permissions.syntax import word_set

_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+|\\\n)
    |(?P<comment>(?<![^\s;&|])\#[^\n]*)
    |(?P<operator>&&|\|\||;(?!;)|\||&(?![>])|\n)
    |(?P<redirect>\d*(?:>>|>\||>&|<&|&>>|&>|<(?![<(])|>(?!\())(?:\d+(?![^\s;&|])|-)?)
    |(?P<word>(?:[^\s'"\\;&|<>()`$\#{}]|(?<=\S)\#|\\.|'[^']*'|"(?:[^"\\`$]|\\.|\$(?!\())*"
       |\$(?!\()|[{}](?=\S)|(?<=\S)[{}])+)""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS = word_set(
    "if then else elif fi for while until do done case esac select function { } ! [[ time coproc"
)


class Simple(msgspec.Struct, frozen=True):
    """One simple command: its words without quotes, and with them as `source`.

    `plain`: no word needs the shell to know its value. `after` is the operator behind it.
    """

    words: tuple[str, ...]
    source: str
    plain: bool
    redirected: bool
    after: str


class _Draft:
    """The simple command being read."""

    def __init__(self) -> None:
        self.tokens: list[str] = []
        self.redirected = False
        self.expects_target = False

    def add(self, kind: str, token: str) -> None:
        if kind == "redirect":
            self.redirected = True
            self.expects_target = not token[-1].isdigit() and not token.endswith("-")
        elif self.expects_target:
            self.expects_target = False
        else:
            self.tokens.append(token)

    def finish(self, after: str) -> Simple:
        words = tuple(_unquoted(t) for t in self.tokens)
        plain = all(_is_plain(t) for t in self.tokens)
        return Simple(words, " ".join(self.tokens), plain, self.redirected, after)


def simple_commands(text: str) -> list[Simple] | None:
    """The simple commands of a list, in order; None if it is more than a list of simple commands."""
    commands: list[Simple] = []
    draft = _Draft()
    text = text.strip()
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        position = match.end()
        kind = match.lastgroup
        if kind in ("word", "redirect"):
            draft.add(kind, match.group())
        elif kind == "operator" and draft.tokens:
            commands.append(draft.finish(match.group()))
            draft = _Draft()
    if draft.tokens:
        commands.append(draft.finish(""))
    return None if any(c.words[0] in _KEYWORDS for c in commands) else commands


def _is_plain(token: str) -> bool:
    outside = re.sub(r"'[^']*'|\\.", "", token)
    return "$" not in outside and not re.search(r"[*?\[{~]", re.sub(r'"[^"]*"', "", outside))


def _unquoted(token: str) -> str:
    def value(match: re.Match[str]) -> str:
        part = match.group()
        if part[0] == "'":
            return part[1:-1]
        if part[0] == '"':
            return re.sub(r'\\([$`"\\\n])', r"\1", part[1:-1])
        return part[1:]

    return re.sub(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|\\.", value, token, flags=re.DOTALL)
