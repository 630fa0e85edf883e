"""The colours of the screen by name, for dark and light terminals and for terminals without colours."""

from __future__ import annotations

from collections.abc import Mapping

from rich.style import Style

DARK: Mapping[str, str] = {
    "text": "#d0d7de on #0f1318",
    "context": "#9aa4af",
    "add": "#e2f5e6 on #0f2b1a",
    "del": "#f7e1e1 on #36161b",
    "add_word": "on #1f6b38",
    "del_word": "on #8a2a30",
    "number": "#5d6874",
    "file": "bold #f0f6fc on #26303c",
    "head": "#8b98a6 on #171d25",
    "head_here": "bold #e6edf3 on #24405f",
    "part": "#7d8a97 on #141920",
    "bar": "#4aa3ff",
    "select": "on #3a4a63",
    "accepted": "bold #3fb950",
    "rejected": "bold #f85149",
    "mixed": "bold #e3b341",
    "asked": "bold #a5a0ff",
    "pending": "#77828e",
    "note": "#e3c77a on #211d12",
    "edit": "#bfe3ff on #10283d",
    "hidden": "bold #ffffff on #b3261e",
    "found": "#11151c on #d9b44a",
    "found_here": "bold #11151c on #ffdf6b",
    "dim": "#6e7884",
    "top": "bold #f0f6fc on #26303c",
    "status": "#aab4bf on #1b222b",
    "key": "bold #79c0ff on #1b222b",
    "message": "bold #e3b341 on #1b222b",
    "dropped": "#7c6568 on #1d1416",
    "kw": "#ff7b72",
    "str": "#a5d6ff",
    "com": "italic #7f8b97",
    "num": "#79c0ff",
    "fun": "#d2a8ff",
    "cls": "#ffa657",
    "tag": "#7ee787",
}

LIGHT: Mapping[str, str] = {
    "text": "#1f2328 on #ffffff",
    "context": "#57606a",
    "add": "#1f2328 on #e3f9e6",
    "del": "#1f2328 on #ffe7e6",
    "add_word": "on #8fe6a2",
    "del_word": "on #ffb3ad",
    "number": "#8c959f",
    "file": "bold #1f2328 on #d5dde6",
    "head": "#57606a on #eef2f6",
    "head_here": "bold #0a3069 on #b6dcff",
    "part": "#6e7781 on #f3f5f8",
    "bar": "#0969da",
    "select": "on #cfe2fb",
    "accepted": "bold #1a7f37",
    "rejected": "bold #cf222e",
    "mixed": "bold #9a6700",
    "asked": "bold #6639ba",
    "pending": "#8c959f",
    "note": "#6b4e00 on #fff5d6",
    "edit": "#0a3069 on #e6f3ff",
    "hidden": "bold #ffffff on #cf222e",
    "found": "#1f2328 on #ffe08a",
    "found_here": "bold #1f2328 on #ffc72e",
    "dim": "#8c959f",
    "top": "bold #1f2328 on #d5dde6",
    "status": "#424a53 on #e8ecf0",
    "key": "bold #0550ae on #e8ecf0",
    "message": "bold #8a4600 on #e8ecf0",
    "dropped": "#a58f8f on #f7f1f1",
    "kw": "#cf222e",
    "str": "#0a3069",
    "com": "italic #6e7781",
    "num": "#0550ae",
    "fun": "#8250df",
    "cls": "#953800",
    "tag": "#116329",
}

# Attributes alone, for NO_COLOR.
PLAIN: Mapping[str, str] = {
    "add": "bold",
    "add_word": "underline",
    "del_word": "underline",
    "number": "dim",
    "file": "bold reverse",
    "head": "dim",
    "head_here": "bold",
    "bar": "bold",
    "select": "reverse",
    "accepted": "bold",
    "rejected": "bold",
    "mixed": "bold",
    "asked": "bold",
    "note": "italic",
    "edit": "bold",
    "hidden": "reverse",
    "found": "reverse",
    "found_here": "bold reverse",
    "dim": "dim",
    "top": "reverse",
    "status": "reverse",
    "key": "bold reverse",
    "message": "bold reverse",
    "dropped": "dim strike",
    "context": "dim",
}

# What 256 colours have instead: the nearest ones of the delicate grounds are all black or teal.
DARK_256: Mapping[str, str] = {
    "text": "#d0d0d0 on #121212",
    "add": "#ffffff on #005f00",
    "del": "#ffffff on #5f0000",
    "add_word": "on #008700",
    "del_word": "on #af0000",
    "file": "bold #ffffff on #3a3a3a",
    "top": "bold #ffffff on #3a3a3a",
    "head": "#9e9e9e on #262626",
    "head_here": "bold #ffffff on #005f87",
    "part": "#8a8a8a on #1c1c1c",
    "select": "on #5f5f87",
    "note": "#ffd787 on #303030",
    "edit": "#afd7ff on #303030",
    "status": "#bcbcbc on #262626",
    "key": "bold #5fafff on #262626",
    "message": "bold #ffd75f on #262626",
    "dropped": "#808080 on #1c1c1c",
}
LIGHT_256: Mapping[str, str] = {
    "text": "#262626 on #ffffff",
    "add": "#262626 on #d7ffd7",
    "del": "#262626 on #ffd7d7",
    "add_word": "on #87d787",
    "del_word": "on #ffafaf",
    "file": "bold #121212 on #d0d0d0",
    "top": "bold #121212 on #d0d0d0",
    "head": "#585858 on #eeeeee",
    "head_here": "bold #00005f on #afd7ff",
    "part": "#6c6c6c on #eeeeee",
    "select": "on #afd7ff",
    "note": "#5f5f00 on #ffffd7",
    "edit": "#00005f on #d7ffff",
    "status": "#444444 on #e4e4e4",
    "key": "bold #005faf on #e4e4e4",
    "message": "bold #875f00 on #e4e4e4",
    "dropped": "#9e9e9e on #eeeeee",
}

THEMES: Mapping[str, Mapping[str, str]] = {
    "dark": DARK,
    "light": LIGHT,
    "plain": PLAIN,
    "dark256": {**DARK, **DARK_256},
    "light256": {**LIGHT, **LIGHT_256},
}


class Palette:
    """Styles for combinations of names; the later name wins."""

    def __init__(self, theme: str) -> None:
        self.theme = theme
        self._styles = {name: Style.parse(text) for name, text in THEMES[theme].items()}
        self._known: dict[tuple[str, ...], Style] = {}

    def style(self, names: tuple[str, ...]) -> Style:
        """The style of these names together."""
        found = self._known.get(names)
        if found is None:
            found = Style.combine([self._styles.get(name, Style()) for name in ("text", *names)])
            self._known[names] = found
        return found

    def colour(self, name: str, *, back: bool = False) -> str:
        """One colour for a style sheet; without colours any, because none will be shown."""
        style = Style.parse(THEMES["dark" if self.theme == "plain" else self.theme][name])
        colour = style.bgcolor if back else style.color
        return colour.name if colour is not None else "#808080"


def theme_for(env: Mapping[str, str]) -> str:
    """Which colours fit: none with NO_COLOR, the user's choice, else by what the terminal says of itself."""
    if env.get("NO_COLOR") or env.get("DIFFY_THEME") == "plain":
        return "plain"
    ground = env.get("COLORFGBG", "").rpartition(";")[2]
    theme = "light" if ground in ("7", "15") else "dark"
    if env.get("DIFFY_THEME") in ("light", "dark"):
        theme = env["DIFFY_THEME"]
    return theme if env.get("COLORTERM") in ("truecolor", "24bit") else f"{theme}256"
