"""What is known while the statements of a command are followed: variables, directory, files, functions."""

from __future__ import annotations

from forge.core.shell.analysis.places import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from tree_sitter import Node

    from forge.core.shell.analysis.heredoc import Prepared
    from forge.core.shell.analysis.record import Step
    from forge.core.shell.analysis.run import Run

_MOST_VALUES = 12
NO_TAGS: frozenset[str] = frozenset()
# Where text came from: decides whether it may be executed or sent.
NETWORK = "network"
SECRET = "secret"
# The value of a variable that is named like a key.
CREDENTIAL = "credential"
# Names of files that a program found: many, and nobody has seen them.
LISTED = "listed"
# They are not names in the workspace.
ELSEWHERE = "elsewhere"
# The output of a shell that obeys whatever comes in.
SHELL = "shell"


class Stream:
    """What flows through a pipe: the text if it is known, and where it came from."""

    __slots__ = ("tags", "text")

    def __init__(self, text: str | None = None, tags: frozenset[str] = NO_TAGS) -> None:
        self.text = text
        self.tags = tags


def joined(streams: list[Stream]) -> Stream:
    """What several commands print one after the other."""
    tags = frozenset().union(*(s.tags for s in streams))
    texts = [s.text for s in streams]
    if None in texts:
        return Stream(None, tags)
    return Stream("".join(t for t in texts if t), tags)


class Word:
    """One argument after all expansions. Unknown pieces are `UNKNOWN`; `glob` if a pattern is active."""

    __slots__ = ("glob", "quoted", "tags", "text")

    def __init__(
        self, text: str, glob: bool = False, quoted: bool = False, tags: frozenset[str] = NO_TAGS
    ) -> None:
        self.text = text
        self.glob = glob
        self.quoted = quoted
        self.tags = tags

    @property
    def unknown(self) -> bool:
        """Whether a part of the word cannot be known."""
        return UNKNOWN in self.text


class Variable:
    """The values a variable may have here, each a list of array elements."""

    __slots__ = ("tags", "values")

    def __init__(self, values: list[list[str]], tags: frozenset[str] = NO_TAGS) -> None:
        self.values = values
        self.tags = tags


class Written:
    """A file this command wrote: its text if known, and whether it came from the network."""

    __slots__ = ("tags", "text")

    def __init__(self, text: str | None, tags: frozenset[str] = NO_TAGS) -> None:
        self.text = text
        self.tags = tags


class Known:
    """What earlier commands of a session wrote, downloaded and linked; given to the next analysis."""

    __slots__ = ("files", "links")

    def __init__(self) -> None:
        self.files: dict[str, Written] = {}
        self.links: dict[str, str] = {}


class Function:
    """A function definition and the text it stands in."""

    __slots__ = ("body", "called", "name", "source")

    def __init__(self, name: str, body: Node, source: Source) -> None:
        self.name = name
        self.body = body
        self.source = source
        self.called = False


class Source:
    """One parsed text. `span` is where it stands in the outermost text, None if it is that text itself."""

    __slots__ = ("data", "prepared", "span")

    def __init__(self, data: bytes, prepared: Prepared, span: tuple[int, int] | None) -> None:
        self.data = data
        self.prepared = prepared
        self.span = span

    def origin(self, offset: int) -> int:
        """The character offset in the text that was given, for a byte offset in the parsed one."""
        ascii_only = self.data.isascii()
        at = offset if ascii_only else len(self.data[:offset].decode("utf-8", "replace"))
        return self.prepared.origin(at)


class State:
    """The shell's state. Files, links, functions and aliases are shared by all forks: nothing undoes them."""

    __slots__ = ("aliases", "args", "cwd", "files", "functions", "links", "old_cwd", "variables")

    def __init__(self, cwd: str | None) -> None:
        self.cwd = cwd
        self.old_cwd: str | None = None
        self.variables: dict[str, Variable] = {}
        self.args: list[str] | None = None
        self.functions: dict[str, Function] = {}
        self.aliases: dict[str, str] = {}
        self.files: dict[str, Written] = {}
        self.links: dict[str, str] = {}

    def fork(self) -> State:
        """A copy whose variables and directory change on their own."""
        made = State(self.cwd)
        made.old_cwd = self.old_cwd
        made.variables = dict(self.variables)
        made.args = self.args
        made.functions = self.functions
        made.aliases = self.aliases
        made.files = self.files
        made.links = self.links
        return made

    def merge(self, other: State, workspace: str) -> None:
        """Takes in a branch that may or may not have run."""
        for name in {*self.variables, *other.variables}:
            mine, theirs = self.variables.get(name), other.variables.get(name)
            if mine is not theirs:
                self.variables[name] = _either(mine, theirs)
        if self.cwd != other.cwd:
            self.cwd = _common(self.cwd, other.cwd, workspace)


def _either(one: Variable | None, other: Variable | None) -> Variable:
    values: list[list[str]] = []
    tags = NO_TAGS
    for variable in (one, other):
        for value in variable.values if variable else [[UNKNOWN]]:
            if value not in values:
                values.append(value)
        tags |= variable.tags if variable else NO_TAGS
    return Variable(most_telling(values), tags)


def most_telling(values: list[list[str]]) -> list[list[str]]:
    """At most a dozen values; those that could name a large place come first."""
    if len(values) <= _MOST_VALUES:
        return values
    return sorted(values, key=lambda v: not "".join(v).startswith(("/", "~", ".", "-")))[:_MOST_VALUES]


def _common(one: str | None, other: str | None, workspace: str) -> str | None:
    """Both inside the workspace: the upper one, since a delete there is the worse one."""
    inside = [c for c in (one, other) if c and (c == workspace or c.startswith(workspace + "/"))]
    return min(inside, key=len) if len(inside) == 2 else None


class Frame:
    """One level of evaluation: the run, the state, the text and how deeply it is nested."""

    __slots__ = ("calls", "depth", "forks", "piped", "pipeline", "run", "source", "state", "stdin", "step")

    def __init__(self, run: Run, state: State, source: Source) -> None:
        self.run = run
        self.state = state
        self.source = source
        self.depth = 0
        self.forks = 0
        self.calls: tuple[tuple[tuple[int, int], int], ...] = ()
        self.pipeline = 0
        # Whether the output goes to another command: pagers then just print.
        self.piped = False
        self.step: Step | None = None
        # What flows in from a pipe or a here-document; None is the terminal.
        self.stdin: Stream | None = None

    def child(self, state: State | None = None, source: Source | None = None) -> Frame:
        """The same level with another state or text."""
        made = Frame(self.run, state or self.state, source or self.source)
        made.depth = self.depth
        made.forks = self.forks
        made.calls = self.calls
        made.pipeline = self.pipeline
        made.piped = self.piped
        made.step = self.step
        made.stdin = self.stdin
        return made
