"""Text to calls and back.

`format` is a name, a `Format` value, or any `Parser`; `tools` are what `tools.to_tools` takes.
"""

from __future__ import annotations

from .abstaining import abstaining_names
from .api import (
    auto,
    format_named,
    formats,
    instructions,
    lfm2,
    parse,
    parse_levels,
    parse_many,
    parse_message,
    parser_for,
    qwen25,
    reader_named,
    render,
    sole_parser_for,
    stream,
)
from .collect import TILES, Event, Kind, arguments_text
from .message import read_message, structured_only
from .reader import AnyTools, Reader, Stream, known_tools, reader_of
from .write import lost_call, misread, render_calls

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
