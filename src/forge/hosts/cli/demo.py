"""`forge demo`: plays the bundled tour on a scratch repository and checks that its story came true."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
import tempfile

import msgspec

from forge.agent.loop import run_turn
from forge.agent.session import Prompt
from forge.foundation.errors import UsageError
from forge.foundation.ids import new_uuid
from forge.foundation.paths import session_file
from forge.hosts.build import build_session
from forge.hosts.cli.command import JSON, NO_COLOR, Arguments, Command, read_arguments, take_words
from forge.hosts.cli.flags import SWITCH, VALUE, Flag
from forge.hosts.cli.parse import CommandLine
from forge.hosts.cli.screen import Screen, open_screen
from forge.hosts.cli.tour import Stage, Tour, build_stage, load_tour
from forge.hosts.cli.tour_check import Evidence, Finding, examine
from forge.hosts.cli.tour_host import PacedModel, TourHost, reading_times, subject
from forge.hosts.configuration import load_configuration

PER_WORD = 0.03
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM

COMMAND = Command(
    name="demo",
    usage=("demo [--fast] [--keep] [--dir DIR] [--json] [--no-color]",),
    about=(
        "Plays a session on a scratch git repository with a small real bug: Forge runs the tests, searches, "
        "reads, edits, runs the tests again, and is refused one dangerous command. Loop, tools, permissions "
        "and transcript are real; only the words of the model are scripted. Your own files and settings are "
        "not touched. Ends with 1 if the story did not come true."
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
    stage = build_stage(tour, directory, env)
    shown = None if given.on("json") else screen
    host = TourHost(tour, stage.repository, shown)
    if shown is not None:
        _open(tour, stage, shown)
    paced = shown is not None and screen.out.isatty() and not given.on("fast")
    session_id, transcript = asyncio.run(_session(tour, stage, host, paced=paced))
    findings = examine(tour, Evidence(stage, host, transcript))
    return Played(stage, host, session_id, transcript, findings)


async def _session(tour: Tour, stage: Stage, host: TourHost, *, paced: bool) -> tuple[str, str]:
    """Runs the one turn of the tour as any other host would."""
    main = asyncio.current_task()
    if main is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, main.cancel)
    c = load_configuration(stage.options, stage.env, stage.repository)
    built = await build_session(stage.options, c, host, None)
    session = built.session
    if paced:
        session.set_model(PacedModel(session.model, reading_times(tour), PER_WORD))
    try:
        await session.run(lambda: run_turn(session, Prompt(tour.prompt, new_uuid())))
    finally:
        session.recorder.close()
        await session.model.close()
    return session.id, session_file(c.places, session.id, c.places.cwd)


def _open(tour: Tour, stage: Stage, screen: Screen) -> None:
    screen.line(tour.title, "bold")
    screen.line(screen.signs["rule"] * min(screen.width, 72), "dim")
    screen.say(tour.about)
    screen.line()
    screen.table(
        [("repository", stage.repository), ("model", "scripted (no key, no network)")], styles={0: "dim"}
    )
    screen.line()
    screen.table([(screen.signs[name], about) for name, about in LEGEND])
    screen.line()
    sign = screen.signs["prompt"]
    screen.say(tour.prompt, "bold", first=f"{sign} ", then="  ")


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
    used = played.host.usage
    tokens = used.context
    for text in (*tour.scripted, f"its tokens: about {tokens:,}, estimated; cost: nothing"):
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
        "calls": [
            {
                "tool": event.call.name,
                "subject": subject(event.call, stage.repository),
                "ok": not event.result.is_error,
                "refused": host.refused(event),
            }
            for event in host.finished
        ],
        "warnings": host.troubles,
    }
