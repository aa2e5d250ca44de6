"""The aims of the parser's speed in one table: this tree beside an older commit and beside floors.

    python benchmarks/aims.py [FOLDER]... [--against COMMIT] [--rounds 7] [--every 25]

Each side reads with its own code, in a process of its own (`-P`, another directory), in turns: a
round times each work on both sides, and the figure is the median of the rounds' quotients. All is
CPU time. A folder has replies of real models, as `published.py` says; every so many of them is
read by `auto` with its tools. The floor finds a tag and decodes the JSON (`parse_qwen.py`).
json_repair, which reads the JSON alone, takes part where it is installed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
HERE, OLD, SERVED = "here", "older", "--serve"
TWELVE = (
    "hermes", "llama3-json", "mistral-v11", "qwen3-coder", "glm45", "deepseek-v3", "kimi-k2",
    "harmony", "pythonic", "granite3", "minimax-m2", "gemma4",
)  # fmt: skip
FLOODS = ("<tool_call>{", '{"name":"f"},', "[f(a=[", "<function=f>", "```json\n{", "```\n")
PROSE = (
    "I will look where the nets are mended, as the boats come back before the evening, and then I "
    "will tell you who does that and how long it takes; the tool for it is a search, which has a "
    "limit of three."
)
WEATHER = {"name": "get_weather", "arguments": {"city": "Paris", "days": 2}}
WEATHER_TOOL = {
    "name": "get_weather",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
Job = list[Any]
"""The name of a function of `Side`, and what it is given."""


class Side:
    """What a process of one side does, by the library that it imports."""

    def __init__(self, tools: Sequence[Any]) -> None:
        import tunaeval

        self.library = tunaeval
        self.tools = tunaeval.to_tools(tools)
        self.weather = tunaeval.to_tools([WEATHER_TOOL])

    def parse(self, text: str) -> Callable[[], Any]:
        return lambda: self.library.parse(text, tools=self.tools)

    def message(self, message: Any) -> Callable[[], Any]:
        return lambda: self.library.parse_message(message, tools=self.tools)

    def stream(self, text: str, size: int) -> Callable[[], Any]:
        def fed() -> Any:
            stream = self.library.stream("auto", self.tools)
            for start in range(0, len(text), size):
                stream.feed(text[start : start + size])
            return stream.finish()

        return fed

    def reward(self, text: str) -> Callable[[], Any]:
        from tunaeval.rewards import Gold, reward

        gold = Gold.of([WEATHER], self.weather)
        return lambda: reward(text, gold)

    def floor(self, text: str) -> Callable[[], Any]:
        from parse_qwen import floor

        return lambda: floor(text)

    def regex(self, text: str) -> Callable[[], Any]:
        from orjson import JSONDecodeError, loads
        from parse_qwen import HERMES_REGEX

        def found() -> bool:
            try:
                return [loads(whole or cut) for whole, cut in HERMES_REGEX.findall(text)] == [
                    WEATHER
                ]
            except JSONDecodeError:
                return False

        return found

    def repair(self, text: str) -> Callable[[], Any]:
        loads = import_module("json_repair").loads
        return lambda: loads(text)

    def real(self, folder: str, every: int) -> list[tuple[float, str]]:
        """Microseconds and calls of each reply."""
        from published import Folder

        replies = Folder(Path(folder))
        found = []
        for reply in replies.replies[::every]:
            tools = replies.tools(reply)
            self.library.parse(reply.text, tools=tools)
            begun = time.process_time_ns()
            result = self.library.parse(reply.text, tools=tools)
            spent = (time.process_time_ns() - begun) / 1000
            found.append((spent, repr([(call.name, call.arguments) for call in result.calls])))
        return found

    def timed(self, jobs: list[Job]) -> list[float]:
        """Microseconds of each work."""
        return [_timed(getattr(self, name)(*given)) for name, *given in jobs]


def _timed(work: Callable[[], Any]) -> float:
    work()  # what is made at first use
    begun = time.process_time_ns()
    work()
    first = time.process_time_ns() - begun
    if first > 20_000_000:
        return first / 1000
    count = max(5, int(4_000_000 / max(first, 1)))
    begun = time.process_time_ns()
    for _ in range(count):
        work()
    return (time.process_time_ns() - begun) / count / 1000


def serve(folder: str) -> None:
    """Do the jobs of standard input, one a line, by the library in a folder."""
    sys.path[:0] = [folder, str(Path(__file__).parent)]
    import tunaeval

    assert Path(tunaeval.__file__).is_relative_to(folder), tunaeval.__file__
    side = Side(json.loads(sys.stdin.readline()))
    for line in sys.stdin:
        name, *given = json.loads(line)
        print(json.dumps(getattr(side, name)(*given)), flush=True)


class Row(NamedTuple):
    """An aim: its name, the greatest figure in pure Python and compiled, and how it is found."""

    name: str
    pure: float
    compiled: float
    figure: Callable[[Times], float | None]


class Times:
    """The microseconds of each work on each side, a list of rounds."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, str], list[float]] = {}

    def over(self, work: str, other: str, side: str = HERE) -> float | None:
        """How many times as long a work takes here as another one on a side."""
        one, two = self.found.get((work, HERE)), self.found.get((other, side))
        if not one or not two:
            return None
        return median(a / b for a, b in zip(one, two, strict=True))

    def worst(self, works: Sequence[str], other: str) -> float | None:
        found = [ratio for work in works if (ratio := self.over(work, other)) is not None]
        return max(found, default=None)

    def twelve(self, join: Callable[[list[float]], float]) -> float:
        return join([self.over(form, form, OLD) or 0.0 for form in TWELVE])

    def slowest(self, works: Sequence[str]) -> float:
        """Return the milliseconds of the work that takes longest."""
        return max(median(self.found[work, HERE]) for work in works) / 1000


def jobs() -> tuple[list[Any], dict[str, Job]]:
    """Return the tools, and all works by name."""
    sys.path.insert(0, str(ROOT))
    import parse_table as table
    from parse_qwen import TWO_CALLS, reply

    import tunaeval

    lone, words = table.SOUND, PROSE
    good = f"<tool_call>\n{json.dumps(WEATHER)}\n</tool_call>"
    broken = '<tool_call>{"name": "get_weather", "arguments": {"city": </tool_call>'
    analysis = f"<|channel|>analysis<|message|>{words}<|end|>"
    made: dict[str, Job] = {
        "floor": ["floor", reply(150)],
        "alone": ["parse", lone],
        "behind": ["parse", f"{words}\n{lone}"],
        "before": ["parse", f"{lone}\n{words}"],
        "thought": ["parse", f"<think>\n{words}\n</think>\n\n{lone}"],
        "closer": ["parse", f"<tool_call>\n{table.BODY}\n"],
        "analysis": ["parse", analysis + tunaeval.render([table.CALL], "harmony")],
        "two": ["parse", TWO_CALLS],
        "structured": ["message", table.STRUCTURED],
        "32 KB": ["stream", reply(32_000), 4],
    }
    made |= {name: ["parse", table.hermes(body)] for name, body in table.UNUSUAL.items()}
    made |= {name: ["parse", table.hermes(body)] for name, body in table.DAMAGED.items()}
    made |= {f"{name}/json": ["repair", body] for name, body in table.DAMAGED.items()}
    made |= {form: ["parse", tunaeval.render([table.CALL], form)] for form in TWELVE}
    for name, text in (("words", f"I look. {good}"), ("cut", good[:50]), ("beside", good + broken)):
        made |= {name: ["reward", text], f"{name}/regex": ["regex", text]}
    for flood in FLOODS:
        text = flood * (100_000 // len(flood))
        made |= {flood: ["parse", text], f"{flood}/64": ["stream", text, 64]}
    return table.TOOLS.as_openai(), made


def over(work: str, other: str = "floor") -> Callable[[Times], float | None]:
    """Return the figure of one work in times of another."""
    return lambda times: times.over(work, other)


def rows() -> Iterator[Row]:
    """Yield the aims without the real replies."""
    yield Row("12 formats over the older commit, mean", 3, 1.7, lambda t: t.twelve(mean))
    yield Row("12 formats over the older commit, worst", 5, 3, lambda t: t.twelve(max))
    prose = ("behind", "before")
    yield Row("behind or before prose, over the call", 4, 4, lambda t: t.worst(prose, "alone"))
    yield Row("behind a thought, over the call", 5, 5, over("thought", "alone"))
    for name in ("type to coerce", "unknown tool", "alias", "closer", "encoded arguments"):
        yield Row(f"{name}, floors", 75, 40, over(name))
    damaged = {"Python literals": (2, 1), "trailing comma": (2, 1), "missing bracket": (2, 1),
               "bare keys": (1.2, 0.6), "single quotes": (1, 0.5)}  # fmt: skip
    for name, (pure, compiled) in damaged.items():
        yield Row(f"{name}, over json_repair", pure, compiled, over(name, f"{name}/json"))
    for name, pure, compiled in (("analysis", 75, 40), ("two", 50, 28), ("structured", 15, 12)):
        yield Row(f"{name}, floors", pure, compiled, over(name))
    for name, pure, compiled in (("words", 20, 12), ("cut", 70, 40), ("beside", 90, 55)):
        yield Row(f"reward, {name}, over a regex", pure, compiled, over(name, f"{name}/regex"))
    yield Row("32 KB in pieces of 4, ms", 25, 18, lambda t: t.slowest(["32 KB"]))
    yield Row("100 kB of a flood at the worst, ms", 150, 150, lambda t: t.slowest(FLOODS))
    pieces = [f"{flood}/64" for flood in FLOODS]
    yield Row("the same streamed by 64, ms", 250, 250, lambda t: t.slowest(pieces))


REAL = {"bfcl-2024": (1.25, 0.75), "replies-2026": (1.4, 0.85)}
"""The aims over the older commit, by the folder's name."""


class Peers:
    """The two sides' processes."""

    def __init__(self, commit: str, tools: list[Any], folder: Path) -> None:
        from older_commit import unpacked

        unpacked(commit, folder)
        self._open = {
            side: subprocess.Popen(
                [sys.executable, "-P", __file__, SERVED, str(path)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder, text=True,
            )
            for side, path in ((HERE, ROOT), (OLD, folder))
        }  # fmt: skip
        for peer in self._open.values():
            print(json.dumps(tools), file=peer.stdin, flush=True)

    def ask(self, side: str, *job: Any) -> Any:
        peer = self._open[side]
        assert peer.stdout is not None
        print(json.dumps(job), file=peer.stdin, flush=True)
        line = peer.stdout.readline()
        return json.loads(line) if line else sys.exit(f"the side {side!r} has failed; see above")

    def close(self) -> None:
        for peer in self._open.values():
            peer.communicate()


def measured(peers: Peers, made: dict[str, Job], rounds: int) -> Times:
    """Time all works in turns; on the older side only those that are compared with it."""
    times = Times()
    on = {HERE: list(made), OLD: list(TWELVE)}
    for round_ in range(rounds):
        for side in (HERE, OLD) if round_ % 2 else (OLD, HERE):
            spent = peers.ask(side, "timed", [made[name] for name in on[side]])
            for name, one in zip(on[side], spent, strict=True):
                times.found.setdefault((name, side), []).append(one)
    return times


def real(peers: Peers, folder: Path, every: int, rounds: int) -> float:
    """How many times the older side's time the replies take, that both read alike."""
    found: list[float] = []
    for round_ in range(rounds):
        both = {side: peers.ask(side, "real", str(folder.resolve()), every)
                for side in ((HERE, OLD) if round_ % 2 else (OLD, HERE))}  # fmt: skip
        pairs = [(here[0], old[0]) for here, old in zip(both[HERE], both[OLD], strict=True)
                 if here[1] == old[1] or folder.name == "bfcl-2024"]  # fmt: skip
        found.append(sum(here for here, _ in pairs) / sum(old for _, old in pairs))
    return median(found)


def main() -> None:
    from measuring import Aim, options, print_results

    parser = options(__doc__, rounds=7)
    parser.add_argument("folder", type=Path, nargs="*", help="replies of real models")
    parser.add_argument("--against", metavar="COMMIT", default="6df421b")
    parser.add_argument("--every", type=int, default=25, help="read every so many replies (25)")
    given = parser.parse_args()
    tools, made = jobs()
    if not find_spec("json_repair"):
        made = {name: job for name, job in made.items() if job[0] != "repair"}
    import tunaeval

    compiled = bool(getattr(tunaeval, "compiled", False))
    with TemporaryDirectory() as place:
        peers = Peers(given.against, tools, Path(place).resolve())
        times = measured(peers, made, given.rounds)
        figures = [(row.name, row.figure(times), row.pure, row.compiled) for row in rows()]
        for folder in given.folder:
            pure, native = REAL.get(folder.name, REAL["replies-2026"])
            ratio = real(peers, folder, given.every, given.rounds)
            figures.insert(0, (f"{folder.name} over the older commit", ratio, pure, native))
        peers.close()
    aims = [Aim(f"{name}: at most {native if compiled else pure:g}", f"{found:.2f}",
                found <= (native if compiled else pure))
            for name, found, pure, native in figures if found is not None]  # fmt: skip
    document = {"against": given.against, "compiled": compiled, "figures": figures}
    columns = [f"work, {'compiled' if compiled else 'pure'}", "found", "aim, pure", "compiled"]
    print_results(given, columns=columns, rows=figures, document=document, aims=aims)


if __name__ == "__main__":
    if sys.argv[1:2] == [SERVED]:
        serve(sys.argv[2])
    else:
        main()
