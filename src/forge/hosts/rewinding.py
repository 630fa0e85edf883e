"""`--resume ID --rewind-files UUID`: makes files what they were when a prompt was given, and nothing else."""

from __future__ import annotations

import os

from forge.agent.resume import find_session
from forge.agent.rewind import carry_out, is_prompt, plan
from forge.foundation.errors import UsageError
from forge.foundation.history.checkpoints import history_dir, read_history
from forge.foundation.paths import projects_dir, slug
from forge.hosts.configuration import Configuration
from forge.hosts.options import RunOptions
from forge.hosts.sink import Sink


def rewind(o: RunOptions, c: Configuration, sink: Sink) -> int:
    """Restores the files; raises UsageError when there is no such session, message or checkpoint."""
    projects = projects_dir(c.places)
    path = find_session(projects, os.path.join(projects, slug(c.places.cwd)), str(o.resume))
    if path is None:
        raise UsageError(f"No conversation found with session ID: {o.resume}")
    message = str(o.rewind_files)
    if not is_prompt(path, message):
        raise UsageError(
            f"Error: --rewind-files requires a user message UUID, but {message} is not a user message in"
            " this session"
        )
    session_id = os.path.basename(path).removesuffix(".jsonl")
    folder = history_dir(c.places.claude_dir, session_id)
    todo = plan(folder, read_history(path, c.places.cwd), message)
    carry_out(folder, todo)
    for link in todo.links:
        sink.complain(f"Left alone, because it is a link or stands behind one: {link}")
    sink.text(f"Files rewound to state at message {message}\n")
    return 0
