"""find, fd, xargs and parallel: programs that build commands."""

from __future__ import annotations

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.paths import judge, kinds, secret_path, write
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.state import ELSEWHERE, LISTED, NETWORK, NO_TAGS, Stream, Word
from forge.core.shell.analysis.tables import names, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame

_EXECUTE = ("-exec", "-execdir", "-ok", "-okdir")
_MOST_ITEMS = 40
_HERE = ("workspace", "workspace_root", "regenerable", "protected", "temp", "temp_root")
# The names that flow on are those of generated files.
GENERATED = "generated"


def _find(argv: list[Word], frame: Frame) -> Stream:
    words = argv[1:]
    while words and words[0].text in ("-H", "-L", "-P"):
        words = words[1:]
    roots = []
    for word in words:
        if word.text.startswith(("-", "(", "!", ")")):
            break
        roots.append(word)
    tests = words[len(roots) :]
    roots = roots or [Word(".")]
    frame.run.note(frame, "R1", "looks for files", "read")
    for at, word in enumerate(tests):
        if word.text == "-delete":
            _delete(roots, tests, frame)
        elif word.text in _EXECUTE:
            _exec(roots, tests, at, frame)
        elif word.text in ("-fprint", "-fprint0", "-fprintf", "-fls") and at + 1 < len(tests):
            write(frame, tests[at + 1])
    generated = _selected(Word("."), tests).text != "."
    tags = {GENERATED if generated else LISTED}
    if any(kind not in _HERE for root in roots for kind in kinds(root, frame, False)):
        tags.add(ELSEWHERE)
    return Stream(None, frozenset(tags))


def _delete(roots: list[Word], tests: list[Word], frame: Frame) -> None:
    for root in roots:
        target = _selected(root, tests)
        judge(frame, "delete_tree", target)


def _selected(root: Word, tests: list[Word]) -> Word:
    """Tests for generated names make `find . -name '*.pyc'` a delete of generated files."""
    texts = [w.text for w in tests]
    for at, text in enumerate(texts[:-1]):
        if text in ("-name", "-iname") and not {"-o", "-or", "!", "-not"} & set(texts):
            return (
                Word(f"{root.text.rstrip('/') or '/'}/{texts[at + 1]}") if _generated(texts[at + 1]) else root
            )
    return root


def _generated(pattern: str) -> bool:
    return pattern in table("paths")["regenerable"]


def _exec(roots: list[Word], tests: list[Word], at: int, frame: Frame) -> None:
    command = []
    for word in tests[at + 1 :]:
        if word.text in (";", "+"):
            break
        command.append(word)
    if not command:
        return
    span = frame.step.span if frame.step else (0, 0)
    for root in roots[:_MOST_ITEMS]:
        chosen = _selected(root, tests)
        argv = [_filled(word, _named_secret(chosen, tests), tests[at].text) for word in command]
        if _deletes(command):
            judge(frame, "delete_tree", chosen)
            continue
        frame.run.execute(argv, frame, span)


def _named_secret(root: Word, tests: list[Word]) -> Word:
    """Looking for credentials by name is as good as naming them."""
    texts = [w.text for w in tests]
    for at, text in enumerate(texts[:-1]):
        if text in ("-name", "-iname") and secret_path(texts[at + 1]):
            return Word(f"{root.text.rstrip('/')}/{texts[at + 1]}", glob=True)
    return root


def _deletes(command: list[Word]) -> bool:
    words = [w.text.rpartition("/")[2] for w in command]
    while words and words[0] in names("programs", "plain_wrappers"):
        words = words[1:]
    return bool(words) and words[0] in ("rm", "unlink", "shred", "truncate") and "{}" in words


def _filled(word: Word, root: Word, how: str) -> Word:
    if "{}" not in word.text:
        return word
    base = root.text if how in ("-exec", "-ok") else "."
    place = base if root.glob else f"{base.rstrip('/')}/*"
    return Word(word.text.replace("{}", place), glob=True)


def _fd(argv: list[Word], frame: Frame) -> Stream:
    frame.run.note(frame, "R1", "looks for files", "read")
    for at, word in enumerate(argv):
        if word.text in ("-x", "-X", "--exec", "--exec-batch"):
            command = [w for w in argv[at + 1 :] if w.text != ";"]
            if _deletes([*command, Word("{}")]):
                frame.run.note(frame, "D8", "deletes whatever it finds", "delete_tree")
                break
            _run_with(command, [Word(UNKNOWN)], "{}", frame)
            break
    return Stream(None, frozenset({LISTED}))


def _run_with(command: list[Word], items: list[Word], mark: str, frame: Frame) -> None:
    """Runs a command with items in the place of the mark, or behind it."""
    span = frame.step.span if frame.step else (0, 0)
    if any(mark and mark in w.text for w in command):
        for item in items[:_MOST_ITEMS]:
            argv = [
                Word(w.text.replace(mark, item.text), w.glob, w.quoted, w.tags | item.tags) for w in command
            ]
            frame.run.execute(argv, frame, span)
    else:
        frame.run.execute([*command, *items[:_MOST_ITEMS]], frame, span)


def _xargs(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], table("options")["xargs"], permute=False)
    command = options.operands or [Word("echo")]
    mark = next((v.text for v in options.values("-I", "-J")), "{}" if options.has("-i", "--replace") else "")
    stdin = frame.stdin or Stream()
    if options.has("-a", "--arg-file"):
        stdin = Stream(None)
    items = _items(stdin, options.has("-0", "--null"), bool(mark))
    if items[0].unknown and _deletes([*command, Word("{}")]):
        many = GENERATED in stdin.tags
        code, what = ("C6", "generated files") if many else ("D8", "whatever its input names")
        frame.run.note(frame, code, f"deletes {what}", "delete_tree")
        return Stream("")
    if items[0].unknown and mark and _shell_code(command, mark):
        # Names of files, as for find -exec sh -c; from another machine they are commands.
        items = [Word("./*", tags=stdin.tags)]
        if NETWORK in stdin.tags:
            frame.run.note(frame, "D9", "runs code from the network without review", "remote_code")
    inner = frame.child()
    inner.stdin = Stream("")
    frame.run.note(frame, "R0", "hands its input to another command", "read")
    _run_with(command, items, mark, inner)
    return Stream(None, stdin.tags)


def _shell_code(command: list[Word], mark: str) -> bool:
    words = [w.text.rpartition("/")[2] for w in command]
    return words[0] in ("sh", "bash", "dash", "zsh", "ksh") and any(mark in w for w in words[2:])


def _items(stdin: Stream, zero: bool, lines: bool) -> list[Word]:
    if stdin.text is None or UNKNOWN in stdin.text:
        return [Word(UNKNOWN if ELSEWHERE in stdin.tags else f"./{UNKNOWN}", tags=stdin.tags)]
    pieces = stdin.text.split("\0") if zero else stdin.text.splitlines() if lines else stdin.text.split()
    return [Word(p.strip("\"'"), tags=stdin.tags) for p in pieces if p] or [Word(UNKNOWN)]


def _parallel(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(
        argv[1:], "-j --jobs -S --sshlogin -a --arg-file -n -N -C --colsep --joblog -I", permute=False
    )
    command, items, at = [], [], 0
    words = options.operands
    while at < len(words) and words[at].text not in (":::", "::::", ":::+"):
        command.append(words[at])
        at += 1
    items = [w for w in words[at:] if not w.text.startswith(":::")]
    frame.run.note(frame, "W3", "runs commands side by side", "run")
    if not command:
        for item in items or _items(frame.stdin or Stream(), False, True):
            frame.run.script(item.text, frame)
        return Stream()
    found = items or _items(frame.stdin or Stream(), False, True)
    if found[0].unknown and _deletes([*command, Word("{}")]):
        frame.run.note(frame, "D8", "deletes whatever its input names", "delete_tree")
    for item in found[:_MOST_ITEMS]:
        text = " ".join(w.text for w in command)
        text = text.replace("{}", item.text) if "{}" in text else f"{text} {item.text}"
        frame.run.script(text, frame)
    return Stream(None, NO_TAGS)


PROGRAMS = {"find gfind": _find, "fd fdfind": _fd, "xargs gxargs": _xargs, "parallel": _parallel}
