"""Interpreters: code on the command line, on standard input, in files."""

from __future__ import annotations

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.paths import absolute, display, judge, write
from forge.core.shell.analysis.places import UNKNOWN, kind_of
from forge.core.shell.analysis.programs.code import judge_code
from forge.core.shell.analysis.spec import judge_by_table
from forge.core.shell.analysis.state import NETWORK, NO_TAGS, Stream, Word
from forge.core.shell.analysis.tables import commands, table
from forge.core.shell.analysis.unpacked import judge_unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.options import Options
    from forge.core.shell.analysis.state import Frame


# They stay at their prompt even if they are given a file.
_PROMPTS = ("iex", "ghci", "jshell")


def _interpreter(argv: list[Word], frame: Frame) -> Stream:
    name = argv[0].text.rpartition("/")[2]
    language = _language(name)
    row = table("interpreters")[language]
    words = argv[1:]
    if row.get("module") and (module := _module(words, row["module"])) is not None:
        return _run_module(module, frame)
    options = parse_options(words, row["values"], permute=False)
    if options.has("-v", "--version") and not options.operands:
        frame.run.note(frame, "R0", "asks a program about itself", "read")
        return Stream()
    codes = options.values(*row["code"].split())
    for code in codes:
        _code(code, language, frame)
    if row.get("in_place") and options.has(row["in_place"]):
        for operand in options.operands:
            write(frame, operand)
    if codes or options.has(*row["code"].split()):
        return Stream(None, frame.stdin.tags if frame.stdin else NO_TAGS)
    if options.has("--test", "--run", "-l") and not options.operands:
        frame.run.note(frame, "W4", "runs the tests or checks of the project", "run")
        return Stream()
    return _script(name, language, options, frame)


def _script(name: str, language: str, options: Options, frame: Frame) -> Stream:
    """No code among the options: a file, or standard input."""
    if options.has("--check", "--syntax-check") or (language == "php" and options.has("-l")):
        frame.run.note(frame, "R1", "checks the syntax of a script", "read")
        return Stream()
    if name in _PROMPTS or (options.has("-i") and language in ("python", "node") and options.operands):
        frame.run.is_interactive(f"a {language} prompt")
    script = options.operands[0].text.rpartition("/")[2] if options.operands else ""
    if script in commands():
        judge_by_table(commands()[script], options.operands[1:], frame)
    return _file_or_input(options.operands, language, options.has("-i"), frame)


def _language(name: str) -> str:
    for language, row in table("interpreters").items():
        if isinstance(row, dict) and any(
            name == n or (name.startswith(n) and name[len(n) :].strip("0123456789.-") == "")
            for n in row["names"]
        ):
            return language
    return "code"


def _module(words: list[Word], flag: str) -> list[Word] | None:
    for at, word in enumerate(words):
        if word.text == flag or (
            word.text.startswith("-")
            and not word.text.startswith("--")
            and word.text.endswith(flag[1:])
            and len(word.text) < 5
        ):
            return words[at + 1 :]
        if not word.text.startswith("-"):
            return None
        if word.text in ("-c", "-"):
            return None
    return None


def _run_module(words: list[Word], frame: Frame) -> Stream:
    """`python -m pip` is pip, `python -m http.server` serves files."""
    if not words:
        return Stream()
    name = words[0].text
    if frame.step is not None:
        frame.step.sub = f"-m {name}"
    if name in ("timeit", "pdb"):
        for word in words[1:]:
            judge_code(word.text.removeprefix("!"), "python", frame) if "(" in word.text else None
    spec = table("commands")["python_modules"].get(name)
    if spec is not None:
        judge_by_table(spec, words[1:], frame)
        return Stream()
    return frame.run.rejudge(words, frame)


def _code(code: Word, language: str, frame: Frame) -> None:
    if NETWORK in code.tags:
        frame.run.note(frame, "D9", "runs code from the network without review", "remote_code")
    elif code.text == UNKNOWN:
        frame.run.unclear(frame, "runs code that is not known before")
    else:
        judge_code(code.text, language, frame)


def _file_or_input(operands: list[Word], language: str, prompt: bool, frame: Frame) -> Stream:
    if operands and operands[0].text not in ("-", "/dev/stdin"):
        return _file(operands[0], language, frame)
    stdin = frame.stdin
    if stdin is None or prompt:
        frame.run.note(frame, "R2", f"opens a {language} prompt", "run")
        frame.run.is_interactive(f"a {language} prompt")
    elif NETWORK in stdin.tags:
        frame.run.note(frame, "D9", "runs code from the network without review", "remote_code")
    elif stdin.text is None:
        frame.run.unclear(frame, "runs code that is not known before")
    else:
        judge_code(stdin.text, language, frame)
    return Stream()


def _file(word: Word, language: str, frame: Frame) -> Stream:
    stream = frame.run.stream_of(word.text)
    path = absolute(word.text, frame.state)
    written = frame.state.files.get(path or "")
    if written is not None:
        stream = Stream(written.text, written.tags)
    if stream is not None:
        _code(Word(stream.text if stream.text is not None else UNKNOWN, tags=stream.tags), language, frame)
        return Stream()
    if path is None or word.text.startswith(("http://", "https://")):
        frame.run.note(frame, "C7", "runs a script that is not known before", "unanalysable")
        return Stream()
    judge_unpacked(path, frame)
    kind = kind_of(path, frame.run.around)
    outside = kind in ("outside", "temp", "home", "temp_root")
    frame.run.note(frame, "C5" if outside else "W4", f"runs the script {display(word.text)}", "run", kind)
    return Stream(None, frame.stdin.tags if frame.stdin else NO_TAGS)


def _runtime(argv: list[Word], frame: Frame) -> Stream:
    """bun and deno: code given as a word, else the table."""
    texts = [w.text for w in argv[1:]]
    for at, text in enumerate(texts[:-1]):
        if text in ("eval", "-e", "--eval", "-p", "--print"):
            _code(argv[at + 2], "node", frame)
            return Stream()
    judge_by_table(commands()[argv[0].text.rpartition("/")[2]], argv[1:], frame)
    if "-" in texts and frame.stdin is not None:
        _file_or_input([], "node", False, frame)
    return Stream()


def _editor(argv: list[Word], frame: Frame) -> Stream:
    """vim, emacs, ed: commands given at the start may run programs."""
    texts = [w.text for w in argv[1:]]
    commands = [t[1:] for t in texts if t.startswith("+")]
    commands += [
        texts[at + 1]
        for at, t in enumerate(texts[:-1])
        if t in ("-c", "--cmd", "--eval", "-eval", "-S", "-s")
    ]
    if frame.stdin is not None and frame.stdin.text:
        commands += frame.stdin.text.splitlines()
    for command in commands:
        code = command.lstrip(": ")
        if code.startswith(("!", "r !", "%!", "silent !", "sil !", "w !")):
            frame.run.note(frame, "D8", "the editor runs a command", "run")
            frame.run.script(code.partition("!")[2], frame)
        elif any(
            mark in code
            for mark in (
                "system(",
                "shell-command",
                "call-process",
                "delete-directory",
                "delete(",
                "py3",
                "python3",
                "lua ",
            )
        ):
            frame.run.note(frame, "D8", "the editor runs code", "run")
    operands = [w for w in argv[1:] if not w.text.startswith(("-", "+"))]
    for operand in operands[-1:]:
        if not commands:
            judge(frame, "write", operand, "opens for editing in")
    name = argv[0].text.rpartition("/")[2]
    batch = {"-es", "-Es", "--batch", "-batch", "--headless", "--version"} & set(texts) or (
        name in ("ed", "ex") and frame.stdin is not None
    )
    frame.run.note(frame, "W4" if batch else "R2", "edits files", "write")
    if not batch:
        frame.run.is_interactive("an editor")
    return Stream()


def _debugger(argv: list[Word], frame: Frame) -> Stream:
    texts = [w.text for w in argv[1:]]
    for at, text in enumerate(texts[:-1]):
        following = texts[at + 1]
        if text in ("-ex", "--eval-command", "-iex", "-o", "--one-line") and following.startswith(
            ("shell ", "!", "python", "pi ", "platform shell", "script")
        ):
            frame.run.note(frame, "D8", "the debugger runs a command", "run")
            frame.run.script(following.partition(" ")[2], frame)
    frame.run.note(frame, "W3", "debugs a program", "run")
    if not {"-batch", "--batch", "-b"} & set(texts):
        frame.run.is_interactive("a debugger prompt")
    if "--args" in texts:
        frame.run.execute(argv[texts.index("--args") + 2 :], frame, frame.step.span if frame.step else (0, 0))
    return Stream()


def _make(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-f --file --makefile -C --directory -j_ -I -o -W --eval -E")
    for value in options.values("--eval", "-E"):
        frame.run.note(frame, "C7", "make runs text given as an option", "run")
        frame.run.script(value.text.replace("$(shell", "$("), frame)
    for value in options.values("-f", "--file", "--makefile"):
        written = frame.state.files.get(absolute(value.text, frame.state) or "")
        stream = (
            frame.stdin if value.text in ("-", "/dev/stdin") else frame.run.stream_of(value.text) or written
        )
        if stream is None:
            continue
        if stream.text is None:
            frame.run.unclear(frame, "make runs rules that are not known before")
        else:
            for line in stream.text.splitlines():
                if line.startswith("\t"):
                    frame.run.script(line.strip().lstrip("@-+"), frame)
    dry = options.has("-n", "--dry-run", "--just-print")
    for operand in options.operands:
        if operand.text.startswith(("deploy", "publish", "destroy")) and not dry:
            frame.run.note(frame, "C6", "publishes or deploys", "publish")
        if operand.text.startswith("SHELL="):
            frame.run.note(frame, "C7", "make uses another shell", "run")
    frame.run.note(frame, "R2" if dry else "W4", "builds the project", "build")
    return Stream()


def _names() -> str:
    rows = table("interpreters")
    found = []
    for row in rows.values():
        if isinstance(row, dict):
            found += row["names"] + row.get("more", [])
    return " ".join(found)


PROGRAMS = {
    "bun deno": _runtime,
    _names(): _interpreter,
    "vim vi nvim view vimdiff ex ed emacs emacsclient nano pico micro joe helix hx kak mcedit ne "
    "code-editor gvim": _editor,
    "gdb lldb rust-gdb rust-lldb": _debugger,
    "make gmake remake bmake": _make,
}
