"""What an engine runs of a text: the rules of four engines' parsers of calls, as data.

These parsers know neither code nor fences: what is between a format's markers is decoded, wherever
it is. The rules are those of TRL 1.16 with transformers 5.23 (its template of Qwen3), and of the
parsers `hermes` of vLLM, SGLang 0.5.23 and verl 0.9.1; a row of `ENGINES` says in what they differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

from tunaeval.grammar.format import Format
from tunaeval.parsing.api import parse, parser_for
from tunaeval.parsing.reader import Reader
from tunaeval.types.calls import Span, Tools
from tunaeval.types.json_text import decoded_or

EngineName: TypeAlias = Literal["trl", "vllm", "sglang", "verl"]


class Engine(NamedTuple):
    """How an engine finds calls between markers.

    `thought` is what it leaves out before: every `<think>` block ("blocks"), all up to the first
    `</think>` ("first", as servers' reasoning parsers do), or nothing. `unclosed`: a call that the
    end of the text closes is run. `together`: one that cannot be decoded takes the others with it.
    `keys` may have the arguments, and the first that is not empty counts; `wanted`: one has to be
    there. `lists`: a block may be a list of calls, or empty.
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
    """A call that an engine runs, as an item of `tool_calls`; the text that it was read from, and
    its place, markers included.
    """

    item: dict[str, Any]
    text: str
    span: Span


def marked_format(reader: str) -> Format | None:
    """Return the reader's format (the first of several) if it has markers around calls."""
    parser = parser_for(reader)
    form = parser.formats[0] if isinstance(parser, Reader) else parser
    return form if isinstance(form, Format) and form.opener and form.closer else None


def run_by(
    name: EngineName, text: str, reader: str, tools: Tools | None
) -> tuple[list[Run], list[Span]]:
    """Return the calls that an engine runs of a text, and where calls and thought are in it."""
    engine, form = ENGINES[name], marked_format(reader)
    runs: list[Run] = []
    spans: list[Span] = []
    if form is None or form.opener is None or form.closer is None:  # a recipe refuses such a reader
        return runs, spans
    opener, closer = form.opener.text, form.closer.text
    for is_call, start, end in _blocks(engine, text, opener, closer):
        inner = text[start:end].removeprefix(opener).removesuffix(closer)
        if is_call and (inner or not engine.lists):
            if form.call:
                found = _decoded_calls(engine, inner)
            else:
                calls = parse(text[start:end], form, tools, "strict").calls
                found = [{"name": one.name, "arguments": one.arguments} for one in calls] or None
            if found is None and engine.together:
                return [], [span for span in spans[:1] if engine.thought == "first"]
            if found is None:
                continue
            span = Span(start, end)
            runs += [Run({"type": "function", "function": one}, inner, span) for one in found]
        spans.append(Span(start, end))
    return runs, spans


def _blocks(engine: Engine, text: str, opener: str, closer: str) -> Iterator[tuple[bool, int, int]]:
    """Yield each call (true; from its opener to the next closer), and each block of thought."""
    at = 0
    if engine.thought == "first" and (_END in text or text.lstrip().startswith(_BEGIN)):
        at = text.find(_END) + len(_END) if _END in text else len(text)
        yield False, 0, at
    think, start = 0 if engine.thought == "blocks" else -1, 0
    while True:
        start = start if start < 0 or start >= at > 0 else text.find(opener, at)
        think = think if think < 0 or think >= at > 0 else text.find(_BEGIN, at)
        is_call = start >= 0 and not 0 <= think < start
        if not is_call and think < 0:
            return
        begin, mark, end_mark = (start, opener, closer) if is_call else (think, _BEGIN, _END)
        end = text.find(end_mark, begin + len(mark))
        if end < 0 and is_call and not engine.unclosed:
            return
        at = len(text) if end < 0 else end + len(end_mark)
        yield is_call, begin, at


_BEGIN, _END = "<think>", "</think>"


def _decoded_calls(engine: Engine, inner: str) -> list[dict[str, Any]] | None:
    """Return the calls in the JSON between the markers, or None if one of them is no call."""
    value = decoded_or(inner)
    found = value if engine.lists and isinstance(value, list) else [value]
    for one in found:
        is_call = isinstance(one, dict) and isinstance(one.get("name"), str)
        if not is_call or (engine.wanted and "arguments" not in one):
            return None
        given = next((one[key] for key in engine.keys if one.get(key)), one.get("arguments"))
        if isinstance(given, str) and engine.thought != "blocks":
            given = json.dumps(given)  # encoded, as any value, once more
        one["arguments"] = {} if given is None and not engine.wanted else given
    return found
