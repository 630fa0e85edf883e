from compat.hook_page import MEANING, PAGE, render
from forge.foundation.hookspec import Can


def test_the_page_of_hook_events_is_current() -> None:
    assert PAGE.read_text("utf-8") == render(), "run `make docs`"


def test_every_ability_is_explained() -> None:
    assert set(MEANING) == set(Can)
