"""Other machines and containers: ssh, scp, rsync, docker run, kubectl exec."""

from __future__ import annotations

from forge.core.shell.analysis.options import Options, parse_options
from forge.core.shell.analysis.paths import absolute, judge, read, write
from forge.core.shell.analysis.places import UNKNOWN, kind_of, normalise
from forge.core.shell.analysis.spec import judge_by_table
from forge.core.shell.analysis.state import NETWORK, NO_TAGS, SECRET, State, Stream, Word, Written
from forge.core.shell.analysis.tables import commands, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame

_SSH_VALUES = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w"
_RUNNING_OPTIONS = (
    "proxycommand",
    "localcommand",
    "knownhostscommand",
    "permitlocalcommand",
    "pkcs11provider",
    "securitykeyprovider",
)


def _ssh(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], _SSH_VALUES, permute=False)
    _ssh_options(options, frame)
    operands = options.operands
    command = operands[2:] if [w.text for w in operands[1:2]] == ["--"] else operands[1:]
    if options.has("-V", "-Q", "-G"):
        frame.run.note(frame, "R1", "asks ssh about itself", "read")
        return Stream()
    if frame.stdin is not None and SECRET in frame.stdin.tags:
        frame.run.note(frame, "D9", "sends credentials to another machine", "exfiltrate", "network")
    if command:
        frame.run.note(frame, "C6", "runs a command on another machine", "network")
        _elsewhere(" ".join(w.text for w in command), frame)
    elif frame.stdin is not None:
        frame.run.note(frame, "C7", "runs its input on another machine", "network")
        if frame.stdin.text:
            _elsewhere(frame.stdin.text, frame)
    elif not options.has("-N", "-f"):
        frame.run.note(frame, "C5", "opens a session on another machine", "network")
        frame.run.is_interactive("a session on another machine")
    else:
        frame.run.note(frame, "C6", "opens a tunnel", "network")
    return Stream(None, frozenset({NETWORK}))


def _ssh_options(options: Options, frame: Frame) -> None:
    for value in options.values("-o"):
        name, _, program = value.text.replace("=", " ", 1).partition(" ")
        if name.lower() in _RUNNING_OPTIONS and program.strip().lower() not in ("", "none", "no"):
            frame.run.note(frame, "D8", f"the ssh option {name} runs a program", "run")
            if program.lower() != "yes":
                frame.run.script(program, frame)
    for value in options.values("-F"):
        frame.run.note(frame, "C6", "ssh takes its settings from a file", "run")
        read(frame, value)


def _elsewhere(text: str, frame: Frame) -> None:
    """On another machine nothing is a workspace and nothing is known."""
    inner = frame.child()
    inner.state = State("/srv/remote")
    inner.stdin = frame.stdin or Stream()
    frame.run.script(text, inner)


def _scp(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], "-c -F -i -J -l -o -P -S -D -X")
    _ssh_options(options, frame)
    for value in options.values("-S"):
        frame.run.note(frame, "D8", "scp runs another program to connect", "run")
        frame.run.script(value.text, frame)
    tags = NO_TAGS
    remote = [w for w in options.operands if _is_remote(w.text)]
    for word in options.operands[:-1]:
        if word not in remote:
            tags |= read(frame, word).tags
    last = options.operands[-1:]
    if last and last[0] not in remote:
        _fetched(remote, last[0], frame)
    leaves = bool(last) and last[0] in remote
    if frame.stdin is not None and frame.stdin.text and argv[0].text.endswith("sftp"):
        for line in frame.stdin.text.splitlines():
            verb, _, names = line.strip().partition(" ")
            if verb in ("put", "mput", "reput"):
                leaves = True
                tags |= frozenset().union(*(read(frame, Word(name)).tags for name in names.split()))
    if leaves and SECRET in tags:
        frame.run.note(frame, "D9", "sends credentials to another machine", "exfiltrate", "network")
    frame.run.note(frame, "C6", "copies files between machines", "network")
    if argv[0].text.endswith("sftp") and not options.has("-b") and frame.stdin is None:
        frame.run.is_interactive("a session on another machine")
    return Stream()


def _fetched(sources: list[Word], target: Word, frame: Frame) -> None:
    """What was copied from another machine is a download, under its own name or below a directory."""
    content = Stream(None, frozenset({NETWORK}))
    write(frame, target, content)
    for source in sources:
        name = source.text.rpartition(":")[2].rpartition("/")[2]
        if path := absolute(f"{target.text}/{name}", frame.state):
            frame.state.files[path] = Written(None, content.tags)


def _is_remote(text: str) -> bool:
    head = text.split("/", 1)[0]
    return ":" in head or text.startswith(("rsync://", "scp://", "sftp://"))


def _rsync(argv: list[Word], frame: Frame) -> Stream:
    options = parse_options(argv[1:], table("options")["rsync"])
    for value in options.values("-e", "--rsh", "--rsync-path"):
        if value.text.split(" ")[0] in ("ssh", "rsync", "sudo"):
            _ssh_options(parse_options([Word(w) for w in value.text.split(" ")[1:]], _SSH_VALUES), frame)
            continue
        frame.run.note(frame, "D8", "rsync runs another program to connect", "run")
        frame.run.script(value.text, frame)
    operands = options.operands
    remote = any(_is_remote(w.text) for w in operands)
    dry = options.has("-n", "--dry-run")
    tags = frozenset().union(*(read(frame, w).tags for w in operands[:-1] if not _is_remote(w.text)))
    if operands and not dry:
        _rsync_target(operands[-1], options, tags, frame)
    if any(given.startswith("--remove-s") for given, _ in options.given):
        frame.run.note(frame, "D8", "deletes the files it copied", "delete_tree")
    frame.run.note(
        frame, "R1" if dry else "C6" if remote else "W4", "copies files", "network" if remote else "write"
    )
    return Stream()


def _rsync_target(target: Word, options: Options, tags: frozenset[str], frame: Frame) -> None:
    deletes = any(given.startswith("--del") for given, _ in options.given)
    if _is_remote(target.text):
        if SECRET in tags:
            frame.run.note(frame, "D9", "sends credentials to another machine", "exfiltrate", "network")
        if deletes:
            frame.run.note(frame, "D8", "deletes files on another machine", "delete_tree")
        return
    judge(frame, "write", target)
    if deletes:
        judge(frame, "delete_tree", target)


def _docker(argv: list[Word], frame: Frame) -> Stream:
    words = argv[1:]
    while words and words[0].text.startswith("-"):
        valued = words[0].text in ("-H", "--host", "-c", "--context", "--config", "-l", "--log-level")
        words = words[2:] if valued and "=" not in words[0].text else words[1:]
    texts = [w.text for w in words]
    if texts[:1] == ["container"] and texts[1:2] in (["run"], ["create"], ["exec"]):
        words, texts = words[1:], texts[1:]
    if texts[:1] in (["run"], ["create"]):
        return _container(words[1:], frame, exists=False)
    if texts[:1] == ["exec"]:
        return _container(words[1:], frame, exists=True)
    if texts[:1] == ["compose"]:
        return _compose(words[1:], frame)
    judge_by_table(commands()["docker"], words, frame)
    if texts[:1] == ["cp"]:
        for word in words[1:]:
            if ":" not in word.text:
                judge(frame, "write", word) if word is words[-1] else read(frame, word)
    return Stream()


def _compose(words: list[Word], frame: Frame) -> Stream:
    options = parse_options(
        words, "-f --file -p --project-name --profile --env-file --project-directory", permute=False
    )
    rest = options.operands
    if rest and rest[0].text in ("run", "exec"):
        return _container(rest[1:], frame, exists=rest[0].text == "exec", terminal=True)
    judge_by_table(commands()["docker-compose"], rest, frame)
    return Stream()


def _old_compose(argv: list[Word], frame: Frame) -> Stream:
    return _compose(argv[1:], frame)


def _container(words: list[Word], frame: Frame, exists: bool, terminal: bool = False) -> Stream:
    options = parse_options(words, table("options")["docker_run"], permute=False)
    if frame.step is not None:
        frame.step.sub = "exec" if exists else "run"
    outside = _privileges(options, frame)
    if (options.has("-i", "--interactive") and options.has("-t", "--tty")) or (
        terminal and not options.has("-T", "-d") and len(options.operands) < 2
    ):
        frame.run.is_interactive("a terminal in a container")
    frame.run.note(frame, "C5" if exists else "W5", "runs in a container", "run")
    command = options.operands[1:]
    entry = options.values("--entrypoint")
    if entry and command is not None:
        command = [*entry, *command]
    if command:
        _inside(command, outside, frame, {} if exists else _mounts(options, frame), exists)
    return Stream()


def _privileges(options: Options, frame: Frame) -> bool:
    """Whether the container reaches the machine around it."""
    found = False
    shared = [v.text for v in options.values("--pid", "--ipc", "--uts", "--userns", "--network", "--net")]
    strong = any(
        v.text.upper() in ("ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "CAP_SYS_ADMIN")
        for v in options.values("--cap-add")
    )
    if (
        options.has("--privileged")
        or strong
        or any(v.text.startswith("/dev/") for v in options.values("--device"))
    ):
        frame.run.note(frame, "D8", "the container has the rights of the machine", "privilege")
        found = True
    if "host" in shared and any(
        v.text == "host" for v in options.values("--pid", "--ipc", "--uts", "--userns")
    ):
        frame.run.note(frame, "D8", "the container shares processes with the machine", "privilege")
    elif "host" in shared:
        frame.run.note(frame, "C6", "the container uses the network of the machine", "network")
    for value in options.values("-v", "--volume", "--mount"):
        found = _mount(value.text, frame) or found
    return found


def _mount(text: str, frame: Frame) -> bool:
    parts = dict(p.partition("=")[::2] for p in text.split(",")) if "=" in text else {}
    source = parts.get("source") or parts.get("src") or text.split(":")[0]
    if "docker.sock" in source or "containerd.sock" in source:
        frame.run.note(frame, "D9", "the container controls all containers", "privilege")
        return True
    if not source.startswith("/") or UNKNOWN in source:
        return False
    kind = kind_of(normalise(source), frame.run.around)
    if kind in ("root", "home", "above", "system_root", "system_top", "system", "protected", "device"):
        if text.endswith(":ro") and kind not in ("root", "protected"):
            return False
        frame.run.note(frame, "D8", f"the container can change {source} of the machine", "privilege", kind)
        return True
    return False


def _mounts(options: Options, frame: Frame) -> dict[str, str]:
    """Directories of the machine by the name they have in the container."""
    found = {}
    for value in options.values("-v", "--volume", "--mount"):
        parts = dict(p.partition("=")[::2] for p in value.text.split(",")) if "=" in value.text else {}
        pieces = value.text.split(":")
        source = parts.get("source") or parts.get("src") or pieces[0]
        target = (
            parts.get("target")
            or parts.get("destination")
            or parts.get("dst")
            or pieces[-1 if len(pieces) < 3 else 1]
        )
        path = absolute(source, frame.state) if source.startswith(("/", ".")) else None
        if path and target.startswith("/") and pieces[-1] != "ro":
            found[target.rstrip("/") or "/"] = path
    return found


_OURS = frozenset({"workspace", "workspace_root", "protected", "home", "above", "outside", "root"})


def _inside(command: list[Word], outside: bool, frame: Frame, mounts: dict[str, str], exists: bool) -> None:
    inner = frame.child()
    inner.state = State("/app")
    inner.state.links.update(mounts)
    if outside or exists:
        frame.run.execute(command, inner, frame.step.span if frame.step else (0, 0))
        return
    # A fresh container has nothing of the machine in it: only what leaves it matters.
    before, steps, seen = len(frame.run.findings), len(frame.run.steps), frame.run.interactive
    frame.run.execute(command, inner, frame.step.span if frame.step else (0, 0))
    made = frame.run.findings[before:]
    del frame.run.findings[before:], frame.run.steps[steps:]
    if mounts:
        frame.run.findings += [f for f in made if f.effect == "delete_tree" and f.place in _OURS]
    frame.run.interactive = seen


def _kubectl(argv: list[Word], frame: Frame) -> Stream:
    texts = [w.text for w in argv[1:]]
    if "exec" in texts[:6] and "--" in texts:
        at = texts.index("--")
        head = parse_options(argv[1 : at + 1])
        if head.has("-i", "--stdin") and head.has("-t", "--tty"):
            frame.run.is_interactive("a terminal in a container")
        frame.run.note(frame, "C6", "runs a command in the cluster", "network")
        inner = frame.child(State("/app"))
        frame.run.execute(argv[at + 2 :], inner, frame.step.span if frame.step else (0, 0))
        return Stream()
    if texts[:2] in (["get", "secret"], ["get", "secrets"], ["describe", "secret"]) and (
        "-o" in " ".join(texts)
    ):
        frame.run.note(frame, "C6", "reads credentials of the cluster", "secret")
        return Stream(None, frozenset({SECRET}))
    for at, text in enumerate(texts):
        if text in ("-f", "--filename") and at + 1 < len(texts) and texts[at + 1].startswith("http"):
            frame.run.note(frame, "C7", "applies a definition from the network", "network")
    judge_by_table(commands()["kubectl"], argv[1:], frame)
    return Stream()


PROGRAMS = {
    "ssh autossh mosh": _ssh,
    "scp sftp": _scp,
    "rsync": _rsync,
    "docker podman nerdctl": _docker,
    "docker-compose podman-compose": _old_compose,
    "kubectl oc k3s": _kubectl,
}
