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
