"""`forge -p`: one prompt (or a stream of them) in, text, json or stream-json out."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from forge.agent.background import Background
from forge.agent.drive import Patience, drive
from forge.agent.ending import plain_number
from forge.agent.event import Event, Retried, TurnEnded, Warned
from forge.agent.hooks.state import HookState
from forge.agent.host import Answer, Question
from forge.agent.resume import Past
from forge.agent.session import Prompt, Session
from forge.foundation.errors import ForgeError, UsageError
from forge.foundation.ids import is_uuid, new_uuid
from forge.foundation.origin import Severity
from forge.hosts.build import Built, build_session
from forge.hosts.cli.parse import CommandLine
from forge.hosts.configuration import Configuration, load_configuration
from forge.hosts.control import Control
from forge.hosts.control_question import ask_elsewhere
from forge.hosts.logs import start_log
from forge.hosts.lookouts import Holder, prepare_lookout
from forge.hosts.mcp.servers import named_servers
from forge.hosts.memory_request import notes_directory
from forge.hosts.options import EFFORTS, RunOptions, own_betas, read_options
from forge.hosts.resumption import find_past
from forge.hosts.session_life import begin, deferred_calls, finish, put_off_calls, set_up
from forge.hosts.sink import Sink
from forge.hosts.stdin import read_prompt
from forge.hosts.tidying import Tidying
from forge.hosts.wire import Wire, WireFacts
from forge.hosts.wire_result import failed_start

TERMINATED = 128 + signal.SIGTERM


def run(line: CommandLine, env: dict[str, str]) -> int:
    """Runs the command line without a screen."""
    o = read_options(line)
    if not (o.print or o.input_format == "stream-json" or not sys.stdout.isatty()):
        raise UsageError(
            "The interactive screen is not part of this version yet.",
            'Ask one question with: forge -p "your question"   (or watch the tour: forge demo)',
        )
    # Nothing imported so far will ever be garbage; and a run makes few cycles, so look for them rarely.
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    start_log(o.debug or o.debug_to_stderr, o.debug_file)
    return asyncio.run(_run(o, env))


class Headless:
    """The host of a run without a screen; nobody can be asked unless a control connection is there."""

    def __init__(self, o: RunOptions, sink: Sink) -> None:
        self._o = o
        self._sink = sink
        self._events: list[dict[str, Any]] = []
        self._between = ""
        self.wire: Wire | None = None
        self.session: Session | None = None
        self.control: Control | None = None
        self._held: list[TurnEnded] = []
        self.holding: Callable[[], bool] = lambda: False

    def emit(self, event: Event) -> None:
        if isinstance(event, Warned):
            self._sink.complain(event.text)
        if self.control is not None:
            self.control.before(event)
        self._hold_or_show(event)
        if self.control is not None:
            self.control.after(event)

    async def ask(self, question: Question) -> Answer:
        if self.control is not None:
            return await self.control.ask(question)
        return await ask_elsewhere(self.session, self._o.permission_prompt_tool, question)

    def _hold_or_show(self, event: Event) -> None:
        """A result waits while a job holds it back; the one that follows brings it out."""
        if not isinstance(event, TurnEnded):
            self._show(event)
            return
        self._held.append(event)
        if not self.holding():
            self._release()

    def _release(self) -> None:
        held, self._held = self._held, []
        for ended in held:
            self._show(ended)

    def _show(self, event: Event) -> None:
        if self.wire is None:
            return
        if self._o.output_format == "stream-json":
            for record in self.wire.records(event):
                self._sink.record(record)
        elif self._o.output_format == "json":
            self._show_json(event, self.wire)
        elif isinstance(event, TurnEnded) and (event.terminal_reason or event.local_command or event.result):
            between, self._between = self._between, "\n"
            self._sink.text(between + final_text(event, self._o))
        elif isinstance(event, Retried) and self._o.verbose:
            self._sink.complain(f"{event.retry.message} Trying again ({event.retry.attempt}).")

    def _show_json(self, event: Event, wire: Wire) -> None:
        if self._o.verbose:
            self._events += wire.records(event)
        elif isinstance(event, TurnEnded):
            self._events = [wire.result(event)]

    def finish(self) -> None:
        """Writes what was held back to the end, and json output: one document for all turns."""
        self._release()
        if self._o.output_format != "json" or not self._events:
            return
        if self._o.verbose:
            self._sink.records(self._events)
        else:
            self._sink.record(self._events[-1])


def final_text(e: TurnEnded, o: RunOptions) -> str:
    """What text output says about a finished turn."""
    if e.subtype == "success":
        return f"{e.result}\n"
    if e.subtype == "error_max_turns":
        return f"Error: Reached max turns ({int(o.max_turns or 0)})\n"
    if e.subtype == "error_max_budget_usd":
        return f"Error: Exceeded USD budget ({plain_number(o.max_budget_usd or 0)})\n"
    return f"Error: {'; '.join(e.errors) or e.subtype}\n"


async def _run(o: RunOptions, env: dict[str, str]) -> int:
    sink = Sink()
    host = Headless(o, sink)
    cwd, gone, source = os.getcwd(), None, None
    if o.await_initialize and o.input_format == "stream-json":
        o, source = await import_module("forge.hosts.early").hear_first(o)
    if o.worktree is not None:
        gone = await import_module("forge.hosts.worktrees").go_there(o, env, cwd, host)
        cwd = gone.tree.made.path
    c = load_configuration(o, env, cwd)
    _report(o, c, sink)
    if o.rewind_files:
        return int(import_module("forge.hosts.rewinding").rewind(o, c, sink))
    try:
        past = find_past(o, c.places)
        built = await build_session(o, c, host, past)
    except ForgeError as error:
        if o.output_format == "stream-json":
            wanted = str(o.resume or "")
            sink.record(failed_start(str(error), new_uuid(), wanted if is_uuid(wanted) else ""))
        raise
    if gone is not None:
        import_module("forge.hosts.worktrees").arrive(built.session, gone)
    _connect(o, c, env, built, (host, sink))
    if host.control is not None:
        host.control.source = source
    tidying = Tidying(c, built.session.id)
    try:
        code = await _serve(o, host, built.session, past)
    finally:
        host.finish()
        await finish(built.session)
        built.session.recorder.close()
        await built.session.model.close()
    if code != TERMINATED:
        await tidying.end()
    return code


def _connect(
    o: RunOptions, c: Configuration, env: dict[str, str], built: Built, out: tuple[Headless, Sink]
) -> None:
    """Brings a new session and its host together."""
    host, sink = out
    jobs = built.session.keep(Background)
    # A host that can still speak hears how each turn ended, and waits for jobs as it likes.
    host.holding = lambda: jobs.holding() and (host.control is None or host.control.seat.waiting.closed)
    host.session = built.session
    host.wire = wire = Wire(built.session, _facts(o, c, built), time.time)
    transcript = built.session.recorder.transcript
    if o.session_mirror and transcript is not None:
        transcript.copy = sink.mirror
    if o.input_format == "stream-json":
        host.control = Control(o, c, built, (wire, sink))
    title = o.name or (o.resume if isinstance(o.resume, str) and not is_uuid(o.resume) else None)
    if title and o.output_format == "stream-json":
        sink.record(wire.system("session_title_changed", title=title))
    holder = host.control.seat if host.control is not None else Holder(c)
    prepare_lookout(built.session, o, env, holder)


async def _serve(o: RunOptions, host: Headless, session: Session, past: Past | None) -> int:
    stopped = _on_signals(session)
    patience = _patience(session.parts.env)
    try:
        await set_up(session, o)
        if o.init_only:
            return 0
        if host.control is not None:
            host.control.begin = lambda: begin(session, past, forked=o.fork_session)
            host.control.put_off = lambda: deferred_calls(past, session)
            code = await host.control.serve(patience)
            return 0 if signal.SIGINT in stopped else code
        first = await begin(session, past, forked=o.fork_session)
        for prompt in await _prompts(o, session, past, first):
            ended = await drive(session, prompt, patience)
    except asyncio.CancelledError:
        if signal.SIGTERM not in stopped:
            raise
        return TERMINATED
    if ended.terminal_reason.startswith("aborted") and not session.keep(HookState).interrupted:
        return 0
    return 1 if ended.is_error else 0


async def _prompts(o: RunOptions, session: Session, past: Past | None, first: str) -> list[Prompt]:
    """What is to be done: a prompt of a hook, that of the command line, or calls that were put off."""
    prompts = [Prompt(first, new_uuid())] if first else []
    try:
        prompts.append(Prompt(await read_prompt(o.prompt), new_uuid()))
    except UsageError:
        if not prompts and (calls := put_off_calls(past, session)):
            prompts = [Prompt("", new_uuid(), calls=calls)]
        if not prompts:
            raise
    return prompts


def _patience(env: Mapping[str, str]) -> Patience:
    ceiling = env.get("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS", "")
    return Patience(holding=int(ceiling) / 1000) if ceiling.isdecimal() else Patience()


def _facts(o: RunOptions, c: Configuration, built: Built) -> WireFacts:
    memory = notes_directory(o, c)
    return WireFacts(
        built.choice.key_source,
        memory,
        o.include_partial_messages,
        hook_events=o.include_hook_events,
        betas=tuple(own_betas(o)),
    )


def _report(o: RunOptions, c: Configuration, sink: Sink) -> None:
    """Says on standard error what was ignored; a script's standard output stays clean."""
    for diagnostic in c.diagnostics:
        if diagnostic.severity is not Severity.INFO:
            sink.complain(str(diagnostic))
    for note in c.notes:
        sink.complain(note)
    if o.mcp_config:
        named_servers(o.mcp_config, c)
    if o.effort is not None and o.effort not in EFFORTS:
        known, ignored = ", ".join(EFFORTS), "ignoring it and using the default effort"
        sink.complain(f"Warning: Unknown --effort value '{o.effort}' — {ignored}. Valid values: {known}.")


def _on_signals(session: Session) -> list[int]:
    """Ctrl-C ends the turn with a result, a second one and SIGTERM end the program."""
    loop, main = asyncio.get_running_loop(), asyncio.current_task()
    stopped: list[int] = []

    def terminate() -> None:
        stopped.append(signal.SIGTERM)
        if main is not None:
            main.cancel()

    def interrupt() -> None:
        if session.interrupt():
            stopped.append(signal.SIGINT)
        else:
            terminate()

    loop.add_signal_handler(signal.SIGTERM, terminate)
    loop.add_signal_handler(signal.SIGINT, interrupt)
    return stopped
