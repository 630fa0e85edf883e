from __future__ import annotations

import json
from pathlib import Path

import pytest

from forge.core.memory.markdown import imports
from forge.core.memory.read import parse

# text of a file, whether it imports t.md, its cleaned content: as the reference reads them
CASES = json.loads(Path(__file__).with_name("markdown.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "imported", "content"), CASES)
def test_imports_and_comments_are_found_as_in_the_reference(text: str, imported: bool, content: str) -> None:
    parsed = parse(text, "CLAUDE.md")
    named = [name.rpartition("/")[2] for name in parsed.imports]
    assert ("t.md" in named, parsed.content.strip()) == (imported, content)


@pytest.mark.requirement("S1-82")
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("@include docs/a.md", ["docs/a.md"]),
        ("- @include docs/a.md and @b.md", ["docs/a.md", "b.md"]),
        ("@a\\ b.md", ["a b.md"]),
        ("@~/x.md @/etc/x.md @../x.md @./x.md", ["~/x.md", "/etc/x.md", "../x.md", "./x.md"]),
        ("@(x).md @%p @/", []),
        ("`@include a.md`", []),
        ("me@x.md and no sign", []),
    ],
)
def test_both_ways_to_write_an_import_are_understood(text: str, names: list[str]) -> None:
    assert imports(text) == names
