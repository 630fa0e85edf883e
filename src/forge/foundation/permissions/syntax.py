"""The parts of a shell command line that permission checks look at."""

from __future__ import annotations


class Word:
    """One word: as written, and its value after quote removal as far as that can be known.

    `masked` marks a special parameter in a quoted sentence: harmless, but its value is unknown.
    """

    __slots__ = ("gap", "glob", "literal", "masked", "quoted", "raw", "value")

    def __init__(self, raw: str, value: str) -> None:
        self.raw = raw
        self.value = value
        self.gap = " "
        self.glob = False
        self.quoted = False
        self.literal = True
        self.masked = False

    def __repr__(self) -> str:
        return f"Word({self.raw!r})"


class Redirect:
    """One redirection: its operator (without the descriptor) and where it leads."""

    __slots__ = ("operator", "target")

    def __init__(self, operator: str, target: Word) -> None:
        self.operator = operator
        self.target = target


class Simple:
    """One simple command: assignments, words and redirections."""

    __slots__ = ("assignments", "led_by_redirect", "nested", "redirects", "words")

    def __init__(self, *, nested: bool = False) -> None:
        self.assignments: list[Word] = []
        self.words: list[Word] = []
        self.redirects: list[Redirect] = []
        self.nested = nested
        self.led_by_redirect = False

    @property
    def argv(self) -> list[str]:
        """The values of the words."""
        return [word.value for word in self.words]

    def __repr__(self) -> str:
        return f"Simple({text_of([*self.assignments, *self.words])!r})"


class Script:
    """Everything found in one command line, in the order of the text."""

    __slots__ = (
        "background",
        "commands",
        "loop_variable",
        "piped",
        "problems",
        "subshell",
        "unclosed",
        "variables",
    )

    def __init__(self) -> None:
        self.commands: list[Simple] = []
        self.problems: list[str] = []
        self.background = False
        self.loop_variable = False
        self.piped = False
        self.subshell = False
        self.unclosed = False
        self.variables: dict[str, str] = {}


def text_of(words: list[Word]) -> str:
    """The words as written, with the blanks between them."""
    return "".join(word.gap + word.raw for word in words).strip()


def word_set(text: str) -> frozenset[str]:
    """The blank-separated words of a table written as text."""
    return frozenset(text.split())
