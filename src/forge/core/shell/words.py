"""Splits a command into simple commands: enough to recognise plain ones, silent about the rest.

Anything with a meaning beyond words, quotes, redirections and lists yields None; nobody may base a decision about
safety on this.
"""

from __future__ import annotations

import re

import msgspec

_TOKEN = re.compile(
    r"""(?P<blank>[ \t]+|\\\n)
    |(?P<comment>(?<![^\s;&|])\#[^\n]*)
    |(?P<operator>&&|\|\||;(?!;)|\||&(?![>])|\n)
    |(?P<redirect>\d*(?:>>|>\||>&|<&|&>>|&>|<(?![<(])|>(?!\())(?:\d+(?![^\s;&|])|-)?)
    |(?P<word>(?:[^\s'"\\;&|<>()`$\#{}]|(?<=\S)\#|\\.|'[^']*'|"(?:[^"\\`$]|\\.|\$(?!\())*"
       |\$(?!\()|[{}](?=\S)|(?<=\S)[{}])+)""",
    re.VERBOSE | re.DOTALL,
)
_KEYWORDS = frozenset(
    ("if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "function",
     "{", "}", "!", "[[", "time", "coproc")
)  # fmt: skip


class Simple(msgspec.Struct, frozen=True):
    """One simple command. `plain`: no word needs the shell to know its value. `after` is the operator behind."""

    words: tuple[str, ...]
    plain: bool
    redirected: bool
    after: str


def simple_commands(text: str) -> list[Simple] | None:
    """The simple commands of a list, in order; None if it is more than a list of simple commands."""
    commands: list[Simple] = []
    words: list[str] = []
    plain, redirected, target = True, False, False
    position = 0
    text = text.strip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return None
        position = match.end()
        kind, token = match.lastgroup, match.group()
        if kind == "word":
            if target:
                target = False
                continue
            plain = plain and _is_plain(token)
            words.append(_unquoted(token))
        elif kind == "redirect":
            redirected = True
            target = not token[-1].isdigit() and not token.endswith("-")
        elif kind == "operator" and words:
            commands.append(Simple(tuple(words), plain, redirected, token))
            words, plain, redirected = [], True, False
    if words:
        commands.append(Simple(tuple(words), plain, redirected, ""))
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
