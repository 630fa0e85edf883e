from __future__ import annotations

import json
from pathlib import Path

import pytest

from e2e.cli.process import Done, forge


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_value_that_was_set_is_in_effect_and_says_where_it_is(tmp_path: Path, home: Path) -> None:
    file = home / ".forge" / "settings.json"
    assert forge("config", "set", "model", "sonnet", cwd=tmp_path) == Done(
        0, f"Written to {file} (user settings).\n", ""
    )
    assert forge("config", "get", "model", cwd=tmp_path) == Done(0, "sonnet\n", "")
    assert forge("config", "list", "--show-origin", cwd=tmp_path) == Done(
        0, f'model = "sonnet"\n    {file} (user)\n', ""
    )


def test_scopes_write_to_their_own_files(tmp_path: Path, home: Path) -> None:
    for scope in ("--user", "--project", "--local"):
        assert forge("config", "set", "verbose", "true", scope, cwd=tmp_path).code == 0
    files = [
        home / ".forge" / "settings.json",
        tmp_path / ".forge" / "settings.json",
        tmp_path / ".forge" / "settings.local.json",
    ]
    assert [json.loads(file.read_text()) for file in files] == [{"verbose": True}] * 3
    assert json.loads(forge("config", "get", "verbose", "--json", cwd=tmp_path).out) == {
        "key": "verbose",
        "value": True,
        "origins": [
            {"scope": scope, "path": str(file)}
            for scope, file in zip(("user", "project", "local"), files, strict=True)
        ],
    }


def test_files_of_the_reference_are_read_and_never_written(tmp_path: Path, home: Path) -> None:
    theirs = write(home / ".claude" / "settings.json", '{"model": "opus"}')
    done = forge("config", "unset", "model", cwd=tmp_path)
    assert (done.code, done.out) == (1, f"It is set in {theirs} (user).\n")
    assert forge("config", "set", "model", "haiku", cwd=tmp_path).code == 0
    assert forge("config", "get", "model", cwd=tmp_path).out == "haiku\n"
    assert theirs.read_text() == '{"model": "opus"}'


def test_stronger_file_is_named_when_it_has_the_last_word(tmp_path: Path) -> None:
    file = write(tmp_path / ".claude" / "settings.json", '{"model": "opus"}')
    done = forge("config", "set", "model", "haiku", cwd=tmp_path)
    assert done.out.splitlines()[1] == f"Note: {file} (project) sets it too and is stronger here."


def test_secrets_are_never_shown(tmp_path: Path) -> None:
    for key in ("env.MY_API_KEY", "providers.mine.headers.x-team"):
        forge("config", "set", key, "tell-nobody", cwd=tmp_path)
    shown = [
        forge("config", *words, cwd=tmp_path)
        for words in (
            ["list"],
            ["list", "--json"],
            ["get", "env"],
            ["get", "env.MY_API_KEY"],
            ["get", "providers"],
        )
    ]
    assert [done.code for done in shown] == [0] * 5
    assert all("********" in done.out and "tell-nobody" not in done.out + done.err for done in shown)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["lst"], "'lst' is not one of: list, get, set, unset, path. Did you mean 'list'?"),
        (["get"], "KEY is missing."),
        (["set", "model"], "VALUE is missing."),
        (["set", "modell", "x"], "modell is not a setting Forge knows. Did you mean model?"),
        (["set", "verbose", "maybe"], "verbose: Expected boolean, but received string"),
        (
            ["set", "model", "x", "--user", "--local"],
            "Only one of --user, --project and --local can be meant.",
        ),
        (["set", "a..b", "x"], "'a..b' is not a settings key."),
        (["get", "model"], "model is not set."),
        (["unset", "model", "--project"], "model is not set in "),
    ],
)
def test_wrong_input_changes_nothing_and_says_what_is_wrong(
    tmp_path: Path, home: Path, words: list[str], message: str
) -> None:
    done = forge("config", *words, cwd=tmp_path)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(message)
    assert not list(home.rglob("settings.json")) and not list(tmp_path.rglob("settings*"))


def test_unknown_keys_can_be_forced(tmp_path: Path) -> None:
    assert forge("config", "set", "someOther.tool", "3", "--force", cwd=tmp_path).code == 0
    assert forge("config", "get", "someOther", cwd=tmp_path).out == '{"tool":3}\n'


def test_file_that_cannot_be_used_is_mentioned(tmp_path: Path) -> None:
    file = write(tmp_path / ".forge" / "settings.json", '{"model": }')
    done = forge("config", "list", cwd=tmp_path)
    assert done.out == "Nothing is set; every setting has its default value.\n"
    assert done.err.startswith(f"{file}:1:11: ")


def test_path_lists_what_is_read_and_what_is_written(tmp_path: Path, home: Path) -> None:
    read = write(home / ".claude" / "settings.json", "{}")
    assert json.loads(forge("config", "path", "--json", cwd=tmp_path).out) == {
        "read": [{"scope": "user", "path": str(read)}],
        "written": [
            {"scope": "user", "path": str(home / ".forge" / "settings.json")},
            {"scope": "project", "path": str(tmp_path / ".forge" / "settings.json")},
            {"scope": "local", "path": str(tmp_path / ".forge" / "settings.local.json")},
        ],
    }
