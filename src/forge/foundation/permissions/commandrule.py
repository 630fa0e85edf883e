"""Matching Bash rules with simple commands."""

from __future__ import annotations

import re

from forge.foundation.permissions.disguise import started
from forge.foundation.permissions.syntax import text_of
from forge.foundation.permissions.wildcard import matches
from forge.foundation.permissions.wrappers import safe_assignment, unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.rule import Rule
    from forge.foundation.permissions.syntax import Simple, Word

_BLANKS = r"\s+"
_STAR = r"(?<!\\)\*"


def is_exact(content: str) -> bool:
    """Whether the content of a Bash rule names one command and no others."""
    return not content.endswith(":*") and not re.search(_STAR, content)


def is_prefix(content: str) -> bool:
    """Whether the content of a Bash rule is a plain beginning of commands."""
    return content.endswith(":*") or (content.endswith(" *") and len(re.findall(_STAR, content)) == 1)


def matches_text(content: str, text: str) -> bool:
    """Whether a Bash rule's content covers a command text."""
    if content.endswith(":*"):
        return _has_prefix(content[:-2], _squeezed(text))
    if not re.search(_STAR, content):
        return text.strip() == content
    pattern, squeezed = _squeezed(content), _squeezed(text)
    if is_prefix(pattern) and squeezed == pattern[:-2].replace("\\*", "*"):
        return True
    return matches([piece.replace("\\*", "*") for piece in re.split(_STAR, pattern)], squeezed)


def allows(rule: Rule, simple: Simple) -> bool:
    """Whether an allow rule with content covers a simple command, looking past harmless wrappers."""
    content = rule.content
    if content is None:
        return True
    exact = is_exact(content)
    piped = content.endswith("*") and len(re.findall(_STAR, content)) == 1
    return any(matches_text(content, text) for text in _allow_texts(simple, exact=exact, piped=piped))


def forbids(rule: Rule, simple: Simple, *, strict: bool) -> bool:
    """Whether a deny or ask rule covers a simple command or what its wrappers start."""
    content = rule.content
    if content is None:
        return True
    lines = started(simple, strict=strict, piped=strict or not is_exact(content))
    texts = [
        text_of([*simple.assignments, *simple.words]),
        *(text for words in lines for text in _spellings(words)),
    ]
    return any(matches_text(content, text) for text in texts)


def begins(rule: Rule, command: str) -> bool:
    """Whether a command that cannot be read completely begins with the one a deny rule names exactly."""
    if rule.tool != "Bash" or rule.content is None or not is_exact(rule.content):
        return False
    text = _squeezed(re.sub(r"['\"]|\\\n", "", command))
    return text == rule.content or text.startswith(rule.content + " ")


def _has_prefix(prefix: str, text: str) -> bool:
    prefix = _squeezed(prefix)
    return bool(prefix) and (text == prefix or text.startswith(prefix + " "))


def _squeezed(text: str) -> str:
    return re.sub(_BLANKS, " ", text).strip()


def _allow_texts(simple: Simple, *, exact: bool, piped: bool) -> list[str]:
    here_strings = [r.target for r in simple.redirects if r.operator == "<<<"]
    tail = "".join(f" <<<{word.raw}" for word in here_strings) if exact else ""
    texts = [text_of([*simple.assignments, *_named(simple.words)]) + tail]
    if not all(safe_assignment(word) for word in simple.assignments):
        return texts
    words = simple.words
    while words:
        texts.append(text_of(_named(words)) + tail)
        rest, problem = unwrapped(words)
        if rest is words and piped:
            rest = _piped(words)
        if problem or rest is words:
            break
        words = rest
    return texts


def _piped(words: list[Word]) -> list[Word]:
    """What a bare xargs runs."""
    if words[0].value == "xargs" and len(words) > 1 and not words[1].value.startswith("-"):
        return words[1:]
    return words


def _spellings(words: list[Word]) -> list[str]:
    """A command line with and without quoting, and with the bare name of its program."""
    values = [word.value for word in words]
    return [
        text_of(_named(words)),
        text_of(_named(words, base_name=True)),
        " ".join(values),
        " ".join([values[0].rsplit("/", 1)[-1], *values[1:]]),
    ]


def _named(words: list[Word], *, base_name: bool = False) -> list[Word]:
    """The words with the quoting of the command name removed."""
    if not words:
        return words
    first = words[0]
    name = first.value.rsplit("/", 1)[-1] if base_name else first.value
    if name == first.raw or not name or re.search(_BLANKS, name):
        return words
    plain = type(first)(name, name)
    plain.gap = first.gap
    return [plain, *words[1:]]
