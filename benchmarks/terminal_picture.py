"""A captured terminal as a picture: text with colour sequences becomes an SVG that needs no fonts of ours."""

from __future__ import annotations

from html import escape

from rich.ansi import AnsiDecoder
from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

_WIDE, _HIGH = 8.4, 18.0
_GROUNDS = {"dark": ("#d0d7de", "#0f1318"), "light": ("#1f2328", "#ffffff")}


def svg(lines: list[str], columns: int, ground: str = "dark") -> str:
    """Rows of a terminal, as `tmux capture-pane -e` prints them."""
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    fore, back = _GROUNDS[ground]
    width, height = columns * _WIDE + 16, len(lines) * _HIGH + 16
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}">',
        "<style>text{font:14px 'DejaVu Sans Mono',Menlo,Consolas,monospace;white-space:pre}</style>",
        f'<rect width="100%" height="100%" rx="6" fill="{back}"/>',
    ]
    console = Console(width=columns, color_system="truecolor", legacy_windows=False)
    decoder = AnsiDecoder()  # colours go on from one line to the next
    for number, line in enumerate(lines):
        parts += _row(console, decoder.decode_line(line), number, (fore, back))
    return "\n".join([*parts, "</svg>", ""])


def _row(console: Console, line: Text, number: int, ground: tuple[str, str]) -> list[str]:
    column = 0
    top = 8 + number * _HIGH
    backs: list[str] = []
    texts: list[str] = []
    for segment in console.render(line):
        cells = cell_len(segment.text.rstrip("\n"))
        fore, back = _colours(segment.style or Style(), ground)
        left, size = f"{8 + column * _WIDE:.1f}", cells * _WIDE
        if back != ground[1]:
            box = f'width="{size + 0.3:.1f}" height="{_HIGH}"'
            backs.append(f'<rect x="{left}" y="{top:.1f}" {box} fill="{back}"/>')
        if segment.text.strip():
            place = f'x="{left}" y="{top + 13.5:.1f}" textLength="{size:.1f}" lengthAdjust="spacingAndGlyphs"'
            look = f'fill="{fore}"{_shape(segment.style)}'
            texts.append(f"<text {place} {look}>{escape(segment.text)}</text>")
        column += cells
    return backs + texts


def _colours(style: Style, ground: tuple[str, str]) -> tuple[str, str]:
    fore = style.color.get_truecolor().hex if style.color and not style.color.is_default else ground[0]
    back = style.bgcolor.get_truecolor().hex if style.bgcolor and not style.bgcolor.is_default else ground[1]
    return (back, fore) if style.reverse else (fore, back)


def _shape(style: Style | None) -> str:
    if style is None:
        return ""
    looks = [
        (style.bold, "font-weight:bold"),
        (style.italic, "font-style:italic"),
        (style.underline, "text-decoration:underline"),
        (style.strike, "text-decoration:line-through"),
        (style.dim, "opacity:0.6"),
    ]
    found = ";".join(look for on, look in looks if on)
    return f' style="{found}"' if found else ""
