"""HTML as Markdown: headings, lists, tables, code, quotes, links; scripts and navigation are left out."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from forge.core.tools.webtree import BLOCKS, Node, parse_html

_SKIPPED_NAMES = """
    script style noscript template svg head nav iframe canvas object video audio select input textarea title
    math map
"""
_SKIPPED = frozenset(_SKIPPED_NAMES.split())
_MAX_CHARS = 4_000_000
_MARKS = {"strong": "**", "b": "**", "em": "*", "i": "*", "del": "~~", "s": "~~", "strike": "~~"}
# Deeper ones are not indented any further: a page must not become many times its size.
_MOST_QUOTES, _MOST_LISTS = 6, 10
_CODE = ("code", "kbd", "samp", "tt")
_LANGUAGE = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:)-?\s*([\w+#.-]+)")
_SPACES = re.compile(r"[ \t\r\n\f\v\xa0]+")


def to_text(html: str, base: str = "") -> str:
    """The readable content of a page, its title first; links are resolved against `base`."""
    root = parse_html(html[:_MAX_CHARS])
    title = _SPACES.sub(" ", _words(_first(root, "title"))).strip()
    anchor = _first(root, "base")
    page = _Page(urljoin(base, anchor.attrs.get("href", "")) if anchor else base)
    body = "\n\n".join(page.blocks(root)).strip()
    body += "\n\n[The page is longer; the rest is left out.]" if len(html) > _MAX_CHARS else ""
    return f"# {title}\n\n{body}" if title and not body.startswith(f"# {title}") else body


class _Page:
    """Writes the elements of one page."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._quotes = self._lists = 0

    def blocks(self, node: Node) -> list[str]:
        """The paragraphs, lists, tables … inside an element."""
        found: list[str] = []
        line: list[str] = []
        for child in node.children:
            if isinstance(child, str):
                line.append(_SPACES.sub(" ", child))
            elif _is_hidden(child):
                continue
            elif child.tag in BLOCKS or child.has_blocks:
                _close(found, line)
                found += self._block(child)
            else:
                line.append(self._inline(child))
        _close(found, line)
        return found

    def _block(self, node: Node) -> list[str]:
        tag = node.tag
        if tag == "table":
            return self._table(node)
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            words = self._line(node)
            return [f"{'#' * int(tag[1])} {words}"] if words else []
        if tag in ("ul", "ol", "menu", "dir"):
            return [written] if (written := self._list(node)) else []
        if tag in ("pre", "hr"):
            return [_code(node) if tag == "pre" else "---"]
        return self._group(node)

    def _group(self, node: Node) -> list[str]:
        """What holds paragraphs: a quotation, a link around them, or nothing to be seen."""
        self._quotes += node.tag == "blockquote"
        inner = self.blocks(node)
        self._quotes -= node.tag == "blockquote"
        if node.tag == "blockquote" and inner and self._quotes < _MOST_QUOTES:
            quoted = "\n\n".join(inner).split("\n")
            return ["\n".join(f"> {line}".rstrip() for line in quoted)]
        if node.tag == "a" and inner and "\n" not in inner[0]:
            mark = re.match(r"(?:#+ )?", inner[0])
            end = mark.end() if mark else 0
            return [inner[0][:end] + self._link(node, inner[0][end:]), *inner[1:]]
        return [f": {part}" for part in inner] if node.tag == "dd" else inner

    def _list(self, node: Node) -> str:
        self._lists += 1
        number = int(start) if (start := node.attrs.get("start", "1")).isdecimal() else 1
        items: list[str] = []
        for child in node.children:
            if isinstance(child, str) or _is_hidden(child):
                continue
            mark = f"{number}. " if node.tag == "ol" else "- "
            parts = self.blocks(child) if child.tag == "li" else self._block(child)
            # A list that stands among the items belongs to the one before it.
            nested = child.tag != "li"
            body = _item(parts)
            if body:
                indent = " " * len(mark) if self._lists <= _MOST_LISTS else ""
                shown = "\n".join(f"{indent}{line}".rstrip() for line in body.split("\n"))
                items.append(shown if nested else mark + shown[len(indent) :])
                number += not nested
        self._lists -= 1
        return "\n".join(items)

    def _table(self, node: Node) -> list[str]:
        rows = _rows(node)
        cells = [[c for c in row.children if isinstance(c, Node) and c.tag in ("td", "th")] for row in rows]
        width = max((sum(_span(c) for c in row) for row in cells), default=0)
        caption = [self._line(c) for c in node.children if isinstance(c, Node) and c.tag == "caption"]
        if width < 2 or any(c.is_wide for row in cells for c in row):
            # A table for the looks: its cells are paragraphs.
            return [*caption, *(block for row in cells for c in row for block in self.blocks(c))]
        lines = [self._row(row, width) for row in cells if row]
        rule = "| " + " | ".join(["---"] * width) + " |"
        return [*caption, "\n".join([lines[0], rule, *lines[1:]])]

    def _row(self, cells: list[Node], width: int) -> str:
        written: list[str] = []
        for cell in cells:
            text = " ".join(part for part in self.blocks(cell))
            text = text.replace("|", "\\|").replace("\n", " ").strip()
            written += [text, *[""] * (_span(cell) - 1)]
        written += [""] * (width - len(written))
        return "| " + " | ".join(written) + " |"

    def _line(self, node: Node) -> str:
        """All words of an element on one line."""
        return _SPACES.sub(" ", "".join(self._inner(node))).strip()

    def _inner(self, node: Node) -> list[str]:
        shown = [c for c in node.children if isinstance(c, str) or not _is_hidden(c)]
        return [_SPACES.sub(" ", c) if isinstance(c, str) else self._inline(c) for c in shown]

    def _inline(self, node: Node) -> str:
        tag = node.tag
        if tag == "br":
            return "\n"
        if tag == "img":
            return self._image(node)
        if tag in _CODE:
            return _span_of_code(_words(node))
        words = "".join(self._inner(node))
        if tag == "a":
            return self._link(node, words)
        if tag in _MARKS and words.strip():
            return _marked(words, _MARKS[tag])
        return f" {words} " if tag in BLOCKS else words

    def _link(self, node: Node, words: str) -> str:
        target = node.attrs.get("href", "").strip()
        shown = words.strip()
        if not shown or not target or target.startswith(("#", "javascript:", "data:")):
            return words
        address = _address(self._base, target)
        return words.replace(shown, f"[{_SPACES.sub(' ', shown)}]({address})", 1)

    def _image(self, node: Node) -> str:
        source, words = node.attrs.get("src", "").strip(), node.attrs.get("alt", "").strip()
        if not words:
            return ""
        return words if source.startswith("data:") else f"![{words}]({_address(self._base, source)})"


def _close(found: list[str], line: list[str]) -> None:
    """Ends a paragraph."""
    text = re.sub(r" *\n *", "\n", re.sub(r" {2,}", " ", "".join(line))).strip()
    line.clear()
    if text:
        found.append(re.sub(r"\n{3,}", "\n\n", text))


def _item(parts: list[str]) -> str:
    """The inside of a list item: lists follow their text at once, paragraphs after a blank line."""
    joined = ""
    for part in parts:
        tight = re.match(r"(?:- |\d+\. )", part) is not None
        joined += f"{'' if not joined else chr(10) if tight else chr(10) * 2}{part}"
    return joined


def _code(node: Node) -> str:
    inner = _first(node, "code")
    named = [_LANGUAGE.search(n.attrs.get("class", "")) for n in (node, inner) if n is not None]
    language = next((match[1] for match in named if match), "")
    text = _words(node, raw=True).strip("\n").rstrip()
    ticks = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (ticks + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _span_of_code(text: str) -> str:
    shown = _SPACES.sub(" ", text).strip()
    if not shown:
        return " " if text else ""
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def _marked(words: str, mark: str) -> str:
    shown = words.strip()
    return words.replace(shown, f"{mark}{shown}{mark}", 1) if "\n" not in shown else words


def _words(node: Node | None, *, raw: bool = False) -> str:
    """The texts of an element without any marks; `raw` keeps breaks as lines."""
    if node is None:
        return ""
    parts: list[str] = []
    waiting: list[Node | str] = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            parts.append(part)
        elif part.tag == "br":
            parts.append("\n" if raw else " ")
        elif part.tag not in ("script", "style"):
            waiting += reversed(part.children)
    return "".join(parts)


def _first(node: Node, tag: str) -> Node | None:
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if part.tag == tag and part is not node:
            return part
        waiting += [c for c in reversed(part.children) if isinstance(c, Node)]
    return None


def _rows(node: Node) -> list[Node]:
    """The rows of a table, not those of tables in it."""
    found: list[Node] = []
    for child in node.children:
        if isinstance(child, Node) and child.tag == "tr":
            found.append(child)
        elif isinstance(child, Node) and child.tag in ("thead", "tbody", "tfoot"):
            found += _rows(child)
    return found


def _span(cell: Node) -> int:
    wanted = cell.attrs.get("colspan", "1")
    return min(int(wanted), 50) if wanted.isdecimal() and int(wanted) > 0 else 1


def _is_hidden(node: Node) -> bool:
    if node.tag in _SKIPPED or "hidden" in node.attrs or node.attrs.get("aria-hidden") == "true":
        return True
    style = node.attrs.get("style", "").replace(" ", "").lower()
    return "display:none" in style or "visibility:hidden" in style


def _address(base: str, target: str) -> str:
    try:
        return urljoin(base, target).replace(" ", "%20") if base else target
    except ValueError:
        return target
