"""What a prompt mentions is told, kept and told again."""

from __future__ import annotations

import asyncio
import base64
from pathlib import Path

from doubles import RecordingHost, ScriptedModel, session
from forge.agent.loop import run_turn
from forge.agent.resume import load
from forge.agent.session import Prompt
from forge.core.message import Image, Source, Text
from forge.core.reminder import reminder
from forge.core.tools.builtin import builtin_tools
from forge.foundation.history.transcript import read_records

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgAAACAAAB4iG8MwAAAABJRU5ErkJggg=="


def test_a_mentioned_image_is_shown_and_kept_as_the_reference_keeps_it(tmp_path: Path) -> None:
    image = tmp_path / "i.png"
    image.write_bytes(base64.b64decode(PIXEL))
    path = str(tmp_path / "s.jsonl")
    reading = [tool for tool in builtin_tools() if tool.name == "Read"]
    model = ScriptedModel([[Text("seen")]])
    s = session(model, RecordingHost(), reading, cwd=str(tmp_path), transcript=path)
    asyncio.run(run_turn(s, Prompt("see @i.png", "p1")))
    call = f'Called the Read tool with the following input: {{"file_path":"{image}"}}'
    shown = [Text(reminder(call)), Image(Source("base64", "image/png", PIXEL)), Text("see @i.png")]
    assert s.messages[0].blocks == shown
    past = load(path)
    assert past is not None
    assert past.messages == s.messages
    (kept,) = [r["attachment"] for r in read_records(path) if r["type"] == "attachment"]
    assert (kept["type"], kept["filename"], kept["displayPath"]) == ("file", str(image), "i.png")
    assert (kept["content"]["type"], kept["content"]["file"]["type"]) == ("image", "image/png")
