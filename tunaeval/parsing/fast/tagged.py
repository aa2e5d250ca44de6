"""Blocks whose tool name is outside of the arguments."""

from __future__ import annotations

import re
from collections.abc import Sequence

import orjson

from tunaeval.grammar import (
    Arguments,
    Format,
    Literal,
    Many,
    Space,
    Word,
    starts_with_space,
)
from tunaeval.limits import MAX_FAST
from tunaeval.repair import BraceReader, begins_soundly, nothing_hidden
from tunaeval.types import JsonObject, JsonValue, ToolCall, Tools
from tunaeval.window import Window

from ..closings import stops_of
from ..markup import holds_marks
from ..patterns import SPACE, matcher, row
from .claims import scanned
from .made import call_of
from .pairs import Pairs, meaning, pairs_of
from .promise import UNSURE, AddressedReader, BlockReader
from .sound import holds, sound

_SPACES = " \t\r\n"
_OPTIONAL = (Arguments(optional=True),)
"""Where such an object stands, the rest does not match, and the recovering reader reads it."""


def tagged_reader(form: Format) -> BlockReader | None:
    """The reader of a format with a `Name`; None if it has odd words."""
    parts = _parts(form)
    if parts is None:
        return None
    before, body, after = parts
    if isinstance(body, Many):
        pairs = pairs_of(form, before, body, after)
        return pairs and pairs.read
    if body.mark:
        return _braces_reader(form, before, body.mark, after)
    return _json_reader(form, before, after)


def pairs_in(form: Format) -> Pairs | None:
    """How its arguments are read if they come one by one."""
    before, body, after = _parts(form) or ((), None, ())
    return pairs_of(form, before, body, after) if isinstance(body, Many) else None


def _parts(form: Format) -> tuple[Sequence[Word], Arguments | Many, Sequence[Word]] | None:
    """The arguments, and the words before and behind them."""
    words = [word for word in form.words[1:] if word not in _OPTIONAL]
    bodies = [i for i, word in enumerate(words) if isinstance(word, Arguments | Many)]
    at = bodies[0] if len(bodies) == 1 else -1
    body = words[at]
    if not isinstance(body, Arguments | Many) or (
        isinstance(body, Many) and starts_with_space(body)
    ):
        return None
    return words[:at], body, words[at + 1 :]


def _json_reader(form: Format, before: Sequence[Word], after: Sequence[Word]) -> BlockReader | None:
    """Name, JSON, and what closes both; without a closer, the next opener may end the JSON."""
    head, tail = matcher(row(before), 1), matcher(row(after), 0)
    closer = next((word for word in after if not isinstance(word, Space)), form.opener)
    if head is None or tail is None or not isinstance(closer, Literal):
        return None
    mark, format_name, size = closer.text, form.name, len(closer.text) if after else 0
    spaced = bool(after) and isinstance(after[0], Space)
    last = not after or all(isinstance(word, Space) for word in after[:-1])
    meant = meaning(before)

    def read(text: str, start: int, body: int, tools: Tools | None, calls: list[ToolCall]) -> int:
        named = head(text, body)
        if named is None:
            return UNSURE
        name, at = meant(named[1], tools), named.end()
        if not begins_soundly(text, at):
            return UNSURE
        stop = _found(text, mark, at)
        piece = text[at:stop]
        try:
            arguments = _decoded(piece)
        except ValueError:
            found = scanned(text, at + len(piece) - len(piece.lstrip(_SPACES)))
            arguments, stop = found or (None, 0)
            end = _end(tail(text, stop))
        else:
            if not spaced and piece[-1] != "}":
                stop -= len(piece) - len(piece.rstrip(_SPACES))
            end = stop + size if last and text.startswith(mark, stop) else _end(tail(text, stop))
            if type(arguments) is dict and not nothing_hidden(arguments, piece, ()):
                return UNSURE
        if not holds(arguments, name, tools) or end < 0:
            return UNSURE
        calls.append(call_of(name, arguments, format_name, (start, end), None))
        return end

    return read


def _braces_reader(
    form: Format, before: Sequence[Word], mark: str, after: Sequence[Word]
) -> BlockReader | None:
    """Name, bare keys and texts between marks, and what closes both."""
    head, tail = matcher(row(before), 1), matcher(row(after), 0)
    stops, format_name, meant = stops_of(form, tuple(after)), form.name, meaning(before)
    if head is None or tail is None or not after:
        return None

    def read(text: str, start: int, body: int, tools: Tools | None, calls: list[ToolCall]) -> int:
        named = head(text, body)
        if named is None or not text.startswith("{", named.end()):
            return UNSURE
        window, name = Window(text, final=True), meant(named[1], tools)
        window.pos = named.end()
        arguments = sound(BraceReader(window, mark, stops))
        end = _end(tail(text, window.pos))
        if end < 0 or not holds(arguments, name, tools) or holds_marks(arguments.values(), mark):
            return UNSURE
        calls.append(call_of(name, arguments, format_name, (start, end), None))
        return end

    return read


def _found(text: str, mark: str, at: int) -> int:
    """Where a text comes next; the end if it does not, or far away, where nothing decodes."""
    stop = text.find(mark, at, at + MAX_FAST)
    return stop if stop >= 0 else min(len(text), at + MAX_FAST + 1)


_may_hold = re.compile(rf"{SPACE}\{{").match
"""Whether an object may begin at an index: a cheap look before anything is sought."""


def json_behind_header(form: Format) -> AddressedReader | None:
    """JSON behind a header that has the name, up to what closes the message."""
    words = [word for word in form.words[1:] if not isinstance(word, Space)]
    ends = form.envelope.closes.spellings if form.envelope else ()
    if words != [Arguments()] or not ends:
        return None

    def read(text: str, body: int, name: str, tools: Tools | None) -> tuple[JsonObject, int] | None:
        if not _may_hold(text, body):
            return None
        piece = text[body : min(_found(text, end, body) for end in ends)]
        try:
            arguments = _decoded(piece)
        except ValueError:
            return None
        if not holds(arguments, name, tools) or not nothing_hidden(arguments, piece, ()):
            return None
        return arguments, body + len(piece.rstrip(_SPACES))

    return read


def _decoded(piece: str) -> JsonValue:
    if len(piece) > MAX_FAST:
        raise ValueError("left to the scanner, which takes less memory")
    return orjson.loads(piece)


def _end(found: re.Match[str] | None) -> int:
    return found.end() if found else UNSURE
