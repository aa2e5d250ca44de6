"""Formats written: calls as the text a model would write, and how to tell a model to."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tunaeval.errors import UsageError
from tunaeval.grammar import CallObject, Format, Literal, Markup, Space
from tunaeval.types import ToolCall, Tools

_EXAMPLE = ToolCall("a_tool", {"an_argument": "its value"})


def render_calls(calls: Sequence[ToolCall], form: Format) -> str:
    """The calls as text; several share one block where the format holds an array."""
    if not calls:
        return ""
    if form.call.array:
        return _block(calls, form)
    return form.separator.join(_block([call], form) for call in calls)


def instructions_for(tools: Tools, form: Format) -> str:
    """What to put into a system prompt so that a model writes calls in this format."""
    lines = "\n".join(json.dumps(spec.as_openai()["function"]) for spec in tools.values())
    example = render_calls([_EXAMPLE], form)
    return (
        f"You can call these tools, one JSON object a line:\n{lines}\n\n"
        f"To call a tool, write its name and its arguments in exactly this form:\n{example}\n\n"
        "Write one such block for each call. When no tool is needed, answer in plain words."
    )


def _block(calls: Sequence[ToolCall], form: Format) -> str:
    return "".join(_written(word, calls) for word in form.words)


def _written(word: object, calls: Sequence[ToolCall]) -> str:
    match word:
        case Literal() | Space() | Markup():
            return word.text
        case CallObject() if len(calls) == 1:
            return _object(word, calls[0])
        case CallObject():
            return "[" + ", ".join(_object(word, call) for call in calls) + "]"
    raise UsageError(f"{word!r} is no word of the grammar")


def _object(word: CallObject, call: ToolCall) -> str:
    try:
        arguments = json.dumps(call.arguments, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"the arguments of {call.name!r} cannot be written as JSON: {error}"
        ) from None
    quote = "" if word.bare_keys else '"'
    name = json.dumps(call.name, ensure_ascii=False)
    return f"{{{quote}{word.name}{quote}: {name}, {quote}{word.arguments}{quote}: {arguments}}}"
