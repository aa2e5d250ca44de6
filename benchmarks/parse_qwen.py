"""Well-formed Qwen2.5 replies through `tunaeval.parse`, beside the floor and beside peers.

    python benchmarks/parse_qwen.py [--rounds 25] [--json] [--check]

The floor is the least that any reader has to do: find both tags, slice, `orjson.loads`. The regex
is that of vLLM's hermes parser with its `json.loads`. agent-tool-parser (Rust) takes part when it
is installed (`pip install 'tunaeval[bench]'`). All peers are in one process and one run, and are
seen to read the same calls before any is timed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import cycle
from statistics import median
from typing import Any, TypeAlias

import orjson
from measuring import Aim, Rounds, Work, in_turns, options, print_results, ratio

import tunaeval

Calls: TypeAlias = list[tuple[str, dict[str, Any]]]

SIZES = (150, 300, 1_000, 2_000, 4_000)
OPENER, CLOSER = "<tool_call>", "</tool_call>"
HERMES_REGEX = re.compile(r"<tool_call>(.*?)</tool_call>|<tool_call>(.*)", re.DOTALL)

LINES = (
    'print("tuna")\n',
    'def greet(name: str) -> str:\n    """Say hello."""\n',
    "    return f\"hello, {name}\" + '!'\n\n",
    'PATTERN = re.compile(r"^\\s*(\\w+)\\t(.*)$")\n',
    "TOTAL = sum(price * count for price, count in basket.items())  # in cents\n",
    'DATA = {"depth": [1, 2, {"deeper": [3, 4]}], "path": "C:\\\\tuna\\\\nets"}\n',
)
OTHER_LINES = ('TITEL = "Größe über alles – naïve Ελληνικά 日本語"\n', "print(TITEL)\n")

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "Work with a file.",
            "parameters": {
                "type": "object",
                "properties": {key: {"type": "string"} for key in arguments},
                "required": list(arguments),
            },
        },
    }
    for name, arguments in (
        ("read_file", ("filepath",)),
        ("write_file", ("filepath", "content")),
        ("update_file", ("filepath", "target", "patch")),
    )
]


def reply(size: int, lines: tuple[str, ...] = LINES) -> str:
    """One call of write_file in exactly so many characters; its content has escapes."""

    def written(content: str) -> str:
        arguments = {"filepath": "src/app.py", "content": content}
        body = json.dumps({"name": "write_file", "arguments": arguments}, ensure_ascii=False)
        return f"{OPENER}\n{body}\n{CLOSER}"

    content = ""
    for line in cycle(lines):
        if len(written(content + line)) > size:
            break
        content += line
    content += "#" * (size - len(written(content)))
    return written(content)


TWO_CALLS = (
    "I will read the settings first, and then write the new file.\n\n"
    f'{OPENER}\n{{"name": "read_file", "arguments": {{"filepath": "settings.toml"}}}}\n{CLOSER}\n'
    f"{reply(300)}\n\nThat should be all."
)

# By their characters.
REPLIES = {
    **{f"{size:,}": reply(size) for size in SIZES},
    f"two calls, {len(TWO_CALLS)}": TWO_CALLS,
    "not ASCII, 1,000": reply(1_000, OTHER_LINES),
}


def floor(text: str) -> Any:
    start = text.find(OPENER)
    return orjson.loads(text[start + 11 : text.find(CLOSER, start)])


def floor_of_several(text: str) -> list[Any]:
    values, end = [], 0
    while (start := text.find(OPENER, end)) >= 0:
        end = text.find(CLOSER, start)
        values.append(orjson.loads(text[start + 11 : end]))
    return values


def regex(text: str) -> list[Any]:
    return [json.loads(whole or cut) for whole, cut in HERMES_REGEX.findall(text)]


def streamed(text: str) -> tunaeval.ParseResult:
    """The readers of a text that arrives, which fast readers have no part in."""
    stream = tunaeval.stream("hermes")
    stream.feed(text)
    return stream.finish()


def of_result(result: tunaeval.ParseResult) -> Calls:
    assert not result.diagnoses
    return [(call.name, call.arguments) for call in result.calls]


def of_values(values: Any) -> Calls:
    listed = values if isinstance(values, list) else [values]
    return [(value["name"], value["arguments"]) for value in listed]


def renamed_back(call: Any) -> tuple[str, dict[str, Any]]:
    """agent-tool-parser makes `path` of the argument `filepath`."""
    return call.name, {"filepath" if key == "path" else key: call.args[key] for key in call.args}


FLOOR, NAMED, RIVAL = "floor", 'tunaeval, "hermes"', "agent-tool-parser"
Taken: TypeAlias = Callable[[Any], Calls]
"""How the calls are taken from what a peer gives."""


def peers(text: str) -> dict[str, tuple[Work, Taken]]:
    """Those that are here."""
    tools = {"tools": tunaeval.to_tools(TOOLS)}
    message = {"role": "assistant", "content": text}
    least = floor if text.count(OPENER) == 1 else floor_of_several
    found: dict[str, tuple[Work, Taken]] = {
        FLOOR: (Work(least, (text,)), of_values),
        NAMED: (Work(tunaeval.parse, (text, "hermes")), of_result),
        "tunaeval, auto": (Work(tunaeval.parse, (text,)), of_result),
        "tunaeval, auto, tools": (Work(tunaeval.parse, (text,), tools), of_result),
        "tunaeval, message": (Work(tunaeval.parse_message, (message,)), of_result),
        "tunaeval, as a stream": (Work(streamed, (text,)), of_result),
        "regex + json.loads": (Work(regex, (text,)), of_values),
    }
    if find_spec("agent_tool_parser"):
        rival = Work(import_module("agent_tool_parser").parse_tool_calls, (text,))
        found[RIVAL] = (rival, lambda calls: list(map(renamed_back, calls)))
    return found


def measured(text: str, rounds: int) -> Rounds:
    """Microseconds of every peer, once they have all read the same."""
    wanted = of_values(floor_of_several(text))
    found = peers(text)
    for peer, (work, taken) in found.items():
        got = taken(work.done())
        assert got == wanted, f"{peer} reads {got}, wanted {wanted}"
    return in_turns({peer: work for peer, (work, _) in found.items()}, rounds)


def aims(found: dict[str, Rounds]) -> list[Aim]:
    sizes = list(found.values())[: len(SIZES)]
    worst = max(ratio(rounds, NAMED, FLOOR) for rounds in sizes)
    text = f"{NAMED} at most 2.5 times the floor at every size"
    judged = [Aim(text, f"{worst:.2f} at the worst", worst <= 2.5)]
    if RIVAL in sizes[0]:
        least = min(ratio(rounds, RIVAL, NAMED) for rounds in sizes)
        text = f"at least 3 times faster than {RIVAL}"
        judged.append(Aim(text, f"{least:.1f} times at the least", least >= 3.0))
    return judged


def main() -> None:
    given = options(__doc__, rounds=25).parse_args()
    found = {kind: measured(text, given.rounds) for kind, text in REPLIES.items()}
    document = {
        kind: {
            peer: {"us": median(rounds[peer]), "ratio": ratio(rounds, peer, FLOOR)}
            for peer in rounds
        }
        for kind, rounds in found.items()
    }
    rows = [
        [
            peer,
            *(
                f"{figures[peer]['us']:.2f} ({figures[peer]['ratio']:.1f})"
                for figures in document.values()
            ),
        ]
        for peer in next(iter(found.values()))
    ]
    print_results(
        given,
        columns=["µs a reply (times the floor)", *document],
        rows=rows,
        document={"replies": document},
        aims=aims(found),
    )


if __name__ == "__main__":
    main()
