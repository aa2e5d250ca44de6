"""`tunaeval stream`: prints the parser's events while a text or a server's answer arrives."""

from __future__ import annotations

import argparse
import codecs
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict

from tunaeval.files.records import json_text
from tunaeval.parsing.api import stream
from tunaeval.parsing.events import Event
from tunaeval.showing import counted, visible
from tunaeval.types.json_text import call_words

from .named_tools import read_tools
from .output import Output

_MOST = 1 << 16


def run(arguments: argparse.Namespace, output: Output) -> int:
    tools = read_tools(arguments.tools) if arguments.tools else None
    reader = stream(arguments.format, tools, arguments.level, abstain=arguments.abstain)
    feed = reader.feed_sse if arguments.sse else _by_bytes(reader.feed)
    reported = _json_line if arguments.json else _event_line
    while piece := os.read(sys.stdin.fileno(), _MOST):  # as it arrives
        _print(feed(piece), reported, output)
    _print(feed(b""), reported, output)  # the end of the input, which may be empty
    result = reader.finish()
    _print(reader.last_events(), reported, output)
    calls = len(result.calls)
    output.note(f"tunaeval: {result.outcome}, {counted(calls, 'call')}")
    return 0


def _by_bytes(feed: Callable[[str], list[Event]]) -> Callable[[bytes], list[Event]]:
    """Return `feed` for pieces of UTF-8 that may cut a character; an empty piece is the end."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    return lambda piece: feed(decoder.decode(piece, final=not piece))


def _print(events: Sequence[Event], reported: Callable[[Event], str], output: Output) -> None:
    for event in events:
        output.result(reported(event))
    output.flush()


def _json_line(event: Event) -> str:
    return json_text({name: value for name, value in asdict(event).items() if value is not None})


def _event_line(event: Event) -> str:
    match event:
        case _ if event.call:
            what = call_words(event.call.name, event.call.arguments)
        case _ if event.diagnosis:
            what = f"{event.diagnosis.code}: {visible(event.diagnosis.message)}"
        case _ if event.kind in ("call_started", "call_dropped"):
            what = visible(event.name or "")
        case _:
            what = visible(repr(event.text))
    number = "" if event.index is None else f" {event.index + 1}"
    return f"{event.kind + number:16} {what}"
