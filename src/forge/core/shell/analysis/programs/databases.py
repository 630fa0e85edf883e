"""Database clients: the statements they are given, as options, operands or input."""

from __future__ import annotations

import functools
import re

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.paths import absolute, read
from forge.core.shell.analysis.state import Stream
from forge.core.shell.analysis.tables import names, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.options import Options
    from forge.core.shell.analysis.state import Frame, Word

_LOSS = (
    r"\bdrop\s+(?:table|database|schema|view|index|column|user|role|keyspace|collection|owned|"
    r"materialized|type|function|extension|sequence)\b",
    r"\btruncate\b(?!\s*\()",
    r"\balter\s+table\b[^;]*\bdrop\b",
    r"\bdelete\s+from\s+[^\s;]+\s*(?:;|$|returning)",
    r"\bupdate\s+[^\s;]+\s+set\b(?![^;]*\bwhere\b)",
    r"\bdelete\s+from\b[^;]*\bwhere\s+(?:1\s*=\s*1|true)\b",
)
_MONGO_LOSS = (
    r"dropDatabase\s*\(|\.drop\s*\(|deleteMany\s*\(\s*\{\s*\}|\.remove\s*\(\s*\{\s*\}|dropUser|dropCollection"
)
_WRITES = (
    r"\b(?:insert|update|delete|alter|create|grant|revoke|replace|merge|vacuum|reindex|copy|load\s+data|call|"
    r"import|attach)\b"
)
_STATEMENTS = ("-c", "--command", "-e", "--execute", "--eval", "-Q", "-q", "-cmd", "--query", "-execute")
_ESCAPES = r"(?m)^\s*(?:\\!|\.shell\b|\.system\b|system\s|!)\s*(.*)|\bprogram\s+'([^']*)'|\\!\s*(.*)"


def judge_sql(text: str, frame: Frame) -> None:
    """Judges SQL or a database script; text in quotes is data."""
    for match in re.finditer(_ESCAPES, text, re.IGNORECASE):
        code = match[1] or match[2] or match[3]
        if code:
            frame.run.note(frame, "C7", "the database client runs a shell command", "run")
            frame.run.script(code, frame)
    bare = _literals().sub("''", text)
    if any(re.search(pattern, bare, re.IGNORECASE) for pattern in _LOSS) or re.search(_MONGO_LOSS, bare):
        frame.run.note(frame, "D8", "deletes data in a database", "sql_loss")
    elif re.search(_WRITES, bare, re.IGNORECASE) or re.search(r"\.(insert|update|delete|create)\w*\(", bare):
        frame.run.note(frame, "C6", "changes data in a database", "sql")
    else:
        frame.run.note(frame, "R2", "reads from a database", "read")


def _client(argv: list[Word], frame: Frame) -> Stream:
    name = argv[0].text.rpartition("/")[2]
    values = str(table("options").get(name) or table("options")["database"])
    options = parse_options(argv[1:], values)
    statements = [v.text for v in options.values(*_STATEMENTS)]
    if name in ("sqlite3", "sqlite", "duckdb"):
        statements += [w.text for w in options.operands[1:]]
    tags = frozenset().union(*(read(frame, w).tags for w in options.operands[:1]))
    statements += _fed(options, frame)
    for statement in statements:
        judge_sql(statement, frame)
    if options.has("-l", "--list"):
        frame.run.note(frame, "R1", "lists databases", "read")
    elif not statements and not options.values("-f", "--file", "--init"):
        frame.run.note(frame, "C5" if frame.stdin is not None else "R2", "talks to a database", "sql")
        if frame.stdin is None:
            frame.run.is_interactive("a database prompt")
    return Stream(None, tags)


def _fed(options: Options, frame: Frame) -> list[str]:
    found = []
    for value in options.values("-f", "--file", "-init", "--init"):
        written = frame.state.files.get(absolute(value.text, frame.state) or "")
        if written is not None and written.text is not None:
            found.append(written.text)
        else:
            frame.run.note(frame, "C6", "runs statements from a file", "sql")
    if frame.stdin is not None and frame.stdin.text is not None:
        found.append(frame.stdin.text)
    return found


def _redis(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(
        argv[1:], "-h -p -a -n -u --user --pass -r -i --eval -s --pattern --count --type", permute=False
    )
    words = [w.text for w in options.operands]
    if not words and frame.stdin is not None and frame.stdin.text:
        words = frame.stdin.text.split()
    verb = words[0].upper() if words else ""
    rest = {w.upper() for w in words}
    if (
        rest & {"FLUSHALL", "FLUSHDB"}
        or any("flush" in w.lower() for w in words[1:2] if verb == "EVAL")
        or verb in ("SHUTDOWN", "DEBUG", "SLAVEOF", "REPLICAOF")
    ):
        frame.run.note(frame, "D8", "deletes everything in the database", "sql_loss")
    elif verb == "CONFIG" and "SET" in rest:
        frame.run.note(frame, "D8", "changes where the database writes", "sql")
    elif verb in names("options", "redis_reads") or (
        not verb and options.has("--scan", "--bigkeys", "--memkeys", "--hotkeys", "--stat", "--latency")
    ):
        frame.run.note(frame, "R2", "reads from a database", "read")
    elif verb:
        frame.run.note(frame, "C6", "changes data in a database", "sql")
    else:
        frame.run.note(frame, "R2", "talks to a database", "sql")
        if frame.stdin is None:
            frame.run.is_interactive("a database prompt")
    return Stream()


@functools.cache
def _literals() -> re.Pattern[str]:
    return re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)


PROGRAMS = {
    "psql pgcli mysql mariadb mycli sqlite3 sqlite litecli mongosh mongo sqlcmd cqlsh clickhouse-client "
    "duckdb cockroach usql snowsql influx trino presto beeline impala-shell isql": _client,
    "redis-cli valkey-cli keydb-cli": _redis,
}
