from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forge.foundation.errors import ForgeError
from forge.foundation.frontmatter import FrontMatter, parse, split, write_values
from forge.foundation.origin import Diagnostic, Origin, Scope, Severity


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("---\na: 1\n---\nBody\n", ("a: 1\n", "Body\n")),
        ("---\r\na: 1\r\n---\r\n\r\n  Body\r\n", ("a: 1\r\n", "Body\r\n")),
        ("\ufeff---\na: 1\n---\nBody", ("a: 1\n", "Body")),
        ("---  \na: 1\n---  \nBody", ("a: 1\n", "Body")),
        ("---\n---\nBody", ("", "Body")),
        ("---\na: one --- two\n---\nBody", ("a: one ", "two\n---\nBody")),
        ("---\na: 1\n...\nBody", (None, "---\na: 1\n...\nBody")),
        ("\n---\na: 1\n---\n", (None, "\n---\na: 1\n---\n")),
        (" ---\na: 1\n---\n", (None, " ---\na: 1\n---\n")),
        ("----\na: 1\n----\n", (None, "----\na: 1\n----\n")),
        ("---\ra: 1\r---\rBody", (None, "---\ra: 1\r---\rBody")),
        ("Body", (None, "Body")),
        ("", (None, "")),
    ],
)
def test_block_and_body_are_split_like_in_the_reference(text: str, parts: tuple[str | None, str]) -> None:
    assert split(text) == parts


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("description: yes", "yes"),
        ("description: on", "on"),
        ("description: 2026-01-01", "2026-01-01"),
        ("description: 010", 10),
        ("description: 1.10", 1.1),
        ("description: Use when: foo bar", "Use when: foo bar"),
        ("description: @foo thing", "@foo thing"),
        ("description: **bold** start", "**bold** start"),
        ("description: [a] | [b]", "[a] | [b]"),
        ("description: %x", "%x"),
        ("argument-hint: [--a] [--b]\ndescription: after two lists", "after two lists"),
        ("description: a: b # c", "a: b # c"),
        ("description: it's: \"x", "it's: \"x"),
        ("description: before #after", "before"),
        ("description: >\n  folded\n  block", "folded block\n"),
        ("description: >\r\n  folded\r\n  block\r", "folded block\n"),
        ("description: |\n  two\n  lines", "two\nlines\n"),
        ("description: one\n  two", "one two"),
        ("description: [a, b]", ["a", "b"]),
        ("description: {a: b}", {"a": "b"}),
        ("description:", None),
        ("description: ~", None),
        ("description: True", True),
        ("description: 0x1F", 31),
        ("description: 0o17", 15),
        ("description: 0b101", "0b101"),
        ("description: 1_000", "1_000"),
        ("description: 12:30:45", "12:30:45"),
        ("description: 1e3", 1000.0),
        ("description: .5", 0.5),
        ("description: 12.", 12.0),
        ("description: +5", 5),
        ("description: .inf", float("inf")),
        ("description: !foo tagged", "tagged"),
        ("description: !!str 12", "12"),
        ("description: !!int abc", "abc"),
        ("description: '12'", "12"),
        ("description: one\ndescription: two", "two"),
        ("x: &a hello\ndescription: *a", "hello"),
        ("base: &b\n  description: merged\n<<: *b", "merged"),
        ("description: a\x01b", "a b"),
        ("description: héé 😀", "héé 😀"),
        ("metadata:\n\tfoo: bar\ndescription: after a tab", "after a tab"),
        ("\tdescription: after a tab", "after a tab"),
        ("description: ok *foo\nother: *nope", "ok *foo"),
        ("? [a, b]\n: c\ndescription: odd key", "odd key"),
    ],
)
def test_value_is_the_one_the_reference_sees(line: str, value: object) -> None:
    found = parse(f"---\n{line}\n---\nBody\n", "a.md")
    assert (found.values.get("description"), found.body) == (value, "Body\n")


@pytest.mark.parametrize(
    "block",
    [
        'description: "never closed',
        "description: foo:",
        "description: |\n  line\nother: a: b",
        "- just\n- a list",
        "only text",
        "%YAML 1.1\ndescription: yes",
    ],
)
def test_unreadable_block_is_reported_and_ignored(block: str) -> None:
    found = parse(f"---\n{block}\n---\nBody\n", "a.md")
    assert (found.values, found.body, found.lines) == ({}, "Body\n", {})
    assert [(note.severity, note.hint) for note in found.diagnostics] == [
        (Severity.ERROR, "The front matter is ignored.")
    ]


def test_repaired_block_says_where_it_is_not_yaml() -> None:
    found = parse("---\nname: x\ndescription: Use when: foo\n---\nBody\n", "a.md", Scope.USER)
    assert found == FrontMatter(
        values={"name": "x", "description": "Use when: foo"},
        body="Body\n",
        diagnostics=[
            Diagnostic(
                Severity.INFO,
                "the front matter is not valid YAML: mapping values are not allowed in this context",
                Origin(Scope.USER, "a.md"),
                "It was read with such values put in quotes.",
                line=3,
                column=1,
            )
        ],
        lines={"name": 2, "description": 3},
    )


def test_windows_line_ends_are_repaired_too() -> None:
    found = parse("---\r\nname: x\r\ndescription: Use when: foo\r\n---\r\nBody\r\n", "a.md")
    assert (found.values, found.lines) == (
        {"name": "x", "description": "Use when: foo"},
        {"name": 2, "description": 3},
    )


def test_file_without_block_is_all_body() -> None:
    assert parse("# Title\n", "a.md") == FrontMatter({}, "# Title\n")


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("a: " + "[" * 5000, "nested too deeply"),
        ("- " * 5000, "nested too deeply"),
        ("a: &a [x, *a]\nb:\n  - c: d: e", "there is no anchor named a"),
        ("a: [" + ",".join(["x"] * 20_001) + "]", "too many values"),
    ],
)
def test_hostile_block_is_refused(block: str, message: str) -> None:
    found = parse(f"---\n{block}\n---\nBody\n", "a.md")
    assert found.body == "Body\n"
    assert message in found.diagnostics[0].message


def test_aliases_do_not_unfold_without_limit() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [
        f"{y}: &{y} [{', '.join([f'*{x}'] * 9)}]" for x, y in zip("abcdefghi", "bcdefghij", strict=True)
    ]
    found = parse("---\n" + "\n".join(lines) + "\n---\n", "a.md")
    assert "too many values" in found.diagnostics[0].message


def test_huge_block_is_refused_and_huge_body_is_kept() -> None:
    assert parse(f"---\na: {'x' * 1_100_000}\n---\nBody", "a.md").values == {}
    assert len(parse(f"---\na: 1\n---\n{'x' * 2_000_000}", "a.md").body) == 2_000_000


SKILL = """---
# who
name: x  # keep this
description: >
  folded
  text

# about tools
tools:
- A
- B
"odd key": {a: 1}
---
Body with --- a fence
"""


@pytest.mark.parametrize(
    ("changes", "old", "new"),
    [
        ({"description": "short"}, "description: >\n  folded\n  text\n", "description: short\n"),
        ({"tools": ["A", "C(d *)"]}, "tools:\n- A\n- B\n", 'tools: [A, "C(d *)"]\n'),
        ({"name": None}, "name: x  # keep this\n", ""),
        ({"odd key": {"a": 2}}, '"odd key": {a: 1}\n', "odd key: {a: 2}\n"),
        ({"model": "opus"}, "{a: 1}\n", "{a: 1}\nmodel: opus\n"),
        ({"model": "yes: no"}, "{a: 1}\n", '{a: 1}\nmodel: "yes: no"\n'),
        ({"model": "1.0"}, "{a: 1}\n", '{a: 1}\nmodel: "1.0"\n'),
        ({"model": "a ---- b"}, "{a: 1}\n", '{a: 1}\nmodel: "a \\u002d-\\u002d- b"\n'),
        ({"model": "two\nlines"}, "{a: 1}\n", '{a: 1}\nmodel: "two\\nlines"\n'),
        ({"on": True, "n": 2}, "{a: 1}\n", "{a: 1}\non: true\nn: 2\n"),
        ({"name": "x"}, "name: x  # keep this\n", "name: x\n"),
        ({"missing": None}, "", ""),
    ],
)
def test_writing_changes_only_the_lines_of_the_keys(changes: dict[str, Any], old: str, new: str) -> None:
    written = write_values(SKILL, changes)
    assert written == SKILL.replace(old, new, 1)
    assert parse(written, "").body == parse(SKILL, "").body


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Body\n", "---\na: 1\n---\nBody\n"),
        ("Body\r\n", "---\r\na: 1\r\n---\r\nBody\r\n"),
        ("\ufeff---\r\nb: 2\r\n---\r\nBody", "\ufeff---\r\nb: 2\r\na: 1\r\n---\r\nBody"),
        ("---\n---\nBody", "---\na: 1\n---\nBody"),
        ("", "---\na: 1\n---\n"),
    ],
)
def test_writing_takes_the_style_of_the_file(text: str, written: str) -> None:
    assert write_values(text, {"a": 1}) == written


def test_block_that_cannot_be_read_is_not_rewritten() -> None:
    with pytest.raises(ForgeError, match="cannot be changed"):
        write_values('---\nb: "open\n---\nBody', {"a": 1})


@settings(max_examples=100, deadline=None)
@given(st.text() | st.lists(st.text(max_size=5), max_size=3) | st.integers() | st.booleans())
def test_any_value_reads_back_after_writing(value: Any) -> None:
    before = {"name": "x", "description": "folded text\n", "tools": ["A", "B"], "odd key": {"a": 1}}
    assert parse(write_values(SKILL, {"new": value}), "").values == {**before, "new": value}
