"""Ways to write a command differently without changing what it does, and ways to merely mention it."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable

Change = Callable[[str], str]


def document(command: str) -> str:
    return f"cat > doc.md <<'ENDOFTEXT'\n{command}\nENDOFTEXT"


def octets(command: str) -> str:
    if not command.isascii():
        return shlex.quote(command)
    return "$'" + "".join(f"\\{number:03o}" for number in command.encode()) + "'"


def perl(command: str) -> str:
    return "'" + command.replace("\\", "\\\\").replace("'", "\\'") + "'"


SAME: dict[str, Change] = {
    "bash -c": lambda c: f"bash -c {shlex.quote(c)}",
    "nested shells": lambda c: f"sh -c {shlex.quote('bash -lc ' + shlex.quote(c))}",
    "eval": lambda c: f"eval {shlex.quote(c)}",
    "variable": lambda c: f'CMD={shlex.quote(c)}; eval "$CMD"',
    "here-document to sh": lambda c: f"sh <<'ENDOFTEXT'\n{c}\nENDOFTEXT",
    "pipe to sh": lambda c: f"echo {shlex.quote(c)} | sh" if "\\" not in c else f"eval {shlex.quote(c)}",
    "base64": lambda c: f"echo {base64.b64encode(c.encode()).decode()} | base64 -d | bash",
    "subshell": lambda c: f"( {c}\n)",
    "group": lambda c: f"{{ {c}\n}}",
    "if": lambda c: f"if true; then\n{c}\nfi",
    "loop": lambda c: f"for i in 1; do\n{c}\ndone",
    "and": lambda c: f"true && {{ {c}\n}}",
    "after another": lambda c: f"ls -la\n{c}",
    "before another": lambda c: f"{c}\nls -la",
    "function": lambda c: f"f() {{\n{c}\n}}\nf",
    "substitution": lambda c: f"x=$( {c}\n)",
    "timeout": lambda c: f"timeout 60 bash -c {shlex.quote(c)}",
    "env": lambda c: f"env A=b nice -n 5 sh -c {shlex.quote(c)}",
    "written and run": lambda c: f"cat > run.sh <<'ENDOFTEXT'\n{c}\nENDOFTEXT\nbash run.sh",
    "trap": lambda c: f"trap {shlex.quote(c)} EXIT",
    "here-string": lambda c: f"bash <<< {shlex.quote(c)}",
    "process substitution": lambda c: (
        f"bash <(echo {shlex.quote(c)})" if "\\" not in c else f"eval {shlex.quote(c)}"
    ),
    "sourced": lambda c: f". /dev/stdin <<< {shlex.quote(c)}",
    "find": lambda c: f"find . -maxdepth 0 -exec sh -c {shlex.quote(c)} \\;" if "{}" not in c else c,
    "or": lambda c: f"false || {{ {c}\n}}",
    "negated": lambda c: f"! {{ {c}\n}}",
    "while": lambda c: f"while true; do\n{c}\nbreak; done",
    "case": lambda c: f"case a in\na)\n{c}\n;;\nesac",
    "background": lambda c: f"nohup sh -c {shlex.quote(c)} > /dev/null 2>&1 &",
    "privileged": lambda c: f"sudo -n bash -c {shlex.quote(c)}",
    "argument": lambda c: f'run() {{ eval "$1"; }}; run {shlex.quote(c)}',
    "own name": lambda c: f"bash -c 'eval \"$0\"' {shlex.quote(c)}",
    "octets": lambda c: f"eval {octets(c)}",
    "another terminal": lambda c: f"tmux send-keys -t 0 {shlex.quote(c)} Enter",
    "perl": lambda c: f"perl -e {shlex.quote('system(' + perl(c) + ')')}",
    "python": lambda c: f"python3 -c {shlex.quote('import os; os.system(' + repr(c) + ')')}",
}

MENTIONED: dict[str, Change] = {
    "echo": lambda c: f"echo {shlex.quote(c)}",
    "printf": lambda c: f"printf '%s\\n' {shlex.quote(c)}",
    "grep": lambda c: f"grep -rnF {shlex.quote(c)} src",
    "rg": lambda c: f"rg -n -F -e {shlex.quote(c)} docs",
    "git log": lambda c: f"git log --oneline --grep={shlex.quote(c)}",
    "commit message": lambda c: f"git commit -m {shlex.quote('docs: explain ' + c)}",
    "commit document": lambda c: f"git commit -m \"$(cat <<'ENDOFTEXT'\nfeat: x\n\n{c}\nENDOFTEXT\n)\"",
    "commit from input": lambda c: f"git commit -F - <<'ENDOFTEXT'\n{c}\nENDOFTEXT",
    "document": document,
    "document by tee": lambda c: f"tee -a notes.md > /dev/null <<'ENDOFTEXT'\n{c}\nENDOFTEXT",
    "comment": lambda c: "".join(f"# {line}\n" for line in c.split("\n")) + "ls",
    "classified": lambda c: f"forgecmd classify {shlex.quote(c)}",
    # A subscript runs its command when a variable is read as a number, so it is asked about.
    "variable": lambda c: f'x={shlex.quote(c.replace("[$", "$"))}; echo "$x"',
    "array": lambda c: f'a=({shlex.quote(c.replace("[$", "$"))} b); printf "%s\\n" "${{a[@]}}"',
    "compared": lambda c: f"[ x{shlex.quote(c)} = x ] || echo no",
    "jq": lambda c: f"jq -n --arg c {shlex.quote(c)} '$c'",
    "python text": lambda c: f"python3 -c {shlex.quote('print(' + repr(c) + ')')}",
    "python document": lambda c: f"python3 - <<'ENDOFTEXT'\nprint({c!r})\nENDOFTEXT",
    "searched in git": lambda c: f"git grep -nF -e {shlex.quote(c)} -- docs",
    "written": lambda c: f"printf '%s\\n' {shlex.quote(c)} >> docs/list.txt",
    "test selected by name": lambda c: f"pytest -q -k {shlex.quote(c)} tests",
    "counted": lambda c: f"wc -c <<< {shlex.quote(c)}",
}
