"""EnterPlanMode: from here on the model plans and changes nothing."""

from __future__ import annotations

import os

import msgspec

from forge.core.plan import Plan, plan_path
from forge.core.tool import Action, ToolContext, ToolOutput

_ENTERED = (
    "Entered plan mode. You should now focus on exploring the codebase and designing an implementation "
    "approach."
)
_ADVICE = os.path.join(os.path.dirname(__file__), "enterplanmode_result.md")


class Args(msgspec.Struct, frozen=True):
    pass


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Switches the mode, remembering the one before."""
    plan = ctx.keep(Plan)
    if plan.mode() != "plan":
        plan.mode_before = plan.mode()
        ctx.set_mode("plan")
    plan.known = True
    path = plan_path(ctx.session_id, ctx.env, ctx.setting, ctx.start_dir)
    return ToolOutput(f"{_ENTERED}\n\n{_advice(path)}", {"message": _ENTERED})


def _advice(path: str) -> str:
    with open(_ADVICE, encoding="utf-8") as file:
        return file.read().strip().replace("{path}", path)


ACTION: Action[Args] = Action(Args, run)
