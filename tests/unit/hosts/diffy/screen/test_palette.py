from __future__ import annotations

import pytest

from forge.hosts.diffy.screen.palette import PLAIN, THEMES, Palette, theme_for


@pytest.mark.parametrize(
    ("env", "theme"),
    [
        ({}, "dark256"),
        ({"COLORTERM": "truecolor"}, "dark"),
        ({"COLORTERM": "24bit", "COLORFGBG": "0;15"}, "light"),
        ({"COLORFGBG": "15;default;0"}, "dark256"),
        ({"DIFFY_THEME": "light", "COLORFGBG": "15;0"}, "light256"),
        ({"DIFFY_THEME": "odd", "COLORTERM": "truecolor"}, "dark"),
        ({"NO_COLOR": "1", "DIFFY_THEME": "dark"}, "plain"),
        ({"NO_COLOR": "", "COLORTERM": "truecolor"}, "dark"),
    ],
)
def test_the_colours_fit_the_terminal(env: dict[str, str], theme: str) -> None:
    assert theme_for(env) == theme


def test_without_colours_there_are_only_attributes() -> None:
    palette = Palette("plain")
    styles = [palette.style((name,)) for name in PLAIN]
    assert [style for style in styles if style.color or style.bgcolor] == []


@pytest.mark.parametrize("theme", sorted(set(THEMES) - {"plain"}))
def test_every_theme_knows_every_name(theme: str) -> None:
    assert set(THEMES[theme]) == set(THEMES["dark"])


def test_the_last_name_wins() -> None:
    palette = Palette("dark")
    style = palette.style(("add", "kw", "add_word"))
    assert (style.color, style.bgcolor) == (
        palette.style(("kw",)).color,
        palette.style(("add_word",)).bgcolor,
    )
