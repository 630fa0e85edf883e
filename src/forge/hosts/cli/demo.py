"""`forge demo`: plays the bundled tour on a scratch repository and checks that its story came true."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import tempfile

import msgspec

from forge.agent.event import ToolFinished
from forge.foundation.errors import UsageError
from forge.hosts.cli.command import JSON, NO_COLOR, Arguments, Command, read_arguments, take_words
from forge.hosts.cli.flags import SWITCH, VALUE, Flag
from forge.hosts.cli.parse import CommandLine
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.cli.tour import Stage, Tour, build_stage, load_tour
from forge.hosts.cli.tour_check import Evidence, Finding, examine
from forge.hosts.cli.tour_host import TourHost
from forge.hosts.cli.tour_lines import subject
from forge.hosts.cli.tour_play import play
from forge.hosts.cli.tour_server import Pace

# A tour on a terminal takes less than eight seconds; whoever reads more slowly scrolls back.
READING = Pace(reply=0.12, letter=0.0012, word=0.007)
PRINTER, PRINTER_IN_HASTE = 1.3, 0.25
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM

COMMAND = Command(
    name="demo",
    usage=("demo [--fast] [--keep] [--dir DIR] [--json] [--no-color]",),
    about=(
        "Plays a session on a scratch git repository with a small real bug: Forge runs the tests, sends a "
        "sub-agent to look around, edits, has a slow check run in the background, is refused one dangerous "
        "command, goes back to a checkpoint, repairs the bug properly, and has one change taken back in a "
        "review. Loop, tools, permissions, review and transcripts are real; only the words of the model and "
        "the verdict are scripted. Your own files and settings are not touched. Ends with 1 if the story did "
        "not come true."
    ),
    flags=(
        Flag("--fast", SWITCH, "", "no pauses"),
        Flag("--keep", SWITCH, "", "keep the scratch directory, to look at it afterwards"),
        Flag(
            "--dir",
            VALUE,
            "directory",
            "make the scratch directory here and keep it; it must not exist or be empty",
        ),
        JSON,
        NO_COLOR,
    ),
    examples=(
        ("forge demo", "watch the tour"),
        ("forge demo --keep", "and look around in the repository afterwards"),
        ("forge demo --fast --json", "only check that everything works"),
    ),
)


LEGEND = (
    ("model", "what the model says: scripted"),
    ("call", "what Forge does: real"),
    ("no", "what failed or was refused: real as well"),
    ("news", "what happened in the background: real, too"),
)


class Played(msgspec.Struct, frozen=True):
    """A tour that was played to its end."""

    stage: Stage
    host: TourHost
    session_id: str
    transcript: str
    findings: list[Finding]

    @property
    def ok(self) -> bool:
        return all(finding.ok for finding in self.findings)


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Plays the tour; 1 when its story did not come true."""
    given = read_arguments(COMMAND, line)
    if given is None:
        return 0
    take_words(COMMAND, given.words, ())
    screen = open_screen(env, plain=given.on("no_color"))
    tour = load_tour()
    directory = _scratch(given)
    keep = given.on("keep") or bool(given.text("dir"))
    try:
        played = _play(tour, directory, env, (given, screen))
        _report(tour, played, (given, screen), keep=keep)
    except (KeyboardInterrupt, asyncio.CancelledError) as stop:
        left = f"kept at {directory}" if keep else "removed"
        sys.stderr.write(f"\nStopped. The scratch directory was {left}.\n")
        return INTERRUPTED if isinstance(stop, KeyboardInterrupt) else TERMINATED
    finally:
        if not keep:
            shutil.rmtree(directory, ignore_errors=True)
    return 0 if played.ok else 1


def _scratch(given: Arguments) -> str:
    wanted = given.text("dir")
    try:
        if not wanted:
            return tempfile.mkdtemp(prefix="forge-demo-")
        wanted = os.path.abspath(wanted)
        os.makedirs(wanted, exist_ok=True)
        occupied = bool(os.listdir(wanted))
    except OSError as error:
        place = wanted or "The directory for temporary files"
        raise UsageError(
            f"{place} cannot be used: {error.strerror}", "Name another one with --dir."
        ) from None
    if occupied:
        raise UsageError(f"{wanted} is not empty.", "Name a directory that is empty or does not exist yet.")
    return wanted


def _play(tour: Tour, directory: str, env: dict[str, str], how: tuple[Arguments, Screen]) -> Played:
    given, screen = how
    shown = None if given.on("json") else screen
    paced = shown is not None and screen.out.isatty() and not given.on("fast")
    stage = build_stage(tour, directory, env, PRINTER if paced else PRINTER_IN_HASTE)
    host = TourHost(tour, stage.repository, shown)
    if shown is not None:
        _open(tour, stage, shown)
    session_id, transcript = asyncio.run(play(tour, stage, host, READING if paced else Pace()))
    findings = examine(tour, Evidence(stage, host, transcript))
    return Played(stage, host, session_id, transcript, findings)


def _open(tour: Tour, stage: Stage, screen: Screen) -> None:
    screen.line(tour.title, "bold")
    screen.line(screen.signs["rule"] * min(screen.width, 72), "dim")
    screen.say(tour.about)
    screen.line()
    screen.table(
        [("repository", stage.repository), ("model", "scripted, served on this machine")], styles={0: "dim"}
    )
    screen.line()
    screen.table([(screen.signs[name], about) for name, about in LEGEND])


def _report(tour: Tour, played: Played, how: tuple[Arguments, Screen], *, keep: bool) -> None:
    given, screen = how
    if given.on("json"):
        screen.write(msgspec.json.encode(_summary(played, keep=keep)).decode() + "\n")
        return
    screen.heading("Checked afterwards, on the disk" if played.ok else "The story did not come true.")
    for finding in played.findings:
        sign, style = (screen.signs["ok"], "green") if finding.ok else (screen.signs["no"], "red")
        screen.say(finding.says, style, first=f"  {sign} ", then="    ")
        if finding.problem:
            screen.say(finding.problem, first="      ")
    if not played.ok:
        _explain(played, screen)
        return
    _tell_apart(tour, played, screen, keep=keep)
    _invite(tour, screen)


def _explain(played: Played, screen: Screen) -> None:
    for trouble in played.host.troubles:
        screen.say(trouble, "yellow", first="  ")
    for denied in played.host.denied:
        words = subject(denied.call, played.stage.repository)
        screen.say(f"refused: {denied.call.name} {words}: {denied.message}", first="  ", then="    ")
    screen.line()
    screen.say(
        "`forge doctor` shows what this machine's settings add. `forge demo --keep` keeps the evidence."
    )


def _tell_apart(tour: Tour, played: Played, screen: Screen, *, keep: bool) -> None:
    screen.heading("What was real")
    for text in tour.real:
        screen.say(text, first="  - ", then="    ")
    if keep:
        places = [("repository", played.stage.repository), ("transcript", played.transcript)]
        screen.table(places, indent=4, styles={0: "dim"})
    else:
        screen.say("The scratch directory is removed now; --keep keeps it.", "dim", first="    ")
    screen.heading("What was scripted")
    all_used, by_agent = played.host.usage + played.host.agent_usage, played.host.agent_usage
    tokens = f"about {all_used.context:,} tokens, {by_agent.context:,} of them in the sub-agent"
    for text in (*tour.scripted, f"the count of tokens, estimated: {tokens}; cost: nothing"):
        screen.say(text, first="  - ", then="    ")


def _invite(tour: Tour, screen: Screen) -> None:
    screen.heading("Now with a model of your own, in a project of your own")
    for way in tour.own_model:
        screen.line(f"  {way.say}:", "dim")
        screen.line(f"    {way.shell}")
        screen.line(f"    {way.then}")
    screen.line()
    screen.table([(pointer.command, pointer.say) for pointer in tour.more], styles={0: "bold"})


def _summary(played: Played, *, keep: bool) -> dict[str, object]:
    host, stage = played.host, played.stage
    return {
        "ok": played.ok,
        "directory": stage.directory,
        "kept": keep,
        "repository": stage.repository,
        "session_id": played.session_id,
        "transcript": played.transcript,
        "checks": played.findings,
        "calls": [_call(played, event) for event in host.finished],
        "agents": [
            {
                "id": agent.job.id,
                "type": agent.job.agent_type,
                "status": agent.end.status,
                "transcript": agent.job.output_path,
                "calls": [_call(played, event) for job, event in host.agent_calls if job.id == agent.job.id],
                "usage": host.agent_usage,
            }
            for agent in host.agents
        ],
        "jobs": [
            {"id": ended.job.id, "command": ended.job.command, "status": ended.end.status}
            for ended in host.jobs
        ],
        "rewound": [change.path for rewound in host.rewound for change in rewound.changes],
        "usage": host.usage,
        "warnings": host.troubles,
    }


def _call(played: Played, event: ToolFinished) -> dict[str, object]:
    return {
        "tool": event.call.name,
        "subject": subject(event.call, played.stage.repository),
        "ok": not event.result.is_error,
        "refused": played.host.refused(event),
    }
