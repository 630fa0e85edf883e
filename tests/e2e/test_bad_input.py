from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import STREAM, Run, environment, forge

ALL = ("--permission-mode", "bypassPermissions")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


def results(run: Run) -> list[str]:
    """The results the model got, in order."""
    found = []
    for record in run.of("user"):
        content = record["message"]["content"][0].get("content")
        found.append(content if isinstance(content, str) else json.dumps(content))
    return found


def play(home: Path, project: Path, *calls: dict[str, Any], args: tuple[str, ...] = ALL) -> Run:
    turns = [[call] for call in calls]
    with serve([*turns, [{"text": "ok"}]]) as server:
        return forge("-p", "go", *STREAM, *args, cwd=project, env=environment(home, server.url))


def use(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "input": arguments}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"model": "opus",}', ["settings.json:1:", "ignored"]),
        ('{\n  // comment\n  "model": "opus"\n}', ["settings.json:2:", "ignored"]),
        ('{"permissions": {"allow": "Bash"}}', ["settings.json", "permissions.allow", "array", "string"]),
        ("[1, 2]", ["settings.json", "object"]),
        ('{"env": null}', ["settings.json", "env"]),
        ('{"hooks": {"stop": []}}', ["settings.json", "stop", "Stop"]),
    ],
    ids=["trailing comma", "comment", "wrong type", "not an object", "null", "wrong event name"],
)
def test_broken_settings_are_named_and_the_run_goes_on(
    home: Path, project: Path, content: str, words: list[str]
) -> None:
    path = home / ".claude" / "settings.json"
    path.parent.mkdir()
    path.write_text(content)
    with serve([[{"text": "ok"}]]) as server:
        run = forge("-p", "x", cwd=project, env=environment(home, server.url))
    assert (run.code, run.out) == (0, "ok\n")
    assert [w for w in words if w not in run.err] == [], run.err
    assert path.read_text() == content


def test_settings_that_cannot_be_read_are_named(home: Path, project: Path) -> None:
    path = home / ".claude" / "settings.json"
    path.mkdir(parents=True)
    with serve([[{"text": "ok"}]]) as server:
        run = forge("-p", "x", cwd=project, env=environment(home, server.url))
    assert (run.code, run.out) == (0, "ok\n")
    assert "settings.json" in run.err


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("data.bin", b"\x00\x01\x02" * 100, "binary"),
        ("latin.txt", "caf\xe9\n".encode("latin-1"), "1\tcaf\ufffd"),
        ("empty.txt", b"", "the contents are empty"),
        ("crlf.txt", b"a\r\nb\r\n", "1\ta\n2\tb\n3\t"),
    ],
)
def test_odd_files_are_read_or_refused_in_plain_words(
    home: Path, project: Path, name: str, content: bytes, words: str
) -> None:
    (project / name).write_bytes(content)
    run = play(home, project, use("Read", file_path=str(project / name)))
    assert words in results(run)[0]


def test_a_300_mb_file_is_refused_without_being_loaded(home: Path, project: Path) -> None:
    big = project / "big.log"
    with big.open("wb") as file:
        file.truncate(300 * 1024 * 1024)
    run = play(home, project, use("Read", file_path=str(big)))
    assert results(run)[0].startswith("File content (300MB) exceeds maximum allowed size (256KB).")


def test_names_that_are_not_utf8_do_not_stop_search_or_shell(home: Path, project: Path) -> None:
    (Path(os.fsdecode(os.fsencode(project))) / os.fsdecode(b"bad\xff.txt")).write_text("needle\n")
    calls = (use("Grep", pattern="needle"), use("Glob", pattern="*.txt"), use("Bash", command="ls"))
    run = play(home, project, *calls, args=(*ALL, "--tools", "Bash,Grep,Glob"))
    assert run.code == 0
    assert [".txt" in r for r in results(run)] == [True, True, True]


def test_files_that_cannot_be_read_or_written_are_clear_errors(home: Path, project: Path) -> None:
    (project / "dir").mkdir()
    run = play(
        home,
        project,
        use("Read", file_path=str(project / "missing.txt")),
        use("Read", file_path=str(project / "dir")),
        use("Write", file_path=str(project / "dir"), content="x"),
        use("Write", file_path="/proc/version", content="x"),
    )
    assert run.code == 0
    assert [r["message"]["content"][0]["is_error"] for r in run.of("user")] == [True] * 4
    assert "File does not exist." in results(run)[0]
    assert "EISDIR" in results(run)[1]


def test_a_tool_output_of_10_mb_is_kept_in_a_file(home: Path, project: Path) -> None:
    run = play(home, project, use("Bash", command="yes 123456789 | head -c 10000000"))
    (text,) = results(run)
    assert text.startswith("<persisted-output>\nOutput too large (9.5MB). Full output saved to: ")
    path = text.split("Full output saved to: ")[1].split("\n")[0]
    assert os.path.getsize(path) == 10_000_000
    assert len(text) < 5000


def test_tool_input_that_is_not_json_is_sent_back(home: Path, project: Path) -> None:
    with serve([[{"tool": "Bash", "arguments": '{"command": "ls'}], [{"text": "ok"}]]) as server:
        run = forge("-p", "go", *STREAM, *ALL, cwd=project, env=environment(home, server.url))
    assert "not a JSON object" in results(run)[0]
    assert run.records[-1]["result"] == "ok"


@pytest.mark.parametrize(
    ("failure", "words"),
    [
        ({"garbage": "data: {nope\n\n"}, "API Error"),
        ({"cut": 2}, "API Error"),
        ({"status": 200, "body": "<html>proxy</html>"}, "API Error"),
        (
            {
                "event": {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}},
                "after": 1,
            },
            "API Error",
        ),
        ({"status": 401, "error": {"type": "authentication_error", "message": "no"}}, "API Error: 401 no"),
        ({"status": 404, "error": {"type": "not_found_error", "message": "model: x"}}, "model"),
        ({"status": 413, "error": {"type": "request_too_large", "message": "big"}}, "too large"),
    ],
    ids=["garbage", "cut", "html", "error event", "wrong key", "unknown model", "too large"],
)
def test_a_model_server_that_misbehaves_is_one_clear_sentence(
    home: Path, project: Path, failure: dict[str, Any], words: str
) -> None:
    with serve([{"errors": [failure] * 9, "blocks": [{"text": "never"}]}]) as server:
        env = environment(home, server.url, CLAUDE_CODE_MAX_RETRIES="0")
        run = forge("-p", "go", cwd=project, env=env)
    assert run.code == 1
    assert words in run.out
    assert "Traceback" not in run.err
    assert "dummy" not in run.out + run.err


def test_a_dead_model_server_is_named_with_its_address(home: Path, project: Path) -> None:
    env = environment(home, "http://127.0.0.1:9", CLAUDE_CODE_MAX_RETRIES="0")
    run = forge("-p", "go", cwd=project, env=env)
    assert run.code == 1
    assert "http://127.0.0.1:9" in run.out


FULL = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
from forge.__main__ import main
sys.exit(main())
"""


def test_a_full_disk_loses_nothing_and_is_reported(home: Path, project: Path) -> None:
    (project / "kept.txt").write_text("old content\n")
    script = project.parent / "limited.py"
    script.write_text(FULL)
    turns = [
        [use("Read", file_path=str(project / "kept.txt"))],
        [use("Write", file_path=str(project / "kept.txt"), content="x" * 20_000)],
        [{"text": "ok"}],
    ]
    with serve(turns) as server:
        import subprocess

        done = subprocess.run(
            [sys.executable, str(script), "-p", "go", *STREAM, *ALL],
            cwd=project,
            env=environment(home, server.url),
            capture_output=True,
            text=True,
            timeout=60,
            stdin=subprocess.DEVNULL,
        )
    run = Run(done.returncode, done.stdout, done.stderr)
    assert run.records[-1]["result"] == "ok"
    assert "The session cannot be saved" in run.err
    assert run.of("user")[1]["message"]["content"][0]["is_error"] is True
    assert (project / "kept.txt").read_text() == "old content\n"
    assert [p.name for p in project.iterdir()] == ["kept.txt"]
