"""The table of the file tools. Code is imported on the first call of a tool, not before."""

from __future__ import annotations

import importlib
import os
from typing import Any

import msgspec

from forge.core.tool import Action, Tool


class Row(msgspec.Struct, frozen=True):
    """One tool: its code is `module`, its schema and prose are the .json and .md files of that name."""

    name: str
    module: str
    read_only: bool = False
    alone: bool = False
    aliases: tuple[str, ...] = ()
    needs_host: bool = False
    deferred: bool = False


ROWS = (
    Row("AskUserQuestion", "askuserquestion", read_only=True, needs_host=True),
    Row("CronCreate", "croncreate", alone=True, deferred=True),
    Row("CronDelete", "crondelete", alone=True, deferred=True),
    Row("CronList", "cronlist", read_only=True, deferred=True),
    Row("Edit", "edit", alone=True),
    Row("EnterPlanMode", "enterplanmode", alone=True, needs_host=True),
    Row("ExitPlanMode", "exitplanmode", alone=True, needs_host=True),
    Row("Glob", "glob", read_only=True),
    Row("Grep", "grep", read_only=True),
    Row("NotebookEdit", "notebookedit", alone=True, deferred=True),
    Row("Read", "read", read_only=True),
    Row("ScheduleWakeup", "schedulewakeup", alone=True),
    Row("TaskCreate", "taskcreate", alone=True, deferred=True),
    Row("TaskGet", "taskget", read_only=True, deferred=True),
    Row("TaskList", "tasklist", read_only=True, deferred=True),
    Row("TaskStop", "taskstop", alone=True, deferred=True),
    Row("TaskUpdate", "taskupdate", alone=True, deferred=True),
    Row("TodoWrite", "todowrite", alone=True),
    Row("ToolSearch", "toolsearch", read_only=True),
    Row("WebFetch", "webfetch", read_only=True, deferred=True),
    Row("WebSearch", "websearch", read_only=True, deferred=True),
    Row("Write", "write", alone=True),
)


def builtin_tools() -> list[Tool]:
    """The tools of this package, in the order of their names."""
    return [_tool(row) for row in ROWS]


def _tool(row: Row) -> Tool:
    place = os.path.join(os.path.dirname(__file__), row.module)

    def load() -> Action[Any]:
        action: Action[Any] = importlib.import_module(f"forge.core.tools.{row.module}").ACTION
        return action

    with open(f"{place}.json", "rb") as schema_file, open(f"{place}.md", encoding="utf-8") as prose_file:
        schema = msgspec.json.decode(schema_file.read(), type=dict[str, Any])
        prose = prose_file.read().strip()
    return Tool(
        row.name,
        prose,
        schema,
        load,
        read_only=row.read_only,
        alone=row.alone,
        aliases=row.aliases,
        needs_host=row.needs_host,
        deferred=row.deferred,
    )
