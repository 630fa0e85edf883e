from __future__ import annotations

import pytest

from forge.hosts.diffy.screen.languages import FAMILIES
from forge.hosts.diffy.screen.syntax import Colours, Spans, coloured, family_of
from unit.hosts.diffy.screen.sheets import desk, file, listing, unit


@pytest.mark.parametrize(
    ("path", "family"),
    [
        ("a/b.py", "python"),
        ("x.TSX", "curly"),
        ("Makefile", "shell"),
        ("docker/Dockerfile", "shell"),
        ("uv.lock", "json"),
        ("README.md", "prose"),
        ("LICENSE", ""),
        ("a.unknown", ""),
    ],
)
def test_the_name_of_a_file_tells_its_language(path: str, family: str) -> None:
    assert family_of(path) == family


@pytest.mark.parametrize(
    ("family", "lines", "spans"),
    [
        ("python", ["def f(x): # hi"], [((0, 3, "kw"), (4, 5, "fun"), (10, 14, "com"))]),
        ("python", ['s = """a', 'b""" + 1'], [((4, 8, "str"),), ((0, 4, "str"), (7, 8, "num"))]),
        ("python", ["raise Error(None)"], [((0, 5, "kw"), (6, 11, "cls"), (12, 16, "num"))]),
        (
            "curly",
            ["let x = `a", "b`; // c"],
            [((0, 3, "kw"), (8, 10, "str")), ((0, 2, "str"), (4, 8, "com"))],
        ),
        (
            "json",
            ['{"key": "v", "n": 1}'],
            [((1, 6, "tag"), (8, 11, "str"), (13, 16, "tag"), (18, 19, "num"))],
        ),
        ("sql", ["SELECT a FROM b -- c"], [((0, 6, "kw"), (9, 13, "kw"), (16, 20, "com"))]),
        ("config", ["key: value # c"], [((0, 3, "tag"), (10, 14, "com"))]),
        (
            "markup",
            ["<a href='x'>t</a>"],
            [((0, 2, "tag"), (8, 11, "str"), (11, 12, "tag"), (13, 16, "tag"), (16, 17, "tag"))],
        ),
        ("prose", ["# Title", "some `code`"], [((0, 7, "tag"),), ((5, 11, "str"),)]),
        ("python", [], []),
    ],
)
def test_words_texts_and_comments_get_their_colours(
    family: str, lines: list[str], spans: list[Spans]
) -> None:
    assert coloured(family, lines) == spans


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_odd_lines_do_no_harm_in_any_language(family: str) -> None:
    lines = ["'\"`/*", "", "\\", "<!--", '"""', "가\udce9\x1b", "#", "]]", "a" * 50]
    for line, spans in zip(lines, coloured(family, lines), strict=True):
        assert all(0 <= start <= end <= len(line) for start, end, _ in spans)


def test_removed_and_new_lines_are_coloured_apart() -> None:
    one = desk(listing(file("a.py", unit("u", "-x = '''\n+y = 1\n"))))
    colours, piece = Colours(), one.contents.pieces[0]
    assert [colours.spans("a.py", piece, at) for at in (0, 1)] == [((4, 7, "str"),), ((4, 5, "num"),)]
