"""All sub-agents of a conversation, however deep: who is there, what became of them, how many there were."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from forge.core.job import Job

if TYPE_CHECKING:
    from forge.agent.session import Session
    from forge.agent.worktrees.worktree import Tree
    from forge.core.components.agent_type import AgentType
    from forge.core.message import Message

MAX_DEPTH = 3
MAX_RUNNING = 20


class Seat:
    """Where a session sits: 0 is the conversation with the user. `types` limits what it may start.

    `root` is the session of that conversation, if it is another one.
    """

    def __init__(
        self,
        depth: int = 0,
        agent_id: str = "",
        types: frozenset[str] | None = None,
        root: Session | None = None,
    ) -> None:
        self.depth = depth
        self.agent_id = agent_id
        self.types = types
        self.root = root


class Member:
    """One sub-agent. Its session is only there while it runs; `messages` only if there is no transcript.

    `counted`: its end still has to be counted, which happens once however often it is woken.
    `own_model`: its model was opened for it and is closed with it. `tree` is the checkout it works in, if it
    has one of its own.
    """

    def __init__(self, job: Job, kind: AgentType, model: str) -> None:
        self.job = job
        self.kind = kind
        self.model = model
        self.ref = ""
        self.counted = True
        self.own_model = False
        self.status = "running"
        self.session: Session | None = None
        self.messages: list[Message] = []
        self.tree: Tree | None = None


class Crew:
    """The sub-agents of one conversation, shared by all its sessions.

    `forward_text`: hosts want to see what they say. `appended` stands at the end of their system prompts.
    `spare` are tools the agent of the conversation itself does without, but those it starts may have.
    """

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.forward_text = False
        self.appended = ""
        self.spare: frozenset[str] = frozenset()
        self.requested = {"background": 0, "foreground": 0, "unset": 0}
        self.killed = {"parent": 0, "user": 0, "system": 0}
        self.refused = {"depth_limit": 0, "concurrency_limit": 0, "budget": 0}
        self.ended = {"completed": 0, "failed": 0}
        self.in_background = 0
        self.jobs: list[Job] = []

    def running(self) -> list[Member]:
        """Those that have not ended."""
        return [m for m in self.members.values() if m.status == "running"]

    def join(self, member: Member, requested: bool | None) -> None:
        """Counts a new member in."""
        self.members[member.job.id] = member
        asked = {None: "unset", True: "background", False: "foreground"}[requested]
        self.requested[asked] += 1
        self.in_background += member.job.backgrounded
        self.jobs.append(member.job)

    def leave(self, member: Member, status: str, stopper: str = "user") -> None:
        """Notes how a member ended; `stopper` is who stopped it: user, parent or system."""
        member.status = status
        member.session = None
        if not member.counted:
            return
        member.counted = False
        if status in self.ended:
            self.ended[status] += 1
        else:
            self.killed[stopper] += 1

    def report(self) -> dict[str, Any]:
        """The counts as the protocol's `subagent_stats`."""
        jobs = self.jobs
        types: dict[str, int] = {}
        for job in jobs:
            types[job.agent_type] = types.get(job.agent_type, 0) + 1
        return {
            "spawned": len(jobs),
            "requested": dict(self.requested),
            "started_in_background": self.in_background,
            "max_depth": max((job.depth for job in jobs), default=0),
            "spawned_by_subagents": sum(job.depth > 1 for job in jobs),
            **self.ended,
            "killed": dict(self.killed),
            "refused": dict(self.refused),
            "by_type": types,
        }
