from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from forge.foundation.jsonrpc import Refusal
from forge.hosts.guarded.ground import open_ground
from forge.hosts.guarded.mcp_command import Server, tool_list
from forge.hosts.guarded.mcp_shell import Shell
from forge.hosts.guarded.permission import Choice, Question

Call = Callable[..., Awaitable[tuple[str, bool]]]


def served(root: Path, steps: Callable[[Call], Awaitable[None]], choice: Choice | None = None) -> list[str]:
    """Runs steps against a server; what was asked."""
    asked: list[str] = []

    async def ask(question: Question) -> Choice:
        asked.append(question.command)
        return choice or Choice.NO

    async def main() -> None:
        project = root / "proj"
        (project / "src").mkdir(parents=True)
        env = {"HOME": str(root), "PATH": "/usr/bin:/bin", "FORGE_SESSION_ID": "s"}
        ground = await open_ground(env, str(project))
        server = Server(Shell(ground, str(project)))
        server.shell.ask = ask if choice else None

        async def call(name: str, **given: Any) -> tuple[str, bool]:
            found = await server.answer("tools/call", {"name": name, "arguments": given})
            (block,) = found["content"]
            assert block["type"] == "text"
            return str(block["text"]), bool(found["isError"])

        try:
            await steps(call)
        finally:
            await server.shell.close()
            ground.close()

    asyncio.run(main())
    return asked


@pytest.mark.requirement("S2-43", "S2-44")
def test_commands_run_in_one_shell_that_remembers_directory_and_variables(tmp_path: Path) -> None:
    async def steps(call: Call) -> None:
        first, second = await asyncio.gather(
            call("run", command="export COLOUR=red; cd src"), call("run", command="pwd; echo $COLOUR; exit 3")
        )
        assert first == ("[exit code 0; history id 1; profile read]", False)
        where = tmp_path / "proj/src"
        assert second == (f"{where}\nred\n[exit code 3; history id 2; profile read]", True)
        text, _ = await call("run", command="cd /")
        assert f"The working directory was reset to {where}: / is outside of the workspace." in text

    served(tmp_path, steps)


@pytest.mark.requirement("S2-29", "S2-43")
@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        ("run", {"command": "rm -rf /"}, "deny: forbidden, risk 10. deletes everything in the root"),
        ("run", {"command": "ls; rm -rf src"}, "The part in question: rm -rf src\nSafer: "),
        ("run", {"command": "git push"}, "publishes commits.\nNobody can be asked here."),
        ("run", {"command": "vim x"}, "Programs that want somebody at the keyboard belong in `start`."),
        ("run", {"command": "ls", "cwd": "none"}, "proj/none is no directory."),
        (
            "run",
            {"command": 5},
            "The arguments of run are wrong: Expected `str`, got `int` - at `$.command`.",
        ),
        ("run", {"cmd": "ls"}, "The arguments of run are wrong: Object "),
        ("start", {"command": "sudo vim x"}, "Nobody can be asked here."),
        ("screen", {"id": "t9"}, "No program has the id 't9'; running: none."),
        ("output", {"id": 7}, "The history has no command 7."),
        ("wait", {"id": "t9", "timeout": -1}, "The arguments of wait are wrong: Expected `float` >= 0"),
    ],
)
def test_what_cannot_be_done_is_an_error_with_its_reason(
    tool: str, given: dict[str, Any], said: str, tmp_path: Path
) -> None:
    async def steps(call: Call) -> None:
        text, failed = await call(tool, **given)
        assert (said in text, failed) == (True, True), text

    served(tmp_path, steps)


@pytest.mark.requirement("S2-31")
@pytest.mark.parametrize(
    ("choice", "asked"),
    [(Choice.ONCE, ["rm a", "rm b"]), (Choice.SESSION, ["rm a"]), (Choice.NO, ["rm a", "rm b"])],
)
def test_questions_go_to_the_user_of_the_client(choice: Choice, asked: list[str], tmp_path: Path) -> None:
    async def steps(call: Call) -> None:
        for name in "ab":
            (tmp_path / "proj" / name).touch()
            _, failed = await call("run", command=f"rm {name}")
            assert ((tmp_path / "proj" / name).exists(), failed) == (choice is Choice.NO, choice is Choice.NO)

    assert served(tmp_path, steps, choice) == asked


@pytest.mark.requirement("S2-02", "S2-14")
def test_lines_for_a_shell_are_judged_whatever_its_prompt(tmp_path: Path) -> None:
    async def steps(call: Call) -> None:
        text, failed = await call("start", command="bash --norc", rows=10, columns=60)
        assert (text.startswith("session t1\n"), failed) == (True, False)
        text, _ = await call("send", id="t1", keys="echo $((6*7)); cd /etc; PS1=<Enter>")
        assert "\n42\n" in text
        text, failed = await call("send", id="t1", keys="rm -rf ~<Enter>")
        assert ("deny: forbidden" in text, failed) == (True, True)
        # The directory it went to counts, and so does what was typed before.
        text, failed = await call("send", id="t1", keys="rm pass")
        assert not failed
        text, failed = await call("send", id="t1", keys="wd<Enter>")
        assert ("a file the system depends on" in text, failed) == (True, True)
        text, failed = await call("send", id="t1", keys="<Up><Enter>")
        assert ("without keys that edit" in text, failed) == (True, True)
        assert (await call("stop", id="t1"))[0].startswith("[ended with exit code")
        text, _ = await call("history", limit=2)
        assert "denied" in text

    served(tmp_path, steps)


@pytest.mark.requirement("S2-02")
def test_lines_for_an_interpreter_are_judged(tmp_path: Path) -> None:
    async def steps(call: Call) -> None:
        await call("start", command="python3 -q")
        text, failed = await call("wait", id="t1", until="^>>> ", timeout=20)
        assert not failed
        text, failed = await call(
            "send", id="t1", keys="for i in range(2):<Enter>  print(i + 40)<Enter><Enter>"
        )
        text, failed = await call("wait", id="t1", until="41", timeout=20)
        assert ("40\n41" in text, failed) == (True, False)
        text, failed = await call("send", id="t1", keys="import shutil; shutil.rmtree('/')<Enter>")
        assert ("deny: forbidden" in text, failed) == (True, True)
        text, failed = await call("wait", id="t1", until="(", timeout=1)
        assert ("is not a regular expression" in text, failed) == (True, True)
        text, failed = await call("send", id="t1", keys="exit()<Enter>")
        text, failed = await call("wait", id="t1", until="exit", timeout=20)
        assert ("[ended with exit code 0]" in text, failed) == (True, False)

    served(tmp_path, steps)


def test_commands_of_an_editor_are_judged_and_its_text_is_not(tmp_path: Path) -> None:
    async def steps(call: Call) -> None:
        text, failed = await call("start", command="vim -u NONE notes.txt")
        if "vim: command not found" in text:
            pytest.skip("there is no vim here")
        text, failed = await call("send", id="t1", keys=":!rm -rf src<Enter>")
        assert ("deny: dangerous" in text, failed) == (True, True)
        text, failed = await call("send", id="t1", keys="irm -rf src<Enter>is bad<Esc>:wq<Enter>")
        assert not failed
        await call("wait", id="t1", until="exit", timeout=20)
        assert (tmp_path / "proj/notes.txt").read_text() == "rm -rf src\nis bad\n"
        assert (tmp_path / "proj/src").is_dir()

    served(tmp_path, steps)


def test_lines_that_are_sent_together_are_judged_together(tmp_path: Path) -> None:
    async def steps(call: Call) -> None:
        await call("start", command="bash --norc")
        keys = "cat > doc.txt <<'E'<Enter>rm -rf /<Enter>E<Enter>"
        text, failed = await call("send", id="t1", keys=keys)
        assert not failed, text
        text, failed = await call("send", id="t1", keys="sh <<'E'<Enter>rm -rf /<Enter>E<Enter>")
        assert ("deny: forbidden" in text, failed) == (True, True)
        await call("wait", id="t1", until="settled", timeout=20)
        assert (tmp_path / "proj/doc.txt").read_text() == "rm -rf /\n"

    served(tmp_path, steps)


def test_rules_that_change_count_at_once(tmp_path: Path) -> None:
    async def steps(call: Call) -> None:
        assert (await call("run", command="echo a"))[1] is False
        (tmp_path / ".forge/settings.json").write_text('{"permissions": {"deny": ["Bash(echo:*)"]}}')
        text, failed = await call("run", command="echo a")
        assert ("a deny rule says so: echo:*" in text, failed) == (True, True)
        (tmp_path / ".forge/settings.json").write_text("{")
        text, failed = await call("run", command="echo a")
        assert ("settings.json:1:2: not valid JSON" in text, failed) == (True, True)

    served(tmp_path, steps)


def test_what_one_command_downloads_the_next_may_not_run(tmp_path: Path) -> None:
    async def steps(call: Call) -> None:
        await call("run", command="curl -so x.sh http://127.0.0.1:9/x.sh")
        text, failed = await call("run", command="sh x.sh")
        assert ("runs code from the network without review" in text, failed) == (True, True)

    served(tmp_path, steps)


def test_stored_output_is_paged_and_searched(tmp_path: Path) -> None:
    async def steps(call: Call) -> None:
        text, _ = await call("run", command="seq 20000")
        assert "output with id 1" in text
        assert await call("output", id=1, regex="^1999[89]$") == (
            "19998\t19998\n19999\t19999\n[2 of 20001 lines]",
            False,
        )
        assert (await call("output", id=1, offset=3, limit=1))[0] == "3\t3\n[1 of 20001 lines]"
        assert (await call("history", query="seq"))[0].splitlines()[1] == "1\tsuccess\t0\tseq 20000"
        assert (await call("history", query="nothing like it"))[0] == "Nothing found."

    served(tmp_path, steps)


def test_the_protocol_is_spoken(tmp_path: Path) -> None:
    async def main() -> None:
        ground = await open_ground({"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}, str(tmp_path))
        server = Server(Shell(ground, str(tmp_path)))
        told = await server.answer(
            "initialize", {"protocolVersion": "2025-06-18", "clientInfo": {"name": "x"}}
        )
        assert (told["protocolVersion"], told["serverInfo"]["name"]) == ("2025-06-18", "forgecmd")
        assert (server.shell.ask, ground.agent) == (None, "x")
        await server.answer("initialize", {"capabilities": {"elicitation": {}}})
        assert server.shell.ask is not None
        assert await server.answer("ping", None) == {}
        assert (await server.answer("tools/list", {}))["tools"] == tool_list()
        for method, params in (("server/discover", {}), ("tools/call", {"name": "nope"})):
            with pytest.raises(Refusal):
                await server.answer(method, params)
        ground.close()

    asyncio.run(main())


def test_every_tool_says_what_it_is_for() -> None:
    for tool in tool_list():
        assert (len(tool["description"]) > 40, tool["inputSchema"]["additionalProperties"]) == (True, False)
