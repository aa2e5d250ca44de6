"""Who parses calls may list every attempt, each with its status: none is lost, none is renamed."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import pytest

from tunaeval import parse, parse_message


class Status(StrEnum):
    """As `renderers.base.ToolCallParseStatus` of renderers 0.1.12."""

    OK = "ok"
    INVALID_JSON = "invalid_json"
    UNCLOSED_BLOCK = "unclosed_block"
    MISSING_NAME = "missing_name"
    MALFORMED_STRUCTURE = "malformed_structure"
    UNKNOWN_TOOL = "unknown_tool"


@dataclass
class ParsedToolCall:
    """As renderers' own, which the test below looks at where they are installed."""

    raw: str
    name: str | None = None
    arguments: dict[str, Any] | str | None = None
    token_span: tuple[int, int] | None = None
    status: Status = Status.OK
    id: str | None = None


@dataclass
class ParsedResponse:
    content: str
    reasoning_content: str | None = None
    tool_calls: list[ParsedToolCall] = field(default_factory=list)


GOOD = ParsedToolCall('{"name": "f"}', "f", {"a": 1})


@pytest.mark.parametrize(
    ("status", "code", "outcome"),
    [
        (Status.INVALID_JSON, "invalid-json", "malformed"),
        (Status.MALFORMED_STRUCTURE, "invalid-json", "malformed"),
        (Status.UNCLOSED_BLOCK, "truncated", "truncated"),
        (Status.MISSING_NAME, "missing-name", "malformed"),
        (Status.UNKNOWN_TOOL, "unknown-tool", "malformed"),
    ],
)
def test_an_attempt_that_failed_says_how(status: Status, code: str, outcome: str) -> None:
    bad = ParsedToolCall('{"name": ', status=status)
    alone = parse_message(ParsedResponse("", None, [bad]))
    assert (alone.outcome, [note.code for note in alone.diagnoses]) == (outcome, [code])
    assert '{"name": ' in alone.diagnoses[0].message
    beside = parse_message(ParsedResponse("", None, [GOOD, bad, GOOD]))
    assert [call.name for call in beside.calls] == ["f", "f"]
    assert [note.code for note in beside.diagnoses] == [code]


def test_the_status_of_other_servers_is_no_fault() -> None:
    item = {"status": "completed", "function": {"name": "f", "arguments": "{}"}}
    assert parse_message({"tool_calls": [item]}).outcome == "calls"


def test_these_are_the_statuses_of_renderers() -> None:
    base = pytest.importorskip("renderers.base", reason="renderers is not installed")
    theirs = {str(status) for status in base.ToolCallParseStatus}
    assert theirs == {str(status) for status in Status}


def test_a_text_of_a_subclass_is_read_as_the_text_it_is() -> None:
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    assert parse(numpy.str_('{"name": "f", "arguments": {}}')).outcome == "calls"
