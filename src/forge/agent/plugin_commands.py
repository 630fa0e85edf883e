"""`/plugin …` in a session: the words of `forge plugin`, the same code behind them."""

from __future__ import annotations

import asyncio
from importlib import import_module

from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.foundation.errors import ForgeError

USAGE = (
    "Usage: /plugin list | install | uninstall | enable | disable | update | info | configure | marketplace"
)


async def run_plugin(s: Session, argument: str) -> str:
    """Runs a plugin command and returns what it says; nothing is asked, so nothing that needs it happens."""
    if not argument:
        return USAGE
    # Loaded on use: few sessions install anything.
    command = import_module("forge.core.installing.command")
    context = import_module("forge.core.plugins.context")
    paths = import_module("forge.foundation.paths")
    said: list[str] = []
    here = context.Context(
        places=paths.find_places(s.parts.env, s.situation.start_dir),
        env=s.parts.env,
        setting=s.parts.setting,
        warn=said.append,
    )
    try:
        outcome = await asyncio.to_thread(command.plugin_line, argument, here)
        reload = s.keep(Ecosystem).reload
        if outcome.reload and reload is not None:
            said.append(f"{reload()}\n")
    except ForgeError as error:
        return str(error)
    return "".join([*said, outcome.out, outcome.err]).strip()
