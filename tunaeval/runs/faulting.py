"""Apply a task's faults where a model's tools are run here: to results, and to replies.

A result fails (its tool is then not run), is late, is garbage, or contains an injection; a reply is
cut to a share of its length. All other faults of replies lie between an agent and its model: a
whole agent meets them at its endpoint, and a model that is asked from here never does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tunaeval.types.calls import ToolCall
from tunaeval.types.exchange import Reply
from tunaeval.types.faults import (
    Cut,
    Delay,
    Fail,
    Fault,
    cut_message,
    is_of_result,
    read_fault,
    spoiled_result,
)
from tunaeval.types.runs import ResultRecord
from tunaeval.types.tasks import StatedFault

from .grading.reactions import Met


class Faulting:
    """The faults of one episode, with the counts that decide when each applies."""

    def __init__(self, stated: Sequence[StatedFault]) -> None:
        self._stated = stated
        self._faults = [read_fault(one.written()) for one in stated]
        self._results = [0] * len(stated)
        self._turns: list[int | None] = [None] * len(stated)
        self._replies = 0

    def reply(self, reply: Reply) -> Reply:
        """Return the reply with the faults of this turn applied."""
        self._replies += 1
        for index, fault in enumerate(self._faults):
            if isinstance(fault, Cut) and fault.by == "length" and fault.hits(self._replies):
                reply = replace(
                    reply, message=cut_message(reply.message, fault.share), finish_reason="length"
                )
                self._hit(index, self._replies)
        return reply

    def of_results(self, calls: Sequence[ToolCall]) -> list[list[Fault]]:
        """Return for each call the faults that apply to its result."""
        return [[*self._of_one(call)] for call in calls]

    def _of_one(self, call: ToolCall) -> list[Fault]:
        found: list[Fault] = []
        for index, fault in enumerate(self._faults):
            if is_of_result(fault) and getattr(fault, "tool", None) in {None, call.name}:
                self._results[index] += 1
                if fault.at in {None, self._results[index]}:
                    self._hit(index, self._replies + 1)
                    found.append(fault)
        return found

    def _hit(self, index: int, turn: int) -> None:
        if self._turns[index] is None:
            self._turns[index] = turn

    def met(self, turns: int) -> list[Met]:
        """Return the faults with their turns; a fault after the last reply was seen by no one."""
        return [
            Met(stated, turn if turn is not None and turn <= turns else None)
            for stated, turn in zip(self._stated, self._turns, strict=True)
        ]


def is_run(faults: Sequence[Fault]) -> bool:
    """Whether the tool is run in spite of these faults."""
    return not any(isinstance(fault, Fail) for fault in faults)


def lateness(faults: Sequence[Fault]) -> float:
    """Return by how many seconds the result is late."""
    return sum(fault.seconds for fault in faults if isinstance(fault, Delay))


def spoiled(record: ResultRecord, faults: Sequence[Fault]) -> ResultRecord:
    """Return the result as the model sees it."""
    for fault in faults:
        ok = record.ok and not isinstance(fault, Fail)
        content = spoiled_result(fault, record.content)
        record = record.model_copy(update={"content": content, "ok": ok})
    return record
