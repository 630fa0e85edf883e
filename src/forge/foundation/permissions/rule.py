"""The permission rule `Tool` or `Tool(content)`: reading one, and splitting lists of them."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

BEHAVIORS = ("allow", "ask", "deny")
# The source of rules that last for one turn; what they forbid the model still sees.
TURN = "turn"

LEGACY_NAMES = {
    "Task": "Agent",
    "KillShell": "TaskStop",
    "KillBash": "TaskStop",
    "ListPeers": "ListAgents",
    "Brief": "SendUserMessage",
    "ListMcpResources": "ListMcpResourcesTool",
    "ReadMcpResource": "ReadMcpResourceTool",
    "ReadMcpResourceDir": "ReadMcpResourceDirTool",
}

_FILE_TOOLS = frozenset({"Read", "Edit", "Write"})
_ESCAPED = r"\\([()\\])"


class Rule:
    """One parsed rule: what it names, what it does and where it was written."""

    __slots__ = ("anchor", "behavior", "content", "source", "text", "tool")

    def __init__(
        self, text: str, tool: str, content: str | None, behavior: str, source: str, anchor: str
    ) -> None:
        self.text = text
        self.tool = tool
        self.content = content
        self.behavior = behavior
        self.source = source
        self.anchor = anchor

    def __repr__(self) -> str:
        return f"Rule({self.behavior} {self.text!r} from {self.source})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rule):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[str | None, ...]:
        return (self.tool, self.content, self.behavior, self.source, self.anchor)


def parse_rule(text: object, behavior: str, source: str, anchor: str) -> Rule | str:
    """Read one entry of a rule list; a string result says in plain words why the entry does not count."""
    if not isinstance(text, str):
        return f"a permission rule must be a string, found {type(text).__name__}"
    stripped = text.strip()
    tool, content, problem = _take_apart(stripped)
    if not problem:
        problem = _unusable_name(tool, behavior)
    if problem:
        return f"{stripped!r}: {problem}"
    if content == "*" and not (behavior == "allow" and tool in _FILE_TOOLS):
        content = None
    return Rule(stripped, LEGACY_NAMES.get(tool, tool), content, behavior, source, anchor)


def render(tool: str, content: str | None) -> str:
    """The text of a rule, with parentheses in its content escaped."""
    if content is None:
        return tool
    return f"{tool}({escape(content)})"


def escape(content: str) -> str:
    """Protect backslashes before parentheses and parentheses themselves."""
    return content.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def split_rules(values: Sequence[str]) -> list[str]:
    """Split command line values at commas and blanks that are outside parentheses."""
    found: list[str] = []
    for value in values:
        part, depth = "", 0
        for char in value:
            depth += (char == "(") - (char == ")" and depth > 0)
            if depth == 0 and (char == "," or char.isspace()):
                found.append(part)
                part = ""
            else:
                part += char
        found.append(part)
    return [part for part in found if part]


def _take_apart(text: str) -> tuple[str, str | None, str]:
    """The tool, the content and, if the rule is malformed, the problem."""
    opened = _first_unescaped(text, "(")
    if opened < 0:
        problem = "there is a ) without a (" if _first_unescaped(text, ")") >= 0 else ""
        return text, None, problem if text else "an empty rule names no tool"
    tool, inside = text[:opened].strip(), text[opened + 1 :]
    content = re.sub(_ESCAPED, r"\1", inside[:-1])
    problem = ""
    if not tool:
        problem = "the tool name before ( is missing"
    elif not _ends_closed(inside):
        problem = "the closing ) is missing or text follows it"
    elif not content.strip():
        problem = "there is nothing between the parentheses"
    return tool, content, problem


def _first_unescaped(text: str, char: str) -> int:
    at = text.find(char)
    while at > 0 and text[at - 1] == "\\":
        at = text.find(char, at + 1)
    return at


def _ends_closed(inside: str) -> bool:
    if not inside.endswith(")"):
        return False
    slashes = len(inside) - 1 - len(inside[:-1].rstrip("\\"))
    return slashes % 2 == 0


def _unusable_name(tool: str, behavior: str) -> str:
    if any(char.isspace() for char in tool):
        return "a tool name has no blanks"
    if "*" not in tool or behavior != "allow":
        return ""
    parts = tool.split("__", 2)
    if len(parts) == 3 and parts[0] in ("mcp", "wasm") and parts[1] and "*" not in parts[1]:
        return ""
    return "an allow rule may use * in the tool name only after mcp__<server>__"
