"""Keys as a model writes them (`ihello<Esc>:wq<Enter>`) and as a terminal sends them."""

from __future__ import annotations

import re

import msgspec

_PLAIN = {
    "enter": "\r", "return": "\r", "cr": "\r", "esc": "\x1b", "escape": "\x1b", "tab": "\t", "space": " ",
    "bs": "\x7f", "backspace": "\x7f", "lt": "<", "gt": ">", "nul": "\0", "s-tab": "\x1b[Z",
}  # fmt: skip
# Final characters of the sequences of keys that have two forms.
_CURSOR = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
_NUMBERED = {
    "insert": 2, "ins": 2, "delete": 3, "del": 3, "pageup": 5, "pgup": 5, "pagedown": 6, "pgdn": 6,
    "f5": 15, "f6": 17, "f7": 18, "f8": 19, "f9": 20, "f10": 21, "f11": 23, "f12": 24,
}  # fmt: skip
_FUNCTION = {"f1": "P", "f2": "Q", "f3": "R", "f4": "S"}
_MODIFIER = {"s": 1, "m": 2, "a": 2, "c": 4}
_NAME = re.compile(r"<((?:[SMACsmac]-)*)([A-Za-z][A-Za-z0-9]*|[^<>])>")
# Control-O runs the line, too, in shells that edit lines the usual way.
SUBMITTING = ("\r", "\n", "\x0f")


class Key(msgspec.Struct, frozen=True):
    """A piece of input: the bytes a terminal sends, and the text itself if it is ordinary text."""

    sent: str
    text: str = ""


def parse_keys(keys: str, *, application: bool = False) -> list[Key]:
    """The keys in order; a name in angle brackets that is no key is text."""
    found: list[Key] = []
    place = 0
    for match in _NAME.finditer(keys):
        sent = _named(match[1].lower(), match[2], application=application)
        if sent is None:
            continue
        found += _texts(keys[place : match.start()])
        found.append(Key(sent, sent if sent in ("<", ">", " ") else ""))
        place = match.end()
    return found + _texts(keys[place:])


def _texts(text: str) -> list[Key]:
    """A line break in the text is the key that ends a line."""
    parts = re.split(r"(\r\n|\r|\n)", text)
    return [Key("\r") if part in ("\r\n", "\r", "\n") else Key(part, part) for part in parts if part]


def _named(modifiers: str, name: str, *, application: bool) -> str | None:
    held = set(modifiers.split("-")) - {""}
    low = name.lower()
    code = 1 + sum(_MODIFIER[letter] for letter in held - ({"a"} if "m" in held else set()))
    if low in _CURSOR:
        end = _CURSOR[low]
        return f"\x1b[1;{code}{end}" if held else f"\x1b{'O' if application else '['}{end}"
    if low in _NUMBERED:
        return f"\x1b[{_NUMBERED[low]};{code}~" if held else f"\x1b[{_NUMBERED[low]}~"
    if low in _FUNCTION:
        return f"\x1b[1;{code}{_FUNCTION[low]}" if held else f"\x1bO{_FUNCTION[low]}"
    if modifiers + low in _PLAIN:
        return _PLAIN[modifiers + low]
    return _modified(held, _PLAIN.get(low, name if len(name) == 1 else ""))


def _modified(held: set[str], char: str) -> str | None:
    if not char or not held:
        return None
    if "c" in held:
        if char == "?":
            char = "\x7f"
        elif char == " " or "@" <= char.upper() <= "_":
            char = chr(ord(char.upper()) & 0x1F) if char != " " else "\0"
        else:
            return None
    elif "s" in held:
        char = char.upper()
    return f"\x1b{char}" if held & {"m", "a"} else char
