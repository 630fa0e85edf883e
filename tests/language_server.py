"""A language server whose behaviour the tests choose: `python language_server.py MODE [LOG]`.

It reports one diagnostic per line that contains `bad`. Modes: `good`, `hang` (never answers), `mute` (finds
nothing to say), `garbage` (writes no protocol), `crash` (ends with the first file it sees), `once` (crashes
only the first time, remembered in LOG), `deaf` (ignores `shutdown`).
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main(mode: str, log: str = "") -> None:
    if mode == "garbage":
        sys.stdout.write("Welcome to the server!\nLet us begin.\n\n")
        sys.stdout.flush()
    if mode == "once" and os.path.exists(log):
        mode = "good"
    while (message := read()) is not None:
        if log:
            with open(log, "a", encoding="utf-8") as file:
                file.write(json.dumps(message) + "\n")
        if mode != "hang":
            react(mode, message)


def react(mode: str, message: dict[str, Any]) -> None:
    method = message.get("method", "")
    if method == "exit":
        sys.exit(0)
    if "id" in message and method:
        if method != "shutdown" or mode != "deaf":
            answer(message)
    elif method == "initialized":
        items = [{"section": "a.b"}, {"section": "none"}, {}]
        write({"id": 900, "method": "workspace/configuration", "params": {"items": items}})
        write({"id": 901, "method": "client/registerCapability", "params": {}})
        write({"id": 902, "method": "workspace/unheardOf"})
    elif method in ("textDocument/didOpen", "textDocument/didChange"):
        if mode in ("crash", "once"):
            sys.stderr.write("I cannot go on\n")
            sys.exit(3)
        if mode != "mute":
            publish(method, message["params"])


def answer(message: dict[str, Any]) -> None:
    if message["method"] == "textDocument/hover":
        return  # nobody will ever know
    if message["method"] == "textDocument/definition":
        write({"id": message["id"], "error": {"code": -32603, "message": "boom"}})
    else:
        write({"id": message["id"], "result": {"capabilities": {}}})


def publish(method: str, params: dict[str, Any]) -> None:
    document = params["textDocument"]
    text = document["text"] if method.endswith("Open") else params["contentChanges"][0]["text"]
    found = [
        {"range": {"start": {"line": n, "character": line.index("bad")}}, "message": line, "severity": 1}
        for n, line in enumerate(text.splitlines())
        if "bad" in line
    ]
    told = {"uri": document["uri"], "version": document["version"], "diagnostics": found}
    write({"method": "textDocument/publishDiagnostics", "params": told})


def read() -> dict[str, Any] | None:
    length = 0
    while True:
        line = sys.stdin.buffer.readline()
        if not line:
            return None
        if not line.strip():
            break
        length = int(line.partition(b":")[2])
    message: dict[str, Any] = json.loads(sys.stdin.buffer.read(length))
    return message


def write(message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
