from __future__ import annotations

from pathlib import Path

import pytest

from forge.core.memory.nested import load_nested, load_nested_agents
from forge.core.memory.read import Library
from unit.core.memory.places import plant, request, short

TREE = {
    "home/.claude/rules/u.md": "---\npaths: '*.ts'\n---\nuser",
    "CLAUDE.md": "start",
    "project/CLAUDE.md": "start",
    "project/.claude/rules/s.md": "---\npaths: pkg/**\n---\nscoped @../../docs/c.md",
    "project/docs/c.md": "---\npaths: pkg\n---\nalso scoped",
    "project/.claude/rules/other.md": "---\npaths: lib/**\n---\nother",
    "project/pkg/CLAUDE.md": "pkg @imp.md",
    "project/pkg/imp.md": "imported",
    "project/pkg/deep/CLAUDE.md": "deep",
    "project/pkg/deep/.claude/CLAUDE.md": "deep dot",
    "project/pkg/deep/CLAUDE.local.md": "deep local",
    "project/pkg/deep/.claude/rules/n.md": "nested rule",
    "project/pkg/deep/.claude/rules/ns.md": "---\npaths: code.ts\n---\nnested scoped",
    "project/pkg/deep/other/CLAUDE.md": "too deep",
}
CODE = "project/pkg/deep/code.ts"


@pytest.mark.requirement("S1-80", "S1-81")
def test_touching_a_file_brings_in_what_lies_on_the_way(tmp_path: Path) -> None:
    plant(tmp_path, TREE)
    target = str(tmp_path / CODE)
    found = load_nested(request(tmp_path), Library(), target, set())
    assert [(p, f.load_reason) for p, f in zip(short(tmp_path, found), found, strict=True)] == [
        ("home/.claude/rules/u.md", "path_glob_match"),
        ("project/pkg/CLAUDE.md", "nested_traversal"),
        ("project/pkg/imp.md", "include"),
        ("project/pkg/deep/CLAUDE.md", "nested_traversal"),
        ("project/pkg/deep/.claude/CLAUDE.md", "nested_traversal"),
        ("project/pkg/deep/CLAUDE.local.md", "nested_traversal"),
        ("project/pkg/deep/.claude/rules/n.md", "nested_traversal"),
        ("project/pkg/deep/.claude/rules/ns.md", "path_glob_match"),
        ("project/.claude/rules/s.md", "path_glob_match"),
        ("project/docs/c.md", "path_glob_match"),
    ]
    assert {f.trigger for f in found} == {target}
    assert load_nested(request(tmp_path), Library(), target, {f.path for f in found}) == []


@pytest.mark.parametrize("target", ["elsewhere/x.ts", "project/x.md", "x.py"])
def test_files_elsewhere_bring_in_nothing(target: str, tmp_path: Path) -> None:
    plant(tmp_path, TREE)
    assert load_nested(request(tmp_path), Library(), str(tmp_path / target), set()) == []


@pytest.mark.requirement("S1-80")
def test_agents_md_below_counts_where_there_is_no_claude_md_beside_it(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "project/a/AGENTS.md": "a @q.md",
            "project/a/q.md": "q",
            "project/a/b/AGENTS.md": "b",
            "project/a/b/CLAUDE.md": "wins",
            "project/a/b/c/AGENTS.md": "c",
        },
    )
    found = load_nested_agents(request(tmp_path), Library(), str(tmp_path / "project/a/b/c/x"), set())
    assert short(tmp_path / "project", found) == ["a/AGENTS.md", "a/q.md", "a/b/c/AGENTS.md"]
    assert all(f.agents for f in found)
    both = request(tmp_path, agents="both")
    assert len(load_nested_agents(both, Library(), str(tmp_path / "project/a/b/c/x"), set())) == 4
