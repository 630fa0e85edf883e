"""Words behind a redirection: the grammar takes them for files, but they belong to the command or are one."""

from __future__ import annotations

from forge.core.shell.analysis.expand import adjacent
from forge.core.shell.analysis.redirect import behind_file
from forge.core.shell.analysis.simple import execute
from forge.core.shell.analysis.state import Stream

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from forge.core.shell.analysis.expand import Expander
    from forge.core.shell.analysis.state import Frame

_REDIRECTS = ("file_redirect", "herestring_redirect")
_NO_WORDS = (*_REDIRECTS, "variable_assignment", "subshell", "compound_statement")
_INTO = ("list", "pipeline", "negated_command", "redirected_statement")


def follow_left_over(body: Node, redirects: Sequence[Node], frame: Frame, expander: Expander) -> None:
    """Judges the last command of `body` again, with the words that stand behind its redirections."""
    groups = [group for redirect in redirects for group in behind_file(redirect)]
    if not groups:
        return
    last = body
    while last.type in _INTO and last.named_children:
        inside = [child for child in last.named_children if child.type not in _REDIRECTS]
        last = (inside or last.named_children)[-1]
    words = (
        [c for c in last.children if c.is_named and c.type not in _NO_WORDS] if last.type == "command" else []
    )
    inner = frame.child(frame.state.fork())
    inner.stdin = frame.stdin or Stream()
    argv = [word for group in [*adjacent(words), *groups] for word in expander.words(group, inner)]
    source = frame.source
    execute(argv, inner, source.span or (source.origin(body.start_byte), source.origin(body.end_byte)))
