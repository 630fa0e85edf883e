from __future__ import annotations

from pathlib import Path

import pytest

from forge.foundation.errors import UsageError
from forge.foundation.origin import Scope
from forge.foundation.paths import (
    Places,
    find_places,
    projects_dir,
    results_dir,
    session_file,
    settings_file,
    slug,
    trust_key,
)


def tree(tmp_path: Path) -> tuple[Path, Path]:
    home, work = tmp_path / "home", tmp_path / "repo" / "sub"
    home.mkdir()
    work.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    return home, work


def test_all_places_of_a_subdirectory_in_git(tmp_path: Path) -> None:
    home, work = tree(tmp_path)
    repo = tmp_path / "repo"
    assert find_places({"HOME": str(home)}, str(work), managed_root="/managed") == Places(
        home=str(home),
        cwd=str(work),
        git_root=str(repo),
        repository=str(repo),
        project_root=str(repo),
        claude_dir=f"{home}/.claude",
        claude_state=f"{home}/.claude.json",
        forge_home=f"{home}/.forge",
        user_dirs=[f"{home}/.claude", f"{home}/.forgecode", f"{home}/forge", f"{home}/.forge"],
        project_dirs=[f"{work}/.claude", f"{work}/.forgecode", f"{work}/.forge"],
        local_dirs=[
            f"{root}/{name}" for name in (".claude", ".forgecode", ".forge") for root in (work, repo)
        ],
        managed_dirs=["/managed/claude-code", "/managed/forgecode", "/managed/forge"],
        temp_dir="/tmp",
    )


def test_outside_git_the_start_directory_is_the_project(tmp_path: Path) -> None:
    p = find_places({"HOME": "/h"}, str(tmp_path))
    assert (p.git_root, p.project_root, trust_key(p)) == ("", str(tmp_path), str(tmp_path))
    assert p.local_dirs == [f"{tmp_path}/.claude", f"{tmp_path}/.forgecode", f"{tmp_path}/.forge"]


def test_variables_move_the_user_directories(tmp_path: Path) -> None:
    env = {"HOME": "/h", "CLAUDE_CONFIG_DIR": "/c", "FORGE_HOME": "/f", "CLAUDE_CODE_TMPDIR": "/t"}
    p = find_places(env, str(tmp_path))
    assert (p.claude_dir, p.claude_state, p.forge_home, p.temp_dir) == ("/c", "/c/.claude.json", "/f", "/t")
    assert p.user_dirs == ["/c", "/h/.forgecode", "/h/forge", "/f"]


def test_start_directory_behind_a_link_is_resolved(tmp_path: Path) -> None:
    _, work = tree(tmp_path)
    (tmp_path / "link").symlink_to(work)
    assert find_places({"HOME": "/h"}, str(tmp_path / "link")).cwd == str(work)


def test_checkout_named_forge_is_no_configuration(tmp_path: Path) -> None:
    (tmp_path / "forge" / ".git").mkdir(parents=True)
    p = find_places({"HOME": str(tmp_path)}, str(tmp_path / "forge"))
    assert p.user_dirs == [f"{tmp_path}/.claude", f"{tmp_path}/.forgecode", f"{tmp_path}/.forge"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/me/a.b_c-D e", "-home-me-a-b-c-D-e"),
        ("/tmp/é😀x", "-tmp----x"),
        ("/x" * 100, "-x" * 100),
        # Observed in the reference.
        (
            "/tmp/fset/tmpss4t3dnz/repo" + ("/" + "abcdefghij" * 5) * 5,
            "-tmp-fset-tmpss4t3dnz-repo" + ("-" + "abcdefghij" * 5) * 3 + "-abcdefghijabcdefghij-haqpo1",
        ),
    ],
)
def test_slug_is_the_one_of_the_reference(path: str, name: str) -> None:
    assert slug(path) == name


def test_session_files_are_where_the_reference_looks(tmp_path: Path) -> None:
    p = find_places({"HOME": "/h"}, str(tmp_path))
    assert projects_dir(p) == "/h/.claude/projects"
    assert session_file(p, "id", "/a/b") == "/h/.claude/projects/-a-b/id.jsonl"
    assert results_dir(p, "id", "/a/b") == "/h/.claude/projects/-a-b/id/tool-results"


def test_forge_writes_its_own_dialect(tmp_path: Path) -> None:
    home, work = tree(tmp_path)
    p = find_places({"HOME": str(home)}, str(work))
    assert [settings_file(p, scope) for scope in (Scope.USER, Scope.PROJECT, Scope.LOCAL)] == [
        f"{home}/.forge/settings.json",
        f"{work}/.forge/settings.json",
        f"{tmp_path}/repo/.forge/settings.local.json",
    ]


def test_other_scopes_have_no_file_to_write(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="scope managed cannot be written"):
        settings_file(find_places({"HOME": "/h"}, str(tmp_path)), Scope.MANAGED)
