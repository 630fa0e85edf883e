"""The CLI as a model: what is told to it and what comes back."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from cli_talk import FORGE_BASH, HOOK, ask, can_use, opened, place, talk, user, whole
from fake_claude import FakeClaude, Line, call, init, message, result, text, tool_result
from forge.core.message import Block, Image, Message, Source, Text, Thinking, ToolResult, ToolUse
from forge.core.model import Finished, Model, Permission
from forge.foundation.errors import ModelError
from leftovers import left_running


@pytest.mark.requirement("S4-14", "S4-18")
def test_a_conversation_stays_in_one_process_and_calls_are_left_to_forge(home: Path, tmp_path: Path) -> None:
    calls = [call(FORGE_BASH, 1, command="ls"), call(FORGE_BASH, 2, command="pwd")]
    deferred = result(stop_reason="tool_deferred", terminal_reason="tool_deferred", total_cost_usd=0.5)
    fake = FakeClaude(
        tmp_path,
        [init(), *message([text("I look."), *calls], reason="tool_use"), HOOK, HOOK, deferred],
        [init(), *message([text("done")], 2), result(total_cost_usd=0.75)],
    )
    model = opened(fake, home)

    async def use(model: Model) -> list[Finished]:
        asked = [user("go")]
        first = await whole(model, ask(*asked))
        answers: list[Block] = [ToolResult("toolu_1", "a"), ToolResult("toolu_2", "/", True), Text("note")]
        return [first, await whole(model, ask(*asked, first.message, user(*answers)))]

    first, second = talk(model, use)
    assert first.message.blocks == [
        Text("I look."),
        ToolUse("toolu_1", "Bash", {"command": "ls"}),
        ToolUse("toolu_2", "Bash", {"command": "pwd"}),
    ]
    assert (first.stop_reason, first.cost_usd, first.usage.input, first.usage.output) == (
        *("tool_use", 0.5),
        *(10, 5),
    )
    assert (second.message.text, second.cost_usd, second.results) == ("done", 0.25, [])
    assert (model.card.context_window, model.card.max_output) == (1_000_000, 128_000)
    assert len(fake.noted("argv")) == 1
    assert fake.prompts()[1] == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": "a"},
        {"type": "tool_result", "tool_use_id": "toolu_2", "content": "/", "is_error": True},
        {"type": "text", "text": "note"},
    ]
    answered = [h["response"]["response"] for h in fake.noted("heard") if h["type"] == "control_response"]
    assert [a["hookSpecificOutput"]["permissionDecision"] for a in answered[1:]] == ["defer", "defer"]
    assert answered[0]["mcp_response"]["result"]["tools"][0]["name"] == "Bash"


def test_a_conversation_it_does_not_know_is_handed_over_anew(home: Path, tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path, [init(), *message([text("ok")]), result()])
    past = [user("q1"), Message("assistant", [Text("a1")], made_by="openai/x")]
    loop = [
        Message(
            "assistant", [Thinking("hm", "sig"), ToolUse("t1", "Bash", {})], made_by="claude-code/sonnet"
        ),
        user(ToolResult("t1", "out")),
    ]

    async def use(model: Model) -> list[str]:
        said = [await whole(model, ask(*past, user("q2"), *loop)), await whole(model, ask(user("other")))]
        said.append(await whole(model, ask(user("other"), system="Be long.")))
        return [each.message.text for each in said]

    assert talk(opened(fake, home), use) == ["ok"] * 3
    (records,) = fake.noted("history")
    assert [r["message"]["content"][0]["text"] for r in records] == ["q1", "a1"]
    heard = [h for h in fake.noted("heard") if h["type"] in ("user", "assistant")]
    assert [h.get("shouldQuery", True) for h in heard] == [False, True, True, True, True]
    assert heard[1]["message"]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "tool_use", "id": "t1", "name": FORGE_BASH, "input": {}},
    ]
    assert len(fake.noted("argv")) == 3
    assert list((home / ".forge" / "cache" / "claude-cli").iterdir()) == []


def test_images_and_the_system_prompt_reach_it_through_its_input(home: Path, tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path, [init(), *message([text("seen")]), result()])
    image = Image(Source("base64", "image/png", "AAAA"))
    talk(opened(fake, home), lambda model: whole(model, ask(user("look", image), system="Look hard.")))
    assert fake.prompts() == [
        [
            {"type": "text", "text": "look"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        ]
    ]
    assert fake.noted("heard")[0]["request"]["systemPrompt"] == ["Look hard."]
    assert "Look hard." not in str(fake.noted("argv"))


@pytest.mark.requirement("S4-18", "S4-19")
def test_in_agent_mode_each_message_is_a_reply_with_the_results_of_its_calls(
    home: Path, tmp_path: Path
) -> None:
    two = [call("Bash", 1, command="ls"), call("Read", 2, file_path="x")]
    fake = FakeClaude(
        tmp_path,
        [
            *(init(), *message([text("I look."), *two], reason="tool_use")),
            *(HOOK, can_use("Bash", 1, command="ls"), can_use("Read", 2, file_path="x")),
            *(tool_result(2, "no", is_error=True), tool_result(1, [{"type": "text", "text": "out"}])),
            *(*message([text("done")], 2), result(total_cost_usd=0.5)),
        ],
        [init(), *message([text("again")], 3), result(total_cost_usd=0.75)],
    )
    asked: list[ToolUse] = []

    def decide(one: ToolUse) -> Permission:
        asked.append(one)
        return Permission(one.name == "Bash", {**one.input, "changed": True}, "not that")

    async def use(model: Model) -> list[Finished]:
        where = place(decide, str(tmp_path))
        history = [user("go")]
        said = []
        for prompt in ("", "more"):
            while True:
                said.append(await whole(model, ask(*history, place=where)))
                history.append(said[-1].message)
                if not said[-1].results:
                    break
                history.append(user(*said[-1].results, "<system-reminder>new</system-reminder>"))
            history.append(user(prompt or "next"))
        return said

    first, second, third = talk(opened(fake, home, mode="agent"), use)
    assert first.results == [ToolResult("toolu_2", "no", True), ToolResult("toolu_1", "out")]
    assert [c.name for c in first.message.calls] == ["Bash", "Read"]
    assert [f.message.text for f in (second, third)] == ["done", "again"]
    assert [f.cost_usd for f in (first, second, third)] == [0.0, 0.5, 0.25]
    assert asked == [
        ToolUse("toolu_1", "Bash", {"command": "ls"}),
        ToolUse("toolu_2", "Read", {"file_path": "x"}),
    ]
    answers = [h["response"]["response"] for h in fake.noted("heard") if h["type"] == "control_response"]
    assert answers[0]["hookSpecificOutput"]["permissionDecision"] == "ask"
    assert answers[1:] == [
        {"behavior": "allow", "updatedInput": {"command": "ls", "changed": True}},
        {"behavior": "deny", "message": "not that"},
    ]
    assert fake.prompts() == [
        [{"type": "text", "text": "go"}],
        [
            {"type": "text", "text": "<system-reminder>new</system-reminder>"},
            {"type": "text", "text": "next"},
        ],
    ]
    assert len(fake.noted("argv")) == 1


def test_a_prompt_in_the_middle_of_its_turn_starts_it_anew(home: Path, tmp_path: Path) -> None:
    turn = [init(), *message([call("Bash", 1, command="ls")], reason="tool_use"), tool_result(1, "out")]
    fake = FakeClaude(tmp_path, [*turn, {"$": "hang"}])

    async def use(model: Model) -> list[ToolResult]:
        where = place(cwd=str(tmp_path))
        first = await whole(model, ask(user("go"), place=where))
        request = ask(user("go"), first.message, user(*first.results, "stop that"), place=where)
        return (await whole(model, request)).results

    assert talk(opened(fake, home, mode="agent"), use) == [ToolResult("toolu_1", "out")]
    assert (len(fake.noted("argv")), fake.noted("signal")) == (2, ["interrupt", "interrupt"])


def test_without_a_place_to_work_it_runs_nothing_even_in_agent_mode(home: Path, tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path, [init(), *message([text("sum")]), result()])
    talk(opened(fake, home, mode="agent"), lambda model: whole(model, ask(user("go"))))
    (argv,) = fake.noted("argv")
    assert argv[argv.index("--tools") + 1] == ""


def test_a_reply_that_was_cut_off_is_not_continued_behind_our_back(home: Path, tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path, [init(), *message([text("part")], reason="max_tokens"), {"$": "hang"}])
    finished = talk(opened(fake, home), lambda model: whole(model, ask(user("go"))))
    assert (finished.message.text, finished.stop_reason) == ("part", "max_tokens")


def test_a_question_that_cannot_be_answered_is_refused(home: Path, tmp_path: Path) -> None:
    odd: Line = {"$": "ask", "request": {"subtype": "elicitation"}}
    fake = FakeClaude(tmp_path, [init(), odd, can_use("Bash", 1), *message([text("ok")]), result()])

    async def use(model: Model) -> str:
        return (await whole(model, ask(user("go")))).message.text

    assert talk(opened(fake, home), use) == "ok"
    answers = [h["response"] for h in fake.noted("heard") if h["type"] == "control_response"][1:]
    assert [answer["subtype"] for answer in answers] == ["error", "success"]
    assert answers[1]["response"] == {"behavior": "deny", "message": "Calls are run by the host."}


def test_in_agent_mode_a_reply_the_cli_continues_itself_is_a_pause(home: Path, tmp_path: Path) -> None:
    cut = message([text("one ")], reason="max_tokens")
    fake = FakeClaude(tmp_path, [init(), *cut, *message([text("two")], 2), result()])

    async def use(model: Model) -> list[tuple[str, str]]:
        where = place(cwd=str(tmp_path))
        first = await whole(model, ask(user("go"), place=where))
        second = await whole(model, ask(user("go"), first.message, place=where))
        return [(each.message.text, each.stop_reason) for each in (first, second)]

    told = talk(opened(fake, home, mode="agent"), use)
    assert (told, len(fake.noted("argv"))) == ([("one ", "pause_turn"), ("two", "end_turn")], 1)


def test_a_process_that_has_gone_is_replaced(home: Path, tmp_path: Path) -> None:
    ending = {"$": "exit", "code": 1}
    fake = FakeClaude(tmp_path, [init(), *message([text("one")]), result(), ending])

    async def use(model: Model) -> list[str]:
        first = await whole(model, ask(user("go")))
        (pid,) = left_running()
        await asyncio.to_thread(os.waitid, os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        second = await whole(model, ask(user("go"), first.message, user("more")))
        return [first.message.text, second.message.text]

    assert talk(opened(fake, home), use) == ["one", "one"]
    assert len(fake.noted("argv")) == 2


def test_requests_at_the_same_time_do_not_share_a_process(home: Path, tmp_path: Path) -> None:
    fake = FakeClaude(tmp_path, [init(), *message([text("ok")]), result()])

    async def use(model: Model) -> list[str]:
        said = await asyncio.gather(*(whole(model, ask(user(word))) for word in ("a", "b", "c")))
        assert len(left_running()) == 1
        return [each.message.text for each in said]

    assert talk(opened(fake, home), use) == ["ok"] * 3


def test_a_start_that_fails_leaves_no_history_behind(home: Path, tmp_path: Path) -> None:
    model = opened(FakeClaude(tmp_path), home)
    past = [user("q"), Message("assistant", [Text("a")]), user("more")]
    gone = place(cwd=str(tmp_path / "gone"))
    with pytest.raises(ModelError, match="cannot be started: No such file or directory"):
        talk(model, lambda model: whole(model, ask(*past, place=gone)))
    assert list((home / ".forge" / "cache" / "claude-cli").iterdir()) == []


def test_limits_are_those_of_the_model_that_answered(home: Path, tmp_path: Path) -> None:
    rows = {
        "claude-sonnet-5-5": {"contextWindow": 500_000, "maxOutputTokens": 64_000},
        "claude-haiku-5-5": {"contextWindow": 200_000, "maxOutputTokens": 8_000},
    }
    fake = FakeClaude(tmp_path, [init(), *message([text("ok")]), result(modelUsage=rows)])
    model = opened(fake, home)
    talk(model, lambda model: whole(model, ask(user("go"))))
    assert (model.card.context_window, model.card.max_output) == (500_000, 64_000)


@pytest.mark.parametrize(("mode", "processes"), [("model", 1), ("agent", 2)])
def test_another_directory_matters_only_to_who_works_there(
    mode: str, processes: int, home: Path, tmp_path: Path
) -> None:
    turn = [init(), *message([text("ok")]), result()]
    fake = FakeClaude(tmp_path / "bin", turn, [init(), *message([text("ok")], 2), result()])
    (tmp_path / "sub").mkdir()

    async def use(model: Model) -> None:
        first = await whole(model, ask(user("go"), place=place(cwd=str(tmp_path))))
        await whole(model, ask(user("go"), first.message, user("on"), place=place(cwd=str(tmp_path / "sub"))))

    talk(opened(fake, home, mode=mode), use)
    assert len(fake.noted("argv")) == processes
