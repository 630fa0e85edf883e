"""Shells and builtins that execute text: sh -c, eval, source, trap."""

from __future__ import annotations

from forge.core.shell.analysis.marks import unquoted_value
from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.paths import absolute, display
from forge.core.shell.analysis.places import UNKNOWN, kind_of
from forge.core.shell.analysis.powershell import analyse_nested
from forge.core.shell.analysis.programs.running import run_text
from forge.core.shell.analysis.state import NETWORK, SHELL, Stream, Variable
from forge.core.shell.analysis.tables import table
from forge.core.shell.analysis.unpacked import judge_unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame, Word

_VALUES = "-o -O --rcfile --init-file"


def _shell(argv: list[Word], frame: Frame) -> Stream:
    words = [w for w in argv[1:] if w.text not in ("+e", "+x", "+u")]
    options = parse_options(words, _VALUES, permute=False)
    for value in options.values("--rcfile", "--init-file"):
        run_file(value, frame, [])
    if options.has("-c", "--command"):
        return _command_string(options.operands, frame)
    operands = options.operands
    if options.has("-n") and not options.has("-i"):
        frame.run.note(frame, "R1", "checks the syntax of a script", "read")
        return Stream()
    if operands and not options.has("-s"):
        return run_file(operands[0], frame, [w.text for w in operands[1:]])
    if frame.stdin is None or options.has("-i"):
        frame.run.note(frame, "C6", "opens a shell", "shell")
        frame.run.is_interactive("a shell without a script")
        return Stream(None, frozenset({SHELL}))
    return run_text(frame.stdin, frame, [w.text for w in operands])


def _command_string(operands: list[Word], frame: Frame) -> Stream:
    if not operands:
        frame.run.unclear(frame, "a shell without the text to run")
        return Stream()
    code = operands[0]
    args = [unquoted_value(w.text, "") if w.glob else w.text for w in operands[2:]]
    if NETWORK in code.tags:
        frame.run.note(frame, "D9", "runs code from the network without review", "remote_code")
        return Stream()
    inner = frame.child(frame.state.fork()) if len(operands) > 1 else frame
    if len(operands) > 1:
        inner.state.variables["0"] = Variable([[operands[1].text]], operands[1].tags)
    return frame.run.script(code.text, inner, args)


def run_file(word: Word, frame: Frame, args: list[str]) -> Stream:
    """Judges a shell script that is run or sourced by its name."""
    text = word.text
    if text in ("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        return run_text(frame.stdin or Stream(), frame, args)
    path = absolute(text, frame.state)
    stream = frame.run.stream_of(text)
    if stream is None and text.startswith("/dev/fd/"):
        stream = frame.stdin
    if stream is not None:
        return run_text(stream, frame, args)
    if path is None:
        frame.run.unclear(frame, "runs a script whose name is not known before")
        return Stream()
    written = frame.state.files.get(path)
    if written is not None:
        return run_text(Stream(written.text, written.tags), frame, args)
    judge_unpacked(path, frame)
    kind = kind_of(path, frame.run.around)
    inside = kind in ("workspace", "regenerable", "protected", "home", "system")
    frame.run.note(frame, "W4" if inside else "C6", f"runs the script {display(text)}", "run", kind)
    return Stream(None, frame.stdin.tags if frame.stdin else frozenset())


def _eval(argv: list[Word], frame: Frame) -> Stream:
    words = argv[1:]
    if any(NETWORK in w.tags for w in words):
        frame.run.note(frame, "D9", "evaluates text from the network", "remote_code")
        return Stream()
    text = " ".join(w.text for w in words)
    if _known_environment(text, frame):
        frame.run.note(frame, "W4", "takes over the environment another tool prints", "run")
        return Stream("")
    return frame.run.script(text, frame) if text.strip() else Stream("")


def _known_environment(text: str, frame: Frame) -> bool:
    """`eval "$(ssh-agent -s)"` and the like: the output of a tool made for it."""
    if text.strip() != UNKNOWN or len(frame.run.steps) < 2:
        return False
    made = frame.run.steps[-1] if frame.run.steps[-1] is not frame.step else frame.run.steps[-2]
    first = " ".join(made.words[:2])
    known = table("programs")["prints_environment"]
    return first in known or made.words[0] in known


def _source(argv: list[Word], frame: Frame) -> Stream:
    if len(argv) < 2:
        return Stream("")
    return run_file(argv[1], frame, [w.text for w in argv[2:]])


def _trap(argv: list[Word], frame: Frame) -> Stream:
    operands = [w for w in argv[1:] if not w.text.startswith("-")]
    frame.run.note(frame, "R1", "sets what happens at the end", "read")
    if len(operands) > 1 and operands[0].text:
        frame.run.script(operands[0].text, frame)
    return Stream("")


def _windows(argv: list[Word], frame: Frame) -> Stream:
    """PowerShell and cmd.exe called from bash."""
    words = [w.text for w in argv[1:]]
    lowered = [w.lower() for w in words]
    frame.run.note(frame, "C6", "runs a shell of Windows", "run")
    if any(w.startswith("-e") and "-encodedcommand".startswith(w) for w in lowered):
        frame.run.note(frame, "D9", "runs an encoded command", "remote_code")
    for at, word in enumerate(lowered):
        if word in ("-c", "-command", "/c"):
            frame.run.findings += analyse_nested(" ".join(words[at + 1 :])).findings
    if not words:
        frame.run.is_interactive("a shell of Windows")
    return Stream()


def _su(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-c --command -s --shell -g --group -G -w")
    frame.run.note(frame, "C7", "runs as another user", "privilege")
    for value in options.values("-c", "--command"):
        frame.run.script(value.text, frame)
    if not options.values("-c", "--command"):
        frame.run.note(frame, "D8", "opens a shell of another user", "privilege")
        frame.run.is_interactive("a shell of another user")
    return Stream()


def _string_runner(argv: list[Word], frame: Frame) -> Stream:
    """watch, script -c, flock -c, hyperfine, entr …: strings or words that are run by a shell."""
    name = argv[0].text.rpartition("/")[2]
    options = parse_options(
        argv[1:],
        "-n --interval -c --command -o -w --warmup -r --runs -p --prepare -C --cleanup -s --setup -m -M "
        "-E -x -P --log-out --log-io -I -O -T -B",
        permute=name in ("hyperfine", "script"),
    )
    frame.run.note(frame, "R1", f"{name} runs a command", "run")
    for value in options.values("-c", "--command", "-p", "--prepare", "-C", "--cleanup", "-s", "--setup"):
        frame.run.script(value.text, frame)
    operands = options.operands
    if name == "watch":
        frame.run.is_interactive("watch shows a full screen")
        frame.run.script(" ".join(w.text for w in operands), frame)
    elif name == "hyperfine":
        for word in operands:
            frame.run.script(word.text, frame)
    elif name == "script" and not options.has("-c", "--command"):
        frame.run.is_interactive("records a terminal session")
    return Stream()


PROGRAMS = {
    "sh bash zsh dash ksh mksh ash fish csh tcsh rbash yash posh oksh ksh93 rc es elvish xonsh osh "
    "bash5": _shell,
    "eval": _eval,
    "source .": _source,
    "trap": _trap,
    "su runuser": _su,
    "powershell pwsh cmd": _windows,
    "watch script hyperfine viddy": _string_runner,
}
