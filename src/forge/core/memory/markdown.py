"""What memory files need of Markdown: which parts are text, which names in it are imports, and its comments.

Follows the reference's Markdown reader (CommonMark without tables) as far as imports can tell the difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from forge.foundation.permissions.syntax import word_set

# Patterns are compiled on first use: a typical file needs few of them.
_DEFINITION = r"\[[^\]]+\]:\s*\S+(?:\s+(?:\"[^\"]*\"|'[^']*'|\([^)]*\)))?\s*$"
_COMMENT = r"(?s) {0,3}<!--(?:-?>|.*?(?:-->|\Z))[^\n]*(?:(?:\r?\n)+|\Z)"
_RAW = r"(?i)<(script|pre|style|textarea)(?=[\s>]|$)"
_NAME = r"</?([A-Za-z][A-Za-z0-9]*)(?=\s|/?>|$)"
_BLOCKS = word_set(
    """address article aside base basefont blockquote body caption center col colgroup dd details dialog dir
    div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html
    iframe legend li link main menu menuitem meta nav noframes ol optgroup option p param search section
    summary table tbody td tfoot th thead title tr track ul"""
)
_LONE_TAG = r"(?i)</?(?!(?:script|pre|style|textarea)\b)[A-Za-z][\w-]*(?:\s[^<>]*)?/?>\s*$"

# Marks the place of something that is not text, where a new run of text begins.
_EDGE = "\x01"
# What must be in a text for the pattern to be tried, the pattern, what takes its place.
# Lengths are limited so that no text takes long.
_INLINE = (
    ("\\", r"\\[!-/:-@\[-`{-~]", "x"),
    ("`", r"(?s)(?<!`)(`+)(?!`)(.{1,4000}?)(?<!`)\1(?!`)", _EDGE),
    ("<", r"(?s)<!--.{0,4000}?-->|</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>|<[A-Za-z][\w+.-]*:[^\s<>]*>", _EDGE),
    ("![", r"!\[(?:[^\[\]]|\[[^\[\]]*\])*\]\([^()]*\)", _EDGE),
    ("](", r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\([^()]*\)", rf"{_EDGE}\1{_EDGE}"),
    ("*", r"(?s)(\*{1,3})(?=[^\s*])(.{1,500}?)(?<=[^\s*])\1(?!\*)", rf"{_EDGE}\2{_EDGE}"),
    ("_", r"(?s)(?<!\w)(_{1,3})(?=[^\s_])(.{1,500}?)(?<=[^\s_])\1(?!\w)", rf"{_EDGE}\2{_EDGE}"),
)
_IMPORT = rf"(?:^|(?<=[\s{_EDGE}]))@(?:include[ \t]+)?((?:[^\s\\{_EDGE}]|\\ )+)"
_WORDS = ("text", "item", "listed", "alone", "comment")
_PATH = r"\.{0,2}/.|~/|[A-Za-z0-9._-]"


def without_comments(text: str) -> str:
    """The text without comments that stand on lines of their own."""
    if "<!--" not in text:
        return text
    kept = []
    for kind, raw, _ in _Scan(text).blocks():
        if kind == "comment" and "-->" in raw:
            raw = re.sub(r"<!--.*?-->", "", raw, flags=re.DOTALL)
            raw = raw if raw.strip() else ""
        kept.append(raw)
    return "".join(kept)


def imports(text: str) -> list[str]:
    """The paths the text imports, as they are written, in order."""
    if "@" not in text:
        return []
    found: list[str] = []
    for paragraph, listed in _paragraphs(text):
        if "@" in paragraph:
            # The reference looks at the text of list items twice, first without regard to code and links.
            found += _paths(paragraph) if listed else []
            found += _paths(_runs(paragraph))
    return list(dict.fromkeys(found))


def _paths(text: str) -> Iterator[str]:
    for found in re.finditer(_IMPORT, text):
        path = found[1].partition("#")[0].replace("\\ ", " ")
        if re.match(_PATH, path):
            yield path


def _runs(paragraph: str) -> str:
    """The runs of text in a paragraph, with edges where code, tags, links and emphasis are."""
    for sign, pattern, instead in _INLINE:
        if sign in paragraph:
            paragraph = re.sub(pattern, instead, paragraph)
    return paragraph


def _paragraphs(text: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs, and whether each is the text of a list item."""
    lines: list[str] = []
    listed = False
    for kind, raw, content in _Scan(text).blocks():
        if kind == "comment":
            content = re.sub(r"(?s)<!--.*?(?:-->|\Z)", "", raw) if "-->" in raw else ""
        words = content.strip() if kind in _WORDS else ""
        in_item = kind in ("item", "listed")
        if not words or kind in ("item", "alone", "comment") or in_item != listed:
            yield "\n".join(lines), listed
            lines = []
        if words:
            lines.append(content)
            listed = in_item
    yield "\n".join(lines), listed


class _Scan:
    """Walks over a document line by line and says what each line is."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._fence = ""
        self._fence_base = 0
        self._column = 0
        self._html: re.Pattern[str] | None = None
        self._indents: list[int] = []
        self._in_paragraph = False
        self._quoted = False

    def blocks(self) -> Iterator[tuple[str, str, str]]:
        """Kind, the raw characters, the content without markers.

        Kinds are text, item (the first line of a list item), listed (its other lines), alone (a paragraph of
        its own, such as a heading), code, html and comment.
        """
        at, text = 0, self._text
        while at < len(text):
            comment = self._comment_at(at)
            if comment is not None:
                self._in_paragraph = False
                yield "comment", comment[0], ""
                at = comment.end()
                continue
            end = text.find("\n", at) + 1 or len(text)
            raw = text[at:end]
            kind, content = self._line(raw.rstrip("\r\n").expandtabs(4))
            yield kind, raw, content
            at = end

    def _comment_at(self, at: int) -> re.Match[str] | None:
        start = self._text[at : at + 7]
        if self._fence or self._html or start.lstrip(" ")[:4] != "<!--":
            return None
        indented = len(start) - len(start.lstrip(" "))
        if (self._indents and indented >= self._indents[0]) or (indented and self._in_paragraph):
            return None
        self._indents.clear()
        return re.compile(_COMMENT).match(self._text, at)

    def _line(self, line: str) -> tuple[str, str]:
        quoted = False
        while (inner := _unquoted(line)) is not None and not (self._fence and not self._quoted):
            line, quoted = inner, True
        if self._fence and self._leaves_fence(line, quoted=quoted):
            self._fence = ""
        if self._fence:
            return self._in_fence(line)
        if not line.strip():
            self._html = None if self._html is _BLANK else self._html
            self._in_paragraph = False
            return ("html", "") if self._html else ("text", "")
        if self._html:
            if self._html is not _BLANK and self._html.search(line):
                self._html = None
            return "html", ""
        self._quoted = quoted
        return self._content(line)

    def _leaves_fence(self, line: str, *, quoted: bool) -> bool:
        """Whether a line is outside of the quotation or the list item that the code belongs to."""
        if self._quoted and not quoted:
            return True
        return bool(line.strip()) and len(line) - len(line.lstrip(" ")) < self._fence_base

    def _in_fence(self, line: str) -> tuple[str, str]:
        closing = line.strip()
        if closing.startswith(self._fence) and not closing.strip(self._fence[0]):
            self._fence = ""
        return "code", ""

    def _content(self, line: str) -> tuple[str, str]:
        """A line outside of fences and raw HTML; list markers are taken off one by one."""
        kind, column = "text", 0
        while True:
            body = line.lstrip(" ")
            column += len(line) - len(body)
            marker = _marker(body)
            self._column = column
            self._leave_lists(column, starts_item=marker > 0)
            base = self._indents[-1] if self._indents else 0
            if column - base >= 4 and not self._in_paragraph:
                return "code", ""
            rule = body.count(body[0]) > 2 and not body.strip(f"{body[0]} ")
            if not marker or rule:
                return self._leaf(body, kind)
            kind, self._in_paragraph = "item", False
            rest = body[marker:]
            blanks = len(rest) - len(rest.lstrip(" "))
            self._indents.append(column + marker + (blanks if 0 < blanks < 5 else 1))
            line, column = rest, column + marker
            if not rest.strip():
                return "item", ""

    def _leave_lists(self, column: int, *, starts_item: bool) -> None:
        """A line that is indented less ends lists, unless it goes on with a paragraph."""
        if starts_item or not self._in_paragraph:
            while self._indents and column < self._indents[-1]:
                self._indents.pop()

    def _leaf(self, body: str, kind: str) -> tuple[str, str]:
        if kind == "text" and self._indents:
            kind = "listed"
        while (inner := _unquoted(body)) is not None:
            body, kind = inner, "alone" if self._indents else kind
        fence = body[: len(body) - len(body.lstrip(body[:1]))] if body.startswith(("```", "~~~")) else ""
        if fence and not (fence[0] == "`" and "`" in body[len(fence) :]):
            self._in_paragraph = False
            self._leave_lists(self._column, starts_item=True)
            self._fence, self._fence_base = fence, self._indents[-1] if self._indents else 0
            return "code", ""
        # An indented comment does not end a paragraph.
        goes_on = self._in_paragraph and self._column > 0 and body.startswith("<!--")
        if body.startswith("<") and not goes_on and self._opens_html(body):
            return "html", ""
        if body.startswith("[") and not self._in_paragraph and re.match(_DEFINITION, body):
            return "code", ""
        if body[:1] in ("-", "*", "_", "=") and self._is_line(body):
            self._in_paragraph = False
            return "code", ""
        signs = len(body) - len(body.lstrip("#"))
        heading = 0 < signs < 7 and body[signs : signs + 1] in ("", " ")
        self._in_paragraph = not heading
        return ("alone", body[signs:]) if heading else (kind, body)

    def _is_line(self, body: str) -> bool:
        """A rule, or what underlines a heading."""
        return not body.strip(f"{body[0]} ") and (body[0] != "=" or self._in_paragraph)

    def _opens_html(self, body: str) -> bool:
        raw = re.match(_RAW, body)
        if raw:
            end = re.compile(rf"</{raw[1]}>", re.IGNORECASE)
            self._html = None if end.search(body) else end
            return True
        if body.startswith("<!--"):
            self._html = None if "-->" in body else re.compile("-->")
            return True
        name = re.match(_NAME, body)
        # Lines of a list item are no paragraph that could go on.
        free = not self._in_paragraph or self._indents
        if (name and name[1].lower() in _BLOCKS) or (free and re.match(_LONE_TAG, body)):
            self._html = _BLANK
            return True
        return False


def _unquoted(line: str) -> str | None:
    """The line without one mark of a quotation; None if it has none."""
    body = line.lstrip(" ")
    if not body.startswith(">") or len(line) - len(body) > 3:
        return None
    return body[1:].removeprefix(" ")


def _marker(body: str) -> int:
    """The length of the mark of a list item at the start of a line, 0 if there is none."""
    digits = len(body) - len(body.lstrip("0123456789"))
    if digits:
        length = digits + 1 if digits < 10 and body[digits : digits + 1] in (".", ")") else 0
    else:
        length = 1 if body[:1] in ("-", "+", "*") else 0
    return length if length and body[length : length + 1] in ("", " ") else 0


# Ends raw HTML at the next blank line.
_BLANK = re.compile("")
