"""A small conservative reader for bash: it finds every simple command and reports what it cannot follow."""

from __future__ import annotations

import re

from forge.foundation.permissions.syntax import Redirect, Script, Simple, Word
from forge.foundation.permissions.words import ParseFailure, read_word

MAX_LENGTH = 10_000

_BLANKS = re.compile(r"(?:[ \t\r]|\\\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_SEPARATOR = re.compile(r"&&|\|\||\|&|;;&|;&|;;|[;|&\n]")
_REDIRECT = re.compile(r"(\d+|\{\w+\})?(<<<|<<-|<<|<>|<&|>&|>>|>\||&>>|&>|<(?!\()|>(?!\())")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_KEYWORD = re.compile(r"[A-Za-z]+|[{}!]|\[\[")
_KEYWORD_END = re.compile(r"$|[\s;&|()<>]")
_FUNCTION = re.compile(r"[^\s;&|()<>$'\"`\\={}]+[ \t]*\([ \t]*\)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_UNICODE_BLANK = re.compile("[\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]")

TOO_LONG = "Command is too long to be checked"
PARSE_ERROR = "Parse error"
UNICODE_BLANK = "Contains Unicode whitespace"
HEREDOC = "Heredoc with unquoted delimiter undergoes shell expansion"
HEREDOC_TAIL = "Text after the heredoc start on the same line cannot be statically analyzed"
FD_VARIABLE = "Redirect uses {fd} fd-variable assignment — modifies shell variable as side effect"
ODD_REDIRECT = "Unrecognized redirect shape"
UNKNOWN = "This command can't be checked before it runs"
BRACE_GROUP = "A group in braces or double parentheses in this command can't be checked before it runs"
FUNCTION = "A function definition in this command can't be checked before it runs"
CASE = "A case statement in this command can't be checked before it runs"
COUNTING = "A counting for loop in this command can't be checked before it runs"
SELECT = "select statement reads stdin into $REPLY; cannot statically model"
ARRAY = "A list of values in this command can't be checked before it runs"
SUBSHELL = "This command uses shell operators that require approval for safety"
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

    __slots__ = ("end", "heredocs", "home", "nested", "pos", "script", "source")

    def __init__(self, source: str, script: Script, home: str, *, nested: bool = False) -> None:
        self.source = source
        self.script = script
        self.home = home
        self.nested = nested
        self.pos = 0
        self.end = len(source)
        self.heredocs: list[tuple[str, bool, bool]] = []

    def problem(self, text: str) -> None:
        """Note something that keeps the command from being understood completely."""
        self.script.problems.append(text)

    def recover(self, before: int) -> None:
        """Continue after broken syntax at the next place where a command could begin."""
        self.pos = max(self.pos, before + 1)
        found = _SEPARATOR.search(self.source, self.pos)
        self.pos = found.end() if found else self.end

    def nested_until(self, close: str) -> bool:
        """Read commands up to the closing sign; True if they can only print a literal text."""
        outer, self.nested = self.nested, True
        first = len(self.script.commands)
        noted = len(self.script.problems)
        self.statements((close,))
        self.nested = outer
        if not self.source.startswith(close, self.pos):
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
            if reader.source[reader.pos] in "$`":
                try:
                    read_word(reader)
                except ParseFailure:
                    self.problem(PARSE_ERROR)
                    return
            else:
                reader.pos += 1

    def statements(self, stops: tuple[str, ...]) -> str:
        """Read commands until one of the stop words or the end; returns the stop word found."""
        while True:
            self.blanks(newlines=True)
            if self.pos >= self.end:
                return ""
            stop = self._stop(stops)
            if stop:
                return stop
            self.command()
            self.blanks()
            if not self._separator() and self.pos < self.end and not self._stop(stops):
                raise ParseFailure

    def blanks(self, *, newlines: bool = False) -> None:
        """Skip blanks and comments, and on request line ends with the here-documents behind them."""
        while self.pos < self.end:
            found = _BLANKS.match(self.source, self.pos)
            if found:
                self.pos = found.end()
            elif self.source[self.pos] == "#":
                self.pos = _COMMENT.match(self.source, self.pos).end()  # type: ignore[union-attr] - begins with #
            elif newlines and self.source[self.pos] in "\n;":
                self._line_end()
            else:
                return

    def _line_end(self) -> None:
        at_newline = self.source[self.pos] == "\n"
        self.pos += 1
        if at_newline and self.heredocs:
            self._read_heredocs()

    def _stop(self, stops: tuple[str, ...]) -> str:
        for stop in stops:
            if self.source.startswith(stop, self.pos):
                behind = self.pos + len(stop)
                if not stop[0].isalpha() or _KEYWORD_END.match(self.source, behind):
                    return stop
        return ""

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
        if sign in ("&&", "||", "|", "|&"):
            self._operand_follows()
        return True

    def _operand_follows(self) -> None:
        self.blanks(newlines=True)
        if self.pos >= self.end or _SEPARATOR.match(self.source, self.pos):
            raise ParseFailure

    def command(self) -> None:
        """Read one command of any kind."""
        if self.source.startswith("(", self.pos):
            self._parentheses()
            return
        found = _KEYWORD.match(self.source, self.pos)
        keyword = found.group() if found and _KEYWORD_END.match(self.source, found.end()) else ""
        special = _COMPOUND.get(keyword)
        if special is not None and found:
            self.pos = found.end()
            special(self)
            return
        if _FUNCTION.match(self.source, self.pos):
            self._function()
            return
        self._simple()

    def _parentheses(self) -> None:
        if self.source.startswith("((", self.pos):
            self.problem(BRACE_GROUP)
            close = self.source.find("))", self.pos)
            if close >= 0:
                self.nested_words(self.source[self.pos + 2 : close])
                self.pos = close + 2
                self._trailing_redirects()
                return
        self.script.subshell = True
        self.problem(SUBSHELL)
        self.pos += 1
        self._until(")")

    def _until(self, *stops: str) -> str:
        stop = self.statements(stops)
        if not stop:
            raise ParseFailure
        self.pos += len(stop)
        if stop in (")", "}", "fi", "done", "esac"):
            self._trailing_redirects()
        return stop

    def _trailing_redirects(self) -> None:
        holder = Simple(nested=self.nested)
        self.blanks()
        while self._redirect(holder):
            self.blanks()
        if holder.redirects:
            self.script.commands.append(holder)

    def _function(self) -> None:
        self.problem(FUNCTION)
        found = _FUNCTION.match(self.source, self.pos)
        if found:
            self.pos = found.end()
        self.blanks(newlines=True)
        self.command()

    def read_if(self) -> None:
        """Read the rest of `if … then … elif … else … fi`."""
        self._until("then")
        stop = self._until("elif", "else", "fi")
        if stop == "elif":
            self.read_if()
        elif stop == "else":
            self._until("fi")

    def read_loop(self) -> None:
        """Read the rest of a while or until loop."""
        self._until("do")
        self._until("done")

    def read_for(self) -> None:
        """Read the rest of a for loop."""
        self.blanks()
        if self.source.startswith("((", self.pos):
            self.problem(COUNTING)
            close = self.source.find("))", self.pos)
            self.pos = close + 2 if close >= 0 else self.end
        else:
            self.script.sets_variable = True
            self._loop_values()
        self.blanks(newlines=True)
        if self.source.startswith("{", self.pos):
            self.pos += 1
            self._until("}")
            return
        self._until("do")
        self._until("done")

    def read_select(self) -> None:
        """Read the rest of a select loop."""
        self.problem(SELECT)
        self.read_for()

    def _loop_values(self) -> None:
        name = _NAME.match(self.source, self.pos)
        if not name:
            raise ParseFailure
        self.pos = name.end()
        self.blanks(newlines=True)
        if self._stop(("in",)):
            self.pos += 2
            self.blanks()
            while self.pos < self.end and self.source[self.pos] not in ";\n":
                before = self.pos
                read_word(self)
                if self.pos == before:
                    raise ParseFailure
                self.blanks()

    def read_case(self) -> None:
        """Read the rest of a case statement."""
        self.problem(CASE)
        self.blanks()
        read_word(self)
        self.blanks(newlines=True)
        if not self._stop(("in",)):
            raise ParseFailure
        self.pos += 2
        while True:
            self.blanks(newlines=True)
            if self._stop(("esac",)):
                self.pos += 4
                self._trailing_redirects()
                return
            close = self.source.find(")", self.pos)
            if close < 0:
                raise ParseFailure
            self.pos = close + 1
            self.statements((";;", ";&", "esac"))

    def read_function(self) -> None:
        """Read the rest of `function name { … }`."""
        self.problem(FUNCTION)
        self.blanks()
        read_word(self)
        self.blanks()
        if self.source.startswith("()", self.pos):
            self.pos += 2
        self.blanks(newlines=True)
        self.command()

    def read_group(self) -> None:
        """Read the rest of a group in braces."""
        self.problem(BRACE_GROUP)
        self._until("}")

    def read_negation(self) -> None:
        """Read the command after an exclamation mark."""
        self.blanks()
        self.command()

    def read_test(self) -> None:
        """Read the rest of a conditional expression as one simple command."""
        simple = Simple(nested=self.nested)
        simple.words.append(Word("[[", "[["))
        while True:
            self.blanks(newlines=True)
            if self.pos >= self.end:
                raise ParseFailure
            if self.source.startswith("]]", self.pos):
                break
            before = self.pos
            word = read_word(self)
            if self.pos == before:
                self.pos += 1
                word = Word(self.source[before], self.source[before])
            simple.words.append(word)
        self.pos += 2
        self.script.commands.append(simple)
        self._trailing_redirects()

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
        if not simple.words and simple.assignments:
            self.script.sets_variable = True

    def _word_of(self, simple: Simple, gap: str) -> bool:
        before = self.pos
        is_assignment = not simple.words and _ASSIGNMENT.match(self.source, self.pos)
        if is_assignment and self.source.startswith("(", is_assignment.end()):
            self._array(simple, is_assignment.end())
            return True
        word = read_word(self)
        if self.pos == before:
            if self.source[before] == "(":
                self.problem(GLUED_GROUP)
                raise ParseFailure
            return False
        word.gap = gap
        (simple.assignments if is_assignment else simple.words).append(word)
        return True

    def _array(self, simple: Simple, opened: int) -> None:
        self.problem(ARRAY)
        start, self.pos = self.pos, opened + 1
        while not self.source.startswith(")", self.pos):
            self.blanks(newlines=True)
            before = self.pos
            if self.pos < self.end and self.source[self.pos] != ")":
                read_word(self)
                if self.pos == before:
                    raise ParseFailure
            if self.pos >= self.end:
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
            self._note_heredoc(operator, target)
        elif operator == "<>":
            self.problem(ODD_REDIRECT)
        elif target.raw == "-" and operator in (">&", "<&"):
            self.problem(UNKNOWN)
        simple.redirects.append(Redirect(operator, target))
        return True

    def _note_heredoc(self, operator: str, delimiter: Word) -> None:
        quoted = delimiter.quoted or not delimiter.literal
        if not quoted:
            self.problem(HEREDOC)
        self.heredocs.append((delimiter.value, quoted, operator == "<<-"))
        line_end = self.source.find("\n", self.pos)
        rest = self.source[self.pos : line_end if line_end >= 0 else self.end]
        if rest.strip() and not rest.lstrip().startswith((")", '"')):
            self.problem(HEREDOC_TAIL)

    def _read_heredocs(self) -> None:
        for delimiter, quoted, tabs in self.heredocs:
            while self.pos < self.end:
                line_end = self.source.find("\n", self.pos)
                line_end = self.end if line_end < 0 else line_end
                line = self.source[self.pos : line_end]
                self.pos = min(line_end + 1, self.end)
                if (line.lstrip("\t") if tabs else line) == delimiter:
                    break
                if not quoted:
                    self.nested_words(line)
        self.heredocs = []


def _prints_literal(simple: Simple) -> bool:
    heredocs = [r for r in simple.redirects if r.operator in ("<<", "<<-") and r.target.quoted]
    return simple.argv == ["cat"] and len(heredocs) == len(simple.redirects) == 1 and not simple.assignments


_COMPOUND = {
    "if": Reader.read_if,
    "while": Reader.read_loop,
    "until": Reader.read_loop,
    "for": Reader.read_for,
    "select": Reader.read_select,
    "case": Reader.read_case,
    "function": Reader.read_function,
    "{": Reader.read_group,
    "!": Reader.read_negation,
    "[[": Reader.read_test,
}
