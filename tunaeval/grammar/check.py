"""Checks a format when it is built: whether it can be written, read back and streamed.

First come the types of the fields, the order of the words, and texts and patterns that ordinary
text would match; each message has advice. Then example calls are written in every spelling that the
format reads, and read back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache
from itertools import islice, pairwise, product
from typing import Any, get_args

from tunaeval.limits import MAX_FIXED
from tunaeval.parsing.reader import reader_of
from tunaeval.parsing.write import render_calls
from tunaeval.types.calls import JsonObject, ToolCall, Tools, ToolSpec

from . import format as words
from .format import Arguments, CallObject, Format, Literal, Many, Maybe, Name, PythonCalls, Word
from .turns import Turns


def fault_of(form: Format) -> str | None:
    """Return the first fault of a format, with advice for its author; None if it has none."""
    return next(filter(None, _faults(form)), None)


def _faults(form: Format) -> Iterator[str | None]:
    yield from _type_faults(form, "", "Format")
    if not re.fullmatch(r"[a-z0-9]+(?:[-._][a-z0-9]+)*", form.name):
        allowed = "lower-case letters and digits, joined by '-', '.' or '_'"
        yield f"name is {form.name!r:.60}; a name is {allowed}"
    if form.whole or form.by_tool:
        yield from _unmarked_faults(form)
    else:
        yield from _envelope_faults(form, form.envelope) if form.envelope else ()
        # If the name is in the message's header, the block has only the arguments.
        is_addressed = form.addressed and not form.python
        yield _order_fault(form.words, "addressed" if is_addressed else "block")
        yield from _frame_faults(form)
        yield from _mark_faults(form)
    for word in words.flat(form.words):
        yield from _word_faults(word)
    yield from _beside_faults(form)
    yield _unread_fault(form)


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
    "Turns": (Turns, "one of tunaeval.grammar.turns.FAMILIES"),
}
"""The types of each field annotation, and an example of a value, in which {0} and {1} are texts."""

_ANY_LENGTH = re.compile(r"(?:name|summary|(?:models|aliases)\[.*)|.*\.(?:pattern|after|header)")
"""The places of strings without a length limit: descriptions, and patterns (bounded elsewhere)."""


def _type_faults(value: Any, place: str, kind: str) -> Iterator[str]:
    """Yield a message for each value, at `place` or inside, whose type is not `kind`.

    `kind` is an annotation as text, as in "tuple[str, ...]"; `place` is a path, as in "words[0]".
    """
    kind = "" if kind.endswith(" | None") and value is None else kind.removesuffix(" | None")
    if kind.startswith("tuple["):
        inner, _, last = kind[6:-1].rpartition(", ")
        if not isinstance(value, tuple) or (last != "..." and len(value) != 2):
            yield f"{place} is {value!r:.60}; write a tuple: {_example(value, kind)}"
            return
        for at, one in enumerate(value):
            yield from _type_faults(one, f"{place}[{at}]", inner)
    elif kind in _CHOICES and value not in _CHOICES[kind]:
        known = ", ".join(map(repr, _CHOICES[kind]))
        yield f"{place} is {value!r:.60}; it is one of {known}"
    elif kind == "Format" and not isinstance(value, Format | str):
        yield f"{place} is {value!r:.60}, and no Format; of a Reader, give those in its `formats`"
    elif kind in _KINDS and not isinstance(value, _KINDS[kind][0]):
        yield f"{place} is {value!r:.60}; write {_example(value, kind)}"
    elif kind == "str" and len(value) > MAX_FIXED and not _ANY_LENGTH.fullmatch(place):
        found = f"{place} has {len(value)} characters"
        yield f"{found}; a fixed text has {MAX_FIXED} at the most, and several may be side by side"
    elif not place or (kind in _KINDS and kind not in ("str", "bool", "Format", "Turns")):
        for field in fields(value):
            yield from _type_faults(
                getattr(value, field.name), f"{place}.{field.name}".lstrip("."), str(field.type)
            )


def _example(value: object, kind: str) -> str:
    """Return an example, as Python code, of a value of the annotation `kind`.

    If `value` is a string, the example contains it, as the author probably meant that.
    """
    text = value if isinstance(value, str) else "hermes" if "Format" in kind else "<call>"
    signs = text[: len(text) - len(text.lstrip("<[{(|"))]
    closer = f"{signs}/{text[len(signs) :]}" if signs else text
    if not kind.startswith("tuple["):
        return _KINDS[kind][1].format(f"{text!r:.60}", f"{closer!r:.60}")
    inner, _, last = kind[6:-1].rpartition(", ")
    second = "" if last == "..." else f" {_example(closer, last)}"
    return f"({_example(text, inner)},{second})"


_NAMES = {
    "L": "fixed text", "S": "white space", "M": "⟨skip⟩", "C": "⟨call⟩", "P": "⟨calls⟩",
    "N": "⟨name⟩", "A": "⟨arguments⟩", "K": "⟨key⟩", "T": "⟨type⟩", "V": "⟨value⟩", "?": "⟨maybe⟩",
    "*": "⟨each⟩", "E": "⟨elements⟩", "O": "⟨arguments optional⟩",
}  # fmt: skip
"""Each word as it is in patterns, by the character that stands for it in `_ORDER`."""

_CODES = dict(zip(get_args(Word), _NAMES, strict=False))

_ORDER = {
    "block": r"(?:[CP]|LS*PS*L?|L[LSM]*C[LS]*|L[LSM?]*N[LSM?O]*[AE*][LSM?]*)(?<=[LCPA])",
    "addressed": r"L[LSM?O]*[AE*][LSM?]*(?<=[LA*])",
    "each": r"L[LSM?]*K[LSM?]+(?:T[LSM?]+)*VL[LSM?]*",
    "maybe": r"L[LSM?AO]*",
    "maybe in each": r"L[LSM?T]*",
}
"""Regular expressions of the sequences of words that can be read, by where they are."""

_ENDS = ("", "L", "A", "C", "NA", "LC", "LA", "VL", "LVL", "KLVL", "LKLVL")
"""Completions: one of them completes the beginning of every valid sequence of words."""


def _order_fault(row: Sequence[Word], kind: str) -> str | None:
    """Return which word of `row` is in a place where it cannot be read; None if all can be read."""
    for word in row:
        if isinstance(word, Many | Maybe):
            inside = "maybe in each" if kind in ("each", "maybe in each") else "maybe"
            inside = "each" if isinstance(word, Many) else inside
            if fault := _order_fault(word.words, inside):
                return fault
    codes = "".join(map(_code, row))
    matches = re.compile(_ORDER[kind]).fullmatch

    def begins(codes: str) -> bool:
        return any(matches(codes + rest) for rest in _ENDS)

    for at, word in enumerate(row):
        if not begins(codes[: at + 1]):
            known = " or ".join(name for code, name in _NAMES.items() if begins(codes[:at] + code))
            where = "" if kind in ("block", "addressed") else f"in ⟨{kind.partition(' ')[0]}⟩, "
            place = f"follows {shown(row[at - 1])}" if at else "comes first"
            why = ", which shows where an argument begins" if kind == "each" and not at else ""
            why += _cure(row, codes, at, begins)
            return f"{where}{shown(word)} {place}, where {known or 'nothing'} may be{why}"
    return None if matches(codes) else _lack(codes, kind)


def _cure(row: Sequence[Word], codes: str, at: int, begins: Callable[[str], bool]) -> str:
    """Return advice on the word at `at`, found by trying what would be valid up to there."""
    before, code, rest = codes[:at], codes[at], codes[at:]
    if code in "KTV" and "N" in before:
        return "; put ⟨each⟩ and ⟨/each⟩ around what repeats for each argument"
    if code == "S" and begins(f"{before}L") and not begins("C"):
        return r"; white space that has to be there is fixed text, as in ⟨=\n⟩"
    for other, old in enumerate(before):
        if not {old, code} & {*"LSM?"} and begins(before[:other] + codes[other + 1 : at + 1]):
            return f"; {shown(row[other])} is there already, so leave one of them out"
    for new, to in product((*_NAMES, *(f"{one}L" for one in _NAMES)), range(at, -1, -1)):
        if begins(before[:to] + new + codes[to : at + 1]):
            here, needed = shown(row[to]), " and ".join(_NAMES[one] for one in new)
            if new != "L" and new[0] in rest:
                return f"; {_NAMES[new[0]]} has to be before {here}; another order needs a Parser"
            other_way = "" if new == "L" else ", or, if the model writes none, write a Parser"
            return f"; put {needed} before {here}{other_way}"
    return ""


def _lack(codes: str, kind: str) -> str:
    """Return what a row of words still needs at its end; `codes` has a letter for each word."""
    if kind == "each" and "V" in codes:
        return "nothing is behind ⟨value⟩, so it never knows where it ends; put fixed text there"
    if kind == "each":
        return "⟨each⟩ is once for each argument, so ⟨key⟩ and ⟨value⟩ are in it, once"
    if kind not in ("block", "addressed"):
        return "⟨maybe⟩ has nothing in it"
    if not codes or (kind == "block" and not re.search("[CPN]", codes)):
        needed = "in these brackets (U+27E8) it needs ⟨call⟩, ⟨calls⟩, or ⟨name⟩ and arguments"
        return f"nothing in it says which tool is called; {needed}"
    if not re.search("[CPAE*]", codes):
        return "it has a name and no arguments; give it ⟨arguments⟩, ⟨each⟩ or ⟨elements⟩"
    return f"it ends with {_NAMES[codes[-1]]}, so a block never knows where; put fixed text there"


def _code(word: Word) -> str:
    return "O" if isinstance(word, Arguments) and word.optional else _CODES[type(word)]


def shown(word: object) -> str:
    """Return a word as an author writes it in a pattern, for messages."""
    if isinstance(word, Literal):
        return repr(word.text)
    return _NAMES[_CODES[type(word)]] if type(word) in _CODES else repr(word)


_CLASS = r"(?:\\.|\[\^?(?:\\.|[^\]\\])*\]|[^\\\[\](){}?*+|^$])"
_ROW = re.compile(rf"(?:{_CLASS}(?:\{{[01](?:,\d+)?\}}|\?)?)?(?:{_CLASS}(?:\{{0,\d+\}}|\?))*")
"""Patterns a stream can pause in: one character or class, then others that may be missing."""


def _bound_fault(pattern: str) -> str | None:
    """Return why a pattern is invalid or its matches have no maximum length; None if it is fine."""
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
            form = "one character or class, and others with ? or {0,24}: '[a-z][a-z0-9]{0,24}'"
            yield f"a text that arrives may end inside of the pattern {pattern!r}; write {form}"
    match word:
        case Literal() if not all(word.spellings):
            yield "fixed text is empty, so it is found everywhere"
        case words.Space() if word.text.strip():
            yield f"white space is read there, and {word.text!r} has more; write it as fixed text"
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
    """Return up to two characters that each match a pattern, common ones first."""
    matches = re.compile(pattern).fullmatch
    usual = (*"aA0_-.é中", *map(chr, range(33, 127)), *map(chr, range(128, 0x250)))
    return [*islice(filter(matches, usual), 2)]


def _is_usual(text: str, *, opens_calls: bool = False) -> bool:
    """Whether a text is too common in prose to be a marker.

    Too common are white space, one character, and two of which one is a letter, digit or `_`. What
    follows the opener of a call decides, too, so that it may be two characters, or one of `[{<|`.
    """
    text = text.strip(_UNSEEN)
    if opens_calls and (text in _FIRST_OF_CALLS or len(text) > 1):
        return False
    return not text or bool(re.fullmatch(r"[!-~\w]|\w.|.\w", text, re.DOTALL))


_UNSEEN = " \t\n\v\f\r\xa0\xad\u200b\u200c\u200d\u2060\u3000\ufeff"
_FIRST_OF_CALLS = frozenset("[{<|")


def _is_known_shape(form: Format) -> bool:
    """Whether a format's words are a sequence that its option, `whole` or `by_tool`, supports."""
    match form.words:
        case (CallObject(inside=(_, *_), listed=True),) | (PythonCalls(loose=True),):
            return form.whole
        case (Name(), Literal(), Arguments(mark="", optional=False)):
            return form.whole
        case (
            Literal("<", ()), Name(), Literal(">", ()), words.Space(), Arguments(optional=True),
            words.Elements(""), words.Space(), Literal("</", ()), Name(), Literal(">", ()),
        ) | (
            Literal("<", ()), Name(), Literal(">", ()), words.Space(), Many(),
            Literal("</", ()), Name(), Literal(">", ()),
        ):  # fmt: skip
            return not form.whole
    return False


def _unmarked_faults(form: Format) -> Iterator[str]:
    if not _is_known_shape(form):
        rows = "⟨[call] inside=...⟩, ⟨calls loose⟩, or ⟨name⟩, a fixed text and ⟨arguments⟩"
        element = r"<⟨name⟩>\n⟨arguments optional⟩⟨elements⟩\n</⟨name⟩>"
        yield f"whole=True is for {rows}" if form.whole else f"by_tool=True is for {element}"
    beside = form.envelope or form.around or form.dropped or form.prompted
    if beside or form.marked is form.whole:
        yield "whole wants marked=False, by_tool marked=True, and both nothing around the calls"


def _frame_faults(form: Format) -> Iterator[str]:
    call = form.call or form.python
    if not form.opener and not (call and call.opens):
        first, whole = shown(form.words[0]), "if it is all of a reply, whole=True and marked=False"
        yield f"it begins with {first}, which needs `opens` to be found; or, {whole}"
    if not form.opener and form.marked:
        yield "nothing announces a call without fixed text before it; write marked=False"
    if form.opener and call and call.opens:
        yield "`opens` is for a call without fixed text"
    for text in (*words.spellings(form.opener), *words.spellings(form.closer)):
        if not text.strip(_UNSEEN):
            yield f"{text!r} is found everywhere; leave it out, or add a character"
    for text in words.spellings(form.opener):
        if text.strip(_UNSEEN) and _is_usual(text, opens_calls=True):
            yield f"{text!r} opens a call, and is in any sentence; use a longer text"
    if form.prompted and (not form.opener or form.envelope):
        yield "prompted=True wants fixed text first, which the prompt then ends with"


def _mark_faults(form: Format) -> Iterator[str]:
    texts = [*words.literal_texts(form.words)]
    keys = (form.call.name, form.call.arguments) if form.call else ()
    if keys and len({key for key in keys if key and not re.search(r"[\"',\\]", key)}) < len(keys):
        yield f"⟨call⟩ has the keys {keys}; write two different ones, without quotes or commas"
    for mark in [word.mark for word in words.flat(form.words) if isinstance(word, Arguments)]:
        repeats = any(mark.startswith(mark[at:]) for at in range(1, len(mark)))
        begins = any(mark.startswith(text) or text.startswith(mark) for text in texts)
        if mark and (re.match(r"[\w\s:,={}\[\]\"'+.-]", mark) or repeats or begins):
            yield f"the mark {mark!r} may be in a value, a text or another mark; use other signs"


def _beside_faults(form: Format) -> Iterator[str]:
    calls = [*words.literal_texts(form.words)]
    around = [*filter(None, words.literal_texts(form.around or ()))]
    for name, text in {"separator": form.separator, "inner": form.inner or ""}.items():
        if text.strip():
            yield f"the {name} {text!r} would be content; write white space, or nothing"
    for markers in form.reasoning:
        if markers.open == markers.close or "" in (markers.open, markers.close):
            yield f"{markers!r} cannot be distinguished; give two different texts"
        if markers.close in calls:
            yield f"{markers!r} close the calls too"
    for place, texts, others in (
        ("around", around, (*words.spellings(form.opener), *words.spellings(form.closer))),
        ("dropped", form.dropped, (*calls, *around)),
        ("reasoning", [markers.open for markers in form.reasoning], calls),
    ):
        for text in texts:
            if _is_usual(text):
                yield f"`{place}` has {text!r}, found everywhere; it needs three characters"
            if text in others:
                yield f"`{place}` has {text!r}, which is fixed text of the calls; leave it out"


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
        header, text = envelope.call.header, "text='to={name}'"
        yield f"the header {header!r} cannot be written: its Route has no `text`, as in {text}"
    if form.addressed and words.spellings(form.opener)[:1] != (envelope.call.body,):
        yield f"the name is in the header, so the first word has to be {envelope.call.body!r}"


def _unread_fault(form: Format) -> str | None:
    """Return how calls written in the format are misread; None if all are read back unchanged.

    Each spelling is tried, and each `Maybe` with and without its words.
    """
    alone = replace(form, also=(), reasoning=(), checked=False)
    patterns = {type(word): getattr(word, "pattern", "") for word in words.flat(form.words)}
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
                    advice = "begin each word with something that the word before it cannot read"
                    advice = next(_swallowing(words.flat(row)), advice)
                    why = f"{written!r:.200} is read as {why}; {advice}"
                    return f"what it writes is not what it reads: {why}"
    return None


def _variants(row: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    """Yield each variant of a row of words: one other spelling, or one `Maybe` in or out."""
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


def _swallowing(row: Iterable[Word]) -> Iterator[str]:
    """Yield which word's pattern matches the next word's beginning, with advice."""
    for word, after in pairwise(row):
        pattern = r"\s*" if isinstance(word, words.Space) else getattr(word, "pattern", None)
        text = getattr(after, "text", "")
        if isinstance(word, words.Elements) and not (word.prefix and text.startswith(word.prefix)):
            found = "⟨elements⟩ needs a prefix before each tag, with which the next text begins"
            yield f"{found}, as in ⟨elements prefix=!⟩!</do>; without a prefix write a Parser"
        starts = ("", *_fitting(pattern)[:1]) if pattern and isinstance(text, str) and text else ()
        if any(re.fullmatch(pattern or "", start + text[0]) for start in starts):
            found = f"{shown(word)} with the pattern {pattern!r} would swallow the beginning of"
            yield f"{found} {text!r}; leave its first character out of the pattern"
