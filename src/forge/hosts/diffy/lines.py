"""The review as a dialogue of lines, for terminals that can do no more and when the screen has failed."""

from __future__ import annotations

from collections.abc import Callable

from forge.core.review.draft import State
from forge.core.review.model import ACCEPT, PENDING, REJECT
from forge.hosts.diffy.screen.desk import Desk
from forge.hosts.diffy.screen.opening import Ended
from forge.hosts.diffy.screen.rows import Stop
from forge.hosts.diffy.screen.visible import plain

_LETTERS = "y,n,a,d,s,e,c,u,q,?"
_HELP = """\
y - accept this hunk
n - reject this hunk
a - accept this hunk and all pending ones in this file
d - reject this hunk and all pending ones in this file
s - split this hunk into parts, then lines, then make it whole again
e - edit the new lines in your editor
c - comment on this hunk
x - mark as a question
j, k - next, previous hunk without deciding
u - undo
q - end the review
? - this help
"""

Read = Callable[[str], str]  # asks and returns a line; EOFError when there are no more
Write = Callable[[str], object]
Edit = Callable[[str, str], str | None]


def review_lines(desk: Desk, read: Read, write: Write, edit: Edit) -> Ended:
    """Asks about one hunk after the other until all are decided or the user ends it."""
    try:
        return _ask(desk, read, write, edit)
    except (EOFError, KeyboardInterrupt):
        write("\nthe draft is kept\n")
        return Ended(False)


def _ask(desk: Desk, read: Read, write: Write, edit: Edit) -> Ended:
    shown: Stop | None = None
    while True:
        if not desk.counts.pending and (ended := _end(desk, read, write)):
            return ended
        if desk.here != shown:
            write(text_of(desk))
            shown = desk.here
        number = f"({desk.here.unit + 1}/{len(desk.contents.pieces)})"
        answer = read(f"{number} accept this hunk [{_LETTERS}]? ").strip()
        desk.message = ""
        if answer == "q":
            if ended := _end(desk, read, write):
                return ended
        elif answer == "e":
            _edit(desk, edit)
        elif not _simple(desk, answer, read):
            write(_HELP)
        if answer in ("s", "e", "c", "u", "x"):
            shown = None
        if desk.message:
            write(f"{plain(desk.message)}\n")


def _simple(desk: Desk, answer: str, read: Read) -> bool:
    if answer in ("y", "n"):
        desk.decide(ACCEPT if answer == "y" else REJECT)
    elif answer in ("a", "d"):
        desk.decide_all(ACCEPT if answer == "a" else REJECT, file=True)
        desk.step_pending()
    elif answer == "c":
        place = desk.place("hunk")
        desk.comment(place, read("comment: "))
    else:
        commands = {"s": desk.split, "u": desk.undo, "x": desk.ask}
        if answer in commands:
            commands[answer]()
        elif answer in ("j", "k"):
            desk.step(1 if answer == "j" else -1)
        else:
            return False
    return True


def _edit(desk: Desk, edit: Edit) -> None:
    text = desk.edit_text()
    if text is None:
        return
    new = edit(text, desk.contents.entries[desk.piece.entry].path)
    if new is None:
        desk.message = "the editor failed: nothing is changed"
    else:
        desk.edit(new)


def _end(desk: Desk, read: Read, write: Write) -> Ended | None:
    counts = desk.counts
    rejected = counts.rejected + counts.mixed
    write(f"{counts.accepted} accepted, {rejected} rejected, {counts.pending} pending\n")
    if not counts.pending:
        answer = read("finish the review [y,u,l,?]? ").strip()
        if answer == "u":
            desk.undo()
        return {"y": Ended(True), "l": Ended(False)}.get(answer)
    question = "keep them pending (k), accept them (a), leave and keep the draft (l), go on (Enter)? "
    answers = {"k": Ended(True, PENDING), "a": Ended(True, ACCEPT), "l": Ended(False)}
    return answers.get(read(question).strip())


def text_of(desk: Desk) -> str:
    """The hunk, or the part of it, under the cursor."""
    piece, here = desk.piece, desk.here
    entry = desk.contents.entries[piece.entry]
    state = desk.draft.state(piece.id)
    title = f"\n{plain(entry.path)}" + ("" if state is State.PENDING else f"  [{state.value}]")
    if not piece.kinds:
        return f"{title}\n  {piece.title}\n"
    unit = piece.unit
    lines = [title, f"@@ -{unit.old_start},{unit.old_count} +{unit.new_start},{unit.new_count} @@"]
    for index, kind in enumerate(piece.kinds):
        inside = here.first < 0 or here.first <= index <= here.last
        if inside or kind == " ":
            lines.append(f"{kind}{plain(piece.texts[index])}")
            if not piece.texts.ends(index):
                lines.append("\\ no newline at end")
    comment = desk.comment_at(desk.place("hunk"))
    if comment:
        lines += [f"  comment: {plain(line)}" for line in comment.splitlines()]
    return "\n".join([*lines, ""])
