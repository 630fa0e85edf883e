from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from forge.foundation.errors import UsageError
from forge.foundation.origin import Diagnostic, Origin, Scope, Severity
from forge.foundation.paths import Places, find_places
from forge.foundation.settings import (
    Layer,
    Settings,
    SettingsRequest,
    append_to_list,
    apply_flag,
    load_settings,
    parse_setting_sources,
    remove_from_list,
    remove_setting,
    write_setting,
)

WHOLE = "The whole file is ignored until this is fixed."


def tree(root: Path, files: dict[str, Any], cwd: str = "repo") -> Places:
    """A home directory, a repository and the given files (objects are written as JSON)."""
    (root / "home").mkdir()
    (root / "repo" / ".git").mkdir(parents=True)
    (root / cwd).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
    return find_places({"HOME": str(root / "home")}, str(root / cwd), managed_root=str(root / "etc"))


def load(p: Places, *, trusted: bool = True, **request: Any) -> Settings:
    return load_settings(p, SettingsRequest(**request), trusted=trusted)


@pytest.mark.requirement("S0-47")
def test_without_files_there_are_no_settings(tmp_path: Path) -> None:
    p = tree(tmp_path, {})
    assert load(p) == Settings(p, [], {}, [])


@pytest.mark.requirement("S0-46")
def test_later_places_win_over_earlier_ones(tmp_path: Path) -> None:
    order = [
        "home/.claude/settings.json",
        "home/.forgecode/settings.json",
        "home/forge/settings.json",
        "home/.forge/settings.json",
        "repo/.claude/settings.json",
        "repo/.forgecode/settings.json",
        "repo/.forge/settings.json",
        "repo/.claude/settings.local.json",
        "repo/.forgecode/settings.local.json",
        "repo/.forge/settings.local.json",
        "etc/claude-code/managed-settings.json",
        "etc/claude-code/managed-settings.d/10.json",
        "etc/claude-code/managed-settings.d/20.json",
        "etc/forgecode/managed-settings.json",
        "etc/forge/managed-settings.json",
    ]
    p = tree(tmp_path, {name: {"model": name, f"only-{n}": n} for n, name in enumerate(order)})
    found = load(p)
    assert [layer.path for layer in found.layers] == [str(tmp_path / name) for name in order]
    assert found.merged == {"model": order[-1], **{f"only-{n}": n for n in range(len(order))}}
    assert found.origin("model") == Origin(Scope.MANAGED, str(tmp_path / order[-1]))
    assert found.origin("only-4") == Origin(Scope.PROJECT, str(tmp_path / order[4]))
    assert found.origins("model") == [layer.origin for layer in found.layers]
    assert found.origin("nothing") is None


def test_flag_stands_between_local_and_managed(tmp_path: Path) -> None:
    local, managed = "repo/.claude/settings.local.json", "etc/forge/managed-settings.json"
    p = tree(tmp_path, {local: {"a": 1, "b": 1, "c": 1}, managed: {"c": 3}})
    assert load(p, flag='{"b": 2, "c": 2}').merged == {"a": 1, "b": 2, "c": 3}


def test_layers_know_dialect_and_anchor(tmp_path: Path) -> None:
    names = [
        "home/.claude/settings.json",
        "home/.forge/settings.json",
        "repo/sub/.forge/settings.json",
        "repo/.claude/settings.local.json",
        "etc/forge/managed-settings.json",
    ]
    p = tree(tmp_path, {name: {} for name in names} | {"x/f.json": {}}, "repo/sub")
    found = load(p, flag=str(tmp_path / "x" / "f.json"))
    assert [(layer.scope, layer.dialect, layer.anchor) for layer in found.layers] == [
        (Scope.USER, ".claude", str(tmp_path / "home/.claude")),
        (Scope.USER, ".forge", str(tmp_path / "home/.forge")),
        (Scope.PROJECT, ".forge", str(tmp_path / "repo/sub")),
        (Scope.LOCAL, ".claude", str(tmp_path / "repo/sub")),
        (Scope.FLAG, "", str(tmp_path / "x")),
        (Scope.MANAGED, "forge", str(tmp_path / "etc/forge")),
    ]


def test_local_file_of_the_repository_root_wins_over_the_start_directory(tmp_path: Path) -> None:
    files = {
        "repo/.claude/settings.local.json": {"model": "root", "env": {"A": "root"}},
        "repo/sub/.claude/settings.local.json": {"model": "sub", "env": {"A": "sub", "B": "sub"}},
        "repo/.claude/settings.json": {"language": "not read"},
    }
    merged = load(tree(tmp_path, files, "repo/sub")).merged
    assert merged == {"model": "root", "env": {"A": "root", "B": "sub"}}


def test_in_the_home_directory_a_file_counts_once(tmp_path: Path) -> None:
    p = tree(tmp_path, {"home/.claude/settings.json": {"model": "u"}}, "home")
    assert [layer.scope for layer in load(p).layers] == [Scope.USER]
    (tmp_path / "link").symlink_to("home")
    linked = find_places({"HOME": str(tmp_path / "link")}, str(tmp_path / "home"))
    assert [layer.scope for layer in load(linked).layers] == [Scope.USER]


@pytest.mark.parametrize(
    ("sources", "merged"),
    [
        (None, {"u": 1, "p": 1, "l": 1, "m": 1}),
        (["user"], {"u": 1, "m": 1}),
        (["local", "project"], {"p": 1, "l": 1, "m": 1}),
        ([], {"m": 1}),
    ],
)
def test_sources_limit_what_is_read(
    tmp_path: Path, sources: list[str] | None, merged: dict[str, int]
) -> None:
    files = {
        "home/.claude/settings.json": {"u": 1},
        "repo/.claude/settings.json": {"p": 1},
        "repo/.claude/settings.local.json": {"l": 1},
        "etc/forge/managed-settings.json": {"m": 1},
    }
    assert load(tree(tmp_path, files), sources=sources).merged == merged


@pytest.mark.parametrize(
    ("text", "names"),
    [("", []), ("user", ["user"]), ("user, project", ["user", "project"]), ("local,user", ["local", "user"])],
)
def test_setting_sources_are_parsed(text: str, names: list[str]) -> None:
    assert parse_setting_sources(text) == names


@pytest.mark.parametrize(("text", "wrong"), [("foo", "foo"), ("user,,local", ""), ("USER", "USER")])
def test_unknown_setting_source_is_a_usage_error(text: str, wrong: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_setting_sources(text)
    assert str(caught.value) == (
        f"Error processing --setting-sources: Invalid setting source: {wrong}. "
        "Valid options are: user, project, local"
    )


def test_wrong_type_costs_the_whole_file_and_says_where(tmp_path: Path) -> None:
    text = '{\n  "model": "opus",\n  "permissions": {\n    "allow": "Read"\n  }\n}\n'
    p = tree(tmp_path, {"home/.claude/settings.json": text, "repo/.claude/settings.json": {"language": "de"}})
    found = load(p)
    path = str(tmp_path / "home/.claude/settings.json")
    assert found.merged == {"language": "de"}
    assert found.diagnostics == [
        Diagnostic(
            Severity.ERROR,
            "Expected array, but received string",
            Origin(Scope.USER, path),
            WHOLE,
            line=4,
            column=14,
            key="permissions.allow",
        )
    ]
    assert str(found.diagnostics[0]) == (
        f"{path}:4:14 (permissions.allow): Expected array, but received string. {WHOLE}"
    )


def test_get_takes_dotted_keys_and_tuples(tmp_path: Path) -> None:
    data = {"enabledPlugins": {"a.b@c": True}, "permissions": {"defaultMode": "plan"}}
    found = load(tree(tmp_path, {"home/.claude/settings.json": data}))
    assert found.get("permissions.defaultMode") == "plan"
    assert found.get(("enabledPlugins", "a.b@c")) is True
    assert found.get("permissions.none.deeper", "default") == "default"


def test_untrusted_workspace_cannot_name_credential_programs(tmp_path: Path) -> None:
    files = {
        "home/.claude/settings.json": {"apiKeyHelper": "mine"},
        "repo/.claude/settings.json": {"apiKeyHelper": "theirs", "model": "m"},
    }
    p = tree(tmp_path, files)
    assert load(p, trusted=True).merged == {"apiKeyHelper": "theirs", "model": "m"}
    found = load(p, trusted=False)
    assert found.merged == {"apiKeyHelper": "mine", "model": "m"}
    assert [(note.key, note.origin.scope) for note in found.diagnostics] == [("apiKeyHelper", Scope.PROJECT)]


def test_host_changes_the_flag_layer(tmp_path: Path) -> None:
    p = tree(tmp_path, {"home/.claude/settings.json": {"model": "u", "language": "de"}})
    first = load(p, flag='{"model": "f", "env": {"A": "1"}}')
    second = apply_flag(first, {"model": None, "env": {"B": 2}})
    assert second.merged == {"model": "u", "language": "de", "env": {"B": "2"}}
    third = apply_flag(load(p), {"model": "x"})
    assert (third.merged["model"], third.origin("model")) == ("x", Origin(Scope.FLAG, "apply_flag_settings"))
    assert apply_flag(third, {"model": 3}).merged["model"] == "x"


def test_scopes_can_be_seen_one_by_one(tmp_path: Path) -> None:
    files = {
        "home/.claude/settings.json": {"a": 1, "b": [1]},
        "home/.forge/settings.json": {"a": 2, "b": [2]},
        "repo/.forge/settings.json": {"c": 3},
    }
    assert load(tree(tmp_path, files)).by_scope() == [
        (Scope.USER, {"a": 2, "b": [1, 2]}),
        (Scope.PROJECT, {"c": 3}),
    ]


@pytest.mark.requirement("S0-05", "S0-02")
def test_writing_goes_to_the_own_dialect_and_leaves_the_others(tmp_path: Path) -> None:
    p = tree(tmp_path, {"repo/.claude/settings.json": {"model": "theirs"}})
    assert write_setting(p, Scope.PROJECT, "model", "mine")
    assert write_setting(p, Scope.USER, ("enabledPlugins", "a.b@c"), True)
    assert append_to_list(p, Scope.LOCAL, "permissions.allow", ["Read", "Edit"])
    assert load(p).merged == {
        "model": "mine",
        "enabledPlugins": {"a.b@c": True},
        "permissions": {"allow": ["Read", "Edit"]},
    }
    assert (tmp_path / "repo/.claude/settings.json").read_text() == '{"model": "theirs"}'
    assert (tmp_path / "home/.forge/settings.json").stat().st_mode & 0o777 == 0o600


def test_writing_the_same_again_changes_nothing(tmp_path: Path) -> None:
    p = tree(tmp_path, {})
    assert [write_setting(p, Scope.USER, "model", "x") for _ in range(2)] == [True, False]
    assert [append_to_list(p, Scope.USER, "list", ["x"]) for _ in range(2)] == [True, False]
    assert [remove_from_list(p, Scope.USER, "list", ["x"]) for _ in range(2)] == [True, False]
    assert [remove_setting(p, Scope.USER, "list") for _ in range(2)] == [True, False]
    assert (tmp_path / "home/.forge/settings.json").read_text() == '{\n  "model": "x"\n}\n'


@pytest.mark.requirement("S0-47")
def test_first_local_write_keeps_the_file_out_of_git(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
    (tmp_path / "home").mkdir()
    p = find_places({"HOME": str(tmp_path / "home")}, str(tmp_path / "repo"))
    for value in ("a", "b"):
        write_setting(p, Scope.LOCAL, "model", value)
    command = ["git", "status", "--porcelain"]
    status = subprocess.run(command, cwd=p.cwd, check=True, capture_output=True, text=True)
    assert status.stdout == ""
    exclude = (tmp_path / "repo/.git/info/exclude").read_text()
    assert exclude.count("**/.forge/settings.local.json\n") == 1


def test_local_write_outside_git_needs_no_ignore_rule(tmp_path: Path) -> None:
    p = find_places({"HOME": str(tmp_path)}, str(tmp_path))
    write_setting(p, Scope.LOCAL, "model", "x")
    assert os.listdir(tmp_path) == [".forge"]


def test_layer_names_its_origin() -> None:
    assert Layer(Scope.USER, "/x", {}).origin == Origin(Scope.USER, "/x")
