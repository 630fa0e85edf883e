"""Inline code of Python, JavaScript, Perl, Ruby and PHP: looks for calls; text in quotes is data."""

from __future__ import annotations

import functools
import re

from forge.core.shell.analysis.paths import judge, secret_path, write
from forge.core.shell.analysis.places import UNKNOWN, is_guard
from forge.core.shell.analysis.programs.renaming import plain_names
from forge.core.shell.analysis.state import Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from forge.core.shell.analysis.state import Frame

_OPEN, _CLOSE = "\ue020", "\ue021"
_LITERAL = f"{_OPEN}(\\d+){_CLOSE}"
_SHELL_LANGUAGES = ("perl", "ruby", "php")
_EXEC = (
    r"(?:os\.execute|\.(?:system|popen\w*|exec[lv]\w*|spawn[lv]\w*|posix_spawn\w*)|subprocess\.\w+|"
    r"(?<![\w.])(?:system|popen|shell_exec|passthru|proc_open|pcntl_exec|execSync|"
    r"spawnSync|execFileSync|execFile|spawn|fork_exec|execlp|execvp|getoutput|check_output|check_call|"
    r"Popen|execa)|"
    r"(?:child_process|cp|\)|Kernel|IO|Open3|Deno|Bun|pty|commands)\.(?:exec|execSync|spawn|spawnSync|"
    r"execFile|execFileSync|fork|system|popen\w*|capture\w*|run|Command|getoutput))"
)
_TREE = (
    r"(?:shutil\.rmtree|(?<![\w.])rmtree|remove_tree|fs\.rm|\brmSync|rimraf(?:\.sync)?|\)\.(?:sync|rimraf\w*)|rm_rf|rm_r|"
    r"remove_dir|remove_entry\w*|"
    r"rmdirSync|removeSync|emptyDirSync|\.removeall|Deno\.remove(?:Sync)?|promises\.rm)"
)
_FILE = (
    r"(?:os\.remove|os\.unlink|os\.rmdir|os\.removedirs|unlinkSync|fs\.unlink|(?<![\w.])unlink|"
    r"File\.delete|FileUtils\.rm|os\.truncate|(?<![\w.])rm(?=\())"
)
_NETWORK = (
    r"(?i:urllib|requests|urlopen|TCPSocket|fsockopen)|http\.client|httpx|aiohttp|fetch\(|net\.connect|socket|Net::HTTP|LWP|"
    r"file_get_contents|axios|https?\.(?:get|request)|URI\.open"
)
_DECODE = (
    r"b64decode|b85decode|fromhex|unhexlify|decompress|atob|Buffer\.from|codecs\.decode|marshal\.loads|"
    r"pickle\.loads|unpack\(|base64_decode|rot13"
)


def judge_code(text: str, language: str, frame: Frame) -> None:
    """Adds the findings for a program text."""
    frame.run.check_time()
    code, literals = _skeleton(text, language)
    code = plain_names(code, literals, _LITERAL)
    names = {m[1]: int(m[2]) for m in re.finditer(rf"(?<![\w.])\$?(\w+)\s*:?=\s*{_LITERAL}", code)}
    look = _Look(code, literals, names, frame)
    frame.run.note(frame, "W3", f"runs a few lines of {language}", "run")
    for check in (_commands, _deletes, _writes, _evaluates, _connections, _processes, _guards):
        frame.run.check_time()
        check(look)
    for match in re.finditer(rf"do shell script\s*{_LITERAL}", code):
        frame.run.note(frame, "C6", "the code runs a command", "run")
        frame.run.script(literals[int(match[1])], frame)
    for match in re.finditer(rf"\$\s*{_LITERAL}" if language == "node" else r"(?!)", code):
        frame.run.note(frame, "C6", "the code runs a command", "run")
        frame.run.script(literals[int(match[1])], frame)
    for match in re.finditer(
        r"(?:^|[;\n\[{])\s*(?:exec|spawn|system)\s+([^\n;\]]+)" if language == "tcl" else r"(?!)", text
    ):
        frame.run.note(frame, "C6", "the code runs a command", "run")
        frame.run.script(match[1], frame)
    if language in _SHELL_LANGUAGES:
        _shell_calls(look)


def _shell_calls(look: _Look) -> None:
    """Backticks and the words of Perl, Ruby and PHP that run a command, as one text or as a list."""
    frame, several = look.frame, rf"{_LITERAL}(?:\s*,\s*{_LITERAL})*"
    pattern = (
        rf"`{_LITERAL}`|(?:qx|%x|exec|system)\s*\(?\s*(?P<words>{several})|"
        rf"call_user_func(?:_array)?\s*\(\s*{_LITERAL}\s*,[\s\[]*(?P<called>{_LITERAL})"
    )
    for match in re.finditer(pattern, look.code):
        found = [
            look.literals[int(n)] for n in re.findall(_LITERAL, match["words"] or match["called"] or match[0])
        ]
        frame.run.note(frame, "C6", "the code runs a command", "run")
        if len(found) == 1:
            frame.run.script(found[0], frame)
        else:
            frame.run.execute([Word(w) for w in found], frame, frame.step.span if frame.step else (0, 0))


class _Look:
    __slots__ = ("code", "frame", "literals", "names")

    def __init__(self, code: str, literals: list[str], names: dict[str, int], frame: Frame) -> None:
        self.code = code
        self.literals = literals
        self.names = names
        self.frame = frame

    @property
    def network(self) -> bool:
        """Whether the code talks to other machines."""
        named = any(text.startswith(("http://", "https://", "ftp://")) for text in self.literals)
        return named or bool(re.search(_NETWORK, self.code))

    def argument(self, at: int) -> str | None:
        """The first argument of a call if it is a literal or a variable that holds one."""
        match = _argument().match(self.code, at)
        if match and match["literal"]:
            text = self.literals[int(match["literal"])]
            return text + UNKNOWN if match["more"] else text
        if match and match["name"] in self.names and not match["more"]:
            return self.literals[self.names[match["name"]]]
        return None

    def words(self, at: int) -> list[str] | None:
        """The literals of a list given as the first argument."""
        match = re.compile(r"\s*\(\s*(?:\w+\s*=\s*)?[\[(]([^\])]*)[\])]").match(self.code, at)
        if not match or _OPEN not in match[1]:
            match = re.compile(rf"\s*\(\s*({_LITERAL}\s*,\s*\[[^\]]*\])").match(self.code, at)
        if not match or _OPEN not in match[1]:
            match = re.compile(rf"\s*\(?\s*({_LITERAL}(?:\s*,\s*{_LITERAL})+)\s*\)?").match(self.code, at)
        if not match or _OPEN not in match[1]:
            return None
        found = []
        for part in match[1].replace("[", "").replace("]", "").split(","):
            literal = re.search(_LITERAL, part)
            found.append(self.literals[int(literal[1])] if literal else UNKNOWN)
        return found


def _commands(look: _Look) -> None:
    run, frame = look.frame.run, look.frame
    pattern = _EXEC + r"|(?<![\w.])(?:run|call)" if "subprocess" in look.code else _EXEC
    if "child_process" in look.literals:
        pattern += r"|(?<![\w.])(?:exec|fork)"
    for match in re.finditer(f"(?:{pattern})" + r"(?=\s*[(\s])", look.code):
        words = look.words(match.end())
        text = look.argument(match.end())
        if words is None and text is None and not re.match(r"\s*\(", look.code[match.end() :]):
            continue
        run.note(
            frame,
            "C5" if words or text else "C7",
            "the code runs a command",
            "run" if words or text else "unanalysable",
        )
        if words:
            if len(words) > 2 and words[0].endswith("sh") and words[1].startswith("-") and "c" in words[1]:
                run.script(words[2], frame)
            else:
                run.execute([Word(w) for w in words], frame, frame.step.span if frame.step else (0, 0))
        elif text is not None:
            run.script(text, frame)


def _deletes(look: _Look) -> None:
    frame = look.frame
    for pattern, effect in ((_TREE, "delete_tree"), (_FILE, "delete")):
        for match in re.finditer(pattern + r"(?=\s*[(\s])", look.code):
            path = look.argument(match.end())
            if re.match(r"[^)\n;]*\brecursive\s*[=:]\s*(?i:true|t\b|1)", look.code[match.end() :]):
                effect = "delete_tree"
            if path is not None or re.match(r"\s*\(", look.code[match.end() :]):
                judge(frame, effect, Word(_home(path, frame) if path is not None else UNKNOWN))
    for match in re.finditer(rf"unlink\s*\(?\s*(?:glob\s*\(?\s*{_LITERAL}|<([^>\n]+)>)", look.code):
        found = look.literals[int(match[1])] if match[1] else match[2]
        judge(frame, "delete_tree", Word(_home(found, frame), glob=True))
    if {"unlink", "rmdir"} & set(look.literals) and re.search(r"array_(?:map|walk)\w*\(|glob\(", look.code):
        frame.run.note(frame, "D8", "the code deletes whatever it finds", "delete_tree")
    walks = re.search(r"\.r?glob\(|os\.walk|iterdir|listdir|readdir|Dir\[|Dir\.glob|find\(", look.code)
    gone = re.search(
        r"\.unlink\b|\.rmdir\(|os\.remove\(|unlink(?:Sync)?\b|File\.delete|FileUtils\.rm", look.code
    )
    if gone and walks:
        frame.run.note(frame, "D8", "the code deletes whatever it finds", "delete_tree")
    for match in re.finditer(rf"Path\(\s*{_LITERAL}\s*\)\.(?:unlink|rmdir)\(", look.code):
        judge(frame, "delete", Word(_home(look.literals[int(match[1])], frame)))
    if gone and not walks and not re.search(_FILE, look.code):
        frame.run.note(frame, "C6", "the code deletes files", "delete")


def _home(path: str, frame: Frame) -> str:
    return frame.run.around.home + path[1:] if path.startswith("~") else path


def _writes(look: _Look) -> None:
    frame = look.frame
    for match in re.finditer(
        rf"open\(\s*(?:[\w.]+\(\s*)*{_LITERAL}[\s)]*,\s*(?:mode\s*=\s*)?{_LITERAL}", look.code
    ):
        if set(look.literals[int(match[2])]) & set("wax+"):
            write(frame, Word(_home(look.literals[int(match[1])], frame)))
    writers = r"writeFileSync|writeFile|appendFileSync|File\.write|file_put_contents|IO\.write"
    pattern = rf"(?:Path\(\s*{_LITERAL}\s*\)\.write_\w+|(?:{writers})\(\s*{_LITERAL})"
    for match in re.finditer(pattern, look.code):
        write(frame, Word(_home(look.literals[int(match[1] or match[2])], frame)))


def _evaluates(look: _Look) -> None:
    frame = look.frame
    calls = r"(?<![\w.])(?:exec|eval|execfile|Function)\s*\(|\bvm\.run\w*\(|(?<![\w.$@%])eval\s+(?=[\w$:])"
    for match in re.finditer(calls, look.code):
        plain = re.compile(rf"\(\s*(?:compile\(\s*)?{_LITERAL}\s*[,)]").match(look.code, match.end() - 1)
        text = look.literals[int(plain[1])] if plain else ""
        if text and UNKNOWN not in text:
            judge_code(text, "code", frame)
        elif look.network or re.search(_DECODE, look.code):
            frame.run.note(frame, "D9", "the code runs what it downloads or decodes", "remote_code")
        else:
            frame.run.unclear(frame, "the code runs text that is built while it runs")
    if re.search(r"[(,]\s*eval\s*\)", look.code) and re.search(_NETWORK, look.code):
        frame.run.note(frame, "D9", "the code runs what it downloads or decodes", "remote_code")
    if re.search(
        r"getattr\s*\(\s*(?:os|subprocess|shutil|__import__|sys)|__builtins__|globals\(\)\[", look.code
    ):
        frame.run.unclear(frame, "the code hides which function it calls")


def _connections(look: _Look) -> None:
    frame, code = look.frame, look.code
    if not re.search(_NETWORK, code):
        return
    shell = re.search(r"dup2|pty\.spawn|/bin/(?:ba)?sh|\.pipe\(", code) or any(
        re.match(r"/(?:usr/)?bin/\w*sh\b", t) for t in look.literals
    )
    if re.search(r"socket|fsockopen|net\.connect|net\.Socket", code, re.IGNORECASE) and shell:
        frame.run.note(frame, "D9", "the code gives a shell to another machine", "remote_code")
    secrets = any(secret_path(t) for t in look.literals) or re.search(
        r"os\.environ(?!\.get\(|\[)|process\.env(?!\.\w)|%ENV|\bENV\.to", code
    )
    sends = re.search(r"post|put|send|urlopen|get\(|fetch|request", code)
    if secrets and sends:
        frame.run.note(frame, "D9", "the code sends credentials to another machine", "exfiltrate")
    frame.run.note(frame, "W4", "the code uses the network", "network")


def _guards(look: _Look) -> None:
    """Code that names the guard's own files and does more than read them."""
    named = any(is_guard(text) for text in look.literals if "/" in text and " " not in text)
    if named and re.search(r"connect|execute|write|dump|rename|replace|copy|move|chmod|link|send", look.code):
        look.frame.run.note(look.frame, "D8", "the code changes the guard itself", "persist")


def _processes(look: _Look) -> None:
    code, frame = look.code, look.frame
    if re.search(
        r"fork\s+while\s+(?:fork|1|true)|while\b[^\n;]*[:{)]?\s*(?:os\.)?fork\b|loop\s*\{?\s*(?:do)?\s*fork|"
        r"for\s*\(;;\)\s*\{?\s*fork",
        code,
    ):
        frame.run.note(frame, "F10", "the code multiplies its process: a fork bomb", "fork_bomb")
    if re.search(r"\bkill\s*\(?\s*(?:['\"]?\w+['\"]?\s*,\s*)?-1\b|os\.kill\(\s*-1", code):
        frame.run.note(frame, "F9", "the code ends every process", "kill")
    if any(secret_path(t) for t in look.literals) and re.search(r"open|read", code):
        frame.run.note(frame, "C6", "the code reads credentials", "secret")


def _skeleton(text: str, language: str) -> tuple[str, list[str]]:
    """The code with each string replaced by a mark, without comments."""
    literals: list[str] = []

    def put(match: re.Match[str]) -> str:
        if match["comment"]:
            return " "
        body = next(
            (match[g] for g in ("triple", "single", "double", "back", "paren") if match[g] is not None), ""
        )
        prefix = match["prefix"] or ""
        if "f" in prefix.lower():
            body = re.sub(r"\{[^{}]*\}", UNKNOWN, body)
        if match["back"] is not None or (language in _SHELL_LANGUAGES and match["single"] is None):
            body = re.sub(r"\$\{[^{}]*\}|#\{[^{}]*\}", UNKNOWN, body)
        literals.append(body if "r" in prefix.lower() else _unescape(body))
        mark = f"{_OPEN}{len(literals) - 1}{_CLOSE}"
        runs = match["back"] is not None or match[0].startswith(("%x", "qx"))
        return f"`{mark}`" if runs and language in _SHELL_LANGUAGES else mark

    code = _tokens(language).sub(put, text)
    return _joined(code, literals), literals


def _joined(code: str, literals: list[str]) -> str:
    """Literals that are added together become one."""

    def put(match: re.Match[str]) -> str:
        literals.append("".join(literals[int(number)] for number in re.findall(_LITERAL, match[0])))
        return f"{_OPEN}{len(literals) - 1}{_CLOSE}"

    return re.sub(rf"{_LITERAL}(?:\s*[+.]?\s*{_LITERAL})+", put, code)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    text = re.sub(r"\\x([0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})", lambda m: chr(int(m[1] or m[2], 16)), text)
    return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text, flags=re.DOTALL)


@functools.cache
def _tokens(language: str) -> re.Pattern[str]:
    comment = r"//[^\n]*|/\*.*?\*/" if language in ("node", "php") else r"(?<!\$)#[^\n]*"
    quoting = r"|(?P<paren>(?!))"
    if language in ("perl", "ruby"):
        quoting = r"|(?:\bq[qx]?|%[xqQ])[({\[](?P<paren>[^)}\]]*)[)}\]]"
    return re.compile(
        rf"(?P<comment>{comment})|(?P<prefix>\b[rRbBfFuU]{{1,2}})?(?:(?:\"\"\"|"
        rf"''')(?P<triple>.*?)(?:\"\"\"|''')|'(?P<single>(?:[^'\\]|\\.)*)'|"
        rf"\"(?P<double>(?:[^\"\\]|\\.)*)\"|`(?P<back>(?:[^`\\]|\\.)*)`{quoting})",
        re.DOTALL,
    )


@functools.cache
def _argument() -> re.Pattern[str]:
    return re.compile(
        rf"\s*\(?\s*(?:[\w.]+\(\s*)*(?:(?:\w+\s*=\s*)?{_OPEN}(?P<literal>\d+){_CLOSE}|"
        rf"\$?(?P<name>\w+)(?=\s*[,)]))\)*\s*(?P<more>[+.%](?!\w+\())?"
    )
