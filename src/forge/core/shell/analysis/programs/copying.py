"""Programs that write files: copies, moves, links, modes, archives."""

from __future__ import annotations

from forge.core.shell.analysis.options import Options, parse_options
from forge.core.shell.analysis.paths import absolute, judge, kinds, read, write
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.programs.deleting import delete
from forge.core.shell.analysis.state import NO_TAGS, SECRET, Stream, Word, Written
from forge.core.shell.analysis.tables import table
from forge.core.shell.analysis.unpacked import unpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame

_COPY_VALUES = "-t --target-directory -S --suffix -m --mode -o --owner -g --group -Z --context --sparse"


def _targets(options: Options) -> tuple[list[Word], list[Word]]:
    """Sources and the destination."""
    named = options.values("-t", "--target-directory")
    if named:
        return options.operands, named
    return options.operands[:-1], options.operands[-1:]


def _cp(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], _COPY_VALUES)
    sources, destinations = _targets(options)
    for destination in destinations:
        _place(sources, destination, frame)
        if [s.text for s in sources] == ["/dev/null"]:
            frame.run.note(frame, "C6", "empties a file", "delete")
    if any(_set_id(v.text) for v in options.values("-m", "--mode")):
        frame.run.note(frame, "D8", "makes a program that runs with other rights", "privilege")
    return Stream("")


def _place(sources: list[Word], destination: Word, frame: Frame) -> None:
    """The content of the source is afterwards known under the new name."""
    content = Stream()
    for source in sources:
        content = read(frame, source)
        _also_inside(source, destination, content, frame)
    write(frame, destination, content if len(sources) == 1 else None)


def _also_inside(source: Word, destination: Word, content: Stream, frame: Frame) -> None:
    """The destination may be a directory."""
    name = source.text.rstrip("/").rpartition("/")[2]
    path = absolute(f"{destination.text}/{name}", frame.state)
    if path and (content.text is not None or content.tags):
        frame.state.files[path] = Written(content.text, content.tags)


def _mv(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], _COPY_VALUES)
    sources, destinations = _targets(options)
    gone = any(d.text == "/dev/null" for d in destinations)
    for source in sources:
        whole = _big(source, frame)
        if whole:
            frame.run.note(frame, "F9" if whole == "root" else "D9", "moves away a whole tree", "delete_tree")
        elif gone:
            delete(source, frame, True)
        elif _outside(source, frame) or "protected" in kinds(source, frame, True):
            judge(frame, "delete", source, "moves files away from")
    for destination in destinations:
        _place(sources, destination, frame)
    if not gone:
        frame.run.note(frame, "W5", "moves files", "write")
    return Stream("")


def _big(source: Word, frame: Frame) -> str:
    from_root = source.text in ("/", "/*", "~", "~/*") or source.text.rstrip("/*") == frame.run.around.home
    if from_root or (source.glob and source.text.startswith("/") and source.text.count("/") == 1):
        return "root"
    path = absolute(source.text.removesuffix("/*") if source.glob else source.text, frame.state)
    return "workspace" if path and path == frame.run.around.workspace and not source.glob else ""


def _outside(source: Word, frame: Frame) -> bool:
    path = absolute(source.text, frame.state)
    around = frame.run.around
    return path is None or not path.startswith((around.workspace + "/", "/tmp/"))


def _ln(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], _COPY_VALUES)
    sources, destinations = _targets(options)
    if not sources:
        sources, destinations = destinations, [Word(".")]
    for destination in destinations:
        write(frame, destination)
        for source in sources:
            _link(source, destination, frame)
    return Stream("")


def _link(source: Word, destination: Word, frame: Frame) -> None:
    state = frame.state
    link = absolute(destination.text, state)
    if link is None or UNKNOWN in source.text:
        return
    parent = link.rpartition("/")[0] or "/"
    base = source.text if source.text.startswith("/") else f"{parent}/{source.text}"
    target = absolute(base, state)
    if target is None:
        return
    name = target.rstrip("/").rpartition("/")[2]
    state.files.pop(link, None)
    for place in (link, f"{link}/{name}"):
        if place != target:
            state.links[place] = target


def _chmod(argv: list[Word], frame: Frame) -> Stream:
    words = argv[1:]
    # A mode may look like an option: chmod -x file
    modes = [w for w in words if w.text[:1] in "+-=ugoa01234567" and _mode(w.text)]
    mode = modes[0].text if modes else ""
    options = parse_options([w for w in words if not modes or w is not modes[0]], "--reference")
    tree = options.has("-R", "--recursive")
    wide = _open_to_all(mode)
    for operand in options.operands:
        judge(frame, "chmod_tree" if tree else "chmod", operand)
        if tree and wide:
            frame.run.note(frame, "D8", "opens a whole tree for writing by everybody", "chmod_tree")
    if _set_id(mode):
        frame.run.note(frame, "D8", "makes a program that runs with other rights", "privilege")
    return Stream("")


def _mode(text: str) -> bool:
    if text.isdigit():
        return True
    return set(text) <= set("+-=ugoarwxXst,") and any(c in text for c in "+-=") and text[-1] not in "R"


def _open_to_all(mode: str) -> bool:
    if mode.isdigit():
        return mode[-1] in "2367"
    return any(
        part.startswith(("a+", "o+", "+", "ugo+", "a=", "o=")) and "w" in part for part in mode.split(",")
    )


def _set_id(mode: str) -> bool:
    return (mode.isdigit() and len(mode) == 4 and mode[0] in "234567") or ("s" in mode and "+" in mode)


def _chown(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "--reference --from")
    tree = options.has("-R", "--recursive")
    operands = options.operands if options.values("--reference") else options.operands[1:]
    for operand in operands:
        judge(frame, "chmod_tree" if tree else "chmod", operand)
    frame.run.note(frame, "C6", "changes the owner of files", "chmod")
    return Stream("")


def _setfacl(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-m --modify -M -x --remove -X --set --restore")
    for operand in options.operands:
        judge(frame, "chmod_tree" if options.has("-R", "--recursive") else "chmod", operand)
    frame.run.note(frame, "C6", "changes who may read or write", "chmod")
    return Stream("")


def _touch(argv: list[Word], frame: Frame) -> Stream:
    directory = argv[0].text.endswith("mkdir")
    options = parse_options(argv[1:], "-m --mode" if directory else "-d --date -r --reference -t")
    for operand in options.operands:
        if operand.text.startswith("--"):
            frame.run.note(frame, "C6", "makes a file whose name looks like an option", "write")
        judge(frame, "write", operand)
    return Stream("")


def _mktemp(argv: list[Word], frame: Frame) -> Stream:
    frame.run.note(frame, "W3", "makes a temporary file", "write")
    return Stream("/tmp/tmp.forge\n")


_SENDERS = ("curl", "wget", "nc", "ncat", "socat", "ssh", "telnet", "openssl")


def _tee(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:])
    stream = frame.stdin or Stream()
    for operand in options.operands:
        if frame.run.stream_of(operand.text) is None:
            write(frame, operand, stream, append=options.has("-a", "--append"))
        elif SECRET in stream.tags and any(s.program in _SENDERS for s in frame.run.steps):
            frame.run.note(frame, "D9", "sends credentials to another machine", "exfiltrate", "network")
    frame.run.note(frame, "R1", "copies its input", "read")
    return stream


def _dd(argv: list[Word], frame: Frame) -> Stream:
    stream = frame.stdin or Stream()
    tags = NO_TAGS
    for word in argv[1:]:
        name, _, value = word.text.partition("=")
        if name == "if":
            tags |= read(frame, Word(value)).tags
    for word in argv[1:]:
        name, _, value = word.text.partition("=")
        if name == "of":
            write(frame, Word(value), Stream(None, tags | stream.tags))
            frame.run.note(frame, "C7", "copies raw blocks over a file or device", "write")
    frame.run.note(frame, "C5" if not argv[1:] else "W4", "copies raw blocks", "write")
    return Stream(None, tags)


def _archive(argv: list[Word], frame: Frame) -> Stream:
    """tar and its relatives: options that run programs, extraction that overwrites."""
    words = argv[1:]
    first = words[0].text if words else ""
    if first and not first.startswith("-"):
        words = [Word("-" + first), *words[1:]]
    options = parse_options(words, table("options")["tar"])
    for value in options.values(*table("options")["tar_runs"].split()):
        _runs(value.text, frame)
    if any(w.text.startswith("--checkpoint-act") for w in words):
        frame.run.note(frame, "D8", "tar runs a program at a checkpoint", "run")
    reading = options.has("-t", "--list", "-d", "--diff")
    tags = NO_TAGS
    for operand in options.operands:
        tags |= read(frame, operand).tags
    for value in options.values("-f", "--file"):
        if options.has("-c", "--create", "-r", "-u", "--append") and value.text != "-":
            write(frame, value, Stream(None, tags))
    if options.has("-x", "--extract", "--get"):
        _extract(options, frame)
    if options.has("--remove-files"):
        frame.run.note(frame, "D8", "deletes the files it packs", "delete_tree")
    frame.run.note(
        frame, "R1" if reading else "W4", "lists an archive" if reading else "packs or unpacks files", "write"
    )
    return Stream(None, tags | (frame.stdin.tags if frame.stdin else NO_TAGS))


def _extract(options: Options, frame: Frame) -> None:
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    for value in options.values("-f", "--file"):
        tags |= read(frame, value).tags
    places = options.values("-C", "--directory")
    for value in places:
        judge(frame, "write", value)
    unpack(tags, places[-1] if places else Word("."), frame)


_PACKERS = ("gzip", "pigz", "zstd", "xz", "bzip2", "lz4", "pbzip2", "lzma", "brotli", "pixz", "zstdmt")


def _runs(text: str, frame: Frame) -> None:
    code = text.removeprefix("exec=")
    if code.split(" ")[0] in _PACKERS:
        return
    if "=" in code.split(" ")[0] and not text.startswith("exec="):
        return
    frame.run.note(frame, "D8", "an option makes the program run another one", "run")
    frame.run.script(code, frame)


def _zip(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-x -i -P -b -n -t -tt -TT --unzip-command -d")
    if options.has("-TT", "--unzip-command") or any(w.text.startswith("-TT") for w in argv):
        frame.run.note(frame, "D8", "zip runs a program to test the archive", "run")
        for value in options.values("-TT", "--unzip-command"):
            frame.run.script(value.text, frame)
    tags = NO_TAGS
    for operand in options.operands[1:]:
        tags |= read(frame, operand).tags
    for operand in options.operands[:1]:
        write(frame, operand, Stream(None, tags))
    if options.has("-m"):
        frame.run.note(frame, "D8", "deletes the files it packs", "delete_tree")
    return Stream(None, tags)


def _unzip(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-d -x -P -o")
    if options.has("-l", "-Z", "-t", "-v", "-p"):
        frame.run.note(frame, "R1", "looks into an archive", "read")
        return Stream()
    places = options.values("-d")
    for value in places:
        judge(frame, "write", value)
    for operand in options.operands[:1]:
        unpack(read(frame, operand).tags, places[-1] if places else Word("."), frame)
    frame.run.note(frame, "W4", "unpacks files", "write")
    return Stream()


def _seven(argv: list[Word], frame: Frame) -> Stream:
    texts = [w.text for w in argv[1:]]
    if texts[:1] in (["x"], ["e"]):
        places = [Word(text[2:]) for text in texts if text.startswith("-o") and len(text) > 2]
        for place in places:
            judge(frame, "write", place)
        for word in argv[2:3]:
            unpack(read(frame, word).tags, places[-1] if places else Word("."), frame)
    if "-sdel" in texts or texts[:1] == ["d"]:
        frame.run.note(frame, "D8", "deletes the files it packs", "delete_tree")
    looks = texts[:1] in (["l"], ["t"], ["h"], ["i"])
    frame.run.note(frame, "R1" if looks else "W4", "packs or unpacks files", "write")
    return Stream()


def _compress(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-S --suffix -T -o")
    if options.has("-c", "--stdout", "--to-stdout", "-l", "-t", "--list", "--test") or argv[0].text.endswith(
        "cat"
    ):
        frame.run.note(frame, "R1", "packs or unpacks to its output", "read")
    else:
        frame.run.note(frame, "W4", "packs or unpacks files", "write")
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    for operand in options.operands:
        tags |= read(frame, operand).tags
    return Stream(None, tags)


PROGRAMS = {
    "cp install gcp": _cp,
    "setfacl": _setfacl,
    "mv gmv rename": _mv,
    "ln": _ln,
    "chmod": _chmod,
    "chown chgrp": _chown,
    "touch mkdir mkfifo mknod": _touch,
    "mktemp": _mktemp,
    "tee sponge": _tee,
    "dd dcfldd": _dd,
    "tar gtar bsdtar": _archive,
    "zip": _zip,
    "unzip": _unzip,
    "7z 7za 7zz 7zr": _seven,
    "gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd unzstd zstdcat lz4 pigz brotli": _compress,
}
