"""What the model behind the second server says: calls that lines ask for, in four formats."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

Call = tuple[str, Any]
_START, _MIDDLE = "Call the tool ", " with exactly these arguments: "


def said(body: dict[str, Any]) -> list[Call]:
    """The calls of an answer; a choice is kept as a grammar would keep it."""
    tools = [tool["function"] for tool in body.get("tools") or []]
    choice = body.get("tool_choice", "auto")
    if choice == "none" or not tools:
        return []
    asked = _asked(body["messages"])
    if isinstance(choice, dict):
        wanted = [tool for tool in tools if tool["name"] == choice["function"]["name"]]
        return [(tool["name"], _filled(tool)) for tool in wanted]
    if choice == "required" and not asked:
        return [(tools[0]["name"], _filled(tools[0]))]
    if body.get("parallel_tool_calls") is False:
        return asked[:1]
    return asked


def _asked(messages: Sequence[dict[str, Any]]) -> list[Call]:
    text = messages[-1].get("content") or ""
    lines = text.splitlines() if isinstance(text, str) else []
    found = []
    for line in lines:
        if line.startswith(_START):
            name, _, arguments = line.removeprefix(_START).partition(_MIDDLE)
            found.append((name, json.loads(arguments)))
    return found


def _filled(tool: dict[str, Any]) -> dict[str, Any]:
    kinds = {"string": "x", "integer": 0, "number": 0.5, "boolean": False, "object": {}}
    properties = tool["parameters"]["properties"]
    return {key: kinds.get(schema.get("type")) for key, schema in properties.items()}


def pieces(text: str) -> list[str]:
    return [text[start : start + 4] for start in range(0, len(text), 4)]


def _objects(calls: Sequence[Call]) -> list[str]:
    found = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return [json.dumps(each, ensure_ascii=False) for each in found]


def _tags(calls: Sequence[Call]) -> str:
    return "".join(f"<tool_call>{each}</tool_call>" for each in _objects(calls))


def _array(calls: Sequence[Call]) -> str:
    return f"[TOOL_CALLS][{', '.join(_objects(calls))}]"


def _parameters(calls: Sequence[Call]) -> str:
    text = ""
    for name, arguments in calls:
        text += f"<tool_call>\n<function={name}>\n"
        for key, value in arguments.items():
            shown = value if isinstance(value, str) else json.dumps(value)
            text += f"<parameter={key}>\n{shown}\n</parameter>\n"
        text += "</function>\n</tool_call>\n"
    return text.rstrip("\n")


def _fenceless(calls: Sequence[Call]) -> str:
    found = [{"name": name, "parameters": arguments} for name, arguments in calls]
    return "; ".join(json.dumps(each, ensure_ascii=False) for each in found)


FORMATS: dict[str, Callable[[Sequence[Call]], str]] = {
    "tags": _tags,
    "array": _array,
    "parameters": _parameters,
    "bare": _fenceless,
}
