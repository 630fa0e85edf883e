"""Reading one shell word: quoting, expansions, substitutions. What cannot be known becomes a problem."""

from __future__ import annotations

import re

from forge.foundation.permissions.syntax import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.parser import Reader

WORD_END = frozenset(" \t\n;&|()<>")
_GLOB = frozenset("*?[")
_PLAIN = re.compile(r"[A-Za-z0-9_./:@%+,=-]+")
_VARIABLE = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?$!-])")
_BRACE_LIST = re.compile(r"\{[^\s{}]*(?:,|\.\.)[^\s{}]*\}?")
_SENTENCE_PARAMETERS = frozenset({"$?", "$$", "$!", "$#", "$-", "$PWD"})
_NEWLINE_COMMENT = re.compile(r"\n[ \t]*#")
_EQUALS_COMMAND = re.compile(r"=[A-Za-z_]")
_OPERAND = re.compile(r"(?<![0-9A-Za-z])[^\d\s+*/%()<>&|^!=?:,~-]\w*")

NESTED = "A nested command in this command can't be checked before it runs"
QUOTED = "Quoted text in this command can't be checked before it runs"
VARIABLE = "A variable in this command can't be checked before it runs"
BRACED_VARIABLE = "A variable in braces in this command can't be checked before it runs"
ESCAPE_CODES = "Text with escape codes in this command can't be checked before it runs"
UNKNOWN = "This command can't be checked before it runs"
BRACES = "Brace expansion"
OPEN_BRACE = "Brace expansion (unquoted `{` in concatenation with `,`/`..`)"
BRACE_RANGE = "A brace pattern in this command can't be checked before it runs"
ESCAPED_BLANK = "Contains backslash-escaped whitespace"
AS_FILE = "A command used as a file in this command can't be checked before it runs"
HIDDEN_COMMENT = "Newline followed by # inside a quoted argument can hide arguments from path validation"
LONE_EQUALS = "Parse error"
EQUALS_COMMAND = "Contains zsh =cmd equals expansion"
SUM_OPERAND = "Arithmetic expansion references variable or non-literal: "


class ParseFailure(Exception):
    """The text is not shell syntax as far as this reader understands it."""


def read_word(reader: Reader) -> Word:
    """Read the word at the reader's position; the reader stands behind it afterwards."""
    start = reader.pos
    word = Word("", "")
    if _EQUALS_COMMAND.match(reader.source, start):
        reader.problem(EQUALS_COMMAND)
    while reader.pos < reader.end:
        char = reader.source[reader.pos]
        if char in WORD_END and not _substituted_file(reader, word):
            break
        if char not in WORD_END:
            word.value += _piece(reader, char, word)
    word.raw = reader.source[start : reader.pos]
    if word.raw == "=" and not reader.in_test:
        reader.problem(LONE_EQUALS)
    return word


def _substituted_file(reader: Reader, word: Word) -> bool:
    if not reader.source.startswith(("<(", ">("), reader.pos):
        return False
    reader.problem(AS_FILE)
    reader.pos += 2
    reader.nested_until(")")
    word.literal = False
    return True


def _piece(reader: Reader, char: str, word: Word) -> str:
    plain = _PLAIN.match(reader.source, reader.pos, reader.end)
    if plain:
        reader.pos = plain.end()
        return plain.group()
    special = _SPECIAL.get(char)
    if special is not None:
        return special(reader, word)
    reader.pos += 1
    if char in _GLOB:
        word.glob = True
    return char


def _single_quoted(reader: Reader, word: Word) -> str:
    close = reader.source.find("'", reader.pos + 1, reader.end)
    if close < 0:
        reader.script.unclosed = True
        close = reader.end
    text = reader.source[reader.pos + 1 : close]
    reader.pos = min(close + 1, reader.end)
    word.quoted = True
    _hidden_comment(reader, text)
    return text


def _double_quoted(reader: Reader, word: Word) -> str:
    word.quoted = True
    reader.pos += 1
    value = ""
    while reader.pos < reader.end:
        char = reader.source[reader.pos]
        if char == '"':
            reader.pos += 1
            _hidden_comment(reader, value)
            return value
        if char == "\\":
            value += _escape_in_quotes(reader)
        elif char in "$`":
            value += _expansion(reader, word, in_quotes=True)
        else:
            value += char
            reader.pos += 1
    raise ParseFailure


def _hidden_comment(reader: Reader, text: str) -> None:
    if _NEWLINE_COMMENT.search(text):
        reader.problem(HIDDEN_COMMENT)


def _escape_in_quotes(reader: Reader) -> str:
    following = reader.source[reader.pos + 1 : reader.pos + 2]
    reader.pos += 2
    if following == "\n":
        return ""
    return following if following in '$`"\\' else "\\" + following


def _escape(reader: Reader, word: Word) -> str:
    following = reader.source[reader.pos + 1 : reader.pos + 2]
    reader.pos = min(reader.pos + 2, reader.end)
    if not following:
        raise ParseFailure
    if following == "\n" or following.isspace():
        reader.problem(ESCAPED_BLANK)
    word.quoted = True
    return following


def _dollar(reader: Reader, word: Word) -> str:
    return _expansion(reader, word, in_quotes=False)


def _expansion(reader: Reader, word: Word, *, in_quotes: bool) -> str:
    source, pos = reader.source, reader.pos
    if source[pos] == "`":
        return _backquoted(reader, word, in_quotes=in_quotes)
    if source.startswith("$((", pos):
        return _arithmetic(reader, word, in_quotes=in_quotes)
    if source.startswith("$(", pos):
        return _substitution(reader, word, in_quotes=in_quotes)
    if source.startswith("${", pos):
        return _braced_variable(reader, word)
    if not in_quotes and source.startswith(("$'", '$"', "$["), pos):
        return _odd_quotes(reader, word)
    return _variable(reader, word, in_quotes=in_quotes)


def _substitution(reader: Reader, word: Word, *, in_quotes: bool) -> str:
    start = reader.pos
    reader.pos += 2
    harmless = reader.nested_until(")")
    word.literal = False
    if not harmless:
        reader.problem(QUOTED if in_quotes else NESTED)
    return reader.source[start : reader.pos]


def _backquoted(reader: Reader, word: Word, *, in_quotes: bool) -> str:
    start = reader.pos
    close = start + 1
    while close < reader.end and reader.source[close] != "`":
        close += 2 if reader.source[close] == "\\" else 1
    if close >= reader.end:
        raise ParseFailure
    reader.problem(QUOTED if in_quotes else NESTED)
    reader.nested_text(reader.source[start + 1 : close].replace("\\`", "`"))
    reader.pos = close + 1
    word.literal = False
    return reader.source[start : reader.pos]


def _arithmetic(reader: Reader, word: Word, *, in_quotes: bool) -> str:
    start = reader.pos
    end = _closing(reader, start + 1, "(", ")")
    if reader.source[end - 2 : end] != "))":
        return _substitution(reader, word, in_quotes=in_quotes)
    inside = reader.source[start + 3 : end - 2]
    reader.pos = end
    word.literal = False
    operand = _OPERAND.search(inside)
    if operand:
        reader.problem(SUM_OPERAND + operand.group())
        reader.nested_text(inside)
    return "0"


def _closing(reader: Reader, opened: int, sign: str, closing: str) -> int:
    """The position behind the sign that closes the one at `opened`."""
    depth = 0
    for at in range(opened, reader.end):
        depth += (reader.source[at] == sign) - (reader.source[at] == closing)
        if depth == 0:
            return at + 1
    raise ParseFailure


def _braced_variable(reader: Reader, word: Word) -> str:
    start = reader.pos
    end = _closing(reader, start + 1, "{", "}")
    reader.problem(BRACED_VARIABLE)
    reader.nested_words(reader.source[start + 2 : end - 1])
    reader.pos = end
    word.literal = False
    return reader.source[start:end]


def _odd_quotes(reader: Reader, word: Word) -> str:
    start = reader.pos
    word.quoted, word.literal = True, False
    if reader.source.startswith("$[", start):
        reader.problem(SUM_OPERAND + "$[")
        reader.pos += 2
        return "$["
    reader.pos += 1
    if reader.source[reader.pos] == '"':
        reader.problem(UNKNOWN)
        return _double_quoted(reader, word)
    reader.problem(ESCAPE_CODES)
    at = reader.pos + 1
    while at < reader.end and reader.source[at] != "'":
        at += 2 if reader.source[at] == "\\" else 1
    if at >= reader.end:
        raise ParseFailure
    reader.pos = at + 1
    return reader.source[start + 2 : at]


def _variable(reader: Reader, word: Word, *, in_quotes: bool) -> str:
    found = _VARIABLE.match(reader.source, reader.pos, reader.end)
    if not found:
        reader.pos += 1
        if not in_quotes:
            reader.problem(UNKNOWN)
        return "$"
    reader.pos = found.end()
    name = found.group()
    if name == "$HOME":
        return reader.home
    word.literal = False
    if in_quotes and name in _SENTENCE_PARAMETERS and reader.source[found.start() - 1].isspace():
        word.masked = True
        return name
    reader.problem(VARIABLE)
    return reader.script.variables.get(name[1:], name)


def _brace(reader: Reader, word: Word) -> str:
    found = _BRACE_LIST.match(reader.source, reader.pos, reader.end)
    if found:
        closed = BRACES if "," in found.group() else BRACE_RANGE
        reader.problem(closed if found.group().endswith("}") else OPEN_BRACE)
        word.literal = False
    reader.pos += 1
    return reader.source[reader.pos - 1]


_SPECIAL = {
    "'": _single_quoted,
    '"': _double_quoted,
    "\\": _escape,
    "$": _dollar,
    "`": _dollar,
    "{": _brace,
}
