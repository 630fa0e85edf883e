"""The table of the file tools and of those that need no program."""

from __future__ import annotations

import os

from forge.core.packaged import Row, packaged_tool
from forge.core.tool import Tool

ROWS = (
    Row("AskUserQuestion", "askuserquestion", read_only=True, needs_host=True),
    Row("CronCreate", "croncreate", alone=True, deferred=True),
    Row("CronDelete", "crondelete", alone=True, deferred=True),
    Row("CronList", "cronlist", read_only=True, deferred=True),
    Row("Edit", "edit", alone=True),
    Row("EnterPlanMode", "enterplanmode", alone=True, needs_host=True, deferred=True),
    Row("ExitPlanMode", "exitplanmode", alone=True, needs_host=True, deferred=True),
    Row("Glob", "glob", read_only=True),
    Row("Grep", "grep", read_only=True),
    Row("NotebookEdit", "notebookedit", alone=True, deferred=True),
    Row("Read", "read", read_only=True),
    Row("ScheduleWakeup", "schedulewakeup", alone=True),
    Row("TaskCreate", "taskcreate", alone=True, deferred=True),
    Row("TaskGet", "taskget", read_only=True, deferred=True),
    Row("TaskList", "tasklist", read_only=True, deferred=True),
    Row("TaskStop", "taskstop", alone=True, aliases=("KillShell", "KillBash"), deferred=True),
    Row("TaskUpdate", "taskupdate", alone=True, deferred=True),
    Row("TodoWrite", "todowrite", alone=True, deferred=True),
    Row("ToolSearch", "toolsearch", read_only=True),
    Row("WebFetch", "webfetch", read_only=True, deferred=True),
    Row("WebSearch", "websearch", read_only=True, deferred=True),
    Row("Write", "write", alone=True),
)


def builtin_tools() -> list[Tool]:
    """The tools of this package, in the order of their names."""
    directory = os.path.dirname(__file__)
    return [packaged_tool(row, "forge.core.tools", directory) for row in ROWS]
