"""What hooks have to know beyond the session itself."""

from __future__ import annotations

from forge.agent.event import HookSaid
from forge.agent.hooks.port import Told


class HookState:
    """The prompt under way, the name of the main agent, and whether a hook has stopped everything."""

    def __init__(self) -> None:
        self.prompt_id = ""
        self.agent_type = ""
        self.interrupted = False
        self.told_unchecked = False
        self.ends: list[Told] = []
        self.around_compaction: list[str] = []
        self.before_turn: list[HookSaid] = []
        self.of_results: dict[str, list[Told]] = {}
