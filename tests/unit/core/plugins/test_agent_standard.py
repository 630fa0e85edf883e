from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from forge.core.plugins.agent_standard import NAMESPACE, SCHEMA, SERVER_SCHEMA
from forge.core.plugins.manifest import Form
from forge.core.plugins.read import How, PluginLoad
from unit.core.plugins.plugin_tree import MANIFEST, STOP, TEXT, load, names

HEAD = {"$schema": SCHEMA, "name": "p"}
LOCAL = {"type": "stdio", "command": "tool"}
REMOTE = {"type": "streamable-http", "url": "https://example.org/mcp"}


def skill(name: str, more: str = "") -> str:
    return f"---\nname: {name}\ndescription: d\n{more}---\nbody\n"


def standard(root: Path, files: dict[str, Any] | None = None, **manifest: Any) -> PluginLoad:
    return load(root, {"plugin.json": {**HEAD, **manifest}, **(files or {})}, How(data_dir=f"{root}.data"))


def servers(root: Path, entries: dict[str, Any], files: dict[str, Any] | None = None) -> dict[str, Any]:
    content = {"$schema": SERVER_SCHEMA, "mcpServers": entries}
    plugin = standard(root, {"mcp.json": content, **(files or {})})
    return {c.name.removeprefix("plugin:p:"): c.value.config for c in plugin.contribution.servers}


def notes(plugin: PluginLoad) -> list[str]:
    return [d.message for d in plugin.contribution.diagnostics]


# How the formats are told apart


@pytest.mark.parametrize("place", [".forge-plugin/plugin.json", MANIFEST])
def test_another_manifest_comes_first(place: str, tmp_path: Path) -> None:
    plugin = standard(tmp_path, {place: {"name": "claude"}, "commands/c.md": TEXT})
    assert names(plugin) == {"commands": ["claude:c"]}


def test_a_root_manifest_with_the_schema_is_of_this_format(tmp_path: Path) -> None:
    plugin = standard(tmp_path, {"commands/c.md": TEXT, "agents/a.md": TEXT, ".mcp.json": {"m": LOCAL}})
    assert (plugin.form, names(plugin)) == (Form.STANDARD, {})


def test_a_root_manifest_without_a_schema_is_the_bare_form(tmp_path: Path) -> None:
    plugin = load(tmp_path, {"plugin.json": {"name": "bare"}, "commands/c.md": TEXT})
    assert (plugin.form, names(plugin)) == (Form.BARE, {"commands": ["bare:c"]})


def test_both_manifests_are_one_plugin_and_nothing_is_doubled(tmp_path: Path) -> None:
    entries = {"same": {**LOCAL, "command": "standard"}, "more": {**LOCAL, "command": "other"}}
    plugin = standard(
        tmp_path,
        {
            MANIFEST: {"name": "p"},
            ".mcp.json": {"same": {"command": "claude"}},
            "mcp.json": {"$schema": SERVER_SCHEMA, "mcpServers": entries},
            "skills/a/SKILL.md": skill("a"),
        },
    )
    assert names(plugin) == {"skills": ["p:a"], "servers": ["plugin:p:more", "plugin:p:same"]}
    assert plugin.contribution.servers[0].value.config == {"command": "claude"}
    assert notes(plugin) == ["also has a manifest of Agent Plugins; both are used as one plugin"]


# The manifest


@pytest.mark.parametrize(
    "version", ["https://agent-plugins.org/schemas/2.0.0/plugin.schema.json", "https://agent-plugins.org/x"]
)
def test_an_unsupported_version_rejects_the_plugin_with_a_message(version: str, tmp_path: Path) -> None:
    plugin = standard(tmp_path, {"skills/a/SKILL.md": skill("a")}, **{"$schema": version})
    assert (plugin.loaded, names(plugin)) == (False, {})
    assert "unsupported version of Agent Plugins; this client knows 1.0.0" in plugin.errors[0].message


@pytest.mark.parametrize("name", ["a", "a-b.c", "9", "a" * 64, "a.b-c"])
def test_names_have_1_to_64_small_letters_digits_dashes_and_dots(name: str, tmp_path: Path) -> None:
    assert standard(tmp_path, name=name).loaded


@pytest.mark.parametrize(
    "name", ["", "A", "a_b", "-a", "a-", ".a", "a.", "a--b", "a..b", "a" * 65, "a b", "ä", None, 5]
)
def test_other_names_are_fatal(name: Any, tmp_path: Path) -> None:
    assert not standard(tmp_path, name=name).loaded


def test_a_name_is_required(tmp_path: Path) -> None:
    assert not load(tmp_path, {"plugin.json": {"$schema": SCHEMA}}).loaded


@pytest.mark.parametrize("field", ["version", "description", "homepage", "repository", "license"])
def test_texts_are_strings_whose_content_is_not_judged(field: str, tmp_path: Path) -> None:
    assert standard(tmp_path / "right", None, **{field: "anything at all"}).loaded
    assert not standard(tmp_path / "wrong", None, **{field: 5}).loaded


@pytest.mark.parametrize(
    ("author", "loaded"),
    [
        ({"name": "n", "email": "e", "url": "u"}, True),
        ({}, True),
        ("n", False),
        ({"name": 5}, False),
        ({"x": "y"}, False),
    ],
)
def test_an_author_has_only_name_email_and_url(author: Any, loaded: bool, tmp_path: Path) -> None:
    assert standard(tmp_path, author=author).loaded is loaded


@pytest.mark.parametrize(("keywords", "loaded"), [(["a"], True), ([], True), ("a", False), ([1], False)])
def test_keywords_are_a_list_of_strings(keywords: Any, loaded: bool, tmp_path: Path) -> None:
    assert standard(tmp_path, keywords=keywords).loaded is loaded


@pytest.mark.parametrize(
    ("extensions", "reported"),
    [({"org.example": 5}, 0), ({NAMESPACE: {}}, 0), ({NAMESPACE: 5}, 1), ("x", 1), ([], 1)],
)
def test_extensions_never_cost_the_plugin_and_foreign_ones_are_not_read(
    extensions: Any, reported: int, tmp_path: Path
) -> None:
    plugin = standard(tmp_path, extensions=extensions)
    assert (plugin.loaded, len(notes(plugin))) == (True, reported)


def test_unknown_fields_are_reported_and_ignored(tmp_path: Path) -> None:
    plugin = standard(tmp_path, {"x/c.md": TEXT}, commands="./x")
    assert (plugin.loaded, names(plugin)) == (True, {})
    assert notes(plugin) == ["commands: Unknown field 'commands'; it is ignored."]


def test_a_violation_is_fatal_and_nothing_is_discovered(tmp_path: Path) -> None:
    plugin = standard(tmp_path, {"skills/a/SKILL.md": skill("a")}, version=1)
    assert (plugin.loaded, names(plugin)) == (False, {})


# Skills


def test_skills_are_the_immediate_children_with_a_file_of_that_exact_name(tmp_path: Path) -> None:
    files = {
        "skills/a/SKILL.md": skill("a"),
        "skills/b/skill.md": skill("b"),
        "skills/c/deep/SKILL.md": skill("deep"),
        "skills/d.md": skill("d"),
        "skills/e/SKILL.md/x": "a directory of that name",
        "SKILL.md": skill("root"),
    }
    assert names(standard(tmp_path, files)) == {"skills": ["p:a"]}


def test_all_keys_of_agent_skills_are_accepted(tmp_path: Path) -> None:
    keys = "license: MIT\ncompatibility: any\nmetadata:\n  a: b\nallowed-tools: Read Grep\n"
    assert names(standard(tmp_path, {"skills/a/SKILL.md": skill("a", keys)})) == {"skills": ["p:a"]}


@pytest.mark.parametrize(
    "content",
    [
        skill("other"),
        skill("bad", "model: x\n"),
        skill("bad", "metadata: x\n"),
        skill("bad", "license: 5\n"),
        "---\nname: bad\n---\n",
        "---\ndescription: d\n---\n",
        "---\nname: bad\ndescription: ''\n---\n",
        f"---\nname: bad\ndescription: {'x' * 1025}\n---\n",
        "---\nname: bad\ndescription: 'open\n---\n",
        "no front matter",
    ],
)
def test_a_bad_skill_is_skipped_and_reported_and_the_rest_loads(content: str, tmp_path: Path) -> None:
    plugin = standard(tmp_path, {"skills/bad/SKILL.md": content, "skills/good/SKILL.md": skill("good")})
    assert names(plugin) == {"skills": ["p:good"]}
    assert len(notes(plugin)) == 1


@pytest.mark.parametrize("name", ["Upper", "a--b", "-a", "a_b"])
def test_a_skill_needs_a_proper_name(name: str, tmp_path: Path) -> None:
    assert names(standard(tmp_path, {f"skills/{name}/SKILL.md": skill(name)})) == {}


def test_claude_plugins_keep_the_lenient_rules_for_skills(tmp_path: Path) -> None:
    plugin = load(tmp_path, {MANIFEST: {"name": "p"}, "skills/a/SKILL.md": skill("b", "model: x\n")})
    assert names(plugin) == {"skills": ["p:a"]}


# The file of servers


@pytest.mark.parametrize(
    "content",
    [
        "{",
        [],
        {"mcpServers": {"m": LOCAL}},
        {"$schema": SERVER_SCHEMA},
        {"$schema": SERVER_SCHEMA, "mcpServers": {"m": LOCAL}, "x": 1},
        {"$schema": SERVER_SCHEMA.replace("1.0.0", "1.1.0"), "mcpServers": {"m": LOCAL}},
        {"$schema": SERVER_SCHEMA, "mcpServers": []},
    ],
)
def test_an_invalid_file_turns_servers_off_and_skills_still_load(content: Any, tmp_path: Path) -> None:
    plugin = standard(tmp_path, {"mcp.json": content, "skills/a/SKILL.md": skill("a")})
    assert names(plugin) == {"skills": ["p:a"]}
    assert len(notes(plugin)) == 1


@pytest.mark.parametrize(
    "entry",
    [
        5,
        {},
        {"command": "x"},
        {"type": "ws", "url": "wss://x"},
        {"type": ["stdio"], "command": "x"},
        {**LOCAL, "extra": 1},
        {**LOCAL, "url": "https://example.org"},
        {**REMOTE, "command": "x"},
        {"type": "stdio"},
        {"type": "sse"},
    ],
)
def test_an_entry_outside_the_closed_variants_is_alone_invalid(entry: Any, tmp_path: Path) -> None:
    assert list(servers(tmp_path, {"bad": entry, "good": LOCAL})) == ["good"]


@pytest.mark.parametrize(
    ("command", "valid"),
    [
        ("tool", True),
        ("./bin/tool", True),
        ("${HOME}", True),
        ("", False),
        ("tool --flag", False),
        ("bin/tool", False),
        ("/usr/bin/tool", False),
        ("../tool", False),
        ("./../tool", False),
        ("./a b", False),
        (5, False),
    ],
)
def test_a_command_is_one_word_and_stays_inside(command: Any, valid: bool, tmp_path: Path) -> None:
    assert bool(servers(tmp_path, {"m": {**LOCAL, "command": command}})) is valid


def test_a_command_is_never_expanded(tmp_path: Path) -> None:
    found = servers(tmp_path, {"m": {**LOCAL, "command": "${PLUGIN_ROOT}"}})
    assert found["m"]["command"] == "${PLUGIN_ROOT}"


@pytest.mark.parametrize("more", [{"args": "x"}, {"args": [1]}, {"env": {"A": 1}}, {"env": []}])
def test_arguments_and_environment_are_strings(more: dict[str, Any], tmp_path: Path) -> None:
    assert servers(tmp_path, {"m": {**LOCAL, **more}}) == {}


@pytest.mark.parametrize("name", ["PLUGIN_ROOT", "PLUGIN_DATA"])
def test_the_environment_must_not_name_the_clients_variables(name: str, tmp_path: Path) -> None:
    assert servers(tmp_path, {"m": {**LOCAL, "env": {name: "x"}}}) == {}


@pytest.mark.parametrize(
    ("cwd", "place"),
    [
        (None, ""),
        ("./", ""),
        ("./sub", "/sub"),
        ("${PLUGIN_ROOT}", ""),
        ("${PLUGIN_ROOT}/a", "/a"),
        ("${PLUGIN_DATA}", ".data"),
        ("${PLUGIN_DATA}/b", ".data/b"),
    ],
)
def test_the_directory_is_inside_the_plugin_or_its_data(cwd: str | None, place: str, tmp_path: Path) -> None:
    root = tmp_path / "p"
    entry = LOCAL if cwd is None else {**LOCAL, "cwd": cwd}
    assert servers(root, {"m": entry})["m"]["cwd"] == f"{root}{place}"


@pytest.mark.parametrize(
    "cwd", ["sub", "/tmp", "./..", "${PLUGIN_ROOT}/..", "${PLUGIN_DATA}/../x", "${HOME}"]
)
def test_other_directories_are_refused(cwd: str, tmp_path: Path) -> None:
    assert servers(tmp_path / "p", {"m": {**LOCAL, "cwd": cwd}}) == {}


@pytest.mark.parametrize("kind", ["streamable-http", "sse"])
@pytest.mark.parametrize(
    ("url", "valid"),
    [
        ("https://example.org/mcp?x=1", True),
        ("http://127.0.0.1:8000/mcp", True),
        ("http://localhost/mcp", True),
        ("http://[::1]:8/mcp", True),
        ("http://example.org/mcp", False),
        ("/mcp", False),
        ("example.org", False),
        ("ftp://example.org/", False),
        ("https://user:pw@example.org/", False),
        ("https://@example.org/", False),
        ("https://example.org/#part", False),
        ("${URL}", False),
        ("", False),
    ],
)
def test_an_address_is_absolute_and_encrypted_except_on_loopback(
    kind: str, url: str, valid: bool, tmp_path: Path
) -> None:
    assert bool(servers(tmp_path, {"m": {"type": kind, "url": url}})) is valid


@pytest.mark.parametrize(
    ("headers", "valid"),
    [
        ({"X-Key": "literal ${HOME}"}, True),
        ({"X-Key": "a", "x-key": "b"}, False),
        ({"bad name": "x"}, False),
        ({"": "x"}, False),
        ({"X": "a\nb"}, False),
        ({"X": 5}, False),
    ],
)
def test_headers_are_literal_valid_and_not_repeated(headers: Any, valid: bool, tmp_path: Path) -> None:
    found = servers(tmp_path, {"m": {**REMOTE, "headers": headers}})
    assert bool(found) is valid
    if valid:
        assert found["m"] == {"type": "http", "url": REMOTE["url"], "headers": headers, "literal": True}


# Places of the wrong kind


def test_missing_places_are_no_error(tmp_path: Path) -> None:
    plugin = standard(tmp_path)
    assert (plugin.loaded, notes(plugin)) == (True, [])


def test_a_place_of_the_wrong_kind_disables_only_its_type(tmp_path: Path) -> None:
    content = {"$schema": SERVER_SCHEMA, "mcpServers": {"m": LOCAL}}
    file = standard(tmp_path / "one", {"skills": "a file", "mcp.json": content})
    folder = standard(tmp_path / "two", {"mcp.json/x": "x", "skills/a/SKILL.md": skill("a")})
    assert names(file) == {"servers": ["plugin:p:m"]}
    assert names(folder) == {"skills": ["p:a"]}
    assert [len(notes(plugin)) for plugin in (file, folder)] == [1, 1]


# Environment and expansion


def test_root_and_data_are_set_and_replaced_once_in_arguments_and_environment(tmp_path: Path) -> None:
    root = tmp_path / "p"
    args = ["${PLUGIN_ROOT}/x", "${PLUGIN_DATA}", "${HOME}", "${CLAUDE_PLUGIN_ROOT}", "$PLUGIN_ROOT"]
    found = servers(root, {"m": {**LOCAL, "args": args, "env": {"A": "${PLUGIN_DATA}/${X}"}}})
    assert found["m"] == {
        "type": "stdio",
        "command": "tool",
        "args": [f"{root}/x", f"{root}.data", "${HOME}", "${CLAUDE_PLUGIN_ROOT}", "$PLUGIN_ROOT"],
        "env": {"A": f"{root}.data/${{X}}", "PLUGIN_ROOT": str(root), "PLUGIN_DATA": f"{root}.data"},
        "cwd": str(root),
        "literal": True,
    }


def test_the_root_is_the_resolved_one(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    os.symlink(tmp_path / "real", tmp_path / "link")
    found = servers(tmp_path / "link", {"m": {**LOCAL, "command": "./tool"}})
    assert found["m"]["env"]["PLUGIN_ROOT"] == str(tmp_path / "real")
    assert found["m"]["command"] == str(tmp_path / "real" / "tool")


# Containment


def outside(tmp_path: Path, name: str, content: str) -> Path:
    path = tmp_path / "outside" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    return path


def test_a_manifest_outside_rejects_the_plugin(tmp_path: Path) -> None:
    target = outside(tmp_path, "plugin.json", f'{{"$schema": "{SCHEMA}", "name": "p"}}')
    (tmp_path / "p").mkdir()
    os.symlink(target, tmp_path / "p" / "plugin.json")
    assert not load(tmp_path / "p", {"skills/a/SKILL.md": skill("a")}).loaded


def test_places_outside_turn_their_type_off(tmp_path: Path) -> None:
    outside(tmp_path, "skills/a/SKILL.md", skill("a"))
    file = outside(tmp_path, "mcp.json", f'{{"$schema": "{SERVER_SCHEMA}", "mcpServers": {{}}}}')
    (tmp_path / "p").mkdir()
    os.symlink(tmp_path / "outside" / "skills", tmp_path / "p" / "skills")
    os.symlink(file, tmp_path / "p" / "mcp.json")
    plugin = standard(tmp_path / "p")
    assert (plugin.loaded, names(plugin), len(notes(plugin))) == (True, {}, 2)


def test_a_skill_outside_is_skipped_alone(tmp_path: Path) -> None:
    target = outside(tmp_path, "SKILL.md", skill("out"))
    (tmp_path / "p" / "skills" / "out").mkdir(parents=True)
    os.symlink(target, tmp_path / "p" / "skills" / "out" / "SKILL.md")
    plugin = standard(tmp_path / "p", {"skills/a/SKILL.md": skill("a")})
    assert (names(plugin), len(notes(plugin))) == ({"skills": ["p:a"]}, 1)


@pytest.mark.parametrize("field", ["command", "cwd"])
def test_a_command_or_directory_that_links_outside_skips_its_server(field: str, tmp_path: Path) -> None:
    outside(tmp_path, "tool", "x")
    (tmp_path / "p").mkdir()
    os.symlink(tmp_path / "outside", tmp_path / "p" / "link")
    entry = {**LOCAL, "command": "./link/tool"} if field == "command" else {**LOCAL, "cwd": "./link"}
    assert list(servers(tmp_path / "p", {"bad": entry, "good": LOCAL})) == ["good"]


# Extensions of this client


def test_forges_own_directory_brings_hooks_commands_and_agents(tmp_path: Path) -> None:
    files = {
        f"{NAMESPACE}/commands/c.md": TEXT,
        f"{NAMESPACE}/agents/a.md": TEXT,
        f"{NAMESPACE}/hooks/hooks.json": {"hooks": STOP},
        "org.example/commands/x.md": TEXT,
    }
    plugin = standard(tmp_path, files)
    assert names(plugin) == {"commands": ["p:c"], "agents": ["p:a"]}
    assert [h.events for h in plugin.contribution.hooks] == [STOP]
