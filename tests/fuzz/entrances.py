"""The public entrances, each with something sound to give it, which `hostile_values.py` damages."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import tunaeval
from tests.cli.conftest import SCENARIOS
from tests.fuzz.sound_values import (
    CALL,
    EXPECT,
    KEPT,
    MESSAGES,
    RECORDING,
    RESPONSE,
    ROWS,
    SUITE,
    TEXT,
    TOOL,
)
from tunaeval.data.convert import convert_row, route_between
from tunaeval.data.shapes import read_rows
from tunaeval.rewards.scored import reward, rewards
from tunaeval.scoring.settings import ScoreSettings


@dataclass(frozen=True, slots=True)
class Entrance:
    """A function, and arguments that it takes."""

    call: Callable[..., object]
    arguments: Mapping[str, Any]

    def sound(self) -> dict[str, Any]:
        return deepcopy(dict(self.arguments))


@dataclass(frozen=True, slots=True)
class Files:
    """A command line, and the files that it reads."""

    command: tuple[str, ...]
    files: Mapping[str, Any]

    def sound(self) -> dict[str, Any]:
        return deepcopy(dict(self.files))


def _stream(chunks: Any, **given: Any) -> object:
    streamed = tunaeval.stream(**given)
    for chunk in chunks if isinstance(chunks, list) else [chunks]:
        streamed.feed(chunk)
    return streamed.finish()


def _render(calls: Any, **given: Any) -> object:
    made = (
        [
            tunaeval.ToolCall(**one)
            if isinstance(one, dict) and one.keys() <= {"name", "arguments"} and len(one) == 2
            else one
            for one in calls
        ]
        if isinstance(calls, list)
        else calls
    )
    return tunaeval.render(made, **given)


def _match(calls: Any, **given: Any) -> object:
    found = calls
    if isinstance(calls, list) and all(
        isinstance(one, dict) and one.keys() == {"name", "arguments"} for one in calls
    ):
        found = [tunaeval.ToolCall(**one) for one in calls]
    return tunaeval.match(calls=found, **given)


LS = {"type": "function", "function": {"name": "ls"}}


def _expect(calls: Any, **given: Any) -> object:
    return tunaeval.expect(*(calls if isinstance(calls, list) else [calls]), **given)


def _workspace(**given: Any) -> object:
    with tunaeval.Workspace(**given) as workspace:
        return workspace.changes()


def _endpoint(**given: Any) -> object:
    with tunaeval.model_endpoint(**given) as model:
        return model.url


def _settings(**given: Any) -> object:
    return tunaeval.score(MESSAGES, "Read a.py.", settings=ScoreSettings(**given))


def _read(read: Callable[[Path], object], document: Any) -> object:
    """A reader of files, given one of JSON lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "file.jsonl")
        rows = document if isinstance(document, list) else [document]
        for row in rows:
            with suppress(TypeError, ValueError, RecursionError), path.open("a") as file:
                file.write(json.dumps(row, default=str) + "\n")
        return read(path)


def _rows(rows: Any, **given: Any) -> object:
    return list(read_rows(rows, **given))


CALLS = [CALL, {"name": "read_file", "arguments": {}}]
ENTRANCES: dict[str, Entrance] = {
    "parse": Entrance(
        tunaeval.parse, {"text": TEXT, "format": "auto", "tools": [TOOL], "level": "standard"}
    ),
    "parse_levels": Entrance(
        tunaeval.parse_levels, {"text": TEXT, "format": "hermes", "tools": [TOOL]}
    ),
    "parse_many": Entrance(
        tunaeval.parse_many, {"texts": [TEXT, "hello"], "tools": [TOOL], "workers": 1}
    ),
    "parse_message": Entrance(
        tunaeval.parse_message, {"message": MESSAGES[2], "tools": [TOOL], "level": "lenient"}
    ),
    "parse_message of a response": Entrance(
        tunaeval.parse_message, {"message": RESPONSE, "tools": [TOOL]}
    ),
    "stream": Entrance(
        _stream,
        {
            "chunks": [TEXT[:30], TEXT[30:]],
            "format": "hermes",
            "tools": [TOOL],
            "level": "standard",
        },
    ),
    "render": Entrance(_render, {"calls": CALLS, "format": "hermes"}),
    "instructions": Entrance(tunaeval.instructions, {"tools": [TOOL], "format": "hermes"}),
    "match": Entrance(
        _match, {"expect": EXPECT, "calls": CALLS, "tools": [TOOL], "profile": "strict"}
    ),
    "match of an answer": Entrance(
        tunaeval.match, {"expect": EXPECT, "calls": MESSAGES[2], "tools": [TOOL]}
    ),
    "expect": Entrance(
        _expect,
        {"calls": [CALL, "bash"], "match": "in_order", "forbid": ["ls"], "tools": [TOOL, LS]},
    ),
    "score": Entrance(
        tunaeval.score,
        {
            "messages": MESSAGES,
            "query": "Read a.py.",
            "preset": "default",
            "expect": EXPECT,
            "forbid": ["bash", CALL],
        },
    ),
    "score by evals2": Entrance(
        tunaeval.score, {"messages": MESSAGES, "query": "Read a.py.", "preset": "evals2"}
    ),
    "ScoreSettings": Entrance(
        _settings,
        {
            "completion_tools": ["f"],
            "completion_phrases": ["DONE"],
            "forbid": ["bash"],
            "test_commands": ["pytest"],
        },
    ),
    "read_conversation": Entrance(
        tunaeval.read_conversation, {"messages": MESSAGES, "shape": None}
    ),
    "read_conversations": Entrance(
        tunaeval.read_conversations, {"document": [{"messages": MESSAGES, "id": "x"}]}
    ),
    "to_tools": Entrance(
        tunaeval.to_tools, {"tools": [TOOL, {"name": "b", "input_schema": {"type": "object"}}]}
    ),
    "compare_tools": Entrance(tunaeval.compare_tools, {"ours": [TOOL], "theirs": [TOOL]}),
    "find_drift": Entrance(
        tunaeval.find_drift, {"tool": TOOL, "prompt": TOOL, "tools": ["read_file"]}
    ),
    "reward": Entrance(
        reward, {"completion": TEXT, "gold": [CALL], "tools": [TOOL], "recipe": "default"}
    ),
    "reward of messages": Entrance(
        reward, {"completion": [MESSAGES[2]], "gold": EXPECT, "tools": [TOOL]}
    ),
    "rewards": Entrance(
        rewards, {"completions": [TEXT, "x"], "golds": [[CALL], []], "tools": [[TOOL], [TOOL]]}
    ),
    **{
        f"convert_row {index}": Entrance(
            partial(convert_row, route=route_between("hermes", "openai")), {"row": row}
        )
        for index, row in enumerate(ROWS)
    },
    "read_scores": Entrance(
        partial(_read, tunaeval.read_scores), {"document": [{"schema_version": 2, "query": "q"}]}
    ),
    "read_tool_prompt": Entrance(
        partial(_read, tunaeval.read_tool_prompt), {"document": [{"description": "a"}]}
    ),
    "read_rows": Entrance(_rows, {"rows": ROWS}),
    "from_environment": Entrance(
        tunaeval.from_environment,
        {"environment": {"ENABLE_EVALS2": "true", "OPENAI_MODEL_FOR_SCORING": "m"}},
    ),
    "Workspace": Entrance(
        _workspace,
        {
            "files": {"a.py": "a", "b/c": "d"},
            "commands": [["cat", "{path}"]],
            "pages": {"http://x": "y"},
        },
    ),
    "model_endpoint": Entrance(
        _endpoint,
        {
            "script": [{"content": "a"}, MESSAGES[2], "text"],
            "faults": [],
            "format": "auto",
            "model": "m",
            "masks": {"a+": "b"},
        },
    ),
}

FILES: dict[str, Files] = {
    "$ parse": Files(
        ("parse", "a.txt", "--tools", "tools.json"), {"a.txt": TEXT, "tools.json": [TOOL]}
    ),
    "$ parse --jsonl": Files(("parse", "rows.jsonl"), {"rows.jsonl": (*ROWS, {"text": TEXT})}),
    "$ convert": Files(
        ("convert", "rows.jsonl", "--from", "hermes", "--to", "json"), {"rows.jsonl": tuple(ROWS)}
    ),
    "$ convert to openai": Files(
        ("convert", "rows.jsonl", "--from", "hermes", "--to", "openai"), {"rows.jsonl": tuple(ROWS)}
    ),
    "$ score": Files(
        ("score", "m.json", "--expect", "e.json"), {"m.json": MESSAGES, "e.json": EXPECT}
    ),
    "$ score lines": Files(
        ("score", "m.jsonl", "--tools", "t.json"), {"m.jsonl": tuple(MESSAGES), "t.json": [TOOL]}
    ),
    "$ dataset check": Files(("dataset", "check", "rows.jsonl"), {"rows.jsonl": tuple(ROWS)}),
    "$ dataset check list": Files(("dataset", "check", "rows.json"), {"rows.json": ROWS}),
    "$ suites check": Files(("suites", "check", "s.json"), {"s.json": SUITE}),
    "$ suites check lines": Files(
        ("suites", "check", "s.jsonl"), {"s.jsonl": ({"name": "s"}, *SCENARIOS)}
    ),
    "$ show": Files(("show", "run"), KEPT),
    "$ show --scenario": Files(("show", "run", "--scenario", "a"), KEPT),
    "$ report": Files(("report", "run", "--html", "-o", "page.html"), KEPT),
    "$ report --junit": Files(("report", "run", "--junit"), KEPT),
    "$ compare": Files(("compare", "run", "run"), KEPT),
    "$ rescore": Files(
        ("rescore", "run", "--suite", "s.json", "--out", "again"), {**KEPT, "s.json": SUITE}
    ),
    "$ run --resume": Files(
        ("run", "--resume", "run", "--suite", "s.json"), {**KEPT, "s.json": SUITE}
    ),
    "$ run --client replay": Files(
        (
            "run",
            "--suite",
            "s.json",
            "--client",
            "replay",
            "--recording",
            "r.jsonl",
            "--limit",
            "2",
        ),
        {"s.json": {**SUITE, "scenarios": SUITE["scenarios"][:2]}, "r.jsonl": RECORDING},
    ),
    "$ run --client scripted": Files(
        ("run", "--suite", "s.json", "--client", "scripted", "--recording", "r.jsonl"),
        {"s.json": {**SUITE, "scenarios": SUITE["scenarios"][:2]}, "r.jsonl": (TEXT, MESSAGES[2])},
    ),
    "$ judge calibrate": Files(
        ("judge", "calibrate", "l.jsonl", "--client", "scripted", "--recording", "r.jsonl"),
        {
            "l.jsonl": (
                {"id": "a", "query": "q", "messages": MESSAGES, "label": {"goal-completion": True}},
            ),
            "r.jsonl": ('{"score": 1, "reason": "a"}',) * 8,
        },
    ),
}
