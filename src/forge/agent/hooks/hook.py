"""One configured handler of an event, whatever file, plugin, skill, agent or host it came from."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.components.kinds import PluginRoot
from forge.foundation.origin import Origin


class Hook(msgspec.Struct, frozen=True, eq=False):
    """`fields` are the handler's own; `base` is the directory of the skill it belongs to.

    `agent_id` limits it to one sub-agent, the one whose definition it came from.
    """

    event: str
    matcher: str
    kind: str
    fields: dict[str, Any]
    origin: Origin
    plugin: PluginRoot | None = None
    base: str = ""
    agent_id: str = ""

    @property
    def label(self) -> str:
        """How texts name it: its command (with the plugin's directory), its URL, its prompt."""
        for key in ("command", "url", "prompt"):
            if key in self.fields:
                return self._placed(str(self.fields[key]))
        if self.kind == "callback":
            return "callback"
        return f"{self.fields.get('server', '')}/{self.fields.get('tool', '')}"

    def _placed(self, text: str) -> str:
        return text.replace("${CLAUDE_PLUGIN_ROOT}", self.plugin.root) if self.plugin else text
