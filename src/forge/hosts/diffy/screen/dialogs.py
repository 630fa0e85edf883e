"""What lies over the diff for a moment: a question, something to read, something to write."""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static, TextArea

Lines = list[tuple[str, str]]


class Ask(ModalScreen[str]):
    """A question that is answered with one key or a click; Esc answers nothing."""

    def __init__(self, title: str, choices: Lines) -> None:
        super().__init__()
        self._title = title
        self._choices = choices

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog"):
            yield Static(Text(self._title), classes="title")
            for key, label in self._choices:
                yield Static(_pair(key, label, 8), classes="choice", name=key)
            yield Static(_pair("Esc", "back", 8), classes="choice", name="")

    def on_key(self, event: events.Key) -> None:
        event.stop()
        pressed = "Enter" if event.key == "enter" else event.character or ""
        if event.key in ("escape", "ctrl+c"):
            _close(self, "")
        elif pressed in (key for key, _ in self._choices):
            _close(self, pressed)

    def on_click(self, event: events.Click) -> None:
        if event.widget is not None and event.widget.has_class("choice"):
            _close(self, event.widget.name or "")


class Read(ModalScreen[None]):
    """Lines to read: a name and a value, a heading without a name, or a text."""

    def __init__(self, title: str, lines: Lines, indent: int = 14) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._indent = indent

    def compose(self) -> ComposeResult:
        body = Text("\n").join(_pair(name, value, self._indent) for name, value in self._lines)
        with Vertical(classes="dialog wide"):
            yield Static(Text(self._title), classes="title")
            with VerticalScroll():
                yield Static(body)
            yield Static(Text("any key closes · ↑ ↓ scroll"), classes="hint")

    def on_resize(self, event: events.Resize) -> None:
        # Room for the frame, the title and the hint.
        self.query_one(VerticalScroll).styles.max_height = max(3, event.size.height - 8)

    def on_key(self, event: events.Key) -> None:
        event.stop()
        view = self.query_one(VerticalScroll)
        moves = {"down": 1, "up": -1, "j": 1, "k": -1, "pagedown": 10, "pageup": -10, "space": 10}
        if event.key in moves:
            view.scroll_relative(y=moves[event.key], animate=False)
        else:
            _close(self, None)

    def on_click(self, event: events.Click) -> None:
        if event.widget is self:
            _close(self, None)


class Paper(TextArea):
    """A text area whose keys for saving and leaving are its screen's."""

    def __init__(self, text: str, *, lines: bool) -> None:
        super().__init__(text, soft_wrap=not lines, show_line_numbers=lines, tab_behavior="indent")
        self._lines = lines

    async def on_key(self, event: events.Key) -> None:
        screen = self.screen
        if not isinstance(screen, Write):
            return
        saves = ("ctrl+s",) if self._lines else ("ctrl+s", "enter")
        if event.key in saves:
            event.stop()
            event.prevent_default()
            _close(screen, self.text)
        elif event.key in ("escape", "ctrl+c"):
            event.stop()
            event.prevent_default()
            _close(screen, None)
        elif event.key in ("ctrl+j", "alt+enter", "shift+enter") and not self._lines:
            event.stop()
            event.prevent_default()
            self.insert("\n")


class Write(ModalScreen[str | None]):
    """A text to write. `lines`: it is code, Enter makes a new line; else Enter saves."""

    def __init__(self, title: str, text: str, *, lines: bool = False) -> None:
        super().__init__()
        self._title = title
        self._text = text
        self._lines = lines

    def compose(self) -> ComposeResult:
        saves = "Ctrl+S saves" if self._lines else "Enter saves · Ctrl+J new line"
        with Vertical(classes="dialog wide" if self._lines else "dialog"):
            yield Static(Text(self._title), classes="title")
            yield Paper(self._text, lines=self._lines)
            yield Static(Text(f"{saves} · Esc cancels"), classes="hint")

    def on_mount(self) -> None:
        paper = self.query_one(Paper)
        paper.focus()
        if not self._lines:
            paper.move_cursor(paper.document.end)


def _pair(name: str, value: str, indent: int) -> Text:
    text = Text(no_wrap=not value or len(value) < 60)
    if name:
        text.append(f"{name:<{indent}}", "bold")
        text.append(value)
    elif indent and value:
        text.append(value, "bold underline")
    else:
        text.append(value)
    return text


def _close(screen: ModalScreen[Any], answer: Any) -> None:
    """Closes a dialog; a key that was pressed twice finds it closed already."""
    if screen.is_current:
        screen.dismiss(answer)
