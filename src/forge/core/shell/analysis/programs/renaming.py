"""Names in inline code: functions and modules under another name get the one the rules know."""

from __future__ import annotations

import re

from forge.core.shell.analysis.tables import names

_PLAIN = r"[A-Za-z_$][\w$]*"


def plain_names(code: str, literals: list[str], literal: str) -> str:
    """The code with imports written out: `from shutil import rmtree as r` makes `r(` a `shutil.rmtree(`."""

    def module(match: re.Match[str]) -> str:
        name = _module(literals[int(match[1])])
        return name or match[0]

    code = re.sub(rf"(?:\brequire|__import__|import_module|\bimport)\(\s*{literal}\s*\)", module, code)
    code = re.sub(rf"(?<=\bfrom )\s*{literal}", module, code)
    modules = _whole_modules(code)
    calls = _single_names(code)
    for name, full in modules.items():
        code = re.sub(rf"(?<![\w.$]){re.escape(name)}\.", f"{full}.", code)
    for name, full in calls.items():
        code = re.sub(rf"(?<![\w.$]){re.escape(name)}(?=\s*\()", full, code)
    return code


def _module(text: str) -> str:
    name = text.removeprefix("node:").split("/")[0]
    name = {"fs-extra": "fs", "graceful-fs": "fs", "node-fetch": "axios"}.get(name, name)
    return name if name in names("programs", "code_modules") else ""


def _whole_modules(code: str) -> dict[str, str]:
    """`import shutil as s`, `const f = fs`, `import * as f from fs`."""
    found = {m[2]: m[1] for m in re.finditer(r"\bimport\s+([\w.]+)\s+as\s+(\w+)", code)}
    patterns = (
        rf"\b({_PLAIN})\s*=\s*({_PLAIN})\b(?!\s*[.(\w])",
        rf"\bimport\s+(?:\*\s+as\s+)?({_PLAIN})\s+from\s+(\w+)",
    )
    for pattern in patterns:
        found.update(
            {
                m[1]: m[2]
                for m in re.finditer(pattern, code)
                if m[2] in names("programs", "code_modules") and m[1] != m[2]
            }
        )
    return found


def _single_names(code: str) -> dict[str, str]:
    """`from os import remove as r`, `const {rm: r} = fs`, `import {rm as r} from fs`, `r = shutil.rmtree`."""
    found = {}
    lists = [(m[1], m[2]) for m in re.finditer(r"\bfrom\s+([\w.]+)\s+import\s+\(?([\w\s,]+)", code)]
    lists += [(m[2], m[1]) for m in re.finditer(r"\{([^{}]*)\}\s*=\s*(\w+)\b(?!\s*\()", code)]
    lists += [(m[2], m[1]) for m in re.finditer(r"\bimport\s*\{([^{}]*)\}\s*from\s+(\w+)", code)]
    for module, listed in lists:
        if module.split(".")[0] not in names("programs", "code_modules"):
            continue
        for item in listed.split(","):
            parts = re.findall(_PLAIN, re.sub(r"\bas\b|\n.*", " ", item, flags=re.DOTALL))
            if parts:
                found[parts[-1]] = f"{module}.{parts[0]}"
    for match in re.finditer(rf"(?<![\w.])({_PLAIN})\s*=\s*((\w+)\.\w+)\s*(?=[;\n,)]|$)", code):
        if match[3] in names("programs", "code_modules"):
            found[match[1]] = match[2]
    return found
