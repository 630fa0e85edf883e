from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forge.core.memory.file import Skipped
from forge.core.memory.read import Library
from forge.core.memory.sources import load_scoped, load_start
from unit.core.memory.places import plant, request, short

EVERYWHERE = [
    ("etc/claude-code/CLAUDE.md", "Managed"),
    ("etc/forgecode/CLAUDE.md", "Managed"),
    ("etc/forge/AGENTS.md", "Managed"),
    ("etc/claude-code/.claude/rules/m.md", "Managed"),
    ("etc/forge/rules/m.md", "Managed"),
    ("home/.claude/CLAUDE.md", "User"),
    ("home/.claude/rules/u.md", "User"),
    ("home/.forgecode/CLAUDE.md", "User"),
    ("home/forge/AGENTS.md", "User"),
    ("home/forge/rules/f.md", "User"),
    ("home/.forge/AGENTS.md", "User"),
    ("CLAUDE.md", "Project"),
    ("CLAUDE.local.md", "Local"),
    ("project/CLAUDE.md", "Project"),
    ("project/.claude/CLAUDE.md", "Project"),
    ("project/.forgecode/CLAUDE.md", "Project"),
    ("project/.forge/CLAUDE.md", "Project"),
    ("project/.claude/rules/deep/r.md", "Project"),
    ("project/.forge/rules/r.md", "Project"),
    ("project/CLAUDE.local.md", "Local"),
    ("project/AGENTS.local.md", "Local"),
]


def names(root: Path, **facts: Any) -> list[str]:
    return short(root, load_start(request(root, **facts), Library()).files)


@pytest.mark.requirement("S0-10", "S1-74", "S1-78", "S1-79", "S1-84")
def test_files_of_all_places_come_in_their_order(tmp_path: Path) -> None:
    plant(tmp_path, {name: f"in {name}\n" for name, _ in reversed(EVERYWHERE)})
    found = load_start(request(tmp_path), Library()).files
    assert list(zip(short(tmp_path, found), [f.memory_type for f in found], strict=True)) == EVERYWHERE
    assert {f.load_reason for f in found} == {"session_start"}


@pytest.mark.parametrize(
    ("sources", "kept"),
    [
        (["user"], {"Managed", "User"}),
        (["project"], {"Managed", "Project"}),
        (["local"], {"Managed", "Local"}),
        ([], {"Managed"}),
    ],
)
def test_setting_sources_leave_out_files(sources: list[str], kept: set[str], tmp_path: Path) -> None:
    plant(tmp_path, {name: name for name, _ in EVERYWHERE})
    found = load_start(request(tmp_path, sources=frozenset(sources)), Library()).files
    assert short(tmp_path, found) == [name for name, kind in EVERYWHERE if kind in kept]


def test_files_that_the_reference_does_not_read_are_not_read(tmp_path: Path) -> None:
    odd = (
        "home/.claude/AGENTS.md home/.claude/CLAUDE.local.md etc/claude-code/.claude/CLAUDE.md"
        " etc/claude-code/AGENTS.md project/agents.md project/AGENTS.override.md project/AGENTS.local"
        " project/.claude/rules/a.mdc project/.claude/rules/a.txt project/.claude/rules/a.MD"
    )
    plant(tmp_path, dict.fromkeys(odd.split(), "x") | {"project/CLAUDE.md": " \n\t\n"})
    assert names(tmp_path) == []


@pytest.mark.requirement("S1-75")
def test_agents_md_stands_in_from_user_root_and_start_directory(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "home/forge/AGENTS.md": "user",
            "AGENTS.md": "outer",
            "project/AGENTS.md": "root @more.md",
            "project/.claude/AGENTS.md": "inner",
            "project/more.md": "more",
            "project/sub/AGENTS.md": "here",
            "project/.claude/rules/r.md": "rule",
            "project/CLAUDE.md": "",
        },
    )
    cwd = str(tmp_path / "project" / "sub")
    # What lies outside the start directory is not imported without approval.
    assert names(tmp_path, cwd=cwd, external=lambda: True) == [
        "home/forge/AGENTS.md",
        "project/.claude/rules/r.md",
        "AGENTS.md",
        "project/AGENTS.md",
        "project/more.md",
        "project/.claude/AGENTS.md",
        "project/sub/AGENTS.md",
    ]


@pytest.mark.parametrize("present", ["CLAUDE.md", "project/.claude/CLAUDE.md", "project/CLAUDE.local.md"])
@pytest.mark.parametrize(
    ("agents", "extra"), [("fallback", []), ("both", ["project/AGENTS.md"]), ("off", [])]
)
def test_a_claude_md_on_the_way_turns_agents_md_off(
    present: str, agents: str, extra: list[str], tmp_path: Path
) -> None:
    plant(tmp_path, {present: "x", "project/AGENTS.md": "y"})
    loaded = load_start(request(tmp_path, agents=agents), Library())
    assert short(tmp_path, loaded.files) == [present, *extra]
    assert loaded.agents_active is (agents == "both")
    assert [s.path for s in loaded.skipped] == ([] if extra else [str(tmp_path / "project/AGENTS.md")])


def test_agents_md_can_be_switched_off_altogether(tmp_path: Path) -> None:
    plant(
        tmp_path, {n: "x" for n in ("home/.forge/AGENTS.md", "project/AGENTS.md", "project/AGENTS.local.md")}
    )
    assert names(tmp_path, agents="off") == []
    assert len(names(tmp_path)) == 3


@pytest.mark.parametrize(
    ("pattern", "left_out"),
    [
        ("**/project/CLAUDE.md", ["project/CLAUDE.md"]),
        ("**/rules/*.md", ["home/.claude/rules/u.md", "project/.claude/rules/r.md"]),
        ("{root}/project/**", ["project/CLAUDE.md", "project/.claude/rules/r.md"]),
        ("**/{CLAUDE,u}.md", ["home/.claude/rules/u.md", "project/CLAUDE.md"]),
        ("project/CLAUDE.md", []),
        ("CLAUDE.md", []),
        ("!**/CLAUDE.md", ["home/.claude/rules/u.md", "project/.claude/rules/r.md"]),
        ("**/[z-a].md", []),
    ],
)
def test_excludes_are_globs_on_absolute_paths(pattern: str, left_out: list[str], tmp_path: Path) -> None:
    files = [
        "etc/claude-code/CLAUDE.md",
        "home/.claude/rules/u.md",
        "project/CLAUDE.md",
        "project/.claude/rules/r.md",
    ]
    plant(tmp_path, dict.fromkeys(files, "x"))
    loaded = load_start(request(tmp_path, excludes=[pattern.replace("{root}", str(tmp_path))]), Library())
    assert short(tmp_path, loaded.files) == [f for f in files if f not in left_out]
    assert loaded.skipped == [Skipped(str(tmp_path / f), "claudeMdExcludes") for f in left_out]


def test_managed_settings_can_hold_instructions(tmp_path: Path) -> None:
    plant(tmp_path, {"etc/claude-code/CLAUDE.md": "a", "etc/claude-code/.claude/rules/r.md": "b"})
    found = load_start(request(tmp_path, managed_text="Be kind.\n"), Library()).files
    assert [f.block for f in found][1] == (
        "Contents of <managed-settings> (organization-managed policy instructions):\n\nBe kind."
    )


def test_a_worktree_inside_its_repository_has_its_own_project_files(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "CLAUDE.md": "above",
            "repo/CLAUDE.md": "main",
            "repo/CLAUDE.local.md": "mine",
            "repo/.claude/rules/r.md": "rule",
            "repo/wt/CLAUDE.md": "between",
            "repo/wt/one/CLAUDE.md": "one",
        },
    )
    repo, worktree = str(tmp_path / "repo"), str(tmp_path / "repo/wt/one")
    assert names(tmp_path, cwd=worktree, worktree=worktree, repository=repo) == [
        "CLAUDE.md",
        "repo/CLAUDE.local.md",
        "repo/wt/one/CLAUDE.md",
    ]


def test_added_directories_bring_their_files_behind_everything_else(tmp_path: Path) -> None:
    added = [
        "extra/CLAUDE.md",
        "extra/.claude/CLAUDE.md",
        "extra/.claude/rules/r.md",
        "extra/CLAUDE.local.md",
    ]
    plant(tmp_path, dict.fromkeys([*added, "project/CLAUDE.md"], "x"))
    assert names(tmp_path, added=[str(tmp_path / "extra")]) == ["project/CLAUDE.md", *added]


def test_switched_off_memory_loads_nothing(tmp_path: Path) -> None:
    plant(tmp_path, {name: "x" for name, _ in EVERYWHERE} | {"home/m/MEMORY.md": "x"})
    wanted = request(tmp_path, files=False, auto_dir=str(tmp_path / "home/m"))
    assert load_start(wanted, Library()).files + load_scoped(wanted, Library()) == []


@pytest.mark.parametrize(
    ("front", "globs"),
    [
        ("paths: src/**", ["src/**"]),
        ("paths: 'a, b/*.{ts,tsx}'", ["a", "b/*.{ts,tsx}"]),
        ("paths:\n  - a\n  - b", ["a", "b"]),
        ("paths: **/*.ts", ["**/*.ts"]),
        ("paths: '**'", None),
        ("paths: []", None),
        ("paths:", None),
        ("paths: 3", None),
        ("paths: {a: b}", None),
        ("globs: '*.ts'", None),
        ("paths:\n  - **/*.ts", None),
    ],
)
def test_rules_with_paths_wait_until_they_are_needed(
    front: str, globs: list[str] | None, tmp_path: Path
) -> None:
    plant(tmp_path, {"project/.claude/rules/r.md": f"---\n{front}\n---\nRule.\n"})
    scoped = load_scoped(request(tmp_path), Library())
    assert [f.globs for f in scoped] == ([globs] if globs else [])
    assert names(tmp_path) == ([] if globs else ["project/.claude/rules/r.md"])
