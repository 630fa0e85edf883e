"""Bash on the guarded shell: the same tool, in a sandbox and with shorter output."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from forge.core.shell.bash import ACTION
from forge.core.shell.guard.grant import Grant
from forge.core.shell.guard.setup import Source
from forge.core.shell.history.look import Reader
from forge.core.tool import ToolError
from unit.core.shell.guard.workshop import granted, guard_of, playing, refused, workshop
from unit.core.tools.context import RecordingContext


def in_profile(ctx: RecordingContext, profile: str, command: str, **more: Any) -> str:
    async def play() -> str:
        if not await guard_of(ctx).workplace().enforces():
            pytest.skip("no sandbox works here")
        grant = Grant(command, "safe_write", 4, profile=profile)
        try:
            return await granted(ctx, ACTION, grant, command=command, **more)
        except ToolError as error:
            return error.message

    return playing(ctx, play)


@pytest.mark.requirement("S2-40", "S2-01")
@pytest.mark.parametrize("mode", ["guard", "full"])
def test_bash_writes_only_where_its_profile_lets_it(tmp_path: Path, mode: str) -> None:
    ctx = workshop(tmp_path, mode)
    command = "echo a > inside && echo b > $HOME/outside"
    told = in_profile(ctx, "workspace", command)
    assert (Path(ctx.cwd, "inside").read_text(), (tmp_path / "home/outside").exists()) == ("a\n", False)
    assert (told.splitlines()[0], "Read-only" in told or "denied" in told) == ("Exit code 1", True)


def test_only_full_mode_filters_the_environment(tmp_path: Path) -> None:
    found = {}
    for mode in ("guard", "full"):
        ctx = workshop(tmp_path / mode, mode)
        found[mode] = in_profile(ctx, "workspace", "echo [$API_TOKEN] $CLAUDECODE")
    assert found == {"guard": "[very-secret-token] 1", "full": "[] 1"}


def test_the_directory_of_a_confined_command_is_followed(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)
    in_profile(ctx, "workspace", "mkdir sub && cd sub")
    assert ctx.cwd == f"{ctx.start_dir}/sub"


def test_a_command_in_the_background_is_confined_and_recorded_too(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)

    async def play() -> str:
        if not await guard_of(ctx).workplace().enforces():
            pytest.skip("no sandbox works here")
        command = "echo x > $HOME/outside; echo over"
        grant = Grant(command, "safe_write", 4, profile="workspace")
        await granted(ctx, ACTION, grant, command=command, run_in_background=True)
        end = await ctx.begun[0].run()
        return end.status

    assert playing(ctx, play) == "completed"
    assert not (tmp_path / "home/outside").exists()
    with closing(Reader(guard_of(ctx).setup.history)) as reader:
        (entry,) = reader.recent()
    assert (entry.status, entry.profile, entry.stdout_bytes > 4) == ("success", "workspace", True)


def test_full_mode_shortens_output_and_says_where_the_rest_is(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)
    told = in_profile(ctx, "read", "for i in $(seq 1 9000); do echo same; done; seq 1 9000; exit 1")
    assert "[the line above 8999 more times]" in told
    assert "id 1." in told


def test_a_sandbox_that_cannot_be_had_stops_the_command(tmp_path: Path) -> None:
    ctx = workshop(tmp_path)
    place = guard_of(ctx).workplace()

    async def play() -> str:
        facts: Any = await place.facts()
        place._facts = type(facts)(missing=(("Landlock", "too old"),))
        guard_of(ctx).grants["call-1"] = Grant("touch made", profile="workspace")
        ctx.call_id = "call-1"
        with pytest.raises(ToolError) as caught:
            await ACTION.run(ACTION.args("touch made"), ctx)
        return caught.value.message

    assert playing(ctx, play).endswith("(Landlock: too old). Nothing was run.")
    assert not Path(ctx.cwd, "made").exists()


@pytest.mark.requirement("S2-46")
def test_without_history_nothing_is_written(tmp_path: Path) -> None:
    ctx = workshop(tmp_path, "guard", recorded=False)
    playing(ctx, lambda: granted(ctx, ACTION, command="true"))
    assert not (tmp_path / "state").exists()


@pytest.mark.requirement("S2-36")
def test_guard_mode_records_what_it_runs_as_it_is(tmp_path: Path) -> None:
    ctx = workshop(tmp_path, "guard")

    async def play() -> str:
        await granted(ctx, ACTION, command="echo one")
        return await refused(ctx, ACTION, command="echo two; exit 2")

    assert playing(ctx, play) == "Exit code 2\ntwo"
    with closing(Reader(guard_of(ctx).setup.history)) as reader:
        rows = [(e.command, e.exit_code, e.status, e.profile) for e in reversed(reader.recent())]
    assert rows == [("echo one", 0, "success", ""), ("echo two; exit 2", 2, "error", "")]


@pytest.mark.requirement("S2-05")
@pytest.mark.parametrize(
    ("trusted", "seen"), [(True, "very-secret-token tool"), (False, "(Bash completed with no output)")]
)
def test_only_trusted_settings_let_variables_and_directories_of_the_workspace_through(
    tmp_path: Path, trusted: bool, seen: str
) -> None:
    ctx = workshop(tmp_path)
    own = {"environment": ["API_TOKEN"], "path": ["bin"], "workspace": {"extraWrite": ["/data"]}}
    guard = guard_of(ctx)
    guard.setup = msgspec.structs.replace(guard.setup, sources=(Source("settings.json", own, trusted),))
    binary = Path(ctx.start_dir, "bin/tool")
    binary.parent.mkdir()
    binary.write_text("#!/bin/sh\necho tool\n")
    binary.chmod(0o755)
    ctx.env["PATH"] = f"{binary.parent}:{ctx.env['PATH']}"
    command = "echo $API_TOKEN $(tool 2>/dev/null)"
    told = playing(ctx, lambda: granted(ctx, ACTION, Grant(command, profile="full"), command=command))
    assert told == seen
