"""Match executions with calls: by id, else by tool and order.

A call may have been executed more than once: its last execution decides how it ended. If several
calls share an id, each has one execution, in order, and the last call the rest.

Executions without an id (or with one, if no call of their tool has an id) are matched with the
calls of their tool if the numbers are equal; then no count depends on which belongs to which. If
there are more executions, each call takes the one with its arguments, or else the next one, and the
rest have no call; if there are fewer, it is unknown whose they are.

An execution that ended because its host waits for a human is neither a failure nor an answer: it
decides nothing, and is no call of its own.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Container, Iterable, Sequence
from typing import NamedTuple, TypeAlias

import orjson

from tunaeval.tools.success import INTERRUPTED
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall
from tunaeval.types.messages import ToolExecution


class Joined(NamedTuple):
    """Executions matched with calls.

    `decisive` has the execution that decides each call, by the call's number; `uncalled` are the
    executions without a call, by their start; `unclear` counts those with several possible calls.
    """

    decisive: dict[int, ToolExecution]
    uncalled: tuple[ToolExecution, ...] = ()
    unclear: int = 0


def join(executions: Iterable[ToolExecution], calls: Sequence[ToolCall]) -> Joined:
    """Match the executions with the calls, by the rules at the top of this file."""
    began = sorted(executions, key=lambda execution: execution.started_at)
    if not began:
        return Joined({})
    ids = {one.call_id for one in began} & {call.id for call in calls} - {None}
    named = {call.name for call in calls if call.id is not None}
    sharing, wanting = _numbered(calls, ids)
    by_id: _Executions = defaultdict(list)
    by_tool: _Executions = defaultdict(list)
    left = []
    for one in began:
        if one.ok_reason == INTERRUPTED.reason:
            continue
        if one.call_id is not None and one.call_id in ids:
            by_id[one.call_id].append(one)
        elif one.call_id is None or (one.tool in wanting and one.tool not in named):
            by_tool[one.tool].append(one)
        else:
            left.append(one)
    decisive = _by_id(by_id, sharing)
    unclear = 0
    for tool, waiting in by_tool.items():
        numbers = wanting.get(tool, [])
        if len(waiting) == len(numbers):
            decisive.update(zip(numbers, waiting, strict=True))
            continue
        unclear += min(len(waiting), len(numbers))
        left += _surplus(waiting, [calls[number].arguments for number in numbers])
    left.sort(key=lambda execution: execution.started_at)
    return Joined(decisive, tuple(left), unclear)


_Executions: TypeAlias = dict[str, list[ToolExecution]]
_Numbers: TypeAlias = dict[str, list[int]]


def _numbered(calls: Sequence[ToolCall], ids: Container[str | None]) -> tuple[_Numbers, _Numbers]:
    """Return the calls' numbers: by id if the id is in `ids`, and by tool for the others."""
    sharing: _Numbers = defaultdict(list)
    wanting: _Numbers = defaultdict(list)
    for number, call in enumerate(calls):
        if call.id is not None and call.id in ids:
            sharing[call.id].append(number)
        else:
            wanting[call.name].append(number)
    return sharing, wanting


def _by_id(executions: _Executions, sharing: _Numbers) -> dict[int, ToolExecution]:
    found: dict[int, ToolExecution] = {}
    for call_id, numbers in sharing.items():
        several = executions.get(call_id, [])
        found.update(zip(numbers, several, strict=False))
        if len(several) > len(numbers):
            found[numbers[-1]] = several[-1]
    return found


def _surplus(
    executions: Sequence[ToolExecution], arguments: Sequence[JsonObject]
) -> list[ToolExecution]:
    """Return the executions of one tool that are left when each of its calls has taken one."""
    wanted: dict[str, int] = defaultdict(int)
    for one in arguments:
        wanted[canonical(one)] += 1
    others = []
    for execution in executions:
        key = canonical(execution.arguments)
        if wanted[key]:
            wanted[key] -= 1
        else:
            others.append(execution)
    return others[sum(wanted.values()) :]


def canonical(arguments: JsonObject) -> str:
    """Return equal texts for equal arguments, regardless of key order."""
    try:
        return orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS).decode()
    except TypeError:  # integers beyond 64 bits, lone surrogates, deep nesting
        pass
    try:
        return json.dumps(arguments, sort_keys=True, default=_shown)
    except (TypeError, ValueError, RecursionError):  # built by hand, and not JSON at all
        return f"<{id(arguments)}>"


def _shown(value: JsonValue) -> str:
    try:
        return repr(value)
    except Exception:  # noqa: BLE001 - repr() of a live tool's argument may raise anything
        return type(value).__name__
