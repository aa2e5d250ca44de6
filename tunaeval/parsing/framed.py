"""A text that is one call and what its format writes around it: the header of a message, markers.

What is around a call is passed over at once; the call is read as it is anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tunaeval.grammar import Format, Literal
from tunaeval.limits import HEADER_AHEAD, MAX_FAST
from tunaeval.types import Level, ParseResult, ToolCall, Tools

from .alone import TextReader
from .fast.blocks import addressed_reader, block_reader
from .fast.made import call_of, result_of
from .fast.pairs import Pairs
from .fast.tagged import pairs_in
from .judged import Objects
from .patterns import SPACE, any_of, headers
from .tokens import Match


def framed_reader(form: Format) -> TextReader | None:
    """The reader of such texts, where no marker of the format begins with another one."""
    head = _head(form)
    if head is None or form.call or not _apart(form):
        return None
    tail = re.compile(_tail(form)).fullmatch
    if form.addressed:
        return _addressed_reader(form, re.compile(head).match, tail)
    pairs, any_block = pairs_in(form), _block_reader(form, re.compile(head).match, tail)
    return (pairs and _pairs_reader(pairs, head, _tail(form), any_block)) or any_block


def _pairs_reader(pairs: Pairs, head: str, tail: str, any_block: TextReader) -> TextReader | None:
    """The same for arguments one by one: all of it in one pattern, if no value holds markup."""
    made, make, last = re.compile(f"{head}{pairs.plain}(){tail}"), pairs.make, pairs.groups + 1
    if made.groups != last + 1:
        return None
    match = made.fullmatch

    def read(text: str, tools: Tools | None, level: Level, known: Objects) -> ParseResult | None:
        here = match(text) if len(text) <= MAX_FAST else None
        if here is None or here.start(1) > HEADER_AHEAD:
            return any_block(text, tools, level, known)
        call = make(here.groups()[1:-1], (here.start(1), here.start(last + 1)), tools)
        return None if call is None else result_of((call,), "", None, (), "calls")

    return read


def _block_reader(form: Format, head: Match, tail: Callable[..., object]) -> TextReader:
    """The same for any block."""
    block = block_reader(form)

    def read(text: str, tools: Tools | None, *_: object) -> ParseResult | None:
        here = head(text, 0, HEADER_AHEAD)
        if here is None or len(text) > MAX_FAST:
            return None
        calls: list[ToolCall] = []
        end = block(text, here.start(here.lastindex or 0), here.end(), tools, calls)
        if end < 0 or len(calls) != 1 or not tail(text, end):
            return None
        return result_of((calls[0],), "", None, (), "calls")

    return read


def _addressed_reader(form: Format, head: Match, tail: Callable[..., object]) -> TextReader:
    """The same where the header has the tool's name."""
    arguments_of, format_name = addressed_reader(form), form.name

    def read(text: str, tools: Tools | None, *_: object) -> ParseResult | None:
        here = head(text, 0, HEADER_AHEAD)
        if here is None or len(text) > MAX_FAST:
            return None
        name = here["name"]
        found = arguments_of(text, here.end(), name, tools)
        if found is None or not tail(text, found[1]):
            return None
        call = call_of(name, found[0], format_name, (0, found[1]), None)
        return result_of((call,), "", None, (), "calls")

    return read


def _apart(form: Format) -> bool:
    """Whether each of its markers has one meaning."""
    envelope = form.envelope
    words = [form.opener, *(form.around or ())]
    words += [envelope.opens, envelope.closes] if envelope else []
    texts = [text for word in words if word for text in word.spellings if text]
    thoughts = {text for each in form.reasoning for text in (each.open, each.close)}
    return len({*texts, *thoughts}) == len(texts) + len(thoughts)


def _head(form: Format) -> str | None:
    """What is before the body of a call, its opener the last group; None if that has no pattern."""
    opener, envelope, header = form.opener, form.envelope, ""
    if opener is None or not form.marked:
        return None
    if envelope is not None:
        at = envelope.routes.index(envelope.call)
        others = "".join(f"(?!{other})" for other in headers(envelope)[:at])
        header = f"(?={any_of(envelope.opens)}){others}{headers(envelope)[at]}"
        if form.addressed:
            return header
        if envelope.call.body == opener.text:
            return None
        header = f"(?:{header}{SPACE})?+"
    return f"{header}{_maybe(form, 0)}({any_of(opener)})"


def _tail(form: Format) -> str:
    """What may be behind a call, to the end of the text; of white space not as much as a marker."""
    closes = f"(?:{any_of(form.envelope.closes)})?+" if form.envelope else ""
    return rf"{SPACE}{_maybe(form, 1)}{closes}[ \t\r\n]{{0,4}}+"


def _maybe(form: Format, side: int) -> str:
    """What is around all calls, before them or behind them; it may be missing."""
    around = form.around[side] if form.around else Literal("")
    texts = [text for text in around.spellings if text]
    return f"(?:{any_of(Literal(texts[0], tuple(texts[1:])))}{SPACE})?+" if texts else ""
