"""`forge sessions rewind`: back to before a message, for files, the conversation or both."""

from __future__ import annotations

import time

from forge.agent.rewind import Plan, carry_out, is_prompt, plan, rewind_conversation
from forge.foundation.errors import UsageError
from forge.foundation.history.checkpoints import history_dir, read_history
from forge.foundation.history.sessions import summary
from forge.foundation.ids import new_uuid
from forge.hosts.cli.command import Arguments, print_json, take_words
from forge.hosts.cli.sessions import COMMAND
from forge.hosts.cli.sessions_place import Place, find, session_id


def rewind(place: Place, given: Arguments) -> int:
    """Takes files first, then the conversation: after a crash the same command finishes the work."""
    (name,) = take_words(COMMAND, given.words, ("ID",))
    path, message = find(place, name), given.text("to")
    if not message:
        raise UsageError(
            "--to is missing: the id of the message to go back to.", "See: forge sessions show ID"
        )
    if not is_prompt(path, message):
        raise UsageError(f"{message} is not a user message in this session.", "See: forge sessions show ID")
    code = not given.on("conversation") or given.on("both")
    conversation = not given.on("code") or given.on("both")
    if given.on("code") and given.on("conversation"):
        code = conversation = True
    dry_run = given.on("dry_run")
    todo = Plan([], [], [])
    folder = history_dir(place.places.claude_dir, session_id(path))
    if code:
        row = summary(path)
        todo = plan(folder, read_history(path, row.cwd if row else place.places.cwd), message)
    left = _turn_back(path, message, dry_run=True) if conversation else 0
    if not dry_run:
        carry_out(folder, todo)
        left = _turn_back(path, message, dry_run=False) if conversation else 0
    _tell(place, given, todo, left)
    return 0


def _turn_back(path: str, message: str, *, dry_run: bool) -> int:
    return rewind_conversation(path, message, clock=time.time, new_id=new_uuid, dry_run=dry_run)


def _tell(place: Place, given: Arguments, todo: Plan, left: int) -> None:
    dry_run = given.on("dry_run")
    added = sum(c.insertions for c in todo.changes)
    removed = sum(c.deletions for c in todo.changes)
    if given.on("json"):
        print_json(
            {
                "dryRun": dry_run,
                "filesChanged": [c.path for c in todo.changes],
                "insertions": added,
                "deletions": removed,
                "skippedLinks": todo.links,
                "lostCopies": todo.lost,
                "entriesLeftBehind": left,
            }
        )
        return
    screen = place.screen
    for change in todo.changes:
        what = (
            ("remove" if dry_run else "removed")
            if change.copy is None
            else ("restore" if dry_run else "restored")
        )
        screen.line(f"{what} {change.path} (+{change.insertions} -{change.deletions})")
    for link in todo.links:
        screen.line(f"left alone, a link or behind one: {link}", "yellow")
    for lost in todo.lost:
        screen.line(f"cannot be restored, its saved copy is gone: {lost}", "red")
    if not todo.changes and not given.on("conversation"):
        screen.line("No file differs from what it was.")
    if left:
        would = "would be" if dry_run else "are"
        screen.line(f"{left} entries of the conversation {would} left behind.")
