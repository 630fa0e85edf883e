"""Events as stream-json records, the language of `claude -p` and the Agent SDKs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from forge.agent import event as ev
from forge.agent.ledger import usage_record
from forge.agent.mcp.servers import call_meta, status_rows
from forge.agent.session import Session
from forge.agent.skills.ecosystem import Ecosystem
from forge.agent.skills.listed import slash_commands
from forge.agent.team.agents import agent_names
from forge.agent.team.crew import Crew
from forge.core.components.listing import announced_skills
from forge.core.message import ToolResult, ToolUse
from forge.core.model import BlockDelta, BlockStarted, Started
from forge.core.models.errors import final_word, retry_word
from forge.foundation.ids import timestamp
from forge.hosts import wire_agents, wire_compact, wire_hooks, wire_jobs, wire_local, wire_result
from forge.hosts.control_waiting import lifecycle
from forge.version import COMPATIBLE_WITH, VERSION

Record = dict[str, Any]

CAPABILITIES = ["interrupt_receipt_v1", "msg_lifecycle_v1"]


class WireFacts(msgspec.Struct, frozen=True):
    """What the init record says besides the session's own state."""

    key_source: str
    memory_dir: str
    partial: bool = False
    thinking_display: str = "updates"
    hook_events: bool = False
    betas: tuple[str, ...] = ()


class Wire:
    """Turns the events of one session into records; unknown events give none."""

    def __init__(self, session: Session, facts: WireFacts, clock: Callable[[], float]) -> None:
        self._s = session
        self._facts = facts
        self._clock = clock
        self._thought = 0
        self._new_id = session.parts.new_id
        self.results = 0
        self._told = session.ledger.snapshot()
        self.named: list[str] = []
        self._woken: set[str] = set()
        self._routes: dict[type, Callable[[Any], list[Record]]] = {
            ev.TurnStarted: self._turn_started,
            ev.Requesting: self._requesting,
            ev.Streaming: self._streaming,
            ev.Retried: self._retried,
            ev.Replied: self._replied,
            ev.ApiFailed: self._api_failed,
            ev.Denied: self._denied,
            ev.ToolFinished: self._tool_finished,
            ev.Noted: self._noted,
            ev.ModeChanged: lambda e: [self.system("status", status=None, permissionMode=e.mode)],
            ev.Compacting: lambda e: wire_compact.started(e, self.system),
            ev.Compacted: lambda e: wire_compact.done(e, self.system, self.user, self.init),
            ev.CompactionSkipped: lambda e: wire_compact.skipped(e, self.system),
            ev.LocalOutput: self._local_output,
            ev.Restarted: self._restarted,
            ev.JobStarted: lambda e: wire_jobs.started(e, self.system),
            ev.JobEnded: lambda e: wire_jobs.ended(e, self.system, self._clock()),
            ev.JobsChanged: lambda e: wire_jobs.changed(e, self.system),
            ev.AgentSaid: self._agent_said,
            ev.AgentProgress: lambda e: wire_agents.progress(e, self.system),
            **wire_hooks.routes(self.system, all_events=facts.hook_events),
            ev.TurnEnded: self._turn_ended,
        }

    def records(self, event: ev.Event) -> list[Record]:
        """The records of one event, in order."""
        route = self._routes.get(type(event))
        return route(event) if route else []

    def system(self, subtype: str, **fields: Any) -> Record:
        """A system record of this session."""
        told = {k: v for k, v in fields.items() if v is not None or k in ("status", "error_status")}
        return {
            "type": "system",
            "subtype": subtype,
            **told,
            "session_id": self._s.id,
            "uuid": self._new_id(),
        }

    def init(self) -> Record:
        s = self._s
        situation, eco = s.situation, s.keep(Ecosystem)
        return {
            "type": "system",
            "subtype": "init",
            "cwd": situation.cwd,
            "session_id": s.id,
            "tools": ["Task" if t.name == "Agent" else t.name for t in s.tools()],
            "mcp_servers": status_rows(s),
            "model": s.model.card.id,
            "permissionMode": situation.mode,
            "slash_commands": slash_commands(s),
            "terminal_slash_commands": [],
            "apiKeySource": self._facts.key_source,
            "claude_code_version": COMPATIBLE_WITH,
            "forge_version": VERSION,
            "output_style": eco.style,
            "agents": agent_names(s.parts.agents),
            "skills": announced_skills(s.parts.catalog, eco.view),
            "plugins": eco.plugins,
            **({"plugin_errors": eco.errors} if eco.errors else {}),
            **({"betas": list(self._facts.betas)} if self._facts.betas else {}),
            **({"user_message_uuids": self.named} if self.named else {}),
            "capabilities": CAPABILITIES,
            "analytics_disabled": True,
            "product_feedback_disabled": True,
            "uuid": self._new_id(),
            **({"memory_paths": {"auto": self._facts.memory_dir}} if self._facts.memory_dir else {}),
            "original_cwd": situation.start_dir,
            "additional_directories": situation.directories[1:],
            "fast_mode_state": "off",
            "fast_mode_disabled_reason": "sdk_opt_in_required",
            "per_turn_effort_active": False,
            "ultrathink_available": False,
            "ultrathink_typed_raises": False,
            "view_mode": "default",
        }

    def user(self, content: Any, uuid: str, **fields: Any) -> Record:
        """A user record."""
        return {
            "type": "user",
            "message": {"role": "user", "content": content},
            "parent_tool_use_id": None,
            "session_id": self._s.id,
            "uuid": uuid,
            "timestamp": timestamp(self._clock()),
            **fields,
        }

    def result(self, e: ev.TurnEnded) -> Record:
        s = self._s
        index, self.results = self.results, self.results + 1
        record: Record = {
            "type": "result",
            "subtype": e.subtype,
            "is_error": e.is_error,
            "duration_ms": round(e.duration_ms),
            "duration_api_ms": round(e.api_ms),
            "num_turns": e.num_turns,
            "stop_reason": e.stop_reason,
            "session_id": s.id,
            "total_cost_usd": round(s.ledger.cost, 10),
            "usage": usage_record(e.usage),
            "modelUsage": wire_result.spending(s.ledger),
            "permission_denials": [wire_result.denial(d) for d in e.denials],
            "terminal_reason": e.terminal_reason,
            "fast_mode_state": "off",
            "fast_mode_disabled_reason": "sdk_opt_in_required",
            "subagent_stats": s.keep(Crew).report(),
            "safety_stops": 0,
            "uuid": self._new_id(),
            "queued_turn_count": 0,
            "result_index": index,
            "model_usage_since_last_result": wire_result.spending(s.ledger, self._told),
            **self._prompts(),
        }
        self._told = s.ledger.snapshot()
        if e.local_command:
            record["local_command"] = e.local_command
        if e.deferred is not None:
            record["deferred_tool_use"] = e.deferred
        if not e.terminal_reason:
            del record["terminal_reason"]
        if e.origin is not None:
            record["origin"] = e.origin
        if e.subtype != "success":
            record["errors"] = e.errors
            return record
        return {**record, **wire_result.success(e)}

    def _turn_started(self, e: ev.TurnStarted) -> list[Record]:
        """Of a prompt nobody typed the host hears that it comes, and why."""
        source, when = e.record.get("wakeupSource"), e.record.get("scheduledFor")
        if not source:
            return [self.init()]
        self._woken.add(e.prompt_uuid)
        cause = {"wakeup_source": source, **({"scheduled_for": int(when)} if when else {})}
        return [lifecycle(self._s, e.prompt_uuid, "started", cause), self.init()]

    def _turn_ended(self, e: ev.TurnEnded) -> list[Record]:
        over = [uuid for uuid in e.prompt_uuids if uuid in self._woken]
        self._woken.difference_update(over)
        state = "cancelled" if e.terminal_reason.startswith("aborted") else "completed"
        return [self.result(e), *(lifecycle(self._s, uuid, state) for uuid in over)]

    def _requesting(self, e: ev.Requesting) -> list[Record]:
        return [self.system("status", status="requesting")] if self._facts.partial else []

    def _streaming(self, e: ev.Streaming) -> list[Record]:
        before = self._thinking(e)
        if not self._facts.partial or not hasattr(e.delta, "raw"):
            return before
        record: Record = {
            "type": "stream_event",
            "event": e.delta.raw,
            "session_id": self._s.id,
            "parent_tool_use_id": None,
            "uuid": self._new_id(),
        }
        if isinstance(e.delta, Started):
            record["ttft_ms"] = round(e.first_token_ms or 0)
        if self._about_thinking(e):
            record["thinking_display"] = self._facts.thinking_display
        record["api_message_id"] = e.message_id
        return [*before, record]

    def _thinking(self, e: ev.Streaming) -> list[Record]:
        """How much the model has thought, by an estimate."""
        if isinstance(e.delta, Started):
            self._thought = 0
        if not isinstance(e.delta, BlockDelta) or e.delta.kind != "thinking":
            return []
        tokens = max(1, len(e.delta.text) // 4)
        self._thought += tokens
        estimate = {"estimated_tokens": self._thought, "estimated_tokens_delta": tokens}
        return [self.system("thinking_tokens", **estimate)]

    def _about_thinking(self, e: ev.Streaming) -> bool:
        if isinstance(e.delta, BlockStarted):
            block = e.delta.raw.get("content_block")
            return isinstance(block, dict) and block.get("type") == "thinking"
        return isinstance(e.delta, Started) or (
            isinstance(e.delta, BlockDelta) and e.delta.kind == "thinking"
        )

    def _retried(self, e: ev.Retried) -> list[Record]:
        r = e.retry
        if r.switch is not None:
            models = {"original_model": r.switch.before, "fallback_model": r.switch.now}
            return [self.system("model_fallback", trigger=r.switch.why, **models, content=r.message)]
        return [
            self.system(
                "api_retry",
                attempt=r.attempt,
                max_retries=r.max_retries,
                retry_delay_ms=round(r.delay_ms),
                error_status=r.status,
                error=retry_word(r.kind),
            )
        ]

    def _replied(self, e: ev.Replied) -> list[Record]:
        record = self._assistant({**e.envelope, "content": [e.block], "context_management": None}, e.uuid)
        if e.request_id:
            record["request_id"] = e.request_id
        if e.aborted:
            record["aborted"] = True
        if isinstance(e.block, ToolUse) and (meta := call_meta(self._s, e.block.id, e.block.name)):
            record["tool_use_meta"] = meta
        if e.thinking_ms is not None:
            record["thinking_duration_ms"] = round(e.thinking_ms)
            record["thinking_display"] = self._facts.thinking_display
        return [record]

    def _assistant(self, message: Record, uuid: str) -> Record:
        return {
            "type": "assistant",
            "message": message,
            "parent_tool_use_id": None,
            "session_id": self._s.id,
            "uuid": uuid,
            "timestamp": timestamp(self._clock()),
            **self._prompts(),
        }

    def _prompts(self) -> Record:
        """The prompts of the turn by the names the host gave them."""
        return {"user_message_uuid": self.named[-1], "user_message_uuids": self.named} if self.named else {}

    def _api_failed(self, e: ev.ApiFailed) -> list[Record]:
        message = wire_local.synthetic(self._new_id(), e.text, "stop_sequence", "")
        record = self._assistant(message, e.uuid)
        named = {"request_id": e.request_id} if e.request_id else {}
        record |= {"error": final_word(e.kind), "is_api_error_message": True, **named}
        if e.status is not None:
            record |= {"api_error_status": e.status, "api_error_type": e.error_type}
        return [record]

    def _denied(self, e: ev.Denied) -> list[Record]:
        return [
            self.system(
                "permission_denied",
                tool_name=e.call.name,
                tool_use_id=e.call.id,
                decision_reason_type=e.reason_type,
                decision_reason_code=e.reason_code,
                decision_reason=e.reason,
                message=e.message,
            )
        ]

    def _tool_finished(self, e: ev.ToolFinished) -> list[Record]:
        fields: Record = {"tool_use_result": e.data}
        if e.meta is not None:
            fields["tool_result_meta"] = [e.meta]
        content: list[ToolResult] = [e.result]
        return [self.user(content, e.uuid, **fields)]

    def _agent_said(self, e: ev.AgentSaid) -> list[Record]:
        return wire_agents.said(e, self.records, forward_text=self._s.keep(Crew).forward_text)

    def _noted(self, e: ev.Noted) -> list[Record]:
        flag = {"isSynthetic": True} if e.synthetic else {}
        return [self.user([{"type": "text", "text": e.text}], e.uuid, **flag)]

    def _local_output(self, e: ev.LocalOutput) -> list[Record]:
        return wire_local.answered(e, self.user, self._assistant)

    def _restarted(self, e: ev.Restarted) -> list[Record]:
        self._told = {}
        return wire_local.restarted(e, self._s.id, timestamp(self._clock()))
