"""Runs a command that may run: in its sandbox, with a copy of what it could destroy, noted in the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from forge.core.shell.analysis.decide import Decision
from forge.core.shell.analysis.record import RANK, Verdict
from forge.core.shell.guard.judging import precious_paths
from forge.core.shell.guard.profiles import profile_for
from forge.core.shell.history.record import Begun, Finished
from forge.core.shell.report.report import Report, binary_note, make_report, shows_content
from forge.core.shell.sandbox.profile import NoSandbox, Profile, confinement
from forge.core.shell.session.command import Command, Ended, Output, start
from forge.core.shell.trash import Kept
from forge.foundation.errors import ForgeError
from forge.foundation.redact import redact
from forge.foundation.system.keeping import Confinement, NotStarted
from forge.hosts.guarded.ground import Ground
from forge.hosts.guarded.permission import Permission

FOREVER = 10.0 * 365 * 86_400
_PRUNE_EVERY = 200


class Job(msgspec.Struct, frozen=True):
    """A command that was judged. `profile` replaces the one its category gets.

    `exports` are the variables that the command before it has left; `source` is what it reads as its input.
    """

    text: str
    cwd: str
    verdict: Verdict
    decision: Decision
    permission: Permission
    profile: Profile | None = None
    timeout: float = 120.0
    terminal: bool = False
    size: tuple[int, int] = (24, 80)
    verbatim: bool = False
    exports: Mapping[str, str] | None = None
    source: int = -1


class Outcome(msgspec.Struct, frozen=True):
    """How a command ended; `id` is its number in the history, 0 if there is none."""

    exit_code: int
    id: int
    profile: Profile
    report: Report
    ended: Ended
    notes: tuple[str, ...] = ()


def note_refusal(ground: Ground, job: Job) -> int:
    """Notes in the history that a command was refused; its number."""
    return ground.history.begin(_begun(ground, job, "")) if ground.history is not None else 0


async def perform(ground: Ground, job: Job, on_output: Callable[[bytes], None] | None = None) -> Outcome:
    """Runs the command; ForgeError if it, or its sandbox, cannot be started."""
    profile, sandbox, notes = enclosure(ground, job)
    kept = await keep(ground, job)
    notes += kept_note(kept)
    number = begin(ground, job, profile)
    rows, columns = job.size
    command = Command(
        job.text,
        job.cwd,
        ground.variables(job.cwd, profile, terminal=job.terminal, exports=job.exports),
        timeout=job.timeout or FOREVER,
        terminal=job.terminal,
        rows=rows,
        columns=columns,
        sandbox=sandbox,
        source=job.source,
    )
    try:
        running = await start(command, ground.keeper, on_output=on_output)
        in_time = await running.ended(command.timeout)
        ended = await (running.result() if in_time else running.stopped())
    except NotStarted as error:
        finish(ground, number, Finished(None, "error", error=str(error)))
        raise ForgeError(f"The command was not started: {error}.") from None
    except BaseException:
        finish(ground, number, Finished(None, "cancelled"))
        raise
    finish(ground, number, finished(ended))
    return Outcome(ended.exit_code, number, profile, _report(job, ended, number), ended, tuple(notes))


def enclosure(ground: Ground, job: Job) -> tuple[Profile, Confinement | None, list[str]]:
    """The profile of a command, its sandbox, and what to say about it."""
    profile = job.profile or profile_for(job.verdict)
    try:
        return profile, confinement(profile, ground.places(job.cwd), ground.facts), []
    except NoSandbox as error:
        return Profile.FULL, None, [f"Not confined. {error}"]


def begin(ground: Ground, job: Job, profile: Profile) -> int:
    """Notes that a command starts; its number."""
    if ground.history is None:
        return 0
    number = ground.history.begin(_begun(ground, job, profile))
    if number % _PRUNE_EVERY == 0:
        ground.history.prune()
        ground.trash.prune()
    return number


def finish(ground: Ground, number: int, what: Finished) -> None:
    """Notes how a command ended."""
    if ground.history is not None and number:
        ground.history.finish(number, what)


def finished(ended: Ended) -> Finished:
    """The end of a command as the history has it."""
    status = "timeout" if ended.timed_out else "error" if ended.exit_code else "success"
    output, errors = ended.output, ended.errors
    return Finished(
        ended.exit_code,
        status,
        _stored(output),
        _stored(errors),
        output.size,
        errors.size,
        bool(output.omitted or errors.omitted),
        output.path,
    )


async def keep(ground: Ground, job: Job) -> Kept | None:
    """Copies what a dangerous command that was allowed is about to change."""
    if RANK.get(job.verdict.category, 0) < RANK["dangerous"]:
        return None
    text = redact(job.text, ground.filtered.secrets)
    kept = ground.trash.keep(precious_paths(job.verdict, job.cwd), text)
    return await ground.trash.keep_repository(kept, job.cwd, ground.filtered.env, ground.keeper)


def kept_note(kept: Kept | None) -> list[str]:
    """What a person should know about the copies."""
    if kept is None or not (kept.commit or any(item.copy for item in kept.items)):
        return []
    left = f" Too large to be kept: {', '.join(kept.left_out)}." if kept.left_out else ""
    return [f"What it could destroy was kept: forgecmd restore {kept.id}{left}"]


def _begun(ground: Ground, job: Job, profile: str) -> Begun:
    return Begun(
        ground.session_id,
        job.text,
        job.cwd,
        job.verdict.risk,
        permission_status=job.permission.status,
        permission_scope=job.permission.scope,
        category=job.verdict.category,
        decision=job.decision.verdict,
        reasons=tuple(finding.reason for finding in job.verdict.findings[:20]),
        profile=profile,
        agent=ground.agent,
        env_snapshot=ground.snapshot,
    )


def _stored(output: Output) -> bytes:
    if output.binary:
        return binary_note(output.binary, output.size, output.path).encode()
    return output.text().encode("utf-8", "replace")


def _report(job: Job, ended: Ended, number: int) -> Report:
    output = ended.output
    if output.binary:
        return Report(binary_note(output.binary, output.size, output.path), output.size, 0, ("binary",))
    content = all(shows_content(step.program) for step in job.verdict.steps) and bool(job.verdict.steps)
    source = f"output with id {number}" if number else ""
    return make_report(
        output.text(), verbatim=content or job.verbatim, terminal=ended.terminal, source=source
    )
