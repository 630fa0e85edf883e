"""Reads what `export -p` prints: the variables a shell would hand to its children."""

from __future__ import annotations

import re

# The shell sets these anew each time, or they say something about that one shell only.
_OWN = {"_", "SHLVL", "PWD", "OLDPWD", "BASHOPTS", "SHELLOPTS"}
_LINE = re.compile(
    r"declare -[a-zA-Z]*x[a-zA-Z]* (?P<name>[A-Za-z_]\w*)"
    r"(?:=(?:\"(?P<quoted>(?:[^\"\\]|\\.)*)\"|\$'(?P<escaped>(?:[^'\\]|\\.)*)'))?\n",
    re.DOTALL,
)
_NAMED = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "E": "\x1b",
    "e": "\x1b",
}
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|([0-7]{1,3})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|(.))", re.S
)


def read_exports(text: str) -> dict[str, str]:
    """Names and values of the exported variables."""
    found = {}
    for match in _LINE.finditer(text):
        name = match["name"]
        if name in _OWN:
            continue
        if match["quoted"] is not None:
            found[name] = re.sub(r"\\([\"\\$`\n])", r"\1", match["quoted"])
        elif match["escaped"] is not None:
            found[name] = _unescaped(match["escaped"])
    return found


def _unescaped(text: str) -> str:
    raw = b"".join(
        _bytes(part) for part in re.split(r"(\\x..|\\[0-7]{1,3}|\\u....|\\U........|\\.)", text, flags=re.S)
    )
    return raw.decode("utf-8", "surrogateescape")


def _bytes(part: str) -> bytes:
    match = _ESCAPE.fullmatch(part)
    if match is None:
        return part.encode("utf-8", "surrogateescape")
    hexadecimal, octal, short, long, named = match.groups()
    if hexadecimal or octal:
        return bytes([int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 0xFF])
    if short or long:
        return chr(int(short or long, 16)).encode()
    return _NAMED.get(named, named).encode("utf-8", "surrogateescape")
