"""One verdict: `tunaeval.match` under each profile, beside the checker of BFCL.

    python benchmarks/match.py [--rounds 25] [--json] [--check]

BFCL's checker takes part when its package is installed (`pip install --no-deps bfcl-eval`); it is
loaded from its file, as the tests do. Both get the same calls, and are seen to pass them before
any is timed. The floor is Python's own comparison of the names and arguments.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

from measuring import Aim, Work, in_turns, options, print_results, ratio

from tunaeval import ToolCall, match, to_tools
from tunaeval.matching.bfcl import wanted_arguments
from tunaeval.matching.expectations import read_expectation

ARGUMENTS: dict[str, Any] = {
    "pattern": "TODO",
    "directory": "src",
    "max_results": 50,
    "ratio": 0.5,
    "include": ["*.py", "*.md"],
}
TYPES: dict[str, Any] = {
    "pattern": {"type": "string"},
    "directory": {"type": "string"},
    "max_results": {"type": "integer"},
    "ratio": {"type": "float"},
    "include": {"type": "array", "items": {"type": "string"}},
}
MATCHERS: dict[str, Any] = {
    "pattern": {"$regex": "^TODO"},
    "directory": {"$path": "./src"},
    "max_results": {"$approx": 48, "tolerance": 10},
    "ratio": {"$any_of": [0.25, 0.5]},
    "include": {"$set": ["*.md", "*.py"]},
}
PROFILES = ("strict", "tunacode", "bfcl")
THEIRS, MATCHED, FLOOR = "BFCL's checker", "strict, a matcher for each", "floor, =="
AIMS = {"1 call": (1, 20.0), "5 calls": (5, 50.0), "5 calls, reversed": (5, 50.0)}
"""How many calls, and in how many microseconds on a quiet machine."""


def parameters(kinds: dict[str, str]) -> dict[str, Any]:
    def converted(schema: dict[str, Any]) -> dict[str, Any]:
        return {**schema, "type": kinds.get(schema["type"], schema["type"])}

    properties = {name: converted(schema) for name, schema in TYPES.items()}
    return {"type": kinds["dict"], "properties": properties, "required": ["pattern"]}


def numbered(count: int) -> list[dict[str, Any]]:
    """Arguments of so many calls, each with a number of its own."""
    return [{**ARGUMENTS, "max_results": 50 + index} for index in range(count)]


def works(count: int, step: int) -> dict[str, Work]:
    """Those that are here, on so many calls in their order, or (step -1) in reverse."""
    spec = {"name": "grep", "parameters": parameters({"float": "number", "dict": "object"})}
    tools = to_tools([spec])
    gold = [{name: [value] for name, value in one.items()} for one in numbered(count)]
    mode = "exactly" if count == 1 else "any_order"
    calls = [ToolCall("grep", one) for one in numbered(count)[::step]]

    def ours(profile: str, wanted: list[dict[str, Any]]) -> Work:
        expected = [{"name": "grep", "arguments": one} for one in wanted]
        expect = read_expectation({"calls": expected, "match": mode})
        return Work(match, (expect, calls), {"profile": profile, "tools": tools})

    plain, alternatives = numbered(count), [wanted_arguments(one) for one in gold]
    found = {
        profile: ours(profile, alternatives if profile == "bfcl" else plain) for profile in PROFILES
    }
    found[MATCHED] = ours("strict", [MATCHERS] * count)
    check = checker()
    if check is not None:
        functions = [{"name": "grep", "parameters": parameters({"dict": "dict"})}]
        outputs = [{call.name: call.arguments} for call in calls]
        category = "simple" if count == 1 else "parallel"
        found[THEIRS] = Work(check, (functions, outputs, [{"grep": one} for one in gold], category))
    equal = [(call.name, call.arguments) for call in calls]
    found[FLOOR] = Work(list.__eq__, (equal, [("grep", one) for one in plain[::step]]))
    return found


def checker() -> Any:
    """BFCL's, or None."""
    sys.path.insert(0, str(Path(__file__).parent.parent))
    loader = import_module("tests.tasks.bfcl_checker")
    folder = loader.package()
    return None if folder is None else loader.load_checker(folder)


def main() -> None:
    given = options(__doc__, rounds=25).parse_args()
    document: dict[str, dict[str, dict[str, float]]] = {}
    aims = []
    for case, (count, most) in AIMS.items():
        peers = works(count, -1 if "reversed" in case else 1)
        for name, work in peers.items():
            assert getattr(work.done(), "ok", True), name
        rounds = in_turns(peers, given.rounds)
        beside = THEIRS if THEIRS in peers else FLOOR
        document[case] = {
            name: {"us": median(found), "ratio": ratio(rounds, name, beside)}
            for name, found in rounds.items()
        }
        slowest = max(median(rounds[name]) for name in PROFILES)
        wanted = f"a verdict on {case} in at most {most:g} µs, on a quiet machine"
        aims.append(Aim(wanted, f"{slowest:.1f} µs under the slowest profile", slowest <= most))
    print_results(
        given,
        columns=["µs a verdict (times " + beside + ")", *AIMS],
        rows=[[name, *(_cell(figures[name]) for figures in document.values())] for name in peers],
        document={"verdicts": document},
        aims=aims,
    )


def _cell(figures: dict[str, float]) -> str:
    return f"{figures['us']:.1f} ({figures['ratio']:.2f})"


if __name__ == "__main__":
    main()
