"""Writes what happens in a session into its transcript, as records of the reference program's format.

A transcript that cannot be written is reported once and does not stop the work.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from forge.core.message import Block, ToolResult
from forge.core.reminder import reminder
from forge.foundation.history.transcript import Record, Transcript
from forge.foundation.ids import timestamp

# The kind of a record that says how many tokens are left.
TOKENS_LEFT = "total_tokens_reminder"


class Stamp(msgspec.Struct, frozen=True):
    """What every record of a session repeats; `agent_id` marks the transcript of a sub-agent."""

    session_id: str
    version: str
    entrypoint: str
    git_branch: str
    agent_id: str = ""


class Recorder:
    """Chains records by parent; `transcript` None means the session is not kept."""

    def __init__(
        self,
        transcript: Transcript | None,
        stamp: Stamp,
        *,
        clock: Callable[[], float],
        new_id: Callable[[], str],
        warn: Callable[[str], None],
    ) -> None:
        self.transcript = transcript
        self.stamp = stamp
        self.leaf: str | None = None
        self.cwd = ""
        self._clock, self._new_id, self._warn = clock, new_id, warn
        self._broken = False

    def prompt(self, uuid: str, content: str | list[Block], **facts: Any) -> None:
        """The user's own words."""
        self._entry("user", uuid, {"message": {"role": "user", "content": content}, **facts})

    def reminder(
        self, kind: str, text: str, facts: dict[str, Any] | None = None, *, aside: bool = False
    ) -> None:
        """A text Forge adds to the user's message, kept so that a resumed request is the same.

        An aside is kept as a reminder too, as the reference keeps it, but under the role of the system.
        """
        rendered = [{"content": reminder(text) if aside else text}]
        body = {"attachment": {"type": kind, **(facts or {})}, "rendered": rendered}
        self._entry("attachment", self._new_id(), {**body, "renderedRole": "system" if aside else "user"})

    def attach(self, attachment: dict[str, Any]) -> None:
        """Something worth keeping that the model does not see."""
        self._entry("attachment", self._new_id(), {"attachment": attachment})

    def reply(self, message: dict[str, Any], blocks: list[tuple[str, Block]], **facts: Any) -> None:
        """An assistant message, one record per block with the uuid its event had."""
        for n, (uuid, block) in enumerate(blocks):
            self._entry(
                "assistant", uuid, {"message": {**message, "content": [block]}, "apiBlockIndex": n, **facts}
            )

    def result(self, uuid: str, result: ToolResult, data: Any, **facts: Any) -> None:
        """The answer to one call."""
        message = {"role": "user", "content": [result]}
        self._entry("user", uuid, {"message": message, "toolUseResult": data, **facts})

    def boundary(self, uuid: str, facts: dict[str, Any]) -> str | None:
        """The mark of a compaction: the chain begins anew behind it. Returns what came before."""
        before, self.leaf = self.leaf, None
        body = {
            "subtype": "compact_boundary",
            "content": "Conversation compacted",
            "level": "info",
            "logicalParentUuid": before,
            "compactMetadata": facts,
        }
        self._entry("system", uuid, body)
        return before

    def system(self, subtype: str, **facts: Any) -> None:
        """Something the program said, which is no part of the conversation with the model."""
        self._entry("system", self._new_id(), {"subtype": subtype, **facts})

    def side(self, kind: str, **facts: Any) -> None:
        """A record outside the chain."""
        self._write({"type": kind, **facts, "sessionId": self.stamp.session_id})

    def replay(self, messages: Iterable[Record]) -> None:
        """Copies the records of another session into this one, for a fork."""
        for record in messages:
            self._write({**record, "sessionId": self.stamp.session_id})
            self.leaf = record.get("uuid", self.leaf)

    def begin_anew(self, session_id: str) -> None:
        """Goes on as another session, whose transcript is beside the one so far."""
        if (old := self.transcript) is not None:
            old.close()
            self.transcript = Transcript(os.path.join(os.path.dirname(old.path), f"{session_id}.jsonl"))
            self.transcript.copy = old.copy
        self.stamp = msgspec.structs.replace(self.stamp, session_id=session_id)
        self.leaf = None

    def close(self) -> None:
        if self.transcript is not None:
            self.transcript.close()

    def _entry(self, kind: str, uuid: str, body: dict[str, Any]) -> None:
        s = self.stamp
        self._write(
            {
                "parentUuid": self.leaf,
                "isSidechain": bool(s.agent_id),
                **({"agentId": s.agent_id} if s.agent_id else {}),
                "type": kind,
                **body,
                "uuid": uuid,
                "timestamp": timestamp(self._clock()),
                "userType": "external",
                "entrypoint": s.entrypoint,
                "cwd": self.cwd,
                "sessionId": s.session_id,
                "version": s.version,
                "gitBranch": s.git_branch,
            }
        )
        self.leaf = uuid

    def _write(self, record: Record) -> None:
        if self.transcript is None:
            return
        try:
            self.transcript.append(record)
        except OSError as error:
            if not self._broken:
                self._warn(
                    f"The session cannot be saved to {self.transcript.path}: {error.strerror}."
                    " Work goes on, but this session may not be resumable."
                )
            self._broken = True
