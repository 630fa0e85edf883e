"""The Agent tool: hands a task to a session of its own, waits for it or lets it go on in the background."""

from __future__ import annotations

import asyncio
import os
from functools import partial

import msgspec

from forge.agent.background import Background
from forge.agent.context import CallContext
from forge.agent.drive import Patience, drive
from forge.agent.event import AgentSaid, JobEnded, JobStarted, Noted
from forge.agent.hooks.lending import lend_hooks
from forge.agent.resume import load
from forge.agent.session import Prompt, Reminder, Session
from forge.agent.skills.preload import task_content
from forge.agent.team.agents import DEFAULT_TYPE, agent_names, find_agent
from forge.agent.team.child import child_session, transcript_path
from forge.agent.team.child_host import ChildHost
from forge.agent.team.crew import MAX_DEPTH, MAX_RUNNING, Crew, Member, Seat
from forge.agent.team.handback import Work, ended_as, handed_back, job_end, launched, work_of, write_meta
from forge.agent.texts.load import text
from forge.agent.worktrees.isolation import isolate, part, reopen
from forge.core.components.agent_type import AgentType
from forge.core.job import Job, JobEnd, background_allowed
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.foundation.errors import ForgeError
from forge.foundation.permissions.decide import decide

# Shells an agent leaves behind end with it; agents it has started are waited for.
PATIENCE = Patience(others=0.0)


class Wish(msgspec.Struct, frozen=True):
    """The input of the tool."""

    description: str
    prompt: str
    subagent_type: str = DEFAULT_TYPE
    model: str = ""
    effort: str = ""
    run_in_background: bool | None = None
    isolation: str = ""


async def run(wish: Wish, context: ToolContext) -> ToolOutput:
    """Starts a sub-agent."""
    if not isinstance(context, CallContext):
        raise ToolError("Sub-agents need a session.")
    s = context.session
    kind = _admitted(s, wish)
    seat = s.keep(Seat)
    background = _in_background(s, wish, kind, seat)
    member = await _enlist(context, wish, kind, background=background)
    lasting = s.find_tool("SendMessage") is not None
    if background:
        context.begin(member.job)
        return launched(member.job, member.model, lasting=lasting)
    work = await _unless_left(context, member, wish.prompt)
    if work is None:
        return launched(member.job, member.model, lasting=lasting)
    if work.status != "completed":
        raise ToolError(work.error or text("interrupt_note_tools"))
    return handed_back(member.job, work, lasting=lasting)


AGENT = Action(Wish, run)


async def wait_for(context: CallContext, wish: Wish) -> tuple[Member, Work]:
    """Starts a sub-agent for something other than a call of the tool, and waits for its work."""
    member = await _enlist(context, wish, _admitted(context.session, wish), background=False)
    return member, await _waited(context.session, member, wish.prompt)


def go_on(context: CallContext, member: Member, message: str) -> None:
    """Wakes an ended sub-agent in the background, with all it knew."""
    s = context.session

    member.job = msgspec.structs.replace(
        member.job,
        prompt=message,
        tool_use_id=context.call.id,
        backgrounded=True,
        holds=True,
        run=lambda: _aside(s, member, message),
    )
    member.status = "running"
    child = _seat_child(s, member, (member.ref, ""))
    child.reminders = []
    past = load(transcript_path(s, member.job.id))
    if past is not None:
        child.messages, child.recorder.leaf = past.messages, past.leaf
    context.begin(member.job)


def _admitted(s: Session, wish: Wish) -> AgentType:
    """The type of the wish; ToolError if it may not be started."""
    crew, seat, agents = s.keep(Crew), s.keep(Seat), s.parts.agents
    kind = find_agent(agents, wish.subagent_type)
    names = [n for n in agent_names(agents) if seat.types is None or n in seat.types]
    if kind is None or kind.name not in names:
        known = ", ".join(names)
        raise ToolError(f"Agent type '{wish.subagent_type}' not found. Available agents: {known}")
    # The rules name types as they are spelled, the model may spell or omit them otherwise.
    decision = decide("Agent", {"subagent_type": kind.name}, s.situation)
    if decision.verdict == "deny":
        raise ToolError(decision.message)
    if seat.depth >= MAX_DEPTH:
        crew.refused["depth_limit"] += 1
        raise ToolError(f"Sub-agents can be nested {MAX_DEPTH} deep, and this one is. Do the task yourself.")
    if len(crew.running()) >= MAX_RUNNING:
        crew.refused["concurrency_limit"] += 1
        raise ToolError(
            f"{MAX_RUNNING} sub-agents are at work, which is the limit. Wait until one has ended."
        )
    if s.over_budget():
        crew.refused["budget"] += 1
        raise ToolError("The budget of this session is spent; no sub-agent can be started.")
    return kind


def _in_background(s: Session, wish: Wish, kind: AgentType, seat: Seat) -> bool:
    if not background_allowed(s.parts.env):
        return False
    if wish.run_in_background is not None:
        return wish.run_in_background
    return seat.depth == 0 or kind.background


async def _enlist(context: CallContext, wish: Wish, kind: AgentType, *, background: bool) -> Member:
    s = context.session
    seat = s.keep(Seat)
    agent_id = f"a{os.urandom(8).hex()}"
    tree = await isolate(s, agent_id, wish.isolation or kind.isolation)

    job = Job(
        id=agent_id,
        kind="local_agent",
        description=wish.description,
        run=lambda: _aside(s, member, wish.prompt),
        tool_use_id=context.call.id,
        output_path=transcript_path(s, agent_id),
        agent_type=kind.name,
        holds=True,
        prompt=wish.prompt,
        depth=seat.depth + 1,
        parent_id=seat.agent_id,
        backgrounded=background,
    )
    member = Member(job, kind, "")
    member.tree = tree
    try:
        child = _seat_child(s, member, (wish.model, wish.effort))
    except ToolError:
        await part(s, tree)
        raise
    member.model, member.ref = child.model.card.id, child.model.card.ref
    s.keep(Crew).join(member, wish.run_in_background)
    return member


def _seat_child(s: Session, member: Member, wish: tuple[str, str]) -> Session:
    place = member.tree.made.path if member.tree is not None else ""
    child = child_session(s, member.job, member.kind, wish, place)
    child.messages = member.messages
    member.session, member.own_model = child, child.model is not s.model
    return child


async def _unless_left(context: CallContext, member: Member, prompt: str) -> Work | None:
    """The work of an agent; None if the user has sent it into the background before it was done."""
    s, jobs = context.session, context.session.keep(Background)
    working = asyncio.ensure_future(_waited(s, member, prompt))
    left: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def leave() -> None:
        if not left.done():
            left.set_result(None)

    jobs.waited[member.job.id] = msgspec.structs.replace(member.job, leave=leave)
    try:
        await asyncio.wait((working, left), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            run = partial(_aside, s, member, working)
            member.job = msgspec.structs.replace(member.job, backgrounded=True, run=run)
            context.begin(member.job)
            return None
    except asyncio.CancelledError:
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        raise
    finally:
        jobs.waited.pop(member.job.id, None)
    return working.result()


async def _waited(s: Session, member: Member, prompt: str) -> Work:
    s.emit(JobStarted(member.job))
    s.emit(AgentSaid(member.job, Noted(s.parts.new_id(), prompt)))
    return await _watched(s, member, prompt)


async def _watched(s: Session, member: Member, prompt: str) -> Work:
    """The work of an agent somebody waits for; its end is told like that of a job, unless it became one."""
    try:
        work = await _work(s, member, prompt)
    except asyncio.CancelledError:
        if not member.job.backgrounded:
            s.emit(JobEnded(member.job, JobEnd("stopped", ended_as(member.job, "stopped"))))
        raise
    if not member.job.backgrounded:
        s.emit(JobEnded(member.job, job_end(member.job, work)))
    return work


async def _aside(s: Session, member: Member, task: str | asyncio.Future[Work]) -> JobEnd:
    """The work of an agent nobody waits for, or no longer; whatever goes wrong is its end."""
    try:
        work = await (_work(s, member, task) if isinstance(task, str) else task)
        return job_end(member.job, work)
    except (ForgeError, ToolError, OSError) as error:
        return JobEnd("failed", f"{ended_as(member.job, 'failed')}: {error}", error=str(error))


async def _work(s: Session, member: Member, prompt: str) -> Work:
    child = member.session
    if child is None or not isinstance(child.host, ChildHost):
        raise ToolError(f"Agent {member.job.id} has no session.")
    status, place = "stopped", dict[str, str]()
    await reopen(s, member.tree)
    write_meta(s, member, finished=False)
    take_back = lend_hooks(s, member.job.id, member.kind)
    try:
        started = await child.hooks.fire("SubagentStart")
        child.reminders += [Reminder(t.kind, t.text, t.facts, aside=True) for t in started.told]
        # Who is woken again knows the skills of its definition already.
        content = prompt if child.messages else await task_content(child, member.kind, prompt)
        ended = await drive(child, Prompt(content, s.parts.new_id(), verbatim=True), PATIENCE)
        work = work_of(child, child.host, ended)
        status = work.status
    finally:
        take_back()
        s.keep(Crew).leave(member, status, s.keep(Background).stopper(member.job.id))
        await _put_away(s, member, child, status)
        place = await part(s, member.tree)
        if place and status == "stopped":
            s.warn(f"{ended_as(member.job, status)}; what it did is kept in {place['worktreePath']}.")
    if member.job.backgrounded:
        child.host.say_last()
    return msgspec.structs.replace(work, place=place) if place else work


async def _put_away(s: Session, member: Member, child: Session, status: str) -> None:
    """Frees what the agent held; what it knew is in its transcript, or in memory if there is none."""
    if child.recorder.transcript is None:
        member.messages = child.messages
    host = child.host
    if isinstance(host, ChildHost):
        spent = host.spent
        used = {"input": spent.input, "output": spent.output, "costUSD": child.model.card.cost(spent)}
        write_meta(s, member, finished=status != "stopped", status=status, usage=used)
    child.recorder.close()
    if member.own_model:
        await child.model.close()
