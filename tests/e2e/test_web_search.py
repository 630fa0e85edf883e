from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakemodel import serve
from forge_run import MODEL, Run, environment, forge

ASKED = "Perform a web search for the query: "
ALLOWED = ("--output-format", "stream-json", "--verbose", "--allowedTools", "WebSearch")
PAGES: list[dict[str, Any]] = [
    {"type": "web_search_result", "title": "A", "url": "https://a.example/x", "encrypted_content": "e"},
    {"type": "web_search_result", "title": 'B "q" é', "url": "https://b.example/y", "page_age": None},
]
CITED = {"type": "web_search_result_location", "url": "https://a.example/x", "title": "A", "cited_text": "c"}


def call(**given: Any) -> list[Any]:
    return [[{"tool": "WebSearch", "input": {"query": "python news", **given}}], [{"text": "ok"}]]


def searched(number: int, content: Any) -> list[dict[str, Any]]:
    """A search of the server and what came of it, as blocks."""
    use = {"type": "server_tool_use", "id": f"s{number}", "name": "web_search", "input": {}}
    query = {"type": "input_json_delta", "partial_json": '{"query": "python news"}'}
    result = {"type": "web_search_tool_result", "tool_use_id": f"s{number}", "content": content}
    return [{"block": use, "deltas": [query]}, {"block": result}]


FOUND: dict[str, Any] = {
    "blocks": [
        {"text": "I will search."},
        *searched(1, PAGES),
        {"text": "First part. "},
        {
            "block": {"type": "text", "text": ""},
            "deltas": [
                {"type": "text_delta", "text": "Second part."},
                {"type": "citations_delta", "citation": CITED},
            ],
        },
        *searched(2, []),
        {"text": "End."},
    ],
    "usage": {"input_tokens": 1000, "output_tokens": 50, "server_tool_use": {"web_search_requests": 2}},
}
LINKS = (
    'Links: [{"title":"A","url":"https://a.example/x"},{"title":"B \\"q\\" é","url":"https://b.example/y"}]'
)
REMINDER = "\n\n\nName the sources you rely on in your answer, as Markdown links."


def result(run: Run) -> tuple[str, Any]:
    """Text and structured form of the one tool result."""
    record = run.of("user")[0]
    return record["message"]["content"][0]["content"], record["tool_use_result"]


def run(project: Path, env: dict[str, str], model: str = MODEL, **settings: Any) -> Run:
    args = ("--model", model, "--settings", json.dumps(settings))
    return forge("-p", "go", *ALLOWED, *args, cwd=project, env=env)


def test_the_provider_searches_in_a_request_of_its_own(home: Path, tmp_path: Path) -> None:
    with serve(call(allowed_domains=["a.example", "b.example"])) as server:
        server.branch(ASKED, [FOUND])
        done = run(tmp_path, environment(home, server.url))
    text, data = result(done)
    head = 'Web search results for query: "python news"\n\nI will search.\n\n'
    tail = "\n\nFirst part. Second part.\n\nNo links found.\n\nEnd."
    assert text == head + LINKS + tail + REMINDER
    assert (data["query"], data["searchCount"], data["results"]) == (
        "python news",
        2,
        [
            "I will search.",
            {"tool_use_id": "s1", "content": [{"title": p["title"], "url": p["url"]} for p in PAGES]},
            "First part. Second part.",
            {"tool_use_id": "s2", "content": []},
            "End.",
        ],
    )
    body = server.requests[1].body
    assert (body["tools"], body["tool_choice"], "thinking" in body) == (
        [
            {
                "type": "web_search_20250305",
                "name": "web_search",
                "allowed_domains": ["a.example", "b.example"],
                "max_uses": 8,
            }
        ],
        {"type": "tool", "name": "web_search"},
        False,
    )
    assert body["messages"][0]["content"][0]["text"] == f"{ASKED}python news"


def test_a_search_of_the_provider_is_counted_and_paid(home: Path, tmp_path: Path) -> None:
    with serve(call()) as server:
        server.branch(ASKED, [FOUND])
        done = run(tmp_path, environment(home, server.url))
    ended = done.of("result")[0]
    spent = ended["modelUsage"][MODEL]
    # 1020 tokens in at 3 dollars and 60 out at 15 per million, and two searches at a cent.
    assert (ended["total_cost_usd"], ended["usage"]["input_tokens"]) == (0.02396, 20)
    assert {k: spent[k] for k in ("inputTokens", "outputTokens", "webSearchRequests", "costUSD")} == {
        "inputTokens": 1020,
        "outputTokens": 60,
        "webSearchRequests": 2,
        "costUSD": 0.02396,
    }


@pytest.mark.parametrize(
    ("turn", "text", "failed"),
    [
        (
            {
                "blocks": searched(
                    1, {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
                )
            },
            'Web search results for query: "python news"\n\nWeb search error: max_uses_exceeded' + REMINDER,
            None,
        ),
        (
            {"errors": [{"status": 400, "error": {"message": "no search here"}}] * 2, "blocks": []},
            "API Error: 400 no search here",
            True,
        ),
    ],
)
def test_a_search_that_fails_is_told(
    home: Path, tmp_path: Path, turn: dict[str, Any], text: str, failed: bool | None
) -> None:
    with serve(call()) as server:
        server.branch(ASKED, [turn])
        done = run(tmp_path, environment(home, server.url))
    told = done.of("user")[0]["message"]["content"][0]
    assert (told["content"], told.get("is_error")) == (text, failed)


def test_a_paused_search_goes_on(home: Path, tmp_path: Path) -> None:
    first = {"blocks": [{"text": "wait"}, *searched(1, PAGES[:1])], "stop": "pause_turn"}
    with serve(call()) as server:
        server.branch(ASKED, [first, [{"text": "there"}]])
        done = run(tmp_path, environment(home, server.url))
    assert [r if isinstance(r, str) else r["tool_use_id"] for r in result(done)[1]["results"]] == [
        "wait",
        "s1",
        "there",
    ]


def test_the_responses_api_searches_too(home: Path, tmp_path: Path) -> None:
    search = {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {
            "type": "search",
            "query": "python news",
            "sources": [
                {"type": "url", "url": "https://a.example/x"},
                {"type": "url", "url": "https://no.example"},
            ],
        },
    }
    opened = {
        "type": "web_search_call",
        "id": "ws_2",
        "action": {"type": "open_page", "url": "https://a.example/x"},
    }
    noted = {
        "type": "url_citation",
        "url": "https://a.example/x",
        "title": "A",
        "start_index": 0,
        "end_index": 3,
    }
    said = {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "It is out.", "annotations": [noted]}],
    }
    usage = {"input_tokens": 1000, "output_tokens": 50}
    final = {"id": "r", "model": "gpt-5", "output": [search, opened, said], "usage": usage}
    with serve(call(blocked_domains=["no.example"])) as server:
        server.branch(ASKED, [{"raw": [{"type": "response.completed", "response": final}]}])
        env = environment(home) | {"OPENAI_API_KEY": "dummy", "OPENAI_BASE_URL": f"{server.url}/v1"}
        done = run(tmp_path, env, "openai/gpt-5")
    text, data = result(done)
    links = 'Links: [{"title":"A","url":"https://a.example/x"}]'
    assert text == f'Web search results for query: "python news"\n\n{links}\n\nIt is out.' + REMINDER
    assert data["searchCount"] == 1
    body = server.requests[1].body
    assert (body["tools"], body["tool_choice"], body["max_tool_calls"]) == (
        [{"type": "web_search"}],
        "required",
        8,
    )
    assert body["include"] == ["web_search_call.action.sources", "reasoning.encrypted_content"]
    assert (
        body["input"][0]["content"][0]["text"] == f"{ASKED}python news\nLeave out what comes from: no.example"
    )
    spent = done.of("result")[0]["modelUsage"]["gpt-5"]
    assert (spent["webSearchRequests"], spent["costUSD"]) == (1, 0.011875)


@pytest.mark.parametrize(
    ("own", "settings", "offered"),
    [
        ({}, {}, False),
        ({}, {"webSearch": {"endpoint": "http://127.0.0.1:9/"}}, True),
        ({}, {"webSearch": {"endpoint": "http://127.0.0.1:9/"}, "airGap": True}, False),
        ({"webSearch": True}, {"airGap": True}, True),
    ],
)
def test_it_is_offered_where_somebody_can_search(
    home: Path, tmp_path: Path, own: dict[str, Any], settings: dict[str, Any], offered: bool
) -> None:
    with serve([[{"text": "ok"}]]) as server:
        row = {"protocol": "anthropic", "baseUrl": server.url, **own}
        done = run(tmp_path, environment(home), "mine/m", providers={"mine": row}, **settings)
    assert ("WebSearch" in done.of("system", "init")[0]["tools"]) is offered


def test_behind_an_air_gap_nobody_but_the_provider_is_asked(home: Path, tmp_path: Path) -> None:
    with serve(call()) as server:
        server.branch(ASKED, [FOUND])
        settings: dict[str, Any] = {"airGap": True, "webSearch": {"endpoint": "http://127.0.0.1:9/"}}
        done = run(tmp_path, environment(home, server.url), **settings)
    assert result(done)[1]["searchCount"] == 2
    assert [r.path for r in server.requests] == ["/v1/messages?beta=true"] * 3


@pytest.mark.parametrize(
    ("model", "settings", "reason"),
    [
        ("sonnet", {}, ""),
        ("sonnet", {"airGap": True}, ""),
        (
            "ollama/x",
            {},
            "the model's provider does not search the web, and there is no search endpoint"
            " (webSearch.endpoint in the settings)",
        ),
        (
            "ollama/x",
            {"airGap": True, "webSearch": {"endpoint": "http://127.0.0.1:9/"}},
            "the model's provider does not search the web, and airGap keeps Forge from asking anybody else",
        ),
    ],
)
def test_the_doctor_says_why_nobody_can_search(
    home: Path, tmp_path: Path, model: str, settings: dict[str, Any], reason: str
) -> None:
    args = ("--model", model, "--settings", json.dumps(settings), "doctor", "--json")
    told = json.loads(forge(*args, cwd=tmp_path, env=environment(home, "http://127.0.0.1:9")).out)
    (row,) = [row for row in told["tools"] if row["name"] == "WebSearch"]
    assert (row["offered"], row["why"]) == (not reason, reason)
