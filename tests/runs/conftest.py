"""A small suite and a small parser for the harness's tests, real ones both."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from tunaeval.reports.replies import Read
from tunaeval.runs.prompts import Asking, asking
from tunaeval.types.calls import Repair, ToolCall, Tools, ToolSpec
from tunaeval.types.exchange import Reply
from tunaeval.types.parsing import Diagnosis, Level, ParseResult
from tunaeval.types.runs import Expectation, Scenario, Suite

TOOLS = Tools(
    [
        ToolSpec(
            "read_file",
            "Read a file.",
            {
                "type": "object",
                "properties": {
                    "filepath": {"type": "string"},
                    "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
                },
                "required": ["filepath"],
            },
            frozenset({"filepath"}),
        ),
        ToolSpec("list_dir", "List a directory."),
    ]
)
EXPECTATIONS = {
    "call": Expectation.model_validate(
        {"calls": [{"name": "read_file", "arguments": {"filepath": "a.py"}}]}
    ),
    "none": Expectation(none=True),
    "limits": Expectation(forbid=("list_dir",)),
}


class OneObject:
    """Reads a reply that is one JSON object: bare at strict, fenced at standard, cut at lenient."""

    name = "one-object"

    def parse(
        self, text: str, *, tools: Tools | None = None, level: Level = "standard"
    ) -> ParseResult:
        repairs = []
        bare = text.strip()
        if bare.startswith("```") and level != "strict":
            bare = bare.strip("`")
            repairs.append(Repair("fence", "a fence was taken off"))
        if not bare.startswith("{"):
            found = (Diagnosis("fenced", "no bare object"),) if "{" in bare else ()
            return ParseResult((), text, None, found, False, "malformed" if found else "no_call")
        cut = not bare.endswith("}}")
        if cut and level == "lenient":
            bare += '"}}'
            repairs.append(Repair("closed", "what was cut was closed", level="lenient"))
        try:
            data = json.loads(bare)
            call = ToolCall(data["name"], data["arguments"], None, self.name, None, tuple(repairs))
        except (ValueError, KeyError):
            found = (Diagnosis("invalid-json", "no call"),)
            return ParseResult((), text, None, found, cut, "truncated" if cut else "malformed")
        if tools is not None and call.name not in tools:
            found = (Diagnosis("unknown-tool", call.name),)
            return ParseResult((), text, None, found, cut, "malformed")
        return ParseResult((call,), "", None, (), cut, "calls")


@pytest.fixture(scope="session")
def parser() -> OneObject:
    return OneObject()


@pytest.fixture(scope="session")
def read(parser: OneObject) -> Read:
    def reader(reply: Reply, level: Level) -> ParseResult:
        text = str(reply.message.get("content") or "")
        return parser.parse(text, tools=TOOLS, level=level)

    return reader


def scenario(expect: str = "call", number: int = 1) -> Scenario:
    return Scenario(
        id=f"{expect}-{number}", prompt=f"Do {{task}} {number}", expect=EXPECTATIONS[expect]
    )


@pytest.fixture(scope="session")
def make_suite() -> Callable[..., Suite]:
    def make(count: int = 3, expect: str = "call") -> Suite:
        return Suite(
            name="small",
            scenarios=tuple(scenario(expect, number) for number in range(1, count + 1)),
            tools=TOOLS,
            system_prompt="Work.\n",
        )

    return make


@pytest.fixture(scope="session")
def api(make_suite: Callable[..., Suite]) -> Asking:
    return asking(make_suite(), "api")
