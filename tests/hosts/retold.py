"""The scripts of `repair-tasks`, told in the tools that an agent has.

They are written in the tools of TunaCode 0.1.19. 0.2.3 has no `grep`, for which `discover` is
asked, and no `update_file`: its `hashline_edit` wants the lines as `read_file` has printed them,
so a change is a turn that reads the files, and one that reads what was printed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, TypeAlias

from tests.tasks.repair_scripts import Turn
from tunaeval import ModelRequest, ToolCall

Item: TypeAlias = str | list[ToolCall] | Callable[[ModelRequest], list[ToolCall]]
Retell: TypeAlias = Callable[[list[Turn]], list[Item]]

_LINE = re.compile(r"^(\d+:[0-9a-f]{2})\|(.*)$", re.MULTILINE)
"""A line as `read_file` of 0.2.3 prints it: its reference, and its text."""


def as_written(turns: list[Turn]) -> list[Item]:
    """The same tools, but one change a turn: agents run the calls of a turn at once."""
    return [*chain.from_iterable(map(_one_by_one, turns))]


def by_hash_lines(turns: list[Turn]) -> list[Item]:
    """In the tools of TunaCode 0.2.3."""
    return [*chain.from_iterable(map(_by_hash_lines, turns))]


def _one_by_one(turn: Turn) -> Iterator[Item]:
    if isinstance(turn, str):
        yield turn
    elif _changes(turn):
        yield from ([ToolCall(**call)] for call in turn)
    else:
        yield [ToolCall(**call) for call in turn]


def _by_hash_lines(turn: Turn) -> Iterator[Item]:
    if isinstance(turn, str):
        yield turn
    elif changes := _changes(turn):
        paths = [*dict.fromkeys(change["filepath"] for change in changes)]
        yield [ToolCall("read_file", {"filepath": path}) for path in paths]
        yield lambda request: [
            _edit(path, printed, [one for one in changes if one["filepath"] == path])
            for path, printed in zip(paths, request.results[-len(paths) :], strict=True)
        ]
    else:
        yield [_discovering(ToolCall(**call)) for call in turn]


def _changes(turn: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [call["arguments"] for call in turn if call["name"] == "update_file"]


def _discovering(call: ToolCall) -> ToolCall:
    if call.name != "grep":
        return call
    return ToolCall("discover", {"query": call.arguments["pattern"]})


def _edit(path: str, printed: str, changes: list[dict[str, Any]]) -> ToolCall:
    """One edit for all changes of a file: a range of lines from the first that differs."""
    found = _LINE.findall(printed)
    before = [text for _, text in found]
    whole = "".join(f"{line}\n" for line in before)
    for change in changes:
        assert change["target"] in whole, (path, change["target"], printed)
        whole = whole.replace(change["target"], change["patch"], 1)
    after = whole.splitlines()
    first, last = _differing(before, after)
    new = "".join(f"{line}\n" for line in after[first : len(after) - last])
    references = [reference for reference, _ in found[first : len(found) - last]]
    place = {"start": references[0], "end": references[-1], "new": new}
    return ToolCall("hashline_edit", {"filepath": path, "operation": "replace_range", **place})


def _differing(before: list[str], after: list[str]) -> tuple[int, int]:
    """How many lines are alike at the start and at the end, of which one is left at least."""
    most = min(len(before), len(after))
    first = next((at for at in range(most) if before[at] != after[at]), most)
    first = min(first, len(before) - 1)
    rest = min(len(before) - first - 1, len(after) - first)
    last = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    return first, last
