"""Whether the story came true: each check looks at the world, not at what the model said about it."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Callable

import msgspec

from forge.agent.event import ToolFinished
from forge.foundation.history.transcript import Record, call_ids, read_records, result_ids
from forge.hosts.cli.tour import Check, Stage, Tour, changed_files
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
    names = changed_files(e.stage)
    return "" if names == [check.path] else f"git sees changes in: {', '.join(names) or 'nothing'}"


def _refused(check: Check, e: Evidence) -> str:
    runs = _runs(check, e)
    if not runs:
        return f"`{check.command}` was never called"
    return "" if all(e.host.refused(run) for run in runs) else f"`{check.command}` was not refused"


def _recorded(check: Check, e: Evidence) -> str:
    return _missing(e.transcript, [event.call.id for event in e.host.finished])


def _delegated(check: Check, e: Evidence) -> str:
    if not e.host.agents:
        return "no sub-agent has ended"
    for agent in e.host.agents:
        if agent.end.status != "completed":
            return f"the sub-agent {agent.job.description!r} ended as: {agent.end.status}"
        calls = [event.call.id for job, event in e.host.agent_calls if job.id == agent.job.id]
        if problem := _missing(agent.job.output_path, calls):
            return problem
    return ""


def _background(check: Check, e: Evidence) -> str:
    jobs = [ended for ended in e.host.jobs if ended.job.command == check.command]
    if not jobs:
        return f"`{check.command}` did not end in the background"
    if not jobs[0].meanwhile:
        return f"nothing was done while `{check.command}` ran"
    news = f"<task-id>{jobs[0].job.id}</task-id>"
    told = any(news in str(record) for record in _records(e.transcript))
    return "" if told else f"the news of its end is missing in {e.transcript}"


def _rewound(check: Check, e: Evidence) -> str:
    if not e.host.rewound:
        return "nothing was taken back"
    last = e.host.rewound[-1]
    names = [os.path.relpath(change.path, e.stage.repository) for change in last.changes]
    if names != [check.path]:
        return f"taken back: {', '.join(names) or 'nothing'}"
    return f"git still saw changes in: {', '.join(last.different)}" if last.different else ""


def _reviewed(check: Check, e: Evidence) -> str:
    if len(e.host.reviews) != 1:
        return f"there were {len(e.host.reviews)} reviews with an objection"
    if check.path in changed_files(e.stage):
        return f"git still sees changes in {check.path}"
    said = [line.strip() for line in e.host.reviews[0].splitlines()]
    comment = next((line.removeprefix("comment: ") for line in said if line.startswith("comment: ")), "")
    told = comment and any(comment in str(record) for record in _records(e.transcript))
    return "" if told else f"the comment is missing in {e.transcript}"


def _missing(path: str, wanted: list[str]) -> str:
    """What a transcript lacks of the calls it should hold."""
    try:
        records = _records(path)
    except OSError as error:
        return f"{path}: {error.strerror}"
    called = {call for record in records for call in call_ids(record)}
    answered = {call for record in records for call in result_ids(record)}
    missing = set(wanted) - (called & answered)
    return f"{len(missing)} of {len(wanted)} calls are missing in {path}" if missing or not wanted else ""


def _records(path: str) -> list[Record]:
    return list(read_records(path))


CHECKS: dict[str, Callable[[Check, Evidence], str]] = {
    "failed": _failed,
    "passes": _passes,
    "changed": _changed,
    "refused": _refused,
    "recorded": _recorded,
    "delegated": _delegated,
    "background": _background,
    "rewound": _rewound,
    "reviewed": _reviewed,
}


def _runs(check: Check, e: Evidence) -> list[ToolFinished]:
    return [event for event in e.host.finished if event.call.input.get("command") == check.command]


def _run(words: list[str], e: Evidence) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=e.stage.repository,
        env=e.stage.env | {"PRINTER_SECONDS": "0"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
