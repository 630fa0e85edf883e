"""The screen with its toolkit, without a terminal: what only the two together can show."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from forge.core.review.draft import Comment, State
from forge.hosts.diffy.screen.app import ReviewApp
from forge.hosts.diffy.screen.contents import Contents, contents_of
from forge.hosts.diffy.screen.desk import Desk
from forge.hosts.diffy.screen.opening import Ended, Opening
from forge.hosts.diffy.screen.palette import Palette
from unit.hosts.diffy.screen.sheets import desk, file, listing, shop, unit

Play = Callable[[Pilot[Ended]], Awaitable[object]]


def run(
    play: Play, one: Desk | None = None, opening: Opening | None = None, theme: str = "dark"
) -> ReviewApp:
    app = ReviewApp(one or desk(), Palette(theme), opening or Opening())

    async def played() -> None:
        async with app.run_test(size=(120, 24)) as pilot:
            await play(pilot)

    asyncio.run(played())
    return app


def states(app: ReviewApp) -> list[str]:
    return [app.desk.draft.state(piece.id).value for piece in app.desk.contents.pieces]


@pytest.mark.requirement("S3-03")
def test_keys_decide_comment_undo_and_finish() -> None:
    async def play(pilot: Pilot[Ended]) -> None:
        await pilot.press("a", "r", "u", "c", "w", "ctrl+j", "x", "enter", "enter", "k")

    app = run(play)
    assert states(app) == ["accepted", "pending", "pending", "pending"]
    assert app.desk.draft.comments == (Comment("w\nx", "src/cart.py", "two"),)
    assert app.return_value == Ended(True)


def test_dialogs_show_and_take_all_keys_until_they_are_closed() -> None:
    seen: list[str] = []

    async def play(pilot: Pilot[Ended]) -> None:
        for key in ("question_mark", "A", "e"):
            await pilot.press(key)
            seen.append(type(pilot.app.screen).__name__)
            await pilot.press("escape")
        await pilot.press("slash", *"ite", "enter")
        seen.append(str(pilot.app.focused and pilot.app.focused.id))

    app = run(play)
    assert seen == ["Read", "Ask", "Write", "diff"]
    assert (states(app), app.desk.scene.match) == (["pending"] * 4, (0, 0))


def test_the_edit_of_a_hunk_is_saved_with_its_own_key() -> None:
    found = listing(file("a.txt", unit("crlf", "-one\r\n+two\r\n")))

    async def play(pilot: Pilot[Ended]) -> None:
        await pilot.press("e", "X", "enter", "Y", "ctrl+s", "q", "y")

    app = run(play, desk(found))
    assert app.desk.draft.mark("crlf").edit == "X\r\nYtwo\r\n"
    assert app.return_value == Ended(True)


def test_views_are_turned_on_and_off() -> None:
    views: list[tuple[bool, bool, bool]] = []

    async def play(pilot: Pilot[Ended]) -> None:
        await pilot.press("d", "f", "w")
        view = pilot.app.query_one("#tree")
        assert isinstance(pilot.app, ReviewApp)
        views.append((pilot.app.desk.view.side, pilot.app.desk.view.wrap, view.display))
        await pilot.resize_terminal(60, 20)
        await pilot.press("d", "d")
        views.append((pilot.app.desk.view.side, pilot.app.desk.view.wrap, view.display))
        await pilot.press("Q")

    app = run(play)
    assert (views, app.return_value) == ([(True, True, True), (False, True, True)], Ended(False))
    assert app.desk.message == "side by side needs 100 columns"


def test_the_mouse_moves_decides_and_selects() -> None:
    async def play(pilot: Pilot[Ended]) -> None:
        await pilot.click("#diff", offset=(20, 11))
        await pilot.click("#diff", offset=(1, 11))
        await pilot.mouse_down("#diff", offset=(20, 3))
        await pilot.hover("#diff", offset=(20, 4))
        await pilot.mouse_up("#diff", offset=(20, 4))
        await pilot.press("f")
        await pilot.pause()
        await pilot.click("#tree", offset=(4, 3))

    app = run(play)
    assert (states(app)[1], app.desk.here.unit) == ("accepted", 2)


def test_keys_typed_before_the_screen_appeared_are_no_verdicts() -> None:
    now = [0.0]

    async def play(pilot: Pilot[Ended]) -> None:
        await pilot.press("a", "r", "enter")
        now[0] = 0.5
        await pilot.press("r", "enter", "enter")

    app = run(play, opening=Opening(guard=0.4, clock=lambda: now[0]))
    assert (states(app), app.return_value) == (["rejected", "pending", "pending", "pending"], None)


def test_another_baseline_can_be_chosen() -> None:
    asked: list[str] = []
    other = listing(file("z.py", unit("zero", "+z\n")), *shop().files)

    def relist(name: str) -> Contents:
        asked.append(name)
        return contents_of(other)

    async def play(pilot: Pilot[Ended]) -> None:
        await pilot.press("b", "2")

    app = run(play, opening=Opening(base="reviewed", bases=("reviewed", "turn"), relist=relist))
    assert (asked, app.base_name, len(states(app))) == (["turn"], "turn", 5)


def test_an_agent_that_goes_is_announced_and_one_that_takes_over_closes_the_screen() -> None:
    class Waiter:
        def __init__(self) -> None:
            self.news = iter(["gone", "close"])

        def poll(self) -> str | None:
            return next(self.news, None)

    async def play(pilot: Pilot[Ended]) -> None:
        assert isinstance(pilot.app, ReviewApp)
        pilot.app._poll()
        warnings.append(pilot.app.warning)
        pilot.app._poll()

    warnings: list[str] = []
    app = run(play, opening=Opening(waiter=Waiter()))
    assert (warnings[0].startswith("the agent no longer waits"), app.return_value) == (True, Ended(False))


@pytest.mark.parametrize("theme", ["light", "plain", "dark256"])
def test_every_theme_can_be_drawn(theme: str) -> None:
    async def play(pilot: Pilot[Ended]) -> None:
        await pilot.press("c")

    assert run(play, theme=theme).desk.draft.state("one") is State.PENDING


def test_what_is_hidden_cannot_be_decided_and_nothing_to_review_does_no_harm() -> None:
    async def play(pilot: Pilot[Ended]) -> None:
        await pilot.press("t", "a", "r", "e", "c", "ctrl+d", "u")

    one = desk(listing(file("a", unit("u", "+x\n"))))
    hidden, empty = run(play, one), run(play, desk(listing()))
    assert (states(hidden), states(empty)) == (["pending"], [])


def test_a_korean_keyboard_decides_too() -> None:
    async def play(pilot: Pilot[Ended]) -> None:
        await pilot.press("ㅁ", "ㄱ")

    assert states(run(play))[:3] == ["accepted", "rejected", "pending"]
