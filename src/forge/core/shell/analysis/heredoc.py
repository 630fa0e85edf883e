"""Takes the bodies of here-documents out of a command by bash's rules, before the grammar sees them."""

from __future__ import annotations

from forge.core.shell.analysis.scan import Scanner, Unclosed

MARK = "__HD"
# All branches of a case are followed anyway; a file opened for both is written.
_REPLACED = {"<>": ">>", ";;&": ";; ", ";&": ";;"}
_END_OF_WORD = frozenset(" \t\n;&|<>()")


class Body:
    """The text of one here-document. A literal body is not expanded."""

    __slots__ = ("literal", "plain", "text")

    def __init__(self, text: str, literal: bool, plain: bool) -> None:
        self.text = text
        self.literal = literal
        # Whether nothing about it is unusual, so that no second opinion is needed.
        self.plain = plain


class Prepared:
    """A command whose here-documents are replaced by `< __HDn__`. `shifts` lead back to the old offsets."""

    __slots__ = ("bodies", "shifts", "text", "trouble")

    def __init__(self, text: str) -> None:
        self.text = text
        self.bodies: list[Body] = []
        self.shifts: list[tuple[int, int]] = [(0, 0)]
        self.trouble = ""

    def origin(self, offset: int) -> int:
        """The offset in the text that was given."""
        for new, old in reversed(self.shifts):
            if offset >= new:
                return old + offset - new
        return offset


class _Operator:
    __slots__ = ("delimiter", "nested", "number", "plain", "quoted", "tabs")

    def __init__(self, delimiter: str, quoted: bool, tabs: bool) -> None:
        self.delimiter = delimiter
        self.quoted = quoted
        self.tabs = tabs
        self.number = 0
        self.nested = False
        self.plain = False


def prepare(text: str) -> Prepared:
    """The command without its here-documents; `trouble` says why it could not be done."""
    prepared = Prepared(text)
    if not ("\n" in text and "\\" in text) and not any(
        sign in text for sign in ("<<", "<>", ";&", ";;&", "\\\n", "\\ ")
    ):
        return prepared
    if MARK in text:
        prepared.trouble = "a name the analysis uses itself"
        return prepared
    work = _Prepass(text, prepared)
    try:
        work.run()
    except Unclosed as unclosed:
        prepared.trouble = f"a quote or substitution that is not closed ({unclosed})"
    except _Odd as odd:
        prepared.trouble = str(odd)
    return prepared


class _Odd(Exception):
    """A here-document in a form this scanner does not follow."""


class _Prepass:
    __slots__ = ("copied", "length", "out", "pending", "prepared", "scanner")

    def __init__(self, text: str, prepared: Prepared) -> None:
        self.scanner = Scanner(text)
        self.prepared = prepared
        self.out: list[str] = []
        self.length = 0
        self.copied = 0
        self.pending: list[_Operator] = []

    def run(self) -> None:
        s, text = self.scanner, self.scanner.text
        while s.at < len(text):
            if text[s.at] == "\n" and self.pending:
                s.at += 1
                self._copy(s.at)
                self._read_bodies()
            elif text.startswith("<<", s.at) and s.commands:
                self._operator()
            elif text[s.at] == "\n" and s.commands:
                self._line_start()
            elif text.startswith(("\\ ", "\\\t"), s.at) and s.commands:
                # The grammar drops a quoted blank at the edge of a word.
                self._copy(s.at)
                self._emit(f"'{text[s.at + 1]}'")
                s.at += 2
                self.copied = s.at
            elif text.startswith("\\\n", s.at):
                # bash joins lines before it looks for words; the grammar takes the break for a blank.
                self._copy(s.at)
                s.at += 2
                self.copied = s.at
            elif text.startswith(("<>", ";&", ";;&"), s.at) and s.commands:
                self._same_length()
            else:
                s.advance()
        if len(s.stack) > 1:
            raise Unclosed(s.stack[-1])
        if self.pending:
            raise _Odd("a here-document without a body")
        self._copy(len(text))
        self.prepared.text = "".join(self.out)

    def _line_start(self) -> None:
        """A line that begins with a quoted character: the grammar would count it to the line before."""
        s, text = self.scanner, self.scanner.text
        while text[s.at : s.at + 1] in (" ", "\t", "\n"):
            s.at += 1
        quoted = text[s.at + 1 : s.at + 2] if text.startswith("\\", s.at) else ""
        if quoted and quoted not in "\n'":
            self._copy(s.at)
            self._emit(f"'{quoted}'")
            s.at += 2
            self.copied = s.at

    def _same_length(self) -> None:
        """Signs the grammar does not know, replaced by those with the same consequences here."""
        s = self.scanner
        self._copy(s.at)
        sign = next(sign for sign in _REPLACED if s.text.startswith(sign, s.at))
        self._emit(_REPLACED[sign])
        s.at += len(sign)
        self.copied = s.at

    def _copy(self, end: int) -> None:
        piece = self.scanner.text[self.copied : end]
        self.prepared.shifts.append((self.length, self.copied))
        self._emit(piece)
        self.copied = end

    def _emit(self, piece: str) -> None:
        self.out.append(piece)
        self.length += len(piece)

    def _operator(self) -> None:
        s, text = self.scanner, self.scanner.text
        if text.startswith("<<<", s.at):
            s.at += 3
            return
        self._copy(s.at)
        start = s.at
        s.at += 2
        tabs = text.startswith("-", s.at)
        s.at += tabs
        while text[s.at : s.at + 1] in (" ", "\t"):
            s.at += 1
        delimiter, quoted = self._delimiter()
        operator = _Operator(delimiter, quoted, tabs)
        operator.number = len(self.prepared.bodies) + len(self.pending)
        operator.nested = len(s.stack) > 1
        raw = text[start : s.at].lstrip("<-")
        operator.plain = raw.strip("\"'").isalnum() and raw[0] == raw[-1 if quoted else 0] and not tabs
        self.pending.append(operator)
        self._emit(f"< {MARK}{operator.number}__")
        self.copied = s.at

    def _delimiter(self) -> tuple[str, bool]:
        s, text = self.scanner, self.scanner.text
        found, quoted, start = [], False, s.at
        while s.at < len(text) and text[s.at] not in _END_OF_WORD:
            char = text[s.at]
            s.at += 1
            if char in "$`":
                raise _Odd("a here-document whose end word is an expansion")
            if char == "\\":
                found.append(text[s.at : s.at + 1])
                s.at += 1
                quoted = True
            elif char in "'\"":
                begin = s.at
                s.skip_to(char, escapes=char == '"')
                found.append(text[begin : s.at - 1])
                quoted = True
            else:
                found.append(char)
        word = "".join(found)
        if s.at == start or "\n" in word or "\\" in word:
            raise _Odd("a here-document without a readable end word")
        return word, quoted

    def _read_bodies(self) -> None:
        for operator in self.pending:
            begin = self.scanner.at
            body, ended = self._read_body(operator)
            live = not operator.quoted and any(c in body for c in "$`\\")
            alone = len(self.pending) == 1 and (operator.quoted or not operator.nested)
            self.prepared.bodies.append(
                Body(body, operator.quoted, ended and alone and operator.plain and not live)
            )
            self.copied = max(begin, self.scanner.at)
        self.pending = []

    def _read_body(self, operator: _Operator) -> tuple[str, bool]:
        s, text = self.scanner, self.scanner.text
        lines: list[str] = []
        joined = False
        while s.at < len(text):
            end = text.find("\n", s.at)
            end = len(text) if end < 0 else end
            line = text[s.at : end]
            bare = line.lstrip("\t") if operator.tabs else line
            if not joined and bare == operator.delimiter:
                s.at = min(end + 1, len(text))
                return "".join(lines), True
            if not joined and operator.nested and bare.startswith(operator.delimiter + ")"):
                s.at = end - len(bare) + len(operator.delimiter)
                return "".join(lines), False
            lines.append(bare + "\n")
            trailing = len(line) - len(line.rstrip("\\"))
            joined = not operator.quoted and trailing % 2 == 1
            s.at = min(end + 1, len(text))
        return "".join(lines), False
