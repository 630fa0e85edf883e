"""Whether the story came true: each check looks at the world, not at what the model said about it."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable

import msgspec

from forge.agent.event import ToolFinished
from forge.foundation.transcript import call_ids, read_records, result_ids
from forge.hosts.cli.tour import Check, Stage, Tour
from forge.hosts.cli.tour_host import TourHost

TIMEOUT = 60


class Evidence(msgspec.Struct, frozen=True):
    """What there is to judge by."""

    stage: Stage
    host: TourHost
    transcript: str


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """A check and, if it failed, why."""

    says: str
    ok: bool
    problem: str = ""


def examine(tour: Tour, evidence: Evidence) -> list[Finding]:
    """Every check of the tour, in its order."""
    findings = []
    for check in tour.checks:
        problem = CHECKS[check.kind](check, evidence)
        findings.append(Finding(check.says, not problem, problem))
    return findings


def _failed(check: Check, e: Evidence) -> str:
    runs = _runs(check, e)
    if not runs:
        return f"`{check.command}` was never called"
    return (
        "" if runs[0].result.is_error and not e.host.refused(runs[0]) else f"`{check.command}` did not fail"
    )


def _passes(check: Check, e: Evidence) -> str:
    runs = _runs(check, e)
    if not runs or runs[-1].result.is_error:
        return f"the session did not see `{check.command}` succeed"
    done = _run(shlex.split(check.command), e)
    return "" if done.returncode == 0 else f"`{check.command}` ends with code {done.returncode}"


def _changed(check: Check, e: Evidence) -> str:
    names = _run(["git", "diff", "--name-only"], e).stdout.split()
    return "" if names == [check.path] else f"git sees changes in: {', '.join(names) or 'nothing'}"


def _refused(check: Check, e: Evidence) -> str:
    runs = _runs(check, e)
    if not runs:
        return f"`{check.command}` was never called"
    return "" if all(e.host.refused(run) for run in runs) else f"`{check.command}` was not refused"


def _recorded(check: Check, e: Evidence) -> str:
    wanted = {event.call.id for event in e.host.finished}
    try:
        records = list(read_records(e.transcript))
    except OSError as error:
        return f"{e.transcript}: {error.strerror}"
    called = {call for record in records for call in call_ids(record)}
    answered = {call for record in records for call in result_ids(record)}
    missing = wanted - (called & answered)
    return (
        f"{len(missing)} of {len(wanted)} calls are missing in {e.transcript}"
        if missing or not wanted
        else ""
    )


CHECKS: dict[str, Callable[[Check, Evidence], str]] = {
    "failed": _failed,
    "passes": _passes,
    "changed": _changed,
    "refused": _refused,
    "recorded": _recorded,
}


def _runs(check: Check, e: Evidence) -> list[ToolFinished]:
    return [event for event in e.host.finished if event.call.input.get("command") == check.command]


def _run(words: list[str], e: Evidence) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=e.stage.repository,
        env=e.stage.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
