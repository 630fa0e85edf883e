"""A review that is being made: verdicts down to lines, comments, questions, edits and splits, with undo.

It knows hunks only by their ids, and becomes a file after every decision, so that nothing is ever lost.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from forge.core.review.model import (
    ACCEPT,
    PENDING,
    REJECT,
    Decision,
    FileRemark,
    Listing,
    Remark,
    Review,
    Unit,
)

_MOST_STEPS = 1000


class State(StrEnum):
    """What was decided about a hunk, a part of it or a file."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    MIXED = "mixed"
    ASKED = "asked"


class Mark(msgspec.Struct, frozen=True, omit_defaults=True):
    """What was decided about one hunk. Lines are indexes into its body."""

    verdict: str = ""  # "accept", "reject" or, while anything is open or its lines differ, ""
    accepted: tuple[int, ...] = ()
    rejected: tuple[int, ...] = ()
    open: bool = False  # some lines have a verdict, others do not
    question: bool = False
    edit: str | None = None  # what the user wants instead of the new lines
    split: int = 0  # 1: into blocks, 2: into lines
    by: str = ""  # the rule that decided, if it was not the user


class Comment(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text on a range of lines (`first` >= 0), on a hunk, on a file (no hunk) or on all (no path)."""

    text: str
    path: str = ""
    hunk: str = ""
    first: int = -1
    last: int = -1

    @property
    def place(self) -> tuple[str, str, int, int]:
        return self.path, self.hunk, self.first, self.last


class Counts(msgspec.Struct, frozen=True):
    """How many hunks are in which state."""

    pending: int = 0
    accepted: int = 0
    rejected: int = 0
    mixed: int = 0
    asked: int = 0


class Saved(msgspec.Struct, frozen=True, omit_defaults=True):
    """The draft as a file."""

    version: int = 1
    snapshot: str = ""
    marks: dict[str, Mark] = {}
    comments: tuple[Comment, ...] = ()
    hide: bool = False
    at: str = ""  # the hunk under the cursor


class _Step(msgspec.Struct, frozen=True):
    label: str
    before: dict[str, Mark | None]
    after: dict[str, Mark | None]
    comments_before: tuple[Comment, ...]
    comments_after: tuple[Comment, ...]


_NONE = Mark()
_encoder = msgspec.json.Encoder()


class Draft:
    """One running review."""

    def __init__(self, saved: Saved | None = None) -> None:
        saved = saved or Saved()
        self.snapshot = saved.snapshot
        self.hide = saved.hide
        self.at = saved.at
        self.comments = saved.comments
        self._marks = dict(saved.marks)
        self._done: list[_Step] = []
        self._undone: list[_Step] = []

    @property
    def is_begun(self) -> bool:
        """Whether anything was decided or said."""
        return bool(self._marks or self.comments)

    def mark(self, hunk: str) -> Mark:
        """What was decided about a hunk."""
        return self._marks.get(hunk, _NONE)

    def state(self, hunk: str) -> State:
        """The state of a hunk."""
        return state_of(self._marks.get(hunk, _NONE))

    def take_rules(self, decisions: Iterable[Decision]) -> None:
        """Takes what rules decide about hunks the user has not decided; changed like any verdict."""
        for decision in decisions:
            if decision.hunk not in self._marks:
                self._marks[decision.hunk] = Mark(verdict=decision.verdict, by=decision.by)

    def decide(self, hunks: Iterable[str], verdict: str, label: str = "") -> None:
        """Gives whole hunks one verdict; "" takes it away."""
        marks = {}
        for hunk in hunks:
            old = self.mark(hunk)
            edit = old.edit if verdict == "accept" else None
            marks[hunk] = Mark(verdict=verdict, edit=edit, split=old.split)
        self._change(label or verdict or "no verdict", marks)

    def decide_lines(self, hunk: str, changes: Sequence[int], chosen: Iterable[int], verdict: str) -> None:
        """Gives some of a hunk's changed lines a verdict."""
        old = self.mark(hunk)
        verdicts = {line: line_verdict(old, line) for line in changes}
        verdicts.update({line: verdict for line in chosen if line in verdicts})
        kinds = set(verdicts.values())
        if len(kinds) == 1:
            mark = Mark(verdict=kinds.pop(), split=old.split)
        else:
            mark = Mark(
                accepted=tuple(line for line in changes if verdicts[line] == "accept"),
                rejected=tuple(line for line in changes if verdicts[line] == "reject"),
                open="" in kinds,
                split=old.split,
            )
        self._change(f"{verdict or 'no verdict'} for lines", {hunk: mark})

    def ask(self, hunk: str, *, on: bool) -> None:
        """Makes a hunk a question to the author, which is no verdict, or takes that back."""
        self._change("question", {hunk: Mark(question=on, split=self.mark(hunk).split)})

    def edit(self, hunk: str, text: str | None) -> None:
        """Accepts a hunk with the user's own lines instead of the new ones."""
        verdict = "accept" if text is not None else ""
        self._change("edit", {hunk: Mark(verdict=verdict, edit=text, split=self.mark(hunk).split)})

    def split(self, hunk: str, level: int) -> None:
        """Cuts a hunk into blocks (1) or lines (2), or makes it whole again (0)."""
        mark = self.mark(hunk)
        self._change("split", {hunk: msgspec.structs.replace(mark, split=level)})

    def comment(self, comment: Comment) -> None:
        """Puts a comment in its place, instead of the one that is there; an empty text removes it."""
        rest = tuple(other for other in self.comments if other.place != comment.place)
        added = (comment,) if comment.text.strip() else ()
        self._change("comment", {}, rest + added)

    def comment_at(self, path: str, hunk: str = "", first: int = -1, last: int = -1) -> str:
        """The comment in exactly this place, or ""."""
        place = (path, hunk, first, last)
        return next((comment.text for comment in self.comments if comment.place == place), "")

    def undo(self) -> tuple[str, list[str]]:
        """Takes the last change back; says what it was ("" if there is none) and which hunks it touched."""
        return self._travel(self._done, self._undone, back=True)

    def redo(self) -> tuple[str, list[str]]:
        """Makes the change again that was taken back last."""
        return self._travel(self._undone, self._done, back=False)

    def counts(self, hunks: Iterable[str]) -> Counts:
        """How many of these hunks are in which state."""
        found = dict.fromkeys(State, 0)
        for hunk in hunks:
            found[self.state(hunk)] += 1
        return Counts(**{state.value: number for state, number in found.items()})

    def saved(self) -> Saved:
        """What has to be kept: not what rules decided, which may be off the next time."""
        marks = {hunk: mark for hunk, mark in self._marks.items() if not mark.by}
        return Saved(snapshot=self.snapshot, marks=marks, comments=self.comments, hide=self.hide, at=self.at)

    def _change(
        self, label: str, marks: dict[str, Mark], comments: tuple[Comment, ...] | None = None
    ) -> None:
        after: dict[str, Mark | None] = {
            hunk: mark for hunk, mark in marks.items() if mark != self.mark(hunk)
        }
        new = self.comments if comments is None else comments
        if not after and new == self.comments:
            return
        before = {hunk: self._marks.get(hunk) for hunk in after}
        self._done.append(_Step(label, before, after, self.comments, new))
        del self._done[:-_MOST_STEPS]
        self._undone.clear()
        self._set(after, new)

    def _travel(self, source: list[_Step], target: list[_Step], *, back: bool) -> tuple[str, list[str]]:
        if not source:
            return "", []
        step = source.pop()
        target.append(step)
        self._set(step.before if back else step.after, step.comments_before if back else step.comments_after)
        return step.label, list(step.after)

    def _set(self, marks: dict[str, Mark | None], comments: tuple[Comment, ...]) -> None:
        for hunk, mark in marks.items():
            if mark is None or mark == _NONE:
                self._marks.pop(hunk, None)
            else:
                self._marks[hunk] = mark
        self.comments = comments


def state_of(mark: Mark) -> State:
    """The state a mark stands for; a hunk with open lines is pending."""
    if mark.question:
        return State.ASKED
    if mark.verdict:
        return State.ACCEPTED if mark.verdict == "accept" else State.REJECTED
    return State.MIXED if (mark.accepted or mark.rejected) and not mark.open else State.PENDING


def line_verdict(mark: Mark, line: int) -> str:
    """The verdict of one changed line: "accept", "reject" or ""."""
    if mark.verdict:
        return mark.verdict
    if line in mark.rejected:
        return "reject"
    return "accept" if line in mark.accepted else ""


def review_of(draft: Draft, listing: Listing, rest: str) -> Review:
    """What was decided. `rest` is the verdict of what is open: pending, or accept on the user's word."""
    remarks: dict[str, list[Remark]] = {}
    texts: dict[tuple[str, str], str] = {}
    for comment in draft.comments:
        if comment.first >= 0:
            remarks.setdefault(comment.hunk, []).append(Remark(comment.text, comment.first, comment.last))
        else:
            texts[comment.path, comment.hunk] = comment.text
    decisions: list[Decision] = []
    for file in listing.files:
        for unit in file.hunks:
            said = texts.get((file.path, unit.id), "")
            lines = tuple(sorted(remarks.get(unit.id, ()), key=lambda remark: (remark.start, remark.end)))
            parts = _decisions(unit, draft.mark(unit.id), rest)
            if said or lines or parts != [Decision(unit.id, rest)]:
                decisions += [msgspec.structs.replace(parts[0], comment=said, remarks=lines), *parts[1:]]
    return Review(
        snapshot=listing.snapshot,
        default=rest,
        decisions=tuple(decisions),
        comment=texts.get(("", ""), ""),
        files=tuple(FileRemark(path, text) for (path, hunk), text in texts.items() if path and not hunk),
    )


def _decisions(unit: Unit, mark: Mark, rest: str) -> list[Decision]:
    if mark.question:
        return [Decision(unit.id, PENDING, question=True)]
    if mark.verdict:
        return [Decision(unit.id, mark.verdict, edit=mark.edit, by=mark.by)]
    if not mark.rejected and not mark.accepted:
        return [Decision(unit.id, rest)]
    lines = {REJECT: mark.rejected, ACCEPT: mark.accepted}
    if mark.open:
        known = {*mark.rejected, *mark.accepted}
        changed = (at for at, line in enumerate(unit.lines) if line[:1] != b" ")
        left = tuple(at for at in changed if at not in known)
        lines[rest] = tuple(sorted((*lines.get(rest, ()), *left)))
    return [Decision(unit.id, verdict, lines=some) for verdict, some in lines.items() if some]


def dump(draft: Draft) -> bytes:
    """The draft as a file."""
    saved = draft.saved()
    try:
        return _encoder.encode(saved)
    except UnicodeEncodeError:
        # Names and lines that are not UTF-8 hold lone surrogates, which only this writer lets pass.
        return json.dumps(msgspec.to_builtins(saved)).encode()


def load(data: bytes) -> Draft:
    """The draft from its file; an empty one if the file is not a draft."""
    try:
        return Draft(msgspec.convert(json.loads(data), type=Saved))
    except (ValueError, RecursionError):
        return Draft()
