"""From a text to a checked tree: pre-pass, grammar, coverage, and bash's own opinion where it matters."""

from __future__ import annotations

import functools
import re

from forge.core.shell.analysis.coverage import (
    command_names,
    contains,
    glued_array,
    joined_lines,
    misread_numbers,
    uncovered,
)
from forge.core.shell.analysis.gate import suspicious
from forge.core.shell.analysis.grammar import parser
from forge.core.shell.analysis.heredoc import Prepared, prepare
from forge.core.shell.analysis.joining import join_lines
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.state import Source
from forge.core.shell.analysis.tripwire import read_by_bash

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node, Tree


class Parsed:
    """A text, its tree and the reasons why the tree may not be what the shell would run."""

    __slots__ = ("complaint", "cuts", "root", "source", "tree", "troubles")

    def __init__(self, source: Source, tree: Tree) -> None:
        self.source = source
        # Nodes are only valid while their tree lives.
        self.tree = tree
        self.root: Node = tree.root_node
        self.troubles: list[str] = []
        self.complaint = ""
        self.cuts: list[int] = []


def parse_alone(text: str, span: tuple[int, int]) -> Parsed:
    """The tree of a text without any checks."""
    data = text.encode("utf-8", "replace")
    return Parsed(Source(data, Prepared(text), span), parser("bash").parse(data))


def parse(text: str, span: tuple[int, int] | None) -> Parsed:
    """The tree of a command text with everything that speaks against trusting it."""
    text, cuts = join_lines(text)
    prepared = prepare(text)
    parsed = _tree(_readable(prepared.text), prepared, span)
    data = parsed.source.data
    parsed.cuts = cuts
    root, troubles = parsed.root, parsed.troubles
    odd = suspicious(text.replace(UNKNOWN, ""))
    if odd:
        troubles.append(f"the text contains {odd[0]}")
    if prepared.trouble:
        troubles.append(f"the text contains {prepared.trouble}")
    if root.has_error:
        troubles.append("the text is not understood completely")
    if uncovered(root, data) is not None:
        troubles.append("the text contains a substitution the parser did not see")
    if b"\n" in data and joined_lines(root, data):
        troubles.append("the text has line breaks the parser reads in another way")
    if glued_array(root, data):
        troubles.append("the text has something directly behind an array")
    if contains(root, "heredoc_redirect"):
        troubles.append("the text contains a here-document in an unusual place")
    _ask_bash(text, parsed)
    return parsed


def _readable(text: str) -> str:
    """The text, as long as before, without two signs that do not change which commands run.

    The grammar takes a group behind `!` for words, and the brace of `{name}>file` for the start of a group.
    """
    if "! {" in text:
        text = re.sub(r"(?<![^\s;&|(])!(?=\s+\{\s)", " ", text)
    if "}>" in text or "}<" in text:
        text = re.sub(r"(?<![^\s;&|(])\{[A-Za-z_]\w*\}(?=[<>])", lambda found: " " * len(found[0]), text)
    return text


def _tree(text: str, prepared: Prepared, span: tuple[int, int] | None) -> Parsed:
    """The tree, where need be of the text in an order or form the grammar can read; its length stays."""
    parsed = _parsed(text.encode("utf-8", "replace"), prepared, span)
    if parsed.root.has_error and "<<<" in text:
        # `cat > file <<< text`: the grammar wants the other order.
        swapped = _redirections().sub(r"\3\2\1", text)
        again = _parsed(swapped.encode("utf-8", "replace"), prepared, span)
        parsed = parsed if again.root.has_error else again
    data = parsed.source.data
    numbers = misread_numbers(parsed.root, data)
    if numbers:
        parsed = _parsed(
            bytes(b" "[0] if at in numbers else byte for at, byte in enumerate(data)), prepared, span
        )
    return parsed


def _parsed(data: bytes, prepared: Prepared, span: tuple[int, int] | None) -> Parsed:
    return Parsed(Source(data, prepared, span), parser("bash").parse(data))


@functools.cache
def _redirections() -> re.Pattern[str]:
    return re.compile(r"""((?:\d?>>?|&>)\s*[\w./~-]+)([ \t]+)(<<<\s*(?:'[^']*'|"[^"]*"|[\w./~$-]+))""")


def _ask_bash(text: str, parsed: Parsed) -> None:
    prepared = parsed.source.prepared
    unusual = any(not body.plain for body in prepared.bodies) or "`" in prepared.text
    if not (unusual or parsed.root.has_error or (prepared.bodies and "\\\n" in text)):
        return
    reading = read_by_bash(text.replace(UNKNOWN, "_"))
    if reading is None:
        return
    if reading.complaint:
        parsed.complaint = reading.complaint
        parsed.troubles.append(f"bash does not accept it: {reading.complaint}")
        return
    again = prepare(reading.text)
    data = again.text.encode("utf-8", "replace")
    root = parser("bash").parse(data).root_node
    if again.trouble or uncovered(root, data) is not None:
        parsed.troubles.append("bash reads the text in a way the analysis does not follow")
    elif command_names(root) - command_names(parsed.root) and UNKNOWN not in text:
        parsed.troubles.append("bash finds a command in the text that the analysis does not see")
