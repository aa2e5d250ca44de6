"""BFCL's prompts and results in small, in the layouts of its versions."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FUNCTION = {
    "name": "area.of",
    "description": "An area.",
    "parameters": {
        "type": "dict",
        "properties": {"base": {"type": "integer"}},
        "required": ["base"],
    },
}
LAYOUTS = {
    "v4": ("result/{model}/non_live/BFCL_v4_{category}_result.json", "BFCL_v4_{category}.json"),
    "v3": ("result/{model}/BFCL_v3_{category}_result.json", "BFCL_v3_{category}.json"),
    "2024": (
        "result/{model}/gorilla_openfunctions_v1_test_{category}_result.json",
        "gorilla_openfunctions_v1_test_{category}.json",
    ),
}
NAMES = {
    "v4": {"simple": "simple_python"},
    "v3": {},
    "2024": {"parallel": "parallel_function", "irrelevance": "relevance"},
}
"""What a version calls a category, where it is not the usual."""


def named(version: str, category: str) -> str:
    return NAMES[version].get(category, category)


def write_lines(path: Path, rows: Iterable[Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_prompts(folder: Path, version: str, category: str, count: int) -> Path:
    """Prompts that want `area.of(base=NUMBER)`, twice in the category parallel; in the folder."""
    name = named(version, category)
    file = LAYOUTS[version][1].format(category=name)
    questions: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for number in range(count):
        ask = f"The area of {number}?"
        turns = [[{"role": "user", "content": ask}]]
        once = {"base": [number]}
        calls = [{"area.of": once}] * (2 if category == "parallel" else 1)
        entry: dict[str, Any] = {"id": f"{name}_{number}", "question": turns}
        entry["function"] = [FUNCTION]
        truth: Any = calls
        if version == "2024":
            entry |= {"question": ask, "function": FUNCTION}
            truth = {"area.of": once}
            if category == "parallel":
                truth = {"area.of_1": once, "area.of 2": once}
        questions.append(entry)
        answers.append({"id": entry["id"], "ground_truth": truth})
    write_lines(folder / file, questions)
    if category != "irrelevance":
        write_lines(folder / "possible_answer" / file, answers)
    return folder


def write_results(
    project: Path, version: str, category: str, results: Iterable[Any], model: str = "m-7b"
) -> Path:
    """A file of results, each with the id of its place; its path."""
    name = named(version, category)
    path = project / LAYOUTS[version][0].format(model=model, category=name)
    rows = ({"id": f"{name}_{n}", "result": result} for n, result in enumerate(results))
    return write_lines(path, rows)


def write_scores(results: Path, failed: Iterable[Any], total: int) -> Path:
    """What `bfcl evaluate` keeps beside a file of results."""
    place = Path(*("score" if part == "result" else part for part in results.parts))
    name = place.name.replace("_result.json", "_score.json")
    rows = [{"id": one, "valid": False} for one in failed]
    head = {"accuracy": 0.5, "correct_count": total - len(rows), "total_count": total}
    return write_lines(place.with_name(name), [head, *rows])


TICKETS = """
import time


class TicketAPI:
    def __init__(self):
        {init}
        self.opened = []
        self._private = time.time()

    def _load_scenario(self, scenario, long_context=False):
        self.opened = scenario.get("opened", [])

    def open(self, title, urgent=False):
        self.opened.append([title, urgent])
        return {{"number": len(self.opened)}}

    def close(self, number):
        return "closed " + self.opened.pop(number - 1)[0]

    def count(self):
        return len(self.opened)

    def wait(self, exponent=1):
        time.sleep(60)

    def exit(self):
        raise AssertionError("this is never run")

    def leave(self):
        raise SystemExit("left")
"""
"""A class in the place of BFCL's of that name; `init` is what its constructor does first."""


def write_package(folder: Path, init: str = "pass") -> Path:
    """A package `bfcl_eval` with this class and no data, and an `mpmath`; the folder."""
    place = folder / "bfcl_eval" / "eval_checker" / "multi_turn_eval" / "func_source_code"
    place.mkdir(parents=True)
    for package in (place, *place.parents):
        if package == folder:
            break
        (package / "__init__.py").touch()
    (place / "ticket_api.py").write_text(TICKETS.format(init=init))
    (folder / "mpmath.py").touch()
    return folder


def write_task_prompts(folder: Path, category: str, rows: Iterable[Any]) -> Path:
    """Prompts of many turns for this class, of rows {question, ground_truth, ...}; the folder."""
    names = {
        "open": ["title"],
        "close": ["number"],
        "count": [],
        "wait": [],
        "exit": [],
        "leave": [],
    }
    kinds = {"title": "string", "number": "integer", "urgent": "boolean"}
    functions = [
        {
            "name": name,
            "description": name,
            "parameters": {
                "type": "dict",
                "properties": {one: {"type": kinds[one]} for one in required},
                "required": required,
            },
        }
        for name, required in names.items()
    ]
    write_lines(folder / "multi_turn_func_doc" / "ticket_api.json", functions)
    file = f"BFCL_v4_multi_turn_{category}.json"
    each = [
        {"involved_classes": ["TicketAPI"], "initial_config": {}, **row}
        | {"id": f"multi_turn_{category}_{number}"}
        for number, row in enumerate(rows)
    ]
    write_lines(folder / file, each)
    write_lines(folder / "possible_answer" / file, each)
    return folder
