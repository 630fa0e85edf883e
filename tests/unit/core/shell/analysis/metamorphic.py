"""Ways to write a command differently without changing what it does, and ways to merely mention it."""

from __future__ import annotations

import base64
import shlex
from collections.abc import Callable

Change = Callable[[str], str]


def document(command: str) -> str:
    return f"cat > doc.md <<'ENDOFTEXT'\n{command}\nENDOFTEXT"


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
    "counted": lambda c: f"wc -c <<< {shlex.quote(c)}",
}
