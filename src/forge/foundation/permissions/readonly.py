"""Commands that only look: allowed without a rule in every mode."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.foundation.permissions.syntax import Word

_FREE = frozenset(
    [
        "ls",
        "cat",
        "head",
        "tail",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "find",
        "wc",
        "which",
        "diff",
        "stat",
        "du",
        "df",
        "cd",
        "echo",
        "id",
        "uname",
        "sort",
        "cut",
        "tr",
        "nl",
        "column",
        "od",
        "strings",
        "base64",
        "md5sum",
        "sha1sum",
        "sha256sum",
        "seq",
        "basename",
        "dirname",
        "realpath",
        "readlink",
        "file",
        "type",
        "test",
        "[",
        "[[",
        "true",
        "false",
        "sleep",
        "man",
        "tree",
        "jq",
        "lsof",
        "netstat",
        "ss",
        "printf",
        "date",
        "uniq",
        "help",
    ]
)
_BARE = frozenset({"pwd", "whoami", "history", "hostname", "ps"})
_GIT = frozenset(
    [
        "status",
        "diff",
        "log",
        "show",
        "branch",
        "remote",
        "stash",
        "tag",
        "config",
        "rev-parse",
        "ls-files",
        "blame",
        "grep",
        "reflog",
        "worktree",
        "describe",
        "cat-file",
    ]
)
_DOCKER = frozenset({"ps", "images", "logs", "inspect"})


def is_read_only(words: list[Word]) -> bool:
    """Whether a command can only read, judged by its name and options."""
    argv = [word.value for word in words]
    if not argv:
        return False
    if argv[0] in _BARE:
        return len(argv) == 1
    if argv[0] == "git":
        return len(argv) > 1 and argv[1] in _GIT
    if argv[0] == "docker":
        return len(argv) > 1 and argv[1] in _DOCKER
    return argv[0] in _FREE
