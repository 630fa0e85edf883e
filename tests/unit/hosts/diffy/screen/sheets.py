"""Listings made by hand, and desks over them, for tests of the review screen."""

from __future__ import annotations

from forge.core.review.draft import Draft
from forge.core.review.model import File, Listing, Unit
from forge.hosts.diffy.screen.contents import contents_of
from forge.hosts.diffy.screen.desk import Desk
from forge.hosts.diffy.screen.paint import Part, paint
from forge.hosts.diffy.screen.rows import View

CART = """\
 def total(items):
-    total = 0
-    return total
+    return sum(items)
 
 def clear(items):
-    items = []
+    items.clear()
"""
GUIDE = """\
 # 가이드
-장바구니에 상품을 추가합니다.
+장바구니에 상품과 수량을 추가합니다.
"""


def unit(name: str, body: str, start: int = 1) -> Unit:
    """A text hunk; each line of `body` begins with its sign."""
    lines = tuple((line + "\n").encode("utf-8", "surrogateescape") for line in body.split("\n")[:-1])
    old = sum(line[:1] != b"+" for line in lines)
    new = sum(line[:1] != b"-" for line in lines)
    return Unit(name, "text", start, old, start, new, lines)


def file(path: str, *units: Unit, status: str = "M", mode: str = "100644", binary: bool = False) -> File:
    return File(path, path, status, "100644", mode, "old", "new", units, binary)


def listing(*files: File, blobs: dict[str, bytes] | None = None) -> Listing:
    return Listing("b" * 40, "c" * 40, files, blobs or {})


def shop() -> Listing:
    """Two files with three hunks, and a file that was made executable."""
    return listing(
        file("src/cart.py", unit("one", CART, 10), unit("two", "-a = 1\n+a = 2\n", 40)),
        file("docs/guide.md", unit("three", GUIDE)),
        file("run.sh", Unit("four", "mode"), mode="100755"),
    )


def desk(found: Listing | None = None, view: View | None = None, draft: Draft | None = None) -> Desk:
    return Desk(contents_of(found or shop()), draft or Draft(), view or View(width=60), lambda _: None)


def screen(one: Desk, width: int = 60) -> list[str]:
    """The rows as they are shown, without what is empty at their ends."""
    rows = (one.layout.row(number) for number in range(one.layout.total))
    return ["".join(text for text, _ in paint(one.scene, row, width)).rstrip() for row in rows]


def parts(one: Desk, number: int, width: int = 60) -> list[Part]:
    """One row with the names of its styles."""
    return paint(one.scene, one.layout.row(number), width)
