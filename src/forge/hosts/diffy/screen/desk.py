"""A review at work: where the cursor is, what is selected, and what each command does. Knows no terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

import msgspec

from forge.core.review.draft import Comment, Counts, Draft, State, line_verdict, review_of
from forge.core.review.model import ACCEPT, PENDING, REJECT, Review
from forge.hosts.diffy.screen.contents import Contents, Piece, around, new_text, search
from forge.hosts.diffy.screen.paint import Scene
from forge.hosts.diffy.screen.rows import Layout, Stop, View

_MORE = 10
_SIDE_BY_SIDE_FROM = 100


class Place(msgspec.Struct, frozen=True):
    """Where a comment goes, and how that place is called."""

    name: str
    path: str = ""
    hunk: str = ""
    first: int = -1
    last: int = -1


class Desk:
    """One review on one screen. `save` is called after every decision."""

    def __init__(self, contents: Contents, draft: Draft, view: View, save: Callable[[Draft], None]) -> None:
        self.draft = draft
        self.save = save
        self.message = ""
        self.matches: list[tuple[int, int]] = []
        self._anchor = -1
        self._sides = view.side
        self._counts: Counts | None = None
        self.open(contents, view)

    def open(self, contents: Contents, view: View) -> None:
        """Shows these contents, with the cursor on the hunk it was on, else on the first that is pending."""
        self.contents = contents
        self.scene = Scene(Layout(contents, self.draft, view))
        self.matches = []
        self._counts = None
        at = contents.places.get(self.draft.at, -1)
        if at < 0 or not self.layout.is_shown(at):
            at = next(self._pending(), 0)
        if contents.pieces:
            self.scene.here = self.layout.stops(at)[0]

    @property
    def layout(self) -> Layout:
        return self.scene.layout

    @property
    def view(self) -> View:
        return self.layout.view

    @property
    def here(self) -> Stop:
        return self.scene.here

    @property
    def piece(self) -> Piece:
        return self.contents.pieces[self.here.unit]

    @property
    def counts(self) -> Counts:
        """How many hunks are in which state."""
        if self._counts is None:
            self._counts = self.draft.counts(self.contents.ids)
        return self._counts

    @property
    def is_in_sight(self) -> bool:
        """Whether the cursor is on a hunk that is shown."""
        return bool(self.contents.pieces) and self.layout.is_shown(self.here.unit)

    def rows(self) -> tuple[int, int]:
        """The first and the last row that should be in sight."""
        if self.scene.selection:
            unit, first, last = self.scene.selection
            row = self.layout.top(unit, last if self._anchor == first else first)
            return row, row
        here = self.here
        if self.scene.match and self.scene.match[0] == here.unit:
            row = self.layout.top(*self.scene.match)
            return row, row
        if here.first >= 0:
            return max(0, self.layout.top(here.unit, here.first) - 1), self.layout.top(here.unit, here.last)
        return self.layout.top(here.unit), max(self.layout.top(here.unit), self.layout.bottom(here.unit) - 1)

    def go(self, stop: Stop) -> None:
        """Puts the cursor somewhere."""
        self.scene.here = stop
        self.scene.selection = None
        self.draft.at = self.contents.pieces[stop.unit].id

    def step(self, by: int) -> None:
        """To the next or the last hunk or part; in a selection, one line on."""
        if self.scene.selection:
            self._extend(by)
            return
        stops = self.layout.stops(self.here.unit)
        place = (stops.index(self.here) if self.here in stops else 0) + by
        if 0 <= place < len(stops):
            self.go(stops[place])
            return
        unit = self._next(self.here.unit, by)
        if unit is None:
            self.message = "this is the last hunk" if by > 0 else "this is the first hunk"
            return
        self.go(self.layout.stops(unit)[0 if by > 0 else -1])

    def step_file(self, by: int) -> None:
        """To the first hunk of another file."""
        entries = self.contents.entries
        number = self.piece.entry + by
        while 0 <= number < len(entries):
            entry = entries[number]
            unit = next(filter(self.layout.is_shown, range(entry.first, entry.end)), None)
            if unit is not None:
                self.go(self.layout.stops(unit)[0])
                return
            number += by
        self.message = "this is the last file" if by > 0 else "this is the first file"

    def step_pending(self) -> bool:
        """To the next hunk without a verdict, from the end again from the beginning."""
        found = next(self._pending(self.here.unit + 1), None)
        if found is None:
            self.message = "everything is decided: Enter finishes"
            return False
        stops = self.layout.stops(found)
        mark = self.draft.mark(self.contents.pieces[found].id)
        self.go(next((s for s in stops if s.first >= 0 and not line_verdict(mark, s.first)), stops[0]))
        return True

    def step_match(self, by: int) -> None:
        """To the next line that was searched for."""
        if not self.matches:
            self.message = f"not found: {self.scene.words}"
            return
        now = self.scene.match or (self.here.unit, -1)
        if by > 0:
            found = next((match for match in self.matches if match > now), self.matches[0])
        else:
            found = next((match for match in reversed(self.matches) if match < now), self.matches[-1])
        self.scene.match = found
        if self.layout.is_shown(found[0]):
            stops = self.layout.stops(found[0])
            self.go(next((s for s in stops if s.first <= found[1] <= s.last), stops[0]))
        self.message = f"{self.matches.index(found) + 1} of {len(self.matches)} matches"

    def find(self, words: str) -> None:
        """Searches for words; none ends the search."""
        self.scene.words = words
        self.scene.match = None
        self.matches = search(self.contents, words)
        if words:
            self.step_match(1)

    def ends(self, last: int) -> None:
        """To the first or the last hunk."""
        units = range(len(self.contents.pieces))
        shown = next(filter(self.layout.is_shown, reversed(units) if last else units), None)
        if shown is not None:
            self.go(self.layout.stops(shown)[-1 if last else 0])

    def decide(self, verdict: str) -> None:
        """Gives what is selected, or what the cursor is on, a verdict, and goes on to what is pending."""
        unit, first, last = self.scene.selection or (self.here.unit, self.here.first, self.here.last)
        piece = self.contents.pieces[unit]
        if first < 0:
            self.draft.decide([piece.id], verdict)
        else:
            self.draft.decide_lines(piece.id, piece.changes, range(first, last + 1), verdict)
        part = self.here.first >= 0 and not self.scene.selection
        self.scene.selection = None
        self._changed([unit])
        if not part:
            self._go_on()
        elif self.draft.state(piece.id) is State.PENDING:
            self.step(1)
        else:
            self._go_on()

    def toggle(self) -> None:
        """Accepts what is pending or rejected, and rejects what is accepted, and stays there."""
        mark = self.draft.mark(self.piece.id)
        here = self.here
        verdict = line_verdict(mark, here.first) if here.first >= 0 else mark.verdict
        new = REJECT if verdict == ACCEPT else ACCEPT
        if here.first < 0:
            self.draft.decide([self.piece.id], new)
        else:
            lines = range(here.first, here.last + 1)
            self.draft.decide_lines(self.piece.id, self.piece.changes, lines, new)
        self._changed([here.unit])

    def decide_all(self, verdict: str, *, file: bool = False) -> None:
        """Gives everything that is pending, or everything pending in this file, one verdict."""
        entry = self.contents.entries[self.piece.entry]
        units = range(entry.first, entry.end) if file else range(len(self.contents.pieces))
        ids = [self.contents.pieces[unit].id for unit in units]
        pending = [hunk for hunk in ids if self.draft.state(hunk) is State.PENDING]
        self.draft.decide(pending, verdict, f"{verdict} {len(pending)} hunks")
        self.message = f"{verdict}ed {len(pending)} hunks"
        self._changed()

    def undo(self, *, again: bool = False) -> None:
        """Takes the last change back, or makes it again, and goes where it was."""
        label, hunks = self.draft.redo() if again else self.draft.undo()
        if not label:
            self.message = "nothing to redo" if again else "nothing to undo"
            return
        self.message = f"{'again' if again else 'undone'}: {label}"
        units = [self.contents.places[hunk] for hunk in hunks if hunk in self.contents.places]
        self._changed(units if units else None)
        if units and self.layout.is_shown(units[0]):
            stops = self.layout.stops(units[0])
            self.go(self.here if self.here in stops else stops[0])

    def redo(self) -> None:
        """Makes again what was taken back."""
        self.undo(again=True)

    def split(self) -> None:
        """Cuts the hunk into blocks, then into lines, then makes it whole again."""
        piece = self.piece
        level = self.draft.mark(piece.id).split
        parts = len(piece.blocks)
        if not piece.kinds or len(piece.changes) < 2:
            self.message = "this cannot be split"
            return
        new = {0: 1 if parts > 1 else 2, 1: 2}.get(level, 0)
        self.draft.split(piece.id, new)
        self.message = ("whole again", f"{parts} parts", f"{len(piece.changes)} lines")[new]
        self._changed([self.here.unit])
        self.go(self.layout.stops(self.here.unit)[0])

    def ask(self) -> None:
        """Makes the hunk a question, or takes that back."""
        on = not self.draft.mark(self.piece.id).question
        self.draft.ask(self.piece.id, on=on)
        self.message = "a question: say what you want to know with c" if on else "no longer a question"
        self._changed([self.here.unit])

    def select(self) -> None:
        """Begins a selection of lines, or ends it."""
        if self.scene.selection:
            self.scene.selection = None
            return
        changes = self.piece.changes
        if not changes:
            self.message = "there are no lines to select"
            return
        first = max(self.here.first, changes[0])
        self._anchor = first
        self.scene.selection = (self.here.unit, first, first)

    def select_to(self, unit: int, index: int) -> None:
        """Extends the selection to a line, or begins it there."""
        if not self.scene.selection or self.scene.selection[0] != unit:
            self._anchor = index
        self.scene.selection = (unit, min(self._anchor, index), max(self._anchor, index))

    def _extend(self, by: int) -> None:
        if self.scene.selection:
            unit, first, last = self.scene.selection
            moving = last if self._anchor == first else first
            moving = min(max(0, moving + by), len(self.contents.pieces[unit].kinds) - 1)
            self.scene.selection = (unit, min(self._anchor, moving), max(self._anchor, moving))

    def place(self, scope: str) -> Place:
        """Where a comment would go: on the "hunk" or what is selected of it, on the "file" or on "all"."""
        path = self.contents.entries[self.piece.entry].path
        if scope == "all":
            return Place("the whole review")
        if scope == "file":
            return Place(path, path)
        if self.scene.selection:
            unit, first, last = self.scene.selection
            count = last - first + 1
            name = "1 line" if count == 1 else f"{count} lines"
            return Place(f"{name} of {path}", path, self.contents.pieces[unit].id, first, last)
        return Place(f"hunk {self.here.unit + 1} in {path}", path, self.piece.id)

    def comment_at(self, place: Place) -> str:
        """The comment that is in a place."""
        return self.draft.comment_at(place.path, place.hunk, place.first, place.last)

    def comment(self, place: Place, text: str) -> None:
        """Puts a comment in a place."""
        self.draft.comment(Comment(text.strip(), place.path, place.hunk, place.first, place.last))
        self.scene.selection = None
        self._changed()

    def edit_text(self) -> str | None:
        """What the user can edit: the hunk's new lines, or the edit of them. None if there are no lines."""
        piece = self.piece
        if not piece.kinds:
            self.message = "there are no lines to edit"
            return None
        edit = self.draft.mark(piece.id).edit
        return edit if edit is not None else new_text(piece)

    def edit(self, text: str) -> None:
        """Takes the user's lines instead of the new ones."""
        same = text == new_text(self.piece)
        self.draft.edit(self.piece.id, None if same else text)
        self.message = "unchanged" if same else "accepted with your edit"
        self._changed()

    def expand(self) -> None:
        """Shows more lines around the hunk."""
        unit = self.here.unit
        above, below = self.layout.extra.get(unit, ((), ()))
        more = around(self.contents, unit, max(len(above), len(below)) + _MORE)
        if (len(more[0]), len(more[1])) == (len(above), len(below)):
            self.message = "there are no more lines around it"
        self.layout.extra[unit] = more
        self.layout.refresh()

    def show(self, **changes: bool | int) -> None:
        """Changes how the diff is shown."""
        self.layout.view = msgspec.structs.replace(self.view, **changes)
        self.draft.hide = self.view.hide
        self.layout.refresh()
        if self.contents.pieces and not self.is_in_sight:
            self.step_pending()

    def sides(self, screen: int) -> None:
        """Old and new side by side or not, if the screen has the columns."""
        if not self.view.side and screen < _SIDE_BY_SIDE_FROM:
            self.message = f"side by side needs {_SIDE_BY_SIDE_FROM} columns"
            return
        self._sides = not self.view.side
        self.show(side=self._sides)

    def resize(self, width: int, screen: int) -> None:
        """The diff got other columns; two sides that no longer fit come back when they do."""
        side = self._sides and screen >= _SIDE_BY_SIDE_FROM
        if (width, side) != (self.view.width, self.view.side):
            self.show(width=width, side=side)

    def review(self, rest: str = PENDING) -> Review:
        """What was decided."""
        return review_of(self.draft, self.contents.listing, rest)

    def _changed(self, units: Iterable[int] | None = None) -> None:
        self.layout.refresh(units)
        self._counts = None
        self.save(self.draft)

    def _go_on(self) -> None:
        """After a verdict: to the next pending hunk below, else to the next anywhere."""
        if not self.step_pending() and not self.layout.is_shown(self.here.unit):
            self.ends(1)

    def _pending(self, start: int = 0) -> Iterator[int]:
        """The hunks without a verdict, in order from one on and around."""
        pieces = self.contents.pieces
        for number in chain(range(start, len(pieces)), range(min(start, len(pieces)))):
            if self.draft.state(pieces[number].id) is State.PENDING:
                yield number

    def _next(self, unit: int, by: int) -> int | None:
        unit += by
        while 0 <= unit < len(self.contents.pieces):
            if self.layout.is_shown(unit):
                return unit
            unit += by
        return None
