from __future__ import annotations

import pytest

from forge.agent.prompt import system_prompt
from forge.agent.skills.styles import (
    builtin_styles,
    chosen_style,
    keeps_coding,
    style_names,
    style_reminder,
)
from forge.core.components.catalog import Catalog, Contribution
from forge.core.components.kinds import OutputStyle
from forge.core.registry import Component
from forge.foundation.origin import Origin, Scope

OWN = OutputStyle("terse", "d", "Be terse.")
KEEPING = OutputStyle("kind", "d", "Be kind.", keep_coding_instructions=True)


def catalog(*styles: OutputStyle, scope: Scope = Scope.USER) -> Catalog:
    made = Catalog()
    made.add(builtin_styles())
    made.add(Contribution(styles=[Component(s.name, s, Origin(scope, "/x.md")) for s in styles]))
    return made


@pytest.mark.parametrize(
    ("wanted", "name", "text"),
    [
        ("", "default", None),
        ("default", "default", None),
        ("terse", "terse", "# Output Style: terse\nBe terse."),
        ("Concise", "Concise", "# Output Style: Concise\nAnswer in as few words"),
        ("Explanatory", "Explanatory", "# Output Style: Explanatory\nDo the task, and let the user learn"),
        ("Learning", "Learning", "# Output Style: Learning\nWork together with a user"),
        ("Proactive", "Proactive", "# Output Style: Proactive\nAct on your own."),
    ],
)
def test_a_chosen_style_is_told_to_the_model(wanted: str, name: str, text: str | None) -> None:
    known = catalog(OWN)
    style = chosen_style(known, wanted)
    assert style is not None
    assert style.name == name
    told = style_reminder(known, name)
    assert (told is None) is (text is None)
    if told is not None and text is not None:
        assert told.text.startswith(f"<system-reminder>\n{text}")


def test_an_unknown_style_has_no_effect() -> None:
    known = catalog()
    assert chosen_style(known, "nothing") is None
    assert style_reminder(known, "nothing") is None
    assert keeps_coding(known, "nothing")


def test_a_style_a_plugin_forces_wins() -> None:
    forced = OutputStyle("p:loud", "d", "Be loud.", forced=True)
    assert chosen_style(catalog(forced, scope=Scope.PLUGIN), "Concise") == forced


@pytest.mark.parametrize(
    ("wanted", "keeps"), [("terse", False), ("kind", True), ("Learning", True), ("", True)]
)
def test_only_some_styles_keep_the_instructions_for_coding(wanted: str, keeps: bool) -> None:
    assert keeps_coding(catalog(OWN, KEEPING), wanted) is keeps


def test_the_system_prompt_without_coding_is_the_other_part_of_the_whole() -> None:
    whole, plain = system_prompt(None, "")[1], system_prompt(None, "", coding=False)[1]
    assert whole.endswith(f"\n\n{plain}")
    assert "# How to work" in whole
    assert "# How to work" not in plain


def test_built_in_styles_come_first() -> None:
    names = style_names(catalog(OWN, KEEPING))
    assert names == ["default", "Proactive", "Concise", "Explanatory", "Learning", "kind", "terse"]
