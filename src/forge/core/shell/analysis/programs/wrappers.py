"""Programs that run another program: they are stripped, and what they run is judged."""

from __future__ import annotations

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.settings import judge_variable, set_variable
from forge.core.shell.analysis.spec import judge_by_table
from forge.core.shell.analysis.state import SECRET, Stream, Variable, Word
from forge.core.shell.analysis.tables import commands, names, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame


def _wrapper(argv: list[Word], frame: Frame) -> Stream:
    name = argv[0].text.rpartition("/")[2]
    row = table("wrappers")["wrap"][name]
    options = parse_options(argv[1:], f"{row.get('values', '')} {row.get('string', '')}", permute=False)
    words = options.operands[row.get("skip", 0) :]
    if words and words[0].text in row.get("skips", "").split():
        words = words[1:]
    if "code" in row:
        frame.run.note(frame, row["code"], row["reason"], row.get("effect", "run"))
    if any(options.has(flag) for flag in row.get("lookup", "").split()):
        frame.run.note(frame, "R0", "looks up a program", "read")
        return Stream()
    if any(options.has(flag) for flag in row.get("shell", "").split()):
        frame.run.note(frame, "D8", "opens a shell with other rights", "privilege")
        frame.run.is_interactive("a shell with other rights")
    for value in options.values(*row.get("string", "").split()) if row.get("string") else []:
        frame.run.script(value.text, frame)
    if row.get("effect") == "privilege":
        words = _assignments(words, frame)
    if not words:
        frame.run.note(frame, "R1", f"{name} without a command", "run")
        return Stream("")
    return frame.run.rejudge(words, frame)


def _assignments(words: list[Word], frame: Frame) -> list[Word]:
    while words and _is_assignment(words[0].text):
        name, _, value = words[0].text.partition("=")
        judge_variable(name, value, frame)
        words = words[1:]
    return words


def _is_assignment(text: str) -> bool:
    name, sign, _ = text.partition("=")
    return bool(sign) and name.isidentifier()


def _env(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-u --unset -C --chdir -S --split-string -P --argv0 -a", permute=False)
    inner = frame.child()
    for value in options.values("-C", "--chdir"):
        inner.state = frame.state.fork()
        inner.state.cwd = (
            None
            if value.unknown
            else f"{frame.state.cwd}/{value.text}"
            if value.text[:1] != "/"
            else value.text
        )
    for value in options.values("-S", "--split-string"):
        tail = " ".join(w.text for w in options.operands)
        return frame.run.script(f"{value.text} {tail}", inner)
    words = _assignments([w for w in options.operands if w.text != "-"], frame)
    if not words:
        frame.run.note(frame, "R1", "prints the environment", "read")
        return Stream(None, frozenset({SECRET}))
    return frame.run.rejudge(words, inner)


def _exec(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-a", permute=False)
    if not options.operands:
        frame.run.note(frame, "R0", "changes where output goes", "read")
        return Stream("")
    return frame.run.rejudge(options.operands, frame)


def _runner(argv: list[Word], frame: Frame) -> Stream:
    """`uv run`, `npx`, `docker exec`: a sub-command of the program decides whether another one is run."""
    name = argv[0].text.rpartition("/")[2]
    rows = table("wrappers")["run"][name]
    for path, row in rows.items():
        words = _behind(path.split(), argv[1:])
        if words is None:
            continue
        options = parse_options(words, f"{row.get('values', '')} {row.get('string', '')}", permute=False)
        inner = options.operands[row.get("skip", 0) :]
        for value in options.values(*row["string"].split()) if "string" in row else []:
            frame.run.script(value.text, frame)
        if "code" in row:
            frame.run.note(frame, row["code"], row["reason"], row.get("effect", "run"))
        if not inner:
            break
        if frame.step is not None:
            frame.step.sub = path
        if row.get("fetches") and _unknown(inner[0].text):
            frame.run.note(frame, "C7", "downloads and runs a package", "install")
        return frame.run.rejudge(inner, frame)
    return _plain(name, argv, frame)


def _unknown(name: str) -> bool:
    # What is only a toy of the system is not what a package manager would run locally.
    row = commands().get(name, "R")
    known = not isinstance(row, str) or row[0] != "R" or name in names("programs", "local_tools")
    return not known and name[:1] not in "./"


def _behind(path: list[str], words: list[Word]) -> list[Word] | None:
    for name in path:
        words = _skip_options(words)
        if not words or words[0].text not in name.split("|"):
            return None
        words = words[1:]
    return words


def _skip_options(words: list[Word]) -> list[Word]:
    at = 0
    while at < len(words) and words[at].text.startswith("-"):
        at += 1 if "=" in words[at].text or words[at].text not in _GLOBAL_VALUES else 2
    return words[at:]


_GLOBAL_VALUES = (
    "-C",
    "--cwd",
    "--prefix",
    "--dir",
    "--directory",
    "--project",
    "-p",
    "--context",
    "-f",
    "--file",
)


def _plain(name: str, argv: list[Word], frame: Frame) -> Stream:
    spec = commands().get(name)
    texts = [w.text for w in argv[1:]]
    if texts[:1] == ["set-script"]:
        frame.run.script(" ".join(texts[2:]), frame)
    elif texts[:2] == ["pkg", "set"]:
        for text in texts[2:]:
            frame.run.script(text.partition("=")[2] if text.startswith("scripts.") else "", frame)
    if spec is None:
        frame.run.note(frame, "W4", f"runs {name}", "run")
    else:
        judge_by_table(spec, argv[1:], frame)
    return Stream()


def _busybox(argv: list[Word], frame: Frame) -> Stream:
    if len(argv) < 2:
        frame.run.note(frame, "R0", "lists its programs", "read")
        return Stream()
    return frame.run.rejudge(argv[1:], frame)


def _time(argv: list[Word], frame: Frame) -> Stream:
    words = argv[1:]
    if words and words[0].text.startswith("-") and " " in words[0].text:
        frame.run.unclear(frame, "time with an option that is none")
    while words and words[0].text in ("-p", "-v", "--verbose", "!", "time"):
        words = words[1:]
    options = parse_options(words, "-f --format -o --output", permute=False)
    words = _assignments(options.operands, frame)
    return frame.run.rejudge(words, frame) if words else Stream("")


def _coproc(argv: list[Word], frame: Frame) -> Stream:
    # What follows may be a name, a compound command or a simple one: the grammar does not say.
    frame.run.unclear(frame, "runs a coprocess")
    words = argv[1:]
    if len(words) > 1 and words[0].text.isupper():
        words = words[1:]
    words = _assignments(words, frame)
    inner = frame.child()
    inner.forks += 1
    inner.stdin = Stream()
    return frame.run.rejudge(words, inner) if words else Stream("")


def _flock(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(
        argv[1:], "-w --timeout --wait -E --conflict-exit-code -c --command", permute=False
    )
    rest = options.operands[1:]
    if rest and rest[0].text in ("-c", "--command"):
        return frame.run.script(rest[1].text if len(rest) > 1 else "", frame)
    return frame.run.rejudge(rest, frame) if rest else Stream("")


def _at(argv: list[Word], frame: Frame) -> Stream:
    """at, batch: the text on standard input runs later."""
    texts = [w.text for w in argv[1:]]
    if texts[:1] in (["-l"], ["-q"]):
        frame.run.note(frame, "R1", "lists planned commands", "read")
        return Stream()
    frame.run.note(frame, "D8", "plans commands to run later", "persist")
    if frame.stdin is not None and frame.stdin.text:
        frame.run.script(frame.stdin.text, frame)
    return Stream()


def _crontab(argv: list[Word], frame: Frame) -> Stream:
    texts = [w.text for w in argv[1:]]
    if "-l" in texts and "-r" not in texts:
        frame.run.note(frame, "R1", "lists planned commands", "read")
    elif "-e" in texts:
        frame.run.note(frame, "C7", "edits planned commands", "persist")
        frame.run.is_interactive("opens an editor")
    else:
        frame.run.note(frame, "D8", "changes the commands that run by the clock", "persist")
    return Stream()


def _set_variables(argv: list[Word], frame: Frame) -> Stream:
    """cross-env, dotenv: assignments, then a command."""
    words = argv[1:]
    while words and (_is_assignment(words[0].text) or words[0].text.startswith("-")):
        name, _, value = words[0].text.partition("=")
        if name.isidentifier():
            set_variable(name, Variable([[value]]), frame)
        words = words[1:]
    return frame.run.rejudge(words, frame) if words else Stream("")


def _strings(argv: list[Word], frame: Frame) -> Stream:
    """concurrently, nodemon, pdsh: words or values of options that a shell runs, here or elsewhere."""
    name = argv[0].text.rpartition("/")[2]
    row = table("wrappers")["strings"][name]
    options = parse_options(
        argv[1:], f"{row.get('values', '')} {row.get('string', '')}", permute="tail" not in row
    )
    _plain(name, argv, frame)
    if "code" in row:
        frame.run.note(frame, row["code"], row["reason"], row.get("effect", "run"))
    texts = [value.text for value in options.values(*row.get("string", "").split()) if value.text]
    operands = [w.text for w in options.operands]
    if "tail" in row:
        texts.append(" ".join(operands[row["tail"] :]))
    elif row.get("each"):
        texts += operands
    for text in texts:
        frame.run.script(text, frame)
    return Stream()


def _names(kind: str) -> str:
    return " ".join(table("wrappers")[kind])


PROGRAMS = {
    _names("wrap"): _wrapper,
    _names("run"): _runner,
    _names("strings"): _strings,
    "env genv": _env,
    "exec": _exec,
    "busybox toybox": _busybox,
    "time gtime": _time,
    "coproc": _coproc,
    "flock": _flock,
    "at batch": _at,
    "crontab": _crontab,
    "cross-env dotenv": _set_variables,
}
