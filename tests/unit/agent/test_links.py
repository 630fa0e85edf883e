from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from doubles import RecordingHost, ScriptedModel, call, session
from forge.agent.event import Denied, ToolFinished
from forge.agent.loop import run_turn
from forge.agent.session import Prompt
from forge.core.message import Text
from forge.core.tools.builtin import builtin_tools

TOOLS = [tool for tool in builtin_tools() if tool.name in ("Read", "Write")]


@pytest.mark.parametrize(
    ("name", "given", "words", "why"),
    [
        (
            "Write",
            {"file_path": "link", "content": "x"},
            "Refusing to write {0}/link: it is a symbolic link. Write to the link's target path instead: "
            "{0}/gone.",
            "Write target is a symbolic link",
        ),
        (
            "Read",
            {"file_path": "loop"},
            "Refusing to read {0}/loop: where it leads on disk could not be determined (a link on the way "
            "could not be examined, or the links do not resolve).",
            "Where {0}/loop leads on disk could not be determined (a link or directory on the way could not "
            "be examined, or the links do not resolve)",
        ),
    ],
)
def test_a_link_is_refused_in_every_mode_and_counts_as_a_denial(
    tmp_path: Path, name: str, given: dict[str, str], words: str, why: str
) -> None:
    (tmp_path / "link").symlink_to("gone")
    (tmp_path / "loop").symlink_to("loop")
    host = RecordingHost()
    s = session(ScriptedModel([[call(name, **given)], [Text("end")]]), host, TOOLS, cwd=str(tmp_path))
    s.situation = s.situation.changed(mode="bypassPermissions")
    ended = asyncio.run(run_turn(s, Prompt("go", "p")))
    (denied,), (finished,) = host.of(Denied), host.of(ToolFinished)
    assert (denied.message, denied.reason_type, denied.reason) == (
        words.format(tmp_path),
        "other",
        why.format(tmp_path),
    )
    assert (finished.result.content, finished.result.is_error) == (words.format(tmp_path), True)
    assert [d.tool_input["file_path"] for d in ended.denials] == [str(tmp_path / given["file_path"])]
