from __future__ import annotations

import pytest

from forge.core.components.kinds import PluginRoot, Skill
from forge.core.components.render import (
    Piece,
    Surroundings,
    allowed_tools,
    fill_variables,
    prefix,
    render,
    shell_pieces,
    typed_message,
)

AROUND = Surroundings("sid", "/proj", "medium")
PLUGIN = PluginRoot(
    "p@m", "p", "/plug", "/data", {"url": "http://x", "on": True, "key": "s3"}, frozenset({"key"})
)


@pytest.mark.parametrize(
    ("text", "plugin", "directory", "filled"),
    [
        ("${CLAUDE_SKILL_DIR}", None, "/s", "/s"),
        ("${CLAUDE_SKILL_DIR}", None, "", "${CLAUDE_SKILL_DIR}"),
        ("${CLAUDE_SESSION_ID} ${CLAUDE_PROJECT_DIR} ${CLAUDE_EFFORT}", None, "", "sid /proj medium"),
        ("${CLAUDE_PLUGIN_ROOT} ${CLAUDE_PLUGIN_DATA}", PLUGIN, "", "/plug /data"),
        ("${FORGE_PLUGIN_ROOT}", PLUGIN, "", "/plug"),
        ("${CLAUDE_PLUGIN_ROOT}", None, "/s", "${CLAUDE_PLUGIN_ROOT}"),
        ("${CLAUDE_NOPE} ${HOME} $CLAUDE_EFFORT", PLUGIN, "", "${CLAUDE_NOPE} ${HOME} $CLAUDE_EFFORT"),
        ("${user_config.url} ${user_config.on}", PLUGIN, "", "http://x true"),
        ("${user_config.unset}", PLUGIN, "", "${user_config.unset}"),
        ("${user_config.url}", None, "", "${user_config.url}"),
        ("${user_config.key}", PLUGIN, "", "[sensitive option 'key' not available in skill content]"),
    ],
)
def test_variables_are_filled_and_unknown_ones_stay(
    text: str, plugin: PluginRoot | None, directory: str, filled: str
) -> None:
    assert fill_variables(text, AROUND, plugin, directory) == filled


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        ("no commands", [Piece("no commands")]),
        ("a !`x y` b", [Piece("a "), Piece("!`x y`", "x y"), Piece(" b")]),
        ("!`x`", [Piece("!`x`", "x")]),
        ("\t!`x`!`y`", [Piece("\t"), Piece("!`x`", "x"), Piece("!`y`")]),
        ("glued=!`x` (!`y`)", [Piece("glued=!`x` (!`y`)")]),
        ("!``x`` ! `x` !` `", [Piece("!``x`` ! `x` !` `")]),
        ("!`one\ntwo`", [Piece("!`one\ntwo`", "one\ntwo")]),
        (
            "x\n  ```!  \n  a\n  b\n  ```\ny",
            [Piece("x\n  "), Piece("```!  \n  a\n  b\n  ```", "a\n  b"), Piece("\ny")],
        ),
        ("```! a\n```", [Piece("```! a\n```", "a")]),
        ("````!\na\n````", [Piece("`"), Piece("```!\na\n```", "a"), Piece("`")]),
        ("```!\n```\n", [Piece("```!\n```\n")]),
        ("```sh\na\n```", [Piece("```sh\na\n```")]),
        ("~~~!\na\n~~~", [Piece("~~~!\na\n~~~")]),
        ("```bash ! a\n```", [Piece("```bash ! a\n```")]),
        ("```sh\n!`a`\n```", [Piece("```sh\n"), Piece("!`a`", "a"), Piece("\n```")]),
        ("```!\necho !`a`\n```", [Piece("```!\necho !`a`\n```", "echo !`a`")]),
    ],
)
def test_commands_in_a_text_are_found(text: str, pieces: list[Piece]) -> None:
    assert shell_pieces(text) == pieces


def test_arguments_come_before_variables_and_land_in_commands() -> None:
    skill = Skill("s", root="/s", arguments=["who"])
    body = "Hi $who in ${CLAUDE_SKILL_DIR}: !`greet $who`"
    assert render(skill, body, "${CLAUDE_SESSION_ID}", AROUND) == [
        Piece("Hi sid in /s: "),
        Piece("!`greet sid`", "greet sid"),
    ]


def test_the_blocks_around_a_body() -> None:
    assert prefix(Skill("s", root="/a/s")) == "Base directory for this skill: /a/s\n\n"
    assert prefix(Skill("s")) == ""
    head = "<command-message>p:s</command-message>\n<command-name>/p:s</command-name>"
    assert typed_message("p:s", "") == head
    assert typed_message("p:s", "a\nb") == f"{head}\n<command-args>a\nb</command-args>"


def test_variables_in_allowed_tools_are_filled() -> None:
    skill = Skill("s", root="/s", allowed_tools=["Bash(${CLAUDE_SKILL_DIR}/x:*)", "Read"])
    assert allowed_tools(skill, AROUND) == ["Bash(/s/x:*)", "Read"]
