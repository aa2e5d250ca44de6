"""Scripted models: a list with an item for each turn, or a callable that answers every turn."""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.parsing.api import parser_for
from tunaeval.showing import brief, counted
from tunaeval.types.calls import JsonObject, ToolCall
from tunaeval.types.messages import Usage
from tunaeval.types.parsing import ParseResult

from .exchange import Answer, ModelRequest, Refused

Said: TypeAlias = str | ToolCall | Sequence[ToolCall] | Mapping[str, Any]
"""A text, calls, or an assistant's message in the shape of chat completions."""

Item: TypeAlias = Said | Callable[[ModelRequest], Said | Awaitable[Said]]
Script: TypeAlias = Iterable[Item] | Callable[[ModelRequest], Said | Awaitable[Said]]

_WANTED = "a text, a list of ToolCalls, an assistant's message, or a callable that returns one"


class Scripted:
    """A source that answers by a script. Raises UsageError for an invalid script."""

    def __init__(self, script: Script, *, format: str = "auto") -> None:  # noqa: A002 - as in `parse`
        self._every = script if callable(script) else None
        if not callable(script) and (
            isinstance(script, str | bytes | Mapping) or not isinstance(script, Iterable)
        ):
            raise UsageError(
                f"script is {brief(script)}; wanted a list with an item for each turn, or a "
                "callable"
            )
        self._items = [] if callable(script) else [*script]
        for index, item in enumerate(self._items):
            _check(item, f"script[{index}]")
        self._used = 0
        self._made = 0
        self._parser = parser_for(format)

    @property
    def left(self) -> int | None:
        """How many items were not used; None for a callable."""
        return None if self._every is not None else len(self._items) - self._used

    async def answer(
        self, request: ModelRequest, authorization: str | None, *, keeps: bool = False
    ) -> Answer:
        """Return the next item as the model's answer; with `keeps`, the next request gets it again.
        Raises Refused if there is no item left, or if a callable fails.
        """
        del authorization  # a script needs none
        item: Any = self._next(keeps=keeps)
        if callable(item):
            try:
                item = item(request)
                item = await item if inspect.isawaitable(item) else item
            except Refused:
                raise
            except (Exception, SystemExit) as error:
                words = f"the script raised {type(error).__name__}: {str(error)[:300]}"
                raise Refused(words, code="script_failed") from error
            try:
                _check(item, "what the script returned", of_callable=True)
            except UsageError as error:
                raise Refused(str(error), code="script_failed") from error
        return self._made_of(item, request)

    def _next(self, *, keeps: bool) -> Item:
        if self._every is not None:
            return self._every
        if self._used == len(self._items):
            raise Refused(
                f"the script is over: it has {counted(len(self._items), 'turn')}, and this request "
                "wants another; give it a further item, or find out why the agent goes on",
                code="script_over",
            )
        item = self._items[self._used]
        self._used += not keeps
        return item

    def _made_of(self, item: Said, request: ModelRequest) -> Answer:
        match item:
            case str():
                message = self._of_text(item, request)
            case ToolCall():
                message = self._of_calls((item,), None)
            case Mapping():
                message = {"role": "assistant", "content": None, **item}
            case _:
                message = self._of_calls(item, None)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        return Answer(message, reason, _usage(request, message))

    def _of_text(self, text: str, request: ModelRequest) -> JsonObject:
        """Return a message with structured calls, as a server that got the tools would send it."""
        if request.tools is None:
            return {"role": "assistant", "content": text}
        read: ParseResult = self._parser.parse(text, tools=request.tools)
        if not read.calls:
            return {"role": "assistant", "content": text}
        message = self._of_calls(read.calls, read.content.strip() or None)
        if read.reasoning:
            message["reasoning_content"] = read.reasoning
        return message

    def _of_calls(self, calls: Sequence[ToolCall], content: str | None) -> JsonObject:
        message: JsonObject = {"role": "assistant", "content": content}
        if calls:
            message["tool_calls"] = [self._call(call) for call in calls]
        return message

    def _call(self, call: ToolCall) -> JsonObject:
        self._made += 1
        function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
        return {"id": call.id or f"call_{self._made}", "type": "function", "function": function}


def _check(item: object, where: str, *, of_callable: bool = False) -> None:
    if isinstance(item, str | ToolCall) or (callable(item) and not of_callable):
        return
    if isinstance(item, Mapping) and (item.keys() & {"content", "tool_calls"}):
        return
    if isinstance(item, Sequence) and all(isinstance(one, ToolCall) for one in item):
        return
    raise UsageError(f"{where} is {brief(item)}; wanted {_WANTED}")


def _usage(request: ModelRequest, message: JsonObject) -> Usage:
    """Estimate the tokens as characters / 4, as there is no model to count them."""
    prompt = json.dumps([request.messages, request.body.get("tools")], default=str)
    return Usage(len(prompt) // 4 + 1, len(json.dumps(message, default=str)) // 4 + 1)
