"""Why a format could never be written, read or streamed: what is checked when one is built.

First the types of its fields, the order of its words, and texts and patterns that would be found
anywhere, each with advice. What passes is written and read back, in each way that is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache
from itertools import islice, pairwise
from typing import Any, TypeVar, get_args

from tunaeval.limits import MAX_FIXED
from tunaeval.parsing.reader import reader_of
from tunaeval.parsing.write import render_calls
from tunaeval.types.calls import JsonObject, ToolCall, Tools, ToolSpec

from . import words
from .format import Format
from .words import (
    Arguments,
    CallObject,
    Literal,
    Many,
    Maybe,
    Name,
    PythonCalls,
    Word,
    flat,
    spellings,
)

_T = TypeVar("_T")


def fault_of(form: Format) -> str | None:
    """Return why a format could never be read, if so."""
    return _first(_faults(form))


def _faults(form: Format) -> Iterator[str | None]:
    yield _fields_fault(form, "")
    if not re.fullmatch(r"[a-z0-9]+(?:[-._][a-z0-9]+)*", form.name):
        allowed = "lower-case letters and digits, joined by '-', '.' or '_'"
        yield f"name is {form.name!r:.60}; a name is {allowed}"
    if form.whole or form.by_tool:
        yield from _unmarked_faults(form)
    else:
        yield from _envelope_faults(form, form.envelope) if form.envelope else ()
        # With the name in a message's header, the arguments are the message.
        is_addressed = form.addressed and not form.python
        yield _order_fault(form.words, "addressed" if is_addressed else "block")
        yield from _frame_faults(form)
    for word in flat(form.words):
        yield from _word_faults(word)
    yield from _reasoning_faults(form)
    yield from _beside_faults(form)
    yield _unread_fault(form)


def _first(found: Iterable[_T | None]) -> _T | None:
    return next(filter(None, found), None)


_CHOICES = {"Trim": get_args(words.Trim), "Channel": get_args(words.Channel)}
_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "{0}"),
    "bool": (bool, "True or False"),
    "Word": (get_args(Word), "Literal({0})"),
    "Literal": (Literal, "Literal({0})"),
    "Reasoning": (words.Reasoning, "Reasoning({0}, {1})"),
    "Route": (words.Route, "Route('call', 'HEADER', 'BODY')"),
    "Envelope": (words.Envelope, "Envelope(Literal({0}), (Route(...), ...), Literal({1}))"),
    "Format": (Format, "tunaeval.formats.get({0})"),
}
"""The types of an annotation, and what a value is written as: {0} and {1} are two texts."""

_ANY_LENGTH = re.compile(r"(?:name|summary|(?:models|aliases)\[.*)|.*\.(?:pattern|after|header)")
"""Texts about a format, and patterns, which have a bound of their own."""


def _fields_fault(item: Any, where: str) -> str | None:
    """Return which field of a format, or of a value in it, has a wrong type, if so."""
    faults = (
        _type_fault(getattr(item, field.name), f"{where}{field.name}", str(field.type))
        for field in fields(item)
    )
    return _first(faults)


def _type_fault(value: object, place: str, kind: str) -> str | None:
    """Return why the value is not what an annotation says, if so."""
    if kind.endswith(" | None"):
        return None if value is None else _type_fault(value, place, kind.removesuffix(" | None"))
    if kind.startswith("tuple["):
        inner, _, last = kind[6:-1].rpartition(", ")
        if not isinstance(value, tuple) or (last != "..." and len(value) != 2):
            return f"{place} is {value!r:.60}; write a tuple: {_example(value, kind)}"
        faults = (_type_fault(one, f"{place}[{at}]", inner) for at, one in enumerate(value))
        return _first(faults)
    if kind in _CHOICES:
        known = ", ".join(map(repr, _CHOICES[kind]))
        return (
            None if value in _CHOICES[kind] else f"{place} is {value!r:.60}; it is one of {known}"
        )
    if not isinstance(value, _KINDS[kind][0]):
        return f"{place} is {value!r:.60}; write {_example(value, kind)}"
    if isinstance(value, str) and len(value) > MAX_FIXED and not _ANY_LENGTH.fullmatch(place):
        found = f"{place} has {len(value)} characters"
        return f"{found}; a fixed text has {MAX_FIXED} at the most, and several may be side by side"
    return None if kind in ("str", "bool", "Format") else _fields_fault(value, f"{place}.")


def _example(value: object, kind: str) -> str:
    """Return how a value of this kind is written, with the text that is there in its place."""
    text = value if isinstance(value, str) else "<call>"
    signs = text[: len(text) - len(text.lstrip("<[{(|"))]
    closer = f"{signs}/{text[len(signs) :]}" if signs else text
    if not kind.startswith("tuple["):
        return _KINDS[kind][1].format(f"{text!r:.60}", f"{closer!r:.60}")
    inner, _, last = kind[6:-1].rpartition(", ")
    second = "" if last == "..." else f" {_example(closer, last)}"
    return f"({_example(text, inner)},{second})"


_CODES = {
    Literal: "L", words.Space: "S", words.Markup: "M", CallObject: "C", PythonCalls: "P", Name: "N",
    Arguments: "A", words.Key: "K", words.Attribute: "T", words.Value: "V", Maybe: "?", Many: "*",
    words.Elements: "E",
}  # fmt: skip
"""Words as characters; arguments that are not written are an O."""

_NAMES = {
    "L": "fixed text", "S": "white space", "M": "⟨skip⟩", "C": "⟨call⟩", "P": "⟨calls⟩",
    "N": "⟨name⟩", "A": "⟨arguments⟩", "O": "⟨arguments optional⟩", "K": "⟨key⟩", "T": "⟨type⟩",
    "V": "⟨value⟩", "?": "⟨maybe⟩", "*": "⟨each⟩", "E": "⟨elements⟩",
}  # fmt: skip
"""The words as patterns have them."""

_ORDER = {
    "block": {"L": "opened", "CP": "over"},
    "opened": {
        "S": "opened", "LM": "marked", "?": "optional", "C": "called", "P": "listed", "N": "named",
    },
    "marked": {"LSM": "marked", "?": "optional", "C": "called", "N": "named"},
    "optional": {"LSM?": "optional", "N": "named"},
    "called": {"LS": "called"},
    "listed": {"S": "listed", "L": "over"},
    "over": {},
    "addressed": {"L": "named"},
    "named": {"LSM?O": "named", "AE*": "given"},
    "given": {"LSM?": "given"},
    "each": {"L": "before"},
    "before": {"LSM?": "before", "K": "keyed"},
    "keyed": {"LSM?": "between"},
    "between": {"LSM?": "between", "T": "keyed", "V": "valued"},
    "valued": {"L": "behind"},
    "behind": {"LSM?": "behind"},
    "maybe": {"L": "maybe more"},
    "maybe more": {"LSM?AO": "maybe more"},
    "maybe in each": {"L": "more in each"},
    "more in each": {"LSM?T": "more in each"},
}  # fmt: skip
"""What may come next, by what was met so far, and what is met so far behind it."""

_NO_CALL = (
    "nothing in it says which tool is called; it needs ⟨call⟩, ⟨calls⟩, or ⟨name⟩ and arguments"
)
_NO_PAIR = "⟨each⟩ is once for each argument, so ⟨key⟩ and ⟨value⟩ are in it, once"
_LACKS = {
    **dict.fromkeys(("block", "addressed", "opened", "marked", "optional"), _NO_CALL),
    "named": "it has a name and no arguments; give it ⟨arguments⟩, ⟨each⟩ or ⟨elements⟩",
    **dict.fromkeys(("each", "before", "keyed", "between"), _NO_PAIR),
    "valued": "nothing is behind ⟨value⟩, so it never knows where it ends; put fixed text there",
    **dict.fromkeys(("maybe", "maybe in each"), "⟨maybe⟩ has nothing in it"),
}
"""What is wrong where the words end so early."""


def _order_fault(row: Sequence[Word], start: str) -> str | None:
    """Return which word could not be read where it is, if so."""
    state, place = start, "comes first"
    for word in row:
        behind = _first(to for codes, to in _ORDER[state].items() if _code(word) in codes)
        if behind is None:
            known = " or ".join(_NAMES[code] for code in "".join(_ORDER[state])) or "nothing"
            placeholder = start.partition(" ")[0]
            where = f"in ⟨{placeholder}⟩, " if placeholder in ("each", "maybe") else ""
            return f"{where}{shown(word)} {place}, where {known} may be"
        if isinstance(word, Many) and (fault := _order_fault(word.words, "each")):
            return fault
        inside = "maybe in each" if start in ("each", "maybe in each") else "maybe"
        if isinstance(word, Maybe) and (fault := _order_fault(word.words, inside)):
            return fault
        state, place = behind, f"follows {shown(word)}"
    ends = {"block": "LCPA", "addressed": "LCPA*"}.get(start)
    if state not in _LACKS and ends and _code(row[-1]) not in ends:
        return f"it ends with {shown(row[-1])}, so a block never knows where; put fixed text there"
    return _LACKS.get(state)


def _code(word: Word) -> str:
    return "O" if isinstance(word, Arguments) and word.optional else _CODES[type(word)]


def shown(word: object) -> str:
    """Return a word as an author recognises it."""
    if isinstance(word, Literal):
        return repr(word.text)
    return _NAMES[_CODES[type(word)]] if type(word) in _CODES else repr(word)


_CLASS = r"(?:\\.|\[\^?(?:\\.|[^\]\\])*\]|[^\\\[\](){}?*+|^$])"
_ROW = re.compile(rf"(?:{_CLASS}(?:\{{[01](?:,\d+)?\}}|\?)?)?(?:{_CLASS}(?:\{{0,\d+\}}|\?))*")
"""A character or a class, then others that may be missing."""


def _bound_fault(pattern: str) -> str | None:
    """Return why a pattern may not run over a model's text: its matches need a bound."""
    try:
        re.compile(pattern)
    except re.error as error:
        return f"the pattern {pattern!r} is no regular expression: {error}"
    outside_classes = re.sub(r"\[(?:\\.|[^\]])*\]", "x", pattern)
    if re.search(r"(?<!\\)[*+]|,\}", outside_classes):
        return f"the pattern {pattern!r} has no bound; write {{0,24}} instead of * or +"
    return None


def _word_faults(word: Word) -> Iterator[str | None]:
    for pattern in (getattr(word, "pattern", ""), getattr(word, "after", "")):
        yield _bound_fault(pattern)
        if not _ROW.fullmatch(pattern):
            yield (
                f"the pattern {pattern!r} may not match a beginning of what it matches, and a text "
                "that arrives may end there; write one character or class, and behind it others "
                "with ? or {0,24}, as in '[a-z][a-z0-9]{0,24}'"
            )
    match word:
        case Literal() if not all(word.spellings):
            yield "fixed text is empty, so it is found everywhere"
        case Name() | words.Key() if not _fitting(word.pattern):
            yield f"the pattern {word.pattern!r} matches no single character; begin it with one"
        case words.Attribute() if not (word.text and word.json):
            yield "⟨type⟩ needs words for both, texts and JSON"
        case CallObject() | PythonCalls():
            begins = ("[",) if isinstance(word, PythonCalls) else ("[", "{")
            for row in word.opens:
                if not "".join(row).startswith(begins):
                    yield f"`opens` has the row {row!r}; a call begins with {' or '.join(begins)}"


@cache
def _fitting(pattern: str) -> list[str]:
    """Return up to two characters that a pattern matches, usual ones if there are any."""
    matches = re.compile(pattern).fullmatch
    usual = (*"aA0_-.é中", *map(chr, range(33, 127)), *map(chr, range(128, 0x250)))
    return [*islice(filter(matches, usual), 2)]


def _texts(row: Sequence[Word]) -> list[str]:
    return [text for word in flat(row) if isinstance(word, Literal) for text in word.spellings]


def _is_usual(text: str) -> bool:
    """Whether a text is so common in prose that it can mark nothing.

    That is white space, one character, or two of which one is a letter or a digit.
    """
    return not text.strip() or bool(re.fullmatch(r"[!-~\w]|\w.|.\w", text.strip(), re.DOTALL))


def _odd_mark(form: Format) -> str | None:
    """Return a mark around texts that could not be distinguished from what is around it."""
    texts = _texts(form.words)
    return _first(
        mark
        for mark in (word.mark for word in flat(form.words) if isinstance(word, Arguments))
        if mark
        if re.match(r"[\w\s:,={}\[\]\"'+.-]", mark)
        or any(mark.startswith(mark[at:]) for at in range(1, len(mark)))
        or any(mark.startswith(text) or text.startswith(mark) for text in texts)
    )


def _is_whole(form: Format) -> bool:
    match form.words:
        case (CallObject(inside=(_, *_), listed=True),) | (PythonCalls(loose=True),):
            return True
        case (Name(), Literal(), Arguments(mark="", optional=False)):
            return True
    return False


def _is_element(form: Format) -> bool:
    """Whether a format with `by_tool` has the one row of words that is read by the tool's name."""
    row = "".join(map(_code, form.words)) == "LNLSOESLNL" and _texts(form.words)
    return row == ["<", ">", "</", ">"] and form.marked and not form.words[5].prefix  # type: ignore[union-attr]  # the word is Elements


def _unmarked_faults(form: Format) -> Iterator[str]:
    if form.whole and not _is_whole(form):
        yield (
            "whole is True, which is for one of ⟨[call] inside=...⟩, ⟨calls loose⟩, and ⟨name⟩ "
            "with a fixed text and ⟨arguments⟩ behind it"
        )
    if form.by_tool and not form.whole and not _is_element(form):
        yield "by_tool is True, which is for <⟨name⟩>\\n⟨arguments optional⟩⟨elements⟩\\n</⟨name⟩>"
    beside = form.envelope or form.around or form.dropped or form.prompted
    if beside or form.marked is form.whole:
        yield (
            "whole and by_tool go with nothing around the calls; whole also with marked=False, and "
            "by_tool with marked=True"
        )


def _frame_faults(form: Format) -> Iterator[str]:
    call = form.call or form.python
    if not form.opener and not (call and call.opens):
        yield (
            f"it begins with {shown(form.words[0])}, which then has to say what it `opens` with; a "
            "format that is all of a reply is written with whole=True and marked=False"
        )
    if not form.opener and form.marked:
        yield "nothing announces a call without fixed text before it; write marked=False"
    if form.opener and call and call.opens:
        yield "`opens` is for a call without fixed text"
    for text in (*spellings(form.opener), *spellings(form.closer)):
        if not text.strip():
            yield f"{text!r} is found everywhere; leave it out, or add a character"
    for text in spellings(form.opener):
        if re.fullmatch(r"[\w.,;:!?'\"()/-]", text.strip()):
            yield f"{text!r} opens a call, and is in any sentence; use a longer text"
    if form.prompted and (not form.opener or form.envelope):
        yield "prompted=True wants fixed text first, which the prompt then ends with"
    if mark := _odd_mark(form):
        yield (
            f"the mark {mark!r} could be part of a value, of a fixed text, or of another mark "
            "beside it; use other signs"
        )


def _reasoning_faults(form: Format) -> Iterator[str]:
    for markers in form.reasoning:
        if markers.open == markers.close or "" in (markers.open, markers.close):
            yield f"{markers!r} cannot be distinguished; give two different texts"
        if _is_usual(markers.open):
            yield f"{markers!r} begin everywhere; what opens needs three characters"
        if {markers.open, markers.close} & {*_texts(form.words)}:
            yield f"{markers!r} are markers of the calls too"


def _beside_faults(form: Format) -> Iterator[str]:
    around = [text for text in _texts(form.around or ()) if text]
    if form.separator.strip():
        yield f"the separator {form.separator!r} would be content; write white space, or nothing"
    for text in around:
        if text in (*spellings(form.opener), *spellings(form.closer)):
            yield f"{text!r} is around one call and around all of them"
        if _is_usual(text):
            yield f"`around` has {text!r}, which is found everywhere; it needs three characters"
    for text in form.dropped:
        if _is_usual(text) or text in (*_texts(form.words), *around):
            yield (
                f"`dropped` has {text!r}, which is in any text, or is fixed text of the calls; "
                "leave it out"
            )


def _envelope_faults(form: Format, envelope: words.Envelope) -> Iterator[str | None]:
    opens, closes = envelope.opens.spellings, envelope.closes.spellings
    if all(route.channel != "call" for route in envelope.routes):
        yield "no route of its envelope leads to a call"
    if not all((*opens, *closes)):
        yield "a text that opens or closes a message is empty"
    if both := {*opens} & {*closes}:
        yield f"{both} both opens and closes a message"
    for route in envelope.routes:
        yield _bound_fault(route.header)
        if not route.body:
            yield f"{route!r} has no `body`, so its header never ends"
        if re.fullmatch(route.header, route.body):
            yield f"the header {route.header!r} would swallow {route.body!r}, which ends it"
    if not envelope.call.text and not re.fullmatch(envelope.call.header, ""):
        yield (
            f"the Route with the header {envelope.call.header!r} has no `text`, which is how that "
            "header is written; add it, as in text='to={name}', with {name} where the name goes"
        )
    if form.addressed and spellings(form.opener)[:1] != (envelope.call.body,):
        yield f"the name is in the header, so the first word has to be {envelope.call.body!r}"


def _unread_fault(form: Format) -> str | None:
    """Return which text of the format is not read back as the calls that it is written for.

    Each spelling is written, and what may be missing is written and not.
    """
    alone = replace(form, also=(), reasoning=(), checked=False)
    patterns = {type(word): getattr(word, "pattern", "") for word in flat(form.words)}
    name = _fitting(patterns.get(Name, r"\w"))[0]
    arguments = dict(zip(_fitting(patterns.get(words.Key, r"\w")), ("x", 1), strict=False))
    two = (ToolCall(name, {}), ToolCall(name, arguments))
    declared: JsonObject = {"properties": {key: {} for key in arguments}}
    tools = Tools([ToolSpec(name, parameters=declared)]) if form.by_tool else None
    level: Any = "standard" if form.call and form.call.bare_keys else "strict"
    for row in (form.words, *_variants(form.words)):
        for calls in (two[:1], two[1:], two):
            text = render_calls(calls, replace(alone, words=row, checked=False))
            prompt = form.opener.text if form.prompted and form.opener else ""
            for written in {text, text.removeprefix(prompt)}:
                found = reader_of(alone).parse(written, tools=tools, level=level)
                read = [(call.name, call.arguments) for call in found.calls]
                lost = read != [(call.name, call.arguments) for call in calls]
                lost |= any(one.code == "unclosed" for call in found.calls for one in call.repairs)
                if lost or found.diagnoses or found.content.strip():
                    why = found.diagnoses[0].message if found.diagnoses else f"{read!r:.200}"
                    return (
                        f"what it writes is not what it reads: {written!r:.200} is read as {why}; "
                        f"{_advice(row)}"
                    )
    return None


def _variants(row: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    """Yield rows that are read too: another spelling, or what may be missing there or not."""
    for at, word in enumerate(row):
        others: list[Word] = []
        if isinstance(word, Literal):
            others = [Literal(text) for text in word.also]
        elif isinstance(word, Many):
            others = [replace(word, words=inner) for inner in _variants(word.words)]
        elif isinstance(word, Maybe):
            others = [replace(word, words=inner, written=True) for inner in _variants(word.words)]
            others.append(replace(word, written=not word.written))
        yield from ((*row[:at], other, *row[at + 1 :]) for other in others)


def _advice(row: Sequence[Word]) -> str:
    """Return which word reads the beginning of the next one, if that is why."""
    for word, after in pairwise(flat(row)):
        pattern = r"\s*" if isinstance(word, words.Space) else getattr(word, "pattern", None)
        text = getattr(after, "text", "")
        starts = ("", *_fitting(pattern)[:1]) if pattern and isinstance(text, str) and text else ()
        if any(re.fullmatch(pattern or "", start + text[0]) for start in starts):
            return (
                f"{shown(word)} with the pattern {pattern!r} would swallow the beginning of "
                f"{text!r}; leave its first character out of the pattern, or begin it differently"
            )
    return "begin each word with something that the word before it cannot read"
