"""Compound commands of the shell: the commands inside are found, what cannot be followed is noted."""

from __future__ import annotations

import re

from forge.foundation.permissions.syntax import Simple, Word
from forge.foundation.permissions.words import ParseFailure, read_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.parser import Reader

_NAME = re.compile(r"[A-Za-z_]\w*")

BRACE_GROUP = "A group in braces or double parentheses in this command can't be checked before it runs"
FUNCTION = "A function definition in this command can't be checked before it runs"
CASE = "A case statement in this command can't be checked before it runs"
COUNTING = "A counting for loop in this command can't be checked before it runs"
SELECT = "select statement reads stdin into $REPLY; cannot statically model"
SUBSHELL = "This command uses shell operators that require approval for safety"


def read_parentheses(reader: Reader) -> None:
    """Read a subshell or an arithmetic command; what is inside the latter is read as commands to be safe."""
    close = reader.source.find("))", reader.pos) if reader.at("((") else -1
    inside = reader.source[reader.pos + 2 : close]
    if close >= 0 and inside.count("(") == inside.count(")"):
        reader.problem(BRACE_GROUP)
        reader.nested_text(inside)
        reader.pos = close + 2
        reader.trailing_redirects()
        return
    reader.problem(SUBSHELL)
    reader.script.subshell = True
    reader.pos += 1
    reader.until(")")


def read_function(reader: Reader) -> None:
    """Read the body of a function definition."""
    reader.problem(FUNCTION)
    reader.blanks(newlines=True)
    reader.command()


def _if(reader: Reader) -> None:
    reader.until("then")
    stop = reader.until("elif", "else", "fi")
    while stop == "elif":
        reader.until("then")
        stop = reader.until("elif", "else", "fi")
    if stop == "else":
        reader.until("fi")


def _loop(reader: Reader) -> None:
    reader.until("do")
    reader.until("done")


def _for(reader: Reader) -> None:
    reader.blanks()
    if reader.at("(("):
        reader.problem(COUNTING)
        close = reader.source.find("))", reader.pos)
        reader.pos = close + 2 if close >= 0 else reader.end
    else:
        reader.script.loop_variable = True
        _loop_values(reader)
    reader.blanks()
    if reader.at(";"):
        reader.pos += 1
    reader.blanks(newlines=True)
    if reader.at("{"):
        reader.pos += 1
        reader.until("}")
        return
    _loop(reader)


def _loop_values(reader: Reader) -> None:
    name = _NAME.match(reader.source, reader.pos)
    if not name:
        raise ParseFailure
    reader.pos = name.end()
    reader.blanks(newlines=True)
    if not reader.stop(("in",)):
        return
    reader.pos += 2
    reader.blanks()
    while reader.pos < reader.end and reader.source[reader.pos] not in ";\n":
        before = reader.pos
        read_word(reader)
        if reader.pos == before:
            raise ParseFailure
        reader.blanks()


def _select(reader: Reader) -> None:
    reader.problem(SELECT)
    _for(reader)


def _case(reader: Reader) -> None:
    reader.problem(CASE)
    reader.blanks()
    read_word(reader)
    reader.blanks(newlines=True)
    if not reader.stop(("in",)):
        raise ParseFailure
    reader.pos += 2
    while True:
        reader.blanks(newlines=True)
        if reader.stop(("esac",)):
            reader.pos += 4
            reader.trailing_redirects()
            return
        close = reader.source.find(")", reader.pos)
        if close < 0:
            raise ParseFailure
        reader.pos = close + 1
        stop = reader.statements((";;&", ";;", ";&", "esac"))
        reader.pos += 0 if stop == "esac" else len(stop)


def _named_function(reader: Reader) -> None:
    reader.blanks()
    read_word(reader)
    reader.blanks()
    if reader.at("()"):
        reader.pos += 2
    read_function(reader)


def _group(reader: Reader) -> None:
    reader.problem(BRACE_GROUP)
    reader.until("}")


def _negation(reader: Reader) -> None:
    reader.blanks()
    reader.command()


def _test(reader: Reader) -> None:
    simple = Simple(nested=reader.nested)
    simple.words.append(Word("[[", "[["))
    reader.in_test = True
    reader.blanks(newlines=True)
    while not reader.at("]]"):
        if reader.pos >= reader.end:
            raise ParseFailure
        before = reader.pos
        word = read_word(reader)
        if reader.pos == before:
            reader.pos += 1
            word = Word(reader.source[before], reader.source[before])
        simple.words.append(word)
        reader.blanks(newlines=True)
    reader.pos += 2
    reader.in_test = False
    simple.words.append(Word("]]", "]]"))
    reader.script.commands.append(simple)
    reader.trailing_redirects()


COMPOUND = {
    "if": _if,
    "while": _loop,
    "until": _loop,
    "for": _for,
    "select": _select,
    "case": _case,
    "function": _named_function,
    "{": _group,
    "!": _negation,
    "[[": _test,
}
