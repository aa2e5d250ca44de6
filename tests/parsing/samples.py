"""Tools and wrappings that the parser's tests share."""

from __future__ import annotations

import json

from tunaeval.types.calls import JsonValue, Tools, ToolSpec
from tunaeval.types.parsing import ParseResult

TOOLS = Tools(
    [
        ToolSpec(
            "bash",
            parameters={
                "type": "object",
                "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}},
                "required": ["command"],
                "additionalProperties": False,
            },
        ),
        ToolSpec(
            "read_file",
            parameters={"type": "object", "properties": {"filepath": {"type": "string"}}},
        ),
    ]
)

LS = '{"name": "bash", "arguments": {"command": "ls"}}'
"""A sound call."""

WHERE = '{"name": "bash", "arguments": {"command": "pwd"}}'
"""Another one."""


def tagged(body: str) -> str:
    """`body` as Qwen2.5 frames a call."""
    return f"<tool_call>\n{body}\n</tool_call>"


def call_with(arguments: str) -> str:
    """A tagged call of bash with these arguments as JSON text."""
    return tagged(f'{{"name": "bash", "arguments": {arguments}}}')


def call_of(name: str, **arguments: JsonValue) -> str:
    """A sound tagged call."""
    return tagged(json.dumps({"name": name, "arguments": arguments}))


def said(result: ParseResult) -> list[tuple[str, JsonValue]]:
    """Names and arguments of all calls."""
    return [(call.name, call.arguments) for call in result.calls]


def codes(result: ParseResult) -> list[str]:
    """The codes of all diagnoses."""
    return [diagnosis.code for diagnosis in result.diagnoses]
