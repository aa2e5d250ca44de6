"""What a reward costs, beside a regular expression with orjson and beside a plain loop: CPU time.

    python benchmarks/rewards.py             rewards of single completions, and of tables
    python benchmarks/rewards.py --rows N    tables of N rows (200,000)

Every figure is CPU time of this process (for two processes of both), the least of several rounds,
in µs for each completion; the ratio is to the regular expression of the same row, or to the loop.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import orjson
import pyarrow as pa

from tunaeval import to_tools
from tunaeval.data.columns import parse_table, score_table
from tunaeval.rewards.gold import Gold
from tunaeval.rewards.scored import reward

TOOLS = to_tools([{"name": "get_weather", "parameters": {"type": "object", "properties": {
    "city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}])  # fmt: skip
CALL = {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}
GOOD = f"<tool_call>{json.dumps(CALL)}</tool_call>"
GOLD = Gold.of([CALL], TOOLS)
GOLD_TEXT = json.dumps([CALL])
MESSAGE = [
    {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": CALL}]}
]
DAMAGE = [
    GOOD.replace("2", '"2"'),
    GOOD.replace("}}", "}"),
    GOOD.replace('"', "'"),
    GOOD[:50],
    GOOD + "<tool_call>{",
    GOOD.replace("get_weather", "get_whether"),
    GOOD.replace("}}", "},}"),
    "I would look at the weather in Paris.",
]
BROKEN = '<tool_call>{"name": "get_weather", "arguments": {"city": </tool_call>'
LINES = GOOD.replace("call>{", "call>\n{").replace("}<", "}\n<")
KINDS = {
    "a good call as its template writes it": LINES,
    "a call that is cut off": LINES[:50],
    "a good call and a broken one": LINES + BROKEN,
    "a good call and one in inline code": f"`{GOOD}` {LINES}",
    "words and a good call": f"I look. {LINES}",
}
DEGENERATE = {
    "one word again and again": "Paris " * 17_000,
    "calls that are never closed": '<tool_call>{"name": ' * 5_000,
    "openers": "<tool_call>" * 9_100,
    "broken calls": BROKEN * 1_450,
    "good calls": GOOD * 1_170,
}
_FOUND = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)


def by_regex(text: str) -> bool:
    """What people write: the first tags, decoded, compared."""
    found = _FOUND.search(text)
    if found is None:
        return False
    try:
        return bool(orjson.loads(found[1]) == CALL)
    except orjson.JSONDecodeError:
        return False


def cpu() -> float:
    """Seconds of this process and of those that it has waited for."""
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def micros(work: Callable[[], object], count: int, rounds: int = 5) -> float:
    best = float("inf")
    for _ in range(rounds):
        before = cpu()
        work()
        best = min(best, cpu() - before)
    return best / count * 1e6


def each(work: Callable[[Any], object], things: Sequence[Any]) -> Callable[[], object]:
    def run() -> None:
        for thing in things:
            work(thing)

    return run


def told(what: str, micro: float, beside: float | None = None, than: str = "regex") -> None:
    ratio = "" if beside is None else f"{micro / beside:8.2f} times the {than}"
    print(f"{what:58}{micro:10.1f} µs{ratio}")


def single() -> None:
    one = partial(reward, gold=GOLD)
    count = 5_000
    random.seed(7)
    damaged = [random.choice(DAMAGE) if random.random() < 0.2 else GOOD for _ in range(count)]
    plain = micros(each(by_regex, [GOOD] * count), count)
    told("a good call: regex and orjson", plain)
    told("a good call: reward", micros(each(one, [GOOD] * count), count), plain)
    beside = micros(each(by_regex, damaged), count)
    told("20 % damage: regex and orjson", beside)
    told("20 % damage: reward", micros(each(one, damaged), count), beside)
    for what, text in KINDS.items():
        told(f"{what}: reward", micros(each(one, [text] * 1000), 1000), plain)
    told("a structured message: reward", micros(each(one, [MESSAGE] * count), count))
    for what, text in DEGENERATE.items():
        micro = micros(each(one, [text]), 1, 3)
        told(f"100 kB, {what}: reward", micro, micros(each(by_regex, [text]), 1, 3))


def loop(texts: Sequence[str]) -> list[float]:
    return [reward(text, GOLD).value for text in texts]


def score(table: pa.Table) -> float:
    scored = score_table(table, tools=TOOLS)
    return float(sum(scored["reward"].to_pylist()))


def tables(rows: int) -> None:
    random.seed(7)
    texts = [random.choice(DAMAGE) if random.random() < 0.05 else GOOD for _ in range(rows)]
    table = pa.table({"completion": texts, "gold": [GOLD_TEXT] * rows})
    plain = micros(lambda: loop(texts), rows, 3)
    told(f"{rows} rows: a loop of reward", plain)
    told("the same: score_table, tools given once",
         micros(lambda: score_table(table, tools=TOOLS), rows, 3), plain, "loop")  # fmt: skip
    told(
        "the same: parse_table",
        micros(lambda: parse_table(table, tools=TOOLS), rows, 3),
        plain,
        "loop",
    )
    # As the row groups of a file: a slice is sent with all of its table.
    pieces = [texts[at : at + 16_384] for at in range(0, rows, 16_384)]
    parts = [pa.table({"completion": one, "gold": [GOLD_TEXT] * len(one)}) for one in pieces]

    def two() -> None:
        with ProcessPoolExecutor(2) as pool:
            list(pool.map(score, parts))

    told("the same in two processes, rows moved to them", micros(two, rows, 1), plain, "loop")


def first_use() -> None:
    program = (
        "import time; before = time.process_time()\n"
        "from tunaeval.rewards.trl import trl_reward\n"
        f"trl_reward()(completions=[{GOOD!r}], gold=[{GOLD_TEXT!r}], log_metric=lambda *_: None)\n"
        "print((time.process_time() - before) * 1e6)"
    )
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with TemporaryDirectory() as compiled:  # as pip does it; the first turn is left out
        environment["PYTHONPYCACHEPREFIX"] = compiled
        command = [sys.executable, "-c", program]
        runs = [
            float(subprocess.run(command, capture_output=True, check=True, env=environment).stdout)
            for _ in range(6)
        ][1:]
    told("first use in a trainer, import included", min(runs))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    rows = parser.parse_args().rows
    assert reward(GOOD, GOLD).value == 1.0
    assert by_regex(GOOD)
    began = time.monotonic()
    single()
    tables(rows)
    first_use()
    print(f"{time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
