"""Output styles: a Markdown file whose body tells the model how to answer."""

from __future__ import annotations

import os

from forge.core.components.fields import is_true, read_text, text_of
from forge.core.components.kinds import OutputStyle, PluginRoot
from forge.foundation.frontmatter import parse
from forge.foundation.origin import Diagnostic, Origin


def read_style(
    path: str, origin: Origin, plugin: PluginRoot | None = None
) -> tuple[OutputStyle | None, list[Diagnostic]]:
    """Reads a style; those of plugins are named `plugin:name`."""
    text, problem = read_text(path, origin)
    if problem:
        return None, [problem]
    matter = parse(text, path, origin.scope)
    values = matter.values
    name = text_of(values.get("name")).strip() or os.path.splitext(os.path.basename(path))[0]
    style = OutputStyle(
        name=f"{plugin.name}:{name}" if plugin else name,
        description=text_of(values.get("description")).strip(),
        body=matter.body.strip(),
        keep_coding_instructions=is_true(values.get("keep-coding-instructions")),
        forced=plugin is not None and is_true(values.get("force-for-plugin")),
    )
    return style, matter.diagnostics
