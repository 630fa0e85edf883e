"""A small stdio MCP server for tests, run as a program; its argument says how it misbehaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

PEER = os.path.abspath(__file__)
NAMES = ("echo", "fail", "ask", "exit", "sleep", "big", "structured", "env", "mixed", "roots", "abilities")

# What the client says it can do.
ABILITIES: dict[str, Any] = {}


def entry(*how: str, **more: Any) -> dict[str, Any]:
    """The configuration of this server."""
    return {"command": sys.executable, "args": [PEER, *how], **more}


def main(how: list[str]) -> None:
    if "dead" in how:
        print("no licence", file=sys.stderr)
        sys.exit(3)
    if "deaf" in how:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "silent" in how:
        signal.pause()
    if "child" in how:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        with open(how[how.index("child") + 1], "w", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {child.pid}")
    for line in sys.stdin:
        if "garbage" in how:
            sys.stdout.write("Listening...\n{\n[1, 2\n\x00\xfe\n")
        answer(json.loads(line), how)
    if "deaf" in how:
        signal.pause()


def answer(message: dict[str, Any], how: list[str]) -> None:
    number, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if number is None:
        return
    if method is None:
        send({"id": "call", "result": text("ELICITED " + json.dumps(message.get("result"), sort_keys=True))})
    elif method == "initialize":
        ABILITIES.update(params["capabilities"])
        kept = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
        send({"id": number, "result": {**kept, "serverInfo": {"name": "peer", "version": "1"}}})
    elif method == "tools/list":
        properties = {"type": "object", "properties": {"text": {"type": "string"}}}
        tools = [{"name": n, "description": f"does {n}", "inputSchema": properties} for n in NAMES]
        send({"id": number, "result": {"tools": tools}})
    elif method == "tools/call":
        call(number, str(params["name"]), params.get("arguments") or {}, params.get("_meta") or {})
    else:
        send({"id": number, "error": {"code": -32601, "message": "unknown method"}})


def call(number: Any, name: str, given: dict[str, Any], meta: dict[str, Any]) -> None:
    if name == "exit":
        sys.exit(1)
    if name == "sleep":
        signal.pause()
    if name == "ask":
        schema = {"type": "object", "properties": {"user": {"type": "string"}}, "required": ["user"]}
        asked = {"message": given.get("text", "who"), "requestedSchema": schema}
        send({"id": "e1", "method": "elicitation/create", "params": asked})
        reply = json.loads(sys.stdin.readline())
        send({"id": number, "result": text("ELICITED " + json.dumps(reply.get("result"), sort_keys=True))})
        return
    if name == "roots":
        send({"id": "r1", "method": "roots/list"})
        roots = json.loads(sys.stdin.readline())["result"]["roots"]
        send({"id": number, "result": text(" ".join(root["uri"] for root in roots))})
        return
    results: dict[str, dict[str, Any]] = {
        "echo": text(str(given.get("text", ""))),
        "fail": {**text("it failed"), "isError": True},
        "big": text("x" * 300_000),
        "structured": {**text("plain"), "structuredContent": {"a": 1}},
        "env": text(json.dumps({k: os.environ.get(k) for k in given.get("text", "").split()})),
        "abilities": text(json.dumps(ABILITIES)),
        "mixed": {"content": [{"type": "resource_link", "name": "n", "uri": "file:///x"}]},
    }
    send({"id": number, "result": results[name]})


def text(words: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": words}]}


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
