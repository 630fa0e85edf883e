"""File checkpoints of a session that is kept on disk; `fileCheckpointingEnabled` turns them off."""

from __future__ import annotations

from forge.agent.checkpoint import Checkpoints
from forge.agent.resume import Past
from forge.agent.session import Session
from forge.core.changes import Changes
from forge.foundation.history.checkpoints import history_dir
from forge.hosts.configuration import Configuration


def keep_checkpoints(session: Session, c: Configuration, past: Past | None) -> None:
    """Has files saved before tools change them; a resumed session goes on with the files it tracked."""
    if session.recorder.transcript is None or c.settings.get("fileCheckpointingEnabled", True) is False:
        return
    folder = history_dir(c.places.claude_dir, session.id)
    checkpoints = Checkpoints(
        folder, session.recorder, c.places.cwd, clock=session.parts.clock, warn=session.warn
    )
    if past is not None:
        checkpoints.resume(past.path, past.file_history)
    session.checkpoints = checkpoints
    session.keep(Changes).watch(checkpoints.before_change)
