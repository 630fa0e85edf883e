"""Whether a line that is sent to a shell or an interpreter may run."""

from __future__ import annotations

import ast

from forge.core.shell.session.prompts import Line, Prompt
from forge.core.shell.session.typed import CODE, Typing, as_command
from forge.hosts.forgecmd.judging import only_waits
from forge.hosts.guarded.ground import Ground
from forge.hosts.guarded.perform import Job, note_refusal
from forge.hosts.guarded.permission import Asking, permit


async def refusal(ground: Ground, cwd: str, typing: Typing, line: Line, ask: Asking | None) -> str:
    """Why a line must not run, or nothing."""
    text = as_command(line, typing)
    verdict, decision = ground.assess(text, cwd)
    if decision.verdict == "ask" and (only_waits(verdict) or _is_unfinished(line, typing)):
        return ""
    permission = await permit(ground, verdict, decision, ask)
    if permission.granted:
        return ""
    note_refusal(ground, Job(text, cwd, verdict, decision, permission))
    return permission.reason


def _is_unfinished(line: Line, typing: Typing) -> bool:
    """Whether code is only the beginning of a statement, whose other lines are judged on their own."""
    if line.kind is not Prompt.REPL:
        return False
    if CODE.get(typing.program) != "python3 -c":
        return typing.program not in CODE
    try:
        ast.parse(line.text.strip())
    except SyntaxError:
        return True
    return False
