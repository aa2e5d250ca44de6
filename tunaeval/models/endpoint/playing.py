"""Plays faults: spoils tool results in a request, spoils an answer, or breaks off a response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from tunaeval.errors import UsageError
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue
from tunaeval.types.exchange import text_of
from tunaeval.types.faults import (
    Cut,
    Delay,
    Fail,
    Fault,
    Garbage,
    Inject,
    RepeatId,
    cut_message,
    is_of_result,
    spoiled_result,
)
from tunaeval.types.wanted import refusal

from .connections import HttpResponse
from .exchange import Answer, Api, is_result

_FAULTS = (Fail, Delay, Cut, RepeatId, Garbage, Inject)


class Faults:
    """The faults of an endpoint. Raises UsageError for a value that is no fault."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        given: object = faults
        if isinstance(given, str | bytes) or not isinstance(given, Iterable):
            raise refusal("faults", faults, "a list of them, as in faults=[Fail(at=3)]")
        for index, fault in enumerate(faults):
            if not isinstance(fault, _FAULTS):
                names = ", ".join(kind.__name__ for kind in _FAULTS)
                raise UsageError(
                    f"faults[{index}] is {brief(fault)}; wanted one of {names}, of "
                    "tunaeval.types.faults"
                )
        self.every = tuple(faults)
        self._of_results = [one for one in faults if is_of_result(one)]
        self._of_replies = [one for one in faults if not is_of_result(one)]

    def at(self, number: int) -> list[Fault]:
        """Return the faults of the reply to request `number`."""
        return [
            fault
            for fault in self._of_replies
            if not isinstance(fault, Inject) and fault.hits(number)
        ]

    def planted(self, body: JsonObject, api: Api) -> tuple[JsonObject, list[Fault]]:
        """Return the request with its tool results spoiled, and the faults that did so."""
        field, result = _PLACES[api]
        items = body.get(field)
        if not self._of_results or not isinstance(items, list):
            return body, []
        made, met = [*items], []
        for fault in self._of_results:
            for index in _results(items, fault):
                if isinstance(fault, Delay) and not _is_new(items, index):
                    continue  # an earlier request with this result was delayed
                made[index] = {**made[index], result: _spoiled(made[index].get(result), fault)}
                met.append(fault)
        return {**body, field: made}, list(dict.fromkeys(met))


_PLACES = {"chat": ("messages", "content"), "responses": ("input", "output")}
"""The fields of a request that have its messages, and the text of a tool's result."""


def _results(items: Sequence[JsonValue], fault: Fault) -> Iterator[int]:
    """Yield the indices of the results that a fault applies to."""
    names: dict[str, JsonValue] = {}
    found = 0
    tool: str | None = getattr(fault, "tool", None)
    for index, item in enumerate(items):
        if not isinstance(item, dict):
            continue
        for id_, name in _named(item):
            names[str(id_ or "")] = name
        answered = str(item.get("tool_call_id") or item.get("call_id") or "")
        is_output = is_result(item) or item.get("type") == "function_call_output"
        if is_output and _is_of(tool, items, index, names.get(answered)):
            found += 1
            if fault.at in {None, found}:
                yield index


def _named(item: JsonObject) -> Iterator[tuple[JsonValue, JsonValue]]:
    """Yield the id and the name of each call in an item."""
    calls = item.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        match call:
            case {"function": {"name": name}}:
                yield call.get("id"), name
    if item.get("type") == "function_call":
        yield item.get("call_id"), item.get("name")


def _is_of(tool: str | None, items: Sequence[JsonValue], index: int, name: JsonValue) -> bool:
    """Whether a result is of `tool`; of an observation, the message before it names the tool."""
    item, before = items[index], items[index - 1]
    if tool is None or tool == (item.get("name") or name):
        return True
    is_named = index > 0 and isinstance(before, dict) and tool in text_of(before.get("content"))
    return item.get("role") == "user" and is_named


def _is_new(items: Sequence[JsonValue], index: int) -> bool:
    """Whether the model has not replied since this result."""
    later = (item for item in items[index + 1 :] if isinstance(item, dict))
    return not any(
        item.get("role") == "assistant" or item.get("type") == "function_call" for item in later
    )


def _spoiled(content: JsonValue, fault: Fault) -> JsonValue:
    """Return a result's content, a text or parts, as the fault changes it."""
    if isinstance(fault, Delay):
        return content
    if isinstance(fault, Inject) and isinstance(content, list):
        kinds = [part.get("type") for part in content if isinstance(part, dict) and "text" in part]
        return [*content, {"type": kinds[0] if kinds else "text", "text": fault.text}]
    return spoiled_result(fault, content if isinstance(content, str) else text_of(content))


def spoiled(answer: Answer, faults: Sequence[Fault], used: Sequence[str]) -> Answer:
    """Return the answer with repeated ids (the last one `used`, or its own first), or cut short."""
    for fault in faults:
        if isinstance(fault, RepeatId):
            answer = _with_one_id(answer, used)
        elif isinstance(fault, Cut) and fault.by == "length":
            cut = cut_message(answer.message, fault.share)
            answer = replace(answer, message=cut, finish_reason="length", items=None)
    return answer


def keeps_item(faults: Sequence[Fault]) -> bool:
    """Whether the answer does not arrive whole, so that the next request gets it again."""
    return any(isinstance(fault, Cut) for fault in faults)


def breaks_off(faults: Sequence[Fault]) -> bool:
    """Whether the connection breaks off before the response has ended."""
    return any(isinstance(fault, Cut) and fault.by == "connection" for fault in faults)


def broken(response: HttpResponse, faults: Sequence[Fault]) -> HttpResponse:
    """Return the response, cut where a fault breaks it off."""
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
