from __future__ import annotations

from typing import Any

import pytest

from forge.core.lsp.answers import (
    NO_DEFINITION,
    NO_DOCUMENT_SYMBOLS,
    NO_HOVER,
    NO_REFERENCES,
    NO_WORKSPACE_SYMBOLS,
    Answer,
)
from forge.core.lsp.operations import OPERATIONS
from forge.core.lsp.place import path_of, uri_of

A, B, FAR = "file:///p/a.foo", "file:///p/sub/c%20d.foo", "file:///elsewhere/x.foo"


def at(line: int, column: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": column}, "end": {"line": line, "character": column + 3}}


def item(name: str, uri: str = A, **more: Any) -> dict[str, Any]:
    return {"name": name, "kind": 12, "uri": uri, "range": at(0, 0), "selectionRange": at(0, 4), **more}


LINK = {"targetUri": B, "targetRange": at(1, 0), "targetSelectionRange": at(1, 4)}
TREE = [
    {"name": "C", "kind": 5, "range": at(0, 0), "detail": "a class", "children": [item("m", kind=6)]},
    {"name": "v", "kind": 13, "range": at(10, 0)},
]
FLAT = {"name": "fn", "kind": 12, "location": {"uri": A, "range": at(3, 0)}, "containerName": "K"}


@pytest.mark.parametrize(
    ("operation", "found", "answer"),
    [
        ("goToDefinition", None, Answer(NO_DEFINITION)),
        ("goToDefinition", {"uri": A, "range": at(4, 2)}, Answer("Defined in a.foo:5:3", 1, 1)),
        (
            "goToImplementation",
            [LINK, {"uri": FAR, "range": at(0, 0)}],
            Answer("Found 2 definitions:\n  sub/c d.foo:2:5\n  /elsewhere/x.foo:1:1", 2, 2),
        ),
        ("findReferences", [], Answer(NO_REFERENCES)),
        (
            "findReferences",
            [{"uri": A, "range": at(4, 2)}],
            Answer("Found 1 reference:\n  a.foo:5:3", 1, 1),
        ),
        (
            "findReferences",
            [{"uri": A, "range": at(4, 2)}, {"uri": A, "range": at(9, 2)}, {"uri": B, "range": at(0, 0)}],
            Answer(
                "Found 3 references across 2 files:\n\na.foo:\n  Line 5:3\n  Line 10:3\n\n"
                "sub/c d.foo:\n  Line 1:1",
                3,
                2,
            ),
        ),
        ("hover", None, Answer(NO_HOVER)),
        ("hover", [], Answer(NO_HOVER)),
        ("hover", {"contents": ""}, Answer(NO_HOVER)),
        (
            "hover",
            {"contents": {"kind": "markdown", "value": "**hi**"}, "range": at(0, 0)},
            Answer("Hover info at 1:1:\n\n**hi**", 1, 1),
        ),
        (
            "hover",
            {"contents": [{"language": "py", "value": "code()"}, "text"]},
            Answer("code()\n\ntext", 1, 1),
        ),
        ("documentSymbol", [], Answer(NO_DOCUMENT_SYMBOLS)),
        (
            "documentSymbol",
            TREE,
            Answer(
                "Document symbols:\nC (Class) a class - Line 1\n"
                "  m (Method) - Line 1\nv (Variable) - Line 11",
                3,
                1,
            ),
        ),
        (
            "documentSymbol",
            [FLAT],
            Answer("Found 1 symbol in workspace:\n\na.foo:\n  fn (Function) - Line 4 in K", 1, 1),
        ),
        ("workspaceSymbol", None, Answer(NO_WORKSPACE_SYMBOLS)),
        (
            "workspaceSymbol",
            [FLAT, {"name": "g", "kind": 99, "location": {"uri": B, "range": at(7, 3)}}],
            Answer(
                "Found 2 symbols in workspace:\n\na.foo:\n  fn (Function) - Line 4 in K\n\n"
                "sub/c d.foo:\n  g (Unknown) - Line 8",
                2,
                2,
            ),
        ),
        ("prepareCallHierarchy", None, Answer("No call hierarchy item found at this position")),
        (
            "prepareCallHierarchy",
            [item("fn", detail="det")],
            Answer("Call hierarchy item: fn (Function) - a.foo:1 [det]", 1, 1),
        ),
        (
            "prepareCallHierarchy",
            [item("fn"), item("gn")],
            Answer(
                "Found 2 call hierarchy items:\n  fn (Function) - a.foo:1\n  gn (Function) - a.foo:1", 2, 1
            ),
        ),
        ("incomingCalls", [], Answer("No incoming calls found (nothing calls this function)")),
        (
            "incomingCalls",
            [{"from": item("fn"), "fromRanges": [at(5, 1), at(6, 1)]}],
            Answer("Found 1 incoming call:\n\na.foo:\n  fn (Function) - Line 1 [calls at: 6:2, 7:2]", 1, 1),
        ),
        ("outgoingCalls", None, Answer("No outgoing calls found (this function calls nothing)")),
        (
            "outgoingCalls",
            [{"to": item("fn"), "fromRanges": [at(5, 1)]}, {"to": item("gn", FAR), "fromRanges": []}],
            Answer(
                "Found 2 outgoing calls:\n\na.foo:\n  fn (Function) - Line 1 [called from: 6:2]\n\n"
                "/elsewhere/x.foo:\n  gn (Function) - Line 1",
                2,
                2,
            ),
        ),
    ],
)
def test_answers_read_as_in_the_reference(operation: str, found: Any, answer: Answer) -> None:
    assert OPERATIONS[operation].tell(found, "/p") == answer


@pytest.mark.parametrize("path", ["/p/a.py", "/p/with blank/ü#?.py", "/p/50%.py", "/p/\udcff.py"])
def test_paths_survive_the_way_through_a_uri(path: str) -> None:
    assert path_of(uri_of(path)) == path


@pytest.mark.parametrize("nonsense", [7, "x", [1, None], {"uri": 3}, [{"location": 1}], [{"from": 2}]])
@pytest.mark.parametrize("operation", sorted(OPERATIONS))
def test_an_answer_that_makes_no_sense_is_no_reason_to_fail(operation: str, nonsense: Any) -> None:
    assert OPERATIONS[operation].tell(nonsense, "/p").text
