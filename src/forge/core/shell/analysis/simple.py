"""One simple command: functions, aliases, scripts by path, then the rules for its program."""

from __future__ import annotations

import os
import re

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.paths import absolute, display, judge
from forge.core.shell.analysis.places import UNKNOWN, kind_of
from forge.core.shell.analysis.programs import catalog
from forge.core.shell.analysis.programs.running import tentative
from forge.core.shell.analysis.record import Step
from forge.core.shell.analysis.spec import judge_by_table
from forge.core.shell.analysis.state import NETWORK, NO_TAGS, SECRET, Stream, Word, Written
from forge.core.shell.analysis.tables import commands, names, table
from forge.core.shell.analysis.unpacked import judge_unpacked
from forge.core.shell.analysis.variables import OWN_JOB
from forge.foundation.permissions.syntax import word_set

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame

# As the name of a command these show that the tree is not what the shell would run.
_RESERVED = word_set("do done then else elif fi esac until while for case if in { }")
_HELP = ("--version", "--help", "-V", "-version", "version")
_MORE_HELP = ("--verbose", "--client", "--json", "--short", "--full", "--all", "-v")
_PROGRAM_DIRECTORIES = ("/bin", "/usr/bin", "/sbin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin",
                        "/opt/homebrew/bin", "/snap/bin", "/system/bin")  # fmt: skip


def execute(argv: list[Word], frame: Frame, span: tuple[int, int]) -> Stream:
    """Judges a command as a step of its own."""
    if not argv:
        return Stream("")
    inner = frame.child()
    inner.step = Step([w.text.replace(UNKNOWN, "…") for w in argv], span, frame.pipeline)
    frame.run.steps.append(inner.step)
    return _judge(argv, inner)


def rejudge(argv: list[Word], frame: Frame) -> Stream:
    """Judges the command inside a wrapper as the same step."""
    if not argv:
        return Stream("")
    if frame.step is not None:
        frame.step.outer.append(frame.step.words)
        frame.step.words = [w.text.replace(UNKNOWN, "…") for w in argv]
        frame.step.program = argv[0].text
    return _judge(argv, frame)


def shadowed_name(name: str, frame: Frame) -> None:
    """A function that takes the place of a known program deserves a look."""
    if name in ("sudo", "cd", "command", "builtin", "eval", "exit", "trap"):
        frame.run.note(frame, "C6", f"redefines {name}", "persist")


def _judge(argv: list[Word], frame: Frame) -> Stream:
    frame.run.check_time()
    name = argv[0].text
    variable, sign, _ = name.partition("=")
    if sign and variable.rstrip("+").isidentifier() and len(argv) > 1:
        # The grammar does not take every assignment for one: what follows may be the command.
        execute(argv[1:], frame, frame.step.span if frame.step else (0, 0))
    # A bracket may begin a pattern, or a subscript that goes on to the next words.
    odd = any(mark in name for mark in "*?[") and name not in ("[", "[[") and not argv[0].quoted
    if name == OWN_JOB:
        # Without a job in the background nothing stands here, and the next word is the program.
        frame.run.unclear(frame, "the number of a process stands where a command should be")
        return rejudge(argv[1:], frame)
    if UNKNOWN in name or odd:
        return _unknown_program(argv, frame)
    if name in frame.state.functions:
        return frame.run.call(frame.state.functions[name], [w.text for w in argv[1:]], frame)
    if name in frame.state.aliases and frame.depth < 6:
        return _alias(argv, frame)
    if "/" in name:
        found = _by_path(argv, frame)
        if found is not None:
            return found
        name = os.path.basename(absolute(name, frame.state) or name)
    if name != name.strip():
        frame.run.unclear(frame, "the program's name begins or ends with a blank")
    if not name.isascii():
        frame.run.unclear(frame, f"the program's name has letters that look like others: {name}")
    return _program(name, argv, frame)


def _common(name: str) -> str:
    """The name as the tables know it: some file systems ignore case, and Windows adds an ending."""
    if catalog.find(name) or name in commands():
        return name
    plain = name.removesuffix(".exe").lower()
    return plain if catalog.find(plain) or plain in commands() else name


def _program(name: str, argv: list[Word], frame: Frame) -> Stream:
    name = _common(name)
    if frame.step is not None:
        frame.step.program = name
    if _asks_itself(argv) and name not in names("programs", "takes_any_word"):
        frame.run.note(frame, "R0", "asks a program about itself", "read")
        return Stream()
    if name in _RESERVED and not argv[0].quoted:
        frame.run.unclear(frame, f"{name} stands where a command should be")
        return rejudge(argv[1:], frame)
    handler = catalog.find(name)
    if handler is not None:
        return handler(argv, frame)
    return _by_table(name, argv, frame)


def _asks_itself(argv: list[Word]) -> bool:
    texts = [w.text for w in argv[1:]]
    return texts[:1] != [] and texts[0] in _HELP and all(text in _MORE_HELP for text in texts[1:])


def _by_table(name: str, argv: list[Word], frame: Frame) -> Stream:
    spec = commands().get(name) or _family(name)
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    if spec is not None:
        judge_by_table(spec, argv[1:], frame)
        tells_names = name in names("programs", "tells_names")
        secrets = NO_TAGS if tells_names else catalog.secrets_read(argv[1:], frame)
        if frame.step is not None and any(f.effect == "secret" for f in frame.step.findings):
            secrets |= {SECRET}
        if isinstance(spec, dict):
            secrets |= _particular(spec, argv[1:], frame)
        if SECRET in secrets and isinstance(spec, dict) and (spec.get("cloud") or spec.get("sends")):
            frame.run.note(frame, "D9", "sends credentials to another machine", "exfiltrate")
        return Stream(None, tags | secrets)
    catalog.secrets_read(argv[1:], frame)
    _inner_command(argv[1:], frame)
    verbs = [w.text for w in argv[1:4] if w.text in names("programs", "losing_verbs")]
    if verbs and not any(w.text.startswith("--dry") for w in argv):
        frame.run.note(frame, "C6", f"{verbs[0]} in a program without a rule", "destroy")
    for word in argv[1:]:
        if " " in word.text and word.text.split()[0].rpartition("/")[2] in names("programs", "destructive"):
            tentative(word.text, frame, "caution")
    frame.run.note(frame, "W4", f"runs {display(name)}, a program without a rule", "run")
    return Stream(None, tags)


def _particular(spec: dict[str, object], words: list[Word], frame: Frame) -> frozenset[str]:
    """What some rows of the table say beyond the risk."""
    if spec.get("cloud"):
        _given_commands(words, frame)
    for value in parse_options(words, "-o").values("-o") if spec.get("builds") else ():
        judge(frame, "write", value)
        if path := absolute(value.text, frame.state):
            # The compiler was judged; what it made does what the sources of the workspace say.
            frame.state.files[path] = Written(":")
    return frozenset({NETWORK}) if spec.get("fetches") else NO_TAGS


def _given_commands(words: list[Word], frame: Frame) -> None:
    """`gcloud compute ssh --command …`, `aws ssm send-command --parameters 'commands=[…]'`."""
    for at, word in enumerate(words):
        option, sign, value = word.text.partition("=")
        following = value if sign else words[at + 1].text if at + 1 < len(words) else ""
        if option in ("--command", "--cmd", "--run-command"):
            tentative(following, frame)
        elif option == "--parameters" and "ommands" in following:
            for text in re.findall(r"[\"']([^\"']+ [^\"']+)[\"']", following):
                tentative(text, frame)


def _inner_command(words: list[Word], frame: Frame) -> None:
    """A program without a rule may run what follows: looked at where that would be a disaster."""
    for at, word in enumerate(words[:-1]):
        name, following = word.text.rpartition("/")[2], words[at + 1].text
        deletes = name == "rm" and following.startswith("-") and "r" in following.lower()
        runs = name in ("sh", "bash", "zsh", "dash") and following.startswith("-") and "c" in following
        if deletes or runs or (name == "dd" and any(w.text.startswith("of=/dev/") for w in words)):
            execute(words[at:], frame, frame.step.span if frame.step else (0, 0))
            return


def _family(name: str) -> object:
    for prefix, spec in table("commands")["families"].items():
        if name.startswith(prefix):
            found: object = spec
            return found
    return None


def _unknown_program(argv: list[Word], frame: Frame) -> Stream:
    rest = [w.text for w in argv[1:]]
    flags = [t for t in rest if t.startswith("-")]
    deletes = any(set("rf") <= set(f) or f in ("--recursive", "-r", "-R") for f in flags if len(f) < 12)
    if NETWORK in argv[0].tags:
        frame.run.note(frame, "D9", "runs what was downloaded", "remote_code")
    elif deletes:
        frame.run.note(frame, "D8", "an unknown program with options of a recursive delete", "unanalysable")
    else:
        frame.run.unclear(frame, "the program to run is not known before")
    return Stream()


def _alias(argv: list[Word], frame: Frame) -> Stream:
    text = frame.state.aliases[argv[0].text]
    inner = frame.child()
    inner.state = frame.state.fork()
    inner.state.aliases = {k: v for k, v in frame.state.aliases.items() if k != argv[0].text}
    return frame.run.script(" ".join([text, *(w.text for w in argv[1:])]), inner)


def _installed(path: str) -> bool:
    return any(place in path for place in ("/node_modules/.bin/", "/.venv/bin/", "/venv/bin/"))


def _by_path(argv: list[Word], frame: Frame) -> Stream | None:
    """A program given by its path: None if the name decides."""
    name = argv[0].text
    path = absolute(name, frame.state)
    if path is None:
        frame.run.unclear(frame, "runs a program from a directory that is not known")
        return None
    stream = frame.run.stream_of(path)
    written = frame.state.files.get(path)
    if stream is not None:
        return catalog.run_text(stream, frame, [w.text for w in argv[1:]])
    if written is not None:
        return catalog.run_text(Stream(written.text, written.tags), frame, [w.text for w in argv[1:]])
    if os.path.dirname(path) in _PROGRAM_DIRECTORIES or _installed(path):
        return None
    judge_unpacked(path, frame)
    kind = kind_of(path, frame.run.around)
    code = "C6" if kind in ("temp", "temp_root", "outside", "home", "unknown") else "W4"
    frame.run.note(frame, code, f"runs {display(name)}", "run", kind)
    known = os.path.basename(path)
    if catalog.find(known) or known in commands():
        return None
    return Stream(None, frame.stdin.tags if frame.stdin else NO_TAGS)
