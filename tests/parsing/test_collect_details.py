"""Why a result is malformed, where that has a name."""

from __future__ import annotations

import pytest

from tests.parsing.samples import LS, TOOLS, tagged
from tunaeval import parse, parse_many, parse_message, stream
from tunaeval.types.parsing import LEVELS, Level

NOPE = '{"name": "nope", "arguments": {}}'
BROKEN = '{"name": "bash", "arguments": [1]}'


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("text", [NOPE, tagged(NOPE), f"{tagged(BROKEN)} {tagged(NOPE)} ..."])
def test_an_unknown_tool_is_why(text: str, level: Level) -> None:
    result = parse(text, tools=TOOLS, level=level)
    assert (result.outcome, result.detail) == ("malformed", "unknown-tool")
    reader = stream(tools=TOOLS, level=level)
    reader.feed(text)
    assert reader.finish().detail == "unknown-tool"
    message = {"tool_calls": [{"function": {"name": "nope", "arguments": "{}"}}]}
    assert parse_message(message, tools=TOOLS, level=level).detail == "unknown-tool"


@pytest.mark.parametrize("text", ["", "No.", tagged(LS), tagged(BROKEN), tagged(LS) + tagged(NOPE)])
def test_nothing_else_is(text: str) -> None:
    assert parse(text, tools=TOOLS).detail is None


@pytest.mark.parametrize("workers", [1, 2])
def test_details_come_back_from_other_processes(workers: int) -> None:
    texts: list[str] = [tagged(NOPE), None] * 200  # type: ignore[list-item]  # that is the claim
    found = parse_many(texts, "hermes", TOOLS, workers=workers)
    assert [result.detail for result in found] == ["unknown-tool", "not-text"] * 200
