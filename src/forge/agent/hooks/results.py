"""What hooks have said about a result stands behind it, in the transcript too."""

from __future__ import annotations

from forge.agent.hooks.sites import tell
from forge.agent.hooks.state import HookState
from forge.agent.session import Session


def tell_of_result(s: Session, call: str) -> None:
    """Tells what was held back until the result of a call was written."""
    tell(s, s.keep(HookState).of_results.pop(call, []), call)
