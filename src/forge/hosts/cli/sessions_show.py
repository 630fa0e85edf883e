"""`forge sessions show` and `export`: a conversation for people, as Markdown or as JSON."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Any

from forge.agent.resume import conversation
from forge.foundation.atomic import update_text
from forge.foundation.encode import dumps, printable
from forge.foundation.history.session_search import entry_text
from forge.foundation.history.sessions import prompt_text, summary
from forge.foundation.history.transcript import Record, decode_record, read_index, read_lines
from forge.hosts.cli.command import Arguments, print_json, take_words
from forge.hosts.cli.screen import Screen
from forge.hosts.cli.sessions import COMMAND
from forge.hosts.cli.sessions_place import Place, find, session_id

_SHORT_LINES = 6
_SIGNS = {"user": "prompt", "assistant": "model", "result": "result"}


def show(place: Place, given: Arguments) -> int:
    """Prints a conversation; tool results are shortened unless --full."""
    (name,) = take_words(COMMAND, given.words, ("ID",))
    path = find(place, name)
    if given.on("json"):
        print_json(_as_json(path, given))
        return 0
    screen = place.screen
    screen.line(screen.clip(_title(path)), "bold")
    for record in records(path, everything=given.on("before_compaction"), complain=True):
        _show(screen, record, full=given.on("full"))
    return 0


def export(place: Place, given: Arguments) -> int:
    """Writes a conversation to a file or standard output."""
    (name,) = take_words(COMMAND, given.words, ("ID",))
    path = find(place, name)
    target = given.text("output")
    as_json = given.text("format") == "json" or given.on("json")
    if as_json or (target.endswith(".json") and not given.text("format")):
        text = dumps(_as_json(path, given)).decode() + "\n"
    else:
        text = printable(markdown(path, everything=given.on("before_compaction")))
    if not target:
        sys.stdout.write(text)
        return 0
    update_text(os.path.abspath(target), lambda old: text, private=False)
    place.screen.line(f"Written to {target}")
    return 0


def records(path: str, *, everything: bool, complain: bool = False) -> Iterator[Record]:
    """The records of a conversation; `everything` adds what compaction and rewinding left behind."""
    index, chosen, notes = conversation(path)
    if everything:
        index = read_index(path)
        chosen = [link for link in index.links if not link.side]
    for note in [*index.notes, *notes] if complain else ():
        sys.stderr.write(f"{session_id(path)}: {note}.\n")
    for text in read_lines(path, ((link.at, link.size) for link in chosen)):
        record = decode_record(text)
        if record is not None and record.get("isMeta") is not True:
            yield record


def markdown(path: str, *, everything: bool) -> str:
    """A conversation as Markdown."""
    row = summary(path)
    lines = [f"# {_title(path)}", "", f"Session {session_id(path)}"]
    if row is not None:
        lines.append(f"in {row.cwd}, started {row.created}")
    speaker = ""
    for record in records(path, everything=everything):
        if _is_boundary(record):
            lines += ["", "---", "", "*The conversation was compacted here.*"]
            speaker = ""
        for who, text in entry_text(record):
            heading = "User" if who == "user" else "Assistant"
            if who != "result" and heading != speaker:
                lines += ["", f"## {heading}"]
                speaker = heading
            lines += ["", *_markdown_block(who, text)]
    return "\n".join(lines) + "\n"


def _markdown_block(who: str, text: str) -> list[str]:
    if who in ("user", "assistant"):
        return [text]
    runs = [len(run) for run in re.findall("`{3,}", text)]
    fence = "`" * (max(runs, default=2) + 1)
    label = {"result": "Result:", "thinking": "Thinking:"}.get(who, f"Call of **{who}**:")
    return [label, "", fence, text.rstrip("\n"), fence]


def _as_json(path: str, given: Arguments) -> dict[str, Any]:
    row = summary(path)
    found = records(path, everything=given.on("before_compaction"))
    return {
        "sessionId": session_id(path),
        "title": _title(path),
        "cwd": row.cwd if row else None,
        "gitBranch": row.branch if row else None,
        "costUSD": row.cost if row else None,
        "messages": [m for record in found if (m := _json_message(record)) is not None],
    }


def _json_message(record: Record) -> dict[str, Any] | None:
    head = {"uuid": record.get("uuid"), "timestamp": record.get("timestamp")}
    if _is_boundary(record):
        return {**head, "role": "system", "content": "compacted"}
    message = record.get("message")
    if record.get("type") not in ("user", "assistant") or not isinstance(message, dict):
        return None
    return {**head, "role": record["type"], "content": message.get("content")}


def _show(screen: Screen, record: Record, *, full: bool) -> None:
    if _is_boundary(record):
        screen.line(f"{screen.signs['rule'] * 10} compacted {screen.signs['rule'] * 10}", "dim")
    for who, text in entry_text(record):
        sign = screen.signs[_SIGNS.get(who, "call")]
        if who == "user":
            screen.line()
            if prompt_text(record):
                screen.line(str(record.get("uuid") or ""), "dim")
        if who in ("user", "assistant"):
            screen.say(text.strip(), "bold" if who == "user" else "", first=f"{sign} ", then="  ")
        elif full or who not in ("result", "thinking"):
            shown = text if who in ("result", "thinking") else f"{who} {text}"
            screen.say(shown.rstrip() if full else screen.clip(shown, 4), first=f"  {sign} ", then="    ")
        elif who == "result":
            _show_result(screen, sign, text)


def _show_result(screen: Screen, sign: str, text: str) -> None:
    lines = text.rstrip("\n").split("\n")
    for line in lines[:_SHORT_LINES]:
        screen.line(f"  {sign} {screen.clip(line, 4)}", "dim")
    if len(lines) > _SHORT_LINES:
        screen.line(f"  {sign} ... {len(lines) - _SHORT_LINES} more lines", "dim")


def _title(path: str) -> str:
    row = summary(path)
    return row.title if row is not None else session_id(path)


def _is_boundary(record: Record) -> bool:
    return record.get("type") == "system" and record.get("subtype") == "compact_boundary"
