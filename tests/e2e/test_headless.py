from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fakemodel import Server, serve
from forge_run import STREAM, environment, forge

HELLO: list[Any] = [[{"text": "Hello there"}]]


def bash(command: str, **more: Any) -> dict[str, Any]:
    return {"tool": "Bash", "input": {"command": command, **more}}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
def hello() -> Iterator[Server]:
    with serve(HELLO) as server:
        yield server


def test_text_output_is_the_answer_and_nothing_else(home: Path, project: Path, hello: Server) -> None:
    run = forge("-p", "hi", cwd=project, env=environment(home, hello.url))
    assert (run.code, run.out, run.err) == (0, "Hello there\n", "")


def test_json_output_is_one_result(home: Path, project: Path, hello: Server) -> None:
    run = forge("-p", "hi", "--output-format", "json", cwd=project, env=environment(home, hello.url))
    (result,) = run.records
    assert (result["type"], result["result"], result["num_turns"]) == ("result", "Hello there", 1)


def test_verbose_json_output_is_an_array_of_all_events(home: Path, project: Path, hello: Server) -> None:
    args = ("-p", "hi", "--output-format", "json", "--verbose")
    run = forge(*args, cwd=project, env=environment(home, hello.url))
    assert [r["type"] for r in json.loads(run.out)] == ["system", "assistant", "result"]


@pytest.mark.parametrize(
    ("argument", "stdin", "prompt"),
    [
        (["hi"], None, "hi"),
        (["two", "words"], None, "two words"),
        ([], "from a pipe\n", "from a pipe\n"),
        (["explain"], "some text", "explain\nsome text"),
        (["hi"], "", "hi"),
    ],
)
def test_a_prompt_comes_from_the_argument_a_pipe_or_both(
    home: Path, project: Path, hello: Server, argument: list[str], stdin: str | None, prompt: str
) -> None:
    run = forge("-p", *argument, cwd=project, env=environment(home, hello.url), stdin=stdin)
    assert run.code == 0
    assert hello.bodies[0]["messages"][-1]["content"][-1]["text"] == prompt


@pytest.mark.parametrize(("args", "stdin"), [((), ""), (("",), None), (("   ",), None)])
def test_no_prompt_is_an_error(home: Path, project: Path, args: tuple[str, ...], stdin: str | None) -> None:
    run = forge("-p", *args, cwd=project, env=environment(home, "http://127.0.0.1:9"), stdin=stdin)
    assert (run.code, run.out) == (1, "")
    assert run.err == (
        "Error: Input must be provided either through stdin or as a prompt argument when using --print\n"
    )


@pytest.mark.requirement("S2-12")
def test_each_command_runs_in_a_fresh_shell_with_its_own_exit_code(home: Path, project: Path) -> None:
    turns = [[bash("X=1; export X; echo $$; exit 3")], [bash("echo ${X:-unset} $$")], [{"text": "ok"}]]
    with serve(turns) as server:
        args = ("-p", "go", *STREAM, "--allowedTools", "Bash")
        run = forge(*args, cwd=project, env=environment(home, server.url))
    first, second = (r["message"]["content"][0] for r in run.of("user"))
    assert (first["is_error"], first["content"].split()[:3]) == (True, ["Exit", "code", "3"])
    assert second["is_error"] is False
    assert second["content"].split()[0] == "unset"
    assert second["content"].split()[1] != first["content"].split()[3]


def test_a_tool_runs_in_the_project_and_keeps_its_directory(home: Path, project: Path) -> None:
    (project / "sub").mkdir()
    turns = [[bash("cd sub && pwd")], [bash("pwd")], [{"text": "ok"}]]
    with serve(turns) as server:
        run = forge(
            "-p", "go", *STREAM, "--allowedTools", "Bash", cwd=project, env=environment(home, server.url)
        )
    results = [r["message"]["content"][0]["content"] for r in run.of("user")]
    assert results == [str(project / "sub")] * 2


def test_limits_are_an_error_result_and_exit_code_1(home: Path, project: Path) -> None:
    turns = [[bash("echo 1")], [bash("echo 2")]]
    with serve(turns) as server:
        env = environment(home, server.url)
        turned = forge("-p", "go", "--model", "sonnet", "--max-turns", "1", cwd=project, env=env)
        spent = forge("-p", "go", "--model", "sonnet", "--max-budget-usd", "0.00001", cwd=project, env=env)
    assert (turned.code, turned.out) == (1, "Error: Reached max turns (1)\n")
    assert (spent.code, spent.out) == (1, "Error: Exceeded USD budget (0.00001)\n")


def test_an_api_error_is_printed_and_exit_code_1(home: Path, project: Path) -> None:
    error = {
        "errors": [{"status": 400, "error": {"type": "invalid_request_error", "message": "bad thing"}}] * 9
    }
    with serve([error]) as server:
        run = forge("-p", "go", cwd=project, env=environment(home, server.url))
    assert (run.code, run.out) == (1, "API Error: 400 bad thing\n")


def test_sessions_are_continued_resumed_and_forked(home: Path, project: Path) -> None:
    with serve([[{"text": "one"}], [{"text": "two"}], [{"text": "three"}]]) as server:
        env = environment(home, server.url)
        args = ("--output-format", "json")
        first = forge("-p", "q1", *args, cwd=project, env=env).records[0]
        second = forge("-p", "q2", "--continue", *args, cwd=project, env=env).records[0]
        fork = forge(
            "-p", "q3", "--resume", first["session_id"], "--fork-session", *args, cwd=project, env=env
        )
        third = fork.records[0]
    assert [r["result"] for r in (first, second, third)] == ["one", "two", "three"]
    assert second["session_id"] == first["session_id"] != third["session_id"]
    assert third["total_cost_usd"] == pytest.approx(3 * first["total_cost_usd"])
    said = [[b["text"] for b in m["content"]][-1] for m in server.bodies[2]["messages"]]
    assert said == ["q1", "one", "q2", "two", "q3"]


def test_a_resumed_request_repeats_the_earlier_one_word_for_word(home: Path, project: Path) -> None:
    with serve([[bash("echo x")], [{"text": "one"}], [{"text": "two"}]]) as server:
        env = environment(home, server.url)
        forge("-p", "q1", cwd=project, env=env)
        forge("-p", "q2", "-c", cwd=project, env=env)
    unmarked = [
        json.loads(json.dumps(b["messages"]).replace(', "cache_control": {"type": "ephemeral"}', ""))
        for b in server.bodies
    ]
    assert unmarked[2][: len(unmarked[1])] == unmarked[1]


def test_an_unknown_session_is_a_clear_error(home: Path, project: Path) -> None:
    env = environment(home, "http://127.0.0.1:9")
    name = "00000000-0000-4000-8000-000000000000"
    plain = forge("-p", "x", "--resume", name, cwd=project, env=env)
    stream = forge("-p", "x", "--resume", name, *STREAM, cwd=project, env=env)
    words = f"No conversation found with session ID: {name}"
    assert (plain.code, plain.out, plain.err) == (1, "", f"{words}\n")
    assert (stream.code, stream.records[0]["subtype"], stream.records[0]["errors"]) == (
        1,
        "error_during_execution",
        [words],
    )


def test_a_session_id_can_be_chosen_once(home: Path, project: Path, hello: Server) -> None:
    env, name = environment(home, hello.url), "11111111-2222-4333-8444-555555555555"
    args = ("-p", "x", "--session-id", name, "--output-format", "json")
    first, second = (forge(*args, cwd=project, env=env) for _ in range(2))
    assert first.records[0]["session_id"] == name
    assert (second.code, second.err) == (1, f"Error: Session ID {name} is already in use.\n")


def test_a_session_that_must_not_be_kept_leaves_no_file(home: Path, project: Path, hello: Server) -> None:
    forge("-p", "x", "--no-session-persistence", cwd=project, env=environment(home, hello.url))
    assert list(home.rglob("*.jsonl")) == []


def test_the_tool_list_can_be_narrowed(home: Path, project: Path, hello: Server) -> None:
    env = environment(home, hello.url)
    for args, names in (
        (("--tools", "Read,Grep"), ["Grep", "Read"]),
        (("--tools", ""), []),
        (("--bare",), ["Bash", "Edit", "Read"]),
    ):
        run = forge("-p", "x", *STREAM, *args, cwd=project, env=env)
        assert run.records[0]["tools"] == names
    everything = forge("-p", "x", *STREAM, cwd=project, env=env).records[0]["tools"]
    without = forge("-p", "x", *STREAM, "--disallowedTools", "Bash", cwd=project, env=env).records[0]["tools"]
    assert [name for name in everything if name not in without] == ["Bash", "Monitor"]
    assert not {"Grep", "Glob"} & set(everything)


def test_system_prompts_are_replaced_and_appended(home: Path, project: Path, hello: Server) -> None:
    env = environment(home, hello.url)
    forge("-p", "x", "--system-prompt", "MINE", "--append-system-prompt", "MORE", cwd=project, env=env)
    forge("-p", "x", "--system-prompt", "", cwd=project, env=env)
    texts = [[block["text"] for block in body["system"]] for body in hello.bodies]
    assert texts[0][1:] == ["MINE\n\nMORE"]
    assert len(texts[1]) == 1


def test_untrusted_projects_cannot_redirect_credentials(home: Path, project: Path, hello: Server) -> None:
    (project / ".claude").mkdir()
    settings = {"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "GREETING": "hi"}}
    (project / ".claude" / "settings.json").write_text(json.dumps(settings))
    run = forge("-p", "x", cwd=project, env=environment(home, hello.url))
    assert (run.code, run.out) == (0, "Hello there\n")
    assert "ANTHROPIC_BASE_URL" in run.err
    assert ".claude/settings.json" in run.err


def test_mentioned_files_are_read_before_the_model_is_asked(home: Path, project: Path, hello: Server) -> None:
    (project / "notes.md").write_text("one\ntwo\nthree\n")
    (project / "sub").mkdir()
    (project / "sub" / "a.txt").touch()
    prompt = "compare @notes.md#L2-3 with @sub and @missing, mail me@notes.md"
    forge("-p", prompt, cwd=project, env=environment(home, hello.url))
    texts = [b["text"] for b in hello.bodies[0]["messages"][0]["content"]]
    told = [
        t.split("\n", 1)[1].rstrip("\n").removesuffix("\n</system-reminder>")
        for t in texts
        if "the Read tool" in t or "the Bash tool" in t
    ]
    assert told == [
        f'Called the Read tool with the following input: {{"file_path":"{project}/notes.md"}}',
        "Result of calling the Read tool:\n2\ttwo\n3\tthree",
        f'Called the Bash tool with the following input: {{"command":"ls {project}/sub",'
        f'"description":"Lists files in {project}/sub"}}',
        "Result of calling the Bash tool:\na.txt",
    ]
    assert texts[-1] == prompt


def start(project: Path, env: dict[str, str], *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "forge", *args],
        cwd=project,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def read_until(child: subprocess.Popen[str], kind: str) -> dict[str, Any]:
    """Reads records up to the first of that type."""
    assert child.stdout is not None
    for line in child.stdout:
        record: dict[str, Any] = json.loads(line)
        if record["type"] == kind:
            return record
    raise AssertionError(f"no {kind} record; {child.stderr.read() if child.stderr else ''}")


def test_an_interrupt_ends_the_turn_with_a_result(home: Path, project: Path) -> None:
    with serve([[bash("sleep 20")]]) as server:
        child = start(project, environment(home, server.url), "-p", "go", *STREAM, "--allowedTools", "Bash")
        read_until(child, "assistant")
        child.send_signal(signal.SIGINT)
        result = read_until(child, "result")
        _, _ = child.communicate(timeout=10)
    assert (result["subtype"], result["is_error"], child.returncode) == ("error_during_execution", True, 0)


def test_a_termination_leaves_no_child_process_and_a_session_that_resumes(home: Path, project: Path) -> None:
    with serve([[bash("echo $$ > pid; sleep 20")]]) as server:
        env = environment(home, server.url)
        child = start(project, env, "-p", "go", *STREAM, "--permission-mode", "bypassPermissions")
        read_until(child, "assistant")
        while not (project / "pid").exists() or not (project / "pid").read_text():
            assert child.poll() is None
        child.terminate()
        out, _ = child.communicate(timeout=10)
        again = forge("-p", "go on", "-c", cwd=project, env=env)
    assert child.returncode == 143
    assert '"type":"result"' not in out
    assert not Path(f"/proc/{(project / 'pid').read_text().strip()}").exists()
    assert (again.code, again.out) == (0, "done\n")


def test_a_reader_that_goes_away_ends_the_run_quietly(home: Path, project: Path, hello: Server) -> None:
    command = f'"{sys.executable}" -m forge -p x --output-format stream-json --verbose | head -c 10'
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=project,
        env=environment(home, hello.url),
        capture_output=True,
        timeout=30,
    )
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--json-schema", "{bad"), "Error: --json-schema is not valid JSON: "),
        (("--json-schema", '{"type":"foo"}'), "Error: --json-schema is not a valid JSON Schema: "),
        (("--setting-sources", "foo"), "Error processing --setting-sources: Invalid setting source: foo"),
        (("--system-prompt-file", "/nope"), "Error: System prompt file not found: /nope"),
        (("--settings", "/nope.json"), "Error: Settings file not found: /nope.json"),
    ],
)
def test_wrong_options_are_one_clear_message(
    home: Path, project: Path, args: tuple[str, ...], message: str
) -> None:
    run = forge("-p", "x", *args, cwd=project, env=environment(home, "http://127.0.0.1:9"))
    assert (run.code, run.out) == (1, "")
    assert message in run.err
    assert "Traceback" not in run.err
