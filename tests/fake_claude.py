"""A scripted stand-in for the `claude` program: it plays turns from a file and notes what it was told.

The scenario is JSON: `version`, `turns` (a list of lists of lines), `deaf` (signals it ignores). A line is
printed as it is; one with the key `$` does something instead: `hang`, `exit` (with `code`), `say` (`text` on
standard error), `ask` (`request` on the control channel, waits for the answer), `child` (starts a command in
a session of its own), `raw` (prints `text` as it is).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

Line = dict[str, Any]

# For the shell it is one command that starts Python, whose path may hold blanks; for Python that is a text.
PROGRAM = r"""#!/bin/sh
'''exec' "PYTHON" -SE "$0" "$@"
' '''
import json, os, signal, subprocess, sys, time

plan = json.load(open(SCENARIO))
log = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
early = []


def note(kind, what):
    os.write(log, json.dumps({kind: what}).encode() + b"\n")


def put(line):
    rest = (line if isinstance(line, str) else json.dumps(line)).encode() + b"\n"
    while rest:
        rest = rest[os.write(1, rest) :]


def result(**more):
    put({"type": "result", "subtype": "success", "is_error": False, "num_turns": 0, "result": "", **more})


def interrupted(*_):
    note("signal", "interrupt")
    result(subtype="error_during_execution", is_error=True, terminal_reason="aborted_streaming", errors=["x"])
    os._exit(0)


def hear():
    line = sys.stdin.readline()
    if not line:
        note("end", "stdin")
        sys.exit(plan.get("code", 0))
    heard = json.loads(line)
    note("heard", heard)
    return heard


def ask(request, number=[0]):
    number[0] += 1
    put({"type": "control_request", "request_id": f"cli-{number[0]}", "request": request})
    while (heard := hear())["type"] != "control_response":
        early.append(heard)


def act(line):
    what = line["$"]
    if what == "hang":
        put({"type": "system", "subtype": "status", "status": "hanging"})
        while True:
            time.sleep(60)
    elif what == "exit":
        os._exit(line["code"])
    elif what == "say":
        sys.stderr.write(line["text"] + "\n")
        sys.stderr.flush()
    elif what == "ask":
        ask(line["request"])
    elif what == "raw":
        put(line["text"])
    elif what == "child":
        child = subprocess.Popen(["sleep", "600"], start_new_session=True)
        note("child", child.pid)


if "--version" in sys.argv:
    note("asked", "version")
    print(plan.get("version", "2.1.325 (Claude Code)"))
    sys.exit(plan.get("version_code", 0))
if sys.argv[1:] == ["auth", "status"]:
    print(json.dumps({"loggedIn": plan.get("logged_in", True)}))
    sys.exit()
note("argv", sys.argv[1:])
note("env", {k: v for k, v in os.environ.items() if k.startswith(("CLAUDE", "FORGE"))})
signal.signal(signal.SIGINT, interrupted)
for name in plan.get("deaf", []):
    signal.signal(getattr(signal, name), signal.SIG_IGN)
if "--resume" in sys.argv:
    note("history", [json.loads(l) for l in open(sys.argv[sys.argv.index("--resume") + 1])])
turns = iter(plan["turns"])
while True:
    heard = early.pop(0) if early else hear()
    if heard["type"] == "control_request":
        told = {"subtype": "success", "request_id": heard["request_id"], "response": {}}
        put({"type": "control_response", "response": told})
        if heard["request"].get("sdkMcpServers"):
            message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            ask({"subtype": "mcp_message", "server_name": "forge", "message": message})
    elif heard["type"] == "user" and heard.get("shouldQuery") is False:
        result()
    elif heard["type"] == "user":
        for line in next(turns, []):
            act(line) if "$" in line else put(line)
"""


class FakeClaude:
    """The program in a folder of its own, so that it can be put on a PATH."""

    def __init__(self, folder: Path, *turns: list[Line], **plan: Any) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.path = folder / "claude"
        self.log = folder / "log.jsonl"
        scenario = folder / "scenario.json"
        scenario.write_text(json.dumps({"turns": turns, **plan}))
        text = PROGRAM.replace("PYTHON", sys.executable)
        self.path.write_text(
            text.replace("SCENARIO", repr(str(scenario))).replace("LOG", repr(str(self.log)))
        )
        self.path.chmod(0o755)

    def noted(self, kind: str) -> list[Any]:
        """Everything of one kind it has noted: asked, argv, env, history, heard, signal, child, end."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        return [entry[kind] for entry in map(json.loads, lines) if kind in entry]

    def prompts(self) -> list[Any]:
        """The content of the user lines it was to answer or to store."""
        return [h["message"]["content"] for h in self.noted("heard") if h["type"] == "user"]


def init(model: str = "claude-sonnet-5-5") -> Line:
    return {"type": "system", "subtype": "init", "session_id": "s1", "model": model, "tools": []}


def stream(event: Line) -> Line:
    return {"type": "stream_event", "event": event, "session_id": "s1", "parent_tool_use_id": None}


def message(blocks: list[Line], number: int = 1, reason: str = "end_turn") -> list[Line]:
    """The lines of one streamed model message, as the CLI prints them."""
    head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": "claude-sonnet-5-5"}
    usage = {"input_tokens": 10, "output_tokens": 1}
    lines = [stream({"type": "message_start", "message": {**head, "content": [], "usage": usage}})]
    for index, block in enumerate(blocks):
        start, delta = _streamed(block)
        lines.append(stream({"type": "content_block_start", "index": index, "content_block": start}))
        lines.append(stream({"type": "content_block_delta", "index": index, "delta": delta}))
        lines.append({"type": "assistant", "message": {**head, "content": [block], "usage": usage}})
        lines.append(stream({"type": "content_block_stop", "index": index}))
    ending = {"stop_reason": reason, "stop_sequence": None}
    lines.append(stream({"type": "message_delta", "delta": ending, "usage": {"output_tokens": 5}}))
    return [*lines, stream({"type": "message_stop"})]


def _streamed(block: Line) -> tuple[Line, Line]:
    if block["type"] == "tool_use":
        piece = json.dumps(block["input"])
        return {**block, "input": {}}, {"type": "input_json_delta", "partial_json": piece}
    kind = block["type"]
    return {**block, kind: ""}, {"type": f"{kind}_delta", kind: block[kind]}


def text(words: str) -> Line:
    return {"type": "text", "text": words}


def call(name: str, number: int = 1, **given: Any) -> Line:
    return {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given}


def result(**more: Any) -> Line:
    limits = {"claude-sonnet-5-5": {"contextWindow": 1_000_000, "maxOutputTokens": 128_000}}
    ended = {"type": "result", "subtype": "success", "is_error": False, "terminal_reason": "completed"}
    return {**ended, "total_cost_usd": 0.25, "modelUsage": limits, "session_id": "s1", **more}


def tool_result(number: int, content: Any, **more: Any) -> Line:
    block = {"type": "tool_result", "tool_use_id": f"toolu_{number}", "content": content, **more}
    return {"type": "user", "message": {"role": "user", "content": [block]}, "session_id": "s1"}
