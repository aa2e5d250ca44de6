"""BFCL's tasks of many turns pass and fail here as under BFCL's own checker.

Needs the package `bfcl-eval`, installed without what it depends on, and `mpmath`; skipped where one
is missing. BFCL's checker is imported here alone: it evaluates the texts of calls, and these calls
are ours.
"""

from __future__ import annotations

import ast
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import tunaeval
from tests.runs.whole_runs import Answers
from tunaeval.tasks.suites.bfcl import BFCL_MULTI_TURN
from tunaeval.types.calls import JsonObject
from tunaeval.types.exchange import Reply, Request
from tunaeval.types.runs import Scenario

pytestmark = pytest.mark.skipif(
    find_spec("bfcl_eval") is None or find_spec("mpmath") is None,
    reason="needs BFCL's classes and checker: pip install --no-deps bfcl-eval mpmath",
)
CATEGORIES: list[str] = BFCL_MULTI_TURN["categories"]
_CHECKER = "bfcl_eval.eval_checker.multi_turn_eval.multi_turn_"

Step: TypeAlias = list[tuple[str, Any]] | str
"""A reply: its calls, each a name and its arguments (a text if they are broken), or a text."""
Turns: TypeAlias = list[list[Step]]


@cache
def scenarios(category: str) -> tuple[Scenario, ...]:
    return tuple(tunaeval.load_suite(f"bfcl:{category}").scenarios)


def task(scenario: Scenario) -> JsonObject:
    found: JsonObject = scenario.metadata["bfcl"]
    return found


def gold(scenario: Scenario, calls: int = 1) -> Turns:
    """The wanted calls, so many a step, each turn with an answer at its end."""
    turns: Turns = []
    for wanted in task(scenario)["ground_truth"]:
        made = [_call(text, scenario) for text in wanted]
        steps = [made[at : at + calls] for at in range(0, len(made), calls)]
        turns.append([*steps, "Done."])
    return turns


def _call(text: str, scenario: Scenario) -> tuple[str, JsonObject]:
    call = ast.parse(text.strip(), mode="eval").body
    assert isinstance(call, ast.Call)
    assert isinstance(call.func, ast.Name)
    assert scenario.tools is not None
    names = scenario.tools[call.func.id].parameters["properties"]
    given = {name: ast.literal_eval(one) for name, one in zip(names, call.args, strict=False)}
    named = {one.arg or "": ast.literal_eval(one.value) for one in call.keywords}
    return call.func.id, {**given, **named}


def kept(step: Step) -> Any:
    """A reply as BFCL keeps it in its results."""
    if isinstance(step, str):
        return step
    return [{name: given if isinstance(given, str) else json.dumps(given)} for name, given in step]


def decoded(result: Any) -> list[str] | None:
    """A kept reply as `convert_to_function_call` reads it; None where that raises, or is empty."""
    try:
        calls = [(name, json.loads(value)) for one in result for name, value in one.items()]
        return [
            f"{name}({','.join(f'{key}={value!r}' for key, value in given.items())})"
            for name, given in calls
        ] or None
    except (AttributeError, ValueError):
        return None


def generated(stream: Iterator[Step], turns: int) -> list[list[Any]]:
    """The results that `bfcl generate` keeps of a model that replies so."""
    results: list[list[Any]] = []
    for _ in range(turns):
        results.append([])
        for count, step in enumerate(stream, 1):
            results[-1].append(kept(step))
            if decoded(kept(step)) is None:
                break
            if count > 20:
                return results
    return results


def their_verdict(scenario: Scenario, results: list[list[Any]]) -> bool:
    """The verdict of `bfcl evaluate`."""
    wanted = task(scenario)["ground_truth"]
    if len(results) != len(wanted):
        return False
    entry = {
        "initial_config": task(scenario)["state"],
        "involved_classes": task(scenario)["classes"],
        "id": scenario.id,
    }
    replies = [[calls for step in turn if (calls := decoded(step))] for turn in results]
    checker, utils = import_module(f"{_CHECKER}checker"), import_module(f"{_CHECKER}utils")
    with redirect_stdout(StringIO()):
        found = checker.multi_turn_checker(replies, wanted, entry, "", "model")
    for name in [name for name in vars(utils) if name.endswith("_instance")]:
        del vars(utils)[name]
    return bool(found["valid"])


def played(trajectories: dict[str, tuple[Scenario, list[Step]]], **options: Any) -> dict[str, bool]:
    """Our verdicts on episodes in which a model replies so."""

    def answer(request: Request) -> Reply:
        _, replies = trajectories[request.scenario]
        step: Step = replies[request.attempt - 1] if request.attempt <= len(replies) else "Done."
        if isinstance(step, str):
            return Reply({"role": "assistant", "content": step})
        calls = [
            {"type": "function", "function": {"name": name, "arguments": arguments}}
            for one in kept(step)
            for name, arguments in one.items()
        ]
        return Reply({"role": "assistant", "content": None, "tool_calls": calls})

    suite = tunaeval.load_suite(f"bfcl:{CATEGORIES[0]}").with_(
        scenarios=tuple(
            scenario.model_copy(update={"id": name}) for name, (scenario, _) in trajectories.items()
        )
    )
    report = tunaeval.run(suite, client=Answers(answer), out=None, **options)
    assert not report.summary.infrastructure_failures, report.summary.failures
    return {one.scenario: one.ok for one in report.results}


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_wanted_calls_pass(category: str) -> None:
    """800 of 800 tasks; `long_context_38` and `_46` with two calls a step, as they have 34."""
    trajectories = {}
    for one in scenarios(category):
        many = max(map(len, task(one)["ground_truth"])) > 20
        trajectories[one.id] = one, [step for turn in gold(one, 2 if many else 1) for step in turn]
    assert [name for name, ok in played(trajectories).items() if not ok] == []
    assert len(trajectories) == 200


# What is wrong with a trajectory. Each takes one and returns it damaged.

Damage: TypeAlias = Callable[[Turns, random.Random, Scenario], Turns]
UNKNOWN: tuple[str, Any] = ("no_such_function", {"a": 1})


def _places(turns: Turns) -> list[tuple[int, int]]:
    """Turn and step of each reply with calls."""
    return [
        (number, at)
        for number, turn in enumerate(turns)
        for at, step in enumerate(turn)
        if step and not isinstance(step, str)
    ]


def _changed(
    turns: Turns, draw: random.Random, change: Callable[[JsonObject], JsonObject]
) -> Turns:
    """With the arguments of one call changed."""
    number, at = draw.choice(_places(turns))
    step = turns[number][at]
    assert isinstance(step, list)
    index = draw.randrange(len(step))
    name, given = step[index]
    step[index] = name, given if isinstance(given, str) else change(dict(given))
    return turns


def _one_changed(kinds: tuple[type, ...], change: Callable[[Any], Any]) -> Damage:
    def damage(turns: Turns, draw: random.Random, _: Scenario) -> Turns:
        def changed(given: JsonObject) -> JsonObject:
            fits = [key for key, value in given.items() if type(value) in kinds]
            return {**given, (key := draw.choice(fits)): change(given[key])} if fits else given

        return _changed(turns, draw, changed)

    return damage


def _inserted(turns: Turns, draw: random.Random, step: Step) -> Turns:
    turn = draw.choice(turns)
    turn.insert(draw.randrange(len(turn)), step)
    return turns


def _beside(call: tuple[str, Any]) -> Damage:
    def damage(turns: Turns, draw: random.Random, _: Scenario) -> Turns:
        number, at = draw.choice(_places(turns))
        step = turns[number][at]
        assert isinstance(step, list)
        step.insert(draw.randrange(len(step) + 1), call)
        return turns

    return damage


def _dropped(turns: Turns, draw: random.Random, _: Scenario) -> Turns:
    number, at = draw.choice(_places(turns))
    del turns[number][at]
    return turns


def _silent(turns: Turns, draw: random.Random, _: Scenario) -> Turns:
    turns[draw.randrange(len(turns))] = ["I cannot."]
    return turns


def _swapped(turns: Turns, draw: random.Random, _: Scenario) -> Turns:
    turn = draw.choice([turn for turn in turns if len(turn) > 1])
    at = draw.randrange(len(turn) - 1)
    other = min(at + 1, len(turn) - 2)
    turn[at], turn[other] = turn[other], turn[at]
    return turns


def _doubled(turns: Turns, draw: random.Random, _: Scenario) -> Turns:
    number, at = draw.choice(_places(turns))
    turns[number].insert(at, turns[number][at])
    return turns


def _moved(by: int) -> Damage:
    def damage(turns: Turns, draw: random.Random, _: Scenario) -> Turns:
        number, at = draw.choice(_places(turns))
        step = turns[number].pop(at)
        turns[min(max(number + by, 0), len(turns) - 1)].insert(0, step)
        return turns

    return damage


def _merged(turns: Turns, draw: random.Random, _: Scenario) -> Turns:
    number = draw.randrange(len(turns))
    steps = [step for step in turns[number] if not isinstance(step, str)]
    turns[number] = [[call for step in steps for call in step], "Done."]
    return turns


def _reversed(turns: Turns, draw: random.Random, scenario: Scenario) -> Turns:
    turns = _merged(turns, draw, scenario)
    for turn in turns:
        if isinstance(turn[0], list) and len(turn[0]) > 1:
            turn[0].reverse()
    return turns


def _padded(steps: int, *, last: bool) -> Damage:
    """One turn has so many steps."""

    def damage(turns: Turns, draw: random.Random, _: Scenario) -> Turns:
        turn = turns[-1] if last else turns[draw.randrange(max(1, len(turns) - 1))]
        pads: list[Step] = [[UNKNOWN], [("pwd", {})], [("ls", {})], [("fuelLevel", {})]]
        while len(turn) - 1 < steps:
            turn.insert(draw.randrange(len(turn)), draw.choice(pads))
        return turns

    return damage


def _early(turns: Turns, draw: random.Random, scenario: Scenario) -> Turns:
    """A function that is held out is called before it is offered."""
    assert scenario.task is not None
    out = scenario.task.held_out(0)
    places = [
        (number, at)
        for number, at in _places(turns)
        if number and not out.isdisjoint(one[0] for one in turns[number][at])
    ]
    if not places:
        return _moved(-1)(turns, draw, scenario)
    number, at = draw.choice(places)
    step = turns[number].pop(at) if draw.random() < 0.5 else turns[number][at]
    turns[number - 1].insert(0, step)
    return turns


def _without(turns: Turns, draw: random.Random, _: Scenario) -> Turns:
    def changed(given: JsonObject) -> JsonObject:
        left_out = draw.choice([*given] or [""])
        return {key: value for key, value in given.items() if key != left_out}

    return _changed(turns, draw, changed)


def _with(more: JsonObject) -> Damage:
    return lambda turns, draw, _: _changed(turns, draw, lambda given: {**given, **more})


def _other_case(turns: Turns, draw: random.Random, _: Scenario) -> Turns:
    number, at = draw.choice(_places(turns))
    step = turns[number][at]
    assert isinstance(step, list)
    step[0] = step[0][0].upper(), step[0][1]
    return turns


def _said(step: Step) -> Damage:
    return lambda turns, draw, _: _inserted(turns, draw, step)


DAMAGES: dict[str, Damage] = {
    "none": lambda turns, _, __: turns,
    "a call left out": _dropped,
    "a turn without calls": _silent,
    "two steps swapped": _swapped,
    "a step twice": _doubled,
    "a step one turn later": _moved(1),
    "a step one turn earlier": _moved(-1),
    "a turn in one step": _merged,
    "a turn in one step, backwards": _reversed,
    "another text": _one_changed((str,), lambda value: f"{value} or so"),
    "a text with quotes": _one_changed((str,), lambda value: f"{value} '\"\\\n\u00e9\U0001f41f"),
    "another number": _one_changed((int, float), lambda value: value + 1),
    "a number as a text": _one_changed((int, float), str),
    "a whole number as a fraction": _one_changed((int,), float),
    "a flag turned": _one_changed((bool,), lambda value: not value),
    "a value of null": _one_changed((str, int, float), lambda _: None),
    "a list that is longer": _one_changed((list,), lambda value: [*value, "more"]),
    "an argument left out": _without,
    "an argument too many": _with({"unheard_of": True}),
    "an argument called self": _with({"self": 1}),
    "an unknown step": _said([UNKNOWN]),
    "an unknown call beside a good one": _beside(UNKNOWN),
    "a name in other letters": _other_case,
    "a name with a dot": _said([("GorillaFileSystem.ls", {})]),
    "a private name": _said([("_load_scenario", {"scenario": {}})]),
    "a refused name": _said([("kill", {})]),
    "an unreadable step": _said([("ls", '{"a": tr')]),
    "an unreadable call beside a good one": _beside(("cd", '{"folder": "doc')),
    "arguments that are a list": _beside(("ls", "[1]")),
    "an answer too early": _said("Let me see."),
    "an empty reply": _said([]),
    "20 steps early": _padded(20, last=False),
    "21 steps early": _padded(21, last=False),
    "20 steps at last": _padded(20, last=True),
    "21 steps at last": _padded(21, last=True),
    "22 steps at last": _padded(22, last=True),
    "a held-out function early": _early,
}


def damaged(seed: int) -> tuple[str, Scenario, list[Step]]:
    """The name of a damage, a task, and the replies of a model with this damage, or two."""
    draw = random.Random(seed)
    names = sorted(DAMAGES)
    first = names[seed % len(names)]
    category = CATEGORIES[1] if "held-out" in first else draw.choice(CATEGORIES)
    scenario = draw.choice(scenarios(category))
    turns = gold(scenario, draw.choice((1, 1, 2, 3)))
    for name in [first, *draw.sample(names, draw.choice((0, 0, 0, 1)))]:
        if _places(turns):
            turns = DAMAGES[name](turns, draw, scenario)
    return first, scenario, [step for turn in turns for step in turn]


def compared(seeds: range, folder: Path) -> Counter[tuple[str, bool]]:
    """How often each damage passed; all three verdicts are the same."""
    trajectories, theirs, counts = {}, {}, Counter[tuple[str, bool]]()
    found: dict[tuple[str, str], bool] = {}  # by model and id
    seen = Counter[str]()
    for seed in seeds:
        name, scenario, replies = damaged(seed)
        key = f"{scenario.id} {seed} {name}"
        trajectories[key] = scenario, replies
        results = generated(iter([*replies, *["Done."] * 9]), len(task(scenario)["ground_truth"]))
        theirs[key] = their_verdict(scenario, results)
        counts[name, theirs[key]] += 1
        seen[scenario.id] += 1
        model = f"m{seen[scenario.id]}"  # another model for each that has the same id
        found[model, scenario.id] = theirs[key]
        file = folder / "result" / model / "multi_turn" / f"BFCL_v4_{scenario.tags[0]}_result.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a") as lines:
            lines.write(json.dumps({"id": scenario.id, "result": results}) + "\n")
    ours = played(trajectories)
    assert [key for key, ok in theirs.items() if ours[key] is not ok] == []
    for read in tunaeval.rescore_bfcl(folder):
        again = {(read.name, one.scenario): one.ok for one in read.results}
        assert (read.faults, again.items() - found.items()) == ([], set())
    return counts


def test_damaged_trajectories_are_judged_as_by_bfcl(tmp_path: Path) -> None:
    counts = compared(range(5 * len(DAMAGES)), tmp_path)
    assert len({name for name, _ in counts}) == len(DAMAGES) >= 19
    assert sum(count for (_, ok), count in counts.items() if ok) > 25


@pytest.mark.slow
def test_5000_damaged_trajectories_are_judged_as_by_bfcl(tmp_path: Path) -> None:
    counts = compared(range(1000, 6000), tmp_path)
    passed = sum(count for (_, ok), count in counts.items() if ok)
    print(f"\n{sum(counts.values())} trajectories of {len(DAMAGES)} damages, {passed} pass")
    for name in DAMAGES:
        print(f"{counts[name, True]:4} pass, {counts[name, False]:4} fail: {name}")
