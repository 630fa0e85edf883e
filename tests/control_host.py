"""A host program that speaks the control protocol with a `forge` process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from forge_run import MODEL

FLAGS = ("--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--model", MODEL)
ASKING = ("--permission-prompt-tool", "stdio")


class Host:
    """A host program: writes messages, reads records."""

    def __init__(self, project: Path, env: dict[str, str], *args: str) -> None:
        self.child = subprocess.Popen(
            [sys.executable, "-m", "forge", *FLAGS, *args],
            cwd=project,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.records: list[dict[str, Any]] = []
        # Answers for MCP servers inside this program: name of the server, message → answer.
        self.inside: Callable[[str, dict[str, Any]], dict[str, Any]] | None = None

    def send(self, message: dict[str, Any] | str) -> None:
        assert self.child.stdin is not None
        text = message if isinstance(message, str) else json.dumps(message)
        self.child.stdin.write(text + "\n")
        self.child.stdin.flush()

    def say(self, content: Any, **more: Any) -> None:
        self.send({"type": "user", "message": {"role": "user", "content": content}, "session_id": "", **more})

    def request(self, subtype: str, **fields: Any) -> dict[str, Any]:
        self.send({"type": "control_request", "request_id": "r1", "request": {"subtype": subtype, **fields}})
        response: dict[str, Any] = self.until("control_response")["response"]
        return response

    def until(self, kind: str) -> dict[str, Any]:
        assert self.child.stdout is not None
        for line in self.child.stdout:
            record: dict[str, Any] = json.loads(line)
            self.records.append(record)
            request = record.get("request", {})
            if self.inside is not None and request.get("subtype") == "mcp_message":
                answer = self.inside(request["server_name"], request["message"])
                self.answer(record, {"mcp_response": answer})
            elif record["type"] == kind:
                return record
        raise AssertionError(f"no {kind}: {self.child.stderr.read() if self.child.stderr else ''}")

    def answer(self, request: dict[str, Any], body: dict[str, Any]) -> None:
        response = {"subtype": "success", "request_id": request["request_id"], "response": body}
        self.send({"type": "control_response", "response": response})

    def finish(self) -> int:
        assert self.child.stdin is not None
        self.child.stdin.close()
        assert self.child.stdout is not None
        self.records += [json.loads(line) for line in self.child.stdout]
        return self.child.wait(10)

    def close(self) -> None:
        """Ends the process, whatever it does."""
        self.child.kill()
        self.child.wait(10)
        for stream in (self.child.stdin, self.child.stdout, self.child.stderr):
            assert stream is not None
            stream.close()
