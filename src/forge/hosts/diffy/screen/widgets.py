"""The parts of the screen: bars of one row, the diff and the file tree, which draw only the rows in sight."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget

from forge.hosts.diffy.screen.bars import Branch, branch, tree
from forge.hosts.diffy.screen.desk import Desk
from forge.hosts.diffy.screen.keys import GROUPS, HANGUL
from forge.hosts.diffy.screen.paint import Part, crop, paint
from forge.hosts.diffy.screen.palette import Palette
from forge.hosts.diffy.screen.rows import Row

NOTHING = "  nothing to decide here: t shows what is decided, b another baseline, Enter finishes"


def strip(parts: list[Part], palette: Palette, width: int) -> Strip:
    """Painted parts as the toolkit wants them."""
    return Strip([Segment(text, palette.style(names)) for text, names in parts], width)


class Bar(Widget):
    """One row that is drawn by a function."""

    def __init__(self, draw: Callable[[int], list[Part]], palette: Palette, id: str) -> None:
        super().__init__(id=id)
        self._draw = draw
        self._palette = palette

    def render_line(self, y: int) -> Strip:
        return strip(self._draw(self.size.width), self._palette, self.size.width)


class DiffView(ScrollView, can_focus=True):
    """The diff. It has all keys, so that they work exactly when nothing lies over it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(key.keys, f"app.{key.action}", show=False) for group in GROUPS for key in group.keys
    ]

    class Pointed(Message):
        """The mouse was pressed on a row, or dragged to it."""

        def __init__(self, row: Row, column: int, *, dragged: bool) -> None:
            super().__init__()
            self.row, self.column, self.dragged = row, column, dragged

    def __init__(self, desk: Desk, palette: Palette) -> None:
        super().__init__(id="diff")
        self.desk = desk
        self._palette = palette
        self._pressed = False

    def update(self) -> None:
        """Draws everything again after a change."""
        self.virtual_size = Size(self.size.width, self.desk.layout.total)
        self.refresh()

    def _thumb(self, y: int) -> bool:
        """Whether a row of the screen is part of the scroll bar's mark."""
        height, total = self.size.height, max(1, self.desk.layout.total)
        size = max(1, height * height // total)
        top = self.scroll_offset.y * (height - size) // max(1, total - height)
        return total > height and top <= y < top + size

    def reveal(self, first: int, last: int) -> None:
        """Scrolls so that these rows are in sight, the first before the last."""
        height, top = self.size.height, self.scroll_offset.y
        if first < top or last >= top + height:
            self.jump(max(0, first - min(3, max(0, (height - (last - first + 1)) // 2))))

    def jump(self, top: float) -> None:
        """Makes a row the first in sight."""
        self.scroll_to(y=top, animate=False, immediate=True)

    def on_resize(self, event: events.Resize) -> None:
        self.desk.resize(event.size.width - 1, self.app.size.width)
        self.update()
        if self.desk.contents.pieces:
            self.reveal(*self.desk.rows())

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        number = y + self.scroll_offset.y
        if number >= self.desk.layout.total:
            text = NOTHING if number == 1 and not self.desk.layout.total else ""
            return strip(crop([(text, ("dim",)), ("", ())], 0, width), self._palette, width)
        scene = self.desk.scene
        # The toolkit's own scroll bar is a widget of its own, and makes every frame half again as expensive.
        edge: Part = ("▐" if self._thumb(y) else " ", ("bar",))
        return strip([*paint(scene, scene.layout.row(number), width - 1), edge], self._palette, width)

    def on_key(self, event: events.Key) -> None:
        # Commands of a user whose keyboard writes Hangul.
        latin = HANGUL.get(event.character or "")
        if latin:
            event.stop()
            self.app.simulate_key(latin)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if event.x == self.size.width - 1:
            self.jump(event.y * self.desk.layout.total // max(1, self.size.height))
        elif event.button == 1:
            self._pressed = True
            self._point(event, dragged=False)

    def on_mouse_up(self, _event: events.MouseUp) -> None:
        self._pressed = False

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._pressed and event.button == 1 and event.delta_y:
            self._point(event, dragged=True)

    def _point(self, event: events.MouseEvent, *, dragged: bool) -> None:
        number = event.y + self.scroll_offset.y
        if 0 <= number < self.desk.layout.total:
            self.post_message(self.Pointed(self.desk.layout.row(number), event.x, dragged=dragged))


class TreeView(ScrollView):
    """The files. The row of the file under the cursor is marked and kept in sight."""

    class Chosen(Message):
        """A file was clicked."""

        def __init__(self, entry: int) -> None:
            super().__init__()
            self.entry = entry

    def __init__(self, desk: Desk, palette: Palette) -> None:
        super().__init__(id="tree")
        self._desk = desk
        self._palette = palette
        self._rows: list[Branch] = []

    def update(self) -> None:
        """Draws everything again after a change."""
        if not self.display:
            return
        self._rows = tree(self._desk.contents)
        self.virtual_size = Size(self.size.width, len(self._rows))
        here = self._desk.piece.entry if self._desk.contents.pieces else -1
        place = next((number for number, row in enumerate(self._rows) if row.entry == here), 0)
        top, height = self.scroll_offset.y, self.size.height
        if height and not top <= place < top + height:
            self.scroll_to(y=max(0, place - height // 2), animate=False, immediate=True)
        self.refresh()

    def on_resize(self, _event: events.Resize) -> None:
        self.update()

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        number = y + self.scroll_offset.y
        if number >= len(self._rows):
            return strip([(" " * width, ())], self._palette, width)
        row = self._rows[number]
        here = row.entry >= 0 and row.entry == self._desk.piece.entry
        return strip(branch(self._desk, row, here, width), self._palette, width)

    def on_click(self, event: events.Click) -> None:
        number = event.y + self.scroll_offset.y
        if number < len(self._rows) and self._rows[number].entry >= 0:
            self.post_message(self.Chosen(self._rows[number].entry))
