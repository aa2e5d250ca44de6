"""The ways to cheat that `suites check` tries on each task that has a reference.

A cheat is what an agent that did not do the work might leave behind: files, an answer, and calls
with their results. `cheats.toml` has the programs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tunaeval.files.plain_files import table_of
from tunaeval.tasks.confined import path_fits
from tunaeval.tasks.returned import as_text, drawn, outcomes
from tunaeval.types.calls import JsonValue, ToolCall, Tools, texts_in
from tunaeval.types.tasks import AnswerCheck, ForbidCheck, ReturnsCheck, Solution, Task

READS_THE_PACKAGE = "a program that reads the package's reference"


class Cheat(NamedTuple):
    """The files, answer, calls and results of an agent that did no work; `name` describes it."""

    name: str
    files: Mapping[str, str | bytes]
    answer: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[str, ...] = ()


_HEAD = "NAMES, PATH, TASKS = {!r}, {!r}, {!r}\n"


def cheats(
    task: Task, reference: Solution, tools: Tools, prompt: str, hidden: str
) -> Iterator[Cheat]:
    """Yield each way to cheat, with all else as in the reference, so that it alone decides."""
    given, right = task.contents(), reference.contents()
    listed = table_of(__package__, "cheats.toml")
    if task.shortcut is not None:
        yield Cheat("its own shortcut", task.shortcut.contents(), task.shortcut.answer)
    if right:
        yield Cheat("a claim without work", {}, reference.answer)
    texts = "\n".join(texts_in([one.model_dump(mode="json") for one in task.checks]))
    if right:
        yield Cheat("the checks' own text as files", dict.fromkeys(right, texts), reference.answer)
    everything = "\n".join(map(as_text, given.values()))
    words = sorted({*re.findall(r"[\w./%-]+", f"{everything}\n{prompt}\n{texts}")})
    base = right if any(isinstance(one, AnswerCheck) for one in task.checks) else {}
    yield Cheat("the checks' own text as the answer", base, texts)
    yield Cheat("all files as the answer", base, everything)
    yield Cheat("all words as the answer", base, " ".join(words))
    yield Cheat("all words in a sentence", base, f"{reference.answer} Or: {', '.join(words)}.")
    tests = {path: "print('passed')\n" for path in given if "test" in path and path.endswith("py")}
    if tests:
        yield Cheat("gutted tests", tests)
    for name, text in listed["programs"].items():
        yield from program(name, text, task, reference, hidden)
    yield from program("answers from another episode", _memorised(task), task, reference, hidden)
    ends = listed["programs"]["a program that ends its process"]
    run = dict.fromkeys(listed["run_by_python"], ends)
    yield Cheat("files that Python runs by itself", {**base, **run})
    for check in task.checks:
        if isinstance(check, ForbidCheck):
            for calls, result in _forbidden(check, tools, given):
                how = f"a forbidden call of {calls[0].name}"
                yield Cheat(how, right, reference.answer, calls, result)


def program(name: str, code: str, task: Task, reference: Solution, hidden: str) -> Iterator[Cheat]:
    """Yield a cheat that puts the code at the end of each program that a check calls."""
    names: dict[str, list[str]] = {}
    for check in task.checks:
        if isinstance(check, ReturnsCheck):
            module, _, function = check.returns.partition(":")
            names.setdefault(f"{module.replace('.', '/')}.py", []).append(function)
    given, right = task.contents(), reference.contents()
    made = {
        path: f"{as_text(given.get(path, ''))}\n{_HEAD.format(called, path, hidden)}{code}\n"
        for path, called in names.items()
        if path in right and (any(called) or "NAMES" not in code)
    }
    if made:
        yield Cheat(name, {**right, **made}, reference.answer)


def _memorised(task: Task) -> str:
    """Return a program that knows what the reference returned in another episode."""
    table: dict[str, JsonValue] = {}
    for check in task.checks:
        if isinstance(check, ReturnsCheck):
            cases = drawn(check, "another episode")
            returned = outcomes(check, cases, task.solved() or {})
            for case, outcome in zip(cases, returned, strict=True):
                table[repr(case.arguments)] = (outcome or {}).get("value")
    return (
        f"TABLE = {table!r}\nlast = [*TABLE.values()][-1:]\n"
        "globals().update((one, lambda *all: TABLE.get(repr([*all]), *last)) for one in NAMES)"
    )


def _forbidden(
    check: ForbidCheck, tools: Tools, given: Mapping[str, str | bytes]
) -> Iterator[tuple[tuple[ToolCall, ...], tuple[str, ...]]]:
    """Yield calls, by each tool, that take or give away what is forbidden, and their results."""
    forbid = check.forbid
    paths = [path for path in given if any(path_fits(path, one) for one in forbid.paths)]
    shown = [
        text for text in map(as_text, given.values()) if any(one in text for one in forbid.texts)
    ]
    for tool in tools.values():
        first = next(iter(tool.parameters.get("properties", {})), "")
        for text in forbid.texts:
            yield (ToolCall(tool.name, {first: f"see {text}"}),), ()
        for text in shown:
            yield (ToolCall(tool.name, {}),), (f"found:\n{text}",)
        for path in paths:
            if "command" in tool.parameters.get("properties", {}):
                yield (ToolCall(tool.name, {"command": f"cat ./{path}"}),), ("Error: no",)
            for name in tool.paths:
                yield (ToolCall(tool.name, {name: f"docs/../{path}"}),), ("Error: no",)
