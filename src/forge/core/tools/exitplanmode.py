"""ExitPlanMode: the user has seen the plan and agreed; work may begin."""

from __future__ import annotations

from typing import Any

import msgspec

from forge.core.plan import Plan, plan_path, read_plan
from forge.core.tool import Action, ToolContext, ToolError, ToolOutput
from forge.core.tools.location import system_error
from forge.core.tools.store import write_atomically


class Args(msgspec.Struct, frozen=True):
    plan: str | None = None


async def check(args: Args, ctx: ToolContext) -> None:
    """Refuses to leave a mode the session is not in."""
    kept = ctx.keep(Plan)
    # The input is checked again after the user was asked; only the first time it is the model's own.
    if kept.asker is ctx:
        return
    if kept.mode() != "plan":
        raise ToolError(
            "You are not in plan mode. To enter plan mode, call the EnterPlanMode tool first. If your plan "
            "was already approved, continue with implementation."
        )
    kept.asker, kept.submitted = ctx, args.plan


def prepare(given: dict[str, Any], ctx: ToolContext) -> dict[str, Any]:
    """The input as the user is asked about it: what the plan file says, not what the model claims."""
    path = _path(ctx)
    plan = read_plan(path)
    rest = {key: value for key, value in given.items() if key not in ("plan", "planFilePath")}
    return rest if plan is None else {**rest, "plan": plan, "planFilePath": path}


async def run(args: Args, ctx: ToolContext) -> ToolOutput:
    """Goes back to the mode before; a plan the user has changed replaces the one in the file."""
    kept = ctx.keep(Plan)
    path = _path(ctx)
    plan = read_plan(path)
    edited = args.plan is not None and args.plan not in (plan, kept.submitted)
    if edited and args.plan is not None:
        plan = args.plan
        try:
            write_atomically(path, plan.encode())
        except OSError as error:
            raise system_error(error, "open", path) from None
    # Whoever agreed may have chosen a mode with it.
    if kept.mode() == "plan":
        ctx.set_mode(kept.mode_before)
    kept.known = False
    kept.mode_before, kept.asker, kept.submitted = "default", None, None
    data: dict[str, Any] = {"plan": plan, "isAgent": False, "filePath": path}
    if plan is None:
        return ToolOutput("User has approved exiting plan mode. You can now proceed.", data)
    if edited:
        data["planWasEdited"] = True
    return ToolOutput(_approved(plan, path, edited=edited), data)


def _approved(plan: str, path: str, *, edited: bool) -> str:
    by_user = " (edited by user)" if edited else ""
    return (
        "User has approved your plan. You can now start coding. Start with updating your todo list if "
        f"applicable\n\nYour plan has been saved to: {path}\nYou can refer back to it if needed during "
        f"implementation.\n\n## Approved Plan{by_user}:\n{plan}"
    )


def _path(ctx: ToolContext) -> str:
    return plan_path(ctx.session_id, ctx.env, ctx.setting, ctx.start_dir)


ACTION: Action[Args] = Action(Args, run, check, prepare)
