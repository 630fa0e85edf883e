"""HTML as a tree: forgiving about what is not closed, and done in time whatever a page is made of."""

from __future__ import annotations

import re
from html.parser import HTMLParser

_PIECE, _LONGEST_TAG, _SHORT = 16_384, 262_144, 1_024
# Deeper elements become children of the last one allowed; what is read from the tree goes down as deep.
_DEEPEST = 120
_TAG = re.compile(r"<[^<>]*>")
_VOID_NAMES = "area base br col embed hr img input link meta param source track wbr"
_VOID = frozenset(_VOID_NAMES.split())
# What an opening tag ends without being asked to, up to the element that holds both.
_ENDS = {
    **dict.fromkeys(("li",), (frozenset({"li"}), frozenset({"ul", "ol", "menu"}))),
    **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd"}), frozenset({"dl"}))),
    **dict.fromkeys(("td", "th"), (frozenset({"td", "th"}), frozenset({"tr", "table"}))),
    "tr": (frozenset({"tr", "td", "th"}), frozenset({"table"})),
    **dict.fromkeys(
        ("thead", "tbody", "tfoot"), (frozenset({"thead", "tbody", "tfoot"}), frozenset({"table"}))
    ),
    "option": (frozenset({"option"}), frozenset({"select"})),
    "a": (frozenset({"a"}), frozenset({"table", "body"})),
}
_BLOCK_NAMES = """
    address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre section summary
    table tbody td tfoot th thead tr ul
"""
BLOCKS = frozenset(_BLOCK_NAMES.split())


class Node:
    """An element: its children are elements and texts.

    `has_blocks`: something in it stands on lines of its own; `is_wide`: a table or code does.
    """

    __slots__ = ("attrs", "children", "has_blocks", "is_wide", "tag")

    def __init__(self, tag: str, attrs: dict[str, str]) -> None:
        self.tag = tag
        self.attrs = attrs
        self.children: list[Node | str] = []
        self.has_blocks = False
        self.is_wide = False


class _Builder(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("html", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._end_implied(tag)
        node = Node(tag, {name: value or "" for name, value in attrs})
        self._open[-1].children.append(node)
        wide = tag in ("table", "pre")
        for above in reversed(self._open if tag in BLOCKS else []):
            if above.has_blocks and (above.is_wide or not wide):
                break
            above.has_blocks, above.is_wide = True, above.is_wide or wide
        if tag not in _VOID and len(self._open) < _DEEPEST:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        for place in range(len(self._open) - 1, 0, -1):
            if self._open[place].tag == tag:
                del self._open[place:]
                return

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def _end_implied(self, tag: str) -> None:
        # A paragraph cannot hold another block.
        if tag in BLOCKS and self._open[-1].tag == "p":
            self._open.pop()
        if tag not in _ENDS:
            return
        ended, within = _ENDS[tag]
        for place in range(len(self._open) - 1, 0, -1):
            name = self._open[place].tag
            if name in within:
                return
            if name in ended:
                del self._open[place:]
                # A row ends its last cell and then the row before it.
                if name == tag or tag != "tr":
                    return


def parse_html(html: str) -> Node:
    """The tree of a page; never fails."""
    builder = _Builder()
    _feed(builder, html)
    return builder.root


def _feed(builder: _Builder, html: str) -> None:
    """Reads a page piece by piece: what never ends (a tag, a comment) would cost the parser hours."""
    at = 0
    while at < len(html) and (builder.cdata_elem or len(builder.rawdata) < _LONGEST_TAG):
        size = max(_PIECE, len(builder.rawdata)) if builder.cdata_elem else _PIECE
        builder.feed(html[at : at + size])
        at += size
    if builder.cdata_elem or (at >= len(html) and len(builder.rawdata) < _SHORT):
        builder.close()
        return
    left, builder.rawdata = builder.rawdata + html[at:], ""
    builder.handle_data(_TAG.sub(" ", left))
