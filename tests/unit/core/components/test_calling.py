from __future__ import annotations

import pytest

from forge.core.components.calling import (
    again,
    called_skill,
    needs_permission,
    split_typed,
    typed_skill,
)
from forge.core.components.catalog import Catalog, Contribution
from forge.core.components.kinds import Skill
from forge.core.components.listing import View
from forge.core.registry import Component
from forge.foundation.origin import Origin, Scope

VIEW = View(overrides={"off": "off", "quiet": "user-invocable-only"})
SKILLS = [
    Skill("note", root="/n", display="Fancy Note", described=True),
    Skill("manual", root="/m", model_invocable=False),
    Skill("hidden", root="/h", user_invocable=False),
    Skill("off", root="/o"),
    Skill("quiet", root="/q"),
    Skill("src:nn", root="/s", area="src"),
    Skill("a/b:nn", root="/s", area="a/b"),
]


def catalog() -> Catalog:
    made = Catalog()
    made.add(Contribution(skills=[Component(s.name, s, Origin(Scope.PROJECT, s.root)) for s in SKILLS]))
    plugin = Skill("p:deep", root="/p", described=True)
    made.add(Contribution(skills=[Component("p:deep", plugin, Origin(Scope.PLUGIN, "/p"))]))
    return made


@pytest.mark.parametrize(
    ("prompt", "parts"),
    [
        ("/a", ("a", "")),
        ("/p:a  x y ", ("p:a", "x y")),
        ("/a\tx\ny", ("a", "x\ny")),
        ("/a\nx", ("a", "x")),
        (" /a", None),
        ("/", None),
        ("/ a", None),
        ("a /b", None),
    ],
)
def test_a_typed_command_starts_with_a_slash(prompt: str, parts: tuple[str, str] | None) -> None:
    assert split_typed(prompt) == parts


@pytest.mark.parametrize(
    ("asked", "name", "error"),
    [
        ("note", "note", ""),
        ("/note", "note", ""),
        ("Fancy Note", "note", ""),
        ("hidden", "hidden", ""),
        ("p:deep", "p:deep", ""),
        ("deep", "", "Unknown skill: deep. Did you mean p:deep? Invoke it by that full name."),
        ("nots", "", "Unknown skill: nots. Did you mean note?"),
        ("zzzzzzzz", "", "Unknown skill: zzzzzzzz"),
        (
            "nn",
            "",
            "Unknown skill: nn. Directory-scoped variants exist: a/b:nn, src:nn — invoke the variant whose"
            " directory contains the files you are working on.",
        ),
        (
            "manual",
            "",
            "Skill manual cannot be used with Skill tool due to disable-model-invocation. Ask the user to run"
            " /manual themselves — it cannot be invoked via the Skill tool. Do not replicate this skill's"
            " workflow by other means — it is reserved for explicit user invocation.",
        ),
        ("off", "", "Skill off is disabled for model invocation in skillOverrides settings"),
        ("quiet", "", "Skill quiet is disabled for model invocation in skillOverrides settings"),
        (
            "help",
            "",
            "help is a UI command, not a skill. Ask the user to run /help themselves — it cannot be invoked"
            " via the Skill tool.",
        ),
    ],
)
def test_the_model_gets_a_skill_or_an_error(asked: str, name: str, error: str) -> None:
    found, said = called_skill(catalog(), VIEW, asked, {"help"})
    assert (found.name if found else "", said) == (name, error)


@pytest.mark.requirement("S0-21")
@pytest.mark.parametrize(
    ("typed", "name", "answer"),
    [
        ("note", "note", ""),
        ("manual", "manual", ""),
        ("quiet", "quiet", ""),
        ("unknown", "", ""),
        (
            "hidden",
            "",
            "This skill can only be invoked by Claude, not directly by users. Ask Claude to use the"
            ' "hidden" skill for you.',
        ),
        (
            "off",
            "",
            'Skill "off" is disabled via skillOverrides. Remove the override from your settings to run it.',
        ),
    ],
)
def test_users_get_a_skill_or_an_answer(typed: str, name: str, answer: str) -> None:
    found, said = typed_skill(catalog(), VIEW, typed)
    assert (found.name if found else "", said) == (name, answer)


def test_skills_that_change_what_is_allowed_need_permission() -> None:
    wanting = [
        Skill("a", allowed_tools=["Bash"]),
        Skill("a", disallowed_tools=["X"]),
        Skill("a", hooks={"Stop": []}),
    ]
    assert [needs_permission(s) for s in [*wanting, Skill("a")]] == [True, True, True, False]


def test_a_skill_that_is_loaded_already_is_not_repeated() -> None:
    assert again("a", "", unchanged=True) == "Skill /a is already loaded above; instructions unchanged."
    assert again("a", "x", unchanged=True).endswith("unchanged. Arguments: x")
    assert again("a", "x", unchanged=False).startswith("(Re-invocation of /a — ")
