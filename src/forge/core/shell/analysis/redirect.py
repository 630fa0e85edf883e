"""Redirections: what they feed into a command and what they overwrite."""

from __future__ import annotations

from forge.core.shell.analysis.expand import adjacent
from forge.core.shell.analysis.heredoc import MARK
from forge.core.shell.analysis.paths import read, write
from forge.core.shell.analysis.state import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

    from forge.core.shell.analysis.expand import Expander
    from forge.core.shell.analysis.state import Frame, Word

# Writing there is writing to the pipe.
_SAME_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/stderr", "/dev/fd/2", "/dev/tty")
_OUTPUTS = (">", ">>", ">|", "&>", "&>>", ">&", "<>")


def redirect_input(node: Node, frame: Frame, expander: Expander) -> Stream | None:
    """The stream a redirection feeds in, None if it is an output."""
    if node.type == "herestring_redirect":
        return Stream(expander.value(node.children[-1], frame) + "\n", frozenset(frame.run.tags))
    sign, targets = _parts(node, frame, expander)
    if sign != "<" or not targets:
        return None
    found = None
    for target in targets:
        name = target.text
        if name.startswith(MARK) and name.endswith("__"):
            found = _document(int(name[len(MARK) : -2]), frame, expander)
        else:
            found = read(frame, target)
    return found


_DATABASES = (".db", ".sqlite", ".sqlite3", ".mdb", ".dump", ".bak", ".kdbx", ".parquet")


def redirect_output(node: Node, frame: Frame, stream: Stream, expander: Expander) -> bool:
    """Judges what a redirection overwrites; whether the command's output went there."""
    if node.type == "herestring_redirect":
        return False
    sign, targets = _parts(node, frame, expander)
    if sign not in _OUTPUTS:
        return False
    descriptor = next((c.text for c in node.children if c.type == "file_descriptor"), b"1")
    for target in targets:
        if sign == ">&" and (target.text.isdigit() or target.text == "-"):
            return False
        if target.text in _SAME_OUTPUT:
            return False
        content = stream if descriptor == b"1" else None
        if target.text.startswith(("/dev/tcp/", "/dev/udp/")):
            frame.run.note(frame, "D9", "opens a network connection as a file", "exfiltrate", "network")
        elif frame.run.stream_of(target.text) is None:
            write(frame, target, content, append=sign in (">>", "&>>"))
            if sign in (">", ">|") and stream.text == "" and target.text.endswith(_DATABASES):
                frame.run.note(frame, "C6", "empties a database", "delete")
    return descriptor == b"1"


def _document(number: int, frame: Frame, expander: Expander) -> Stream:
    body = frame.source.prepared.bodies[number]
    if body.literal:
        return Stream(body.text)
    run = frame.run
    outer, run.tags = run.tags, set()
    text = expander.body(body.text, frame)
    tags, run.tags = frozenset(run.tags), outer
    return Stream(text, tags)


def behind_file(node: Node) -> list[list[Node]]:
    """The words behind the file of a redirection, which are none of its business."""
    return _destinations(node)[1:] if node.type == "file_redirect" else []


def _destinations(node: Node) -> list[list[Node]]:
    return adjacent(c for c in node.children if c.is_named and c.type != "file_descriptor")


def _parts(node: Node, frame: Frame, expander: Expander) -> tuple[str, list[Word]]:
    signs = [c for c in node.children if not c.is_named]
    groups = _destinations(node) if node.type == "herestring_redirect" else _destinations(node)[:1]
    words = [word for group in groups for word in expander.words(group, frame)]
    return (signs[0].type if signs else ""), words
