"""The value of a word node: quote removal, variables, substitutions, here-document bodies."""

from __future__ import annotations

import functools
import re

from forge.core.shell.analysis import marks
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.scan import Unclosed, close_of
from forge.core.shell.analysis.variables import braced, lookup, separators

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from tree_sitter import Node

    from forge.core.shell.analysis.state import Frame, Stream, Word

    Substitute = Callable[[Node, Frame], Stream]
    Script = Callable[[str, Frame], Stream]

_OPERATORS = frozenset({":-", "-", ":=", "=", ":+", "+", ":?", "?"})


class Expander:
    """Expands words; `substitute` follows the commands inside a substitution, `script` those in a text."""

    __slots__ = ("script", "substitute")

    def __init__(self, substitute: Substitute, script: Script) -> None:
        self.substitute = substitute
        self.script = script

    def words(self, nodes: Sequence[Node], frame: Frame) -> list[Word]:
        """The arguments the nodes of a word become; the grammar may see several where the shell sees one."""
        run = frame.run
        outer, run.tags = run.tags, set()
        raw = "".join(self._expand(node, frame, False) for node in nodes)
        found = marks.fields(raw, run.around.home, frozenset(run.tags))
        run.tags = outer | run.tags
        return found

    def value(self, node: Node, frame: Frame) -> str:
        """The text a word becomes where it is not split, as in an assignment."""
        raw = self._expand(node, frame, False)
        return marks.plain(marks.expand_tilde(raw, frame.run.around.home))

    def body(self, text: str, frame: Frame) -> str:
        """An unquoted here-document: the commands in it run, the rest is text."""
        out: list[str] = []
        at = 0
        while at < len(text):
            match = _live().search(text, at)
            if not match:
                break
            out.append(text[at : match.start()])
            value, at = self._live_part(text, match, frame)
            out.append(value)
        out.append(text[at:])
        return "".join(out)

    def _live_part(self, text: str, match: re.Match[str], frame: Frame) -> tuple[str, int]:
        sign, start = match[0], match.start()
        if sign[0] == "\\":
            return ("" if sign[1] == "\n" else sign[1]), match.end()
        if match["name"]:
            return "".join(lookup(match["name"], frame)[:1]), match.end()
        try:
            return self._nested_part(text, start, sign, frame)
        except Unclosed:
            frame.run.unclear(frame, "a substitution in a here-document has no end")
            return UNKNOWN, len(text)

    def _nested_part(self, text: str, start: int, sign: str, frame: Frame) -> tuple[str, int]:
        if sign == "`":
            end = _backtick_end(text, start + 1)
            return self._nested(_unescape(text[start + 1 : end - 1]), frame), end
        if sign == "$(" and not text.startswith("$((", start):
            end = close_of(text, start + 2, "P")
            return self._nested(text[start + 2 : end - 1], frame), end
        end = close_of(text, start + 3, "AA") if sign == "$(" else close_of(text, start + 2, "DE")
        return self._within(text[start:end], frame), end

    def _nested(self, script: str, frame: Frame) -> str:
        found = self.script(script, frame)
        frame.run.tags |= found.tags
        return UNKNOWN if found.text is None else found.text.rstrip("\n")

    def _within(self, expansion: str, frame: Frame) -> str:
        """`${…}` and `$((…))` in a body: followed as an argument, since they may run commands."""
        self.script(f': "{expansion}"', frame)
        return UNKNOWN

    def _expand(self, node: Node, frame: Frame, quoted: bool) -> str:
        step = _KINDS.get(node.type)
        if node.type == "$" and re.match(
            rb"[\w@*#?!-]", frame.source.data[node.end_byte : node.end_byte + 1]
        ):
            return UNKNOWN  # an expansion the grammar took for text
        if step is None:
            return self._children(node, frame, quoted) if node.children else text_of(node, frame)
        return step(self, node, frame, quoted)

    def _children(self, node: Node, frame: Frame, quoted: bool) -> str:
        """All children with the text between them, which the grammar may leave out."""
        data, at = frame.source.data, node.start_byte
        out = []
        for child in node.children:
            out.append(data[at : child.start_byte].decode("utf-8", "replace"))
            out.append(self._expand(child, frame, quoted))
            at = child.end_byte
        out.append(data[at : node.end_byte].decode("utf-8", "replace"))
        return "".join(out)

    def _word(self, node: Node, frame: Frame, quoted: bool) -> str:
        return marks.activate(text_of(node, frame))

    def _string(self, node: Node, frame: Frame, quoted: bool) -> str:
        data, inner = frame.source.data, [c for c in node.children if c.type not in ('"', '$"')]
        at = node.start_byte + len(text_of(node, frame).split('"', 1)[0].encode()) + 1
        out = [marks.QUOTED]
        for child in inner:
            out.append(_escapes(data[at : child.start_byte].decode("utf-8", "replace")))
            out.append(self._expand(child, frame, True))
            at = child.end_byte
        out.append(_escapes(data[at : node.end_byte - 1].decode("utf-8", "replace")))
        return "".join(out)

    def _content(self, node: Node, frame: Frame, quoted: bool) -> str:
        return _escapes(text_of(node, frame))

    def _translated(self, node: Node, frame: Frame, quoted: bool) -> str:
        return self._expand(node.children[-1], frame, quoted)

    def _raw(self, node: Node, frame: Frame, quoted: bool) -> str:
        return marks.QUOTED + text_of(node, frame).strip()[1:-1]

    def _ansi(self, node: Node, frame: Frame, quoted: bool) -> str:
        return marks.QUOTED + ansi(text_of(node, frame).strip()[2:-1])

    def _simple(self, node: Node, frame: Frame, quoted: bool) -> str:
        text = text_of(node, frame)
        name = text.lstrip()
        blank = text[: len(text) - len(name)]
        # Without braces only one digit counts: `$10` is `${1}0`.
        name, rest = (name[1:2], name[2:]) if name[1:].isdigit() else (name[1:], "")
        return blank + self._value(lookup(name, frame), frame, quoted, name == "@") + rest

    def _braced(self, node: Node, frame: Frame, quoted: bool) -> str:
        text = text_of(node, frame)
        inner = text.strip()[2:-1]
        blank = text[: len(text) - len(text.lstrip())]

        def word() -> str:
            return marks.plain(self._behind_operator(node, frame, quoted))

        return blank + self._value(braced(inner, frame, word), frame, quoted, "[@]" in inner or inner == "@")

    def _behind_operator(self, node: Node, frame: Frame, quoted: bool) -> str:
        out, seen = [], False
        for child in node.children[:-1]:
            if seen:
                out.append(self._expand(child, frame, quoted))
            seen = seen or child.type in _OPERATORS
        return marks.expand_tilde("".join(out), frame.run.around.home)

    def _value(self, elements: list[str], frame: Frame, quoted: bool, apart: bool) -> str:
        if quoted:
            return (marks.SPLIT + marks.QUOTED).join(elements) if apart else " ".join(elements)
        signs = separators(frame)
        return marks.SPLIT.join(marks.unquoted_value(e, signs) for e in elements)

    def _substitution(self, node: Node, frame: Frame, quoted: bool) -> str:
        stream = self.substitute(node, frame)
        frame.run.tags |= stream.tags
        text = text_of(node, frame)
        blank = text[: len(text) - len(text.lstrip())]
        if stream.text is None:
            return blank + UNKNOWN
        value = stream.text.rstrip("\n")
        return blank + (value if quoted else marks.unquoted_value(value, separators(frame)))

    def _process(self, node: Node, frame: Frame, quoted: bool) -> str:
        return frame.run.open_stream(self.substitute(node, frame))

    def _arithmetic(self, node: Node, frame: Frame, quoted: bool) -> str:
        self._children(node, frame, True)
        return UNKNOWN

    def _brace(self, node: Node, frame: Frame, quoted: bool) -> str:
        return marks.OPEN + text_of(node, frame)[1:-1] + marks.CLOSE

    def _array(self, node: Node, frame: Frame, quoted: bool) -> str:
        inner = [c for c in node.children if c.type not in ("(", ")", "comment")]
        return marks.SPLIT.join(
            "".join(self._expand(child, frame, quoted) for child in word) for word in adjacent(inner)
        )

    def _extglob(self, node: Node, frame: Frame, quoted: bool) -> str:
        return marks.STAR


_KINDS = {
    "word": Expander._word,
    "string": Expander._string,
    "string_content": Expander._content,
    "raw_string": Expander._raw,
    "translated_string": Expander._translated,
    "ansi_c_string": Expander._ansi,
    "simple_expansion": Expander._simple,
    "expansion": Expander._braced,
    "command_substitution": Expander._substitution,
    "process_substitution": Expander._process,
    "arithmetic_expansion": Expander._arithmetic,
    "brace_expression": Expander._brace,
    "array": Expander._array,
    "extglob_pattern": Expander._extglob,
}


def adjacent(nodes: Iterable[Node]) -> list[list[Node]]:
    """Groups nodes that have nothing between them: each group is one word."""
    found: list[list[Node]] = []
    for node in nodes:
        if found and found[-1][-1].end_byte == node.start_byte:
            found[-1].append(node)
        else:
            found.append([node])
    return found


def text_of(node: Node, frame: Frame) -> str:
    """The source text of a node."""
    return frame.source.data[node.start_byte : node.end_byte].decode("utf-8", "replace")


def ansi(text: str) -> str:
    """The characters of `$'…'`."""
    return _ansi_escape().sub(_ansi_character, text)


def _ansi_character(match: re.Match[str]) -> str:
    code = match[1]
    if code[0] in "xuU":
        return chr(int(code[1:], 16) % 0x110000)
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] == "c":
        return chr(ord(code[1]) & 0x1F)
    return {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f",
            "v": "\v"}.get(code, code)  # fmt: skip


def _escapes(text: str) -> str:
    return _quoted_escape().sub(lambda m: "" if m[1] == "\n" else m[1], text) if "\\" in text else text


def _backtick_end(text: str, at: int) -> int:
    while at < len(text):
        if text[at] == "\\":
            at += 2
            continue
        if text[at] == "`":
            return at + 1
        at += 1
    raise Unclosed("`")


def _unescape(text: str) -> str:
    return re.sub(r"\\([$`\\])", r"\1", text)


@functools.cache
def _ansi_escape() -> re.Pattern[str]:
    return re.compile(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)


@functools.cache
def _quoted_escape() -> re.Pattern[str]:
    return re.compile(r'\\([$`"\\\n])')


@functools.cache
def _live() -> re.Pattern[str]:
    return re.compile(r"\\[$`\\\n]|`|\$\(|\$\{|\$(?P<name>[A-Za-z_]\w*|[0-9@*#?$!-])")
