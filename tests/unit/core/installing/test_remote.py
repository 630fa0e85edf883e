from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from forge.core.installing.remote import remote_source
from plugin_server import serve_plugins
from unit.core.installing.workshop import Bench, commit, git, plugin, repository, write

SHA = "0123456789abcdef0123456789abcdef01234567"
DIGEST = "ab" * 32


@pytest.mark.parametrize(
    ("argument", "source"),
    [
        ("https://h.example/a.git", {"source": "url", "url": "https://h.example/a.git"}),
        ("https://h.example/a.git#v1", {"source": "url", "url": "https://h.example/a.git", "ref": "v1"}),
        (f"git@h.example:a/b.git#{SHA}", {"source": "url", "url": "git@h.example:a/b.git", "sha": SHA}),
        ("github:o/r#main", {"source": "github", "repo": "o/r", "ref": "main"}),
        ("https://h.example/a.zip", {"source": "archive", "url": "https://h.example/a.zip"}),
        (
            f"https://h.example/a.tgz#sha256={DIGEST}",
            {"source": "archive", "url": "https://h.example/a.tgz", "sha256": DIGEST},
        ),
        ("npm:@you/tool@^2", {"source": "npm", "package": "@you/tool", "version": "^2"}),
        ("npm:tool", {"source": "npm", "package": "tool"}),
        ("tool@market", None),
        ("./path", None),
        ("ext::sh -c x", None),
    ],
)
def test_addresses_are_told_from_names_and_paths(argument: str, source: dict[str, Any] | None) -> None:
    assert remote_source(argument) == source


@pytest.mark.requirement("S0-55")
@pytest.mark.parametrize("kind", ["git", "zip", "npm"])
def test_plugin_comes_from_a_git_address_an_archive_and_a_registry(tmp_path: Path, kind: str) -> None:
    bench, repo = Bench(tmp_path), plugin(tmp_path / "repo", "tool", version="1.0.0")
    pinned = repository(repo)
    write(repo, {"later.txt": "x"})
    commit(repo)
    (tmp_path / "www").mkdir()
    git(tmp_path, "clone", "-q", "--bare", str(repo), "www/tool.git")
    with zipfile.ZipFile(tmp_path / "www/tool.zip", "w") as archive:
        archive.write(repo / ".claude-plugin/plugin.json", "tool-1/.claude-plugin/plugin.json")
    digest = hashlib.sha256((tmp_path / "www/tool.zip").read_bytes()).hexdigest()
    with serve_plugins(tmp_path / "www") as served:
        served.publish(
            "tool", "1.0.0", {".claude-plugin/plugin.json": '{"name": "tool", "version": "1.0.0"}'}
        )
        bench.more_env = {"npm_config_registry": f"{served.url}/npm"}
        addresses = {
            "git": f"{served.url}/tool.git#{pinned}",
            "zip": f"{served.url}/tool.zip#sha256={digest}",
            "npm": "npm:tool@1.0.0",
        }
        answer = bench.json("install", addresses[kind])
    target = bench.home / ".forge/plugins/tool"
    assert (answer["pluginId"], answer["plugin"], answer["enabled"]) == ("tool@local", addresses[kind], False)
    assert (target / ".claude-plugin/plugin.json").is_file()
    assert not (target / "later.txt").exists()
    assert [path.name for path in target.parent.iterdir()] == ["tool"]


@pytest.mark.parametrize(
    ("argument", "code"),
    [
        ("http://h.example/a.zip", "error_policy"),
        (f"http://127.0.0.1:1/a.zip#sha256={DIGEST}", "error_network"),
        ("ssh://-oProxyCommand=x/y.git", "error_policy"),
    ],
)
def test_addresses_that_are_unsafe_or_unreachable_are_refused(
    tmp_path: Path, argument: str, code: str
) -> None:
    bench = Bench(tmp_path)
    assert bench.json("install", argument)["failureCode"] == code
    assert not (bench.home / ".forge/plugins").exists() or not any((bench.home / ".forge/plugins").iterdir())


def test_air_gap_forbids_addresses_too(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.settings = {"airGap": True}
    assert bench.json("install", "npm:tool")["failureCode"] == "air_gap"
