"""git: global options that run programs, then the sub-command."""

from __future__ import annotations

import functools
import re

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.paths import absolute, judge, read, secret_path, write
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.programs.git_commands import COMMANDS
from forge.core.shell.analysis.spec import judge_by_table
from forge.core.shell.analysis.state import LISTED, SECRET, Stream, Word
from forge.core.shell.analysis.tables import commands, names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame

_GLOBAL_VALUES = "-C -c --config-env --git-dir --work-tree --namespace --super-prefix --list-cmds"


def _git(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], _GLOBAL_VALUES, permute=False)
    inner = frame.child()
    for value in options.values("-C"):
        inner.state = inner.state.fork()
        inner.state.cwd = absolute(value.text, inner.state)
    for value in options.values("-c", "--config-env"):
        judge_setting(value.text, frame)
    unasked = any("clean.requireforce=false" in v.text.lower() for v in options.values("-c"))
    if any(g.startswith("--exec-p") and v is not None for g, v in options.given):
        frame.run.note(frame, "C7", "git takes its own programs from another directory", "persist")
    if not options.operands:
        frame.run.note(frame, "R1", "asks git about itself", "read")
        return Stream()
    sub = options.operands[0].text
    words = [*options.operands[1:], *([Word("-f")] if unasked and sub == "clean" else [])]
    if frame.step is not None:
        frame.step.sub = sub
    return _sub_command(sub, words, inner)


def _sub_command(sub: str, words: list[Word], frame: Frame) -> Stream:
    if UNKNOWN in sub:
        frame.run.unclear(frame, "the sub-command of git is not known before")
    _running_options(sub, words, frame)
    judge = COMMANDS.get(sub)
    if judge is not None:
        judge(words, frame)
    else:
        judge_by_table(commands()["git"], [Word(sub), *words], frame)
    return Stream(None, _content(sub, words, frame))


def judge_setting(text: str, frame: Frame) -> None:
    """A setting given for one call or stored: some name programs that git runs."""
    key, _, value = text.partition("=")
    if not _running_keys().fullmatch(key.lower()):
        return
    first = value.split(" ")[0] if value else ""
    if (
        value == ""
        or first in names("environment", "harmless_values")
        or value in ("false", "true", "ssh", "cache", "store", "osxkeychain")
    ):
        return
    if first in ("ssh", "manager", "libsecret", "wincred"):
        frame.run.note(frame, "C6", f"git runs what {key} names", "run")
        return
    frame.run.note(frame, "D8", f"git runs what {key} names", "run")
    frame.run.script(value.lstrip("!"), frame)


def _running_options(sub: str, words: list[Word], frame: Frame) -> None:
    """Options of many sub-commands that name a program, a file to write or a foreign address."""
    for at, word in enumerate(words):
        name, sign, value = word.text.partition("=")
        following = value if sign else words[at + 1].text if at + 1 < len(words) else ""
        long = name.startswith("--") and len(name) > 5
        if long and any(
            o.startswith(name)
            for o in ("--upload-pack", "--receive-pack", "--open-files-in-pager", "--extcmd")
        ):
            frame.run.note(frame, "D8", f"git runs what {name} names", "run")
            frame.run.script(following, frame)
        elif sub in ("log", "diff", "show", "format-patch", "archive", "shortlog") and (
            name in ("--output", "-o") and following
        ):
            write(frame, Word(following))
        elif sub == "grep" and word.text.startswith("-O"):
            frame.run.note(frame, "D8", "git grep opens the files with a program", "run")
            frame.run.script(word.text[2:], frame)
        elif (address := value if long and sign else word.text).startswith(("ext::", "fd::")):
            frame.run.note(frame, "D9", "an address that is a command", "remote_code")
            frame.run.script(address.removeprefix("ext::"), frame)
        elif sub == "apply" and (name.startswith("--unsafe") or name == "--directory"):
            judge(frame, "write", Word(following if name == "--directory" else "../x"))
        elif name == "--ext-diff":
            frame.run.note(frame, "C6", "git runs an external program to compare", "run")


def _content(sub: str, words: list[Word], frame: Frame) -> frozenset[str]:
    if sub.startswith("credential"):
        return frozenset({SECRET})
    if sub == "ls-files":
        return frozenset({LISTED})
    if sub not in ("show", "cat-file", "diff", "log", "blame", "archive", "grep"):
        return frozenset()
    tags: frozenset[str] = frozenset()
    for word in words:
        path = (
            word.text.partition(":")[2] if ":" in word.text and not word.text.startswith("-") else word.text
        )
        if secret_path(path) and sub in ("show", "cat-file", "blame"):
            tags |= read(frame, Word(path)).tags
    return tags


@functools.cache
def _running_keys() -> re.Pattern[str]:
    return re.compile(
        r"core\.(?:pager|sshcommand|editor|fsmonitor|hookspath|gitproxy|askpass|alternaterefscommand|"
        r"attributesfile)|alias\..*|pager\..*|"
        r"diff\.external|diff\..*\.(?:command|textconv)|filter\..*|credential\..*|gpg\..*|include\.path|"
        r"includeif\..*|sequence\.editor|"
        r"merge\..*\.driver|(?:diff|merge)tool\..*\.cmd|protocol\.ext\.allow|"
        r"uploadpack\.packobjectshook|remote\..*\.(?:uploadpack|receivepack|vcs)|"
        r"submodule\..*\.update|trailer\..*\.(?:command|cmd)|interactive\.difffilter|web\.browser|"
        r"browser\..*\.cmd|man\..*\.cmd|init\.templatedir"
    )


PROGRAMS = {"git hub": _git}
