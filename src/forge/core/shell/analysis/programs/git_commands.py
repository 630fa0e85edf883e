"""The sub-commands of git whose meaning depends on more than one option."""

from __future__ import annotations

from forge.core.shell.analysis.options import parse_options
from forge.core.shell.analysis.paths import read
from forge.core.shell.analysis.state import Word
from forge.core.shell.analysis.tables import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame

_EVERYTHING = (".", "./", ":/", "*", ":", "./*", ":/*", "..", ":(top)", "-A", "--all")
LOSS = "git_loss"


def _all_named(words: list[Word]) -> bool:
    return any(w.text in _EVERYTHING or w.text.startswith(":(top") for w in words)


def _push(words: list[Word], frame: Frame) -> None:
    options = parse_options(words, "-o --push-option --repo --receive-pack --exec --recurse-submodules")
    run = frame.run
    if options.has("-n", "--dry-run"):
        run.note(frame, "R2", "shows what a push would do", "read")
        return
    lease = any(g.startswith("--force-w") for g, _ in options.given)
    forced = options.has("-f") or any(
        g.startswith("--fo") and "--force".startswith(g) for g, _ in options.given
    )
    if forced:
        run.note(frame, "D8", "overwrites the history of a remote", LOSS)
    if options.has("--mirror", "--delete", "-d", "--prune"):
        run.note(frame, "D8", "deletes branches of a remote", LOSS)
    if any(w.text.startswith(("+", ":")) for w in options.operands):
        run.note(frame, "D8", "overwrites or deletes a branch of a remote", LOSS)
    run.note(frame, "C7" if lease else "C6", "publishes commits", "push")


def _reset(words: list[Word], frame: Frame) -> None:
    options = parse_options(words)
    if options.has("--hard", "--merge", "--keep"):
        frame.run.note(frame, "D8", "throws away changes that are not committed", LOSS)
        return
    moves = any(_revision(w.text) for w in options.operands)
    frame.run.note(
        frame,
        "C5" if moves else "W4",
        "moves the branch back" if moves else "takes files out of the index",
        "git",
    )


def _revision(text: str) -> bool:
    return text != "HEAD" and (
        "~" in text or "^" in text or text.startswith(("origin/", "upstream/")) or _hash(text)
    )


def _hash(text: str) -> bool:
    return len(text) >= 7 and set(text) <= set("0123456789abcdef")


def _clean(words: list[Word], frame: Frame) -> None:
    options = parse_options(words, "-e --exclude")
    if options.has("-n", "--dry-run"):
        frame.run.note(frame, "R2", "shows what would be deleted", "read")
    elif options.has("-i", "--interactive"):
        frame.run.is_interactive("asks which files to delete")
    else:
        code = "D8" if options.has("-f", "--force") else "C6"
        frame.run.note(frame, code, "deletes files that git does not know", LOSS)


def _checkout(words: list[Word], frame: Frame) -> None:
    texts = [w.text for w in words]
    options = parse_options(words, "-b -B --orphan --conflict --pathspec-from-file")
    paths = words[texts.index("--") + 1 :] if "--" in texts else []
    run = frame.run
    if options.has("-f", "--force"):
        run.note(frame, "D8", "throws away changes that are not committed", LOSS)
    if options.has("-p", "--patch"):
        run.is_interactive("asks for each change")
    if _all_named(paths) or _all_named(options.operands):
        run.note(frame, "D8", "throws away all changes that are not committed", LOSS)
    elif options.has("-b", "--orphan", "--detach", "-t", "--track"):
        run.note(frame, "W3", "makes or enters a branch", "git")
    elif paths or len(options.operands) > 1 or options.has("--ours", "--theirs") or _file(options.operands):
        run.note(frame, "C6", "overwrites files with another version", LOSS)
    else:
        run.note(frame, "C6" if options.has("-B") else "W3", "changes the branch", "git")


def _file(operands: list[Word]) -> bool:
    name = operands[0].text.rpartition("/")[2] if operands else ""
    stem, dot, ending = name.rpartition(".")
    return bool(stem and dot) and ending.isalpha() and len(ending) <= 4


def _restore(words: list[Word], frame: Frame) -> None:
    options = parse_options(words, "-s --source --conflict --pathspec-from-file")
    staged = options.has("-S", "--staged") and not options.has("-W", "--worktree")
    if options.has("-p", "--patch"):
        frame.run.is_interactive("asks for each change")
    if staged:
        frame.run.note(frame, "W3", "takes files out of the index", "git")
    elif _all_named(options.operands) or any(w.glob for w in options.operands):
        frame.run.note(frame, "D8", "throws away all changes that are not committed", LOSS)
    else:
        frame.run.note(frame, "C6", "overwrites files with another version", LOSS)


def _switch(words: list[Word], frame: Frame) -> None:
    options = parse_options(words, "-c -C --create --force-create --orphan --conflict")
    if options.has("--discard-changes", "-f", "--force"):
        frame.run.note(frame, "D8", "throws away changes that are not committed", LOSS)
    code = "C6" if options.has("-C", "--force-create") else "W3"
    frame.run.note(frame, code, "changes the branch", "git")


def _branch(words: list[Word], frame: Frame) -> None:
    options = parse_options(
        words,
        "-u --set-upstream-to --contains --no-contains --merged --no-merged --points-at --sort --format "
        "--color --column --abbrev",
    )
    deletes = options.has("-d", "--delete")
    run = frame.run
    if options.has("-D") or (deletes and options.has("-f", "--force")):
        run.note(frame, "D8", "deletes a branch even if it is not merged", LOSS)
    elif deletes:
        run.note(frame, "C5", "deletes a merged branch", "git")
    elif options.has("-f", "--force", "-M", "-C"):
        run.note(frame, "C7", "moves or overwrites a branch", LOSS)
    elif options.has(
        "-m", "-c", "--move", "--copy", "-u", "--set-upstream-to", "--unset-upstream", "--edit-description"
    ):
        run.note(frame, "W4", "renames or connects a branch", "git")
    else:
        listing = not options.operands or options.has(
            "-a", "-r", "-l", "--list", "-v", "-vv", "--all", "--remotes", "--contains", "--merged"
        )
        run.note(
            frame,
            "R1" if listing else "W3",
            "lists branches" if listing else "makes a branch",
            "read" if listing else "git",
        )


def _tag(words: list[Word], frame: Frame) -> None:
    options = parse_options(
        words, "-m --message -F --file -u --local-user -n --sort --format --contains --points-at --merged"
    )
    if options.has("-d", "--delete", "-f", "--force"):
        frame.run.note(frame, "C6", "deletes or moves a tag", "git")
    elif not options.operands or options.has("-l", "--list", "-v", "--verify", "-n", "--contains"):
        frame.run.note(frame, "R1", "lists tags", "read")
    else:
        signed = options.has("-a", "--annotate", "-s", "--sign") and not options.has(
            "-m", "--message", "-F", "--file"
        )
        frame.run.note(frame, "W3", "makes a tag", "git")
        if signed:
            frame.run.is_interactive("opens an editor for the message")


def _commit(words: list[Word], frame: Frame) -> None:
    options = parse_options(words, table("options")["git_commit"])
    amend = options.has("--amend")
    for value in options.values("-F", "--file"):
        if value.text != "-":
            read(frame, value)
    written = options.has(
        "-m", "--message", "-F", "--file", "-C", "--reuse-message", "--no-edit", "--fixup", "--dry-run"
    )
    if options.has("-p", "--patch", "--interactive") or not written:
        frame.run.is_interactive("opens an editor for the message")
    frame.run.note(frame, "C5" if amend else "W4", "changes the last commit" if amend else "commits", "git")


def _rebase(words: list[Word], frame: Frame) -> None:
    options = parse_options(words, "-x --exec --onto -s --strategy -X --strategy-option")
    for value in options.values("-x", "--exec"):
        frame.run.script(value.text, frame)
    if options.has("-i", "--interactive", "--edit-todo"):
        frame.run.is_interactive("opens an editor for the list of commits")
    steps = options.has("--abort", "--skip", "--quit")
    code = "W5" if options.has("--continue") else "C5" if steps else "C6"
    frame.run.note(frame, code, "rewrites commits", "git")


def _stash(words: list[Word], frame: Frame) -> None:
    sub = words[0].text if words else "push"
    if sub in ("drop", "clear"):
        frame.run.note(frame, "D8", "deletes put-away changes", LOSS)
    elif sub in ("list", "show"):
        frame.run.note(frame, "R1", "shows put-away changes", "read")
    else:
        frame.run.note(frame, "W4", "puts changes away or takes them back", "git")
        if any(w.text in ("-p", "--patch") for w in words):
            frame.run.is_interactive("asks for each change")


def _config(words: list[Word], frame: Frame) -> None:
    options = parse_options(words, "-f --file --blob --type --default --get-color --comment")
    operands = [w for w in options.operands if w.text not in ("set", "get", "list", "unset", "edit", "--")]
    first = options.operands[0].text if options.operands else ""
    reading = options.has(
        "--get",
        "--get-all",
        "--get-regexp",
        "-l",
        "--list",
        "--get-urlmatch",
        "--show-origin",
        "--show-scope",
    )
    removing = (
        options.has("--unset", "--unset-all", "--remove-section", "--rename-section") or first == "unset"
    )
    if options.has("-e", "--edit") or first == "edit":
        frame.run.is_interactive("opens an editor")
    if reading or first in ("get", "list") or (len(operands) < 2 and not removing):
        frame.run.note(frame, "R1", "reads settings of git", "read")
        return
    if not removing:
        _stored(operands[0].text, operands[1].text, frame)
    everywhere = options.has("--global", "--system")
    frame.run.note(frame, "C6" if everywhere else "C5", "changes settings of git", "git")


def _stored(key: str, value: str, frame: Frame) -> None:
    lowered = key.lower()
    if lowered.startswith("alias.") and not value.startswith("!"):
        return
    running = any(lowered.startswith(p) for p in table("programs")["git_running_keys"])
    if not running or value in ("cat", "vim", "nano", "true", "code --wait"):
        return
    strong = value.startswith("!") or " " in value or "/" in value or "hook" in lowered
    frame.run.note(frame, "D8" if strong else "C6", f"git will run what {key} names", "persist")
    if "hook" not in lowered:
        frame.run.script(value.lstrip("!"), frame)


def _clone(words: list[Word], frame: Frame) -> None:
    options = parse_options(
        words,
        "-b --branch --depth -c --config --template -o --origin --reference -j --jobs --filter -u "
        "--upload-pack",
    )
    if options.values("-c", "--config", "--template", "-u"):
        frame.run.note(frame, "C7", "clones with settings that may run programs", "run")
        for value in options.values("-c", "--config"):
            key, _, setting = value.text.partition("=")
            _stored(key, setting, frame)
    frame.run.note(frame, "C5", "fetches a foreign repository", "network")


def _submodule(words: list[Word], frame: Frame) -> None:
    texts = [w.text for w in words]
    if "foreach" in texts:
        rest = [t for t in texts[texts.index("foreach") + 1 :] if t not in ("--recursive", "-q", "--quiet")]
        frame.run.note(frame, "W4", "runs a command in every submodule", "run")
        frame.run.script(" ".join(rest), frame)
    elif "deinit" in texts:
        frame.run.note(frame, "D8" if {"-f", "--force"} & set(texts) else "C6", "removes a submodule", LOSS)
    elif not texts or texts[0] in ("status", "summary"):
        frame.run.note(frame, "R1", "shows submodules", "read")
    else:
        frame.run.note(frame, "C6" if "add" in texts else "W4", "changes submodules", "git")


def _bisect(words: list[Word], frame: Frame) -> None:
    if words and words[0].text == "run":
        frame.run.note(frame, "W4", "runs a command for each commit", "run")
        frame.run.execute(words[1:], frame, frame.step.span if frame.step else (0, 0))
    else:
        looks = bool(words) and words[0].text in ("log", "view", "visualize")
        frame.run.note(frame, "R1" if looks else "W4", "searches a commit", "git")


def _rm(words: list[Word], frame: Frame) -> None:
    options = parse_options(words, "--pathspec-from-file")
    if options.has("-n", "--dry-run"):
        frame.run.note(frame, "R2", "shows what would be removed", "read")
    elif options.has("--cached"):
        frame.run.note(frame, "W5", "takes files out of the index", "git")
    elif options.has("-r") and (_all_named(options.operands) or options.has("-f", "--force")):
        frame.run.note(frame, "D8", "deletes files of the repository", LOSS)
    else:
        frame.run.note(frame, "C6", "deletes files of the repository", "delete")


def _filter(words: list[Word], frame: Frame) -> None:
    options = parse_options(
        words,
        "--tree-filter --env-filter --index-filter --msg-filter --commit-filter --tag-name-filter "
        "--parent-filter --setup -d",
    )
    frame.run.note(frame, "D8", "rewrites the whole history", LOSS)
    for given, value in options.given:
        if value is not None and given.endswith("-filter"):
            frame.run.script(value.text, frame)


def _difftool(words: list[Word], frame: Frame) -> None:
    options = parse_options(words, "-x --extcmd -t --tool")
    for value in options.values("-x", "--extcmd"):
        frame.run.note(frame, "D8", "git runs a program on the files", "run")
        frame.run.script(value.text, frame)
    frame.run.note(frame, "R2", "compares with a tool", "read")
    if not options.has("-x", "--extcmd"):
        frame.run.is_interactive("opens a tool to compare")


COMMANDS = {
    "push": _push,
    "reset": _reset,
    "clean": _clean,
    "checkout": _checkout,
    "restore": _restore,
    "switch": _switch,
    "branch": _branch,
    "tag": _tag,
    "commit": _commit,
    "rebase": _rebase,
    "stash": _stash,
    "config": _config,
    "clone": _clone,
    "submodule": _submodule,
    "bisect": _bisect,
    "rm": _rm,
    "filter-branch": _filter,
    "filter-repo": _filter,
    "difftool": _difftool,
}
