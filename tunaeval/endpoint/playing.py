"""Faults played: an injection planted in a request, an answer spoiled, a response broken off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tunaeval.errors import UsageError
from tunaeval.faults import Cut, Delay, Fail, Fault, Garbage, Inject, RepeatId
from tunaeval.types import JsonObject, JsonValue, text_of

from .connections import HttpResponse
from .exchange import Answer, Api, is_result

_FAULTS = (Fail, Delay, Cut, RepeatId, Garbage, Inject)


class Faults:
    """The faults of an endpoint. Raises UsageError for what is none."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        for index, fault in enumerate(faults):
            if not isinstance(fault, _FAULTS):
                names = ", ".join(kind.__name__ for kind in _FAULTS)
                raise UsageError(
                    f"faults[{index}] is {fault!r:.60}; wanted one of {names}, of tunaeval.faults"
                )
        self.every = tuple(faults)
        self._injections = [one for one in faults if isinstance(one, Inject)]
        self._others = [one for one in faults if not isinstance(one, Inject)]

    def at(self, number: int) -> list[Fault]:
        """The faults of this request."""
        return [fault for fault in self._others if fault.hits(number)]

    def planted(self, body: JsonObject, api: Api) -> tuple[JsonObject, list[Fault]]:
        """The request with injections in the results that they are for, and which these are."""
        field, result = _PLACES[api]
        items = body.get(field)
        if not self._injections or not isinstance(items, list):
            return body, []
        made, met = [*items], []
        for injection in self._injections:
            for index in _results(items, injection):
                made[index] = {
                    **made[index],
                    result: _with(made[index].get(result), injection.text),
                }
                met.append(injection)
        return {**body, field: made}, list(dict.fromkeys(met))


_PLACES = {"chat": ("messages", "content"), "responses": ("input", "output")}
"""Where a request has its messages, and a tool's result its words."""


def _results(items: Sequence[JsonValue], injection: Inject) -> Iterator[int]:
    """Where the results stand that an injection is for."""
    names: dict[str, str] = {}
    found = 0
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        for call in item.get("tool_calls") or ():
            names[call.get("id") or ""] = (call.get("function") or {}).get("name") or ""
        if item.get("type") == "function_call":
            names[item.get("call_id") or ""] = item.get("name") or ""
        answered = item.get("tool_call_id") or item.get("call_id") or ""
        is_output = is_result(item) or item.get("type") == "function_call_output"
        if is_output and _is_of(injection.tool, items, index, names.get(answered)):
            found += 1
            if injection.at in {None, found}:
                yield index


def _is_of(tool: str | None, items: Sequence[JsonValue], index: int, name: str | None) -> bool:
    """Whether a result is of this tool; an observation is of those that are named before it."""
    item, before = items[index], items[index - 1]
    if tool is None or tool == (item.get("name") or name):
        return True
    is_named = index > 0 and isinstance(before, dict) and tool in text_of(before.get("content"))
    return item.get("role") == "user" and is_named


def _with(content: JsonValue, text: str) -> JsonValue:
    """A result with more at its end."""
    if isinstance(content, list):
        kinds = [part.get("type") for part in content if isinstance(part, dict) and "text" in part]
        return [*content, {"type": kinds[0] if kinds else "text", "text": text}]
    said = content if isinstance(content, str) else text_of(content)
    return f"{said}\n{text}" if said else text


def spoiled(answer: Answer, faults: Sequence[Fault], used: Sequence[str]) -> Answer:
    """The answer with repeated ids (of `used`, or its own first), or cut to length."""
    for fault in faults:
        if isinstance(fault, RepeatId):
            answer = _with_one_id(answer, used)
        elif isinstance(fault, Cut) and fault.by == "length":
            answer = _cut_to(answer, fault.share)
    return answer


def broken(response: HttpResponse, faults: Sequence[Fault]) -> HttpResponse:
    """The response, broken off where a fault says so."""
    shares = [one.share for one in faults if isinstance(one, Cut) and one.by == "connection"]
    if not shares:
        return response
    if response.length is None:
        kept = response.parts[: int(len(response.parts) * shares[0])]
    else:
        kept = tuple(part[: int(len(part) * shares[0])] for part in response.parts)
    return replace(response, parts=kept, breaks_off=True)


def _with_one_id(answer: Answer, used: Sequence[str]) -> Answer:
    calls = answer.message.get("tool_calls") or []
    if not calls:
        return answer
    again = used[-1] if used else calls[0].get("id")
    same = [{**call, "id": again} for call in calls]
    return replace(answer, message={**answer.message, "tool_calls": same}, items=None)


def _cut_to(answer: Answer, share: float) -> Answer:
    """The last thing that was said stops short: the arguments of the last call, else the text."""
    message = dict(answer.message)
    calls = [*(message.get("tool_calls") or ())]
    if calls:
        function = calls[-1]["function"]
        short = _share(function.get("arguments") or "", share)
        calls[-1] = {**calls[-1], "function": {**function, "arguments": short}}
        message["tool_calls"] = calls
    else:
        message["content"] = _share(message.get("content") or "", share)
    return replace(answer, message=message, finish_reason="length", items=None)


def _share(text: str, share: float) -> str:
    return text[: int(len(text) * share)]
