from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from forge.core.components.kinds import PluginRoot, Skill
from forge.core.components.skill_file import read_skill, skill_body, skill_from_text
from forge.foundation.errors import ForgeError
from forge.foundation.origin import Diagnostic, Origin, Scope, Severity

ORIGIN = Origin(Scope.PROJECT, "s/SKILL.md")
PLUGIN = PluginRoot("p@inline", "p", "/p", "/d")


def skill(front: str, body: str = "Body\n", root: str = "s") -> Skill:
    return skill_from_text(f"---\n{front}\n---\n{body}", "s", ORIGIN, root)[0]


@pytest.mark.requirement("S0-15")
@pytest.mark.requirement("S0-16")
@pytest.mark.requirement("S0-17")
@pytest.mark.requirement("S1-22")
@pytest.mark.parametrize(
    ("front", "field", "value"),
    [
        ("name: Shown", "display", "Shown"),
        ("name: 7", "display", "7"),
        ("description: does it", "description", "does it"),
        ("description: 42", "description", "42"),
        ("description: true", "description", "true"),
        ("description: '  padded '", "description", "padded"),
        ("when_to_use: now", "when_to_use", "now"),
        ("when-to-use: now", "when_to_use", ""),
        ("whenToUse: now", "when_to_use", ""),
        ("argument-hint: file name", "argument_hint", "file name"),
        ("argument-hint: [-m message]", "argument_hint", "[-m message]"),
        ("argument-hint: [a] | [b]", "argument_hint", "[a] | [b]"),
        ("argument_hint: x", "argument_hint", "x"),
        ("arguments: first second,third", "arguments", ["first", "second,third"]),
        ("arguments: [a, {b: c}, d]", "arguments", ["a", "d"]),
        ("allowed-tools: Read, Bash(git add:*) Grep", "allowed_tools", ["Read", "Bash(git add:*)", "Grep"]),
        ("allowed-tools: [Read, 'Bash(a b)']", "allowed_tools", ["Read", "Bash(a b)"]),
        ("allowed_tools: Read", "allowed_tools", ["Read"]),
        ("allowed_tools: Read\nallowed-tools: Grep", "allowed_tools", ["Grep"]),
        ("disallowed-tools: Write", "disallowed_tools", ["Write"]),
        ("model: haiku", "model", "haiku"),
        ("model: inherit", "model", ""),
        ("effort: max", "effort", "max"),
        ("effort: extreme", "effort", ""),
        ("context: fork", "fork", True),
        ("context: other", "fork", False),
        ("context: 5", "fork", False),
        ("agent: Explore", "agent", "Explore"),
        ("background: yes", "background", True),
        ("hooks: {Stop: []}", "hooks", {"Stop": []}),
        ("hooks: nonsense", "hooks", {}),
        ("paths: src/**, '*.ts'", "paths", ["src/**", "'*.ts'"]),
        ("paths: ['**']", "paths", None),
        ("shell: powershell", "shell", "powershell"),
        ("shell: zsh", "shell", ""),
    ],
)
def test_each_key_of_the_front_matter_has_its_field(front: str, field: str, value: Any) -> None:
    assert getattr(skill(front), field) == value


@pytest.mark.requirement("S0-21")
@pytest.mark.parametrize(
    ("word", "disabled", "invocable"),
    [
        ("true", True, True),
        ("Yes", True, True),
        ("'on'", True, True),
        ("1", True, True),
        ("false", False, False),
        ("no", False, False),
        ("off", False, False),
        ("0", False, False),
        ("n", False, False),
        ("maybe", False, False),
        ("~", False, False),
        ("[true]", False, False),
    ],
)
def test_booleans_are_words_and_an_unclear_user_invocable_is_a_no(
    word: str, disabled: bool, invocable: bool
) -> None:
    dashes = skill(f"disable-model-invocation: {word}\nuser-invocable: {word}")
    lines = skill(f"disable_model_invocation: {word}\nuser_invocable: {word}")
    for s in (dashes, lines):
        assert (s.model_invocable, s.user_invocable) == (not disabled, invocable)


@pytest.mark.parametrize(
    ("body", "root", "description"),
    [
        ("\n# Title of it\ntext", "s", "Title of it"),
        ("   ##   Head  \ntext", "s", "Head"),
        ("#nospace", "s", "#nospace"),
        ("#\n\ntext", "s", "#"),
        ("- item", "s", "- item"),
        ("", "s", "Skill"),
        (" \n ", "", "Custom command"),
        ("x" * 100, "s", "x" * 100),
        ("x" * 101, "s", "x" * 97 + "..."),
        ("😀" * 60, "s", "😀" * 48 + " ..."),
    ],
)
def test_a_missing_description_is_made_from_the_body(body: str, root: str, description: str) -> None:
    s = skill("x: 1", body, root)
    assert (s.description, s.described) == (description, False)


def test_an_empty_description_and_one_that_is_a_list_count_as_missing() -> None:
    assert skill("description: ''").description == "Body"
    s, notes = skill_from_text("---\ndescription: [a, b]\n---\nBody\n", "s", ORIGIN, "s")
    assert s.description == "Body"
    assert notes == [
        Diagnostic(
            Severity.WARNING,
            "description is not usable",
            ORIGIN,
            "Expected text; the value is ignored.",
            2,
            1,
            "description",
        )
    ]


def test_commands_ignore_the_name_and_the_paths_in_their_front_matter() -> None:
    s = skill("name: x\npaths: '*.py'\ndescription: d", root="")
    assert s == Skill(name="s", path="s/SKILL.md", description="d", described=True)


def test_names_of_plugin_skills_carry_the_plugin() -> None:
    s, notes = skill_from_text("---\nname: fancy\n---\nB\n", "p:dir", ORIGIN, "/p/skills/dir", PLUGIN)
    assert (s.display, s.description, s.described, s.plugin, notes) == ("p:fancy", "B", False, PLUGIN, [])


@pytest.mark.requirement("S0-06")
@pytest.mark.requirement("S0-23")
@pytest.mark.requirement("S0-26")
def test_the_body_is_read_when_it_is_used(tmp_path: Path) -> None:
    file = tmp_path / "SKILL.md"
    file.write_bytes(b"\xef\xbb\xbf---\r\ndescription: d\r\n---\r\n\r\n  one\r\n")
    s, notes = read_skill(str(file), "s", str(tmp_path), Origin(Scope.USER))
    assert s is not None
    assert (s.path, s.root, notes, skill_body(s)) == (str(file), str(tmp_path), [], "one\r\n")
    file.write_bytes(b"\n\n  two \xff\n")
    assert skill_body(s) == "\n\n  two \ufffd\n"
    file.unlink()
    with pytest.raises(ForgeError, match="cannot be read"):
        skill_body(s)


def test_an_inline_definition_keeps_its_body() -> None:
    s, _ = skill_from_text("---\ndescription: d\n---\nDo it\n", "s", ORIGIN, inline=True)
    assert (s.path, skill_body(s)) == ("", "Do it\n")


def test_a_file_that_cannot_be_read_is_a_diagnostic(tmp_path: Path) -> None:
    path = str(tmp_path / "SKILL.md")
    s, notes = read_skill(path, "s", str(tmp_path), Origin(Scope.USER))
    assert s is None
    assert [(n.origin.path, n.severity) for n in notes] == [(path, Severity.ERROR)]


@pytest.mark.parametrize(
    "text", ["---\njust text\n---\nB", "---\n- a\n---\nB", '---\ndescription: "x\n---\nB']
)
def test_broken_front_matter_is_reported_and_the_skill_still_loads(text: str) -> None:
    s, notes = skill_from_text(text, "s", ORIGIN, "s")
    assert s == Skill(name="s", path="s/SKILL.md", root="s", description="B")
    assert [n.severity for n in notes] == [Severity.ERROR]


def test_a_large_file_is_read_whole(tmp_path: Path) -> None:
    body = "line of text\n" * 60_000
    (tmp_path / "SKILL.md").write_text(f"---\ndescription: d\n---\n{body}")
    s, _ = read_skill(str(tmp_path / "SKILL.md"), "s", str(tmp_path), ORIGIN)
    assert s is not None
    assert skill_body(s) == body


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_place_of_a_file_stops_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    s, notes = read_skill(str(tmp_path / "pipe.md"), "s", "", ORIGIN)
    assert s is not None
    assert (s.description, notes) == ("Custom command", [])


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="this system has no such device")
def test_a_file_without_an_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "SKILL.md").symlink_to("/dev/zero")
    s, notes = read_skill(str(tmp_path / "SKILL.md"), "s", str(tmp_path), ORIGIN)
    assert (s, [n.message for n in notes]) == (None, ["cannot be read: the file is too large"])
