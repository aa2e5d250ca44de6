"""Checks of the laws that a single text can break in a reader, whole and streamed.

They are the design's laws 2, 3, 4, 6 and 8, as plain functions that need no test framework.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from tunaeval.parsing.collect import TILES, Event
from tunaeval.parsing.reader import Reader
from tunaeval.types.calls import Tools
from tunaeval.types.parsing import LEVELS, Level, ParseResult

from .measured import Fault


def broken_laws(
    reader: Reader,
    text: str,
    cuttings: Iterable[Sequence[str]],
    *,
    tools: Tools | None = None,
    level: Level = "standard",
) -> list[Fault]:
    """Return the laws that `text` breaks, whole and in each of these cuttings, as faults."""
    faults: list[Fault] = []
    try:
        whole = reader.parse(text, tools=tools, level=level)
        faults += _whole_faults(reader, text, whole, tools)
        for chunks in cuttings:
            faults += _streamed_faults(reader, text, whole, chunks, tools=tools, level=level)
    except Exception as error:  # noqa: BLE001 - raising breaks a law, and is reported as a fault
        faults.append(Fault(reader.name, "raised", text, f"{type(error).__name__}: {error}"))
    return faults


def streamed(
    reader: Reader,
    chunks: Iterable[str],
    *,
    tools: Tools | None = None,
    level: Level = "standard",
) -> tuple[ParseResult, list[Event]]:
    """Return the result of the chunks, and all events."""
    stream = reader.stream(tools=tools, level=level)
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    result = stream.finish()
    return result, [*events, *stream.last_events()]


def steps(text: str, size: int) -> list[str]:
    """Return the text in chunks of `size` characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def _whole_faults(
    reader: Reader, text: str, whole: ParseResult, tools: Tools | None
) -> Iterator[Fault]:
    unknown = [call.name for call in whole.calls if tools is not None and call.name not in tools]
    if unknown:
        yield Fault(reader.name, "unknown tool called", text, unknown[0])
    ends = [place for call in whole.calls for place in call.span or ()]
    if ends != sorted(ends) or any(not 0 <= end <= len(text) for end in ends):
        yield Fault(reader.name, "spans out of order", text, repr(ends))
    results = [reader.parse(text, tools=tools, level=each) for each in LEVELS]
    for lower, higher in pairwise(results):
        if not lower.diagnoses and lower != higher:
            yield Fault(reader.name, "levels differ", text, f"{lower} but then {higher}")


def _streamed_faults(
    reader: Reader,
    text: str,
    whole: ParseResult,
    chunks: Sequence[str],
    *,
    tools: Tools | None,
    level: Level,
) -> Iterator[Fault]:
    result, events = streamed(reader, chunks, tools=tools, level=level)
    cut = f"{level}, cut into {[len(chunk) for chunk in chunks]}"
    if result != whole:
        yield Fault(reader.name, "stream differs", text, cut)
    if why := _untiled(text, result, events):
        yield Fault(reader.name, "events do not tile", text, f"{cut}: {why}")
    if why := _wrong_pieces(events):
        yield Fault(reader.name, "argument pieces differ", text, f"{cut}: {why}")


def _untiled(text: str, result: ParseResult, events: Sequence[Event]) -> str:
    """Return why the events do not tile the text, or ""."""
    at, content = 0, []
    tiles = _final_tiles(events)
    for tile in tiles:
        if tile.span.start != at:
            return f"{tile.kind} begins at {tile.span.start}, not at {at}"
        at = tile.span.end
        if tile.kind != "call_finished" and tile.text != text[tile.span.start : at]:
            return f"{tile.kind} at {tile.span.start} does not say what is there"
        if tile.kind == "content":
            content.append(tile.text)
    if at != len(text):
        return f"nothing is reported of what is behind {at}"
    if [tile.call for tile in tiles if tile.call] != list(result.calls):
        return "other calls were finished than are in the result"
    return "" if "".join(content) == result.content else "other content was reported"


def _final_tiles(events: Iterable[Event]) -> list[Event]:
    """Return the tiling events, with reclassified ones replaced by reasoning."""
    tiles: list[Event] = []
    for event in events:
        if event.kind == "reclassified":
            while tiles and tiles[-1].span.end > event.span.start:
                tiles.pop()
            tiles.append(Event("reasoning", event.span, event.text))
        elif event.kind in TILES:
            tiles.append(event)
    return tiles


def _wrong_pieces(events: Iterable[Event]) -> str:
    """Return why the pieces of a call's arguments are not its arguments, or ""."""
    pieces: dict[int | None, list[str]] = {}
    for event in events:
        match event.kind:
            case "call_started":
                pieces[event.index] = []
            case "arguments":
                pieces[event.index].append(event.text)
            case "call_finished" if event.call is not None:
                text = "".join(pieces[event.index])
                if _loaded(text) != event.call.arguments:
                    return f"{text!r} is not {event.call.arguments!r}"
    return ""


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError as error:
        return error
