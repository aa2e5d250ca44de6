"""Text to calls and back: the package's face.

`format` is a name, a `Format` value, or any `Parser`; `tools` are what `tools.to_tools` takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunaeval.later import imported_later

if TYPE_CHECKING:
    # For type checkers; at run time each is imported when it is asked for.
    from .abstaining import abstaining_names
    from .by_name import (
        auto,
        lfm2,
        parse,
        parse_levels,
        parser_for,
        qwen25,
        sole_parser_for,
    )
    from .given import AnyTools, known_tools
    from .leaked import structured_only
    from .message import read_message
    from .reader import Reader, reader_of
    from .registered import formats
    from .streaming.events import TILES, Event
    from .streaming.live import arguments_text
    from .streaming.stream import Stream
    from .tiling import Kind
    from .uses import (
        format_named,
        instructions,
        parse_many,
        parse_message,
        reader_named,
        render,
        stream,
    )
    from .writing.calls import render_calls
    from .writing.readback import lost_call, misread

_HOMES = {
    "AnyTools": "given",
    "Event": "streaming.events",
    "Kind": "tiling",
    "Reader": "reader",
    "Stream": "streaming.stream",
    "TILES": "streaming.events",
    "abstaining_names": "abstaining",
    "arguments_text": "streaming.live",
    "auto": "by_name",
    "format_named": "uses",
    "formats": "registered",
    "instructions": "uses",
    "known_tools": "given",
    "lfm2": "by_name",
    "lost_call": "writing.readback",
    "misread": "writing.readback",
    "parse": "by_name",
    "parse_levels": "by_name",
    "parse_many": "uses",
    "parse_message": "uses",
    "parser_for": "by_name",
    "qwen25": "by_name",
    "read_message": "message",
    "reader_named": "uses",
    "reader_of": "reader",
    "render": "uses",
    "render_calls": "writing.calls",
    "sole_parser_for": "by_name",
    "stream": "uses",
    "structured_only": "leaked",
}

__all__ = [
    "TILES",
    "AnyTools",
    "Event",
    "Kind",
    "Reader",
    "Stream",
    "abstaining_names",
    "arguments_text",
    "auto",
    "format_named",
    "formats",
    "instructions",
    "known_tools",
    "lfm2",
    "lost_call",
    "misread",
    "parse",
    "parse_levels",
    "parse_many",
    "parse_message",
    "parser_for",
    "qwen25",
    "read_message",
    "reader_named",
    "reader_of",
    "render",
    "render_calls",
    "sole_parser_for",
    "stream",
    "structured_only",
]

__getattr__ = imported_later(__name__, _HOMES)
