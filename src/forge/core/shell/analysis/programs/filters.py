"""Programs that read text and print it, and the options that make them write or run something."""

from __future__ import annotations

import binascii
import functools
import re

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.paths import read, write
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.state import ELSEWHERE, LISTED, NETWORK, NO_TAGS, SECRET, Stream, Word
from forge.core.shell.analysis.tables import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame


_CAT_VALUES = {
    "head": "-n --lines -c --bytes",
    "tail": "-n --lines -c --bytes -s --pid --sleep-interval",
    "nl": "-b -d -f -h -i -l -n -s -v -w",
}
_ENDLESS = ("/dev/urandom", "/dev/random", "/dev/zero", "/dev/tty")


def _cat(argv: list[Word], frame: Frame) -> Stream:
    name = argv[0].text.rpartition("/")[2]
    options = parse_options(argv[1:], _CAT_VALUES.get(name.removeprefix("g"), ""))
    frame.run.note(frame, "R1", "prints files", "read")
    if name == "tail" and options.has("-f", "-F", "--follow"):
        frame.run.is_interactive("follows a file without end")
    if not options.operands or [w.text for w in options.operands] == ["-"]:
        if frame.stdin is None:
            frame.run.is_interactive("waits for input from the keyboard")
            return Stream()
        return frame.stdin
    if name != "head" and not frame.piped and any(w.text in _ENDLESS for w in options.operands):
        frame.run.is_interactive("prints until it is stopped")
    streams = [read(frame, w) if w.text != "-" else frame.stdin or Stream() for w in options.operands]
    tags = frozenset().union(*(s.tags for s in streams))
    texts = [s.text for s in streams]
    return Stream(None if None in texts else "".join(t for t in texts if t), tags)


def _rev(argv: list[Word], frame: Frame) -> Stream:
    return _changed(argv, frame, lambda text: "\n".join(line[::-1] for line in text.split("\n")))


def _tac(argv: list[Word], frame: Frame) -> Stream:
    return _changed(argv, frame, lambda text: "\n".join(reversed(text.rstrip("\n").split("\n"))) + "\n")


def _changed(argv: list[Word], frame: Frame, change: object) -> Stream:
    frame.run.note(frame, "R1", "prints changed text", "read")
    stream = _input(argv[1:], frame)
    if stream.text is None or UNKNOWN in stream.text or not callable(change):
        return Stream(None, stream.tags)
    try:
        return Stream(change(stream.text), stream.tags)
    except (ValueError, binascii.Error):
        return Stream(None, stream.tags)


def _input(words: list[Word], frame: Frame) -> Stream:
    operands = [w for w in words if not w.text.startswith("-")]
    return read(frame, operands[0]) if operands else frame.stdin or Stream()


def _tr(argv: list[Word], frame: Frame) -> Stream:
    words = [w.text for w in argv[1:] if not w.text.startswith("-")]
    flags = "".join(w.text for w in argv[1:] if w.text.startswith("-"))
    frame.run.note(frame, "R1", "prints changed text", "read")
    stream = frame.stdin or Stream()
    if stream.text is None or not words or any(c in flags for c in "cCst"):
        return Stream(None, stream.tags)
    first = _characters(words[0])
    if "d" in flags:
        return Stream("".join(c for c in stream.text if c not in first), stream.tags)
    second = _characters(words[1]) if len(words) > 1 else ""
    if not second:
        return Stream(None, stream.tags)
    second = second.ljust(len(first), second[-1])
    return Stream(stream.text.translate(str.maketrans(first, second[: len(first)])), stream.tags)


def _characters(text: str) -> str:
    found = (
        text.replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z").replace("\\n", "\n").replace("\\t", "\t")
    )
    return re.sub(r"(.)-(.)", lambda m: "".join(map(chr, range(ord(m[1]), ord(m[2]) + 1))), found)


def _base64(argv: list[Word], frame: Frame) -> Stream:
    texts = [w.text for w in argv[1:]]
    decoding = any(t in ("-d", "-D", "--decode", "-di", "--d", "--dec") for t in texts)
    words = [w for w in argv[1:] if w.text not in ("-w", "0", "76")]
    if argv[0].text.endswith("base32"):
        return Stream(None, _changed(words[:0], frame, None).tags)
    return _changed([argv[0], *words], frame, _decode64 if decoding else _encode64)


def _decode64(text: str) -> str:
    compact = "".join(text.split())
    return binascii.a2b_base64(compact + "=" * (-len(compact) % 4)).decode("utf-8", "replace")


def _encode64(text: str) -> str:
    return binascii.b2a_base64(text.encode()).decode()


def _xxd(argv: list[Word], frame: Frame) -> Stream:
    flags = "".join(w.text for w in argv[1:] if w.text.startswith("-"))
    if "r" in flags:
        return _changed(
            argv, frame, lambda text: bytes.fromhex("".join(text.split())).decode("utf-8", "replace")
        )
    frame.run.note(frame, "R1", "prints files", "read")
    return Stream(None, _input(argv[1:], frame).tags)


def _openssl(argv: list[Word], frame: Frame) -> Stream:
    words = [w.text for w in argv[1:]]
    if "-d" in words and ("base64" in words or "-base64" in words or "-a" in words):
        return _changed(argv[:1], frame, _decode64)
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    for at, word in enumerate(words):
        if word in ("-in", "-inkey", "-key") and at + 1 < len(words):
            tags |= read(frame, argv[at + 2]).tags
        if word in ("-out", "-keyout") and at + 1 < len(words):
            write(frame, argv[at + 2])
    if words[:1] == ["s_client"]:
        if SECRET in tags:
            frame.run.note(frame, "D9", "sends credentials to another machine", "exfiltrate", "network")
        frame.run.note(frame, "C6", "talks to a server", "network")
    frame.run.note(frame, "R1", "computes with keys and certificates", "read")
    return Stream(None, tags)


def _sed(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-e --expression -f --file -l --line-length")
    scripts = options.values("-e", "--expression")
    operands = options.operands
    if not scripts and not options.values("-f", "--file"):
        scripts, operands = operands[:1], operands[1:]
    in_place = any(g == "-i" or g.startswith("--in-p") for g, _ in options.given)
    frame.run.note(frame, "R1", "prints changed text", "read")
    for script in scripts:
        _sed_script(script.text, frame)
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    for operand in operands:
        if in_place:
            write(frame, operand)
        else:
            tags |= read(frame, operand).tags
    return Stream(None, tags)


def _sed_script(script: str, frame: Frame) -> None:
    bare = _address().sub("", script)
    found = re.match(r"\s*[0-9$,~+!]*\s*e\b\s*(.*)", script)
    replaced = _substitute().finditer(bare)
    if found:
        frame.run.note(frame, "D8", "sed runs a command", "run")
        if found[1]:
            frame.run.script(found[1], frame)
    for match in replaced:
        flags = match["flags"]
        if "e" in flags.split("w")[0]:
            frame.run.note(frame, "D8", "sed runs what it replaced", "run")
        if "w" in flags:
            write(frame, Word(flags.partition("w")[2].strip()))
    written = re.search(r"(?:^|[;{}\n]|/|\d|\$)\s*[wW]\s+(\S+)", bare)
    if written and not _substitute().search(bare):
        write(frame, Word(written[1]))


def _awk(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(
        argv[1:],
        "-F --field-separator -v --assign -f --file -i --include -l --load -e --source",
        permute=False,
    )
    operands = options.operands
    programs = options.values("-e", "--source")
    if not programs and not options.has("-f", "--file"):
        programs, operands = operands[:1], operands[1:]
    frame.run.note(frame, "R1", "prints changed text", "read")
    for program in programs:
        _awk_program(program.text, frame)
    if options.has("-f", "--file"):
        frame.run.note(frame, "W4", "runs an awk program from a file", "run")
    if options.has("-l", "--load") or any(v.text == "inplace" for v in options.values("-i", "--include")):
        frame.run.note(frame, "W5", "awk loads an extension", "write")
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    for operand in operands:
        tags |= read(frame, operand).tags
    return Stream(None, tags)


def _awk_program(text: str, frame: Frame) -> None:
    fetched = NETWORK in _awk_pipes(text, frame)
    for match in re.finditer(r"\bsystem\s*\(\s*(?:\"((?:[^\"\\]|\\.)*)\"\s*\))?", text):
        frame.run.note(frame, "C7", "awk runs a command", "run")
        code = match[1]
        name = re.match(r"(\w+)\s*\)", text[match.end() :])
        if code is None and name:
            held = re.search(rf'\b{name[1]}\s*=\s*"((?:[^"\\]|\\.)*)"', text)
            code = held[1] if held else None
        if code is None and fetched:
            frame.run.note(frame, "D9", "awk runs what it fetched from the network", "remote_code")
        frame.run.script(_unquoted(code) if code is not None else UNKNOWN, frame)
    if re.search(
        r"\w\s*\|&?\s*getline|\|&?\s*[a-z]\w*\b(?!\s*\|)", re.sub(r'"(?:[^"\\]|\\.)*"|\|\|', "", text)
    ):
        frame.run.note(frame, "C7", "awk runs a command that is built while it runs", "unanalysable")
    for match in re.finditer(r"print[^;}\n]*>>?\s*\"([^\"]+)\"", text):
        write(frame, Word(match[1]))
    if "/inet/" in text:
        frame.run.note(frame, "D9", "awk opens a network connection", "network")
    if re.search(r"@load\b", text):
        frame.run.note(frame, "C7", "awk loads an extension", "run")


def _awk_pipes(text: str, frame: Frame) -> frozenset[str]:
    """Judges the commands awk writes to or reads from; what their output may be."""
    tags = NO_TAGS
    for match in re.finditer(r"\|&?\s*\"((?:[^\"\\]|\\.)*)\"|\"((?:[^\"\\]|\\.)*)\"\s*\|&?\s*getline", text):
        code = match[1] if match[1] is not None else match[2]
        if "/inet/" in code:
            frame.run.note(frame, "D9", "awk opens a network connection", "network")
        else:
            inner = frame.child()
            inner.stdin = Stream(None, frame.stdin.tags if frame.stdin else NO_TAGS)
            tags |= frame.run.script(_unquoted(code), inner).tags
    return tags


def _unquoted(text: str) -> str:
    return text.replace('\\"', '"').replace("\\\\", "\\")


def _sort(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(
        argv[1:],
        "-o --output -k --key -t --field-separator -T --temporary-directory -S --buffer-size "
        "--compress-program --files0-from --parallel",
    )
    frame.run.note(frame, "R1", "sorts text", "read")
    for value in options.values("--compress-program"):
        frame.run.note(frame, "C7", "sort runs a program to compress", "run")
        if value.text.rpartition("/")[2] not in ("gzip", "zstd", "lz4", "bzip2", "xz"):
            frame.run.script(value.text, frame)
    for value in options.values("-o", "--output"):
        write(frame, value)
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    for operand in options.operands:
        tags |= read(frame, operand).tags
    return Stream(None, tags)


def _grep(argv: list[Word], frame: Frame) -> Stream:
    name = argv[0].text.rpartition("/")[2]
    options = parse_options(argv[1:], table("options")["rg" if name in ("rg", "ripgrep") else "grep"])
    frame.run.note(frame, "R1", "searches text", "read")
    for value in options.values("--pre", "--hostname-bin"):
        frame.run.note(frame, "C7", "rg runs a program on every file", "run")
        frame.run.script(value.text, frame)
    patterns = options.has("-e", "--regexp", "-f", "--file", "--files")
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    for operand in options.operands if patterns else options.operands[1:]:
        tags |= read(frame, operand).tags
    if options.has("-l", "--files-with-matches", "-L", "--files"):
        away = any(w.text.startswith(("/", "~", "..")) for w in options.operands)
        tags |= {LISTED, ELSEWHERE} if away else {LISTED}
    return Stream(None, tags)


def _without_bindings(words: list[Word]) -> list[Word]:
    """Without `--arg name text`, which is data."""
    found, at = [], 0
    while at < len(words):
        binds = words[at].text in ("--arg", "--argjson")
        found += [] if binds else [words[at]]
        at += 3 if binds else 1
    return found


def _jq(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(
        _without_bindings(argv[1:]),
        "--indent -L -f --from-file --slurpfile --rawfile -o --output-format -p -I -P",
    )
    in_place = options.has("-i", "--inplace") and argv[0].text.rpartition("/")[2] == "yq"
    frame.run.note(frame, "R1", "reads structured text", "read")
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    for operand in options.operands:
        if in_place and operand is options.operands[-1]:
            write(frame, operand)
        tags |= read(frame, operand).tags
    if any(re.search(r"\benv\b|\$ENV", w.text) for w in options.operands[:1]):
        tags |= {"secret"}
    return Stream(None, tags)


def _digest(argv: list[Word], frame: Frame) -> Stream:
    """What is counted or hashed cannot be read back."""
    frame.run.note(frame, "R1", "counts or compares", "read")
    return Stream(None)


def _pager(argv: list[Word], frame: Frame) -> Stream:
    for word in argv[1:]:
        if word.text.startswith("+!") or word.text.startswith("+|"):
            frame.run.note(frame, "D8", "the pager runs a command at the start", "run")
            frame.run.script(word.text[2:], frame)
    frame.run.note(frame, "R1", "shows text", "read")
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    for word in argv[1:]:
        if not word.text.startswith(("-", "+")):
            tags |= read(frame, word).tags
    if not frame.piped:
        frame.run.is_interactive("a pager waits for keys")
    return Stream(None, tags)


def _man(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(
        argv[1:], "-P --pager -s --sections -S -M --manpath -m -L -C --config-file -r -E -p"
    )
    frame.run.note(frame, "R1", "shows a manual page", "read")
    for given, value in options.given:
        if value is not None and (given in ("-P", "-H") or given.startswith(("--pag", "--html", "--ht"))):
            frame.run.note(frame, "C6", "man runs another program to show the page", "run")
            frame.run.script(value.text, frame)
    for word in argv[1:]:
        if word.text.startswith("-H") and len(word.text) > 2:
            frame.run.script(word.text[2:], frame)
    if not frame.piped and not options.has("-k", "-f", "-w", "--where", "--apropos", "--whatis", "-K"):
        frame.run.is_interactive("a pager waits for keys")
    return Stream()


@functools.cache
def _address() -> re.Pattern[str]:
    return re.compile(r"\\.")


@functools.cache
def _substitute() -> re.Pattern[str]:
    return re.compile(r"s(?P<d>[^\w\s\\;{}])(?:(?!(?P=d)).)*(?P=d)(?:(?!(?P=d)).)*(?P=d)(?P<flags>[^;}\n]*)")


PROGRAMS = {
    "cat head tail gcat ghead nl": _cat,
    "rev": _rev,
    "tac": _tac,
    "tr": _tr,
    "base64 gbase64 base32": _base64,
    "xxd": _xxd,
    "openssl": _openssl,
    "sed gsed": _sed,
    "awk gawk mawk nawk": _awk,
    "sort gsort": _sort,
    "grep egrep fgrep zgrep rg ripgrep ag ack ugrep": _grep,
    "jq yq gojq xq dasel": _jq,
    "wc cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum md5 shasum sum cmp": _digest,
    "less more most": _pager,
    "man": _man,
}
