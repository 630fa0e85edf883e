"""Here-documents: noted at their operator, read behind the end of the line."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.parser import Reader
    from forge.foundation.permissions.syntax import Word

UNQUOTED = "Heredoc with unquoted delimiter undergoes shell expansion"
TAIL = "Text after the heredoc start on the same line cannot be statically analyzed"


def note_heredoc(reader: Reader, operator: str, delimiter: Word) -> None:
    """Remember a here-document whose text begins on the next line."""
    quoted = delimiter.quoted or not delimiter.literal
    if not quoted:
        reader.problem(UNQUOTED)
    reader.heredocs.append((delimiter.value, quoted, operator == "<<-"))
    line_end = reader.source.find("\n", reader.pos)
    rest = reader.source[reader.pos : line_end if line_end >= 0 else reader.end].strip()
    if rest and not rest.startswith((")", '"')):
        reader.problem(TAIL)


def read_heredocs(reader: Reader) -> None:
    """Skip the pending texts, looking for substitutions in those that are expanded."""
    for delimiter, quoted, tabs in reader.heredocs:
        while reader.pos < reader.end:
            line_end = reader.source.find("\n", reader.pos)
            line_end = reader.end if line_end < 0 else line_end
            line = reader.source[reader.pos : line_end]
            reader.pos = min(line_end + 1, reader.end)
            if (line.lstrip("\t") if tabs else line) == delimiter:
                break
            if not quoted:
                reader.nested_words(line)
    reader.heredocs = []
