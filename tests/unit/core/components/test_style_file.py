from __future__ import annotations

from pathlib import Path

import pytest

from forge.core.components.kinds import OutputStyle, PluginRoot
from forge.core.components.style_file import read_style
from forge.foundation.origin import Origin, Scope

PLUGIN = PluginRoot("p@inline", "p", "/p", "/d")


@pytest.mark.parametrize(
    ("text", "plugin", "style"),
    [
        ("Be brief.\n", None, OutputStyle("terse", "", "Be brief.")),
        (
            "---\nname: Short\ndescription: d\nkeep-coding-instructions: on\nforce-for-plugin: 1\n---\n\nB",
            None,
            OutputStyle("Short", "d", "B", keep_coding_instructions=True),
        ),
        ("---\nname: S\nforce-for-plugin: true\n---\nB", PLUGIN, OutputStyle("p:S", "", "B", forced=True)),
    ],
)
def test_a_style_is_its_front_matter_and_body(
    text: str, plugin: PluginRoot | None, style: OutputStyle, tmp_path: Path
) -> None:
    file = tmp_path / "terse.md"
    file.write_text(text)
    assert read_style(str(file), Origin(Scope.USER, str(file)), plugin) == (style, [])


def test_a_missing_file_is_a_diagnostic(tmp_path: Path) -> None:
    style, notes = read_style(str(tmp_path / "x.md"), Origin(Scope.USER))
    assert (style, len(notes)) == (None, 1)
