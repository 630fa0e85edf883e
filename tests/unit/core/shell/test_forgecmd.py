from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from forge.core.shell.builtin import shell_tools
from forge.core.shell.forgecmd import ACTION
from forge.core.shell.forgecmd_session import ACTION as SESSION
from forge.core.shell.guard.grant import Grant
from forge.core.shell.history.look import Entry, Reader
from forge.core.shell.trash import Trash
from forge.core.tool import ToolError
from unit.core.shell.guard.workshop import granted, guard_of, playing, refused, workshop
from unit.core.tools.context import RecordingContext


def history(ctx: RecordingContext) -> list[Entry]:
    with closing(Reader(guard_of(ctx).setup.history)) as reader:
        return list(reversed(reader.recent()))


@pytest.mark.requirement("S2-01", "S2-41")
def test_the_tool_has_three_parameters() -> None:
    schemas = {t.name: t.schema for t in shell_tools(guarded=True)}
    properties = schemas["forgecmd"]["properties"]
    kinds = {name: schema["type"] for name, schema in properties.items()}
    assert kinds == {"command": "string", "interactive": "boolean", "timeout": "integer"}
    assert schemas["forgecmd"]["required"] == ["command"]
    assert [t.name for t in shell_tools()] == ["Bash", "Monitor"]


@pytest.mark.requirement("S2-43")
def test_both_streams_come_back_together_and_failures_are_errors(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)

    async def play() -> tuple[str, str]:
        good = await granted(ctx, ACTION, command="echo out; echo err >&2")
        return good, await refused(ctx, ACTION, command="echo why; exit 3")

    assert playing(ctx, play) == ("out\nerr", "Exit code 3\nwhy")
    assert [(e.command, e.exit_code, e.status) for e in history(ctx)] == [
        ("echo out; echo err >&2", 0, "success"),
        ("echo why; exit 3", 3, "error"),
    ]


@pytest.mark.requirement("S2-44")
def test_directory_and_variables_are_carried_over_and_secrets_are_not(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)

    async def play() -> list[str]:
        await granted(ctx, ACTION, command="mkdir sub; cd sub; export X=1 Y=2 LD_PRELOAD=/x; unset LANG")
        first = await granted(
            ctx, ACTION, command="basename $PWD; echo $X $Y [$API_TOKEN] [$LD_PRELOAD]; unset Y"
        )
        return [first, await granted(ctx, ACTION, command='echo $X [$Y] [$LANG] $PAGER; [ -n "$HOME" ]')]

    ctx.env["LANG"] = "C"
    assert playing(ctx, play) == ["sub\n1 2 [] []", "1 [] [] cat"]


def test_what_belongs_to_one_sandbox_is_not_carried_over(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)

    async def play() -> list[str]:
        if not await guard_of(ctx).workplace().enforces():
            pytest.skip("no sandbox works here")
        command = "echo ${XDG_CACHE_HOME:+cache} ${TMPDIR##*/forge-*}"
        profiles = ("read", "workspace", "full")
        return [await granted(ctx, ACTION, Grant(command, profile=p), command=command) for p in profiles]

    assert playing(ctx, play) == ["cache", "(no output)", str(tmp_path)]


@pytest.mark.requirement("S2-39")
def test_a_directory_outside_of_the_workspace_is_left_again(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)
    told = playing(ctx, lambda: granted(ctx, ACTION, command="cd /"))
    assert (ctx.cwd, "The working directory was reset" in told) == (ctx.start_dir, True)


@pytest.mark.requirement("S2-44")
def test_calls_use_the_shell_one_after_the_other(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)
    command = "[ -e busy ] && echo beside; touch busy; sleep 0.05; rm busy; echo done"

    async def play() -> list[str]:
        calls = (granted(ctx, ACTION, command=command) for _ in range(3))
        return list(await asyncio.gather(*calls))

    assert playing(ctx, play) == ["done"] * 3


@pytest.mark.requirement("S2-13")
def test_the_loop_goes_on_while_a_command_is_loud(tmp_path: Path) -> None:
    ctx = workshop(tmp_path, recorded=False)
    turns = 0

    async def play() -> None:
        nonlocal turns
        task = asyncio.ensure_future(granted(ctx, ACTION, command="head -c 30000000 /dev/zero | tr '\\0' x"))
        while not task.done():
            turns += 1
            await asyncio.sleep(0)
        await task

    playing(ctx, play)
    assert turns > 20


def test_a_cancelled_command_is_recorded_as_such(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)

    async def play() -> None:
        task = asyncio.ensure_future(granted(ctx, ACTION, command="sleep 9"))
        async with asyncio.timeout(5):
            while not guard_of(ctx)._begun:
                await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    playing(ctx, play)
    assert [e.status for e in history(ctx)] == ["cancelled"]


def test_long_output_is_cut_and_can_be_had_in_parts(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)

    async def play() -> tuple[str, str, str]:
        cut = await granted(ctx, ACTION, Grant("seq", programs=("seq",)), command="seq 1 9999")
        page = await granted(ctx, SESSION, action="output", id=1, offset=5000, limit=2)
        found = await granted(ctx, SESSION, action="output", id=1, pattern="^77.7$", limit=3)
        return cut, page, found

    cut, page, found = playing(ctx, play)
    assert "Whole output: forgecmd_session with action output, id 1." in cut
    assert len(cut) < 31_000
    assert page == "[lines of 10000]\n5000: 5000\n5001: 5001"
    assert found == "[lines of 10000]\n7707: 7707\n7717: 7717\n7727: 7727"


def test_outputs_of_other_sessions_are_not_shown(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)

    async def play() -> str:
        await granted(ctx, ACTION, command="echo mine")
        ctx.session_id = "another"
        return await refused(ctx, SESSION, action="output", id=1)

    assert playing(ctx, play) == "No command of this session has the id 1."


def test_output_that_is_no_text_is_named_and_not_shown(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)
    told = playing(ctx, lambda: granted(ctx, ACTION, command="printf '\\x7fELF\\0\\1\\2\\0'"))
    assert told.startswith("[The output is ")


@pytest.mark.requirement("S2-40")
def test_a_command_that_its_sandbox_stops_is_tried_again_if_the_user_agrees(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)
    asked: list[tuple[str, str]] = []

    async def agree(narrow: str, wide: str) -> bool:
        asked.append((narrow, wide))
        return True

    async def play() -> str:
        if not await guard_of(ctx).workplace().enforces():
            pytest.skip("no sandbox works here")
        guard_of(ctx).wider["call-1"] = agree
        return await granted(ctx, ACTION, Grant("touch x", profile="read"), command="touch x && echo made")

    assert (playing(ctx, play), asked) == ("made", [("read", "workspace")])
    assert [(e.profile, e.status, e.permission_status) for e in history(ctx)] == [
        ("read", "error", "auto_approved"),
        ("workspace", "success", "granted"),
    ]


@pytest.mark.requirement("S2-40")
def test_a_command_that_its_sandbox_stops_says_so(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)

    async def play() -> str:
        if not await guard_of(ctx).workplace().enforces():
            pytest.skip("no sandbox works here")
        with pytest.raises(ToolError) as caught:
            await granted(ctx, ACTION, Grant("touch x", profile="read"), command="touch x")
        return caught.value.message

    assert playing(ctx, play).endswith(
        "[The sandbox profile 'read' may be the reason. No wider one was granted.]"
    )


def test_what_a_dangerous_command_deletes_is_kept_before(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)
    source = Path(ctx.cwd, "src")
    source.mkdir()
    (source / "a").write_text("precious")
    grant = Grant("rm -rf src", "dangerous", 8, precious=(str(source),))
    told = playing(ctx, lambda: granted(ctx, ACTION, grant, command="rm -rf src"))
    trash = Trash(guard_of(ctx).setup.trash)
    (kept,) = trash.entries()
    trash.restore(kept.id)
    assert (source / "a").read_text() == "precious"
    assert f"forgecmd restore {kept.id}" in told


@pytest.mark.requirement("S2-33", "S2-36")
def test_the_history_says_how_a_command_was_judged_and_permitted(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)
    grant = Grant("true", "caution", 6, "ask", ("pushes",), "granted", "session", programs=("true",))
    playing(ctx, lambda: granted(ctx, ACTION, grant, command="true"))
    with closing(sqlite3.connect(guard_of(ctx).setup.history)) as connection:
        row = connection.execute(
            "SELECT permission_status, permission_scope, risk_score, category, decision, reasons, agent,"
            " call_id, env_snapshot FROM forgecmd_history"
        ).fetchone()
        (log,) = connection.execute("SELECT tool_name, call_id, input, status FROM tool_log").fetchall()
    assert row[:8] == ("granted", "session", 6, "caution", "ask", '["pushes"]', "forge", "call-1")
    assert ("PATH" in json.loads(row[8]), "API_TOKEN" in row[8]) == (True, False)
    assert (log[0], log[1], json.loads(log[2])["command"], log[3]) == (
        "forgecmd",
        "call-1",
        "true",
        "success",
    )
