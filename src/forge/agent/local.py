"""Commands Forge answers itself, without asking the model: /clear, /compact, /context, /model, /usage."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from importlib import import_module

import msgspec

from forge.agent.background import Background
from forge.agent.clearing import clear
from forge.agent.compact import compact, possible, threshold
from forge.agent.ending import end
from forge.agent.event import LocalOutput, TurnEnded, TurnStarted
from forge.agent.hooks.compaction import Blocked, take_runs
from forge.agent.memory_commands import list_memory
from forge.agent.plugin_commands import run_plugin
from forge.agent.session import Prompt, Session
from forge.core.message import Text
from forge.core.models.wishes import default_options
from forge.foundation.errors import ForgeError, ModelError


def local_command(prompt: Prompt) -> str:
    """The name of the local command a prompt consists of, or ""."""
    name = prompt.text.split(None, 1)[0].removeprefix("/") if prompt.text.startswith("/") else ""
    return "" if prompt.verbatim else ALIASES.get(name, name if name in _COMMANDS else "")


def is_local(s: Session, prompt: Prompt) -> bool:
    """Whether a prompt is a command of the program; a user's own command of the same name comes first."""
    if not local_command(prompt):
        return False
    return not s.parts.catalog.skills.find(prompt.text.split(None, 1)[0][1:])


def local_names() -> list[str]:
    """What users can type that Forge answers itself, and the prompts it brings along."""
    return sorted([*_COMMANDS, *ALIASES, "init"])


class _Said(msgspec.Struct, frozen=True):
    """What a command said. `told`: its end was shown already, and this is only the confirmation."""

    text: str
    failed: bool = False
    told: bool = False
    result: str = ""


async def run_local(s: Session, prompt: Prompt) -> TurnEnded:
    """Runs a local command as a turn of its own."""
    name = local_command(prompt)
    argument = prompt.text.partition(" ")[2].strip()
    if name not in ("clear", "compact"):
        s.emit(TurnStarted(prompt.uuid))
    said = await (_compacted if name == "compact" else _ran)(s, name, argument)
    if name in ("clear", "compact") and not said.told:
        s.emit(TurnStarted(prompt.uuid))
    if name != "clear":
        _remember(s, prompt, name, said.text)
        named = ("", "") if said.told else (name, argument)
        s.emit(LocalOutput(s.parts.new_id(), said.text, *named, said.failed))
    ended = end(s, result=said.result)
    return msgspec.structs.replace(
        ended, num_turns=0, stop_reason=None, result=said.result, local_command=name, terminal_reason=""
    )


async def _ran(s: Session, name: str, argument: str) -> _Said:
    try:
        words = await _COMMANDS[name](s, argument)
    except ForgeError as error:
        return _Said(f"Error: {error}", failed=True, result=f"Error: {error}")
    return _Said(words, result=words)


async def _compacted(s: Session, name: str, focus: str) -> _Said:
    """A compaction shows its own end; one that was stopped leaves everything as it was."""
    try:
        return _Said(await _compact(s, focus), told=True)
    except ModelError as error:
        words = error.message if isinstance(error, Blocked) else f"Error during compaction: {error.message}"
        return _Said(words, failed=True, result=words)
    except ForgeError as error:
        return _Said(f"Error: {error}", failed=True)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if not s.interrupted or task is None:
            raise
        task.uncancel()
        return _Said("Compaction canceled.")


def _remember(s: Session, prompt: Prompt, name: str, said: str) -> None:
    """Keeps the command and its output in the transcript, out of the conversation."""
    spoken = (
        f"<command-name>/{name}</command-name>\n<command-args>{prompt.text.partition(' ')[2]}</command-args>"
    )
    s.recorder.prompt(prompt.uuid, [Text(spoken)], isMeta=True, isVisibleInTranscriptOnly=True)
    told = f"<local-command-stdout>{said}</local-command-stdout>"
    s.recorder.prompt(s.parts.new_id(), [Text(told)], isMeta=True, isVisibleInTranscriptOnly=True)


async def _compact(s: Session, focus: str) -> str:
    if not possible(s):
        raise ForgeError("No messages to compact")
    if s.over_budget():
        raise ForgeError(f"Reached maximum budget (${s.parts.limits.max_budget_usd:g})")
    take_runs(s)  # of earlier ones, which nobody asked for
    await compact(s, "manual", focus)
    s.compactions_in_a_row = 0
    return f"Compacted {take_runs(s)}"


async def _context(s: Session, argument: str) -> str:
    window = s.model.card.context_window
    used = s.context_tokens
    return (
        f"Context: {used:,} of {window:,} tokens ({100 * used / window:.0f} %), {len(s.messages)} messages;"
        f" compaction above {threshold(s):,}."
    )


async def _usage(s: Session, argument: str) -> str:
    lines = [f"Total cost: ${s.ledger.cost:.4f}"]
    for name, spend in s.ledger.spent.items():
        u = spend.usage
        lines.append(
            f"  {name}: {u.input:,} in, {u.output:,} out, {u.cache_read:,} cached, ${spend.cost:.4f}"
        )
    return "\n".join(lines)


async def _model(s: Session, name: str) -> str:
    if not name:
        return f"Current model: {s.model.card.id}"
    if s.parts.open_model is None:
        raise ForgeError("This session cannot change its model.")
    old, model = s.model, s.parts.open_model(name)
    s.set_model(model)
    wishes = default_options(model.card, s.parts.env, s.parts.setting)
    now = s.parts.options
    kept = {"thinking_display": now.thinking_display, "session_id": now.session_id, "betas": now.betas}
    s.parts = msgspec.structs.replace(s.parts, options=msgspec.structs.replace(wishes, **kept))
    # Agents at work may still ask the old one.
    if not s.keep(Background).running():
        await old.close()
    return f"Set model to `{model.card.id}` for this session only"


def _loaded(name: str) -> Callable[[Session, str], Awaitable[str]]:
    """A command whose code is imported on use."""

    async def run(s: Session, argument: str) -> str:
        return str(await getattr(import_module("forge.agent.skills.commands"), name)(s, argument))

    return run


_COMMANDS: dict[str, Callable[[Session, str], Awaitable[str]]] = {
    "agents": _loaded("list_agents"),
    "clear": clear,
    "compact": _compact,
    "context": _context,
    "memory": list_memory,
    "model": _model,
    "plugin": run_plugin,
    "reload-plugins": _loaded("reload_components"),
    "skills": _loaded("list_skills"),
    "help": _loaded("say_help"),
    "usage": _usage,
}
ALIASES = {"cost": "usage", "stats": "usage", "new": "clear", "reset": "clear"}
