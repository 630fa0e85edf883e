from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.core.plugins.context import PluginFailure
from forge.core.plugins.source import entry_source, git_url, read_argument

ARGUMENTS: list[tuple[str, dict[str, str]]] = [
    ("owner/repo", {"source": "github", "repo": "owner/repo"}),
    ("owner/repo@v1", {"source": "github", "repo": "owner/repo", "ref": "v1"}),
    ("owner/re.po#feature/x", {"source": "github", "repo": "owner/re.po", "ref": "feature/x"}),
    ("https://h.example/a.git", {"source": "git", "url": "https://h.example/a.git"}),
    ("https://h.example/a.git#v2", {"source": "git", "url": "https://h.example/a.git", "ref": "v2"}),
    ("https://github.com/o/r", {"source": "git", "url": "https://github.com/o/r.git"}),
    ("git@h.example:o/r.git", {"source": "git", "url": "git@h.example:o/r.git"}),
    ("ssh://git@h.example/o/r", {"source": "git", "url": "ssh://git@h.example/o/r"}),
    ("https://h.example/m.json", {"source": "url", "url": "https://h.example/m.json"}),
    ("https://h.example/m", {"source": "url", "url": "https://h.example/m"}),
]


@pytest.mark.parametrize(("argument", "source"), ARGUMENTS)
def test_arguments_name_their_kind_of_source(tmp_path: Path, argument: str, source: dict[str, str]) -> None:
    assert read_argument(argument, str(tmp_path), str(tmp_path)) == source


def test_paths_are_made_absolute(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m.json").write_text("{}")
    home = str(tmp_path)
    assert read_argument("./m/../m", home, "/nowhere") == {"source": "directory", "path": f"{home}/m"}
    assert read_argument("~/m.json", "/nowhere", home) == {"source": "file", "path": f"{home}/m.json"}


@pytest.mark.parametrize(
    "argument",
    ["word", "file:///tmp/x", "ext::sh -c x", "--upload-pack=x/y", "a/b/c", "a/..", "./missing", "o/r@-x y"],
)
def test_arguments_that_mean_nothing_are_refused(tmp_path: Path, argument: str) -> None:
    with pytest.raises(PluginFailure):
        read_argument(argument, str(tmp_path), str(tmp_path))


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ({"source": "github", "repo": "o/r"}, "https://github.com/o/r.git"),
        ({"source": "git-subdir", "url": "o/r", "path": "x"}, "https://github.com/o/r.git"),
        ({"source": "url", "url": "git@h:o/r.git"}, "git@h:o/r.git"),
    ],
)
def test_git_gets_a_complete_address(source: dict[str, str], url: str) -> None:
    assert git_url(source) == url


ENTRIES: list[tuple[Any, str]] = [
    ({"source": "github"}, "source.repo: Invalid input: expected string, received undefined"),
    ({"source": "npm", "package": "../b"}, "source.package: Invalid input"),
    ({"source": "npm", "package": "-g x"}, "source.package: Invalid input"),
    (
        {"source": "archive", "url": "http://example.org/a.zip"},
        "source.url: Archive URLs must use https:// and must not point at a loopback, link-local, or "
        "cloud-metadata host",
    ),
    (
        {"source": "archive", "url": "https://169.254.169.254/a"},
        "source.url: Archive URLs must use https:// and must not point at a loopback, link-local, or "
        "cloud-metadata host",
    ),
    (
        {"source": "command", "command": "x", "timeout": 700},
        "source.timeout: Too big: expected number to be <=600",
    ),
    (
        {"source": "github", "repo": "a/b", "sha": "abc"},
        "source.sha: Too small: expected string to have exactly 40 characters, source.sha: Must be a full "
        "40-character lowercase git commit SHA",
    ),
    (None, "source: Invalid input"),
    ("../x", 'source: Invalid string: must start with "./"'),
]


@pytest.mark.parametrize(("value", "error"), ENTRIES)
def test_unusable_sources_say_why(value: Any, error: str) -> None:
    assert entry_source(value, "") == {"source": "unsupported", "error": error}


@pytest.mark.parametrize(
    ("value", "root"),
    [
        ("./x", ""),
        ("bare", "./shelf"),
        ({"source": "github", "repo": "a/b", "ref": "v1", "extra": 1}, ""),
        ({"source": "npm", "package": "@a/b", "version": "^1"}, ""),
    ],
)
def test_usable_sources_stay_as_they_are(value: Any, root: str) -> None:
    assert entry_source(value, root) == value
