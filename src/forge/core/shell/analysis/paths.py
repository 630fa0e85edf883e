"""From the words of a command to judged paths: reading, writing, deleting, changing modes."""

from __future__ import annotations

import functools
import re

from forge.core.shell.analysis.places import UNKNOWN, is_guard, is_secret, kind_of, normalise
from forge.core.shell.analysis.record import CODES, RANK
from forge.core.shell.analysis.state import ELSEWHERE, LISTED, SECRET, Stream, Word, Written
from forge.core.shell.analysis.tables import table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame, State

_WIDE = frozenset({"*", ".*", ".[!.]*", "**", "{*,.*}", ".??*", "*.*"})


def absolute(text: str, state: State) -> str | None:
    """The normalised absolute path of a word, None if it depends on something unknown."""
    if UNKNOWN in text or (not text.startswith("/") and state.cwd is None):
        return None
    path = normalise(text if text.startswith("/") else f"{state.cwd}/{text}")
    return _follow(path, state)


def _follow(path: str, state: State) -> str:
    """Replaces links that were made by the same command."""
    for _ in range(4):
        for link, target in state.links.items():
            if path == link or path.startswith(link + "/"):
                path = normalise(target + path[len(link) :])
                break
        else:
            return path
    return path


def kinds(word: Word, frame: Frame, tree: bool) -> list[str]:
    """The kinds of places a word may name: as written, and where links on disk lead."""
    text = _directory_of_glob(word, tree)
    if UNKNOWN in text:
        return [_unknown_kind(text, frame, tree)]
    path = absolute(text, frame.state)
    if path is None:
        return ["unknown"]
    around = frame.run.around
    found = [kind_of(path, around)]
    if not path.startswith(("/dev/", "/proc/")):
        real = around.real(path)
        if real != path and real != around.real(around.workspace) + path.removeprefix(around.workspace):
            found.append(kind_of(normalise(real), around))
    return found


def _directory_of_glob(word: Word, tree: bool) -> str:
    """`/*` is the root itself; `src/*.o` is a file in src."""
    text = word.text
    if not word.glob:
        return text
    parts = text.split("/")
    first = next((at for at, p in enumerate(parts) if _pattern(p)), len(parts))
    last = parts[first] if first < len(parts) else ""
    directory = "/".join(parts[:first]) or ("/" if text.startswith("/") else ".")
    if last in _WIDE or set(last) <= set("*?.[]!^a-z") or (tree and last.startswith("*") and "." not in last):
        return directory
    depth = directory.strip("/").count("/") + 1 if directory.strip("/.") else 0
    if text.startswith(("/", "~")) and depth <= 1 and first < len(parts) and tree:
        return directory
    return text


def _pattern(part: str) -> bool:
    return any(c in part for c in "*?[") or part in _WIDE


def _unknown_kind(text: str, frame: Frame, tree: bool) -> str:
    """A known beginning may say enough, unless `..` follows the unknown part."""
    prefix, _, rest = text.partition(UNKNOWN)
    if ".." in rest.split("/") or "/" not in prefix:
        return "unknown"
    directory = prefix.rpartition("/")[0] or "/"
    path = absolute(directory, frame.state)
    if path is None:
        return "unknown"
    kind = kind_of(path, frame.run.around)
    return _BELOW_TREE.get(kind, "unknown") if tree else _BELOW.get(kind, "outside")


# What lies somewhere below a place of a known kind.
_BELOW_TREE = {
    "temp_root": "temp",
    "temp": "temp",
    "regenerable": "regenerable",
    "root": "system",
    "system_root": "system",
    "system": "system",
    "system_top": "system",
    "protected": "protected",
}
_BELOW = {**_BELOW_TREE, "workspace": "workspace", "workspace_root": "workspace"}


def judge(frame: Frame, effect: str, word: Word, what: str = "") -> None:
    """Adds the finding of the risk table for an effect on the place a word names."""
    column = table("paths")["risk"][effect]
    tree = effect.endswith("_tree")
    worst = max(kinds(word, frame, tree), key=lambda kind: _weight(column[kind]))
    shown = display(word.text)
    reason = f"{what or _VERBS[effect]} {_PLACES.get(worst, worst)}: {shown}"
    # Whoever may change the mode of the guard's files may change the files.
    code = "D8" if effect == "chmod" and worst == "protected" and is_guard(shown) else column[worst]
    frame.run.note(frame, code, reason, "persist" if worst == "protected" else effect, worst)


def display(text: str) -> str:
    """A word as people may read it."""
    return text.replace(UNKNOWN, "…")[:120]


def _weight(code: str) -> tuple[int, int]:
    return RANK[CODES[code[0]]], int(code[1:])


_VERBS = {
    "delete_tree": "deletes everything in",
    "delete": "deletes from",
    "write": "writes to",
    "chmod_tree": "changes modes or owners in all of",
    "chmod": "changes the mode or owner in",
}
_PLACES = {
    "root": "the root of the file system",
    "home": "a home directory",
    "above": "a directory above the workspace",
    "system_root": "a system tree",
    "system_top": "a system tree",
    "system": "a system tree",
    "workspace_root": "the whole workspace",
    "workspace": "the workspace",
    "protected": "a protected place",
    "regenerable": "generated files",
    "temp": "the temporary directory",
    "temp_root": "the temporary directory",
    "unknown": "a place that is not known before it runs",
    "device": "a raw device",
    "network": "a network connection",
    "forbidden_file": "a file the system depends on",
    "harmless": "a device",
    "outside": "a place outside the workspace",
}


def read(frame: Frame, word: Word) -> Stream:
    """Judges reading a file and gives what is known about its content."""
    path = absolute(word.text, frame.state)
    stream = frame.run.stream_of(word.text)
    if stream is not None:
        return stream
    written = frame.state.files.get(path or "")
    secret = secret_path(path or word.text)
    if secret:
        frame.run.note(frame, "C6", f"reads credentials: {display(word.text)}", "secret", "secret")
    tags = frozenset({SECRET}) if secret else frozenset()
    if written is not None:
        return Stream(written.text, written.tags | tags)
    return Stream(None, tags)


def secret_path(text: str) -> bool:
    """Whether a word names credentials; cheap for words that cannot."""
    if " " in text and not text.startswith(("/", "~", "./", "../")):
        return False  # a sentence, not a name
    return bool(_secret_hint().search(text)) and is_secret(text)


def write(frame: Frame, word: Word, content: Stream | None = None, append: bool = False) -> None:
    """Judges writing a file and remembers its content for what runs later."""
    if word.text == UNKNOWN and LISTED in word.tags and ELSEWHERE not in word.tags:
        word = Word(f"./{UNKNOWN}")
    judge(frame, "write", word)
    path = absolute(word.text, frame.state)
    if path is None:
        return
    content = content or Stream()
    old = frame.state.files.get(path)
    if append and old is not None:
        text = old.text + content.text if old.text is not None and content.text is not None else None
        frame.state.files[path] = Written(text, old.tags | content.tags)
    else:
        frame.state.files[path] = Written(content.text if not append else None, content.tags)


@functools.cache
def _secret_hint() -> re.Pattern[str]:
    return re.compile(
        r"(?i)\.env|\.?env$|\.ssh|\.aws|\.azure|gnupg|kube|netrc|npmrc|pypirc|docker|credential|pgpass|"
        r"my\.cnf|\.config/|cargo|"
        r"boto|s3cfg|auth\.|secret|service-account|keychain|keyring|\.pem|\.key|\.p12|\.pfx|keystore|"
        r"\.jks|kdbx|ppk|"
        r"id_[rde]|shadow|sudoers|environ|vault|terraform|tfvars|password|mozilla|history|claude|codex|"
        r"htpasswd|"
        r"wp-config|master|oci|gem/|m2/|gradle|composer|ngrok|fly|wrangler|snowsql|databricks|"
        r"subversion|cookies|"
        r"Login Data|ovpn|wg0|wireguard|ssl/private|ssh_host"
    )
