from __future__ import annotations

import pytest

from forge.core.schema_check import check_schema
from forge.core.tools.builtin import builtin_tools

# name: (properties with types, required)
OBSERVED: dict[str, tuple[str, list[str]]] = {
    "AskUserQuestion": ("questions:array answers:object annotations:object metadata:object", ["questions"]),
    "CronCreate": ("cron:string prompt:string recurring:boolean durable:boolean", ["cron", "prompt"]),
    "CronDelete": ("id:string", ["id"]),
    "CronList": ("", []),
    "EnterPlanMode": ("", []),
    "ExitPlanMode": ("allowedPrompts:array", []),
    "NotebookEdit": (
        "notebook_path:string cell_id:string new_source:string cell_type:string edit_mode:string",
        ["notebook_path", "new_source"],
    ),
    "ScheduleWakeup": (
        "delaySeconds:number reason:string prompt:string stop:boolean noop:boolean",
        [],
    ),
    "TaskCreate": (
        "subject:string description:string activeForm:string metadata:object",
        ["subject", "description"],
    ),
    "TaskGet": ("taskId:string", ["taskId"]),
    "TaskList": ("", []),
    "TaskUpdate": (
        "taskId:string subject:string description:string activeForm:string status:anyOf addBlocks:array "
        "addBlockedBy:array owner:string metadata:object",
        ["taskId"],
    ),
    "TodoWrite": ("todos:array", ["todos"]),
    "ToolSearch": ("query:string max_results:number", ["query", "max_results"]),
    "WebSearch": ("query:string allowed_domains:array blocked_domains:array", ["query"]),
}
TOOLS = {tool.name: tool for tool in builtin_tools()}


@pytest.mark.parametrize("name", OBSERVED)
def test_schemas_equal_the_observed_ones(name: str) -> None:
    schema = TOOLS[name].schema
    seen = " ".join(f"{key}:{rule.get('type', 'anyOf')}" for key, rule in schema["properties"].items())
    assert (seen, schema.get("required", [])) == OBSERVED[name]
    assert schema["additionalProperties"] == ({} if name == "ExitPlanMode" else False)


@pytest.mark.parametrize("name", OBSERVED)
def test_schemas_are_usable_and_every_parameter_is_described(name: str) -> None:
    tool = TOOLS[name]
    assert check_schema(tool.schema) is None
    assert [key for key, rule in tool.schema["properties"].items() if not rule.get("description")] == []
    assert tool.description and tool.load() is tool.load()


def test_tools_that_need_an_answer_or_come_later_are_marked() -> None:
    marked = {name: (TOOLS[name].needs_host, TOOLS[name].deferred) for name in OBSERVED}
    needing = {name for name, (needs, _) in marked.items() if needs}
    later = {name for name, (_, deferred) in marked.items() if deferred}
    assert needing == {"AskUserQuestion", "EnterPlanMode", "ExitPlanMode"}
    assert later == set(OBSERVED) - {"AskUserQuestion", "ScheduleWakeup", "ToolSearch"}
