from __future__ import annotations

import json

import pytest

from forge.core.models.claude_cli.lines import Splitter, Tally, decode
from forge.core.models.claude_cli.mapper import Mapper
from forge.core.models.claude_cli.report import map_run
from unit.core.models.claude_cli.printed import encoded, init, mapped, piece, result, streamed, text, whole

TEXT = "naïve 日本 \U0001f600 \u2028 end"


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, 1 << 16])
def test_chunks_may_split_characters_and_lines(size: int) -> None:
    body = json.dumps(init(), ensure_ascii=False).encode() + b"\n"
    body += json.dumps(whole(text(TEXT)), ensure_ascii=False).encode() + b"\n" + encoded(result())
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    assert map_run(chunks, 0) == mapped(init(), whole(text(TEXT)), result())


def test_only_a_newline_ends_a_line_and_the_last_may_lack_it() -> None:
    splitter = Splitter()
    got = [splitter.feed(chunk) for chunk in (b"a\r", b"\nb\x0bc\xe2\x80\xa8d\n\ne", b"f")]
    assert got == [[], [b"a\r", b"b\x0bc\xe2\x80\xa8d", b""], []]
    assert [splitter.rest(), splitter.rest()] == [[b"ef"], []]


def test_line_of_five_megabytes_is_one_line() -> None:
    words = "x" * 5_000_000
    body = encoded(whole(text(words)), result())
    chunks = [body[at : at + 65_536] for at in range(0, len(body), 65_536)]
    assert map_run(chunks, 0)["parts"][1] == text(words)


@pytest.mark.parametrize(
    "line",
    [
        b"(node:1) Warning",
        b"[1, 2]",
        b"null",
        b'"text"',
        b"12",
        b'{"type": "assist',
        b'{"a": NaN, "b": "\\ud800"}',
        b'{"a": "\xff"}',
        b"{" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_what_is_not_an_object_is_nothing(line: bytes) -> None:
    assert decode(line) is None


def test_halves_of_a_character_are_joined_across_lines() -> None:
    lines = streamed("")
    lines[2:3] = [piece(0, "a \ud83d"), piece(0, "\ude00 b"), piece(0, " \ud83d"), piece(0, "c")]
    got = mapped(*lines, result())
    assert [row["text"] for row in got["deltas"]] == ["a ", "\U0001f600 b", " ", "\ufffdc"]
    assert got["parts"][1] == text("a \U0001f600 b \ufffdc")


def test_half_characters_elsewhere_are_replaced() -> None:
    line = b'{"type": "system", "subtype": "x\\ud800", "l": ["\\ud83d\\ude00", "\\udc00"], "\\ud800": 1}'
    assert decode(line) == {
        "type": "system",
        "subtype": "x\ufffd",
        "l": ["\U0001f600", "\ufffd"],
        "\ufffd": 1,
    }


@pytest.mark.requirement("S4-10")
@pytest.mark.parametrize(
    ("lines", "broken"),
    [
        ("-" * 20, False),
        ("-" * 21, True),
        ("-" * 1000, True),
        ("-" * 20 + "+" + "-" * 18, False),
        ("-" * 20 + "+" + "-" * 19, True),
        ("+-" * 19 + "-", False),
        ("-+" * 20, False),
        ("-+" * 19 + "--", True),
        ("--+" * 13, False),
        ("--+" * 13 + "+", True),
        ("+" * 1000 + "-" * 20, False),
        ("+" * 1000 + "-" * 21, True),
    ],
)
def test_too_many_unreadable_lines_are_the_end(lines: str, broken: bool) -> None:
    tally = Tally()
    for mark in lines:
        tally.count(readable=mark == "+")
    assert (tally.broken, tally.unread) == (broken, lines.count("-"))


@pytest.mark.requirement("S4-10")
def test_unreadable_run_is_an_error_and_readable_noise_is_none() -> None:
    said = mapped(init(), *["junk"] * 1000, whole(text("never")), result())["final"]
    assert (said["finish"], said["unparsed_lines"], said["error"]["kind"]) == ("error", 1000, "unreadable")
    assert said["error"]["message"] == "1000 of 1003 lines the CLI printed are not JSON objects."
    calm = mapped("junk", "", "  ", init(), "[]", whole(text("hi")), result())["final"]
    assert (calm["finish"], calm["unparsed_lines"]) == ("stop", 2)


def test_broken_run_takes_no_more_lines() -> None:
    mapper = Mapper()
    for _ in range(21):
        mapper.feed(b"junk")
    assert mapper.broken
    assert mapper.feed(encoded(whole(text("late"))).strip()) == []
