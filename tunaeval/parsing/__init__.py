"""Text to calls and back: the package's face.

`format` is a name, a `Format` value, or any `Parser`; `tools` are what `tools.to_tools` takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tunaeval.later import imported_later

if TYPE_CHECKING:
    # For type checkers; at run time each is imported when it is asked for.
    from .by_name import (
        auto,
        formats,
        lfm2,
        parse,
        parse_levels,
        parser_for,
        qwen25,
        sole_parser_for,
    )
    from .convert import Route, Unconvertible, convert_text
    from .events import TILES, Event
    from .fitting import fits
    from .message import structured_only
    from .reader import Reader, reader_of
    from .rows import TEXT_KEYS, convert_row
    from .streaming import Stream
    from .uses import instructions, parse_many, parse_message, render, route_between, stream
    from .writing import render_calls

_HOMES = {
    "Event": "events",
    "Reader": "reader",
    "Route": "convert",
    "Stream": "streaming",
    "TEXT_KEYS": "rows",
    "TILES": "events",
    "Unconvertible": "convert",
    "auto": "by_name",
    "convert_row": "rows",
    "convert_text": "convert",
    "fits": "fitting",
    "formats": "by_name",
    "instructions": "uses",
    "lfm2": "by_name",
    "parse": "by_name",
    "parse_levels": "by_name",
    "parse_many": "uses",
    "parse_message": "uses",
    "parser_for": "by_name",
    "qwen25": "by_name",
    "reader_of": "reader",
    "render": "uses",
    "render_calls": "writing",
    "route_between": "uses",
    "sole_parser_for": "by_name",
    "stream": "uses",
    "structured_only": "message",
}

__all__ = [
    "TEXT_KEYS",
    "TILES",
    "Event",
    "Reader",
    "Route",
    "Stream",
    "Unconvertible",
    "auto",
    "convert_row",
    "convert_text",
    "fits",
    "formats",
    "instructions",
    "lfm2",
    "parse",
    "parse_levels",
    "parse_many",
    "parse_message",
    "parser_for",
    "qwen25",
    "reader_of",
    "render",
    "render_calls",
    "route_between",
    "sole_parser_for",
    "stream",
    "structured_only",
]

__getattr__ = imported_later(__name__, _HOMES)
