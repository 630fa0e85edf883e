"""Lends the host's terminal to a hook that asks for it with `"tty": true`, to one at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from forge.agent.hooks.answer import Run
from forge.agent.hooks.command import Order, run_command
from forge.foundation.system.process import Child, Spawn


class Lease(Protocol):
    """A terminal the host does not use just now; `end` gives it back to the host, which repaints."""

    @property
    def device(self) -> str: ...

    def start(self, what: Spawn) -> Child: ...

    def end(self) -> None: ...


Lend = Callable[[], Lease | None]


async def run_in_front(order: Order, lease: Lease, tell: Any) -> Run:
    """Runs a hook that has the terminal; whatever becomes of it, the terminal goes back to the host."""
    env = {
        **order.env,
        "FORGE_TTY": lease.device,
        "CLAUDE_CODE_SESSION_ATTENDED": "1",
        "FORGE_SESSION_ATTENDED": "1",
    }
    try:
        return await run_command(msgspec.structs.replace(order, env=env, start=lease.start), None, tell)
    finally:
        lease.end()
