from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from e2e.cli.process import Done, forge


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def report(cwd: Path, *before: str, env: dict[str, str] | None = None) -> tuple[Done, Any]:
    done = forge(*before, "doctor", "--json", cwd=cwd, env=env)
    return done, json.loads(done.out)


def test_fresh_machine_has_no_errors(tmp_path: Path, home: Path) -> None:
    done, told = report(tmp_path)
    assert (done.code, done.err, told["ok"]) == (0, "", True)
    assert (told["settings"], told["rules"], told["trusted"], told["mode"]) == ([], [], False, "default")
    assert [p["severity"] for p in told["problems"]] == ["warning"]
    assert told["problems"][0]["text"].startswith("No model is configured.")
    assert told["sessions"] == {"directory": str(home / ".claude" / "projects"), "count": 0, "size": 0}


def test_everything_loaded_is_listed_with_its_file(tmp_path: Path, home: Path) -> None:
    user = write(home / ".claude" / "settings.json", '{"permissions": {"deny": ["WebFetch"]}}')
    ours = write(home / ".forge" / "settings.json", '{"model": "sonnet", "env": {"LANGUAGE": "C"}}')
    done, told = report(tmp_path, env={"ANTHROPIC_API_KEY": "sk-ant-tell-nobody"})
    assert done.code == 0 and "tell-nobody" not in done.out
    assert told["settings"] == [
        {"scope": "user", "path": str(user), "dialect": ".claude", "keys": ["permissions"]},
        {"scope": "user", "path": str(ours), "dialect": ".forge", "keys": ["model", "env"]},
    ]
    assert told["rules"] == [{"behavior": "deny", "rule": "WebFetch", "source": str(user)}]
    assert (told["env_set"], told["env_ignored"]) == (["LANGUAGE"], [])
    assert (told["model"], told["key_source"]) == ("anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY")
    assert told["model_why"] == f"the setting `model` in {ours} says sonnet"


def test_broken_file_is_an_error_with_its_position(tmp_path: Path) -> None:
    file = write(tmp_path / ".claude" / "settings.json", '{\n  "model": "x",\n}')
    done, told = report(tmp_path)
    errors = [p["text"] for p in told["problems"] if p["severity"] == "error"]
    assert (done.code, told["ok"], len(errors)) == (1, False, 1)
    assert errors[0].startswith(f"{file}:2:15: ")


def test_what_an_untrusted_workspace_may_not_say_is_listed_as_ignored(tmp_path: Path) -> None:
    write(
        tmp_path / ".claude" / "settings.json",
        '{"permissions": {"allow": ["Bash"], "deny": ["Edit"]},'
        ' "env": {"ANTHROPIC_BASE_URL": "http://x", "A": "1"}}',
    )
    done, told = report(tmp_path)
    assert (done.code, told["env_set"], told["env_ignored"]) == (0, ["A"], ["ANTHROPIC_BASE_URL"])
    assert [(rule["behavior"], rule["rule"]) for rule in told["rules"]] == [("deny", "Edit")]
    assert {"name": "Edit", "offered": False, "why": "a deny rule names it"} in told["tools"]


def test_flags_before_the_command_count(tmp_path: Path) -> None:
    _, told = report(tmp_path, "--permission-mode", "plan", "--disallowedTools=Bash(rm *)", "--tools=Read")
    assert told["mode"] == "plan"
    assert told["rules"] == [{"behavior": "deny", "rule": "Bash(rm *)", "source": "the command line"}]
    assert [tool["name"] for tool in told["tools"] if tool["offered"]] == ["Read"]


def test_model_that_cannot_be_used_is_an_error(tmp_path: Path) -> None:
    done, told = report(tmp_path, "--model", "openai/gpt-5")
    assert done.code == 1
    assert told["problems"][-1]["text"].startswith("No API key for openai: OPENAI_API_KEY is not set.")


def test_hooks_in_places_nobody_reads_are_noticed(tmp_path: Path) -> None:
    file = write(tmp_path / ".claude" / "hooks" / "hooks.json", "{}")
    _, told = report(tmp_path)
    assert told["hook_files"] == [str(file)]


def test_configuration_that_stops_the_program_is_reported_not_raised(tmp_path: Path) -> None:
    done, told = report(tmp_path, "--settings", "missing.json")
    assert (done.code, done.err, told["tools"]) == (1, "", [])
    assert "Settings file not found" in told["problems"][-1]["text"]


def test_page_for_people_has_all_sections(tmp_path: Path) -> None:
    done = forge("doctor", cwd=tmp_path)
    titles = [line for line in done.out.splitlines() if line and not line.startswith(" ")]
    assert titles == [
        "Forge",
        "Settings, the weakest first",
        "Permissions",
        "Model",
        "Tools",
        "Components",
        "Surroundings",
        "Problems: 1 warning",
    ]
