"""curl, wget and raw connections: what is fetched, what is sent, where it goes."""

from __future__ import annotations

import functools
import re

from forge.core.shell.analysis.options import Options, parse_options
from forge.core.shell.analysis.paths import read, secret_path, write
from forge.core.shell.analysis.places import UNKNOWN
from forge.core.shell.analysis.state import CREDENTIAL, NETWORK, NO_TAGS, SECRET, SHELL, Stream, Word
from forge.core.shell.analysis.tables import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame

_METADATA = (
    "169.254.169.254",
    "metadata.google.internal",
    "100.100.100.200",
    "fd00:ec2::254",
    "169.254.170.2",
)


def _curl(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], table("options")["curl"])
    addresses = options.operands + options.values("--url")
    local = _addresses(addresses, frame)
    sent = options.values(*table("options")["curl_sends"].split())
    _upload(sent, frame)
    _method(options, bool(sent), local, frame)
    for value in options.values("-K", "--config"):
        frame.run.note(frame, "C6", "curl takes options from a file", "unanalysable")
        read(frame, value)
    _headers(options, frame)
    fetched = Stream(None, frozenset({NETWORK}))
    names = options.values("-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar")
    if options.has("-O", "--remote-name"):
        names += [_last_part(a) for a in addresses]
    for name in names:
        if name.text != "-":
            write(frame, name, fetched)
    return fetched


def _headers(options: Options, frame: Frame) -> None:
    """A key in the header that is made for it belongs there; anything else carries credentials away."""
    for value in options.values("-u", "--user", "-b", "--cookie", "-H", "--header", "-A", "--user-agent"):
        meant = re.match(r"(?i)(?:proxy-)?authorization:|[\w-]*token:|x-api-key:", value.text)
        if SECRET in value.tags and meant:
            frame.run.note(frame, "C7", "sends credentials", "exfiltrate")
        elif SECRET in value.tags:
            frame.run.note(frame, "D9", "sends credentials", "exfiltrate")


def _last_part(address: Word) -> Word:
    return Word(address.text.split("?")[0].rstrip("/").rpartition("/")[2] or UNKNOWN)


def _addresses(words: list[Word], frame: Frame) -> bool:
    """Judges the addresses of a request; whether all of them are this machine."""
    local = bool(words)
    for word in words:
        here = bool(_loopback().match(word.text))
        local = local and here
        if any(m in word.text for m in _METADATA):
            frame.run.note(frame, "D8", "asks the cloud for credentials of the machine", "secret")
        if SECRET in word.tags and not here:
            frame.run.note(frame, "D9", "sends credentials in an address", "exfiltrate")
        if CREDENTIAL in word.tags and not here:
            frame.run.note(frame, "C6", "sends a key of the environment in an address", "exfiltrate")
        if word.text.startswith("file:"):
            read(frame, Word(word.text.removeprefix("file://")))
    return local


def _upload(sent: list[Word], frame: Frame) -> None:
    tags = NO_TAGS
    for value in sent:
        tags |= value.tags
        for name in _files(value.text):
            if name == "-":
                tags |= frame.stdin.tags if frame.stdin else NO_TAGS
            else:
                tags |= read(frame, Word(name)).tags
    if sent and SECRET in tags:
        frame.run.note(frame, "D9", "sends credentials to another machine", "exfiltrate", "network")


def _files(text: str) -> list[str]:
    """Names of files in `@name`, `field=@name`, `field=<name`, or a plain upload."""
    found = re.findall(r"(?:^|=)[@<]([^;,]+)", text)
    return found or ([text] if secret_path(text) or text == "-" or re.fullmatch(r"[\w./~-]+", text) else [])


def _method(options: Options, sending: bool, local: bool, frame: Frame) -> None:
    verbs = [v.text.upper() for v in options.values("-X", "--request", "--method")]
    verb = verbs[-1] if verbs else "POST" if sending and not options.has("-G", "--get") else "GET"
    if verb in ("GET", "HEAD", "OPTIONS"):
        frame.run.note(
            frame,
            "R2" if local else "W4",
            "reads from this machine" if local else "reads from the network",
            "network",
        )
    elif local and verb != "DELETE":
        frame.run.note(frame, "W5", "changes something in a service of this machine", "network")
    else:
        frame.run.note(frame, "C6", f"{verb} changes something on a server", "network")


def _wget(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], table("options")["wget"])
    local = _addresses(options.operands, frame)
    _headers(options, frame)
    sent = options.values("--post-data", "--post-file", "--body-data", "--body-file")
    for value in options.values("--post-file", "--body-file"):
        if SECRET in read(frame, value).tags:
            frame.run.note(frame, "D9", "sends credentials to another machine", "exfiltrate", "network")
    _upload(sent, frame)
    _method(options, bool(sent), local, frame)
    for value in options.values("--use-askpass"):
        frame.run.note(frame, "C7", "wget runs a program", "run")
        frame.run.script(value.text, frame)
    if any("use_askpass" in v.text or "proxy" in v.text for v in options.values("-e", "--execute")):
        frame.run.note(frame, "C7", "wget takes a setting that runs a program", "run")
    fetched = Stream(None, frozenset({NETWORK}))
    names = options.values("-O", "--output-document")
    if not names and not options.has("--spider"):
        prefix = next((v.text + "/" for v in options.values("-P", "--directory-prefix")), "")
        names = [Word(prefix + _last_part(a).text) for a in options.operands]
    for name in names:
        if name.text != "-":
            write(frame, name, fetched)
    return fetched


def _raw(argv: list[Word], frame: Frame) -> Stream:
    """nc, socat, telnet: connections that can carry a shell or files."""
    text = " ".join(w.text for w in argv[1:])
    name = argv[0].text.rpartition("/")[2]
    runs = name == "socat" and bool(re.search(r"(?i)\b(exec|system):", text))
    if name != "socat":
        given = parse_options(argv[1:], "-e -c -p -w -s -i -q -x --exec --sh-exec --lua-exec")
        runs = given.has("-e", "--exec", "--sh-exec", "--lua-exec") or ("-c" in text.split() and "sh" in text)
    if runs:
        frame.run.note(frame, "D9", "gives a program to whoever connects", "remote_code")
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    if SHELL in tags:
        frame.run.note(frame, "D9", "gives a shell to another machine", "remote_code")
    if SECRET in tags:
        frame.run.note(frame, "D9", "sends credentials to another machine", "exfiltrate", "network")
    looks = name in ("nc", "ncat", "netcat") and any(
        "z" in w.text for w in argv[1:] if w.text.startswith("-")
    )
    frame.run.note(frame, "R2" if looks else "C6", "opens a raw connection", "network")
    if frame.stdin is None and not looks and name != "socat":
        frame.run.is_interactive("a connection that waits for input")
    return Stream(None, frozenset({NETWORK}))


def _lookup(argv: list[Word], frame: Frame) -> Stream:
    """dig, host, ping: a name can carry data out."""
    tags = frozenset().union(*(w.tags for w in argv))
    if SECRET in tags or CREDENTIAL in tags:
        frame.run.note(frame, "D9", "sends credentials inside a name", "exfiltrate", "network")
    name = argv[0].text.rpartition("/")[2]
    endless = name.startswith("ping") and not any(
        w.text.startswith(("-c", "-w", "--count")) for w in argv[1:]
    )
    if endless or name == "mtr":
        frame.run.is_interactive("runs until it is stopped")
    frame.run.note(frame, "R2", "asks the network for a name or a route", "network")
    return Stream(None)


def _mail(argv: list[Word], frame: Frame) -> Stream:
    tags = frame.stdin.tags if frame.stdin else NO_TAGS
    for word in argv[1:]:
        tags |= read(frame, word).tags
    frame.run.note(
        frame,
        "D9" if SECRET in tags else "C7",
        "sends a message to somebody",
        "exfiltrate" if SECRET in tags else "network",
    )
    return Stream()


def _http(argv: list[Word], frame: Frame) -> Stream:
    """httpie: METHOD URL item…"""
    words = [w for w in argv[1:] if not w.text.startswith("-")]
    verbs = [w.text for w in words if w.text in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")]
    rest = [w for w in words if w.text not in verbs]
    local = _addresses(rest[:1], frame)
    items = rest[1:]
    _upload([w for w in items if "@" in w.text], frame)
    verb = verbs[0] if verbs else "POST" if any("=" in w.text for w in items) else "GET"
    reading = verb in ("GET", "HEAD", "OPTIONS")
    code = ("R2" if local else "W4") if reading else ("W5" if local and verb != "DELETE" else "C6")
    frame.run.note(frame, code, f"{verb} request", "network")
    return Stream(None, frozenset({NETWORK}))


@functools.cache
def _loopback() -> re.Pattern[str]:
    return re.compile(
        r"(?i)(?:https?://|wss?://)?(?:localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|0\.0\.0\.0|"
        r"[\w-]+\.localhost|host\.docker\.internal)(?=[:/?#]|$)|:\d+"
    )


PROGRAMS = {
    "curl": _curl,
    "wget wget2": _wget,
    "aria2c axel": _wget,
    "nc ncat netcat socat telnet ftp lftp tftp": _raw,
    "dig host nslookup ping ping6 traceroute mtr whois drill": _lookup,
    "mail mailx mutt sendmail msmtp swaks": _mail,
    "http https xh httpie": _http,
}
