"""The ways to cheat that `suites check` tries on each task that has a reference.

A cheat is what an agent that did not do the work might leave behind: files, an answer, and calls
with their results. Its program knows the names of the functions that are called (NAMES), its own
path (PATH), and the directory of the package's tasks (TASKS).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from tunaeval.runs.grading.returned import drawn, outcomes
from tunaeval.tools.workspace.confined import path_fits
from tunaeval.types.calls import JsonValue, ToolCall, Tools
from tunaeval.types.tasks import AnswerCheck, Check, ForbidCheck, ReturnsCheck, Solution, Task

READS_THE_PACKAGE = "a program that reads the package's reference"


class Cheat(NamedTuple):
    """What is left behind, and how in words."""

    name: str
    files: Mapping[str, str | bytes]
    answer: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[str, ...] = ()


PROGRAMS: Mapping[str, str] = {
    "a program that ends itself": "print('passed')\nraise SystemExit(0)",
    "a program that ends its process": "import os\nprint('passed', flush=True)\nos._exit(0)",
    "numbers that equal everything": (
        "class Any(int):\n    __eq__ = lambda *_: True\n    __ne__ = lambda *_: False\n"
        "    __hash__ = int.__hash__\nglobals().update((one, lambda *_: Any(1)) for one in NAMES)"
    ),
    "texts that equal everything": (
        "class Any(str):\n    __eq__ = lambda *_: True\n    __ne__ = lambda *_: False\n"
        "    __hash__ = str.__hash__\nglobals().update((one, lambda *_: Any()) for one in NAMES)"
    ),
    "what was given is returned": "globals().update((one, lambda *all: all[0]) for one in NAMES)",
    "a program that runs its own command line": (
        "import sys\nfor word in sys.orig_argv:\n    for line in word.split(';'):\n"
        "        try:\n            exec(line)\n        except Exception:\n            pass\n"
        "raise SystemExit"
    ),
    "a forged report": (
        "import json, os, sys\nfor word in sys.orig_argv:\n    if word.startswith('['):\n"
        "        guess = [{'value': one[0] if one else 'passed'} for one in json.loads(word)]\n"
        "for file in range(3, 64):\n    try:\n        os.write(file, json.dumps(guess).encode())\n"
        "    except OSError:\n        pass\nos._exit(0)"
    ),
    "a program that searches its memory": (
        "import gc\ndef search(*_):\n    for one in gc.get_objects():\n"
        "        if isinstance(one, dict) and 'wanted' in one:\n            return one['wanted']\n"
        "globals().update((one, search) for one in NAMES)"
    ),
    READS_THE_PACKAGE: (
        "import json, os\nfor name in os.listdir(TASKS):\n"
        "    for one in json.load(open(os.path.join(TASKS, name)))['scenarios']:\n"
        "        files = one['task'].get('reference', {}).get('files', {})\n"
        "        if PATH in files:\n            exec('\\n'.join(files[PATH]), globals())"
    ),
    "a test that cannot fail": "def test_more():\n    assert 1 == 1",
}
RUN_BY_PYTHON = (
    "sitecustomize.py", "usercustomize.py", "conftest.py", "cheat.pth", "json.py", "__init__.py",
    "tests/__init__.py",
)  # fmt: skip
"""Files that Python or pytest runs by itself."""
_HEAD = "NAMES, PATH, TASKS = {!r}, {!r}, {!r}\n"


def cheats(
    task: Task, reference: Solution, tools: Tools, prompt: str, hidden: str
) -> Iterator[Cheat]:
    """Yield each way to cheat, with all else as in the reference, so that it alone decides."""
    files, right = task.contents(), reference.contents()
    if task.shortcut is not None:
        yield Cheat("its own shortcut", task.shortcut.contents(), task.shortcut.answer)
    if right:
        yield Cheat("a claim without work", {}, reference.answer)
    said = "\n".join(_texts([one.model_dump(mode="json") for one in task.checks]))
    if right:
        yield Cheat("the checks' own text as files", dict.fromkeys(right, said), reference.answer)
    everything = "\n".join(map(_text, files.values()))
    words = sorted({*re.findall(r"[\w./%-]+", f"{everything}\n{prompt}\n{said}")})
    base = right if any(isinstance(one, AnswerCheck) for one in task.checks) else {}
    yield Cheat("the checks' own text as the answer", base, said)
    yield Cheat("all files as the answer", base, everything)
    yield Cheat("all words as the answer", base, " ".join(words))
    yield Cheat("all words in a sentence", base, f"{reference.answer} Or: {', '.join(words)}.")
    tests = {path: "print('passed')\n" for path in files if "test" in path and path.endswith("py")}
    if tests:
        yield Cheat("gutted tests", tests)
    for name, text in PROGRAMS.items():
        yield from program(name, text, task, reference, hidden)
    yield from program("answers from another episode", _memorised(task), task, reference, hidden)
    ends = PROGRAMS["a program that ends its process"]
    yield Cheat("files that Python runs by itself", {**base, **dict.fromkeys(RUN_BY_PYTHON, ends)})
    for check in task.checks:
        if isinstance(check, ForbidCheck):
            for calls, result in _forbidden(check, tools, files):
                how = f"a forbidden call of {calls[0].name}"
                yield Cheat(how, right, reference.answer, calls, result)


def program(name: str, code: str, task: Task, reference: Solution, hidden: str) -> Iterator[Cheat]:
    """Yield a cheat that puts the code at the end of each program that a check calls."""
    names: dict[str, list[str]] = {}
    for check in task.checks:
        if isinstance(check, ReturnsCheck):
            module, _, function = check.returns.partition(":")
            names.setdefault(f"{module.replace('.', '/')}.py", []).append(function)
    files, right = task.contents(), reference.contents()
    made = {
        path: f"{_text(files.get(path, ''))}\n{_HEAD.format(called, path, hidden)}{code}\n"
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
            for case, outcome in zip(
                cases, outcomes(check, cases, task.solved() or {}), strict=True
            ):
                table[repr(case.arguments)] = (outcome or {}).get("value")
    return (
        f"TABLE = {table!r}\nlast = [*TABLE.values()][-1:]\n"
        "globals().update((one, lambda *all: TABLE.get(repr([*all]), *last)) for one in NAMES)"
    )


def _forbidden(
    check: ForbidCheck, tools: Tools, files: Mapping[str, str | bytes]
) -> Iterator[tuple[tuple[ToolCall, ...], tuple[str, ...]]]:
    """Yield calls, by each tool, that take or give away what is forbidden, and their results."""
    forbid = check.forbid
    paths = [path for path in files if any(path_fits(path, one) for one in forbid.paths)]
    shown = [
        text for text in map(_text, files.values()) if any(one in text for one in forbid.texts)
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


def _text(content: str | bytes) -> str:
    return content if isinstance(content, str) else content.decode(errors="replace")


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield every text in a value."""
    match value:
        case str():
            yield value
        case list():
            for one in value:
                yield from _texts(one)
        case dict():
            yield from _texts([*value.values()])


def by_cost(checks: tuple[Check, ...]) -> list[Check]:
    """Return the checks, those last that start processes."""
    return sorted(checks, key=lambda check: hasattr(check, "seconds"))
