from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from forge.core.plugins.read import How
from unit.core.plugins.plugin_tree import MANIFEST, STOP, TEXT, errors, load, names, plant

NAMED = "---\nname: fancy\ndescription: d\n---\nx"
BROKEN = {"hooks": {"PreToolUse": [{"hooks": [{"type": "zzz"}]}]}}


@pytest.mark.requirement("S1-08", "S1-13")
def test_every_component_is_found_in_its_default_place(tmp_path: Path) -> None:
    files = {
        MANIFEST: {"name": "p", "version": "1.0"},
        "skills/a/SKILL.md": NAMED,
        "skills/two words/SKILL.md": TEXT,
        "skills/flat.md": TEXT,
        "skills/deep/er/SKILL.md": TEXT,
        "commands/c.md": NAMED,
        "commands/sub/d.md": TEXT,
        "commands/skill/SKILL.md": TEXT,
        "agents/e.md": TEXT,
        "agents/sub/f.md": "---\nname: g\n---\nx",
        "output-styles/s.md": "---\nname: S\n---\nx",
        ".mcp.json": {"m": {"command": "true"}},
        ".lsp.json": {"l": {"command": "l", "extensionToLanguage": {".l": "l"}}},
        "hooks/hooks.json": {"description": "x", "hooks": STOP},
        "monitors/monitors.json": [{"name": "w", "command": "c", "description": "d"}],
        "themes/moss.json": {"name": "Moss"},
        "workflows/w.js": "x",
        "settings.json": {"agent": "p:e", "model": "ignored"},
        "bin/tool": "x",
        "CLAUDE.md": "x",
    }
    plugin = load(tmp_path, files)
    assert names(plugin) == {
        "skills": ["p:a", "p:skill", "p:two-words"],
        "commands": ["p:c", "p:sub:d"],
        "agents": ["p:e", "p:sub:g"],
        "styles": ["p:S"],
        "servers": ["plugin:p:m"],
        "languages": ["plugin:p:l"],
        "extras": ["monitor w", "theme p:moss", "workflow p:w"],
    }
    own = plugin.contribution
    assert (plugin.version, errors(plugin)) == ("1.0", [])
    assert own.settings == {"agent": "p:e"}
    assert own.bin_dirs == [f"{tmp_path}/bin"]
    assert [h.events for h in own.hooks] == [STOP]
    assert {c.value.display for c in own.skills} == {"p:fancy", ""}


@pytest.mark.parametrize(
    ("manifest", "files", "expected"),
    [
        ({"skills": "./more"}, ["skills/a/SKILL.md", "more/b/SKILL.md"], {"skills": ["p:a", "p:b"]}),
        ({"skills": ["./lone"]}, ["lone/SKILL.md"], {"skills": ["p:lone"]}),
        ({"skills": ["."]}, ["x/SKILL.md", "skills/y/SKILL.md"], {"skills": ["p:x", "p:y"]}),
        ({"commands": "./c"}, ["commands/a.md", "c/b.md"], {"commands": ["p:b"]}),
        ({"commands": ["./x.md", "./t.txt"]}, ["x.md", "t.txt"], {"commands": ["p:x"]}),
        ({"commands": []}, ["commands/a.md"], {}),
        ({"agents": "./far/b.md"}, ["agents/a.md", "far/b.md"], {"agents": ["p:b"]}),
        ({"agents": []}, ["agents/a.md"], {}),
        ({"outputStyles": "./o"}, ["output-styles/a.md", "o/b.md"], {"styles": ["p:b"]}),
        ({}, ["skills/SKILL.md", "skills/a/SKILL.md"], {"skills": ["p:skills"]}),
        ({}, ["SKILL.md", "skills/a/SKILL.md"], {"skills": ["p:a"]}),
        ({"commands": ["./commands", "./commands/a.md"]}, ["commands/a.md"], {"commands": ["p:a"]}),
    ],
)
def test_manifest_paths_add_or_replace(
    manifest: dict[str, Any], files: list[str], expected: dict[str, list[str]], tmp_path: Path
) -> None:
    plugin = load(tmp_path, {MANIFEST: {"name": "p", **manifest}, **dict.fromkeys(files, TEXT)})
    assert (names(plugin), errors(plugin)) == (expected, [])


def test_a_single_skill_is_called_as_its_front_matter_says(tmp_path: Path) -> None:
    files = {MANIFEST: {"name": "p", "skills": "./lone"}, "lone/SKILL.md": NAMED}
    assert names(load(tmp_path, files)) == {"skills": ["p:fancy"]}


def test_without_a_manifest_the_directory_gives_the_name(tmp_path: Path) -> None:
    plugin = load(tmp_path / "Odd Name", {"skills/a/SKILL.md": TEXT})
    assert (plugin.name, names(plugin)) == ("Odd Name", {"skills": ["Odd Name:a"]})


def test_commands_can_be_a_map_of_files_and_texts(tmp_path: Path) -> None:
    commands = {
        "two words": {"content": "Hello $ARGUMENTS", "argumentHint": "[x]", "allowedTools": ["Read"]},
        "file": {"source": "./f.md", "description": "other"},
        "gone": {"source": "./gone.md"},
    }
    plugin = load(tmp_path, {MANIFEST: {"name": "p", "commands": commands}, "f.md": TEXT})
    found = {c.name: c.value for c in plugin.contribution.skills}
    assert list(found) == ["p:file", "p:two words"]
    assert (found["p:file"].description, found["p:file"].described) == ("other", True)
    inline = found["p:two words"]
    assert (inline.inline, inline.argument_hint, inline.allowed_tools, inline.described) == (
        "Hello $ARGUMENTS",
        "[x]",
        ["Read"],
        False,
    )
    assert errors(plugin) == [("p@test", "path-not-found")]


@pytest.mark.parametrize(
    ("manifest", "expected"),
    [
        ({"skills": "./gone"}, ["path-not-found"]),
        ({"commands": ["./gone.md"], "agents": ["./gone.md"]}, ["path-not-found"] * 2),
        ({"outputStyles": "./gone", "workflows": "./gone"}, ["path-not-found"] * 2),
        ({"hooks": "./gone.json"}, ["path-not-found"]),
        ({"mcpServers": "./gone.json", "lspServers": "./gone.json"}, []),
        ({"experimental": {"monitors": "./gone.json"}}, ["component-load-failed"]),
        ({"skills": "./skills/ok/SKILL.md"}, ["component-load-failed"]),
    ],
)
def test_a_missing_path_costs_only_itself(
    manifest: dict[str, Any], expected: list[str], tmp_path: Path
) -> None:
    plugin = load(tmp_path, {MANIFEST: {"name": "p", **manifest}, "skills/ok/SKILL.md": TEXT})
    assert [error.type for error in plugin.errors] == expected
    assert plugin.loaded
    assert names(plugin) == {"skills": ["p:ok"]}


@pytest.mark.requirement("S0-44")
@pytest.mark.parametrize("path", ["./../out", "./a/../../out", "./a\\b"])
def test_paths_cannot_leave_the_plugin(path: str, tmp_path: Path) -> None:
    (tmp_path / "out" / "x").mkdir(parents=True)
    (tmp_path / "out" / "x" / "SKILL.md").write_text(TEXT)
    plugin = load(tmp_path / "p", {MANIFEST: {"name": "p", "skills": path}})
    assert [error.message for error in plugin.errors] == [f"Path escapes plugin directory: {path} (skills)"]
    assert names(plugin) == {}


@pytest.mark.parametrize(
    ("inside", "expected"), [(False, ["p:in", "p:out", "p:real"]), (True, ["p:in", "p:real"])]
)
def test_links_of_installed_copies_stay_inside(inside: bool, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "SKILL.md").write_text(TEXT)
    (tmp_path / "p" / "store").mkdir(parents=True)
    (tmp_path / "p" / "store" / "SKILL.md").write_text(TEXT)
    (tmp_path / "p" / "skills").mkdir()
    os.symlink("../store", tmp_path / "p" / "skills" / "in")
    os.symlink(tmp_path / "out", tmp_path / "p" / "skills" / "out")
    plugin = load(tmp_path / "p", {MANIFEST: {"name": "p"}, "skills/real/SKILL.md": TEXT}, How(inside=inside))
    assert names(plugin)["skills"] == expected


@pytest.mark.requirement("S0-44")
@pytest.mark.parametrize(
    "place",
    [
        "hooks",
        "hooks/hooks.json",
        ".mcp.json",
        ".lsp.json",
        "commands",
        "agents/x.md",
        "skills/a/SKILL.md",
        "bin",
    ],
)
def test_no_default_place_of_an_installed_copy_may_link_outside(place: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    server = {"m": {"command": "true"}}
    language = {"l": {"command": "l", "extensionToLanguage": {".l": "l"}}}
    plant(outside / "hooks", {"hooks.json": {"hooks": STOP}})
    plant(outside, {".mcp.json": server, ".lsp.json": language, "commands/c.md": TEXT, "agents/x.md": TEXT})
    plant(outside, {"skills/a/SKILL.md": TEXT, "bin/tool": "x"})
    link = tmp_path / "p" / place
    link.parent.mkdir(parents=True)
    os.symlink(outside / place, link)
    plugin = load(tmp_path / "p", {MANIFEST: {"name": "p"}}, How(inside=True))
    assert (names(plugin), plugin.contribution.hooks, plugin.contribution.bin_dirs) == ({}, [], [])
    assert [d.message for d in plugin.contribution.diagnostics] == ["is a link that leaves the plugin"]


@pytest.mark.parametrize("kind", ["commands", "agents"])
def test_links_that_lead_in_a_circle_end(kind: str, tmp_path: Path) -> None:
    plant(tmp_path, {MANIFEST: {"name": "p"}, f"{kind}/a.md": TEXT})
    for name in ("one", "two", "three"):
        os.symlink("..", tmp_path / kind / name)
    assert len(names(load(tmp_path, {}))[kind]) == 1


@pytest.mark.parametrize(
    ("manifest", "files"),
    [
        ({"hooks": BROKEN["hooks"]}, {}),
        ({}, {"hooks/hooks.json": BROKEN}),
        ({"hooks": "./h.json"}, {"h.json": BROKEN}),
        ({}, {"hooks/hooks.json": {"hooks": []}}),
        ({"version": 1}, {}),
    ],
)
def test_a_broken_guard_or_schema_costs_the_whole_plugin(
    manifest: dict[str, Any], files: dict[str, Any], tmp_path: Path
) -> None:
    how = How(failure_id="inline[3]")
    plugin = load(tmp_path, {MANIFEST: {"name": "p", **manifest}, "skills/a/SKILL.md": TEXT, **files}, how)
    assert (plugin.loaded, names(plugin)) == (False, {})
    assert [(e.plugin, e.type, e.path) for e in plugin.errors] == [
        ("inline[3]", "generic-error", str(tmp_path))
    ]
    assert plugin.errors[0].message.startswith("Failed to load plugin: ")


@pytest.mark.parametrize("content", ["{", "[]", STOP])
def test_a_broken_hooks_file_costs_only_itself(content: Any, tmp_path: Path) -> None:
    plugin = load(tmp_path, {MANIFEST: {"name": "p"}, "skills/a/SKILL.md": TEXT, "hooks/hooks.json": content})
    assert (errors(plugin), names(plugin)) == ([("p@test", "hook-load-failed")], {"skills": ["p:a"]})


def test_invalid_hooks_of_other_events_are_dropped_and_noted(tmp_path: Path) -> None:
    hooks = {**STOP, "Zzz": [], "SessionStart": {}, "SessionEnd": [{"hooks": [{"type": "command"}]}]}
    plugin = load(tmp_path, {MANIFEST: {"name": "p", "hooks": hooks}})
    assert [h.events for h in plugin.contribution.hooks] == [{**STOP, "SessionEnd": [{"hooks": []}]}]
    assert len(plugin.contribution.diagnostics) == 3
    assert plugin.errors == []


def test_hooks_modules_are_reported_as_unsupported(tmp_path: Path) -> None:
    plugin = load(
        tmp_path,
        {MANIFEST: {"name": "p"}, "hooks/hooks.json": {"modules": ["./r.tsx"]}, "hooks/r.tsx": ""},
    )
    assert names(plugin) == {"extras": ["hooks-module ./r.tsx"]}
    assert [d.hint for d in plugin.contribution.diagnostics] == ["Forge has no JavaScript engine."]


@pytest.mark.requirement("S0-09", "S1-14", "S1-134")
@pytest.mark.parametrize("wrapper", ["mcpServers", "mcp_servers", ""])
def test_servers_of_file_and_manifest_are_merged(wrapper: str, tmp_path: Path) -> None:
    servers = {"same": {"command": "file"}, "own": {"command": "x"}, "bad": {}, "twin": {"command": "x"}}
    manifest = {
        "name": "p",
        "mcpServers": [{"same": {"command": "manifest"}}, {"url": {"type": "sse", "url": "u"}}],
    }
    plugin = load(tmp_path, {MANIFEST: manifest, ".mcp.json": {wrapper: servers} if wrapper else servers})
    assert {c.name: c.value.config for c in plugin.contribution.servers} == {
        "plugin:p:same": {"command": "manifest"},
        "plugin:p:own": {"command": "x"},
        "plugin:p:url": {"type": "sse", "url": "u"},
    }


@pytest.mark.parametrize("content", ["{", "[]", "{}", {"l": {"command": "x"}}, {"lspServers": {}}])
def test_unusable_server_files_bring_nothing(content: Any, tmp_path: Path) -> None:
    plugin = load(tmp_path, {MANIFEST: {"name": "p"}, ".mcp.json": "{", ".lsp.json": content})
    assert (names(plugin), plugin.errors) == ({}, [])


def test_a_command_is_listed_behind_the_skill_it_wins_over(tmp_path: Path) -> None:
    plugin = load(tmp_path, {MANIFEST: {"name": "p"}, "commands/x.md": TEXT, "skills/x/SKILL.md": TEXT})
    assert [c.value.is_command for c in plugin.contribution.skills] == [False, True]


def test_saved_options_reach_the_plugin_and_secrets_only_under_their_name(tmp_path: Path) -> None:
    option = {"type": "string", "title": "t", "description": "d"}
    config = {"city": {**option, "default": "Paris"}, "key": {**option, "sensitive": True}, "size": option}
    servers = {"m": {"command": "x", "env": {"C": "${user_config.city}", "K": "${user_config.key}"}}}
    how = How(options={"size": "9", "key": "leak", "other": 1}, secrets={"key": "s3cret", "size": "no"})
    plugin = load(tmp_path, {MANIFEST: {"name": "p", "userConfig": config, "mcpServers": servers}}, how)
    entry = plugin.contribution.servers[0].value
    assert entry.config["env"] == {"C": "Paris", "K": "${user_config.key}"}
    assert entry.plugin and entry.plugin.options == {"size": "9", "key": "s3cret"}
    assert entry.plugin.sensitive == {"key"}


def entry_of(**more: Any) -> How:
    return How(entry={"name": "entry", "source": "./p", "version": "7", **more})


OTHER = {"SessionStart": STOP["Stop"]}


@pytest.mark.requirement("S1-05")
@pytest.mark.parametrize(
    ("hooks", "expected"),
    [("./h.json", [STOP]), (OTHER, [OTHER]), (["./h.json", OTHER], [STOP, OTHER]), (["./h.json"], [STOP])],
)
def test_hooks_of_a_manifest_are_a_path_an_object_or_both(
    hooks: Any, expected: list[Any], tmp_path: Path
) -> None:
    plugin = load(tmp_path, {MANIFEST: {"name": "p", "hooks": hooks}, "h.json": {"hooks": STOP}})
    assert [source.events for source in plugin.contribution.hooks] == expected


def test_an_entry_is_the_manifest_of_a_plugin_without_one(tmp_path: Path) -> None:
    how = entry_of(mcpServers={"m": {"command": "x"}}, commands=["./x.md"], hooks=STOP)
    files = {"x.md": TEXT, "commands/y.md": TEXT, "skills/a/SKILL.md": TEXT}
    plugin = load(tmp_path, files, how)
    assert (plugin.name, plugin.version) == ("entry", "7")
    commands = ["entry:x", "entry:y"]
    assert names(plugin) == {"skills": ["entry:a"], "commands": commands, "servers": ["plugin:entry:m"]}
    assert [h.events for h in plugin.contribution.hooks] == [STOP]


def test_a_strict_entry_adds_to_the_manifest(tmp_path: Path) -> None:
    start = {"SessionStart": STOP["Stop"]}
    other = {"Stop": [{"hooks": [{"type": "command", "command": "entry"}]}]}
    how = entry_of(commands="./x.md", skills="./more", mcpServers={"m": {"command": "x"}}, hooks=other)
    files = {
        MANIFEST: {"name": "p", "hooks": {**STOP, **start}},
        "commands/c.md": TEXT,
        "x.md": TEXT,
        "more/b/SKILL.md": TEXT,
        "skills/a/SKILL.md": TEXT,
    }
    plugin = load(tmp_path, files, how)
    assert names(plugin) == {"skills": ["p:a", "p:b"], "commands": ["p:c", "p:x"]}
    assert [h.events for h in plugin.contribution.hooks] == [start, other]


def test_an_entry_that_is_not_strict_must_not_name_components(tmp_path: Path) -> None:
    files = {MANIFEST: {"name": "p"}, "skills/a/SKILL.md": TEXT}
    plugin = load(tmp_path, files, entry_of(strict=False, commands=["./x.md"]))
    assert (plugin.loaded, plugin.conflict) == (False, True)
    assert names(load(tmp_path, files, entry_of(strict=False))) == {"skills": ["p:a"]}


@pytest.mark.parametrize(("source", "expected"), [("./", ["p:b"]), (".", ["p:b"]), ("./p", ["p:a", "p:b"])])
def test_listed_skills_of_a_root_source_are_the_only_ones(
    source: str, expected: list[str], tmp_path: Path
) -> None:
    how = How(entry={"name": "p", "source": source, "skills": ["./more/b"]})
    plugin = load(tmp_path, {"skills/a/SKILL.md": TEXT, "more/b/SKILL.md": TEXT}, how)
    assert names(plugin) == {"skills": expected}


def test_hooks_of_an_entry_cannot_be_a_path(tmp_path: Path) -> None:
    plugin = load(tmp_path, {MANIFEST: {"name": "p"}, "h.json": {"hooks": STOP}}, entry_of(hooks="./h.json"))
    assert errors(plugin) == [("p@test", "hook-load-failed")]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("C.d", "C-d"),
        ("ü", "-"),
        ("a+b", "a-b"),
        ("x_y", "x_y"),
        ("A:B", "A-B"),
        ("a  b", "a--b"),
        ("it's", "it-s"),
    ],
)
def test_folders_become_names_of_skills(folder: str, name: str, tmp_path: Path) -> None:
    assert names(load(tmp_path, {MANIFEST: {"name": "p"}, f"skills/{folder}/SKILL.md": TEXT})) == {
        "skills": [f"p:{name}"]
    }


def test_of_two_skills_of_one_name_the_first_counts(tmp_path: Path) -> None:
    files = {MANIFEST: {"name": "p", "skills": "./more"}, "skills/a/SKILL.md": NAMED, "more/a/SKILL.md": TEXT}
    (skill,) = load(tmp_path, files).contribution.skills
    assert (skill.name, skill.value.display) == ("p:a", "p:fancy")


def test_odd_entries_of_a_command_map(tmp_path: Path) -> None:
    commands = {"": {"content": "x"}, "a:b": {"content": "y"}, "dir": {"source": "./cmds"}}
    plugin = load(tmp_path, {MANIFEST: {"name": "p", "commands": commands}, "cmds/x.md": NAMED})
    assert names(plugin) == {"commands": ["p:a:b", "p:x"]}
    assert [c.value.display for c in plugin.contribution.skills] == ["p:fancy", ""]


def test_a_missing_hooks_module_is_reported(tmp_path: Path) -> None:
    plugin = load(tmp_path, {MANIFEST: {"name": "p"}, "hooks/hooks.json": {"modules": ["./r.js"]}})
    assert errors(plugin) == [("p@test", "path-not-found")]
