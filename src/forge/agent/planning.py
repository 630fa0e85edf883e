"""What the model hears about plan mode: when it begins, where the plan goes, and when it is over."""

from __future__ import annotations

from forge.agent.session import Reminder, Session
from forge.agent.team.crew import Seat
from forge.agent.texts.load import text
from forge.core.message import Text
from forge.core.plan import Plan, plan_path, read_plan
from forge.core.reminder import reminder


def prepare_plan(s: Session) -> None:
    """Lets a session that may come to plan mode write its plan."""
    s.keep(Plan).mode = lambda: s.situation.mode
    if s.situation.mode == "plan" or s.find_tool("ExitPlanMode") is not None:
        s.situation = s.situation.changed(plan_file=_path(s))


def mode_news(s: Session) -> list[Reminder]:
    """What to tell the model if plan mode began or ended without its doing; sub-agents do not plan."""
    plan, planning = s.keep(Plan), s.situation.mode == "plan"
    if planning == plan.known or s.keep(Seat).depth:
        return []
    plan.known = planning
    kind, words = ("plan_mode", plan_words(s)) if planning else ("plan_mode_exit", text("plan_mode_exit"))
    return [Reminder(kind, reminder(words))]


def tell_mode(s: Session) -> None:
    """Tells the model of a change of mode in the middle of a turn."""
    for news in mode_news(s):
        s.recorder.reminder(news.kind, news.text)
        s.add_user([Text(news.text)])


def plan_words(s: Session) -> str:
    """What plan mode means and where the plan goes."""
    path = _path(s)
    there = "plan_mode_again" if read_plan(path) is not None else "plan_mode_new"
    ending = "plan_mode_hand_over" if s.find_tool("ExitPlanMode") is not None else "plan_mode_alone"
    way = s.keep(Plan).instructions or text("plan_mode_way")
    return "\n\n".join([text("plan_mode"), way, text(ending), text(there).replace("{path}", path)])


def _path(s: Session) -> str:
    return plan_path(s.id, s.parts.env, s.parts.setting, s.situation.start_dir)
