"""What an engine runs of a text: the rules of four engines' parsers of calls, as data.

These parsers know neither code nor fences: what is between a format's markers is decoded, wherever
it is. They were read in TRL 1.16 (transformers 5.23), vLLM's and SGLang 0.5.23's `hermes`, and verl
0.9.1's; each row of `ENGINES` says in what they differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from tunaeval.grammar.format import Format
from tunaeval.parsing.api import parse, parser_for
from tunaeval.parsing.reader import Reader
from tunaeval.types.calls import Span, Tools

EngineName: TypeAlias = Literal["trl", "vllm", "sglang", "verl"]


class Engine(NamedTuple):
    """How an engine finds calls between markers.

    `thought` is what it leaves out before: every `<think>` block ("blocks"), all up to the first
    `</think>` ("first", as servers' reasoning parsers do), or nothing. `unclosed`: a call that the
    end of the text closes is run. `together`: one that cannot be decoded takes the others with it.
    `keys` may have the arguments, the first that is not empty counts; `wanted`: one has to be there.
    `lists`: several calls may be in a list.
    """

    thought: Literal["blocks", "first", "none"]
    unclosed: bool = True
    together: bool = True
    keys: tuple[str, ...] = ("arguments",)
    wanted: bool = True
    lists: bool = False


ENGINES: Mapping[EngineName, Engine] = {
    "trl": Engine("blocks", wanted=False),
    "vllm": Engine("first"),
    "sglang": Engine("first", keys=("parameters", "arguments"), wanted=False, lists=True),
    "verl": Engine("none", unclosed=False, together=False),
}


class Run(NamedTuple):
    """A call that an engine runs, as an item of `tool_calls`, and the text that it was read from."""

    item: dict[str, Any]
    text: str


def marked_format(reader: str) -> Format | None:
    """Return the reader's format (the first of several) if it has markers around calls."""
    parser = parser_for(reader)
    form = parser.formats[0] if isinstance(parser, Reader) else parser
    is_marked = isinstance(form, Format) and form.opener and form.closer
    return form if is_marked else None  # type: ignore[return-value]  # a Format, as just tested


def run_by(
    name: EngineName, text: str, reader: str, tools: Tools | None
) -> tuple[list[Run], list[Span]]:
    """Return the calls that an engine runs of a text, and where they are, markers included."""
    engine, form = ENGINES[name], marked_format(reader)
    runs: list[Run] = []
    spans: list[Span] = []
    if form is None or form.opener is None or form.closer is None:  # a recipe refuses such a reader
        return runs, spans
    opener, closer = form.opener.text, form.closer.text
    for start, end in _blocks(engine, text, opener, closer):
        inner = text[start:end].removeprefix(opener).removesuffix(closer)
        try:
            if form.call is not None:
                found = _decoded(engine, inner)
            else:
                read = parse(text[start:end], form, tools, "strict").calls
                found = [{"name": call.name, "arguments": call.arguments} for call in read]
            if not found:
                raise ValueError(text)
        except (ValueError, RecursionError):
            if engine.together:
                return [], []
            continue
        runs += [Run({"type": "function", "function": one}, inner) for one in found]
        spans.append(Span(start, end))
    return runs, spans


def _blocks(engine: Engine, text: str, opener: str, closer: str) -> Iterator[tuple[int, int]]:
    """Yield where calls are: from each opener outside of thought to the next closer."""
    at = 0
    if engine.thought == "first":
        at = text.find(_END) + len(_END) if _END in text else 0
        at = len(text) if not at and text.lstrip().startswith(_BEGIN) else at
    think = text.find(_BEGIN) if engine.thought == "blocks" else -1
    while (start := text.find(opener, at)) >= 0:
        if 0 <= think < at:
            think = text.find(_BEGIN, at)
        if 0 <= think < start:
            end = text.find(_END, think)
            at = len(text) if end < 0 else end + len(_END)
            continue
        end = text.find(closer, start + len(opener))
        if end < 0 and not engine.unclosed:
            return
        at = len(text) if end < 0 else end + len(closer)
        yield start, at


_BEGIN, _END = "<think>", "</think>"


def _decoded(engine: Engine, inner: str) -> list[dict[str, Any]]:
    """Return the calls in the JSON between the markers; raises ValueError where there is none."""
    value = json.loads(inner)
    found = value if engine.lists and isinstance(value, list) else [value]
    for one in found:
        if not isinstance(one, dict) or not isinstance(one.get("name"), str):
            raise ValueError("no call")
        given = [one[key] for key in engine.keys if one.get(key)] or [one.get("arguments")]
        if engine.wanted and "arguments" not in one:
            raise ValueError("no arguments")
        one["arguments"] = {} if given[0] is None and not engine.wanted else given[0]
    return found
