from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from forge.core.tools.patch import Hunk, structured_patch

FORTY = "".join(f"line {n}\n" for n in range(1, 41))


def hunk(old: tuple[int, int], new: tuple[int, int], *lines: str) -> Hunk:
    return {
        "oldStart": old[0],
        "oldLines": old[1],
        "newStart": new[0],
        "newLines": new[1],
        "lines": list(lines),
    }


def test_equal_texts_have_no_hunks() -> None:
    assert structured_patch(FORTY, FORTY) == structured_patch("", "") == []


def test_a_change_is_shown_with_three_lines_around_it() -> None:
    assert structured_patch(FORTY, FORTY.replace("line 20\n", "LINE 20\n")) == [
        hunk(
            (17, 7),
            (17, 7),
            *(" line 17", " line 18", " line 19", "-line 20", "+LINE 20", " line 21", " line 22", " line 23"),
        )
    ]


def test_creating_and_emptying_start_at_line_one() -> None:
    assert structured_patch("", "a\nb\n") == [hunk((1, 0), (1, 2), "+a", "+b")]
    assert structured_patch("a\nb\n", "") == [hunk((1, 2), (1, 0), "-a", "-b")]


def test_a_missing_last_line_end_is_marked_on_its_side() -> None:
    note = "\\ No newline at end of file"
    assert structured_patch("r", "s") == [hunk((1, 1), (1, 1), "-r", note, "+s", note)]
    assert structured_patch("a\n", "a") == [hunk((1, 1), (1, 1), "-a", "+a", note)]
    assert structured_patch("one\nthree", "three") == [hunk((1, 2), (1, 1), "-one", " three", note)]


def test_removed_lines_come_before_added_ones() -> None:
    assert structured_patch("x\nx\nx\n", "y\ny\ny\n") == [
        hunk((1, 3), (1, 3), "-x", "-x", "-x", "+y", "+y", "+y")
    ]


def test_near_changes_share_a_hunk_and_far_ones_do_not() -> None:
    lines = [f"line {n}\n" for n in range(1, 31) if n not in (5, 25)]
    old = "".join(f"line {n}\n" for n in range(1, 31))
    assert structured_patch(old, "".join(lines) + "tail") == [
        hunk((2, 7), (2, 6), " line 2", " line 3", " line 4", "-line 5", " line 6", " line 7", " line 8"),
        hunk(
            (22, 9),
            (21, 9),
            *(" line 22", " line 23", " line 24", "-line 25", " line 26", " line 27", " line 28", " line 29"),
            *(" line 30", "+tail", "\\ No newline at end of file"),
        ),
    ]


def test_a_change_in_a_huge_file_is_found_at_once() -> None:
    old = "same\n" * 400_000
    assert structured_patch(old, old + "new\n") == [
        hunk((399_998, 3), (399_998, 4), " same", " same", " same", "+new")
    ]


def test_texts_without_anything_in_common_are_replaced_as_a_whole() -> None:
    old, new = "".join(f"a{n}\n" for n in range(2000)), "".join(f"b{n}\n" for n in range(2000))
    (found,) = structured_patch(old, new)
    assert (found["oldLines"], found["newLines"], len(found["lines"])) == (2000, 2000, 4000)


def applied(old: str, hunks: list[Hunk]) -> str:
    """The text a patch makes of another, by the plain meaning of its lines."""
    before = old.split("\n")
    kept = before[:-1] if before[-1] == "" else before
    result: list[str] = []
    position = 0
    ended = old.endswith("\n") or not old
    for part in hunks:
        result += kept[position : part["oldStart"] - 1]
        lines = part["lines"]
        for n, line in enumerate(lines):
            open_end = n + 1 < len(lines) and lines[n + 1].startswith("\\")
            if line[0] in " +":
                result.append(line[1:])
                ended = not open_end
        position = part["oldStart"] - 1 + part["oldLines"]
    rest = kept[position:]
    if rest:
        ended = old.endswith("\n")
    return "\n".join(result + rest) + ("\n" if ended and (result or rest) else "")


text = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=12).map(lambda parts: "\n".join(parts))


@settings(max_examples=150, deadline=None)
@given(text, text)
def test_a_patch_turns_the_old_text_into_the_new(old: str, new: str) -> None:
    assert applied(old, structured_patch(old, new)) == new
