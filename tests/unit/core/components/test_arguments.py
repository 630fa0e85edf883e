from __future__ import annotations

import pytest

from forge.core.components.arguments import fill_arguments, split_arguments


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("one two", ["one", "two"]),
        ('"one two" three', ["one two", "three"]),
        ('a"b c"d \'e f\' "" g\\ h', ["ab cd", "e f", "", "g h"]),
        ('-m "msg here" --x="y z"', ["-m", "msg here", "--x=y z"]),
        ("it's fine", ["it's fine"]),
        ("a ' b", ["a", "' b"]),
        ('say "unclosed x', ["say", '"unclosed x']),
        ("don't say \"x\" it's", ['dont say "x" its']),
        ("a\tb\nc", ["a", "b"]),
        ("a 'b\nc' d", ["a", "b\nc", "d"]),
        ("a\\\nb c", ["a", "b", "c"]),
        ('a\\\\b \'c\\d\' "e\\\\f" "i\\nj" k\\nl', ["a\\b", "c\\d", "e\\\\f", "i\\nj", "knl"]),
        ("a trailing\\", ["a", "trailing"]),
        ("R&D team", ["R"]),
        ("a | b c", ["a"]),
        ("a > b", ["a"]),
        ("a; b", ["a"]),
        ("a `b` c", ["a"]),
        ("a $(b c) d", ["a"]),
        ('a "$(b c)" d', ["a", "$(b c)", "d"]),
        ("x$HOME a${B}c", ["x$HOME", "a${B}c"]),
        ("z # k", ["z"]),
        ("o#p q", ["o#p", "q"]),
        ("# a b", ["#", "a", "b"]),
        ("<tag> x", ["<tag>", "x"]),
        ("A=1 b c", ["b", "c"]),
        ("key=value", ["key=value"]),
        ("a, b, @file *.x", ["a,", "b,", "@file", "*.x"]),
        ("$a $b c", ["$a", "c"]),
        ("a $1 ${B} $@ $ $$ e", ["a", "e"]),
        ('a "$Q" \'$x\' $B"z" $C/d', ["a", "$Q", "$x", "$Bz", "$C/d"]),
        ("!`echo hi` x", ["!`echo hi`", "x"]),
    ],
)
def test_arguments_are_split_like_the_words_of_a_command(text: str, words: list[str]) -> None:
    assert split_arguments(text) == words


@pytest.mark.requirement("S0-22")
@pytest.mark.parametrize(
    ("body", "text", "names", "filled"),
    [
        ("all=[$ARGUMENTS]", '"one two" three', [], 'all=["one two" three]'),
        ("$ARGUMENTS[0] $ARGUMENTS[1] $ARGUMENTS[2]", "a b", [], "a b $ARGUMENTS[2]"),
        ("$0 $1 $2 $01", "a b", [], "a b $2 b"),
        ("$2nd $1.50 $1_ $1- $1é", "a b c", [], "$2nd b.50 $1_ b- bé"),
        ("$$0 ${0} $-1", "a", [], "$a ${0} $-1"),
        ("$ARGUMENTSx $ARGUMENTS_y $ARGUMENTS[x]", "w x", [], "w xx w x_y w x[x]"),
        ("$first-x $firstly ${first} $second.", "a", ["first", "second"], "a-x $firstly ${first} ."),
        ("$n$n $N", "v w", ["n", "n"], "vv $N"),
        ("$a-b $a $0 $ARGUMENTS", "w x y", ["0", "ARGUMENTS", "a-b", "a"], "x y w w"),
        (r"\$1 \\$1 \\\$1 \$HOME", "w x", [], r"$1 \\x \\\x \$HOME"),
        (r"\$ARGUMENTS \$ARGUMENTS[0] \$n $0", "w", ["n"], r"$ARGUMENTS $ARGUMENTS[0] $n w"),
        ("$0 and $1", "'$1' '$ARGUMENTS'", [], "$1 and $ARGUMENTS"),
        ("plain", "some words", [], "plain\n\nARGUMENTS: some words"),
        ("plain", "", [], "plain"),
        ("only $5 here", "x", [], "only $5 here\n\nARGUMENTS: x"),
        (r"only \$0 here", "x", [], "only $0 here\n\nARGUMENTS: x"),
        ("named $n only", "", ["n"], "named  only"),
        ("all=[$ARGUMENTS] $0", "", [], "all=[] $0"),
        ("$0", "!`echo hi` x", [], "\\! `echo hi`"),
        ("$n", "'!`echo hi`' x", ["n"], "\\! `echo hi`"),
        ("$ARGUMENTS", "x!`a` !!`b` \\!`c`", [], "x! `a` \\!! `b` \\! `c`"),
        ("$ARGUMENTS", "```!\necho\n``` a```!b", [], "``` \\!\necho\n``` a``` \\!b"),
        ("plain", "!important wow!\n!y", [], "plain\n\nARGUMENTS: \\!important wow!\n\\!y"),
    ],
)
def test_placeholders_are_filled(body: str, text: str, names: list[str], filled: str) -> None:
    assert fill_arguments(body, text, names) == filled
