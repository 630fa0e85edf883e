"""The control request that takes files back to what they were at a prompt."""

from __future__ import annotations

from typing import Any

from forge.agent.rewind import carry_out, plan
from forge.hosts.control_seat import Refused, Request, Seat


def rewind_files(seat: Seat, request: Request) -> dict[str, Any]:
    """Restores files, or says with `dry_run` what that would change."""
    checkpoints = seat.session.checkpoints
    if checkpoints is None:
        raise Refused("File rewinding is not enabled.")
    todo = plan(checkpoints.folder, checkpoints.history(), str(request.get("user_message_id")))
    if todo.lost:
        return {"canRewind": False, "error": f"The saved copy of {todo.lost[0]} is gone."}
    answer: dict[str, Any] = {
        "canRewind": True,
        "filesChanged": [change.path for change in todo.changes],
        "insertions": sum(change.insertions for change in todo.changes),
        "deletions": sum(change.deletions for change in todo.changes),
    }
    if request.get("dry_run") is not True:
        carry_out(checkpoints.folder, todo)
        answer["skippedLinks"] = len(todo.links)
    return answer
