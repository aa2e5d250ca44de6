"""Reads a reply that lost its special tokens, as servers drop them when they decode a text.

What a format writes without them (`functionget_weather` and a fence, for DeepSeek's) is derived
from the format. If a whole reply has that form for exactly one format of those that are read, and
names a given tool, the tokens are put back, and the format's own reader reads the text. A name
before the elements of arguments lacks only the tag around the call, and any format that writes
these elements reads it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple, TypeAlias

from tunaeval import limits
from tunaeval.grammar import Arguments, Literal, Many, Name
from tunaeval.grammar.format import Format
from tunaeval.types.calls import Repair, Span, ToolCall, Tools
from tunaeval.types.parsing import Level

from .collect import Collector
from .judge import forbidden_at
from .window import Window
from .write import render_calls

_BARRED = r"<[|｜][^<>|｜\s]{1,40}[|｜]?>|<[\w:/]{1,40}[|｜]>"
_CAPITALS = r"\[/?[A-Z][A-Z_]{2,15}\]"
_SPECIAL, _ANGLED = re.compile(f"{_BARRED}|{_CAPITALS}"), re.compile(_BARRED)
"""A special token: a word between angle brackets with a bar, or capitals in square brackets. The
latter are ordinary text for some tokenizers, so that only the first one, before the name, is lost.
"""

_TAGS = re.compile(r"(?:<[^<>]{1,40}+>\s*+)++").fullmatch

_NAME, _BODY = "\x00", "\x01"

Place: TypeAlias = Callable[[int], int]
"""Maps offsets of one text to those of another."""

Texts: TypeAlias = tuple[str, str, str]
"""The texts before a tool's name, between the name and the arguments, and after the arguments."""


class Frame(NamedTuple):
    """The texts of a format around name and arguments: `written`, and what is `left` of them.

    `suffix` matches what may follow the name, and `begins` is the beginning of the arguments.
    """

    form: Format
    written: Texts
    left: Texts
    suffix: re.Pattern[str]
    begins: str


class _Head(NamedTuple):
    """A frame found in a text, and the indices at which the tool's name begins and ends."""

    frame: Frame
    start: int
    end: int


Frames: TypeAlias = dict[str, list[Frame]]
"""Frames by the text before the name."""


def frames_of(forms: tuple[Format, ...]) -> Frames:
    """Return the frames of the formats with special tokens around a name."""
    found: Frames = {}
    for frame in (frame for form in forms for frame in _frames_of(form)):
        found.setdefault(frame.left[0], []).append(frame)
    return found


def _frames_of(form: Format) -> Iterator[Frame]:
    name = next((word for word in form.words if isinstance(word, Name)), None)
    body = next((word for word in form.words if isinstance(word, Arguments | Many)), None)
    if body is None or not (name or form.addressed):
        return
    first = body.words[0] if isinstance(body, Many) else None
    begins = _SPECIAL.sub("", first.text) if isinstance(first, Literal) else "{"
    words = tuple(Literal(_BODY) if word is body else word for word in form.words)
    suffix = re.compile(f"(?:{name.after})?" if name else "")
    for each in _with_each_header(replace(form, words=words, checked=False)):
        before, _, rest = render_calls([ToolCall(_NAME, {})], each).partition(_NAME)
        between, _, after = rest.removeprefix(name.after_text if name else "").partition(_BODY)
        rows = {(_SPECIAL.sub("", between), _SPECIAL.sub("", after))}
        rows.add((_ANGLED.sub("", between), _ANGLED.sub("", after)))
        if begins.startswith("<") and _TAGS(before):  # its elements say that the call's tag is lost
            rows, before_name = {(between.strip() + gap, after) for gap in ("", "\n")}, ""
        else:
            before_name = _SPECIAL.sub("", before)
        for start in dict.fromkeys((before_name, before_name.removeprefix("assistant"))):
            for row in sorted(rows) if begins else ():
                if (start, *row) != (before, between, after):
                    yield Frame(form, (before, between, after), (start, *row), suffix, begins)


def _with_each_header(form: Format) -> Iterator[Format]:
    """Yield the format with each of the headers that its messages to a tool may have."""
    yield form
    envelope = form.envelope
    for text in envelope.call.also if envelope else ():
        routes = (replace(envelope.call, text=text), *envelope.routes)  # type: ignore[union-attr]  # it has headers
        yield replace(form, envelope=replace(envelope, routes=routes), checked=False)  # type: ignore[type-var]  # as above


def _heads(known: Frames, window: Window, tools: Tools) -> list[_Head | None]:
    """Return the frames that begin at the window's position; None among them if more text may
    show another one.
    """
    text, at, found = window.text, window.pos, list[_Head | None]()
    while text[at : at + 1].isspace():
        at += 1
        if at - window.pos > limits.SPACE_AHEAD:
            return found
    names = (*filter(None, tools),)
    firsts = (*known,) if "" not in known else (*filter(None, known), *names)
    if window.final and not text.startswith(firsts, at):  # as most texts begin
        return found
    for before, frames in known.items():
        start = at + len(before)
        if text.startswith(names, start) and text.startswith(before, at):
            here = [name for name in names if text.startswith(name, start)]
            found += [_head(frame, window, start, name) for frame in frames for name in here]
        if not window.final and any((before + name).startswith(text[at:]) for name in names):
            found.append(None)
    return [head for head in found if head is None or head.end]


def _head(frame: Frame, window: Window, start: int, name: str) -> _Head | None:
    """Find the rest of a frame whose name is at `start`: without an end if it is not here, None if
    only more text can tell.
    """
    text, end, wanted = window.text, start + len(name), frame.left[1] + frame.begins
    found = frame.suffix.match(text, end)
    end = found.end() if found else end
    if text.startswith(wanted, end):
        return _Head(frame, start, end)
    if not window.final and wanted.startswith(text[end:]):
        return None
    return _Head(frame, start, 0)


def begins_stripped(known: Frames, window: Window, tools: Tools) -> bool | None:
    """Whether a call without special tokens may begin here; None if only more text can tell."""
    found = _heads(known, window, tools)
    return True if any(found) else None if None in found else False


def read_stripped(
    known: Frames,
    text: str,
    tools: Tools,
    level: Level,
    *,
    base: int,
    read: Callable[[Format, str], Collector],
) -> tuple[Collector, Place] | None:
    """Read a text that is one call of a format without its special tokens; None if it is not.

    `read` reads a text with the tokens put back. Returns its collector, and a function that maps
    the offsets in it to those of the text, which begins at offset `base`.
    """
    found: dict[str, tuple[Collector, Place]] = {}
    elements = True
    for head in _heads(known, Window(text, final=True), tools):
        if head and head.frame.form.name not in found:
            restored, place = _restored(head, text, base)
            collector = read(head.frame.form, restored)
            kinds = {kind for kind, start, end in collector.pieces if restored[start:end].strip()}
            if collector.calls and not collector.attempts and kinds <= {"call", "markup"}:
                found[head.frame.form.name] = collector, place
                elements = elements and head.frame.begins.startswith("<")
    if len(found) != 1 and not (found and elements):
        return None
    collector, place = next(iter(found.values()))
    repair = Repair("stripped-tokens", "the special tokens of the format are missing", Span(0, 0))
    if refused := forbidden_at((repair,), level):
        collector = Collector(listened=False)
        collector.piece("content", base, base + len(text))
        collector.refuse(*refused, base, base + len(text))
        return collector, lambda offset: offset
    collector.calls = [replace(one, repairs=(*one.repairs, repair)) for one in collector.calls]
    return collector, place


def _restored(head: _Head, text: str, base: int) -> tuple[str, Place]:
    """Return the text with the frame's tokens, and a function from its offsets to the text's."""
    (_, start, end), (before, between, after) = head, head.frame.written
    body, last, tail = end + len(head.frame.left[1]), len(text.rstrip()), head.frame.left[2].strip()
    last -= len(tail) if tail and text.endswith(tail, body, last) else 0
    parts = [
        (before, start),
        (text[start:end], end),
        (between, body),
        (text[body:last], last),
        (after, len(text)),
    ]
    ends = [*accumulate(len(part) for part, _ in parts)]

    def place(offset: int) -> int:
        """Return the offset of the original text: of a put-back token's inside, the next place."""
        at = min(bisect_left(ends, offset), len(parts) - 1)
        return base + parts[at][1] - (ends[at] - offset if at in (1, 3) else 0)

    return "".join(part for part, _ in parts), place
