from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from plugin_server import serve_plugins
from unit.core.installing.workshop import Bench, commit, git, market, plugin, repository, shop, write


def served_shop(tmp_path: Path) -> Path:
    """A marketplace as a bare repository below `www`; returns its working copy."""
    root = shop(tmp_path / "origin")
    repository(root)
    (tmp_path / "www").mkdir()
    git(tmp_path, "clone", "-q", "--bare", str(root), "www/shop.git")
    git(root, "remote", "add", "served", str(tmp_path / "www/shop.git"))
    return root


@pytest.mark.requirement("S0-54")
def test_marketplace_on_a_git_server_is_cloned_updated_and_usable_offline(tmp_path: Path) -> None:
    bench, origin = Bench(tmp_path), served_shop(tmp_path)
    clone = bench.claude / "plugins/marketplaces/shop"
    with serve_plugins(tmp_path / "www") as served:
        url = f"{served.url}/shop.git"
        assert bench("marketplace", "add", url).code == 0
        assert bench.json("marketplace", "list") == [
            {"name": "shop", "source": "git", "url": url, "installLocation": str(clone)}
        ]
        plugin(origin / "tool", "tool", version="2.0.0")
        commit(origin)
        git(origin, "push", "-q", "served", "main")
        assert bench("marketplace", "update", "shop").out == "✔ Successfully updated marketplace: shop\n"
    assert json.loads((clone / "tool/.claude-plugin/plugin.json").read_text())["version"] == "2.0.0"
    offline = bench("marketplace", "update", "shop")
    assert offline.code == 1
    assert "✘ Failed to update marketplace(s): Failed to refresh marketplace 'shop'" in offline.err
    assert bench("install", "tool@shop").code == 0
    assert bench.json("list")[0]["version"] == "2.0.0"
    assert bench("marketplace", "remove", "shop").code == 0
    assert not clone.exists()


def test_plain_web_server_can_serve_a_repository(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    served_shop(tmp_path)
    git(tmp_path / "www/shop.git", "update-server-info")
    (tmp_path / "www/shop.git").rename(tmp_path / "www/plain")
    with serve_plugins(tmp_path / "www") as served:
        known = {"shop": {"source": {"source": "git", "url": f"{served.url}/plain"}, "installLocation": "/x"}}
        write(bench.home, {".claude/plugins/known_marketplaces.json": known})
        assert bench("marketplace", "update", "shop").code == 0


def test_catalogue_behind_a_url_is_kept_as_a_file(tmp_path: Path) -> None:
    bench, repo = Bench(tmp_path), plugin(tmp_path / "repo", "tool")
    repository(repo)
    entries = [
        {"name": "tool", "source": {"source": "url", "url": f"file://{repo}"}},
        {"name": "rel", "source": "./x"},
    ]
    content = {"name": "shop", "owner": {"name": "o"}, "plugins": entries}
    with serve_plugins(write(tmp_path / "www", {"m.json": content})) as served:
        assert bench("marketplace", "add", f"{served.url}/m.json").code == 0
    assert json.loads((bench.claude / "plugins/marketplaces/shop").read_text()) == content
    assert bench("install", "tool@shop").code == 0
    assert bench.json("install", "rel@shop")["failureCode"] == "error_policy"
    assert bench("marketplace", "update").err.endswith("✘ No marketplaces were updated\n")


def test_file_of_a_catalogue_can_be_added(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), shop(tmp_path / "shop")
    bench("marketplace", "add", root / ".claude-plugin/marketplace.json")
    (row,) = bench.json("marketplace", "list")
    assert (row["source"], row["installLocation"]) == ("file", str(root))
    assert bench("install", "tool").code == 0


def test_adding_the_same_name_from_elsewhere_repoints_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    one, other = shop(tmp_path / "one"), shop(tmp_path / "other")
    bench("marketplace", "add", one)
    assert (
        bench("marketplace", "add", one).out
        == "✔ Marketplace 'shop' already on disk — declared in user settings\n"
    )
    assert (
        f"already added from dir:{one} and now points at dir:{other}"
        in bench("marketplace", "add", other).out
    )
    assert bench.json("marketplace", "list")[0]["path"] == str(other)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("nowhere/", None),
        ("word", "✘ Invalid marketplace source format. Try: owner/repo, https://..., or ./path\n"),
        ("file:///tmp/x", "✘ Invalid marketplace source format. Try: owner/repo, https://..., or ./path\n"),
        ("ext::sh -c x/y", "✘ Invalid marketplace source format. Try: owner/repo, https://..., or ./path\n"),
        ("./nowhere", "✘ Path does not exist: {}/nowhere\n"),
        ("a/b/c", None),
    ],
)
def test_arguments_that_name_no_marketplace_are_refused(
    tmp_path: Path, argument: str, message: str | None
) -> None:
    bench = Bench(tmp_path)
    outcome = bench("marketplace", "add", argument)
    shorthand = f"✘ '{argument}' is not a valid GitHub owner/repo shorthand."
    assert (outcome.code, bench.said) == (1, [])
    assert outcome.err.startswith(shorthand if message is None else message.format(bench.project))


HEADS: list[tuple[Any, str]] = [
    ('{"name": ', "Invalid JSON in {file}: JSON Parse error: Unexpected EOF"),
    (
        {"name": "m", "plugins": []},
        "Invalid schema: {file} owner: Invalid input: expected object, received undefined",
    ),
    ({"name": "m", "owner": {"name": "o"}}, "plugins: Invalid input: expected array, received undefined"),
    ({"name": "a b", "owner": {"name": "o"}, "plugins": []}, "name: Marketplace name cannot contain spaces."),
    ({"name": "../x", "owner": {"name": "o"}, "plugins": []}, "name: Marketplace name cannot contain path"),
    ({"name": "m!", "owner": {"name": "o"}, "plugins": []}, "name: Marketplace name may only have"),
    (
        {"name": "m", "owner": {"name": "o"}, "plugins": [], "description": 5},
        "description: Invalid input: expected string, received number",
    ),
]


@pytest.mark.parametrize(("content", "message"), HEADS)
def test_unusable_catalogue_is_not_added(tmp_path: Path, content: Any, message: str) -> None:
    bench, file = Bench(tmp_path), ".claude-plugin/marketplace.json"
    root = write(tmp_path / "m", {file: content})
    outcome = bench("marketplace", "add", root)
    assert (outcome.code, bench.said) == (1, ["Adding marketplace…"])
    assert message.format(file=root / file) in outcome.err
    assert bench.json("marketplace", "list") == []


@pytest.mark.parametrize(
    "name", ["inline", "local", "claude-plugins-official", "official-claude-plugins", "claudeai-x"]
)
def test_reserved_names_are_refused(tmp_path: Path, name: str) -> None:
    bench = Bench(tmp_path)
    outcome = bench("marketplace", "add", market(tmp_path / "m", name, []))
    assert (outcome.code, "reserved" in outcome.err) == (1, True)


def test_bad_entries_stay_listed_and_cannot_be_installed(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    entries = [
        "just a name",
        {"name": "two words", "source": "./p"},
        {"name": "up", "source": "../p"},
        {"name": "kind", "source": {"source": "pip", "package": "x"}},
        {"name": "author", "source": "./p", "author": "Bob"},
        {"name": "event", "source": "./p", "hooks": {"Nope": []}},
    ]
    bench("marketplace", "add", market(tmp_path / "m", "shop", entries))
    offered = bench.json("list", "--available")["available"]
    assert {row["name"]: row["source"] for row in offered} == {
        "up": {"source": "unsupported", "error": 'source: Invalid string: must start with "./"'},
        "kind": {"source": "unsupported"},
        "author": {
            "source": "unsupported",
            "error": "author: Invalid input: expected object, received string",
        },
        "event": {"source": "unsupported", "error": "hooks: Unrecognized field: Nope"},
    }
    assert bench.json("install", "event@shop")["message"] == (
        "This plugin's marketplace entry is invalid: hooks: Unrecognized field: Nope"
    )


def test_old_name_of_a_plugin_leads_to_the_new_one(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), shop(tmp_path / "shop")
    market(
        root,
        "shop",
        [{"name": "tool", "source": "./tool"}],
        renames={"older": "old", "old": "tool", "gone": None},
    )
    bench("marketplace", "add", root)
    assert bench.json("install", "older@shop")["pluginId"] == "tool@shop"
    assert bench.json("install", "gone@shop")["failureCode"] == "not_found"


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"strictKnownMarketplaces": []}, 1),
        ({"strictKnownMarketplaces": [{"source": "github", "repo": "a/b"}]}, 1),
        ({"strictKnownMarketplaces": [{"source": "directory"}]}, 0),
        ({"blockedMarketplaces": [{"source": "directory"}]}, 1),
        ({}, 0),
    ],
)
def test_managed_settings_decide_which_marketplaces_are_allowed(
    tmp_path: Path, settings: dict[str, Any], code: int
) -> None:
    bench = Bench(tmp_path)
    bench.settings = settings
    assert bench("marketplace", "add", shop(tmp_path / "shop")).code == code


def test_declared_marketplace_is_fetched_when_something_is_installed_from_it(tmp_path: Path) -> None:
    bench, root = Bench(tmp_path), shop(tmp_path / "shop")
    declared = {"extraKnownMarketplaces": {"shop": {"source": {"source": "directory", "path": str(root)}}}}
    write(bench.project, {".claude/settings.json": declared})
    assert bench("install", "tool@shop").code == 0
    assert [row["name"] for row in bench.json("marketplace", "list")] == ["shop"]


def test_passwords_in_addresses_are_not_shown(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with serve_plugins(tmp_path) as served:
        secret = served.url.replace("://", "://user:hush@")
    failures = [bench("marketplace", "add", f"{secret}/{name}") for name in ("a.git", "a.json")]
    source = {"source": "git", "url": f"{secret}/a.git"}
    known = {"shop": {"source": source, "installLocation": "/x"}}
    write(bench.home, {".claude/plugins/known_marketplaces.json": known})
    listed = [bench("marketplace", "list"), bench("marketplace", "list", "--json")]
    assert [outcome.code for outcome in failures] == [1, 1]
    assert not any("hush" in outcome.out + outcome.err for outcome in [*failures, *listed])


def test_air_gap_allows_folders_and_forbids_servers(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.settings = {"airGap": True}
    assert bench("marketplace", "add", shop(tmp_path / "shop")).code == 0
    outcome = bench("marketplace", "add", "owner/repo")
    assert (outcome.code, "airGap forbids fetching from the network" in outcome.err) == (1, True)
