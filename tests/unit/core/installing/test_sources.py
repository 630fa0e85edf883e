from __future__ import annotations

import hashlib
import os
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest

from forge.core.installing.fetch import fetch_source
from forge.core.installing.npm import fetch_package
from forge.core.plugins.context import PluginFailure
from plugin_server import serve_plugins
from unit.core.installing.workshop import Bench, commit, git, market, plugin, repository, write


def installed(bench: Bench, root: Path, source: Any, *words: str) -> tuple[str, Any]:
    """Installs the one plugin of a marketplace; returns the outcome and the record or the failure."""
    bench("marketplace", "add", market(root, "shop", [{"name": "tool", "source": source}]))
    answer = bench.json("install", "tool@shop", *words)
    if answer["outcome"] != "ok":
        return answer["failureCode"], answer["message"]
    record = bench.read(".claude/plugins/installed_plugins.json")["plugins"]["tool@shop"][0]
    assert (Path(record["installPath"]) / "commands/go.md").exists()
    return "ok", record


@pytest.mark.requirement("S0-55")
def test_git_repository_is_installed_at_its_commit(tmp_path: Path) -> None:
    bench, repo = Bench(tmp_path), plugin(tmp_path / "repo", "tool")
    sha = repository(repo)
    outcome, record = installed(bench, tmp_path / "shop", {"source": "url", "url": f"file://{repo}"})
    assert (outcome, record["version"], record["gitCommitSha"]) == ("ok", sha[:12], sha)
    assert not (Path(record["installPath"]) / ".git").exists()


def test_pinned_commit_is_installed_although_the_branch_went_on(tmp_path: Path) -> None:
    bench, repo = Bench(tmp_path), plugin(tmp_path / "repo", "tool")
    sha = repository(repo)
    write(repo, {"later.txt": "x"})
    commit(repo)
    source = {"source": "url", "url": f"file://{repo}", "sha": sha}
    outcome, record = installed(bench, tmp_path / "shop", source)
    assert (outcome, record["gitCommitSha"]) == ("ok", sha)
    assert not (Path(record["installPath"]) / "later.txt").exists()


def test_tag_is_installed_as_pinned_ref(tmp_path: Path) -> None:
    bench, repo = Bench(tmp_path), plugin(tmp_path / "repo", "tool")
    sha = repository(repo)
    git(repo, "tag", "v1")
    write(repo, {"later.txt": "x"})
    commit(repo)
    source = {"source": "url", "url": f"file://{repo}", "ref": "v1"}
    assert installed(bench, tmp_path / "shop", source)[1]["gitCommitSha"] == sha


def test_subdirectory_of_a_repository_is_a_plugin(tmp_path: Path) -> None:
    bench, repo = Bench(tmp_path), tmp_path / "repo"
    plugin(repo / "tools/sub", "tool")
    sha = repository(repo)
    source = {"source": "git-subdir", "url": f"file://{repo}", "path": "tools/sub"}
    record = installed(bench, tmp_path / "shop", source)[1]
    assert record["version"] == f"{sha[:12]}-{hashlib.sha256(b'tools/sub').hexdigest()[:8]}"


NOBODY = "0" * 40

BAD_GIT: list[tuple[dict[str, Any], str, str]] = [
    ({"sha": NOBODY}, "error_unknown", f"Failed to checkout commit {NOBODY}"),
    ({"ref": "nobranch"}, "error_not_found", "Remote branch nobranch not found"),
    ({"ref": "--upload-pack=touch /tmp/pwned"}, "error_policy", "is not the name of a branch or tag"),
    ({"url": "ext::sh -c touch% /tmp/pwned"}, "error_policy", "is not an address of a git repository"),
    ({"url": "--upload-pack=touch"}, "error_policy", "is not an address of a git repository"),
    ({"url": "ssh://-oProxyCommand=touch/x"}, "error_policy", "looks like an option"),
    ({"url": "fd::17"}, "error_policy", "is not an address of a git repository"),
    ({"source": "git-subdir", "path": "../../etc"}, "error_policy", "written outside"),
    ({"source": "git-subdir", "path": "none"}, "error_not_found", "Subdirectory 'none' not found"),
]


@pytest.mark.parametrize(("change", "code", "message"), BAD_GIT)
def test_git_sources_that_are_wrong_or_hostile_are_refused(
    tmp_path: Path, change: dict[str, Any], code: str, message: str
) -> None:
    bench, repo = Bench(tmp_path), plugin(tmp_path / "repo", "tool")
    repository(repo)
    source = {"source": "url", "url": f"file://{repo}", **change}
    failed, text = installed(bench, tmp_path / "shop", source)
    assert failed == code
    assert message in text
    assert os.listdir(bench.claude / "plugins/cache") == []


def test_hooks_and_submodules_of_a_repository_do_nothing(tmp_path: Path) -> None:
    bench, repo, mark = Bench(tmp_path), plugin(tmp_path / "repo", "tool"), tmp_path / "ran"
    template = write(tmp_path / "template", {"hooks/post-checkout": f"#!/bin/sh\ntouch {mark}\n"})
    (template / "hooks/post-checkout").chmod(0o755)
    write(repo, {".gitmodules": '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch\n'})
    repository(repo)
    config = write(tmp_path, {"gitconfig": f"[init]\n\ttemplateDir = {template}\n"}) / "gitconfig"
    bench.more_env = {"GIT_CONFIG_GLOBAL": str(config)}
    assert installed(bench, tmp_path / "shop", {"source": "url", "url": f"file://{repo}"})[0] == "ok"
    assert not mark.exists()


def test_repositories_come_over_http_and_github_can_be_redirected(tmp_path: Path) -> None:
    bench, repo = Bench(tmp_path), plugin(tmp_path / "repo", "tool")
    sha = repository(repo)
    (tmp_path / "www/own").mkdir(parents=True)
    git(tmp_path, "clone", "-q", "--bare", str(repo), "www/own/tool.git")
    with serve_plugins(tmp_path / "www") as served:
        text = f'[url "{served.url}/"]\n\tinsteadOf = https://github.com/\n'
        config = write(tmp_path, {"gitconfig": text}) / "gitconfig"
        bench.more_env = {"GIT_CONFIG_GLOBAL": str(config)}
        outcome = installed(bench, tmp_path / "shop", {"source": "github", "repo": "own/tool"})
    assert (outcome[0], outcome[1]["gitCommitSha"]) == ("ok", sha)


PACKAGE = {"package.json": '{"scripts": {"postinstall": "false"}}', "commands/go.md": "x"}


def npm(bench: Bench, tmp_path: Path, url: str, **more: str) -> tuple[str, Any]:
    bench.more_env = {"npm_config_registry": f"{url}/npm"}
    return installed(bench, tmp_path / "shop", {"source": "npm", "package": "@acme/tool", **more})


@pytest.mark.parametrize(
    ("wanted", "version"),
    [
        ({}, "2.0.0"),
        ({"version": "^1"}, "1.10.0"),
        ({"version": "1.2.0"}, "1.2.0"),
        ({"version": "latest"}, "2.0.0"),
    ],
)
def test_npm_package_is_installed_in_the_wanted_version(
    tmp_path: Path, wanted: dict[str, str], version: str
) -> None:
    bench = Bench(tmp_path)
    with serve_plugins(tmp_path) as served:
        for each in ("1.2.0", "1.10.0", "2.0.0"):
            served.publish("@acme/tool", each, PACKAGE)
        outcome, record = npm(bench, tmp_path, served.url, **wanted)
    assert (outcome, record["version"]) == ("ok", version)


@pytest.mark.parametrize(
    ("wanted", "spoiled", "code"),
    [
        ({"version": "^9"}, False, "error_not_found"),
        ({"version": "1.0.0"}, True, "error_integrity"),
        ({"registry": "http://127.0.0.1:1/other"}, False, "error_policy"),
    ],
)
def test_npm_package_that_is_missing_changed_or_unsafe_is_refused(
    tmp_path: Path, wanted: dict[str, str], spoiled: bool, code: str
) -> None:
    bench = Bench(tmp_path)
    with serve_plugins(tmp_path) as served:
        served.publish("@acme/tool", "1.0.0", PACKAGE)
        served.spoiled = {"@acme/tool"} if spoiled else set()
        assert npm(bench, tmp_path, served.url, **wanted)[0] == code


def test_archive_must_have_the_expected_digest(tmp_path: Path) -> None:
    bench, path = Bench(tmp_path), tmp_path / "www/tool.zip"
    path.parent.mkdir()
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tool-1.0/commands/go.md", "x")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    with serve_plugins(tmp_path / "www") as served:
        served.redirects["/old.zip"] = "/tool.zip"
        source = {"source": "archive", "url": f"{served.url}/old.zip"}
        fetched = fetch_source({**source, "sha256": digest}, str(tmp_path / "a"), bench.context())
        with pytest.raises(PluginFailure, match="SHA-256") as caught:
            fetch_source({**source, "sha256": "0" * 64}, str(tmp_path / "b"), bench.context())
    assert (Path(fetched.path) / "commands/go.md").read_text() == "x"
    assert fetched.revision == digest[:12]
    assert caught.value.code == "error_integrity"


def test_command_is_shown_and_runs_only_after_it_was_accepted(tmp_path: Path) -> None:
    bench, made, mark = Bench(tmp_path), plugin(tmp_path / "made", "tool", version="3.0.0"), tmp_path / "ran"
    source = {"source": "command", "command": f"touch {mark}; echo {made}"}
    failed, text = installed(bench, tmp_path / "shop", source)
    assert (failed, mark.exists()) == ("command_source_refused", False)
    assert source["command"] in text
    assert any(source["command"] in said for said in bench.said)
    bench.answers = [False]
    assert installed(bench, tmp_path / "shop", source)[0] == "command_source_refused"
    bench.answers = [True, True]
    outcome, record = installed(bench, tmp_path / "shop", source)
    assert (outcome, mark.exists()) == ("ok", True)
    assert record["version"].startswith("3.0.0-")
    assert (record["sourceCommand"], record["sourceProducerPath"]) == (source["command"], str(made))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("echo a; echo b", "printed 2 lines; it must print exactly one absolute path"),
        ("echo relative", "which is not a directory"),
        ("echo no >&2; exit 3", "failed with exit code 3: no"),
    ],
)
def test_commands_that_give_no_plugin_are_refused(tmp_path: Path, command: str, message: str) -> None:
    bench = Bench(tmp_path)
    source = {"source": "command", "command": command}
    assert message in installed(bench, tmp_path / "shop", source, "--yes")[1]


def test_command_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    bench, pid = Bench(tmp_path), tmp_path / "pid"
    source = {"source": "command", "command": f"sleep 60 & echo $! > {pid}; wait", "timeout": 0.2}
    with pytest.raises(PluginFailure, match=r"did not finish within 0\.2s and was stopped"):
        fetch_source(source, str(tmp_path / "scratch"), bench.context())
    # Killed it is at once; gone only when the system has come round to it.
    child, pause = Path(f"/proc/{pid.read_text().strip()}/exe"), threading.Event()
    assert any(not child.exists() or pause.wait(0.01) for _ in range(500))


NETWORK = [
    {"source": "github", "repo": "a/b"},
    {"source": "url", "url": "https://example.org/a.git"},
    {"source": "git-subdir", "url": "a/b", "path": "c"},
    {"source": "npm", "package": "x"},
    {"source": "archive", "url": "https://example.org/a.zip"},
]


@pytest.mark.parametrize("source", NETWORK, ids=lambda source: source["source"])
def test_air_gap_forbids_sources_on_the_network(tmp_path: Path, source: dict[str, str]) -> None:
    bench = Bench(tmp_path)
    bench.settings = {"airGap": True}
    code, message = installed(bench, tmp_path / "shop", source)
    assert code == "air_gap"
    assert "airGap" in message


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("./../outside", "does not stay inside the marketplace directory"),
        ("./link", "does not stay inside the marketplace directory"),
        ("./none", "Source path does not exist: "),
    ],
)
def test_paths_of_a_catalogue_stay_inside_the_marketplace(tmp_path: Path, source: str, message: str) -> None:
    bench, root = Bench(tmp_path), tmp_path / "shop"
    plugin(tmp_path / "outside", "tool")
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    assert message in installed(bench, root, source)[1]


def test_without_npm_and_without_a_registry_the_user_is_told_what_to_set(tmp_path: Path) -> None:
    with pytest.raises(PluginFailure, match="npm_config_registry"):
        fetch_package({"package": "tool"}, str(tmp_path / "x"), {"PATH": str(tmp_path)})


def test_the_registry_npm_knows_is_asked(tmp_path: Path) -> None:
    script = tmp_path / "npm"
    script.write_text("#!/bin/sh\necho http://127.0.0.1:9/\n")
    script.chmod(0o755)
    with pytest.raises(PluginFailure, match=r"127\.0\.0\.1:9"):
        fetch_package({"package": "tool"}, str(tmp_path / "x"), {"PATH": f"{tmp_path}:/usr/bin:/bin"})
