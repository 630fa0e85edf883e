from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from forge.core.message import Image, Source
from forge.core.shell.bash import ACTION, timeout_ms
from forge.core.tools import read
from unit.core.tools.context import RecordingContext, call, calling, failure

NOTHING = "(Bash completed with no output)"


def record(
    stdout: str, stderr: str = "", meaning: str = "", silent: bool = False, **more: Any
) -> dict[str, Any]:
    means = {"returnCodeInterpretation": meaning} if meaning else {}
    return {
        "stdout": stdout,
        "stderr": stderr,
        "interrupted": False,
        "isImage": False,
        **means,
        "noOutputExpected": silent,
        **more,
    }


@pytest.fixture
def ctx(tmp_path: Path) -> RecordingContext:
    (tmp_path / "a.txt").write_text("hello\nworld\n")
    (tmp_path / "sub").mkdir()
    return RecordingContext(tmp_path)


@pytest.mark.requirement("S2-12")
@pytest.mark.parametrize(
    ("command", "text", "data"),
    [
        ("echo hi", "hi", record("hi")),
        ("echo out; echo err >&2; echo out2", "out\nerr\nout2", record("out\nerr\nout2")),
        ("true", NOTHING, record("")),
        ("   ", NOTHING, record("")),
        ("mkdir x; touch x/y; mv x z", NOTHING, record("", silent=True)),
        ("printf '\\n\\n  a  \\n\\n'", "  a", record("  a")),
        ("printf '\\033[31mred'", "\033[31mred", record("\033[31mred")),
        ("printf 'x\\xffy\\0z'", "x\ufffdy\0z", record("x\ufffdy\0z")),
        ("grep zzz a.txt", NOTHING, record("", meaning="No matches found")),
        (
            "diff a.txt /dev/null",
            "1,2d0\n< hello\n< world",
            record("1,2d0\n< hello\n< world", meaning="Files differ"),
        ),
        ("test -f nope", NOTHING, record("", meaning="Condition is false")),
        ("export FOO=1", NOTHING, record("", silent=True)),
    ],
)
def test_success_is_text_for_the_model_and_a_record_for_hosts(
    ctx: RecordingContext, command: str, text: str, data: dict[str, Any]
) -> None:
    output = call(ACTION, ctx, command=command)
    assert (output.content, output.data, output.is_error) == (text, data, False)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("exit 3", "Exit code 3"),
        ("echo x; exit 3", "Exit code 3\nx"),
        ("printf '\\n\\n x \\n'; false", "Exit code 1\n\n\n x"),
        ("grep zzz nofile", "Exit code 2\ngrep: nofile: No such file or directory"),
        ("nosuchprogram", "Exit code 127\n/bin/bash: line 1: nosuchprogram: command not found"),
        ("grep zzz a.txt; false", "Exit code 1"),
        ("kill -9 $$", "Exit code 137"),
        ("set -e; false; echo no", "Exit code 1"),
    ],
)
def test_failure_names_the_exit_code_first(ctx: RecordingContext, command: str, text: str) -> None:
    assert failure(ACTION, ctx, command=command) == ("failed", text)


def test_the_directory_is_kept_between_commands(ctx: RecordingContext, tmp_path: Path) -> None:
    call(ACTION, ctx, command="cd sub")
    assert call(ACTION, ctx, command="pwd").content == str(tmp_path / "sub")
    failure(ACTION, ctx, command="cd ..; false")
    assert ctx.cwd == str(tmp_path / "sub")


@pytest.mark.parametrize("command", ["cd /", "cd /tmp; echo there"])
def test_leaving_the_working_directories_leads_back(
    ctx: RecordingContext, tmp_path: Path, command: str
) -> None:
    ctx.cwd = str(tmp_path / "sub")
    output = call(ACTION, ctx, command=command)
    said = "there\n" if "there" in command else ""
    assert output.content == f"{said}Shell cwd was reset to {tmp_path}"
    assert output.data["stderr"] == f"\nShell cwd was reset to {tmp_path}"
    assert ctx.cwd == str(tmp_path)


def test_other_working_directories_may_be_entered(ctx: RecordingContext, tmp_path: Path) -> None:
    other = tmp_path.parent / f"{tmp_path.name}-other"
    (other / "deep").mkdir(parents=True)
    ctx.directories = [str(tmp_path), str(other)]
    assert call(ACTION, ctx, command=f"cd {other}/deep").content == NOTHING
    assert ctx.cwd == str(other / "deep")


def test_a_directory_reached_through_a_link_keeps_its_name(ctx: RecordingContext, tmp_path: Path) -> None:
    link = tmp_path.parent / f"{tmp_path.name}-link"
    link.symlink_to(tmp_path)
    linked = RecordingContext(link)
    assert call(ACTION, linked, command="pwd").content == str(link)
    call(ACTION, linked, command="cd sub")
    assert linked.cwd == str(tmp_path / "sub")


def test_a_vanished_directory_leads_back_to_the_start(ctx: RecordingContext, tmp_path: Path) -> None:
    ctx.cwd = str(tmp_path / "gone")
    assert call(ACTION, ctx, command="pwd").content == f"{tmp_path}\nShell cwd was reset to {tmp_path}"
    assert ctx.cwd == str(tmp_path)


def test_the_project_directory_can_be_made_the_only_one(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    ctx = RecordingContext(tmp_path, {"CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR": "1"})
    assert call(ACTION, ctx, command="cd sub").content == f"Shell cwd was reset to {tmp_path}"
    assert call(ACTION, ctx, command="pwd").content == str(tmp_path)


def test_output_that_is_too_large_is_saved_and_previewed(ctx: RecordingContext) -> None:
    output = call(ACTION, ctx, command="seq 1 7000")
    path = output.data["persistedOutputPath"]
    whole = "".join(f"{n}\n" for n in range(1, 7001))
    preview = "\n".join(str(n) for n in range(1, 528))
    assert output.content == (
        f"<persisted-output>\nOutput too large (33.1KB). Full output saved to: {path}\n\n"
        f"Preview (first 2KB):\n{preview}\n...\n</persisted-output>"
    )
    assert output.data == record(whole[:30_000], persistedOutputPath=path, persistedOutputSize=len(whole))
    assert (os.path.dirname(path), Path(path).read_text()) == (ctx.results_dir, whole)


def test_huge_output_is_saved_while_it_comes(ctx: RecordingContext) -> None:
    output = call(ACTION, ctx, command="head -c 5000000 /dev/zero | tr '\\0' y; cd /")
    assert str(output.content).startswith(
        "<persisted-output>\nOutput too large (4.8MB). Full output saved to: "
    )
    assert str(output.content).endswith(f"</persisted-output>\nShell cwd was reset to {ctx.start_dir}")
    assert Path(output.data["persistedOutputPath"]).stat().st_size == 5_000_000


@pytest.mark.parametrize("count", [7000, 500_000])
def test_large_output_that_cannot_be_saved_is_shown_from_both_ends(ctx: RecordingContext, count: int) -> None:
    ctx.results_dir = "/proc/nowhere"
    text = str(call(ACTION, ctx, command=f"seq 1 {count}").content)
    assert text.startswith("1\n2\n") and " characters truncated] ..." in text
    assert text.endswith(
        f"\n{count}\n(The output is too large to be shown, and the rest of it could not be saved.)"
    )


@pytest.mark.parametrize("name", ["BASH_MAX_OUTPUT_LENGTH", "FORGE_BASH_MAX_OUTPUT_LENGTH"])
def test_the_output_limit_comes_from_the_environment(tmp_path: Path, name: str) -> None:
    ctx = RecordingContext(tmp_path, {name: "10"})
    assert call(ACTION, ctx, command="echo 12345678901").data["persistedOutputSize"] == 12


def test_the_output_limit_comes_from_the_settings(ctx: RecordingContext) -> None:
    ctx.settings["bashOutputMaxChars"] = 100_000
    assert call(ACTION, ctx, command="seq 1 7000").data["stdout"].endswith("\n7000")


@pytest.mark.parametrize(
    ("size", "cut"), [(11_000, 0), (11_500, 1512), (20_000, 10_012), (3_000_000, 2_990_000)]
)
def test_long_output_of_a_failure_is_shown_from_both_ends(ctx: RecordingContext, size: int, cut: int) -> None:
    command = f"printf start; head -c {size - 8} /dev/zero | tr '\\0' x; printf end; exit 3"
    text = failure(ACTION, ctx, command=command)[1]
    assert (text[:17], text[-3:]) == ("Exit code 3\nstart", "end")
    assert (len(text) == size + 12) if not cut else (f"\n\n... [{cut} characters truncated] ...\n\n" in text)
    assert len(text) <= 11_100


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("sleep 30", "standalone sleep 30"),
        ("  sleep 25.5 ;", "standalone sleep 25.5"),
        ("sleep 30 # wait", "standalone sleep 30"),
        ("sleep 30 > /dev/null", "standalone sleep 30"),
        ("sleep 25; echo", "sleep 25 followed by: echo"),
        ("sleep 30 && echo a && echo b", "sleep 30 followed by: echo a echo b"),
        ('sleep 30\necho "a b" > /dev/null', 'sleep 30 followed by: echo "a b"'),
        ("sleep 30 & echo hi", "sleep 30 followed by: echo hi"),
    ],
)
def test_long_waiting_is_refused(ctx: RecordingContext, command: str, what: str) -> None:
    assert failure(ACTION, ctx, command=command) == (
        "refused",
        f"Blocked: {what}. To wait for a condition, use Monitor with an until-loop (e.g. `until <check>; "
        "do sleep 2; done`). To wait for a command you started, use run_in_background: true. Do not chain "
        "shorter sleeps to work around this block.",
    )


@pytest.mark.parametrize("command", ["sleep 0.01", "sleep 0.01s; echo", "true; sleep 0.01", "(sleep 0.01)"])
def test_short_waiting_is_fine(ctx: RecordingContext, command: str) -> None:
    assert call(ACTION, ctx, command=command).content == NOTHING


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("sleep 5", "Exit code 143\nCommand timed out after 0s"),
        ("sleep 0; echo partial; sleep 5", "Exit code 143\nCommand timed out after 0s\npartial"),
    ],
)
def test_a_command_that_takes_too_long_is_stopped(ctx: RecordingContext, command: str, text: str) -> None:
    assert failure(ACTION, ctx, command=command, timeout=200) == ("failed", text)


@pytest.mark.parametrize(
    ("env", "wanted", "expected"),
    [
        ({}, None, 120_000),
        ({}, 5000, 5000),
        ({}, 0, 120_000),
        ({}, -1, 120_000),
        ({}, 700_000, 600_000),
        ({"BASH_DEFAULT_TIMEOUT_MS": "3000"}, None, 3000),
        ({"BASH_MAX_TIMEOUT_MS": "130000"}, 700_000, 130_000),
        ({"BASH_DEFAULT_TIMEOUT_MS": "900000"}, 800_000, 800_000),
        ({"BASH_DEFAULT_TIMEOUT_MS": "soon"}, None, 120_000),
        ({"FORGE_BASH_DEFAULT_TIMEOUT_MS": "7000", "BASH_DEFAULT_TIMEOUT_MS": "3000"}, None, 7000),
    ],
)
def test_the_timeout_stays_within_the_limits(
    tmp_path: Path, env: dict[str, str], wanted: float | None, expected: float
) -> None:
    assert timeout_ms(wanted, RecordingContext(tmp_path, env)) == expected


def test_an_interrupted_call_ends_the_command(ctx: RecordingContext, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "ready")

    async def scenario() -> int:
        task = asyncio.ensure_future(calling(ACTION, ctx, command="echo $$ > ready; exec sleep 30"))
        pid = int(await asyncio.to_thread((tmp_path / "ready").read_text))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return pid

    with pytest.raises(ProcessLookupError):
        os.kill(asyncio.run(scenario()), 0)


def test_changing_files_with_sed_is_pointed_out(ctx: RecordingContext, tmp_path: Path) -> None:
    call(read.ACTION, ctx, file_path="a.txt")
    output = call(ACTION, ctx, command="sed -i s/hello/bye/ a.txt; echo done")
    hint = "[This command modified 1 file you've previously read: a.txt. Call Read before editing.]"
    assert output.content == f"done\n{hint}"
    assert output.data == record("done", staleReadFileStateHint=hint)
    assert "staleReadFileStateHint" not in call(ACTION, ctx, command="sed -i s/zzz/q/ sub/nope || true").data


def test_a_wish_to_leave_the_sandbox_is_recorded(ctx: RecordingContext) -> None:
    output = call(ACTION, ctx, command="echo ok", dangerouslyDisableSandbox=True, description="d")
    assert output.data == record("ok", dangerouslyDisableSandbox=True)


def test_a_command_that_cannot_start_is_explained(tmp_path: Path) -> None:
    ctx = RecordingContext(tmp_path, {"CLAUDE_CODE_SHELL": "/bin/bash\0"})
    kind, text = failure(ACTION, ctx, command="echo")
    assert (kind, text.partition(": ")[2]) == ("failed", "embedded null byte")


@pytest.mark.parametrize("hidden", ["\0", "\r", "\x1b[31m", "\x7f", "\x85"])
def test_characters_nobody_would_see_are_refused(tmp_path: Path, hidden: str) -> None:
    kind, text = failure(ACTION, RecordingContext(tmp_path), command=f"echo a{hidden}b")
    words = "command contains control characters that would be hidden in the approval dialog"
    entry = (
        f'{{\n    "code": "custom",\n    "path": [\n      "command"\n    ],\n    "message": "{words}"\n  }}'
    )
    assert (kind, text) == ("refused", f"InputValidationError: [\n  {entry}\n]")


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def test_a_printed_image_is_an_image(ctx: RecordingContext) -> None:
    output = call(ACTION, ctx, command=f"echo 'data:image/png;base64,{PIXEL}'")
    assert output.content == [Image(Source("base64", "image/png", PIXEL))]
    assert (output.data["isImage"], output.data["stdout"]) == (True, f"data:image/png;base64,{PIXEL}")


@pytest.mark.parametrize("text", ["data:image/png;base64,aGVsbG8=", "x data:image/png;base64,", "data:image"])
def test_what_only_looks_like_an_image_is_text(ctx: RecordingContext, text: str) -> None:
    output = call(ACTION, ctx, command=f"echo '{text}'")
    assert (output.content, output.data["isImage"]) == (text, False)
