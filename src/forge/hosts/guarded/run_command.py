"""`forgecmd run`: judge, ask, run in a sandbox, report, remember."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Mapping

import msgspec

from forge.core.shell.guard.profiles import profile_for
from forge.core.shell.sandbox.profile import Profile, looks_offline, looks_refused, wider
from forge.core.shell.session.programs import Start
from forge.foundation.errors import ForgeError, UsageError
from forge.foundation.system.controlling import terminal_size
from forge.hosts.cli.screen import Screen
from forge.hosts.forgecmd.judging import only_waits
from forge.hosts.guarded.attended import attend
from forge.hosts.guarded.ground import Ground, open_ground
from forge.hosts.guarded.options import FLAG, SECONDS, VALUE, Given, directory, read_options
from forge.hosts.guarded.perform import (
    FOREVER,
    Job,
    Outcome,
    begin,
    enclosure,
    finish,
    finished,
    keep,
    kept_note,
    note_refusal,
    perform,
)
from forge.hosts.guarded.permission import Asking, Choice, Permission, Question, permit
from forge.hosts.guarded.question import ask_person, terminal_screen

REFUSED = 126
NOT_STARTED = 125
TIMED_OUT = 124
INTERRUPTED = 130
_KINDS = {"pty": FLAG, "timeout": SECONDS, "profile": VALUE, "yes": FLAG, "json": FLAG, "cwd": VALUE}


def command(argv: list[str], env: Mapping[str, str]) -> int:
    """Runs `forgecmd run` and returns the exit code."""
    given = read_options(argv[1:], _KINDS, rest=True)
    if not given.words:
        raise UsageError("run needs a command, for example: forgecmd run -- npm test")
    if given.has("profile") and given.text("profile") not in list(Profile):
        raise UsageError(f"--profile is one of {', '.join(Profile)}, not {given.text('profile')!r}")
    try:
        return asyncio.run(_run(given, env))
    except KeyboardInterrupt:
        return INTERRUPTED


async def _run(given: Given, env: Mapping[str, str]) -> int:
    cwd = directory(given)
    ground = await open_ground(env, cwd)
    ground.agent = "forgecmd"
    screen = terminal_screen(env)
    try:
        if ground.history_problem:
            screen.say(f"forgecmd: no history: {ground.history_problem}", "yellow")
        return await _judged(given, cwd, ground, screen)
    finally:
        ground.close()


async def _judged(given: Given, cwd: str, ground: Ground, screen: Screen) -> int:
    text = " ".join(given.words)
    verdict, decision = ground.assess(text, cwd)
    person = _is_attended(given)
    if person and decision.verdict == "ask" and only_waits(verdict):
        decision.verdict = "allow"
    wanted = Profile(given.text("profile")) if given.has("profile") else None
    if wanted is not None and decision.verdict != "deny" and _is_wider(wanted, profile_for(verdict)):
        decision.verdict, decision.reason = "ask", f"the profile {wanted} is wider than the command needs"
    permission = await permit(ground, verdict, decision, _asking(given, screen, person), danger=person)
    job = Job(
        text,
        cwd,
        verdict,
        decision,
        permission,
        wanted,
        given.seconds("timeout", 120),
        terminal=given.has("pty") or bool(person and verdict.interactive),
    )
    if not job.terminal:
        job = msgspec.structs.replace(job, source=_source())
    if not permission.granted:
        return _refuse(job, note_refusal(ground, job), given, screen)
    if person and job.terminal and not given.has("json"):
        return await _attended(ground, job, screen)
    return await _unattended(ground, job, given, screen)


def _is_attended(given: Given) -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty() and not given.has("json")


def _source() -> int:
    """What was piped or redirected into this process; a command without that has no input."""
    try:
        mode = os.fstat(0).st_mode
    except OSError:
        return -1
    return os.dup(0) if stat.S_ISFIFO(mode) or stat.S_ISREG(mode) else -1


def _is_wider(wanted: Profile, usual: Profile) -> bool:
    order = list(Profile)
    return order.index(wanted) > order.index(usual)


def _asking(given: Given, screen: Screen, person: bool) -> Asking | None:
    async def yes(question: Question) -> Choice:
        return Choice.NO if question.decision.verdict == "deny" else Choice.ONCE

    async def terminal(question: Question) -> Choice:
        return ask_person(question, screen, sys.stdin.readline)

    if given.has("yes"):
        return yes
    return terminal if person else None


async def _unattended(ground: Ground, job: Job, given: Given, screen: Screen) -> int:
    quiet = given.has("json")
    try:
        outcome = await perform(ground, job, None if quiet else _show)
    except ForgeError as error:
        return _failed(error, job, given, screen)
    if not quiet and _is_attended(given) and (again := _next_profile(outcome)):
        job.decision.reason = f"the sandbox ({outcome.profile}) was in its way; it can run again with more"
        question = Question(job.text, job.verdict, job.decision, (Choice.ONCE, Choice.NO), again)
        if ask_person(question, screen, sys.stdin.readline) is Choice.ONCE:
            granted = Permission(True, "granted", "once")
            job = msgspec.structs.replace(job, profile=again, permission=granted)
            outcome = await perform(ground, job, _show)
    if quiet:
        sys.stdout.write(msgspec.json.encode(_as_json(job, outcome)).decode() + "\n")
    else:
        for note in outcome.notes:
            screen.say(f"forgecmd: {note}", "dim")
    if outcome.ended.timed_out:
        screen.say(f"forgecmd: ended after {job.timeout:g} s; --timeout 0 waits for ever", "yellow")
        return TIMED_OUT
    return outcome.exit_code


def _next_profile(outcome: Outcome) -> Profile | None:
    """The profile in which a command that its sandbox refused something may be tried again."""
    if not outcome.exit_code or not looks_refused(outcome.report.text):
        return None
    following = wider(outcome.profile)
    # More network does not help against a file that must not be written.
    online = following is not Profile.BUILD or looks_offline(outcome.report.text)
    return following if online else Profile.FULL


async def _attended(ground: Ground, job: Job, screen: Screen) -> int:
    profile, sandbox, notes = enclosure(ground, job)
    for note in [*notes, *kept_note(await keep(ground, job))]:
        screen.say(f"forgecmd: {note}", "dim")
    rows, columns = terminal_size(1)
    env = ground.variables(job.cwd, profile, terminal=True)
    if ground.env.get("TERM"):
        env["TERM"] = ground.env["TERM"]
    number = begin(ground, job, profile)
    what = Start(job.text, job.cwd, env, rows, columns, sandbox=sandbox)
    # Who sits in front of a program ends it in person.
    ended = await attend(what, ground.keeper, FOREVER)
    finish(ground, number, finished(ended))
    return ended.exit_code


def _show(block: bytes) -> None:
    while block:
        block = block[os.write(1, block) :]


def _refuse(job: Job, number: int, given: Given, screen: Screen) -> int:
    if given.has("json"):
        said = {**_judgement(job), "refused": True, "reason": job.permission.reason, "id": number}
        sys.stdout.write(msgspec.json.encode(said).decode() + "\n")
    else:
        head, *rest = job.permission.reason.split("\n")
        screen.say(f"forgecmd: not run. {head}", "red")
        for line in rest:
            screen.say(line, first="  ")
        if only_waits(job.verdict):
            screen.say("It wants somebody at the keyboard: run it in a terminal.", first="  ")
    return REFUSED


def _failed(error: ForgeError, job: Job, given: Given, screen: Screen) -> int:
    if given.has("json"):
        said = {**_judgement(job), "refused": False, "error": str(error)}
        sys.stdout.write(msgspec.json.encode(said).decode() + "\n")
    else:
        screen.say(f"forgecmd: {error}", "red")
    return NOT_STARTED


def _judgement(job: Job) -> dict[str, object]:
    return {
        "category": job.verdict.category,
        "risk": job.verdict.risk,
        "decision": job.decision.verdict,
        "permission": job.permission.status,
        "scope": job.permission.scope,
    }


def _as_json(job: Job, outcome: Outcome) -> dict[str, object]:
    return {
        **_judgement(job),
        "refused": False,
        "id": outcome.id,
        "exit_code": outcome.exit_code,
        "timed_out": outcome.ended.timed_out,
        "profile": outcome.profile,
        "cwd": outcome.ended.cwd,
        "output": outcome.report.text,
        "bytes": {"before": outcome.report.before, "after": outcome.report.after},
        "steps": outcome.report.steps,
        "survivors": outcome.ended.survivors,
        "notes": outcome.notes,
    }
