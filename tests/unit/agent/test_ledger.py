from __future__ import annotations

import asyncio

import msgspec
import pytest

from doubles import CARD, RecordingHost, ScriptedModel, call, echo, session, tool
from forge.agent.event import Warned
from forge.agent.ledger import Ledger
from forge.agent.loop import run_turn
from forge.agent.session import Limits, Prompt
from forge.core.message import Text, Usage

# At the prices of the double: 3 dollars for a million.
MILLION = Usage(input=1_000_000)


def test_what_was_spent_before_a_resume_is_in_the_total_but_not_against_the_cap() -> None:
    first, again = Ledger(), Ledger()
    first.add(CARD, MILLION)
    again.restore(first.state())
    before = (again.cost, again.spent_here)
    again.add(CARD, MILLION)
    assert (*before, again.cost, again.spent_here) == pytest.approx((3, 0, 6, 3))


def test_what_was_cleared_away_counts_against_the_cap_but_not_in_the_total() -> None:
    ledger, past = Ledger(), Ledger()
    past.add(CARD, MILLION)
    ledger.restore(past.state())
    ledger.add(CARD, MILLION)
    ledger.begin_anew()
    ledger.add(CARD, MILLION)
    assert (ledger.cost, ledger.spent_here) == pytest.approx((3, 6))


def test_a_price_the_provider_names_counts_instead_of_the_list() -> None:
    ledger = Ledger()
    ledger.add(CARD, MILLION, 0.5)
    assert ledger.cost == 0.5


@pytest.mark.parametrize(("budget", "warned"), [(None, 0), (1.0, 1)])
def test_a_budget_that_cannot_hold_is_said_once(budget: float | None, warned: int) -> None:
    model, host = ScriptedModel([[call("Echo")], [Text("end")]]), RecordingHost()
    model.card = msgspec.structs.replace(CARD, price=None)
    s = session(model, host, [tool("Echo", echo)], limits=Limits(max_budget_usd=budget))
    asyncio.run(run_turn(s, Prompt("go", "p")))
    assert len(host.of(Warned)) == warned
