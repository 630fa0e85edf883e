"""Runs one handler, whatever its type, and says how it ended. Types are imported when they are first used."""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from typing import Any

import msgspec

from forge.agent.hooks.answer import Run, judge
from forge.agent.hooks.command import Order, Tell, run_command
from forge.agent.hooks.engine import Engine
from forge.agent.hooks.environment import Unusable, arguments, environment, session_facts
from forge.agent.hooks.hook import Hook
from forge.agent.hooks.payload import encoded
from forge.agent.session import Session
from forge.foundation.hookspec import HookSpec

_DEFAULT_SECONDS = {"prompt": 30.0, "agent": 60.0}
_INSTEAD = "(no conversation context is available). Use a command-type hook instead."
_OTHERS = {
    "http": "forge.agent.hooks.web",
    "prompt": "forge.agent.hooks.judging",
    "agent": "forge.agent.hooks.verifying",
    "mcp_tool": "forge.agent.hooks.remote",
    "callback": "forge.agent.hooks.callback",
}


class Firing(msgspec.Struct, frozen=True, eq=False):
    """An event that is being dispatched; `budget` are the seconds all its hooks have together."""

    engine: Engine
    session: Session
    spec: HookSpec
    name: str
    payload: dict[str, Any]
    budget: float | None = None

    def supports(self, hook: Hook) -> bool:
        """Whether the event runs hooks of this type."""
        return hook.kind in self.spec.handlers or hook.kind == "callback"

    def seconds(self, hook: Hook) -> float:
        """How long a hook may take."""
        given = hook.fields.get("timeout")
        usual = _DEFAULT_SECONDS.get(hook.kind, self.spec.timeout)
        own = float(given) if given is not None else (self.budget or usual)
        return own if self.budget is None else min(own, self.budget)

    def tell_end(self, identity: str, run: Run) -> None:
        """Tells hosts of the end of a run that nobody has waited for."""
        if self.spec.reported is not None:
            ended = import_module("forge.agent.hooks.dispatch").ended_event(identity, self.name, judge(run))
            (self.engine.session or self.session).emit(ended)


async def run_hook(firing: Firing, hook: Hook, number: int, identity: str) -> Run:
    """The ended run of a hook; one that goes on in the background is marked so."""
    if not firing.supports(hook):
        why = f"Failed to run: {hook.kind}-type hooks are not supported for {hook.event} events"
        return Run(hook, None, failure=f"{why} {_INSTEAD}")
    if hook.kind == "command":
        return await _command(firing, hook, number, identity)
    started = asyncio.get_running_loop().time()
    try:
        async with asyncio.timeout(firing.seconds(hook)):
            run: Run = await import_module(_OTHERS[hook.kind]).run(firing, hook)
    except TimeoutError:
        run = Run(hook, None, timed_out=True)
    took = (asyncio.get_running_loop().time() - started) * 1000
    return msgspec.structs.replace(run, duration_ms=took)


async def _command(firing: Firing, hook: Hook, number: int, identity: str) -> Run:
    s, means = firing.session, firing.engine.means
    project = means.project_dir or s.situation.start_dir
    try:
        argv = arguments(hook, project)
    except Unusable as problem:
        return Run(hook, None, failure=f"Failed to run: {problem}")
    main = firing.engine.session or s
    env_file = _env_file(firing, main, number)
    effort = str(firing.payload.get("effort", {}).get("level", ""))
    facts = session_facts(main.id, effort, env_file, attended=means.attended)
    order = Order(
        hook=hook,
        argv=argv,
        cwd=s.situation.cwd,
        env=environment(hook, s.parts.env, facts, project),
        payload=encoded(firing.payload),
        timeout=firing.seconds(hook),
        # What a hook starts for the time after the session is its own business.
        outlived=None if hook.event == "SessionEnd" else firing.engine.left.append,
    )
    tell = _progress(firing, hook, identity)
    apart = bool(hook.fields.get("async") or hook.fields.get("async_exec"))
    if hook.fields.get("tty") is True and not apart:
        async with firing.engine.terminal:
            if (lease := means.lend_terminal() if means.lend_terminal else None) is not None:
                run: Run = await import_module("forge.agent.hooks.terminal").run_in_front(order, lease, tell)
                return run
    if hook.fields.get("asyncRewake") and means.wakes:
        waking = import_module("forge.agent.hooks.waking").run_and_wake(firing, order, tell, identity)
        firing.engine.keep_running(waking)
        return Run(hook, 0, asynchronous=True)
    return await _beside(firing, order, tell, identity, apart=apart)


async def _beside(firing: Firing, order: Order, tell: Tell | None, identity: str, *, apart: bool) -> Run:
    """Runs a hook that may go into the background, at once (`apart`) or when it says so."""
    hook, engine = order.hook, firing.engine
    parted: asyncio.Future[float | None] = asyncio.get_running_loop().create_future()
    work = asyncio.ensure_future(run_command(order, parted, tell))
    if apart:
        parted.set_result(None)
    either: list[asyncio.Future[Any]] = [work, parted]
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        raise
    if not parted.done():
        return work.result()
    # One that was started by the end of the turn shall at least get going before the program ends.
    waits = hook.event == "Stop"
    engine.keep_running(_later(firing, work, parted.result(), identity), waits=waits)
    return Run(hook, 0, asynchronous=True)


def _env_file(firing: Firing, main: Session, number: int) -> str:
    """Where the hook may write exports for later commands; empty for events that have no say in that."""
    folder = firing.engine.means.config_dir
    if not firing.spec.env_file or not folder:
        return ""
    name = f"{firing.spec.name.lower()}-hook-{number}.sh"
    path = os.path.join(folder, "session-env", main.id, name)
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    except OSError:
        return ""
    exports = firing.session.keep(import_module("forge.core.shell.exports").Exports)
    if path not in exports.files:
        exports.files.append(path)
    return path


def _progress(firing: Firing, hook: Hook, identity: str) -> Any:
    main = firing.engine.session or firing.session
    if firing.spec.reported is None:
        return None
    event = import_module("forge.agent.event").HookProgress

    def tell(out: str, err: str, both: str) -> None:
        main.emit(event(identity, firing.name, hook.event, both, out, err))

    return tell


async def _later(firing: Firing, work: asyncio.Task[Run], limit: float | None, identity: str) -> None:
    """Waits for a hook in the background; only its texts count, and only when it has ended by itself."""
    try:
        async with asyncio.timeout(None if limit is None else limit / 1000):
            run = await work
    except TimeoutError:
        return
    finally:
        if not work.done():
            work.cancel()
            await asyncio.gather(work, return_exceptions=True)
    firing.tell_end(identity, run)
    output = judge(_without_first_line(run)).output
    if output is None:
        return
    specific = output.hook_specific_output
    said = [output.system_message, specific.additional_context if specific else None]
    if words := "\n".join(text for text in said if text):
        firing.engine.late.append(words)


def _without_first_line(run: Run) -> Run:
    """The output behind the line by which a hook went into the background."""
    first, _, rest = run.stdout.partition("\n")
    marks = first.strip().startswith("{") and '"async"' in first
    return msgspec.structs.replace(run, stdout=rest if marks else run.stdout, exit_code=0)
