from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import STREAM, environment, forge
from plugin_server import serve_plugins

OPTIONS = {
    "tone": {"type": "string", "title": "t", "description": "d"},
    "token": {"type": "string", "title": "t", "description": "d", "sensitive": True},
}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def plugin(home: Path, tmp_path: Path) -> Path:
    root = tmp_path / "kit"
    write(root / ".claude-plugin/plugin.json", json.dumps({"name": "kit", "userConfig": OPTIONS}))
    body = "Root ${CLAUDE_PLUGIN_ROOT}, tone ${user_config.tone}, token ${user_config.token}.\n"
    write(root / "commands/go.md", f"---\ndescription: goes\n---\n{body}")
    write(root / "skills/tell/SKILL.md", "---\ndescription: tells\n---\nTell.\n")
    write(root / "agents/aide.md", "---\nname: aide\ndescription: helps\n---\nYou are the aide.\n")
    write(root / "bin/kit-tool", "#!/bin/sh\necho from the kit\n")
    (root / "bin/kit-tool").chmod(0o755)
    write(
        home / ".claude/settings.json",
        json.dumps({"pluginConfigs": {"kit@inline": {"options": {"tone": "calm"}}}}),
    )
    write(
        home / ".claude/.credentials.json", json.dumps({"pluginSecrets": {"kit@inline": {"token": "s3cret"}}})
    )
    return root


def said(request: dict[str, Any]) -> list[str]:
    content = request["messages"][-1]["content"]
    return [content] if isinstance(content, str) else [b["text"] for b in content if b["type"] == "text"]


@pytest.mark.requirement("S0-01")
def test_a_plugin_directory_is_announced_and_its_command_runs(
    home: Path, tmp_path: Path, plugin: Path
) -> None:
    with serve([[{"text": "ok"}]]) as server:
        args = ("-p", "/kit:go now", *STREAM, "--plugin-dir", str(plugin))
        run = forge(*args, cwd=tmp_path, env=environment(home, server.url))
        request = server.requests[0].body
    (init,) = run.of("system", "init")
    assert init["plugins"] == [{"name": "kit", "path": str(plugin), "source": "kit@inline"}]
    assert init["slash_commands"][:2] == ["kit:go", "kit:tell"]
    assert init["skills"] == ["kit:tell"]
    assert "kit:aide" in init["agents"]
    assert said(request)[-1] == (
        f"Root {plugin}, tone calm, token [sensitive option 'token' not available in skill content].\n"
        "\n\nARGUMENTS: now"
    )
    assert "s3cret" not in run.out + run.err + json.dumps(request)


def test_programs_of_a_plugin_are_on_the_path_of_commands(home: Path, tmp_path: Path, plugin: Path) -> None:
    turns = [[{"tool": "Bash", "input": {"command": "kit-tool"}}], [{"text": "done"}]]
    with serve(turns) as server:
        args = ("-p", "go", *STREAM, "--plugin-dir", str(plugin), "--allowedTools", "Bash")
        run = forge(*args, cwd=tmp_path, env=environment(home, server.url))
    results = [r["message"]["content"][0]["content"] for r in run.of("user")]
    assert results == ["from the kit"]


def test_a_broken_plugin_is_an_entry_and_not_the_end(home: Path, tmp_path: Path) -> None:
    write(tmp_path / "bad/.claude-plugin/plugin.json", '{"name": 5}')
    with serve([[{"text": "ok"}]]) as server:
        args = ("-p", "hi", *STREAM, "--plugin-dir", str(tmp_path / "bad"))
        run = forge(*args, cwd=tmp_path, env=environment(home, server.url))
    (init,) = run.of("system", "init")
    assert (run.code, [e["plugin"] for e in init["plugin_errors"]]) == (0, ["inline[0]"])


def test_a_main_agent_of_a_plugin_opens_the_conversation(home: Path, tmp_path: Path) -> None:
    head = "---\nname: boss\ndescription: d\ninitialPrompt: Begin.\ndisallowedTools: Bash\n---\n"
    text = f"{head}You are the boss.\n"
    write(tmp_path / ".claude/agents/boss.md", text)
    with serve([[{"text": "ok"}]]) as server:
        args = ("-p", "hi", *STREAM, "--agent", "boss")
        run = forge(*args, cwd=tmp_path, env=environment(home, server.url))
        request = server.requests[0].body
    assert said(request)[-1] == "Begin.\n\nhi"
    assert request["system"][-1]["text"].startswith("You are the boss.")
    assert "Bash" not in run.of("system", "init")[0]["tools"]


@pytest.mark.requirement("S0-18")
@pytest.mark.parametrize(("flags", "listed"), [((), True), (("--disable-slash-commands",), False)])
def test_the_list_of_skills_is_part_of_the_first_request(
    flags: tuple[str, ...], listed: bool, home: Path, tmp_path: Path
) -> None:
    write(tmp_path / ".claude/skills/note/SKILL.md", "---\ndescription: takes notes\n---\nNote.\n")
    with serve([[{"text": "ok"}]]) as server:
        forge("-p", "hi", *STREAM, *flags, cwd=tmp_path, env=environment(home, server.url))
        request = server.requests[0].body
    text = json.dumps(request["messages"])
    assert ("- note: takes notes" in text) is listed
    assert ("Skill" in [t["name"] for t in request["tools"]]) is listed


def test_an_output_style_takes_the_place_of_the_coding_instructions(home: Path, tmp_path: Path) -> None:
    write(tmp_path / ".claude/output-styles/poet.md", "---\nname: poet\n---\nSpeak in verse.\n")
    with serve([[{"text": "ok"}]]) as server:
        args = ("-p", "hi", *STREAM, "--settings", '{"outputStyle": "poet"}')
        run = forge(*args, cwd=tmp_path, env=environment(home, server.url))
        request = server.requests[0].body
    assert run.of("system", "init")[0]["output_style"] == "poet"
    assert "# Output Style: poet\\nSpeak in verse." in json.dumps(request["messages"])
    assert "# How to work" not in request["system"][-1]["text"]


@pytest.mark.parametrize(
    ("typed", "start"),
    [
        ("/skills", "/note (skill, project): takes notes"),
        ("/agents", "claude (builtin): "),
        ("/reload-plugins", "Reloaded: 0 plugins, 1 skill or command, 4 agents"),
        ("/help", "Answered by Forge itself: /agents, "),
    ],
)
def test_local_commands_answer_without_a_model(typed: str, start: str, home: Path, tmp_path: Path) -> None:
    write(tmp_path / ".claude/skills/note/SKILL.md", "---\ndescription: takes notes\n---\nNote.\n")
    with serve([]) as server:
        run = forge("-p", typed, "--model", STREAM[-1], cwd=tmp_path, env=environment(home, server.url))
        assert server.requests == []
    assert run.out.startswith(start)


def test_plugins_behind_addresses_are_there_for_the_session(home: Path, tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    for name, prefix in (("flat", ""), ("nested", "nested/")):
        with zipfile.ZipFile(tmp_path / f"shop/{name}.zip", "w") as archive:
            archive.writestr(f"{prefix}.claude-plugin/plugin.json", json.dumps({"name": name}))
            archive.writestr(f"{prefix}skills/s/SKILL.md", "---\ndescription: d\n---\nhi\n")
    with serve([[{"text": "done"}]]) as server, serve_plugins(tmp_path / "shop") as shop:
        given = [f"--plugin-url={shop.url}/{page}" for page in ("flat.zip", "absent.zip", "nested.zip")]
        run = forge("-p", "hi", *STREAM, *given, cwd=tmp_path, env=environment(home, server.url))
    (init,) = run.of("system", "init")
    assert [row["source"] for row in init["plugins"]] == ["flat@inline", "nested@inline"]
    assert {"flat:s", "nested:s"} <= set(init["skills"])
    (error,) = init["plugin_errors"]
    assert (error["plugin"], error["type"], "404" in error["message"]) == ("inline[1]", "generic-error", True)


def test_behind_an_air_gap_no_plugin_is_fetched(home: Path, tmp_path: Path) -> None:
    with serve([[{"text": "done"}]]) as server, serve_plugins(tmp_path) as shop:
        given = (f"--plugin-url={shop.url}/p.zip", "--settings", '{"airGap": true}')
        run = forge("-p", "hi", *STREAM, *given, cwd=tmp_path, env=environment(home, server.url))
    (error,) = run.of("system", "init")[0]["plugin_errors"]
    assert ("airGap" in error["message"], shop.requests) == (True, [])


@pytest.mark.requirement("S0-25")
def test_a_hook_beside_a_skill_guards_what_follows(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / ".claude/skills/guard"
    hooks = 'hooks:\n  PreToolUse:\n    - hooks:\n        - type: command\n          command: "./no.sh"\n'
    write(folder / "SKILL.md", f"---\ndescription: guards\n{hooks}---\nMind it.\n")
    write(folder / "no.sh", "#!/bin/sh\necho not with me >&2\nexit 2\n")
    (folder / "no.sh").chmod(0o755)
    (tmp_path / "sub").mkdir()
    turns = [[{"tool": "Bash", "input": {"command": "echo hi"}}], [{"text": "done"}]]
    with serve(turns) as server:
        args = ("-p", "/guard", *STREAM, "--allowedTools", "Bash")
        run = forge(*args, cwd=tmp_path, env=environment(home, server.url))
    (result,) = [r["message"]["content"][0] for r in run.of("user")]
    assert result["is_error"]
    assert "not with me" in result["content"]


def test_a_bare_run_does_not_look_for_skills_of_user_and_project(home: Path, tmp_path: Path) -> None:
    write(tmp_path / ".claude/skills/note/SKILL.md", "---\ndescription: takes notes\n---\nNote it.\n")
    with serve([[{"text": "ok"}]]) as server:
        forge("-p", "/note", "--bare", *STREAM, cwd=tmp_path, env=environment(home, server.url))
        request = server.requests[0].body
    assert said(request)[-1] == "/note"
    assert "takes notes" not in json.dumps(request)


def test_a_used_skill_is_where_it_was_when_the_session_goes_on(home: Path, tmp_path: Path) -> None:
    write(tmp_path / ".claude/skills/note/SKILL.md", "---\ndescription: takes notes\n---\nNote it.\n")
    write(tmp_path / ".claude/skills/apart/SKILL.md", "---\ndescription: d\ncontext: fork\n---\nApart.\n")
    turns = [
        [{"tool": "Skill", "input": {"skill": "note"}}],
        [{"text": "noted"}],
    ]
    with serve(turns) as server:
        env = environment(home, server.url)
        first = forge("-p", "hi", *STREAM, cwd=tmp_path, env=env)
        forge("-p", "/apart", "--continue", *STREAM, cwd=tmp_path, env=env)
        forge("-p", "/hidden-or-not", "--continue", *STREAM, cwd=tmp_path, env=env)
        messages = server.requests[-1].body["messages"]
    assert first.of("result")[0]["num_turns"] == 3
    assert [m["role"] for m in messages] == ["user", "assistant"] * 3 + ["user"]
    result, body = messages[2]["content"]
    launched = result["content"].partition("\n\n")[0]
    assert (result["type"], launched) == ("tool_result", "Launching skill: note")
    assert body["text"].endswith("Note it.\n")
    assert messages[5]["content"][-1]["text"] == "noted"
    assert "takes notes" not in json.dumps(messages[2:])
