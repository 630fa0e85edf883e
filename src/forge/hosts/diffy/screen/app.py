"""The screen itself: keys and mouse become commands of the desk, and what changed is drawn again."""

from __future__ import annotations

import os
from collections.abc import Callable

from textual import events
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.geometry import Size
from textual.theme import Theme
from textual.widgets import Input

from forge.core.review.model import ACCEPT
from forge.hosts.diffy.screen.bars import statistics, status_bar, top_bar
from forge.hosts.diffy.screen.desk import Desk, Place
from forge.hosts.diffy.screen.dialogs import Ask, Lines, Read, Write
from forge.hosts.diffy.screen.keys import ALWAYS, help_lines
from forge.hosts.diffy.screen.opening import Ended, Opening
from forge.hosts.diffy.screen.paint import Part
from forge.hosts.diffy.screen.palette import Palette
from forge.hosts.diffy.screen.syntax import Colours
from forge.hosts.diffy.screen.visible import plain
from forge.hosts.diffy.screen.widgets import Bar, DiffView, TreeView

_MOUSE_OFF = "\x1b[?1000l\x1b[?1003l\x1b[?1015l\x1b[?1006l"
_MOUSE_ON = "\x1b[?1000h\x1b[?1003h\x1b[?1015h\x1b[?1006h"
_GONE = "the agent no longer waits: it gets your review with the next prompt"


class ReviewApp(App[Ended]):
    """The review of one desk."""

    CSS_PATH = os.path.join(os.path.dirname(__file__), "app.tcss")
    ENABLE_COMMAND_PALETTE = False
    ALLOW_SELECT = False
    TITLE = "diffy"

    def __init__(self, desk: Desk, palette: Palette, opening: Opening) -> None:
        super().__init__(ansi_color=palette.theme == "plain")
        self.desk = desk
        self.palette = palette
        self.opening = opening
        self.base_name = opening.base
        self.warning = ""
        self._open_from = opening.clock() + opening.guard
        self._mouse_on = True
        self.animation_level = "none"
        self.register_theme(_theme(palette))
        # Without the work of changing it: nothing has been drawn yet.
        self.set_reactive(App.theme, "diffy")
        self.stylesheet.set_variables(self.get_css_variables())

    def compose(self) -> ComposeResult:
        yield Bar(self._top, self.palette, "top")
        with Horizontal(id="middle"):
            yield TreeView(self.desk, self.palette)
            yield DiffView(self.desk, self.palette)
        yield Bar(self._status, self.palette, "status")

    def on_mount(self) -> None:
        self.query_one(TreeView).display = False
        self.diff.focus()
        self.call_after_refresh(self._colour)
        if self.opening.waiter is not None or self.opening.size is not None:
            self.set_interval(0.5, self._poll)

    def _colour(self) -> None:
        """Syntax colours come after the first frame, which must not wait for them."""
        self.desk.scene.colours = Colours()
        self.redraw(follow=True)
        self.opening.ready()

    async def on_event(self, event: events.Event) -> None:
        early = isinstance(event, events.Key | events.Paste | events.MouseDown | events.MouseUp)
        if early and self.opening.clock() < self._open_from:
            self.desk.message = "ready in a moment: keys typed before are ignored"
            self.redraw()
            return
        await super().on_event(event)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool:
        """What is not in sight cannot be decided; what needs no hunk is always possible."""
        if action in ALWAYS or (action == "desk" and parameters[:1] in (("undo",), ("redo",))):
            return True
        known = f"action_{action}" in vars(ReviewApp)
        return not known or self.desk.is_in_sight

    @property
    def diff(self) -> DiffView:
        return self.query_one(DiffView)

    def redraw(self, *, follow: bool = False) -> None:
        """Draws again what may have changed; `follow` brings the cursor into sight."""
        self.diff.update()
        if follow and self.desk.contents.pieces:
            self.diff.reveal(*self.desk.rows())
        self.query_one(TreeView).update()
        self.query_one("#top").refresh()
        self.query_one("#status").refresh()

    def do(self, what: Callable[[], object]) -> None:
        """Runs a command of the desk and shows what it did."""
        self.desk.message = ""
        what()
        self.redraw(follow=True)

    def action_desk(self, command: str, *arguments: object) -> None:
        """A command that needs nothing but the desk."""
        self.do(lambda: getattr(self.desk, command)(*arguments))

    def action_flip(self, what: str) -> None:
        """Turns a way of showing on or off."""
        self.do(lambda: self.desk.show(**{what: not getattr(self.desk.view, what)}))

    def action_next(self, by: int) -> None:
        self.do(lambda: self.desk.step_match(by) if self.desk.scene.words else self.desk.step_file(by))

    def action_scroll_lines(self, by: int) -> None:
        if self.desk.scene.selection:
            self.action_desk("step", by)
        else:
            self.diff.jump(self.diff.scroll_offset.y + by)

    def action_scroll_pages(self, pages: float) -> None:
        """Scrolls, and takes the cursor along when it leaves the screen."""
        height = self.diff.size.height
        self.diff.jump(max(0, self.diff.scroll_offset.y + int(pages * (height - 1))))
        self._pull_cursor()

    def _pull_cursor(self) -> None:
        desk, top = self.desk, self.diff.scroll_offset.y
        first, last = desk.rows()
        if desk.scene.selection or (last >= top and first < top + self.diff.size.height):
            return
        middle = min(desk.layout.total - 1, top + self.diff.size.height // 3)
        unit = desk.layout.row(middle).unit
        if unit >= 0:
            desk.go(desk.layout.stops(unit)[0])
            self.redraw()

    def action_shift(self, by: int) -> None:
        self.desk.scene.shift = max(0, self.desk.scene.shift + by)
        self.redraw()

    def action_all(self, verdict: str) -> None:
        def answered(key: str | None) -> None:
            if key in ("y", "f"):
                self.do(lambda: self.desk.decide_all(verdict, file=key == "f"))

        count = self.desk.counts.pending
        title = f"{verdict.capitalize()} all that is pending?"
        self.push_screen(Ask(title, [("y", f"all {count} hunks"), ("f", "those of this file")]), answered)

    def action_comment(self, scope: str) -> None:
        if scope != "ask":
            self._comment(self.desk.place(scope))
            return
        choices: Lines = [("f", "on this file"), ("g", "on the whole review")]
        scopes = {"f": "file", "g": "all"}

        def answered(key: str | None) -> None:
            if key:
                self._comment(self.desk.place(scopes[key]))

        self.push_screen(Ask("Comment", choices), answered)

    def _comment(self, place: Place) -> None:
        def written(text: str | None) -> None:
            if text is not None:
                self.do(lambda: self.desk.comment(place, text))

        self.push_screen(Write(f"Comment on {place.name}", self.desk.comment_at(place)), written)

    def action_edit(self) -> None:
        text = self.desk.edit_text()
        if text is None:
            self.redraw()
            return
        ends = "\r\n" if "\r\n" in text else "\n"
        if not text.replace("\r\n", "\n").replace("\n", "").replace("\t", "").isprintable():
            self.desk.message = "these lines hold characters that cannot be edited here: E opens your editor"
            self.redraw()
            return

        def written(new: str | None) -> None:
            if new is not None:
                self.do(lambda: self.desk.edit(new.replace("\n", ends)))

        self.push_screen(
            Write("Your version of the new lines", text.replace("\r\n", "\n"), lines=True), written
        )

    def action_editor(self) -> None:
        text = self.desk.edit_text()
        editor = self.opening.editor
        if text is None or editor is None:
            self.desk.message = self.desk.message or "no editor: set $EDITOR"
            self.redraw()
            return
        path = self.desk.contents.entries[self.desk.piece.entry].path
        with self.suspend():
            new = editor(text, path)
        if new is None:
            self.desk.message = "the editor failed: nothing is changed"
            self.redraw()
        else:
            self.do(lambda: self.desk.edit(new))

    def action_files(self) -> None:
        tree = self.query_one(TreeView)
        tree.display = not tree.display
        self.call_after_refresh(self.redraw, follow=True)

    def action_sides(self) -> None:
        self.do(lambda: self.desk.sides(self.size.width))

    def action_search(self) -> None:
        box = Input(self.desk.scene.words, id="search", placeholder="search", compact=True)
        self.mount(box, before="#status")
        box.focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self._end_search()
        self.do(lambda: self.desk.find(event.value))

    def on_key(self, event: events.Key) -> None:
        if event.key == "escape" and self.query("#search"):
            self._end_search()

    def _end_search(self) -> None:
        self.query("#search").remove()
        self.diff.focus()

    def action_cancel(self) -> None:
        self.desk.scene.selection = None
        self.do(lambda: self.desk.find(""))

    def action_base(self) -> None:
        relist = self.opening.relist
        if relist is None or not self.opening.bases:
            self.desk.message = "there is no other baseline"
            self.redraw()
            return
        bases = {str(number): name for number, name in enumerate(self.opening.bases, 1)}

        def answered(key: str | None) -> None:
            if key:
                self.base_name = bases[key]
                self.desk.open(relist(bases[key]), self.desk.view)
                self._colour()
                self.do(lambda: None)

        self.push_screen(Ask("Show what changed since", list(bases.items())), answered)

    def action_statistics(self) -> None:
        self.push_screen(Read("Statistics", statistics(self.desk), 22))

    def action_help(self) -> None:
        self.push_screen(Read("Keys", help_lines()))

    def action_why(self) -> None:
        path = self.desk.contents.entries[self.desk.piece.entry].path
        text = self.opening.why(path, self.desk.piece) if self.opening.why else ""
        if not text:
            self.desk.message = "nothing is known about why this was changed"
            self.redraw()
            return
        self.push_screen(Read(f"Why: {plain(path)}", [("", plain(line)) for line in text.split("\n")], 0))

    def action_mouse(self) -> None:
        self._mouse_on = not self._mouse_on
        if self._driver is not None:
            self._driver.write(_MOUSE_ON if self._mouse_on else _MOUSE_OFF)
        self.desk.message = f"mouse {'on' if self._mouse_on else 'off: the terminal selects text'}"
        self.redraw()

    def action_finish(self) -> None:
        counts = self.desk.counts
        if counts.pending:
            title = f"{counts.pending} of {len(self.desk.contents.pieces)} hunks have no verdict"
            choices: Lines = [
                ("k", "finish; they stay pending and come again"),
                ("a", "finish; accept them"),
                ("l", "leave; go on with this draft later"),
            ]
        else:
            title = f"Finish? {counts.accepted} accepted, {counts.rejected + counts.mixed} rejected"
            if counts.asked:
                title += f", {counts.asked} questions"
            choices = [("y", "finish"), *([] if self.opening.guard else [("Enter", "finish")])]
        self.push_screen(Ask(title, choices), self._finish)

    def _finish(self, key: str | None) -> None:
        if key in ("y", "Enter", "k"):
            self.exit(Ended(True))
        elif key == "a":
            self.exit(Ended(True, ACCEPT))
        elif key == "l":
            self.exit(Ended(False))

    def action_leave(self) -> None:
        self.exit(Ended(False))

    def on_diff_view_pointed(self, event: DiffView.Pointed) -> None:
        row, desk = event.row, self.desk
        if row.unit < 0:
            return
        if event.dragged:
            if row.kind in ("line", "pair"):
                desk.select_to(row.unit, max(row.index, row.right))
            self.redraw()
            return
        stops = desk.layout.stops(row.unit)
        index = max(row.index, row.right)
        desk.go(next((stop for stop in stops if stop.first <= index <= stop.last), stops[0]))
        if event.column <= 2:
            self.do(desk.toggle)
        self.redraw()

    def on_tree_view_chosen(self, event: TreeView.Chosen) -> None:
        entry = self.desk.contents.entries[event.entry]
        unit = next(filter(self.desk.layout.is_shown, range(entry.first, entry.end)), None)
        if unit is not None:
            self.do(lambda: self.desk.go(self.desk.layout.stops(unit)[0]))

    def _poll(self) -> None:
        if self.opening.size is not None:
            size = Size(*self.opening.size())
            if size != self.size:
                self.post_message(events.Resize(size, size))
        news = self.opening.waiter.poll() if self.opening.waiter else None
        if news == "close":
            self.exit(Ended(False))
        elif news:
            self.warning = _GONE if news == "gone" else ""
            self.redraw()

    def _top(self, width: int) -> list[Part]:
        return top_bar(self.desk, self.base_name, width)

    def _status(self, width: int) -> list[Part]:
        return status_bar(self.desk, width, self.warning)


def _theme(palette: Palette) -> Theme:
    return Theme(
        name="diffy",
        primary=palette.colour("bar"),
        foreground=palette.colour("text"),
        background=palette.colour("text", back=True),
        surface=palette.colour("status", back=True),
        panel=palette.colour("file", back=True),
        dark=not palette.theme.startswith("light"),
    )
