"""Why a format could never be written, read or streamed: what is checked when one is built.

First the types of its fields, the order of its words, and texts and patterns that would be found
anywhere, each with advice. What passes is written and read back, in each way that is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache
from itertools import islice, pairwise
from typing import Any, TypeAlias, TypeVar, get_args

from tunaeval.limits import MAX_FIXED
from tunaeval.parsing import reader_of, render_calls
from tunaeval.types import JsonObject, ToolCall, Tools, ToolSpec

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
_Rules: TypeAlias = Sequence[tuple[Callable[[Any], object], str]]
"""What finds something wrong in a value, and the sentence about it: {0} is what was found, {1} the
value, and {2} how an author writes it."""


def fault_of(form: Format) -> str | None:
    """Return why a format could never be read, if so."""
    return next(filter(None, _faults(form)), None)


def _faults(form: Format) -> Iterator[str | None]:
    yield _fields_fault(form, "")
    if not re.fullmatch(r"[a-z0-9]+(?:[-._][a-z0-9]+)*", form.name):
        allowed = "lower-case letters and digits, joined by '-', '.' or '_'"
        yield f"name is {form.name!r:.60}; a name is {allowed}"
    if form.whole or form.by_tool:
        yield _broken(_UNMARKED, form)
    else:
        yield _broken(_ENVELOPE, form) if form.envelope else None
        yield _order_fault(form.words, "addressed" if _is_addressed(form) else "block")
        yield _broken(_FRAME, form)
    for word in flat(form.words):
        yield _pattern_fault(word)
        yield from (_broken(rules, word) for kind, rules in _OF_WORDS if isinstance(word, kind))
    yield _broken(_TEXTS, form)
    yield _unread_fault(form)


def _broken(rules: _Rules, value: object) -> str | None:
    """Return the sentence of the first rule that finds something."""
    for find, sentence in rules:
        if (found := find(value)) is not None and found is not False:
            return sentence.format(found, value, shown(value))
    return None


def _first(found: Iterable[_T]) -> _T | None:
    return next(iter(found), None)


# --- types of fields ------------------------------------------------------------------------------

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
    return _first(filter(None, faults))


def _type_fault(value: object, place: str, kind: str) -> str | None:
    """Return why the value is not what an annotation says, if so."""
    if kind.endswith(" | None"):
        return None if value is None else _type_fault(value, place, kind.removesuffix(" | None"))
    if kind.startswith("tuple["):
        inner, _, last = kind[6:-1].rpartition(", ")
        if not isinstance(value, tuple) or (last != "..." and len(value) != 2):
            return f"{place} is {value!r:.60}; write a tuple: {_example(value, kind)}"
        faults = (_type_fault(one, f"{place}[{at}]", inner) for at, one in enumerate(value))
        return _first(filter(None, faults))
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


# --- the order of words ---------------------------------------------------------------------------

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
            return f"{shown(word)} {place}, where {known} may be"
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


# --- patterns and texts ---------------------------------------------------------------------------

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


def _pattern_fault(word: Word) -> str | None:
    """Return why a word may not have its pattern: a text that arrives may end inside a match."""
    for pattern in (getattr(word, "pattern", ""), getattr(word, "after", "")):
        if fault := _bound_fault(pattern):
            return fault
        if not _ROW.fullmatch(pattern):
            return (
                f"the pattern {pattern!r} may not match a beginning of what it matches, and a text "
                "that arrives may end there; write one character or class, and behind it others "
                "with ? or {0,24}, as in '[a-z][a-z0-9]{0,24}'"
            )
    return None


@cache
def _fitting(pattern: str) -> list[str]:
    """Return up to two characters that a pattern matches, usual ones if there are any."""
    matches = re.compile(pattern).fullmatch
    usual = (*"aA0_-.é中", *map(chr, range(33, 127)), *map(chr, range(128, 0x250)))
    return [*islice(filter(matches, usual), 2)]


def _texts(row: Sequence[Word]) -> list[str]:
    return [text for word in flat(row) if isinstance(word, Literal) for text in word.spellings]


def _around(form: Format) -> list[str]:
    return [text for text in _texts(form.around or ()) if text]


def _is_usual(text: str) -> bool:
    """Whether any prose has the text: white space, a sign or a letter, or two with a letter."""
    return not text.strip() or bool(re.fullmatch(r"[!-~\w]|\w.|.\w", text.strip(), re.DOTALL))


def _is_addressed(form: Format) -> bool:
    """Whether the name is in a message's header, and the arguments are the message."""
    return form.addressed and not form.python


def _opens(form: Format) -> bool:
    call = form.call or form.python
    return call is not None and bool(call.opens)


def _odd_row(call: CallObject | PythonCalls) -> tuple[str, ...] | None:
    """Return a row of `opens` that does not begin as such a call does."""
    begins = ("[",) if isinstance(call, PythonCalls) else ("[", "{")
    return _first(row for row in call.opens if not "".join(row).startswith(begins))


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


_OF_WORDS: tuple[tuple[type | tuple[type, ...], _Rules], ...] = (
    (Literal, [
        (lambda word: not all(word.spellings), "fixed text is empty, so it is found everywhere")]),
    ((Name, words.Key), [
        (lambda word: not _fitting(word.pattern),
         "the pattern {1.pattern!r} matches no name of one character; begin it with one")]),
    (words.Attribute, [
        (lambda word: not (word.text and word.json),
         "⟨type⟩ needs words for both, texts and JSON")]),
    ((CallObject, PythonCalls), [
        (_odd_row,
         "`opens` has the row {0!r}; an object begins with '{{' or '[', a list of calls by '['")]),
)  # fmt: skip
_UNMARKED: _Rules = (
    (lambda form: form.whole and not _is_whole(form),
     ("whole is True, which is for one of ⟨[call] inside=...⟩, ⟨calls loose⟩, and ⟨name⟩ with a "
      "fixed text and ⟨arguments⟩ behind it")),
    (lambda form: form.by_tool and not form.whole and not _is_element(form),
     "by_tool is True, which is for <⟨name⟩>\\n⟨arguments optional⟩⟨elements⟩\\n</⟨name⟩>"),
    (lambda form: bool(form.envelope or form.around or form.dropped or form.prompted
                       or form.marked is form.whole),
     ("whole and by_tool go with nothing around the calls; whole also with marked=False, and "
      "by_tool with marked=True")),
)  # fmt: skip
_FRAME: _Rules = (
    (lambda form: None if form.opener or _opens(form) else shown(form.words[0]),
     ("it begins with {0}, which then has to say what it `opens` with; a format that is all of a "
      "reply is written with whole=True and marked=False")),
    (lambda form: not form.opener and form.marked,
     "nothing announces a call without fixed text before it; write marked=False"),
    (lambda form: bool(form.opener) and _opens(form), "`opens` is for a call without fixed text"),
    (lambda form: _first(t for t in spellings(form.closer) if not t.strip()),
     "{0!r} closes a call, and is found everywhere; leave it out, or add a character"),
    (lambda form: _first(t for t in spellings(form.opener) if not t.strip()),
     "{0!r} opens a call, and is found everywhere; add a character"),
    (lambda form: _first(t for t in spellings(form.opener)
                         if re.fullmatch(r"[\w.,;:!?'\"()/-]", t.strip())),
     "{0!r} opens a call, and is in any sentence; use a longer text"),
    (lambda form: form.prompted and bool(not form.opener or form.envelope),
     "a prompt cannot end with an opener that is none; prompted=True wants fixed text first"),
    (_odd_mark, ("the mark {0!r} could be part of a value, of a fixed text, or of another mark "
     "beside it; use other signs")),
)  # fmt: skip
_TEXTS: _Rules = (
    (lambda form: _first(m for m in form.reasoning if m.open == m.close or "" in (m.open, m.close)),
     "{0!r} cannot be distinguished; give two different texts"),
    (lambda form: _first(m for m in form.reasoning if _is_usual(m.open)),
     "{0!r} begin everywhere; what opens needs three characters"),
    (lambda form: _first(m for m in form.reasoning if {m.open, m.close} & {*_texts(form.words)}),
     "{0!r} are markers of the calls too"),
    (lambda form: bool(form.separator.strip()),
     "the separator {1.separator!r} would be content; it may be white space, or nothing"),
    (lambda form: _first(t for t in _around(form)
                         if t in (*spellings(form.opener), *spellings(form.closer))),
     "{0!r} is around one call and around all of them"),
    (lambda form: _first(filter(_is_usual, _around(form))),
     "`around` has {0!r}, which is found everywhere; it needs three characters"),
    (lambda form: _first(t for t in form.dropped
                         if _is_usual(t) or t in (*_texts(form.words), *_around(form))),
     "`dropped` has {0!r}, which is in any text, or is fixed text of the calls; leave it out"),
)  # fmt: skip


_ENVELOPE: _Rules = (
    (lambda form: all(route.channel != "call" for route in form.envelope.routes),
     "no route of its envelope leads to a call"),
    (lambda form: not all(_texts((form.envelope.opens, form.envelope.closes))),
     "a text that opens or closes a message is empty"),
    (lambda form: _first({*form.envelope.opens.spellings} & {*form.envelope.closes.spellings}),
     "{0!r} both opens and closes a message"),
    (lambda form: _first(route for route in form.envelope.routes if not route.body),
     "{0!r} has no `body`, so its header never ends"),
    (lambda form: _first(filter(None, (_bound_fault(r.header) for r in form.envelope.routes))),
     "{0}"),
    (lambda form: _first(r for r in form.envelope.routes if re.fullmatch(r.header, r.body)),
     "the header {0.header!r} would swallow {0.body!r}, which ends it"),
    (lambda form: None if form.envelope.call.text or re.fullmatch(form.envelope.call.header, "")
     else form.envelope.call,
     ("the Route with the header {0.header!r} has no `text`, which is how that header is written; "
     "add it, as in text='to={{name}}', with {{name}} where the name goes")),
    (lambda form: form.addressed and spellings(form.opener)[:1] != (form.envelope.call.body,),
     "the name is in the header, so the first word has to be {1.envelope.call.body!r}"),
)  # fmt: skip


# --- reading back ---------------------------------------------------------------------------------


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
