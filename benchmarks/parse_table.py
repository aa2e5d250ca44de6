"""Every promise of the parser's speed in one run: each kind of text beside the floor and its aim.

    python benchmarks/parse_table.py [--rounds 15] [--only WORD] [--json] [--check]

The floor of all rows: find both tags of a well-formed hermes reply of 150 characters, slice,
`orjson.loads`. Texts have about 150 characters unless said otherwise, and tools are given. Medians
of CPU time; a ratio is the median of the quotients within a round. json_repair and fast_json_repair
read the JSON alone, where they are installed (`pip install 'tunaeval[bench]'`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from statistics import median
from typing import NamedTuple

from measuring import Aim, Rounds, Work, in_turns, options, print_results, ratio, table
from parse_qwen import TOOLS as FILE_TOOLS
from parse_qwen import TWO_CALLS, floor, reply
from prose import CLEAN, code
from startup import BARE, PARSE, started

import tunaeval

TOOLS = tunaeval.to_tools(
    [
        *FILE_TOOLS,
        {
            "type": "function",
            "function": {
                "name": "search",
                "parameters": {
                    "type": "object",
                    "properties": {
                        "query": {"type": "string"},
                        "limit": {"type": "integer"},
                        "exact": {"type": "boolean"},
                    },
                    "required": ["query"],
                },
            },
        },
    ]
)
CALL = tunaeval.ToolCall(
    "search", {"query": "where are the tuna nets mended, and by whom?", "limit": 3, "exact": True}
)
BODY = json.dumps({"name": CALL.name, "arguments": CALL.arguments})
DAMAGED = {
    "single quotes": BODY.replace('"', "'"),
    "Python literals": BODY.replace("true", "True"),
    "trailing comma": BODY.replace("true}", "true,}"),
    "bare keys": BODY.replace('"name"', "name").replace('"arguments"', "arguments"),
    "raw newline in a string": BODY.replace("nets ", "nets\n"),
    "missing bracket": BODY[:-1],
}
UNUSUAL = {
    "type to coerce": BODY.replace("3", '"3"'),
    "unknown tool": BODY.replace('"search"', '"unheard"'),
    "alias": BODY.replace('"arguments"', '"parameters"'),
    "encoded arguments": json.dumps({"name": CALL.name, "arguments": json.dumps(CALL.arguments)}),
}
ROUTED, PYTHON = ("harmony", "muse", "kimi-k3"), ("pythonic", "gemma4", "functiongemma")
FLOODS = ("<tool_call>{", "<function=f>", "```json\n{", "<tool_call>", "<think>", '{"name": "f"} ')
CODE = f"{CLEAN}\n```python\n{code()[:1200]}\n```\n"
PROSE_WITH_CODE = (CODE * 3)[:3999] + "."
MEGABYTE = {"prose": (CLEAN * 7000)[:999_999] + ".", "code": (code() * 9)[:999_999] + "."}
REPAIRERS = ("json_repair", "fast_json_repair")


def hermes(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


SOUND, HURT = hermes(BODY), hermes(DAMAGED["trailing comma"])
TEN = [f"{SOUND}\n" * 9, HURT]
HUNDRED = f"{SOUND}\n" * 100
STRUCTURED = {
    "role": "assistant",
    "content": None,
    "tool_calls": [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": CALL.name, "arguments": json.dumps(CALL.arguments)},
        }
    ],
}


class Row(NamedTuple):
    """A promise: what is timed, beside what, and how much of that it may take."""

    name: str
    work: Work
    most: float
    beside: tuple[Work, ...] = ()
    """The floor if there is none; the sum of several."""
    body: str = ""
    """The JSON that the repairers read; the row may take no longer than json_repair."""


def parsed(text: str, name: str = "auto") -> Work:
    return Work(tunaeval.parse, (text, name), {"tools": TOOLS})


def fed(text: str, name: str = "hermes") -> None:
    """In chunks of four characters, with the events of each."""
    stream = tunaeval.stream(name, TOOLS)
    for start in range(0, len(text), 4):
        stream.feed(text[start : start + 4])


def short_rows() -> Iterable[Row]:
    """Those in floors, and those beside another reading."""
    exact = reply(150)
    yield Row("well-formed, by name", parsed(exact, "hermes"), 3.0)
    yield Row("well-formed, auto", parsed(exact), 1.3, (parsed(exact, "hermes"),))
    yield Row("two calls with prose", parsed(TWO_CALLS, "hermes"), 6.0)
    for name, body in UNUSUAL.items():
        yield Row(name, parsed(hermes(body)), 15.0)
    yield Row("missing closing tag", parsed(f"<tool_call>\n{BODY}\n"), 15.0)
    for name, body in DAMAGED.items():
        yield Row(name, parsed(hermes(body)), 50.0, body=body)
    for form in (*ROUTED, *PYTHON):
        written = tunaeval.render([CALL], form)
        assert tunaeval.parse(written, form, TOOLS).calls, form
        yield Row(form, parsed(written, form), 8.0 if form in ROUTED else 35.0)
    parts = tuple(map(parsed, TEN))
    yield Row("nine well-formed and one damaged", parsed("".join(TEN)), 1.3, parts)
    yield Row('100, and an end in "..."', parsed(f"{HUNDRED}..."), 1.3, (parsed(HUNDRED),))
    message = Work(tunaeval.parse_message, (STRUCTURED,), {"tools": TOOLS})
    yield Row("structured tool_calls", message, 6.0)
    named = parsed(PROSE_WITH_CODE, "hermes")
    yield Row("4,000 characters of prose with code, auto", parsed(PROSE_WITH_CODE), 10.0, (named,))
    levels = Work(tunaeval.parse_levels, (HURT,), {"tools": TOOLS})
    yield Row("parse_levels of a damaged reply", levels, 1.5, (parsed(HURT),))


class Timed(NamedTuple):
    """A promise in microseconds, and how the time of the work becomes the figure."""

    name: str
    work: Work
    most: str
    figure: Callable[[float], float]
    met: Callable[[float], bool]
    unit: str


def _at_most(name: str, work: Work, most: float, unit: str, divided: float = 1.0) -> Timed:
    return Timed(
        name, work, f"at most {most:g}", lambda us: us / divided, lambda f: f <= most, unit
    )


def _speed(name: str, least: float) -> Timed:
    work = parsed(MEGABYTE[name])
    return Timed(
        name, work, f"at least {least:g}", lambda us: 1e6 / us, lambda f: f >= least, "MB/s"
    )


def long_rows() -> Iterable[Timed]:
    """Those in units of time, and in megabytes a second."""
    for name, least in (("prose", 100.0), ("code", 40.0)):
        yield _speed(name, least)
    yield _at_most("a stream's set-up", Work(tunaeval.stream, ("hermes", TOOLS)), 20.0, "µs")
    one = reply(300)
    yield _at_most("one feed of 4 characters", Work(fed, (one,)), 3.5, "µs", len(one) / 4)
    yield _at_most("32 KB in feeds of 4", Work(fed, (reply(32_000),)), 30.0, "ms", 1e3)
    for flood in FLOODS:
        text = flood * (100_000 // len(flood))
        yield _at_most(f"100 kB of {flood!r}", parsed(text), 50.0, "ms", 1e3)


def short_table(rounds: int, only: str) -> tuple[list[list[object]], list[Aim]]:
    """All short rows in turns, with the floor and the repairers."""
    chosen = [row for row in short_rows() if only in row.name]
    repairs = {name: import_module(name).loads for name in REPAIRERS if find_spec(name)}
    works: dict[str, Work] = {"floor": Work(floor, (reply(150),))}
    for row in chosen:
        works[row.name] = row.work
        works |= {f"{row.name}/{at}": work for at, work in enumerate(row.beside)}
        if row.body:
            works |= {f"{row.name}/{r}": Work(load, (row.body,)) for r, load in repairs.items()}
    found = in_turns(works, rounds) if chosen else {}
    judged = [_judged(row, found) for row in chosen]
    return [cells for cells, _ in judged], [aim for _, aim in judged]


def _judged(row: Row, found: Rounds) -> tuple[list[object], Aim]:
    floors, got = ratio(found, row.name, "floor"), 0.0
    if row.beside:
        beside = [found[f"{row.name}/{at}"] for at in range(len(row.beside))]
        sums = [sum(part) for part in zip(*beside, strict=True)]
        got = median(one / other for one, other in zip(found[row.name], sums, strict=True))
    peers = [found.get(f"{row.name}/{name}") for name in REPAIRERS]
    slower = peers[0] is not None and ratio(found, row.name, f"{row.name}/json_repair") > 1
    met = (got or floors) <= row.most and not slower
    wanted = f"{row.most:g} {'times the parts' if row.beside else 'floors'}"
    wanted += ", not over json_repair" if row.body else ""
    said = f"{got:.2f} times" if row.beside else f"{floors:.1f} floors"
    others = [median(peer) if peer else None for peer in peers]
    cells: list[object] = [
        row.name,
        median(found[row.name]),
        floors,
        *others,
        wanted,
        said,
        _word(met),
    ]
    return cells, Aim(f"{row.name}: at most {wanted}", said, met)


def long_table(rounds: int, only: str) -> tuple[list[list[object]], list[Aim]]:
    """The rows that take long, in turns."""
    chosen = [row for row in long_rows() if only in row.name]
    found = in_turns({row.name: row.work for row in chosen}, rounds) if chosen else {}
    rows: list[list[object]] = []
    aims = []
    for row in chosen:
        got = row.figure(median(found[row.name]))
        rows.append([row.name, got, row.unit, row.most, _word(row.met(got))])
        aims.append(Aim(f"{row.name}: {row.most} {row.unit}", f"{got:.3g}", row.met(got)))
    return rows, aims


def start_row(rounds: int) -> tuple[list[object], Aim]:
    """Whole processes."""
    cpus = started(rounds)[1]
    times = ratio(cpus, PARSE, BARE)
    row: list[object] = [PARSE, times, "times bare", "at most 3", _word(times <= 3)]
    return row, Aim(f"{PARSE}: at most 3 times {BARE}", f"{times:.2f} times", times <= 3)


def _word(met: bool) -> str:
    return "met" if met else "MISSED"


def main() -> None:
    parser = options(__doc__, rounds=15)
    parser.add_argument("--only", default="", help="rows whose names have this word")
    given = parser.parse_args()
    rows, aims = short_table(given.rounds, given.only)
    more, further = long_table(max(3, given.rounds // 5), given.only)
    if given.only in PARSE:
        start, aim = start_row(max(3, given.rounds // 2))
        more, further = [*more, start], [*further, aim]
    columns = ["with tools", "µs", "floors", *REPAIRERS, "aim", "found", ""]
    if more and not given.json:
        print(table(["row", "figure", "unit", "aim", ""], more), end="\n\n")
    document = {"rows": [list(row) for row in rows], "more": more}
    print_results(given, columns=columns, rows=rows, document=document, aims=aims + further)


if __name__ == "__main__":
    main()
