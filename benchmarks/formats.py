"""Well-formed calls in eight formats through `tunaeval.parse`, beside floors written by hand.

    python benchmarks/formats.py [--rounds 25] [--json] [--check]

A floor is the least that a reader of that one format has to do, for a text that is known to be
right: `str.find`, slices, `orjson.loads` of JSON, and for bare values the type that the tool's
schema gives. It makes no objects, looks for nothing odd, and reads nothing but this shape. "set" is
a reader over all formats, which has to find out first which one it is.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from typing import Any, TypeAlias

import orjson
from measuring import Aim, Rounds, Work, in_turns, options, print_results, ratio

import tunaeval
from tunaeval.grammar.formats import FORMATS
from tunaeval.parsing.reader import Reader
from tunaeval.types.calls import ToolCall

Calls: TypeAlias = list[tuple[str, dict[str, Any]]]
Floor: TypeAlias = Callable[[str], Calls]

NAMED_LIMIT, SET_LIMIT = 4.0, 1.3

_TYPES = {"filepath": "string", "content": "string", "line": "integer", "force": "boolean"}
TOOLS = tunaeval.to_tools(
    [
        {
            "type": "function",
            "function": {
                "name": "write_file",
                "parameters": {
                    "type": "object",
                    "properties": {key: {"type": kind} for key, kind in _TYPES.items()},
                    "required": ["filepath"],
                },
            },
        }
    ]
)
CONTENT = 'import re\n\nprint("tuna", [1, 2])  # <b>\nif a < b and c > d:\n    return {"x": 1}\n'
ALL = Reader("all", tuple(sorted(FORMATS.values(), key=lambda form: form.name == "mimo")))
"""Text alone does not tell mimo from qwen3-coder, whose values are trimmed; the first has it."""


def call_of(size: int) -> ToolCall:
    content = (CONTENT * (size // len(CONTENT) + 1))[:size]
    arguments = {"filepath": "src/app.py", "content": content, "line": 12, "force": True}
    return ToolCall("write_file", arguments)


# --- floors --------------------------------------------------------------------------------------


def fitted(key: str, text: str) -> Any:
    """A bare value, typed by the schema."""
    return text if _TYPES[key] == "string" else orjson.loads(text)


def between(opener: str, closer: str, keys: tuple[str, str]) -> Floor:
    """One JSON object, up to a closer or the end."""
    size, (name, arguments) = len(opener), keys

    def floor(text: str) -> Calls:
        start = text.find(opener) + size
        value = orjson.loads(text[start : text.find(closer, start)] if closer else text[start:])
        value = value[0] if type(value) is list else value
        return [(value[name], value[arguments])]

    return floor


def named(opener: str, middle: str, closer: str) -> Floor:
    """A name, then JSON."""
    size, step = len(opener), len(middle)

    def floor(text: str) -> Calls:
        start = text.find(opener) + size
        end = text.find(middle, start)
        name, body = text[start:end], end + step
        stop = text.find(closer, body) if closer else len(text)
        return [(name, orjson.loads(text[body:stop]))]

    return floor


def numbered(opener: str, middle: str, closer: str) -> Floor:
    """As `named`, the name inside an id."""
    read = named(opener, middle, closer)

    def floor(text: str) -> Calls:
        ((name, arguments),) = read(text)
        return [(name[name.find(".") + 1 : name.find(":")], arguments)]

    return floor


def tagged(marks: tuple[str, str], key: tuple[str, str], value: tuple[str, str]) -> Floor:
    """A name, then keys and values, each between two texts of its own."""
    (opener, after), (key_opener, key_closer), (value_opener, value_closer) = marks, key, value

    def floor(text: str) -> Calls:
        start = text.find(opener) + len(opener)
        at = text.find(after, start)
        name, arguments = text[start:at], {}
        while (found := text.find(key_opener, at)) >= 0:
            found += len(key_opener)
            end = text.find(key_closer, found)
            start = end + len(key_closer) + len(value_opener)
            at = text.find(value_closer, start)
            word = text[found:end]
            arguments[word] = fitted(word, text[start:at])
        return [(name, arguments)]

    return floor


FLOORS: dict[str, Floor] = {
    "hermes": between("<tool_call>", "</tool_call>", ("name", "arguments")),
    "qwen3-coder": tagged(
        ("<function=", ">"), ("<parameter=", ">"), ("\n", "\n</parameter>")
    ),
    "glm45": tagged(
        ("<tool_call>", "\n"), ("<arg_key>", "</arg_key>"), ("\n<arg_value>", "</arg_value>")
    ),
    "deepseek-v3.1": named("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"),
    "kimi-k2": numbered(
        "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"
    ),
    "llama3-json": between("<|python_tag|>", "", ("name", "parameters")),
    "mistral-v11": named("[TOOL_CALLS]", "[ARGS]", ""),
    "mistral-array": between("[TOOL_CALLS]", "", ("name", "arguments")),
    "minimax-m2": tagged(
        ('<invoke name="', '">'), ('<parameter name="', '">'), ("", "</parameter>")
    ),
}  # fmt: skip

SIZES = (40, 1_000)
"""Characters of the one long argument."""

FLOOR, NAMED, SET, LOOSE = "floor", "named", "set", "without tools"


def of_result(result: tunaeval.ParseResult) -> Calls:
    assert not result.diagnoses
    return [(call.name, call.arguments) for call in result.calls]


def measured(name: str, size: int, rounds: int) -> Rounds:
    """Microseconds of the floor and of the readers, once they have all read the same."""
    call = call_of(size)
    text = tunaeval.render([call], name)
    tools = {"tools": TOOLS}
    peers = {
        FLOOR: Work(FLOORS[name], (text,)),
        NAMED: Work(tunaeval.parse, (text, name), tools),
        SET: Work(tunaeval.parse, (text, ALL), tools),
        LOOSE: Work(tunaeval.parse, (text, name)),
    }
    for peer, work in peers.items():
        done = work.done()
        got = done if peer == FLOOR else of_result(done)
        assert got == [(call.name, call.arguments)], f"{name}, {peer}: {got}"
    return in_turns(peers, rounds)


def aims(found: dict[str, Rounds]) -> list[Aim]:
    named_worst = max(found, key=lambda row: ratio(found[row], NAMED, FLOOR))
    set_worst = max(found, key=lambda row: ratio(found[row], SET, NAMED))
    to_floor = ratio(found[named_worst], NAMED, FLOOR)
    to_named = ratio(found[set_worst], SET, NAMED)
    return [
        Aim(
            f"named at most {NAMED_LIMIT} times the floor",
            f"{to_floor:.2f} at the worst ({named_worst})",
            to_floor <= NAMED_LIMIT,
        ),
        Aim(
            f"the set of all formats at most {SET_LIMIT} times the named",
            f"{to_named:.2f} at the worst ({set_worst})",
            to_named <= SET_LIMIT,
        ),
    ]


def main() -> None:
    given = options(__doc__, rounds=25).parse_args()
    found = {
        f"{name}, {size:,}": measured(name, size, given.rounds) for name in FLOORS for size in SIZES
    }
    figures = {
        row: {
            **{peer: median(values) for peer, values in rounds.items()},
            "to floor": ratio(rounds, NAMED, FLOOR),
            "set to named": ratio(rounds, SET, NAMED),
            "without tools, to floor": ratio(rounds, LOOSE, FLOOR),
        }
        for row, rounds in found.items()
    }
    print_results(
        given,
        columns=["µs a call", *next(iter(figures.values()))],
        rows=[[row, *values.values()] for row, values in figures.items()],
        document={"formats": figures},
        aims=aims(found),
    )


if __name__ == "__main__":
    main()
