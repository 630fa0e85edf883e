"""The keys of the screen: the one table behind the bindings, the help and the guide."""

from __future__ import annotations

import msgspec


class Key(msgspec.Struct, frozen=True):
    """Keys as the toolkit calls them, the command, and what the help says."""

    keys: str
    action: str
    shown: str
    help: str


class Group(msgspec.Struct, frozen=True):
    """Keys that belong together."""

    name: str
    keys: tuple[Key, ...]


GROUPS = (
    Group(
        "Move",
        (
            Key("j", "desk('step', 1)", "j / k", "next / previous hunk or part"),
            Key("k", "desk('step', -1)", "", ""),
            Key("tab", "desk('step_pending')", "Tab", "next hunk without a verdict"),
            Key("n", "next(1)", "n / N", "next / previous file, or match of a search"),
            Key("N", "next(-1)", "", ""),
            Key("down", "scroll_lines(1)", "↑ ↓ ← →", "scroll"),
            Key("up", "scroll_lines(-1)", "", ""),
            Key("right", "shift(8)", "", ""),
            Key("left", "shift(-8)", "", ""),
            Key("ctrl+d", "scroll_pages(0.5)", "Ctrl+d / u", "half a page down / up"),
            Key("ctrl+u", "scroll_pages(-0.5)", "", ""),
            Key("pagedown,ctrl+f", "scroll_pages(1)", "PgDn / PgUp", "a page down / up"),
            Key("pageup", "scroll_pages(-1)", "", ""),
            Key("g", "desk('ends', 0)", "gg / G", "first / last hunk"),
            Key("home", "desk('ends', 0)", "", ""),
            Key("G,end", "desk('ends', 1)", "", ""),
            Key("slash", "search", "/", "search in the lines"),
        ),
    ),
    Group(
        "Decide",
        (
            Key("a", "desk('decide', 'accept')", "a", "accept the hunk, part or selection"),
            Key("r", "desk('decide', 'reject')", "r", "reject it"),
            Key("space", "desk('toggle')", "Space", "accept / reject, and stay"),
            Key("A", "all('accept')", "A / R", "accept / reject all that is pending"),
            Key("R", "all('reject')", "", ""),
            Key("x", "desk('ask')", "x", "mark as a question"),
            Key("S", "desk('split')", "S", "split into parts, then lines, then whole"),
            Key("v", "desk('select')", "v", "select lines, then a, r or c"),
            Key("e", "edit", "e / E", "edit the new lines here / in $EDITOR"),
            Key("E", "editor", "", ""),
            Key("u", "desk('undo')", "u / Ctrl+r", "undo / redo"),
            Key("ctrl+r", "desk('redo')", "", ""),
        ),
    ),
    Group(
        "Comment",
        (
            Key("c", "comment('hunk')", "c", "on the hunk or the selection"),
            Key("C", "comment('ask')", "C", "on the file or the whole review"),
        ),
    ),
    Group(
        "Show",
        (
            Key("f", "files", "f", "file tree"),
            Key("d", "sides", "d", "unified / side by side (from 100 columns)"),
            Key("w", "flip('wrap')", "w", "wrap long lines"),
            Key("W", "flip('fold')", "W", "fold changes of white space"),
            Key("z", "desk('expand')", "z", "more lines around the hunk"),
            Key("t", "flip('hide')", "t", "hide what is decided"),
            Key("h", "flip('syntax')", "h", "syntax colours"),
            Key("b", "base", "b", "compare with another baseline"),
            Key("s", "statistics", "s", "statistics"),
            Key("i", "why", "i", "why: what the agent said"),
            Key("m", "mouse", "m", "mouse on / off (off: select text)"),
            Key("question_mark,f1", "help", "?", "this help"),
        ),
    ),
    Group(
        "End",
        (
            Key("enter", "finish", "Enter", "finish the review"),
            Key("q", "finish", "q", "finish; asks about what is pending"),
            Key("Q,ctrl+c,ctrl+q", "leave", "Q", "leave; the draft is kept"),
            Key("escape", "cancel", "Esc", "end a selection or a search"),
        ),
    ),
)

# Commands that are possible when there is no hunk in sight.
ALWAYS = frozenset(
    {"flip", "sides", "files", "base", "statistics", "help", "mouse", "finish", "leave", "cancel"}
)

# What the last row offers, most important first; the narrower the screen, the fewer.
HINTS = (
    ("a", "accept"),
    ("r", "reject"),
    ("c", "comment"),
    ("u", "undo"),
    ("Enter", "finish"),
    ("?", "help"),
    ("S", "split"),
    ("v", "lines"),
    ("e", "edit"),
    ("x", "question"),
    ("d", "side by side"),
    ("f", "files"),
    ("/", "search"),
    ("t", "hide decided"),
)

# The same while lines are being selected.
SELECTING = (
    ("j k", "more or fewer lines"),
    ("a", "accept"),
    ("r", "reject"),
    ("c", "comment"),
    ("Esc", "end"),
)

# What the keys of a Korean keyboard write, and the letters they have on them.
HANGUL = dict(
    zip(
        "ㅂㅈㄷㄱㅅㅛㅕㅑㅐㅔㅁㄴㅇㄹㅎㅗㅓㅏㅣㅋㅌㅊㅍㅠㅜㅡㅃㅉㄸㄲㅆ",
        "qwertyuiopasdfghjklzxcvbnmQWERT",
        strict=True,
    )
)


def help_lines() -> list[tuple[str, str]]:
    """The help: keys and what they do; a heading has no keys, a gap nothing."""
    lines: list[tuple[str, str]] = []
    for group in GROUPS:
        lines += [("", ""), ("", group.name)] if lines else [("", group.name)]
        lines += [(key.shown, key.help) for key in group.keys if key.help]
    return lines
