"""Command line options as getopt reads them: clusters, values, abbreviations of long names."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Word


class Options:
    """The options of a command in order, and what is left."""

    __slots__ = ("given", "operands")

    def __init__(self) -> None:
        self.given: list[tuple[str, Word | None]] = []
        self.operands: list[Word] = []

    def has(self, *names: str) -> bool:
        """Whether one of the options is given; long ones may be abbreviated."""
        return any(_means(given, name) for given, _ in self.given for name in names)

    def values(self, *names: str) -> list[Word]:
        """The values given for the options."""
        return [v for given, v in self.given if v is not None and any(_means(given, n) for n in names)]


def _means(given: str, name: str) -> bool:
    if given == name:
        return True
    return given.startswith("--") and len(given) > 3 and name.startswith(given)


def parse_options(words: list[Word], with_value: str = "", permute: bool = True) -> Options:
    """Reads options; `with_value` names those that take a value, e.g. "-n --lines".

    Without `permute` the first operand ends the options, as for wrappers.
    """
    valued = with_value.split()
    short = {v[1] for v in valued if len(v) == 2}
    long = [v for v in valued if len(v) > 2]
    found = Options()
    at = 0
    while at < len(words):
        word = words[at]
        text = word.text
        at += 1
        if text == "--" and not word.quoted:
            found.operands += words[at:]
            break
        if text.startswith("--"):
            at += _long(word, words[at:], long, found)
        elif text.startswith("-") and len(text) > 1:
            at += _cluster(word, words[at:], (short, long), found)
        else:
            found.operands.append(word)
            if not permute:
                found.operands += words[at:]
                break
    return found


def _long(word: Word, rest: list[Word], long: list[str], found: Options) -> int:
    name, sign, value = word.text.partition("=")
    if sign:
        found.given.append((name, _like(word, value)))
        return 0
    if rest and any(_means(name, option) for option in long):
        found.given.append((name, rest[0]))
        return 1
    found.given.append((name, None))
    return 0


def _cluster(word: Word, rest: list[Word], known: tuple[set[str], list[str]], found: Options) -> int:
    short, long = known
    text = word.text
    if text in long and rest:
        found.given.append((text, rest[0]))
        return 1
    for at in range(1, len(text)):
        name = "-" + text[at]
        if text[at] in short:
            value = text[at + 1 :]
            if value:
                found.given.append((name, _like(word, value)))
                return 0
            found.given.append((name, rest[0] if rest else None))
            return 1 if rest else 0
        found.given.append((name, None))
    if len(text) > 2:
        found.given.append((text, None))
    return 0


def _like(word: Word, text: str) -> Word:
    return type(word)(text, word.glob, word.quoted, word.tags)
