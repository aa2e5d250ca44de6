"""What a stream reports of its chunks, and whether that agrees with the result.

Nothing here needs a test framework: the self-test uses it as well as the laws.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tunaeval.parsing.events import TILES, Event, EventKind
from tunaeval.parsing.reader import Stream
from tunaeval.types.calls import ToolCall
from tunaeval.types.json_text import RepeatedKeyError, decoded
from tunaeval.types.parsing import ParseResult


def stream_of(stream: Stream, chunks: Iterable[str]) -> tuple[ParseResult, list[Event]]:
    """Feed all chunks; return the result and all events."""
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    result = stream.finish()
    return result, [*events, *stream.last_events()]


def untiled(text: str, result: ParseResult, events: Iterable[Event]) -> str:
    """Return why the events do not cover the text exactly once, or "" if they do."""
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
    finished = [tile.call for tile in tiles if tile.call]
    if finished != list(result.calls):
        return f"events report {finished}, and the result has {result.calls}"
    reported = "".join(content)
    if reported != result.content:
        return f"events report the content {reported!r}, and the result has {result.content!r}"
    return ""


def _final_tiles(events: Iterable[Event]) -> list[Event]:
    """Return the events that cover the text, reclassified ones replaced by one of their kind."""
    tiles: list[Event] = []
    for event in events:
        if event.kind == "reclassified":
            while tiles and tiles[-1].span.end > event.span.start:
                tiles.pop()
            kind: EventKind = "content" if event.name == "content" else "reasoning"
            tiles.append(Event(kind, event.span, event.text))
        elif event.kind in TILES:
            tiles.append(event)
    return tiles


def wrong_pieces(events: Sequence[Event], result: ParseResult) -> str:
    """Return why the streamed calls do not add up to those of the result, or "". No key is streamed
    twice, but where the text itself has one twice; and no two calls have one number.
    """
    codes = {event.diagnosis.code for event in events if event.diagnosis}
    growing: dict[int | None, tuple[str | None, list[str]]] = {}
    begun, kept = set[int | None](), dict[int | None, ToolCall]()
    for event in events:
        match event.kind:
            case "call_started":
                if event.index in begun:
                    return f"the number {event.index} is used twice"
                begun.add(event.index)
                growing[event.index] = (event.name, [])
            case "arguments":
                growing[event.index][1].append(event.text)
            case "call_dropped":
                if event.index not in growing and event.index not in kept:
                    return f"call {event.index} is dropped, and was not reported"
                growing.pop(event.index, None)
                kept.pop(event.index, None)
            case "call_finished" if event.call is not None:
                name, pieces = growing.pop(event.index)
                reported = name, _loaded("".join(pieces), twice="duplicate-key" in codes)
                if reported != (event.call.name, event.call.arguments):
                    return f"{reported} was reported of {event.call}"
                kept[event.index] = event.call
    calls = [call for _, call in sorted(kept.items(), key=lambda item: item[0] or 0)]
    if not growing and calls != [*result.calls]:
        return f"by their numbers the calls are {calls}, and the result has {result.calls}"
    return f"begun, and never ended: {growing}" if growing else ""


def _loaded(text: str, *, twice: bool) -> object:
    """Return the value; an error if it is no JSON, or if a key is not allowed `twice` and is."""
    try:
        return decoded(text, duplicates="last" if twice else "refuse", constants=True)
    except (ValueError, RepeatedKeyError) as error:
        return error
