"""What the model hears of a guarded command: its output in short, and what the guard did about it."""

from __future__ import annotations

from forge.core.shell.guard.guard import Guard
from forge.core.shell.report.report import make_report, shows_content
from forge.core.shell.sandbox.profile import Profile, looks_offline, looks_refused, wider
from forge.core.tool import ToolContext


async def told(output: str, ctx: ToolContext, *, limit: int, terminal: bool = False) -> str:
    """The output as the model should see it; what is left out can be had by a number."""
    guard = ctx.keep(Guard)
    grant = guard.grant_of(ctx.call_id)
    verbatim = grant is None or any(shows_content(program) for program in grant.programs)
    report = make_report(output, verbatim=verbatim, terminal=terminal, limit=limit)
    if "excerpt" in report.steps and (number := await guard.row(ctx.call_id)):
        source = f"forgecmd_session with action output, id {number}"
        report = make_report(output, verbatim=verbatim, terminal=terminal, limit=limit, source=source)
    notes = [report.text.rstrip("\n")]
    if kept := guard.kept.pop(ctx.call_id, ""):
        notes.append(
            f"[Copies of what this could change were kept: `forgecmd restore {kept}` brings them back.]"
        )
    return "\n".join(note for note in notes if note)


async def widened(output: str, ctx: ToolContext) -> bool:
    """Whether the command may be tried once more, because its sandbox was in its way and the user agrees."""
    guard = ctx.keep(Guard)
    grant, ask = guard.grant_of(ctx.call_id), guard.wider.pop(ctx.call_id, None)
    if grant is None or ask is None or not grant.profile or not looks_refused(output):
        return False
    larger = wider(Profile(grant.profile))
    if larger is None or not await ask(grant.profile, str(larger)):
        return False
    guard.mark(ctx.call_id, profile=str(larger), status="granted", scope="once")
    return True


def sandbox_note(output: str, ctx: ToolContext) -> str:
    """What a failure may be due to; "" if no sandbox was in the way."""
    grant = ctx.keep(Guard).grant_of(ctx.call_id)
    if looks_offline(output) and ctx.setting("airGap", False) is True:
        return "[The setting airGap keeps commands off the network.]"
    if grant is None or grant.profile in ("", Profile.FULL) or not looks_refused(output):
        return ""
    return f"[The sandbox profile {grant.profile!r} may be the reason. No wider one was granted.]"
