from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from e2e.cli.process import Done, forge

WIDE = {"COLUMNS": "200"}


def command(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "command", "command": text, **fields}


def configure(file: Path, hooks: dict[str, Any], **more: Any) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"hooks": hooks, **more}))
    return file


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    """A project whose hooks deny, wait, repeat those of the user, or are wrong."""
    deny = command("cat >/dev/null; echo no >&2; exit 2", **{"if": "Bash(rm *)"})
    configure(
        tmp_path / "p/.claude/settings.json",
        {
            "PreToolUse": [{"matcher": "Bash", "hooks": [deny, command("echo hi")]}],
            "Stop": [{"hooks": [command("same")]}],
            "stop": [{"hooks": [command("x")]}],
            "SessionStart": [{"hooks": [{"type": "prompt", "prompt": "think"}]}],
        },
    )
    same = {"Stop": [{"hooks": [command("same")]}], "PreToolUse": [{"hooks": [command("echo hi")]}]}
    configure(home / ".claude/settings.json", same)
    return tmp_path / "p"


def listed(project: Path, *words: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(forge("hooks", "list", *words, "--json", cwd=project).out)
    return value


def tried(project: Path, *words: str) -> tuple[int, dict[str, Any]]:
    done = forge("hooks", "test", *words, "--json", cwd=project)
    return done.code, json.loads(done.out)


def test_the_list_says_of_every_hook_where_it_is_from_and_why_it_does_not_count(
    project: Path, home: Path
) -> None:
    ours, theirs = str(project / ".claude/settings.json"), str(home / ".claude/settings.json")
    rows = [(r["event"], r["command"], r["path"], r["state"], r["why"]) for r in listed(project)["hooks"]]
    assert rows == [
        ("SessionStart", "think", ours, "dropped", "prompt hooks are not supported for SessionStart"),
        (
            "PreToolUse",
            "echo hi",
            theirs,
            "active",
            f"runs once where the same hook of {ours} matches too",
        ),
        ("PreToolUse", "cat >/dev/null; echo no >&2; exit 2", ours, "active", ""),
        ("PreToolUse", "echo hi", ours, "active", ""),
        ("Stop", "same", theirs, "dropped", f"the same hook is defined again in {ours}, which counts"),
        ("Stop", "same", ours, "active", ""),
    ]
    (wrong,) = listed(project)["unusable"]
    assert wrong["why"] == 'Unknown hook event "stop" was ignored. Did you mean "Stop"?'


def test_the_list_for_people_names_the_file_and_the_trust(project: Path) -> None:
    done = forge("hooks", "list", "Stop", cwd=project, env=WIDE)
    lines = done.out.splitlines()
    assert lines[0] == "Stop  (The agent is about to end its turn.)"
    assert f"project: {project}/.claude/settings.json" in done.out
    assert lines[-2].startswith("This project is not trusted: ")
    assert lines[-1].endswith("as the reference does.")


@pytest.mark.parametrize(
    ("more", "reason"),
    [({"disableAllHooks": True}, "disableAllHooks"), ({}, "")],
    ids=["switched off", "in force"],
)
def test_switches_are_reasons(tmp_path: Path, more: dict[str, Any], reason: str) -> None:
    configure(tmp_path / ".claude/settings.json", {"Stop": [{"hooks": [command("x")]}]}, **more)
    (row,) = listed(tmp_path)["hooks"]
    assert (row["state"], row["why"]) == ("dropped" if reason else "active", reason)


def test_hooks_of_skills_agents_and_untrusted_files_wait(tmp_path: Path, home: Path) -> None:
    front = "hooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: {}\n"
    for name, kind in ((".claude/skills/s/SKILL.md", "skill"), (".claude/agents/a.md", "agent")):
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        file.write_text(f"---\nname: {kind}\ndescription: d\n{front.format(kind)}---\nDo.\n")
    configure(tmp_path / ".forge/hooks.json", {"Stop": [{"hooks": [command("extra")]}]})
    rows = {r["command"]: (r["event"], r["state"], r["why"]) for r in listed(tmp_path)["hooks"]}
    untrusted = "the project is not trusted; `forge trust` changes that"
    assert rows == {
        "extra": ("Stop", "dropped", untrusted),
        "skill": ("Stop", "waiting", "from the first use of the skill s"),
        "agent": ("SubagentStop", "dropped", untrusted),
    }
    forge("trust", cwd=tmp_path)
    rows = {r["command"]: (r["event"], r["state"], r["why"]) for r in listed(tmp_path)["hooks"]}
    assert (rows["extra"], rows["agent"]) == (
        ("Stop", "active", ""),
        ("SubagentStop", "waiting", "while the agent agent runs"),
    )


def test_a_trial_shows_what_matched_ran_and_came_of_it(project: Path) -> None:
    given = json.dumps({"tool_input": {"command": "rm -rf /"}})
    code, shown = tried(project, "PreToolUse", "--yes", "--input", given)
    rows = [(h["command"], h["skipped"], h["exit_code"], h["outcome"]) for h in shown["hooks"]]
    deny = "cat >/dev/null; echo no >&2; exit 2"
    assert rows == [
        ("echo hi", "the same hook is defined again", None, ""),
        (deny, "", 2, "error"),
        ("echo hi", "", 0, "success"),
    ]
    assert (code, shown["effect"]) == (
        0,
        {"verdict": "deny", "reason": f"[{deny}]: no\n", "blocks": [f"[{deny}]: no\n"]},
    )


def test_a_trial_says_why_a_hook_did_not_run(project: Path, tmp_path: Path) -> None:
    file = tmp_path / "input.json"
    file.write_text(json.dumps({"tool_input": {"file_path": "/x", "content": ""}}))
    code, shown = tried(project, "PreToolUse", "--tool", "Write", "--input", f"@{file}")
    assert [h["skipped"] for h in shown["hooks"]] == [
        "",
        "matcher 'Bash' does not accept 'Write'",
        "matcher 'Bash' does not accept 'Write'",
    ]
    assert (code, shown["input"]["tool_name"], shown["effect"]) == (0, "Write", {})


def test_programs_of_a_checkout_nobody_trusts_are_not_run_unasked(project: Path) -> None:
    done = forge("hooks", "test", "PreToolUse", cwd=project)
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        f"{project} is not trusted. This would run programs of its settings:",
        "  echo hi",
        "Give --yes to run them once, or trust the project: forge trust",
    ]


def test_a_hook_that_fails_makes_the_trial_fail_and_nothing_is_left(project: Path, home: Path) -> None:
    configure(
        home / ".claude/settings.json",
        {"SessionStart": [{"hooks": [command("echo ctx; touch $CLAUDE_ENV_FILE"), command("exit 3")]}]},
    )
    done = forge("hooks", "test", "SessionStart", "--yes", cwd=project, env=WIDE)
    assert (done.code, '  plain: ["ctx"]' in done.out) == (1, True)
    assert sorted(p.name for p in (home / ".claude").rglob("*.*")) == ["settings.json"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("test", "PreToolUs"), "Did you mean 'PreToolUse'?"),
        (("test",), "EVENT is missing."),
        (("tset", "Stop"), "Did you mean 'test'?"),
        (("test", "Stop", "--input", "{"), "--input is not JSON"),
        (("test", "Stop", "--input", "[1]"), "--input must be a JSON object"),
        (("test", "Stop", "--input", "@none.json"), "none.json cannot be read"),
        (("test", "PreToolUse", "--input", '{"tool_nam": 1}'), "Did you mean 'tool_name'?"),
    ],
)
def test_mistakes_are_explained(project: Path, words: tuple[str, ...], said: str) -> None:
    done: Done = forge("hooks", *words, cwd=project)
    assert (done.code, said in done.err) == (1, True)
