"""HTML as simple Markdown: headings, paragraphs, lists, links, code; scripts and navigation are left out."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_SKIPPED = frozenset({"script", "style", "noscript", "template", "svg", "head", "nav", "iframe"})
_BREAKING = frozenset(
    {
        "p",
        "div",
        "section",
        "article",
        "main",
        "header",
        "footer",
        "table",
        "tr",
        "ul",
        "ol",
        "blockquote",
        "form",
    }
)
_KEPT = "\0"  # a space of preformatted text, which must survive the tidying
_MAX_CHARS = 4_000_000
_PIECE, _LONGEST_TAG, _SHORT = 16_384, 262_144, 1_024
_TAG = re.compile(r"<[^<>]*>")
_HEADINGS = {f"h{n}": "#" * n for n in range(1, 7)}


class _Reader(HTMLParser):
    """Collects text while tags open and close."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.title = ""
        self._skip = 0
        self._pre = 0
        self._links: list[tuple[str, int]] = []
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_title = tag == "title"
        if tag in _SKIPPED:
            self._skip += 1
        elif tag in _HEADINGS:
            self.parts.append(f"\n\n{_HEADINGS[tag]} ")
        elif tag == "pre":
            self._pre += 1
            self.parts.append("\n\n```\n")
        elif tag == "a":
            # Links cannot hold links; one that was never closed is given up.
            self._links = [(dict(attrs).get("href") or "", len(self.parts))]
        else:
            self.parts.append(_opening(tag, in_pre=self._pre > 0))

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if tag in _SKIPPED:
            self._skip = max(0, self._skip - 1)
        elif tag == "pre":
            self._pre = max(0, self._pre - 1)
            self.parts.append("\n```\n\n")
        elif tag == "a" and self._links:
            self._close_link(*self._links.pop())
        elif tag == "code" and not self._pre:
            self.parts.append("`")
        elif tag in _BREAKING or tag in _HEADINGS:
            self.parts.append("\n\n")

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data
        elif not self._skip:
            self.parts.append(data.replace(" ", _KEPT) if self._pre else re.sub(r"\s+", " ", data))

    def _close_link(self, target: str, start: int) -> None:
        words = "".join(self.parts[start:]).strip()
        if words and target.startswith(("http://", "https://", "/")):
            self.parts[start:] = [f"[{words}]({target})"]


def _opening(tag: str, *, in_pre: bool) -> str:
    if tag == "br":
        return "\n"
    if tag == "li":
        return "\n- "
    if tag in ("td", "th"):
        return " | "
    if tag == "code" and not in_pre:
        return "`"
    return "\n\n" if tag in _BREAKING else ""


def to_text(html: str) -> str:
    """The readable content of a page, its title first."""
    reader = _Reader()
    _feed(reader, html[:_MAX_CHARS])
    body = re.sub(r"[ \t]*\n[ \t]*", "\n", "".join(reader.parts))
    body = re.sub(r"\n{3,}", "\n\n", body).strip().replace(_KEPT, " ")
    body += "\n\n[The page is longer; the rest is left out.]" if len(html) > _MAX_CHARS else ""
    title = " ".join(reader.title.split())
    return f"# {title}\n\n{body}" if title and not body.startswith(f"# {title}") else body


def _feed(reader: _Reader, html: str) -> None:
    """Reads a page piece by piece: what never ends (a tag, a comment) would cost the parser hours."""
    at = 0
    while at < len(html) and (reader.cdata_elem or len(reader.rawdata) < _LONGEST_TAG):
        size = max(_PIECE, len(reader.rawdata)) if reader.cdata_elem else _PIECE
        reader.feed(html[at : at + size])
        at += size
    if reader.cdata_elem or (at >= len(html) and len(reader.rawdata) < _SHORT):
        reader.close()
        return
    left, reader.rawdata = reader.rawdata + html[at:], ""
    reader.handle_data(_TAG.sub(" ", left))
