"""Scores from transcripts: how the time grows with the messages, and a trajectory beside a peer.

    python benchmarks/scoring.py [--rounds 15] [--json] [--check]

agentevals takes part when it is installed (`pip install agentevals`). It gets dictionaries, as its
users have them, and so does `score` in one row; in the others messages have been read before, for
its verdict comes out of reading, too. Both are seen to pass what is timed. The floor is a loop over
the dictionaries that counts calls and results that read like errors, and nothing else. Nothing
leaves the machine: agentevals traces its runs only where its environment variables ask it to.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib import import_module
from itertools import pairwise
from statistics import median
from time import process_time
from typing import Any

from measuring import Aim, Work, in_turns, options, print_results, ratio

import tunaeval
from tunaeval import ScoreSettings
from tunaeval.data.adapters import to_messages
from tunaeval.matching.calls import match
from tunaeval.matching.expectations import read_expectation
from tunaeval.types.calls import ToolCall
from tunaeval.types.messages import Message, Usage

SIZES = (1_250, 2_500, 5_000, 10_000)
FURTHER = ("argument-validity", "cost", "expected-trajectory", "latency", "repetition")
MOST_A_DOUBLING = 2.3

CALLS = 4
TRAJECTORIES = 250
"""So many in a turn: with the usual rounds some 5,000 are scored."""
TIMES_FASTER = 20.0
THEIRS = "agentevals, superset"
VERDICT = "tunaeval.match"
WHOLE, READ, ONE = "score, dictionaries", "score, messages", "score, one category"
READING, FLOOR = "to_messages", "a bare loop"
MANY = 5_000


def long_transcript(size: int) -> list[Message]:
    """Calls and results in turns; some fail and come again, some are parallel, some dangle."""
    messages: list[Message] = []
    for at in range(size // 2):
        calls = (ToolCall("read", {"path": f"{at % 7}.py"}, f"c{at}"),)
        extra = (ToolCall("grep", {"pattern": "x"}, f"d{at}"),) if at % 5 == 0 else ()
        messages.append(Message("assistant", "", (*calls, *extra), usage=Usage(at, 9, 0.0)))
        said = '{"ok": false}' if at % 11 == 0 else f"line {at}"
        messages.append(Message("tool", said, tool_call_id=f"c{at}"))
    return messages


def growth_works() -> dict[str, Work]:
    """All categories that there are, on transcripts of each size."""
    settings = ScoreSettings(
        expect={"tools": ["grep", "read"], "match": "in_order"},
        tools=tunaeval.to_tools([{"name": "read", "parameters": {"type": "object"}}]),
    )
    named = {"categories": FURTHER, "settings": settings}
    return {
        f"{size:,} messages": Work(tunaeval.score, (long_transcript(size), "q"), named)
        for size in SIZES
    }


def trajectory(number: int) -> list[dict[str, Any]]:
    """Ten messages with four calls."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Read them."}]
    for at in range(CALLS):
        arguments = json.dumps({"path": f"{number}/{at}.py"})
        function = {"name": "read", "arguments": arguments}
        call = {"id": f"c{at}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{at}", "content": "text"})
    return [*messages, {"role": "assistant", "content": "Done."}]


def wanted(number: int) -> dict[str, Any]:
    paths = [f"{number}/{at}.py" for at in range(CALLS)]
    calls = [{"name": "read", "arguments": {"path": path}} for path in paths]
    return {"calls": calls, "match": "superset"}


def trajectory_works() -> dict[str, Work]:
    """What judges whether the wanted calls were made, those that are here."""
    numbers = range(TRAJECTORIES)
    raw = [trajectory(number) for number in numbers]
    read = [to_messages(one) for one in raw]
    calls = [[call for message in one for call in message.tool_calls] for one in read]
    expects = [read_expectation(wanted(number)) for number in numbers]
    settings = [ScoreSettings(expect=expect) for expect in expects]

    def whole(messages: Any, its: ScoreSettings) -> bool:
        score = tunaeval.score(messages, "q", categories=["expected-trajectory"], settings=its)
        return score.categories["expected-trajectory"].value == 1

    def alone(messages: Any, its: ScoreSettings) -> bool:
        categories = ["expected-trajectory"]
        score = tunaeval.score(messages, "q", preset="none", categories=categories, settings=its)
        return score.weighted_total == 1

    works = {
        WHOLE: each(whole, raw, settings),
        READ: each(whole, read, settings),
        ONE: each(alone, read, settings),
        READING: each(lambda made, _: len(to_messages(made)) == len(made), raw, settings),
        FLOOR: each(lambda made, _: counted(made) == (CALLS, 0), raw, settings),
        VERDICT: each(lambda made, expect: match(expect, made).ok, calls, expects),
    }
    evaluator = peer()
    if evaluator is not None:
        works[THEIRS] = each(
            lambda made, reference: evaluator(outputs=made, reference_outputs=reference)["score"],
            raw, [trajectory(number) for number in numbers],
        )  # fmt: skip
    return works


def counted(messages: Iterable[dict[str, Any]]) -> tuple[int, int]:
    """Calls, and results that read like errors: the least that a score has to look at."""
    calls = failures = 0
    for message in messages:
        calls += len(message.get("tool_calls", ()))
        failures += message["role"] == "tool" and message["content"].startswith("Error")
    return calls, failures


def many() -> float:
    """Microseconds for each of 5,000 trajectories, from dictionaries, scored in one loop."""
    made = [(trajectory(one), ScoreSettings(expect=wanted(one))) for one in range(MANY)]
    begun = process_time()
    for messages, its in made:
        tunaeval.score(messages, "q", categories=["expected-trajectory"], settings=its)
    return (process_time() - begun) / MANY * 1e6


def each(judge: Callable[[Any, Any], bool], made: Iterable[Any], given: Iterable[Any]) -> Work:
    """Judge all of them; what is timed says how many passed."""
    pairs = list(zip(made, given, strict=True))
    return Work(lambda: sum(bool(judge(one, its)) for one, its in pairs), ())


def peer() -> Any:
    try:
        module = import_module("agentevals.trajectory.match")
    except ImportError:
        return None
    return module.create_trajectory_match_evaluator(trajectory_match_mode="superset")


def main() -> None:
    given = options(__doc__, rounds=15).parse_args()
    growing = growth_works()
    grown = in_turns(growing, given.rounds)
    peers = trajectory_works()
    for name, work in peers.items():
        assert work.done() == TRAJECTORIES, name
    rounds = in_turns(peers, given.rounds)
    beside = THEIRS if THEIRS in peers else WHOLE
    rows: list[list[object]] = [[name, median(times), None] for name, times in grown.items()]
    rows += [
        [name, median(times) / TRAJECTORIES, ratio(rounds, beside, name)]
        for name, times in rounds.items()
    ]
    rows.append([f"{MANY:,} in a loop, dictionaries", many(), None])
    doublings = [ratio(grown, large, small) for small, large in pairwise(growing)]
    found = f"it takes {', '.join(f'{times:.2f}' for times in doublings)} times"
    aims = [
        Aim(
            f"twice the messages take at most {MOST_A_DOUBLING:g} times the time",
            found, max(doublings) <= MOST_A_DOUBLING,
        )
    ]  # fmt: skip
    if THEIRS in peers:
        faster = ratio(rounds, THEIRS, VERDICT)
        aims.append(
            Aim(
                f"a verdict on a trajectory {TIMES_FASTER:g} times as fast as agentevals'",
                f"{faster:.1f} times", faster >= TIMES_FASTER,
            )
        )  # fmt: skip
    print_results(
        given,
        columns=["what", "µs each", f"{beside} takes x times"],
        rows=rows,
        document={"rows": rows, "doublings": doublings},
        aims=aims,
    )


if __name__ == "__main__":
    main()
