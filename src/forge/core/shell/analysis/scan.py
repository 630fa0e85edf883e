"""A scanner that knows where quotes, substitutions and expansions of shell text begin and end.

Contexts: N normal, P in parentheses or `$(…)`, D double quotes, E `${…}`, B backticks, A arithmetic.
"""

from __future__ import annotations

COMMANDS = frozenset("NPB")
_WORD_START = frozenset(" \t\n;&|()<>")


class Unclosed(Exception):
    """A quote or substitution has no end."""


class Scanner:
    """Walks over shell text, one construct at a time; `stack` says where `at` is."""

    __slots__ = ("at", "stack", "text")

    def __init__(self, text: str, at: int = 0, stack: str = "N") -> None:
        self.text = text
        self.at = at
        self.stack = list(stack)

    @property
    def commands(self) -> bool:
        """Whether commands can stand here."""
        return self.stack[-1] in COMMANDS

    def advance(self) -> None:
        """Steps over one character or one construct that nothing can begin in."""
        step = _STEPS.get(self.text[self.at])
        if step is None:
            self.at += 1
        else:
            step(self)

    def word_start(self) -> bool:
        """Whether a word (or comment) could begin here."""
        return self.at == 0 or self.text[self.at - 1] in _WORD_START

    def skip_to(self, mark: str, escapes: bool) -> None:
        """Goes behind the next `mark`."""
        at = self.at
        while at < len(self.text):
            if escapes and self.text[at] == "\\":
                at += 2
                continue
            if self.text[at] == mark:
                self.at = at + 1
                return
            at += 1
        raise Unclosed(mark)


def close_of(text: str, start: int, context: str) -> int:
    """The offset behind the construct whose inside begins at `start`; `context` as in the stack."""
    scanner = Scanner(text, start, "N" + context)
    # "DE" is an expansion inside text that is treated like double quotes: only the expansion ends.
    outside = 2 if context == "DE" else 1
    while len(scanner.stack) > outside:
        if scanner.at >= len(text):
            raise Unclosed(context)
        scanner.advance()
    return scanner.at


def _backslash(s: Scanner) -> None:
    s.at += 2


def _single(s: Scanner) -> None:
    s.at += 1
    top = s.stack[-1]
    if top == "D" or (top == "E" and "D" in s.stack):
        return
    if top != "A":
        s.skip_to("'", escapes=False)


def _double(s: Scanner) -> None:
    s.at += 1
    if s.stack[-1] == "D":
        s.stack.pop()
    else:
        s.stack.append("D")


def _dollar(s: Scanner) -> None:
    following = s.text[s.at + 1 : s.at + 3]
    if following == "((":
        s.stack += "AA"
        s.at += 3
    elif following[:1] == "(":
        s.stack.append("P")
        s.at += 2
    elif following[:1] == "{":
        s.stack.append("E")
        s.at += 2
    elif following[:1] == "'" and s.stack[-1] != "D" and not (s.stack[-1] == "E" and "D" in s.stack):
        s.at += 2
        s.skip_to("'", escapes=True)
    else:
        s.at += 1


def _open(s: Scanner) -> None:
    top = s.stack[-1]
    if top in COMMANDS and s.text[s.at : s.at + 2] == "((" and s.word_start():
        s.stack += "AA"
        s.at += 2
        return
    if top in COMMANDS:
        s.stack.append("P")
    elif top == "A":
        s.stack.append("A")
    s.at += 1


def _close(s: Scanner) -> None:
    if s.stack[-1] in "PA":
        s.stack.pop()
    s.at += 1


def _brace(s: Scanner) -> None:
    if s.stack[-1] == "E":
        s.stack.pop()
    s.at += 1


def _backtick(s: Scanner) -> None:
    if s.stack[-1] == "B":
        s.stack.pop()
    else:
        s.stack.append("B")
    s.at += 1


def _hash(s: Scanner) -> None:
    if not (s.commands and s.word_start()):
        s.at += 1
        return
    ends = [
        e for e in (s.text.find("\n", s.at), s.text.find("`", s.at) if s.stack[-1] == "B" else -1) if e >= 0
    ]
    s.at = min(ends, default=len(s.text))


_STEPS = {
    "\\": _backslash,
    "'": _single,
    '"': _double,
    "$": _dollar,
    "(": _open,
    ")": _close,
    "}": _brace,
    "`": _backtick,
    "#": _hash,
}
