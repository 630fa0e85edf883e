"""The process: what it prints, its last words, and that nothing of it survives an abort."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from fake_claude import FakeClaude, text
from forge.core.message import Text
from forge.core.models.claude_cli.control import user_line
from forge.core.models.claude_cli.process import Cli, Launch, Stalled, start
from forge.foundation.errors import ModelError

# Whoever does not hear is not waited for long; whoever does may be slow.
DEAF, HEARING = 0.2, 10.0


def launch(cli: FakeClaude, grace: float = HEARING, **env: str) -> Launch:
    return Launch([str(cli.path)], str(cli.folder), {"PATH": os.environ["PATH"], **env}, grace=grace)


def runs(pid: int) -> bool:
    """Whether a process does anything; one that has ended may wait for its parent to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


async def until(cli: Cli, word: bytes) -> bytes:
    """Reads until a word was printed."""
    seen = b""
    while word not in seen:
        piece = await cli.read(5)
        assert piece, (seen, cli.last_words)
        seen += piece
    return seen


@pytest.mark.requirement("S4-06")
@pytest.mark.parametrize("phase", ["at once", "before init", "streaming", "tool"])
@pytest.mark.parametrize(
    ("deaf", "codes"),
    [([], [0]), (["SIGINT"], [-15, -9]), (["SIGINT", "SIGTERM"], [-9])],
    ids=["hears", "deaf", "stone"],
)
def test_an_abort_leaves_no_process_in_any_phase(
    phase: str, deaf: list[str], codes: list[int], tmp_path: Path
) -> None:
    line = {"type": "assistant", "message": {"content": [text("a")]}}
    turns: dict[str, list[dict[str, Any]]] = {"streaming": [line], "tool": [{"$": "child"}, line]}
    fake = FakeClaude(tmp_path, [*turns.get(phase, []), {"$": "hang"}], deaf=deaf)

    async def run() -> Cli:
        cli = await start(launch(fake, DEAF if deaf or phase == "at once" else HEARING))
        if phase != "at once":
            cli.send(user_line([Text("go")]))
            await until(cli, b"hanging")
        await cli.abort()
        return cli

    cli = asyncio.run(run())
    family = [cli.pid, *fake.noted("child")]
    assert len(family) == 1 + (phase == "tool")
    assert not [pid for pid in family if runs(pid)]
    assert phase == "at once" or cli.code in codes


def test_an_abort_that_is_cancelled_is_finished_all_the_same(tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path, [{"$": "hang"}], deaf=["SIGINT", "SIGTERM"])

    async def run() -> int:
        cli = await start(launch(fake, DEAF))
        cli.send(user_line([Text("go")]))
        await until(cli, b"hanging")
        ending = asyncio.ensure_future(cli.abort())
        await asyncio.sleep(0)
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        return cli.pid

    assert not runs(asyncio.run(run()))


def test_what_it_has_started_ends_with_it_even_when_it_is_killed(tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path, [{"$": "child"}, {"$": "hang"}])

    async def run() -> None:
        cli = await start(Launch([str(fake.path)], str(tmp_path), dict(os.environ), mark="mine"))
        cli.send(user_line([Text("go")]))
        await until(cli, b"hanging")
        os.kill(cli.pid, signal.SIGKILL)
        while await cli.read(5):
            pass
        assert await cli.ended() == -signal.SIGKILL

    asyncio.run(run())
    assert [runs(pid) for pid in fake.noted("child")] == [False]


@pytest.mark.requirement("S4-08")
def test_last_words_are_the_end_of_standard_error_without_secrets(tmp_path: Path) -> None:
    words = "x" * 9000 + " refused: my-secret-value and sk-ant-api03-" + "a" * 40
    fake = FakeClaude(tmp_path, [{"$": "say", "text": words}, {"$": "exit", "code": 7}])

    async def run() -> tuple[int, str]:
        cli = await start(launch(fake, ANTHROPIC_API_KEY="my-secret-value"))
        cli.send(user_line([Text("go")]))
        while await cli.read(5):
            pass
        return await cli.ended(), cli.last_words

    code, said = asyncio.run(run())
    assert (code, said.startswith("xxx"), len(said) <= 8192) == (7, True, True)
    assert "refused" in said
    assert not [secret for secret in ("my-secret-value", "a" * 40) if secret in said]


def test_a_cli_without_work_ends_by_itself(tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path)

    async def run() -> int | None:
        cli = await start(launch(fake))
        await cli.finish()
        return cli.code

    assert (asyncio.run(run()), fake.noted("end"), fake.noted("signal")) == (0, ["stdin"], [])


def test_silence_is_noticed(tmp_path: Path) -> None:
    async def run() -> None:
        cli = await start(launch(FakeClaude(tmp_path), DEAF))
        try:
            with pytest.raises(Stalled):
                await cli.read(0.01)
        finally:
            await cli.abort()

    asyncio.run(run())


@pytest.mark.requirement("S4-11")
@pytest.mark.parametrize(
    ("name", "why"), [("missing", "No such file or directory"), ("dir", "Permission denied")]
)
def test_a_program_that_cannot_be_started_is_named(name: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "dir").mkdir()
    path = str(tmp_path / name)

    async def run() -> None:
        await start(Launch([path], str(tmp_path), {}))

    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(ModelError) as raised:
        asyncio.run(run())
    assert raised.value.message == f"{path} cannot be started: {why}"
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_is_started_is_shown_without_its_environment() -> None:
    assert "secret" not in repr(Launch(["claude"], "/w", {"KEY": "secret"}))
