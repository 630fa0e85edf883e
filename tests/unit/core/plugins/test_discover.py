from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from forge.core.plugins.discover import Discovered, PluginShelf, discover
from forge.core.plugins.read import PluginLoad
from unit.core.plugins.plugin_tree import MANIFEST, TEXT, errors, plant, request

SCAN_ROOTS = (".claude/plugins", "forge/plugins", "work/.claude/plugins", "work/.forge/plugins")


def plugin(root: Path, name: str = "p", skill: str = "s", **manifest: Any) -> str:
    return plant(root, {MANIFEST: {"name": name, **manifest}, f"skills/{skill}/SKILL.md": TEXT})


def states(found: Discovered) -> list[tuple[str, str]]:
    return [(p.id, p.state) for p in found.plugins]


def skills(found: Discovered) -> list[str]:
    return [c.name for p in found.active if p.load for c in p.load.contribution.skills]


def install(home: Path, market: Path, *entries: dict[str, Any], scope: str = "user", **more: Any) -> None:
    """The records the reference leaves behind for plugins of a directory marketplace."""
    head = {"name": "m", "owner": {"name": "o"}, "plugins": list(entries)}
    plant(market, {".claude-plugin/marketplace.json": head})
    cache = home / ".claude/plugins/cache/m"
    records = {
        f"{entry['name']}@m": [
            {"scope": scope, "installPath": f"{cache}/{entry['name']}/1", "version": "1", **more}
        ]
        for entry in entries
    }
    source = {"source": "directory", "path": str(market)}
    plant(
        home / ".claude/plugins",
        {
            "known_marketplaces.json": {"m": {"source": source, "installLocation": str(market)}},
            "installed_plugins.json": {"version": 2, "plugins": records},
        },
    )


@pytest.mark.requirement("S1-09", "S1-10", "S1-11", "S1-15", "S1-20")
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_of_four_scan_roots_the_last_one_wins(count: int, tmp_path: Path) -> None:
    for number, root in enumerate(SCAN_ROOTS[:count]):
        plugin(tmp_path / root / "p", skill=f"s{number}")
    found = discover(request(tmp_path, trusted=True))
    assert skills(found) == [f"p:s{count - 1}"]
    assert [state for _, state in states(found)] == ["active"] + ["shadowed"] * (count - 1)


@pytest.mark.requirement("S1-11", "S1-145")
def test_twenty_plugins_are_found_in_a_fraction_of_a_second(tmp_path: Path) -> None:
    for number in range(20):
        plugin(tmp_path / f"work/.forge/plugins/p{number}", f"p{number}")
    asked = request(tmp_path, trusted=True)
    discover(request(tmp_path / "elsewhere"))  # what is imported on use is no part of it
    began = time.process_time()
    found = discover(asked)
    assert (len(found.active), time.process_time() - began < 0.2) == (20, True)


@pytest.mark.requirement("S0-53")
@pytest.mark.parametrize("trusted", [True, False])
def test_project_plugins_wait_for_trust_and_stay_visible(trusted: bool, tmp_path: Path) -> None:
    plugin(tmp_path / "work/plugins/a", "a")
    plant(tmp_path / "work/plugins/no-manifest", {"skills/x/SKILL.md": TEXT})
    plugin(tmp_path / "work/.forge/plugins/b", "b")
    plugin(tmp_path / "work/.claude/skills/c", "c")
    found = discover(request(tmp_path, trusted=trusted))
    state = "active" if trusted else "untrusted"
    assert states(found) == [("b@local", state), ("a@local", state), ("c@skills-dir", state)]
    assert skills(found) == (["b:s", "a:s", "c:s"] if trusted else [])
    assert [p.load is None for p in found.plugins] == [not trusted] * 3


def test_the_reference_s_own_directories_are_no_plugins(tmp_path: Path) -> None:
    for name in ("cache", "marketplaces", "data", ".trash"):
        plugin(tmp_path / ".claude/plugins" / name, name)
    plant(tmp_path / ".claude/plugins/loose", {"skills/x/SKILL.md": TEXT})
    assert discover(request(tmp_path)) == Discovered()


@pytest.mark.requirement("S1-06", "S1-17", "S1-18")
def test_a_broken_plugin_is_listed_beside_the_good_ones(tmp_path: Path) -> None:
    plugin(tmp_path / ".forge/plugins/good", "good")
    plant(tmp_path / ".forge/plugins/bad", {MANIFEST: "{"})
    found = discover(request(tmp_path))
    assert states(found) == [("bad@local", "failed"), ("good@local", "active")]
    assert errors(found) == [("bad@local", "generic-error")]


@pytest.mark.requirement("S1-17")
def test_a_scan_root_that_cannot_be_looked_at_is_an_error(tmp_path: Path) -> None:
    os.makedirs(tmp_path / ".forge")
    os.symlink("plugins", tmp_path / ".forge/plugins")  # a link to itself cannot be opened by anybody
    assert errors(discover(request(tmp_path))) == [("local", "scan-root-unreadable")]


@pytest.mark.requirement("S1-16")
@pytest.mark.parametrize(
    ("enabled", "manifest", "state"),
    [
        ({}, {}, "active"),
        ({"p@local": False}, {}, "disabled"),
        ({"p@inline": False}, {}, "active"),
        ({}, {"defaultEnabled": False}, "disabled"),
        ({"p@local": True}, {"defaultEnabled": False}, "active"),
    ],
)
def test_settings_switch_local_plugins(
    enabled: dict[str, bool], manifest: dict[str, Any], state: str, tmp_path: Path
) -> None:
    plugin(tmp_path / ".forge/plugins/p", **manifest)
    assert states(discover(request(tmp_path, enabled=enabled))) == [("p@local", state)]


def test_a_disabled_copy_does_not_hide_another(tmp_path: Path) -> None:
    plugin(tmp_path / ".forge/plugins/p", skill="mine")
    plugin(tmp_path / "dir", skill="other")
    found = discover(request(tmp_path, plugin_dirs=[str(tmp_path / "dir")], enabled={"p@inline": False}))
    assert (states(found), skills(found)) == (
        [("p@inline", "disabled"), ("p@local", "active")],
        ["p:mine"],
    )


def test_plugin_directories_may_be_plugins_or_hold_some(tmp_path: Path) -> None:
    plugin(tmp_path / "one", "one")
    plant(tmp_path / "plain", {"commands/c.md": TEXT})
    plugin(tmp_path / "many/a", "a")
    plugin(tmp_path / "many/.hidden", "hidden")
    plant(tmp_path / "many/b", {"skills/x/SKILL.md": TEXT})
    plant(tmp_path / "nothing", {"notes.txt": "x"})
    plant(tmp_path, {"file.txt": "x"})
    dirs = [str(tmp_path / name) for name in ("one", "plain", "many", "nothing", "gone", "file.txt")]
    found = discover(
        request(tmp_path, plugin_dirs=dirs[:1], env={"CLAUDE_CODE_PLUGIN_DIRS": ":".join(dirs[1:])})
    )
    ids = ["one@inline", "plain@inline", "a@inline", "file.txt@inline"]
    assert states(found) == [(plugin_id, "active") for plugin_id in ids]
    assert [(e.plugin, e.type, e.path) for e in found.errors] == [("inline[4]", "path-not-found", dirs[4])]


def test_an_archive_is_unpacked_and_may_have_one_folder_around_it(tmp_path: Path) -> None:
    plugin(tmp_path / "unpacked/inner", "zipped")
    plant(tmp_path, {"p.zip": "x"})
    asked = request(
        tmp_path, plugin_dirs=[str(tmp_path / "p.zip")], unpack=lambda _: str(tmp_path / "unpacked")
    )
    assert skills(discover(asked)) == ["zipped:s"]


def test_two_inline_plugins_of_one_name_both_load(tmp_path: Path) -> None:
    dirs = [plugin(tmp_path / "one", skill="a"), plugin(tmp_path / "two", skill="b")]
    assert skills(discover(request(tmp_path, plugin_dirs=dirs))) == ["p:a", "p:b"]


@pytest.mark.parametrize("name", ["a@b", "a:b", "a/b", "a\\b"])
def test_names_that_would_be_ambiguous_are_refused(name: str, tmp_path: Path) -> None:
    found = discover(request(tmp_path, plugin_dirs=[plugin(tmp_path / "x", name)]))
    assert (errors(found), skills(found)) == ([("inline[0]", "manifest-validation-error")], [])


def test_installed_plugins_are_read_in_place_from_a_directory_marketplace(tmp_path: Path) -> None:
    plugin(tmp_path / "shop/here", "here", skill="fresh")
    plugin(tmp_path / ".claude/plugins/cache/m/here/1", "here", skill="copy")
    plugin(tmp_path / ".claude/plugins/cache/m/npm/1", "npm", skill="copy")
    plugin(tmp_path / ".claude/plugins/cache/m/off/1", "off")
    install(
        tmp_path,
        tmp_path / "shop",
        {"name": "here", "source": "./here"},
        {"name": "npm", "source": {"source": "npm", "package": "x"}},
        {"name": "off", "source": "./gone"},
    )
    found = discover(request(tmp_path, enabled={"here@m": True, "npm@m": True, "unknown@m": True}))
    assert states(found) == [("here@m", "active"), ("npm@m", "active"), ("off@m", "disabled")]
    assert skills(found) == ["here:fresh", "npm:copy"]


def test_an_entry_splits_one_repository_into_plugins_and_shared_files_load_once(tmp_path: Path) -> None:
    plant(tmp_path / "shop", {f"skills/{name}/SKILL.md": TEXT for name in "abc"} | {"commands/x.md": TEXT})
    install(
        tmp_path,
        tmp_path / "shop",
        {"name": "one", "source": "./", "skills": ["./skills/a"]},
        {"name": "two", "source": "./", "skills": ["./skills/b"]},
    )
    found = discover(request(tmp_path, enabled={"one@m": True, "two@m": True}))
    assert skills(found) == ["one:a", "one:x", "two:b"]


@pytest.mark.parametrize(("project", "seen"), [("work", True), ("elsewhere", False)])
def test_installations_for_a_project_count_only_there(project: str, seen: bool, tmp_path: Path) -> None:
    plugin(tmp_path / "shop/p")
    entry = {"name": "p", "source": "./p"}
    install(tmp_path, tmp_path / "shop", entry, scope="project", projectPath=str(tmp_path / project))
    assert skills(discover(request(tmp_path, enabled={"p@m": True}))) == (["p:s"] if seen else [])


def test_inline_replaces_installed_and_installed_replaces_skill_directories(tmp_path: Path) -> None:
    plugin(tmp_path / "shop/p", skill="installed")
    install(tmp_path, tmp_path / "shop", {"name": "p", "source": "./p"})
    plugin(tmp_path / ".claude/skills/p", skill="inner")
    inline = plugin(tmp_path / "dir", skill="inline")
    enabled = {"p@m": True}
    assert skills(discover(request(tmp_path, enabled=enabled))) == ["p:installed"]
    assert skills(discover(request(tmp_path, enabled=enabled, plugin_dirs=[inline]))) == ["p:inline"]
    assert skills(discover(request(tmp_path))) == ["p:inner"]


def test_a_switch_without_marketplace_turns_off_an_installed_plugin(tmp_path: Path) -> None:
    plugin(tmp_path / "shop/p")
    install(tmp_path, tmp_path / "shop", {"name": "p", "source": "./p"})
    found = discover(request(tmp_path, enabled={"p@m": True, "p@local": False}))
    assert states(found) == [("p@m", "disabled")]


@pytest.mark.parametrize("content", ["{", "[]", '{"version": 2, "plugins": {"p@m": [{"scope": "odd"}]}}'])
def test_broken_records_never_stop_the_start(content: str, tmp_path: Path) -> None:
    plant(tmp_path / ".claude/plugins", {"installed_plugins.json": content, "known_marketplaces.json": "{"})
    assert skills(discover(request(tmp_path, enabled={"p@m": True}))) == []


def test_without_the_list_of_marketplaces_the_copies_still_load(tmp_path: Path) -> None:
    plugin(tmp_path / ".claude/plugins/cache/m/p/1")
    install(tmp_path, tmp_path / "shop", {"name": "p", "source": "./p"}, scope="odd")
    plant(tmp_path / ".claude/plugins", {"known_marketplaces.json": "{"})
    found = discover(request(tmp_path, enabled={"p@m": True}))
    assert (skills(found), errors(found)) == (["p:s"], [("installed", "generic-error")])


def test_the_root_skill_of_a_skill_directory_is_left_to_others(tmp_path: Path) -> None:
    plant(
        tmp_path / ".claude/skills/foo", {MANIFEST: {"name": "foo"}, "SKILL.md": TEXT, "commands/c.md": TEXT}
    )
    found = discover(request(tmp_path))
    assert (skills(found), found.closed_skills) == (["foo:c"], [])
    off = discover(request(tmp_path, enabled={"foo@skills-dir": False}))
    assert off.closed_skills == [str(tmp_path / ".claude/skills/foo")]


def test_plugins_without_what_they_need_are_not_loaded(tmp_path: Path) -> None:
    needy = plugin(tmp_path / "needy", "needy", dependencies=["ghost"])
    fine = plugin(tmp_path / "fine", "fine", dependencies=["fine", "helper"])
    helper = plugin(tmp_path / "helper", "helper")
    found = discover(request(tmp_path, plugin_dirs=[needy, fine, helper]))
    assert errors(found) == [("needy@inline", "dependency-unsatisfied")]
    assert skills(found) == ["fine:s", "helper:s"]


def test_in_safe_mode_plugins_are_listed_and_bring_nothing(tmp_path: Path) -> None:
    found = discover(request(tmp_path, plugin_dirs=[plugin(tmp_path / "x")], safe=True))
    assert (states(found), skills(found)) == ([("p@inline", "active")], [])


def test_options_and_data_directory_belong_to_the_id(tmp_path: Path) -> None:
    option = {"type": "string", "title": "t", "description": "d"}
    config = {"k": option, "s": {**option, "sensitive": True}}
    root = plugin(tmp_path / "x", userConfig=config)
    asked = request(
        tmp_path,
        plugin_dirs=[root],
        configs={"p@inline": {"options": {"k": "v"}}},
        secrets={"p@inline": {"s": "secret"}},
    )
    load = discover(asked).active[0].load
    assert load
    own = load.contribution.skills[0].value.plugin
    assert own and (own.options, own.data) == (
        {"k": "v", "s": "secret"},
        f"{tmp_path}/.claude/plugins/data/p-inline",
    )
    assert "secret" not in repr(asked) + repr(load) + repr(discover(asked, PluginShelf()))


# The shelf


def loads(found: Discovered) -> list[PluginLoad | None]:
    return [p.load for p in found.plugins]


@pytest.mark.requirement("S1-19")
def test_unchanged_plugins_are_not_read_again(tmp_path: Path) -> None:
    asked = request(tmp_path, plugin_dirs=[plugin(tmp_path / "a", "a"), plugin(tmp_path / "b", "b")])
    shelf = PluginShelf()
    first, second = discover(asked, shelf), discover(asked, shelf)
    assert all(one is other for one, other in zip(loads(first), loads(second), strict=True))


@pytest.mark.requirement("S1-19")
@pytest.mark.parametrize(
    "change",
    [
        {"skills/s/SKILL.md": "---\ndescription: other text\n---\n"},
        {"skills/t/SKILL.md": TEXT},
        {"commands/c.md": TEXT},
        {"hooks/hooks.json": {"hooks": {}}},
        {".mcp.json": {"m": {"command": "x"}}},
        {"empty/SKILL.md": TEXT},
        {MANIFEST: {"name": "p", "version": "2"}},
    ],
)
def test_a_change_is_seen_at_the_next_look(change: dict[str, Any], tmp_path: Path) -> None:
    root = plant(
        tmp_path / "x",
        {
            MANIFEST: {"name": "p", "skills": ["."]},
            "skills/s/SKILL.md": TEXT,
            "hooks/notes.txt": "x",
            "empty/notes.txt": "x",
        },
    )
    for place in (root, f"{root}/hooks", f"{root}/empty", f"{root}/skills"):
        os.utime(place, (1, 1))
    shelf = PluginShelf()
    asked = request(tmp_path, plugin_dirs=[root])
    before = loads(discover(asked, shelf))[0]
    plant(tmp_path / "x", change)
    after = loads(discover(asked, shelf))[0]
    assert before is not after


@pytest.mark.requirement("S1-19")
def test_new_plugins_appear_and_old_ones_go_in_the_same_session(tmp_path: Path) -> None:
    shelf = PluginShelf()
    asked = request(tmp_path)
    assert skills(discover(asked, shelf)) == []
    plugin(tmp_path / ".forge/plugins/p")
    assert skills(discover(asked, shelf)) == ["p:s"]
    os.rename(tmp_path / ".forge/plugins/p", tmp_path / "away")
    assert skills(discover(asked, shelf)) == []


@pytest.mark.requirement("S1-19")
def test_a_hundred_calls_at_once_agree(tmp_path: Path) -> None:
    for name in "abc":
        plugin(tmp_path / ".forge/plugins" / name, name)
    shelf = PluginShelf()
    asked = request(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: skills(discover(asked, shelf)), range(100)))
    assert results == [["a:s", "b:s", "c:s"]] * 100


def test_errors_have_the_form_hosts_report(tmp_path: Path) -> None:
    found = discover(request(tmp_path, plugin_dirs=["gone"]))
    path = str(tmp_path / "work/gone")
    assert json.loads(json.dumps([error_json(e) for e in found.errors])) == [
        {"plugin": "inline[0]", "type": "path-not-found", "message": f"Path not found: {path}", "path": path}
    ]


def error_json(error: Any) -> dict[str, str]:
    return {key: getattr(error, key) for key in ("plugin", "type", "message", "path") if getattr(error, key)}
