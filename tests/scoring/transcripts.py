"""Transcripts for the tests of scoring, written as steps."""

from __future__ import annotations

from typing import Any

import orjson

import tunaeval
from tunaeval import Conversation
from tunaeval.types.calls import JsonObject
from tunaeval.types.messages import ToolExecution
from tunaeval.types.runs import ScoreResult

FINE = '{"ok": true}'
FAILED_TESTS = "1 failed, 3 passed\nExit Code: 1"
GONE = '{"ok": false, "error": "gone"}'


def call(number: int | str, tool: str, **arguments: Any) -> JsonObject:
    function = {"name": tool, "arguments": orjson.dumps(arguments).decode()}
    return {"id": f"c{number}", "type": "function", "function": function}


def transcript(*steps: tuple[str, str | None]) -> list[JsonObject]:
    """A question, then a call a step: its tool and its result, None for no result."""
    return batches(*([step] for step in steps))


def batches(*steps: list[tuple[str, str | None]]) -> list[JsonObject]:
    """A question, then parallel calls a step: "tool" or "tool argument", and the result."""
    messages: list[JsonObject] = [{"role": "user", "content": "do it"}]
    number = 0
    for step in steps:
        calls, results = [], []
        for called, result in step:
            tool, _, argument = called.partition(" ")
            calls.append(call(number, tool, **({"on": argument} if argument else {})))
            if result is not None:
                results.append({"role": "tool", "tool_call_id": f"c{number}", "content": result})
            number += 1
        messages += [{"role": "assistant", "content": None, "tool_calls": calls}, *results]
    return messages


def said(text: str) -> JsonObject:
    return {"role": "assistant", "content": text}


def ran(tool: str, call_id: str | None = None, **more: Any) -> ToolExecution:
    given = {"arguments": {}, "started_at": 1.0, "duration_seconds": None}
    return ToolExecution(tool, call_id, **{**given, "ok": True, "ok_reason": "assumed", **more})


def shell(command: str, answer: str | None, number: int = 0) -> list[JsonObject]:
    """A command and what came of it."""
    asked = {
        "role": "assistant",
        "content": None,
        "tool_calls": [call(number, "bash", command=command)],
    }
    told = {"role": "tool", "tool_call_id": f"c{number}", "content": answer}
    return [asked, *([told] if answer is not None else [])]


def yes(conversation: Conversation) -> bool:
    del conversation
    return True


def no(conversation: Conversation) -> tuple[bool, str]:
    del conversation
    return False, "calc.py still subtracts"


def scored(messages: Any, **more: Any) -> ScoreResult:
    return tunaeval.score(messages, "do it", **more)
