"""Plays the acts of the tour as one session, as any other host would."""

from __future__ import annotations

import asyncio
import signal

from forge.agent.drive import Patience, drive
from forge.agent.rewind import carry_out, plan
from forge.agent.session import Prompt, Session
from forge.foundation.errors import ForgeError
from forge.foundation.ids import new_uuid
from forge.foundation.paths import session_file
from forge.hosts.build import build_session
from forge.hosts.cli.tour import Act, Stage, Tour, changed_files, write_settings
from forge.hosts.cli.tour_host import Rewound, TourHost
from forge.hosts.cli.tour_server import Pace, Script, ScriptServer
from forge.hosts.configuration import load_configuration


async def play(tour: Tour, stage: Stage, host: TourHost, pace: Pace) -> tuple[str, str]:
    """Plays the tour to its end; returns the id of the session and where its transcript is."""
    main = asyncio.current_task()
    if main is not None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, main.cancel)
    server = ScriptServer(Script(tour, stage.repository), host.present, pace)
    try:
        url = await server.start()
    except OSError as error:
        raise ForgeError(f"The model of the tour cannot be served on 127.0.0.1: {error.strerror}.") from None
    try:
        write_settings(tour, stage, url)
        return await _session(tour, stage, host)
    finally:
        server.close()


async def _session(tour: Tour, stage: Stage, host: TourHost) -> tuple[str, str]:
    c = load_configuration(stage.options, stage.env, stage.repository)
    session = (await build_session(stage.options, c, host, None)).session
    first = ""
    try:
        for act in tour.acts:
            if act.rewind:
                _go_back(session, act, stage, (host, first))
            prompt = Prompt(act.prompt, new_uuid())
            first = first or prompt.uuid
            host.prompt(act.prompt)
            await drive(session, prompt, Patience())
    finally:
        session.recorder.close()
        await session.model.close()
    return session.id, session_file(c.places, session.id, c.places.cwd)


def _go_back(session: Session, act: Act, stage: Stage, goal: tuple[TourHost, str]) -> None:
    """Takes the files back to what they were at a prompt, and has git look at them."""
    host, message = goal
    checkpoints = session.checkpoints
    if checkpoints is None:
        raise ForgeError("The session keeps no checkpoints, so there is nothing to go back to.")
    todo = plan(checkpoints.folder, checkpoints.history(), message)
    carry_out(checkpoints.folder, todo)
    host.rewind(act.rewind, Rewound(todo.changes, changed_files(stage)))
