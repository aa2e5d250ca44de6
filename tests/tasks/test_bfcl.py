"""BFCL's data load as suites, and the profile `bfcl` judges as the real checker does.

Needs the package `bfcl-eval`, installed without what it depends on; skipped where it is missing.
What holds without it is in `tests/matching/test_bfcl.py` and `tests/runs/test_bfcl_files.py`.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tasks.bfcl_checker import Checker, load_checker, package
from tunaeval.matching.bfcl import gold_arguments, wanted_arguments
from tunaeval.matching.calls import match
from tunaeval.tasks.suites.bfcl import BFCL_CATEGORIES, BFCL_DEFECTS
from tunaeval.tasks.suites.loading import load_suite, without
from tunaeval.tools.specs import to_tools
from tunaeval.types.calls import ToolCall
from tunaeval.types.runs import Expectation, Scenario

JUDGED = [category for category, form in BFCL_CATEGORIES.items() if "match" in form]
SIZES = {
    "simple": 400, "multiple": 200, "parallel": 200, "parallel_multiple": 200,
    "live_simple": 258, "live_multiple": 1053, "live_parallel": 16, "live_parallel_multiple": 24,
    "irrelevance": 240, "live_irrelevance": 884, "live_relevance": 16,
}  # fmt: skip

Calls = list[tuple[str, dict[str, Any]]]


class Entry(NamedTuple):
    """An entry as it is in the files, and as a scenario."""

    functions: list[Any]
    gold: list[Any]
    scenario: Scenario


@cache
def entries(category: str) -> list[Entry]:
    data = root() / "data"
    file = f"BFCL_v4_{'simple_python' if category == 'simple' else category}.json"
    answers = {row["id"]: row["ground_truth"] for row in rows(data / "possible_answer" / file)}
    scenarios = load_suite(f"bfcl:{category}").scenarios
    return [
        Entry(row["function"], answers[row["id"]], scenario)
        for row, scenario in zip(rows(data / file), scenarios, strict=True)
    ]


def rows(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def root() -> Path:
    folder = package()
    if folder is None:
        pytest.skip("needs BFCL's own checker and data: pip install --no-deps bfcl-eval")
    return folder


@cache
def checker() -> Checker:
    return load_checker(root())


def real_verdict(entry: Entry, calls: Calls, category: str) -> bool | str:
    """True, False, or "crash"."""
    try:
        return checker()(entry.functions, [{n: a} for n, a in calls], entry.gold, category)
    except Exception:  # noqa: BLE001 - any crash of theirs is a crash
        return "crash"


def our_verdict(entry: Entry, calls: Calls) -> bool | str:
    made = [ToolCall(name, arguments) for name, arguments in calls]
    scenario = entry.scenario
    verdict = match(scenario.expect, made, profile="bfcl", tools=scenario.tools)
    crashed = bool(verdict.failures) and verdict.failures[0].code == "checker-crash"
    return "crash" if crashed else verdict.ok


# Answers


def answer(entry: Entry, pick: Callable[[list[Any]], Any]) -> Calls:
    """The calls that the possible answer allows, with one alternative picked everywhere."""
    return [
        (name.replace(".", "_"), chosen(arguments, pick))
        for one in entry.gold
        for name, arguments in one.items()
    ]


def chosen(arguments: dict[str, Any], pick: Callable[[list[Any]], Any]) -> dict[str, Any]:
    made = {}
    for name, alternatives in arguments.items():
        one = pick(alternatives or [""]) if isinstance(alternatives, list) else alternatives
        if one != "":
            made[name] = plain(one, pick)
    return made


def plain(one: Any, pick: Callable[[list[Any]], Any]) -> Any:
    if isinstance(one, dict):
        return chosen(one, pick)
    return [plain(item, pick) for item in one] if isinstance(one, list) else one


def first(alternatives: list[Any]) -> Any:
    """The first that is a value; "" stands for leaving the argument out."""
    return next((one for one in alternatives if one != ""), "")


RETYPED: tuple[Any, ...] = (
    None, True, 0, 1, 1.5, -3, 10**400, "", "...", "x", [], [1], [1.0, True], ["a"], [None], [{}],
    [[1]], {}, {"a": 1}, [{"a": "b"}],
)  # fmt: skip


def mutations(calls: Calls, dice: random.Random) -> Iterator[Calls]:
    """Arguments dropped, added, retyped, reordered, punctuated; calls dropped and swapped."""
    yield calls[::-1]
    yield calls[:-1]
    yield [*calls, calls[0]]
    yield [("other", calls[0][1]), *calls[1:]]
    yield dice.sample(calls, len(calls))
    for index, (name, arguments) in enumerate(calls):
        for changed in changes(arguments, dice):
            yield [*calls[:index], (name, changed), *calls[index + 1 :]]


def changes(arguments: dict[str, Any], dice: random.Random) -> Iterator[dict[str, Any]]:
    yield {**arguments, "added": dice.choice(RETYPED)}
    yield dict(reversed(arguments.items()))
    yield {}
    for key, value in arguments.items():
        yield {name: inner for name, inner in arguments.items() if name != key}
        for other in (*altered(value), *dice.sample(RETYPED, 6)):
            yield {**arguments, key: other}


def altered(value: Any) -> Iterator[Any]:
    """Values near this one."""
    match value:
        case bool():
            yield from (not value, int(value), str(value))
        case int() | float():
            yield from (float(value), int(value), str(value), [value], -value, value + 1)
        case str():
            yield from (value.upper(), f" {value}.", value.replace(" ", "-"), f"{value}\t", [value])
            yield from (f"{value}'", value[::-1], f"^*_{value},/")
        case list():
            yield from (value[::-1], value[:-1], [*value, *value[:1]], [str(v) for v in value])
            for item in value[:1]:
                yield from ([other, *value[1:]] for other in altered(item))
        case dict():
            yield {**value, "added": 1}
            for key, item in value.items():
                yield {name: inner for name, inner in value.items() if name != key}
                yield from ({**value, key: other} for other in altered(item))


# Tests


@pytest.mark.parametrize("category", BFCL_CATEGORIES)
def test_every_entry_of_a_category_is_a_scenario(category: str) -> None:
    root()
    suite = load_suite(f"bfcl:{category}")
    assert len(suite.scenarios) == SIZES[category]
    assert all(scenario.tools is not None for scenario in suite.scenarios)


@pytest.mark.parametrize("category", JUDGED)
def test_possible_answers_survive_the_way_there_and_back(category: str) -> None:
    for entry in entries(category):
        for one in entry.gold:
            for arguments in one.values():
                assert gold_arguments(wanted_arguments(arguments)) == arguments


@pytest.mark.parametrize("category", JUDGED)
def test_the_profile_agrees_with_the_checker_on_every_answer(category: str) -> None:
    seen = agreed(entries(category), category, mutated=False)
    assert seen[True] > len(entries(category))


@pytest.mark.parametrize("category", JUDGED)
def test_the_profile_agrees_with_the_checker_on_mutations(category: str) -> None:
    some = random.Random(category).sample(entries(category), 12)
    seen = agreed(some, category, mutated=True)
    assert min(seen[True], seen[False]) > 3 * len(some)


@pytest.mark.slow
@pytest.mark.parametrize("category", JUDGED)
def test_the_profile_agrees_with_the_checker_on_all_mutations(category: str) -> None:
    seen = agreed(entries(category), category, mutated=True)
    print(f"{category}: {seen.total()} verdicts agree: {dict(seen)}")  # shown by pytest -s
    assert min(seen[True], seen[False]) > 3 * len(entries(category))


def agreed(some: list[Entry], category: str, *, mutated: bool) -> Counter[bool | str]:
    """Both judge the first answer of each entry, two picked by chance, and mutations of these."""
    dice = random.Random(category)
    seen: Counter[bool | str] = Counter()
    for entry in some:
        for pick in (first, dice.choice, dice.choice):
            calls = answer(entry, pick)
            for tried in (calls, *(mutations(calls, dice) if mutated else ())):
                theirs = real_verdict(entry, tried, category)
                assert our_verdict(entry, tried) == theirs, (entry.scenario.id, tried)
                seen[theirs] += 1
    return seen


TYPES: dict[str, Any] = {
    "text": {"type": "string"},
    "whole": {"type": "integer"},
    "ratio": {"type": "float"},
    "flag": {"type": "boolean"},
    "ratios": {"type": "array", "items": {"type": "float"}},
    "words": {"type": "tuple", "items": {"type": "string"}},
    "box": {"type": "dict"},
    "boxes": {"type": "array", "items": {"type": "dict"}},
}
keys = st.sampled_from([*TYPES, "unknown"])
scalars = st.sampled_from([None, True, 0, 1, 1.0, 2.5, "", "a", "A.", "b'", 10**400])
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)
choices = st.lists(values, max_size=2)
boxes = st.dictionaries(st.sampled_from("ab"), choices, max_size=2)
alternatives = st.lists(st.one_of(values, boxes, st.lists(boxes, max_size=2)), max_size=3)
arguments = st.dictionaries(keys, values, max_size=2)


@given(
    gold=st.lists(st.dictionaries(keys, alternatives, max_size=2), min_size=1, max_size=2),
    made=st.lists(arguments, max_size=3),
    category=st.sampled_from(["simple", "parallel"]),
    data=st.data(),
)
def test_the_profile_agrees_with_the_checker_on_what_no_file_has(
    gold: list[Any], made: list[dict[str, Any]], category: str, data: st.DataObject
) -> None:
    """Also on arguments that are partly as they are wanted."""
    wanted = gold if category == "parallel" else gold[:1]
    for one in wanted:
        known = [alternative for options in one.values() for alternative in options]
        if data.draw(st.booleans()) and known:
            made = [*made, {key: data.draw(st.sampled_from(known)) for key in one}]
    schema = {"type": "dict", "properties": TYPES, "required": ["text"] if len(made) > 2 else []}
    functions = [{"name": "f.g", "parameters": schema}]
    calls = tuple({"name": "f_g", "arguments": wanted_arguments(one)} for one in wanted)
    scenario = Scenario(
        id="x",
        prompt="x",
        expect=Expectation.model_validate(
            {"calls": calls, "match": BFCL_CATEGORIES[category]["match"]}
        ),
        tools=to_tools([{"name": "f_g", "parameters": converted(schema)}]),
    )
    entry = Entry(functions, [{"f.g": one} for one in wanted], scenario)
    tried: Calls = [("f_g", one) for one in made]
    assert our_verdict(entry, tried) == real_verdict(entry, tried, category)


def converted(schema: dict[str, Any]) -> dict[str, Any]:
    text = json.dumps(schema)
    for theirs, ours in (("dict", "object"), ("float", "number"), ("tuple", "array")):
        text = text.replace(f'"type": "{theirs}"', f'"type": "{ours}"')
    whole: dict[str, Any] = json.loads(text)
    return whole


def test_first_answers_pass_but_for_the_published_defects() -> None:
    failed = {
        entry.scenario.id
        for category in JUDGED
        for entry in entries(category)
        if our_verdict(entry, answer(entry, first)) is not True
    }
    assert failed == set(BFCL_DEFECTS)


def test_defects_can_be_left_out() -> None:
    root()
    suite = load_suite("bfcl:live_multiple")
    sound = without(suite, ["defective-gold"])
    assert len(suite.scenarios) - len(sound.scenarios) == 3
    assert sound.digest != suite.digest
