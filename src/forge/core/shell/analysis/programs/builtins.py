"""Builtins that change the shell's state, and kill."""

from __future__ import annotations

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.paths import absolute
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.settings import hidden_subscript
from forge.core.shell.analysis.state import NO_TAGS, SECRET, Stream, Variable, most_telling
from forge.core.shell.analysis.tables import table
from forge.core.shell.analysis.variables import OWN_JOB

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame, Word


def _cd(argv: list[Word], frame: Frame) -> Stream:
    state = frame.state
    words = [w for w in argv[1:] if w.text not in ("-L", "-P", "-e", "--", "-@")]
    old = state.cwd
    if not words:
        state.cwd = frame.run.around.home
    elif words[0].text == "-":
        state.cwd = state.old_cwd
    else:
        state.cwd = absolute(words[0].text, state)
    state.old_cwd = old
    frame.run.note(frame, "R0", "changes the directory", "read")
    return Stream("")


def _popd(argv: list[Word], frame: Frame) -> Stream:
    state = frame.state
    state.cwd, state.old_cwd = state.old_cwd, state.cwd
    frame.run.note(frame, "R0", "changes the directory", "read")
    return Stream("")


def _pwd(argv: list[Word], frame: Frame) -> Stream:
    frame.run.note(frame, "R0", "prints the directory", "read")
    return Stream(f"{frame.state.cwd}\n" if frame.state.cwd else None)


def _read(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-a -d -i -n -N -p -t -u")
    names = [w.text for w in options.operands] or ["REPLY"]
    stdin = frame.stdin
    tags = stdin.tags if stdin else NO_TAGS
    values = [[UNKNOWN]]
    if stdin is not None and stdin.text and len(names) == 1:
        values = most_telling([[line] for line in stdin.text.splitlines()] or [[UNKNOWN]])
    for name in names + [v.text for v in options.values("-a")]:
        frame.state.variables[name] = Variable(values, tags)
    if stdin is None and not options.values("-u"):
        frame.run.is_interactive("waits for input from the keyboard")
    frame.run.note(frame, "R0", "reads a line", "read")
    return Stream("")


def _mapfile(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-d -n -O -s -u -C -c")
    for value in options.values("-C"):
        frame.run.script(value.text, frame)
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    for word in options.operands[:1]:
        frame.state.variables[word.text] = Variable([[UNKNOWN]], tags)
    frame.run.note(frame, "R0", "reads lines", "read")
    return Stream("")


def _set(argv: list[Word], frame: Frame) -> Stream:
    texts = [w.text for w in argv[1:]]
    if "--" in texts:
        frame.state.args = texts[texts.index("--") + 1 :]
    elif texts and not texts[0].startswith(("-", "+")):
        frame.state.args = texts
    if "+o history" in " ".join(texts):
        frame.run.note(frame, "C5", "hides commands from the history", "persist")
    frame.run.note(frame, "R0", "sets options of the shell", "read")
    return Stream(None if not texts else "", frozenset({SECRET}) if not texts else NO_TAGS)


def _shift(argv: list[Word], frame: Frame) -> Stream:
    count = argv[1].text if len(argv) > 1 else "1"
    if frame.state.args is not None:
        frame.state.args = frame.state.args[int(count) :] if count.isdigit() else None
    frame.run.note(frame, "R0", "moves the arguments", "read")
    return Stream("")


def _alias(argv: list[Word], frame: Frame) -> Stream:
    frame.run.note(frame, "R1", "sets an abbreviation", "read")
    for word in argv[1:]:
        name, sign, value = word.text.partition("=")
        if sign:
            frame.run.script(value, frame)
            frame.state.aliases[name] = value
    return Stream("")


def _hash(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-p -t -d")
    frame.run.note(frame, "R1", "looks up programs", "read")
    for value in options.values("-p"):
        frame.run.note(frame, "C7", "makes a name mean another program", "persist")
        for word in options.operands:
            frame.state.aliases[word.text] = value.text
    return Stream("")


def _enable(argv: list[Word], frame: Frame) -> Stream:
    loads = any(w.text == "-f" for w in argv)
    frame.run.note(
        frame,
        "D8" if loads else "C5",
        "loads a builtin from a file" if loads else "changes builtins",
        "persist",
    )
    return Stream("")


def _kill(argv: list[Word], frame: Frame) -> Stream:
    words = [w.text for w in argv[1:]]
    if words[:1] in (["-l"], ["-L"], ["--list"]):
        frame.run.note(frame, "R0", "lists signals", "read")
        return Stream()
    targets = _targets(words)
    for target in targets:
        if target in ("-1", "1", "0") and not (target == "0" and "-0" in words):
            code = "F9" if target == "-1" else "D8"
            frame.run.note(frame, code, "ends every process that can be reached", "kill")
    if words[:1] == ["-0"]:
        frame.run.note(frame, "R1", "asks whether a process lives", "read")
    elif targets and all(target.startswith(OWN_JOB[0]) for target in targets):
        frame.run.note(frame, "W4", "ends what this command has started", "run")
    else:
        frame.run.note(frame, "C6", "ends processes", "kill")
    return Stream("")


def _targets(words: list[str]) -> list[str]:
    rest = list(words)
    if "--" in rest:
        return rest[rest.index("--") + 1 :]
    if rest and rest[0] in ("-s", "-n", "--signal"):
        return rest[2:]
    return rest[1:] if len(rest) > 1 and rest[0].startswith("-") else rest


def _pkill(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-u -U -g -G -P -s -t --signal -x_")
    wide = any(w.text in (".", ".*", "", "init", "systemd", "sshd") for w in options.operands) or (
        options.has("-u") and not options.operands
    )
    if argv[0].text.endswith("killall5"):
        wide = True
    frame.run.note(frame, "D8" if wide else "C6", "ends processes by their name", "kill")
    return Stream("")


def _environment(argv: list[Word], frame: Frame) -> Stream:
    """printenv, env without a command, declare -p: the environment holds credentials."""
    wanted = [w.text for w in argv[1:] if not w.text.startswith("-")]
    harmless = bool(wanted) and all(w in table("programs")["plain_variables"] for w in wanted)
    frame.run.note(frame, "R1", "prints the environment", "read")
    if any(word in name.upper() for name in wanted for word in ("SECRET", "TOKEN", "PASSWORD", "API_KEY")):
        frame.run.note(frame, "C6", "prints credentials", "secret", "secret")
    return Stream(None, NO_TAGS if harmless else frozenset({SECRET}))


def _history(argv: list[Word], frame: Frame) -> Stream:
    if argv[0].text == "fc" and not any(w.text.startswith("-l") for w in argv[1:]):
        frame.run.unclear(frame, "runs a command of the history again")
    clears = any(w.text.startswith("-") and ("c" in w.text or "d" in w.text) for w in argv[1:])
    frame.run.note(
        frame, "C7" if clears else "R1", "deletes the history" if clears else "prints the history", "read"
    )
    return Stream(None, frozenset({SECRET}))


def _completion(argv: list[Word], frame: Frame) -> Stream:
    """compgen and complete expand and run what they are given."""
    options = parse_options(argv[1:], "-C -F -W -A -G -P -S -X -o")
    frame.run.note(frame, "R1", "asks for completions", "read")
    for value in options.values("-C", "-F"):
        frame.run.script(value.text, frame)
    for value in options.values("-W"):
        frame.run.script(f"echo {value.text}", frame)
    return Stream()


def _nothing(argv: list[Word], frame: Frame) -> Stream:
    hidden_subscript([w.text for w in argv[1:]], frame)
    frame.run.note(frame, "R0", "changes nothing", "read")
    return Stream("")


PROGRAMS = {
    "compgen complete": _completion,
    "cd pushd chdir": _cd,
    "popd": _popd,
    "pwd": _pwd,
    "read": _read,
    "mapfile readarray": _mapfile,
    "set": _set,
    "shift": _shift,
    "alias": _alias,
    "hash": _hash,
    "enable": _enable,
    "kill": _kill,
    "pkill killall killall5 skill xkill": _pkill,
    "printenv": _environment,
    "history fc": _history,
    ": true false exit return break continue wait test [ let shopt ulimit umask getopts times unalias "
    "local unset "
    "export declare typeset readonly disown jobs bg fg dirs": _nothing,
}
