"""Makes the session of a sub-agent: same loop, own history, tools, transcript and host."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from forge.agent.memory import inherit_memory, move_memory
from forge.agent.plugins.diagnostics import Languages
from forge.agent.prompt import Surroundings, start_reminders
from forge.agent.record import Recorder
from forge.agent.session import Parts, Reminder, Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.skills.grants import around
from forge.agent.skills.listed import tell_skills
from forge.agent.skills.preload import notes_place, notes_text
from forge.agent.team.agents import agent_body, listing
from forge.agent.team.child_host import ChildHooks, ChildHost
from forge.agent.team.crew import MAX_DEPTH, Crew, Seat
from forge.agent.texts.load import text
from forge.agent.toolset import equip
from forge.core.changes import Changes
from forge.core.components.agent_type import AgentType
from forge.core.components.render import fill_variables
from forge.core.job import Job
from forge.core.model import Model, Options
from forge.core.reminder import reminder
from forge.core.shell.guard.guard import Guard
from forge.core.tool import ToolError
from forge.foundation.errors import ForgeError
from forge.foundation.gitdir import find_root
from forge.foundation.history.transcript import Transcript
from forge.foundation.permissions.modes import canonical_mode
from forge.foundation.permissions.situation import Situation
from forge.foundation.system.facts import os_version, platform_name

# Belong to the conversation with the user.
MAIN_ONLY = frozenset(
    [
        "AskUserQuestion",
        "CronCreate",
        "CronDelete",
        "CronList",
        "EnterPlanMode",
        "EnterWorktree",
        "ExitPlanMode",
        "ExitWorktree",
        "ListAgents",
        "ReportFindings",
        "ScheduleWakeup",
        "StructuredOutput",
        "Workflow",
    ]
)
# Who asks for the family of its own model gets that very model.
_FAMILIES = ("fable", "haiku", "opus", "sonnet")
# May be missing from the main conversation only because its model does not need them.
ON_DEMAND = frozenset({"Grep", "Glob"})


def child_session(
    parent: Session, job: Job, kind: AgentType, wish: tuple[str, str], place: str = ""
) -> Session:
    """The session of the sub-agent `job`; `wish` is the model and the effort it was asked for.

    `place` is the directory it works in if that is not the directory of the conversation.
    """
    model, effort = choose_model(parent, kind, wish[0]), wish[1] or kind.effort
    parts = parent.parts
    host = ChildHost(parent, job)
    path = transcript_path(parent, job.id)
    hooks = ChildHooks(parent.hooks, job, path)
    stamp = msgspec.structs.replace(parent.recorder.stamp, agent_id=job.id)
    recorder = Recorder(
        Transcript(path) if path else None, stamp, clock=parts.clock, new_id=parts.new_id, warn=parent.warn
    )
    own = msgspec.structs.replace(
        parts,
        host=host,
        model=model,
        hooks=hooks,
        situation=_situation(parent, kind, place),
        recorder=recorder,
        system=[parts.system[0], _system(parent, kind)],
        reminders=_reminders(parent, model, job.depth, place),
        options=_options(parent, model, effort),
        limits=msgspec.structs.replace(parts.limits, max_turns=kind.max_turns, max_seconds=None),
        persist=_already_persisted,
        structured=None,
        allowed=_tools(parent, kind, job.depth),
    )
    return _seated(parent, own, job, kind, place)


def choose_model(parent: Session, kind: AgentType, wished: str) -> Model:
    """The model of a sub-agent: the call, the type, the variable, else that of whoever starts it."""
    name = wished or kind.model or parent.parts.env.get("CLAUDE_CODE_SUBAGENT_MODEL", "")
    if name in ("", "inherit", parent.model.card.id, parent.model.card.ref) or _same_family(parent, name):
        return parent.model
    if parent.parts.open_model is None:
        raise ToolError(f"The model {name!r} cannot be opened here. Leave `model` out.")
    try:
        return parent.parts.open_model(name)
    except ForgeError as error:
        raise ToolError(f"The model {name!r} cannot be used: {error}") from error


def _same_family(parent: Session, name: str) -> bool:
    """Whether a name such as `haiku` means the model of the parent itself.

    It does if that is of the family, and with models of other providers: agents are written for a model of
    Anthropic, but what was said to another one is not sent there unasked.
    """
    card, named = parent.model.card, parent.parts.env.get(f"ANTHROPIC_DEFAULT_{name.upper()}_MODEL")
    if name not in _FAMILIES or named:
        return False
    return f"claude-{name}-" in card.id or card.provider != "anthropic"


def transcript_path(s: Session, agent_id: str) -> str:
    """Where the transcript of a sub-agent is; empty if the conversation is not kept."""
    if s.recorder.transcript is None:
        return ""
    return os.path.join(os.path.dirname(s.parts.results_dir), "subagents", f"agent-{agent_id}.jsonl")


def startable(kind: AgentType) -> frozenset[str] | None:
    """The types an agent may start, if its tool list says so with `Agent(a, b)`."""
    for entry in kind.tools or ():
        name, bracket, rest = entry.partition("(")
        if bracket and name.strip() in ("Agent", "Task"):
            return frozenset(n.strip() for n in rest.rstrip(") ").split(",") if n.strip())
    return None


def _seated(parent: Session, parts: Parts, job: Job, kind: AgentType, place: str) -> Session:
    child = Session(parts)
    child.standing = list(parts.reminders)
    # One ledger for all: the spend cap holds everywhere and the total is exact at any moment.
    child.ledger = parent.ledger
    child.share(parent.keep(Crew))
    # Checkpoints see what sub-agents change, too.
    child.share(parent.keep(Changes))
    child.share(Seat(job.depth, job.id, startable(kind), _root(parent)))
    child.share(parent.keep(Ecosystem))
    child.share(parent.keep(Languages))
    child.share(parent.keep(Guard))
    inherit_memory(parent, child, kind)
    if place:
        move_memory(child, place, place)
    tell_skills(child)
    equip(child)
    home = parts.situation.cwd

    def follow() -> None:
        # Directories are not carried from call to call in sub-agents.
        child.situation = _situation(parent, kind, place).changed(cwd=home)

    if isinstance(parts.hooks, ChildHooks) and isinstance(parts.host, ChildHost):
        parts.host.child = parts.hooks.child = child
        parts.hooks.follow = follow
    return child


def _system(parent: Session, kind: AgentType) -> str:
    # Variables are a matter of plugins: elsewhere the text is taken as it is.
    body = agent_body(kind)
    if kind.plugin:
        body = fill_variables(body, around(parent), kind.plugin)
    notes = notes_text(notes_place(kind, parent.situation))
    appended = parent.keep(Crew).appended
    return "\n\n".join(words for words in (body, text("agent_notes"), notes, appended) if words)


def _situation(parent: Session, kind: AgentType, place: str) -> Situation:
    """The rights of whoever starts the agent, in its own mode and with a place for its notes."""
    situation = parent.situation.at(place) if place else parent.situation
    notes = notes_place(kind, parent.situation)
    free = [*situation.free_write_dirs, *([notes] if notes else [])]
    return situation.changed(mode=_mode(parent, kind), free_write_dirs=free)


def _mode(parent: Session, kind: AgentType) -> str:
    mode = parent.situation.mode
    wanted = canonical_mode(kind.permission_mode)
    # An agent never gets more freedom than the user gave the conversation.
    return mode if wanted in (None, "bypassPermissions") or mode == "bypassPermissions" else str(wanted)


def _tools(parent: Session, kind: AgentType, depth: int) -> frozenset[str]:
    # What the definition of the parent leaves out concerns the parent alone.
    offered = {t.name for t in _root(parent).tools(parent.keep(Crew).spare)} - MAIN_ONLY
    if kind.tools and kind.tools != ["*"]:
        named = {_plain(entry) for entry in kind.tools}
        known = offered | {c.name for c in parent.parts.tools if c.name in ON_DEMAND}
        offered = {name for name in known if name in named}
    offered -= {_plain(entry) for entry in kind.disallowed_tools}
    if depth >= MAX_DEPTH:
        offered -= {"Agent"}
    if not offered:
        raise ToolError(
            f"Agent '{kind.name}' would be spawned with zero tools — refusing. Its tools list resolved to"
            f" nothing: unrecognized [{', '.join(kind.tools or ())}]. Fix the agent's tools frontmatter or"
            " pass a different subagent_type."
        )
    return frozenset(offered)


def _root(s: Session) -> Session:
    return s.keep(Seat).root or s


def _plain(entry: str) -> str:
    name = entry.partition("(")[0].strip()
    return "Agent" if name == "Task" else name


def _reminders(parent: Session, model: Model, depth: int, place: str) -> list[Reminder]:
    situation = parent.situation.at(place) if place else parent.situation
    where = Surroundings(
        cwd=situation.cwd,
        is_git=bool(find_root(situation.cwd)),
        platform=platform_name(),
        shell=os.path.basename(parent.parts.env.get("SHELL", "")) or "bash",
        os_version=os_version(),
        directories=situation.directories[1:],
    )
    told = start_reminders(where, model.card, parent.parts.clock(), custom=True)
    if place:
        main = parent.situation.start_dir
        words = text("worktree_agent").replace("{path}", place).replace("{before}", main)
        told.append(Reminder("worktree", reminder(words)))
    if depth < MAX_DEPTH and parent.find_tool("Agent") is not None:
        told.append(Reminder("agent_listing_delta", listing(parent.parts.agents)))
    return told


def _options(parent: Session, model: Model, effort: str) -> Options:
    """The wishes of the conversation; those that fit only its own model are left to the other one."""
    options = parent.parts.options
    if model is not parent.model:
        options = msgspec.structs.replace(
            options, max_tokens=None, thinking="", thinking_budget=None, effort=""
        )
    return msgspec.structs.replace(options, effort=effort) if effort else options


def _already_persisted(updates: list[dict[str, Any]]) -> None:
    """The session of the user has written them down."""
