"""A small conservative reader for bash: it finds every simple command and reports what it cannot follow."""

from __future__ import annotations

import re

from forge.foundation.permissions.compound import COMPOUND, read_function, read_parentheses
from forge.foundation.permissions.heredoc import note_heredoc, read_heredocs
from forge.foundation.permissions.syntax import Redirect, Script, Simple, Word
from forge.foundation.permissions.words import ParseFailure, read_word

MAX_LENGTH = 10_000

_BLANKS = re.compile(r"(?:[ \t\r]|\\\n)+")
_JOINED = re.compile(r"\n\\\n")
_SEPARATOR = re.compile(r"&&|\|\||\|&|;;&|;&|;;|[;|&\n]")
_REDIRECT = re.compile(r"(\d+|\{\w+\})?(<<<|<<-|<<|<>|<&|>&|>>|>\||&>>|&>|<(?!\()|>(?!\())")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_KEYWORD = re.compile(r"[A-Za-z]+|[{}!]|\[\[")
_KEYWORD_END = re.compile(r"$|[\s;&|()<>]")
_TIMED = re.compile(r"time[ \t]+(?=[({])")
_FUNCTION = re.compile(r"[^\s;&|()<>$'\"`\\={}]+[ \t]*\([ \t]*\)")
_UNICODE_BLANK = re.compile("[\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]")

TOO_LONG = "Command is too long to be checked"
PARSE_ERROR = "Parse error"
UNICODE_BLANK = "Contains Unicode whitespace"
FD_VARIABLE = "Redirect uses {fd} fd-variable assignment — modifies shell variable as side effect"
ODD_REDIRECT = "Unrecognized redirect shape"
UNKNOWN = "This command can't be checked before it runs"
ARRAY = "A list of values in this command can't be checked before it runs"
JOINED_LINES = "Contains backslash-escaped whitespace"
GLUED_GROUP = (
    "`(…)` group directly follows a statement or word on the same line — bash rejects the line, but zsh reads"
    " the glued `(…)` as a glob-group word and expands what follows it"
)


def parse(text: str, home: str) -> Script:
    """Read a command line; the script says what was found even where the text is broken."""
    script = Script()
    if len(text) > MAX_LENGTH:
        script.problems.append(TOO_LONG)
    if _UNICODE_BLANK.search(text):
        script.problems.append(UNICODE_BLANK)
    reader = Reader(text, script, home)
    while reader.pos < reader.end:
        before = reader.pos
        try:
            reader.statements(())
        except (ParseFailure, RecursionError):
            script.problems.append(PARSE_ERROR)
            reader.recover(before)
            continue
        if reader.pos < reader.end:
            script.problems.append(PARSE_ERROR)
            reader.pos += 1
    return script


class Reader:
    """A position in the text, and the script being filled."""

    __slots__ = ("end", "heredocs", "home", "in_test", "nested", "pos", "script", "source")

    def __init__(self, source: str, script: Script, home: str, *, nested: bool = False) -> None:
        self.source = source
        self.script = script
        self.home = home
        self.nested = nested
        self.in_test = False
        self.pos = 0
        self.end = len(source)
        self.heredocs: list[tuple[str, bool, bool]] = []

    def problem(self, text: str) -> None:
        """Note something that keeps the command from being understood completely."""
        self.script.problems.append(text)

    def at(self, text: str) -> bool:
        """Whether the text stands here."""
        return self.source.startswith(text, self.pos)

    def recover(self, before: int) -> None:
        """Continue after broken syntax at the next place where a command could begin."""
        self.pos = max(self.pos, before + 1)
        found = _SEPARATOR.search(self.source, self.pos)
        self.pos = found.end() if found else self.end
        self.nested = False

    def nested_until(self, close: str) -> bool:
        """Read commands up to the closing sign; True if they can only print a literal text."""
        outer, self.nested = self.nested, True
        first, noted = len(self.script.commands), len(self.script.problems)
        self.statements((close,))
        self.nested = outer
        if not self.at(close):
            raise ParseFailure
        self.pos += len(close)
        inner = self.script.commands[first:]
        return noted == len(self.script.problems) and len(inner) == 1 and _prints_literal(inner[0])

    def nested_text(self, text: str) -> None:
        """Read commands from a text of their own, as between backquotes."""
        reader = Reader(text, self.script, self.home, nested=True)
        try:
            reader.statements(())
        except ParseFailure:
            self.problem(PARSE_ERROR)

    def nested_words(self, text: str) -> None:
        """Read substitutions out of a text that is not a command itself."""
        reader = Reader(text, self.script, self.home, nested=True)
        while reader.pos < reader.end:
            before = reader.pos
            if reader.source[before] in "$`":
                try:
                    read_word(reader)
                except ParseFailure:
                    self.problem(PARSE_ERROR)
                    return
            reader.pos = max(reader.pos, before + 1)

    def statements(self, stops: tuple[str, ...]) -> str:
        """Read commands until one of the stop words or the end; returns the stop word found."""
        while True:
            self.blanks(newlines=True)
            if self.pos >= self.end:
                return ""
            stop = self.stop(stops)
            if stop:
                return stop
            self.command()
            self.blanks()
            if self.pos < self.end and not self.stop(stops) and not self._separator():
                raise ParseFailure

    def blanks(self, *, newlines: bool = False) -> None:
        """Skip blanks and comments, and on request line ends with the here-documents behind them."""
        while self.pos < self.end:
            found = _BLANKS.match(self.source, self.pos)
            if found:
                self._joined_lines(found.start(), found.group())
                self.pos = found.end()
            elif self.at("#"):
                line_end = self.source.find("\n", self.pos)
                self.pos = line_end if line_end >= 0 else self.end
            elif newlines and self.at("\n"):
                self.pos += 1
                if self.heredocs:
                    read_heredocs(self)
            else:
                return

    def _joined_lines(self, start: int, blanks: str) -> None:
        """A line end behind a backslash joins words unless there is a blank before it."""
        before = self.source[start - 1] if start else "\n"
        if _JOINED.search(blanks) or (blanks.startswith("\\") and before not in ";&|"):
            self.problem(JOINED_LINES)

    def stop(self, stops: tuple[str, ...]) -> str:
        """The stop word that stands here, if any."""
        for stop in stops:
            if self.at(stop):
                behind = self.pos + len(stop)
                if not stop[0].isalpha() or _KEYWORD_END.match(self.source, behind):
                    return stop
        return ""

    def until(self, *stops: str) -> str:
        """Read commands and the stop word that must follow them."""
        stop = self.statements(stops)
        if not stop:
            raise ParseFailure
        self.pos += len(stop)
        if stop in (")", "}", "fi", "done", "esac"):
            self.trailing_redirects()
        return stop

    def trailing_redirects(self) -> None:
        """Read redirections behind a compound command; they count as a command of their own."""
        holder = Simple(nested=self.nested)
        self.blanks()
        while self._redirect(holder):
            self.blanks()
        if holder.redirects:
            self.script.commands.append(holder)

    def command(self) -> None:
        """Read one command of any kind."""
        if self.at("("):
            read_parentheses(self)
            return
        timed = _TIMED.match(self.source, self.pos)
        if timed:
            self.pos = timed.end()
            self.command()
            return
        found = _KEYWORD.match(self.source, self.pos)
        keyword = found.group() if found and _KEYWORD_END.match(self.source, found.end()) else ""
        compound = COMPOUND.get(keyword)
        if compound is not None:
            self.pos += len(keyword)
            compound(self)
            return
        function = _FUNCTION.match(self.source, self.pos)
        if function:
            self.pos = function.end()
            read_function(self)
            return
        self._simple()

    def _separator(self) -> bool:
        found = _SEPARATOR.match(self.source, self.pos)
        if not found:
            return False
        sign = found.group()
        if sign == "\n":
            return True
        self.pos = found.end()
        if sign == "&":
            self.script.background = True
        if sign in (";&", ";;&"):
            self.problem(PARSE_ERROR)
        if sign in ("|", "|&"):
            self.script.piped = True
        if sign in ("&&", "||", "|&") or (sign == "|" and self.source[self.pos :].strip()):
            self._operand_follows()
        return True

    def _operand_follows(self) -> None:
        noted = self.pos
        self.blanks(newlines=True)
        if self.pos >= self.end or _SEPARATOR.match(self.source, self.pos):
            raise ParseFailure
        if "#" in self.source[noted : self.pos]:
            self.problem(PARSE_ERROR)

    def _simple(self) -> None:
        simple = Simple(nested=self.nested)
        start = self.pos
        while True:
            here = self.pos
            self.blanks()
            if self._redirect(simple):
                continue
            if self.pos >= self.end or not self._word_of(simple, self.source[here : self.pos]):
                break
        if self.pos == start:
            raise ParseFailure
        self.script.commands.append(simple)

    def _word_of(self, simple: Simple, gap: str) -> bool:
        before = self.pos
        assignment = None if simple.words else _ASSIGNMENT.match(self.source, self.pos)
        if assignment and self.source.startswith("(", assignment.end()):
            self._array(simple, assignment.end())
            return True
        self.in_test = bool(simple.words) and simple.words[0].raw == "["
        word = read_word(self)
        self.in_test = False
        if self.pos == before:
            if self.at("("):
                self.problem(GLUED_GROUP)
                raise ParseFailure
            return False
        word.gap = gap
        if assignment:
            simple.assignments.append(word)
            self.script.variables[assignment.group().rstrip("+=")] = word.value.partition("=")[2]
            if assignment.group().endswith("]="):
                self.problem(UNKNOWN)
        else:
            simple.led_by_redirect = simple.led_by_redirect or bool(simple.redirects and not simple.words)
            simple.words.append(word)
        return True

    def _array(self, simple: Simple, opened: int) -> None:
        self.problem(ARRAY)
        start, self.pos = self.pos, opened + 1
        self.blanks(newlines=True)
        while not self.at(")"):
            before = self.pos
            if self.pos < self.end:
                read_word(self)
                self.blanks(newlines=True)
            if self.pos == before:
                raise ParseFailure
        self.pos += 1
        raw = self.source[start : self.pos]
        simple.assignments.append(Word(raw, raw))

    def _redirect(self, simple: Simple) -> bool:
        found = _REDIRECT.match(self.source, self.pos)
        if not found:
            return False
        descriptor, operator = found.group(1), found.group(2)
        self.pos = found.end()
        if descriptor and descriptor.startswith("{"):
            self.problem(FD_VARIABLE)
        self.blanks()
        target = read_word(self)
        if not target.raw:
            raise ParseFailure
        if operator in ("<<", "<<-"):
            note_heredoc(self, operator, target)
        elif operator == "<>":
            self.problem(ODD_REDIRECT)
        elif target.raw == "-" and operator in (">&", "<&"):
            self.problem(UNKNOWN)
        simple.redirects.append(Redirect(operator, target))
        return True


def _prints_literal(simple: Simple) -> bool:
    heredocs = [r for r in simple.redirects if r.operator in ("<<", "<<-") and r.target.quoted]
    return simple.argv == ["cat"] and len(heredocs) == len(simple.redirects) == 1 and not simple.assignments
