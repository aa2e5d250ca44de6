"""Why a format could never be written, read or streamed: what is checked when one is built.

First the types of its fields, then the order of its words, by a table of wrong orders with the
advice for each; then its texts and patterns. What passes all that is written and read back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import cache
from itertools import islice
from typing import Any, TypeAlias, TypeVar, get_args

from tunaeval.limits import MAX_FIXED
from tunaeval.types import Level, ToolCall

from .format import Format
from .words import (
    ANY_SPACE,
    SPACES,
    Arguments,
    Attribute,
    CallObject,
    Channel,
    Elements,
    Envelope,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Reasoning,
    Route,
    Space,
    Trim,
    Value,
    Word,
    starts_with_space,
)

_T = TypeVar("_T")
_Write: TypeAlias = Callable[[Sequence[ToolCall], Format], str]
_Rules: TypeAlias = Sequence[tuple[Callable[[Any], object], str]]
"""What finds something wrong in a value, and the sentence about it: {0} is what was found, {1} the
value, and {2} how an author writes it."""


def fault_of(form: Format, write: _Write) -> str | None:
    """Return why a format could never be read, if so; `write` writes calls in a format."""
    return next(filter(None, _faults(form, write)), None)


def _faults(form: Format, write: _Write) -> Iterator[str | None]:
    yield _shape_fault(form, "")
    if not re.fullmatch(r"[a-z0-9]+(?:[-._][a-z0-9]+)*", form.name):
        allowed = "lower-case letters and digits, joined by '-', '.' or '_'"
        yield f"name is {form.name!r:.60}; a name is {allowed}"
    if form.whole or form.by_tool:
        yield _broken(_UNMARKED, form)
        yield _broken(_REASONING, form)
        return
    if form.envelope:
        yield _broken(_ENVELOPE, form)
    yield _order_fault(form)
    for word in _flat(form.words):
        yield _pattern_fault(word)
        yield from (_broken(rules, word) for kind, rules in _OF_WORDS if isinstance(word, kind))
    yield _broken(_FRAME, form)
    yield _broken(_REASONING, form)
    yield _broken(_BESIDE, form)
    yield _next_fault(form.words, (Space(form.separator), *(form.around or ())[1:]))
    if form.opener:
        yield _next_fault(form.words, (Space(form.separator), form.opener))
    yield _unread_fault(form, write)


def _broken(rules: _Rules, value: object) -> str | None:
    """Return the sentence of the first rule that finds something."""
    for find, sentence in rules:
        if (found := find(value)) is not None and found is not False:
            return sentence.format(found, value, shown(value))
    return None


def _one(found: Iterable[_T]) -> _T | None:
    return next(iter(found), None)


_ANY_WORD = get_args(Word)
_CHOICES = {"Trim": get_args(Trim), "Channel": get_args(Channel)}
_KINDS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "str": (str, "a text"),
    "bool": (bool, "True or False"),
    "Word": (_ANY_WORD, "a word of the grammar, as Literal('<call>') is"),
    "Literal": (Literal, "a Literal: Literal('<call>')"),
    "Reasoning": (Reasoning, "markers: Reasoning('<think>', '</think>')"),
    "Route": (Route, "a Route: Route('call', 'HEADER', 'BODY')"),
    "Envelope": (Envelope, "an Envelope: what opens a message, its routes, and what closes it"),
    "Format": (Format, "a Format: tunaeval.formats.get('hermes')"),
}
_TUPLES = {
    "str, ...": "({0},)",
    "str, str": "({0}, {0})",
    "tuple[str, ...], ...": "(({0},),)",
    "Word, ...": "(Literal({0}), ...)",
    "Literal, Literal": "(Literal({0}), Literal({1}))",
    "Reasoning, ...": "(Reasoning({0}, {1}),)",
    "Format, ...": "(tunaeval.formats.get({0}),)",
    "Route, ...": "(Route('call', 'HEADER', 'BODY'),)",
}
"""What to write instead of a text where a tuple is wanted, by what is in the tuple."""

_ANY_LENGTH = re.compile(r"(?:name|summary|(?:models|aliases)\[.*)|.*\.(?:pattern|after|header)")
"""Texts about a format, and patterns, which have a bound of their own."""


def _shape_fault(item: Any, where: str) -> str | None:
    """Return which field of a format, or of a value in it, has a wrong type, if so."""
    for field in fields(item):
        place = f"{where}.{field.name}" if where else field.name
        if fault := _type_fault(getattr(item, field.name), place, str(field.type)):
            return fault
    return None


def _type_fault(value: object, place: str, kind: str) -> str | None:
    """Return why the value is not what an annotation says, if so."""
    if kind.endswith(" | None"):
        return None if value is None else _type_fault(value, place, kind.removesuffix(" | None"))
    if kind.startswith("tuple["):
        return _tuple_fault(value, place, kind[6:-1])
    if kind in _CHOICES:
        known = ", ".join(map(repr, _CHOICES[kind]))
        found = f"{place} is {value!r:.60}; it is one of {known}"
        return None if value in _CHOICES[kind] else found
    types, what = _KINDS[kind]
    if isinstance(value, types):
        if isinstance(value, str) and len(value) > MAX_FIXED and not _ANY_LENGTH.fullmatch(place):
            side = "; write several Literals side by side" if place.startswith("words") else ""
            found = f"{place} has {len(value)} characters"
            return f"{found}; a fixed text has {MAX_FIXED} at the most{side}"
        return None if kind in ("str", "bool", "Format") else _shape_fault(value, place)
    if kind in ("Word", "Literal") and isinstance(value, str):
        return f"{place} is the text {value!r:.60}; write Literal({value!r:.60})"
    if kind == "Word" and isinstance(value, type) and value in _ANY_WORD:
        return f"{place} is the class {value.__name__}; write {value.__name__}(...)"
    return f"{place} is {value!r:.60}, and has to be {what}"


def _tuple_fault(value: object, place: str, inner: str) -> str | None:
    if isinstance(value, str):
        several = inner.endswith("...")
        signs = value[: len(value) - len(value.lstrip("<[{(|"))]
        closer = f"{signs}/{value[len(signs) :]}"
        advice = _TUPLES[inner].format(f"{value!r:.60}", f"{closer!r:.60}")
        advice = advice if value or not several else "()"
        return f"{place} is the text {value!r:.60}; write a tuple: {advice}"
    if not isinstance(value, tuple):
        kind = type(value).__name__
        return f"{place} is of the type {kind}, and has to be a tuple: write (..., ...)"
    kind, _, last = inner.rpartition(", ")
    if last != "..." and len(value) != 2:
        return f"{place} is {value!r:.60}, and has to be two: an opener and a closer"
    faults = (_type_fault(one, f"{place}[{at}]", kind) for at, one in enumerate(value))
    return next(filter(None, faults), None)


_CODES: dict[type, str] = {
    Literal: "L", Space: "S", Markup: "M", CallObject: "C", PythonCalls: "P", Name: "N",
    Arguments: "A", Key: "K", Value: "V", Attribute: "T", Elements: "E",
}  # fmt: skip
"""Words as characters: small ones inside of `Maybe`, which is `(...)`; `Many` is `{...}`. Arguments
that are not written are an O, or an o; a `Many` in a `Maybe` is a z."""

_ORDERS = (
    (r"[KVTkvt](?![^{]*\})",
     "{0} is outside of Many(), which describes the words of one argument"),
    (r"\(\)|\{\}", "{0} has no words: leave it out, or put some in"),
    (r"[({][^lL]",
     "{0} begins with {1}, so nothing shows whether it is there; begin it with a Literal"),
    (r"\{[^}]*[CPNAOEcpnaoez{]", "{1} is inside of Many(), which describes one argument"),
    (r"[cpnekvz]",
     ("{0} is inside of Maybe(), so it could be missing; put it outside, and only the fixed text "
      "around it into Maybe()")),
    (r"V\}",
     "nothing follows Value(), so a value never knows where it ends; put a Literal behind it"),
    (r"V[^L]",
     ("{1} follows Value(), so a value never knows where it ends; put a Literal behind it, and "
      "leave out white space that the value trims")),
    (r"[KTt]\)*[VTt]", "{1} follows {0}, and both are bare text; put a Literal between them"),
    (r"\{[^K}]*\}|\{[^V}]*\}|K[^}]*K|V[^}]*V",
     ("Many() has {keys} Key() and {values} Value(); it describes the words of one argument, so it "
      "needs one of each")),
    (r"V[^}]*[KTt]|\{[^K}]*[Tt]",
     "Many() has them in another order than Key(), perhaps an Attribute, Value()"),
    (r"^[^CPN]*$",
     ("nothing in it says which tool is called; it needs CallObject(), PythonCalls(), or Name() "
      "and arguments")),
    (r"[CPN].*[CPN]", "it has {callers}; a block needs one of them, and only one"),
    (r"^[CP].", "{1} follows a bare {0}, which ends by itself"),
    (r"^[^LCP]", "{0} comes first, so the format would begin everywhere; use a Literal"),
    (r"[^LCPAO]$", "it ends with {0}, so a block never knows where it ends; use a Literal"),
    (r"[^LSMC].*C",
     ("{0} is before CallObject(); only Literal, Space and Markup may. What may be missing is "
      "another spelling of the Literal before it: Literal('<call>', also=('<call>json',))")),
    (r"C[LS]*[^LS]",
     ("{1} is behind CallObject(); only Literal and Space may. What may be missing is another "
      "spelling of the closer: Literal('</call>', also=(...))")),
    (r"(?<=.)[^SP].*P", "{0} is between the markers and PythonCalls(); only Space() may"),
    (r"PS*([^SL]|L(?=.))", "{1} is between the markers and PythonCalls(); only Space() may"),
    (r"^[^CP{EA]*$",
     ("it has a name and no arguments; give it Arguments(), Many() or Elements(), outside of "
      "Maybe() and not optional")),
    (r"[{EAa].*?[{EAa]",
     ("it has {0} and {1}, so the arguments would be written twice; keep one, or make "
      "Arguments(optional=True) of what is only read")),
    (r"[{EA].*N",
     "{0} is before Name(), and the tool says what types its arguments have; put Name() first"),
)  # fmt: skip
"""Wrong orders, and what to do: {0} is the word where the order begins, {1} where it ends."""


def _order_fault(form: Format) -> str | None:
    """Return why the words could not be read in their order, if so."""
    codes, words = _encoded(form.words)
    if form.addressed and not form.python:  # which has the name in the header
        codes = f"{codes[:1]}N{codes[1:]}"
        words.insert(1, "the name in the header")
        if codes.endswith("}"):  # the end of the message closes it
            codes, words = f"{codes}L", [*words, form.words[0]]
    for wrong, advice in _ORDERS:
        if found := re.search(wrong, codes):
            ends = (words[found.start()], words[found.end() - 1]) if words else ()
            callers = (word for code, word in zip(codes, words, strict=True) if code in "CPN")
            return advice.format(
                *map(shown, ends),
                callers=", ".join(map(shown, callers)),
                keys=codes.count("K"),
                values=codes.count("V"),
            )
    return None


def _encoded(words: Sequence[Word], maybe: Maybe | None = None) -> tuple[str, list[object]]:
    """Return a character for each word, and the word of each character."""
    codes, found = "", list[object]()
    for word in words:
        if isinstance(word, Maybe | Many) and not (maybe and isinstance(word, Many)):
            inner, row = _encoded(word.words, word if isinstance(word, Maybe) else None)
            codes += f"({inner})" if isinstance(word, Maybe) else f"{{{inner}}}"
            found += [word, *row, word]
            continue
        code = _CODES.get(type(word), "Z")
        if isinstance(word, Arguments) and (word.optional or (maybe and not maybe.written)):
            code = "O"
        codes += code.lower() if maybe else code
        found.append(word)
    return codes, found


def shown(word: object) -> str:
    """Return a word as an author recognises it."""
    if isinstance(word, str):
        return word
    text = next((getattr(word, name) for name in ("text", "pattern") if hasattr(word, name)), "")
    name = type(word).__name__
    if isinstance(word, Many | Maybe | CallObject | PythonCalls | Attribute):
        return f"{name}(...)" if isinstance(word, Many | Maybe) else f"{name}()"
    return f"{name}({text!r})" if text else f"{name}()"


def _flat(words: Sequence[Word]) -> Iterator[Word]:
    """Yield all words, those inside of `Maybe` and `Many` too."""
    for word in words:
        if isinstance(word, Maybe | Many):
            yield word
            yield from _flat(word.words)
        else:
            yield word


def _texts(words: Sequence[Word]) -> list[str]:
    return [text for word in _flat(words) if isinstance(word, Literal) for text in word.spellings]


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


def _spaced_value(many: Many) -> str | None:
    """Return a word beside a value that has the white space which the value trims."""
    for before, value, after in zip(many.words, many.words[1:], many.words[2:], strict=False):
        if isinstance(value, Value) and value.trim != "no" and isinstance(after, Literal):
            if value.trim == "newlines" and isinstance(before, Space):
                return shown(before)
            if any(text.isspace() for text in after.spellings):
                return shown(after)
    return None


def _odd_key(call: CallObject) -> str | None:
    plain = r"\w+" if call.bare_keys else r'[^"\\\n]+'
    return _one(key for key in (call.name, call.arguments) if not re.fullmatch(plain, key))


_NO_CHARACTER = "{2} matches no name of one character; let its pattern begin with one"
_LETTERS = re.compile("[A-Za-z]{1,16}")
_OF_WORDS: tuple[tuple[type, _Rules], ...] = (
    (Literal, [
        (lambda word: not all(word.spellings),
         "a Literal is empty, so it would be found everywhere")]),
    (Space, [(lambda word: bool(word.text.strip()), "{1!r} writes more than white space")]),
    (Markup, [
        (lambda word: not re.fullmatch(word.pattern, word.text),
         "Markup({1.pattern!r}) does not read what it writes: {1.text!r}")]),
    (Name, [
        (lambda word: not _fitting(word.pattern), _NO_CHARACTER),
        (lambda word: not re.fullmatch(word.after, word.after_text),
         "Name() has `after` {1.after!r}, which does not read {1.after_text!r}")]),
    (Key, [(lambda word: not _fitting(word.pattern), _NO_CHARACTER)]),
    (Many, [
        (_spaced_value, ("{0} has white space of its own around Value(), which trims it; leave it "
         "out, or put a Literal with a letter or a sign there"))]),
    (Attribute, [
        (lambda word: not (word.text and word.json),
         "{1!r} needs words for both, texts and JSON"),
        (lambda word: _one(t for t in (*word.text, *word.json) if not _LETTERS.fullmatch(t)),
         "Attribute() has {0!r}; up to 16 letters from A to Z are read there"),
        (lambda word: _one({*word.text} & {*word.json}),
         "Attribute() has {0!r} for texts and for JSON")]),
    (CallObject, [
        (lambda call: _one(row for row in call.opens if not _opens_object(row)),
         "`opens` has the row {0!r}; a call begins with '{{' or '['"),
        (_odd_key, "the key {0!r} cannot be written as it is"),
        (lambda call: call.name == call.arguments,
         "the name and the arguments have one key, {1.name!r}"),
        (lambda call: call.listed and (not call.array or bool(call.joined)),
         "CallObject(listed=True) writes a list, so it needs array=True, and no `joined`"),
        (lambda call: call.joined.strip() not in ("", ",", ";"),
         "`joined` is {1.joined!r}; between calls ',', ';' and white space are passed over"),
        (lambda call: bool(call.joined and call.opens),
         "`joined` is for calls between markers; a bare object ends by itself")]),
    (PythonCalls, [
        (lambda calls: _one(row for row in calls.opens if row[:1] != ("[",)),
         "`opens` has the row {0!r}; a list of calls begins with '['")]),
    (Elements, [
        (lambda word: not word.prefix,
         "Elements() has an empty prefix, so a tag is no more than a text")]),
)  # fmt: skip


def _opens_object(row: tuple[str, ...]) -> bool:
    text = "".join(part for part in row if part != ANY_SPACE)
    return row[:1] != (ANY_SPACE,) and text.startswith(("{", "["))


def _opener(form: Format) -> tuple[str, ...]:
    return form.opener.spellings if form.words and form.opener else ()


def _closer(form: Format) -> tuple[str, ...]:
    return form.closer.spellings if form.closer else ()


def _closing(form: Format) -> list[str]:
    """Return all fixed texts behind a call object."""
    return _texts(form.words[form.words.index(form.call) :]) if form.call else []


def _opens(form: Format) -> bool:
    call = form.call or form.python
    return call is not None and bool(call.opens)


def _around(form: Format) -> list[str]:
    return [text for text in _texts(form.around or ()) if text]


def _is_usual(text: str) -> bool:
    """Whether any prose has the text: white space, a sign or a letter, or two with a letter."""
    return not text.strip() or bool(re.fullmatch(r"[!-~\w]|\w.|.\w", text.strip(), re.DOTALL))


def _needless_closer(form: Format) -> str | None:
    """Return a closer that is white space, where the call ends without one."""
    before = [word for word in form.words[1:-1] if not isinstance(word, Space)][-1:]
    ends = any(isinstance(word, CallObject | Arguments | PythonCalls | Literal) for word in before)
    on_lines = form.python is not None and not form.python.listed
    return _one(t for t in _closer(form) if ends and not on_lines and not t.strip())


def _odd_mark(form: Format) -> str | None:
    """Return a mark around texts that could not be distinguished from what is around it."""
    texts = _texts(form.words)
    return _one(
        mark
        for mark in (word.mark for word in _flat(form.words) if isinstance(word, Arguments))
        if mark
        if re.match(r"[\w\s:,={}\[\]\"'+.-]", mark)
        or any(mark.startswith(mark[at:]) for at in range(1, len(mark)))
        or any(mark.startswith(text) or text.startswith(mark) for text in texts)
    )


def _is_element(form: Format) -> bool:
    """Whether a format with `by_tool` has the one row of words that is read by the tool's name."""
    rows = _encoded(form.words)[0] == "LNLSOESLNL" and _texts(form.words) == ["<", ">", "</", ">"]
    return rows and form.marked and not (form.words[5].prefix or _has_more(form))  # type: ignore[union-attr]  # the word is Elements


def _is_whole(form: Format) -> bool:
    match form.words:
        case (CallObject(inside=(_, *_)),) | (PythonCalls(loose=True),):
            return True
        case (Name(), Literal(), Arguments(mark="", optional=False)):
            return True
    return False


def _has_more(form: Format) -> bool:
    return bool(form.envelope or form.around or form.dropped or form.prompted)


_UNMARKED: _Rules = (
    (lambda form: form.whole and not _is_whole(form),
     ("whole is True, which is for one of CallObject(inside=...), PythonCalls(loose=True), and "
     "Name() with a Literal and Arguments() behind it")),
    (lambda form: form.whole and (form.marked or _has_more(form)),
     "whole is True, which goes with marked=False and with nothing around the calls"),
    (lambda form: form.by_tool and not form.whole and not _is_element(form),
     ("by_tool is True, which is for `<`, Name(), `>`, Space(), Arguments(optional=True), "
     "Elements(''), Space(), `</`, Name() and `>`, marked and with nothing around the calls")),
)  # fmt: skip
_FRAME: _Rules = (
    (lambda form: None if form.opener or _opens(form) else shown(form.words[0]),
     ("it begins with {0}, which then has to say what it `opens` with; a format that is all of a "
      "reply is written with whole=True and marked=False")),
    (lambda form: not form.opener and form.marked,
     "nothing announces a call without a Literal before it; write marked=False"),
    (lambda form: bool(form.opener) and _opens(form),
     "`opens` is for a CallObject() without an opening Literal"),
    (_needless_closer,
     ("{0!r} closes a call, and is found everywhere; leave it out, and the Space() before it, for "
      "the call ends without it")),
    (lambda form: _one(t for t in (*_opener(form), *_closer(form)) if not t.strip()),
     "{0!r} opens or closes a call, and is found everywhere; add a character"),
    (lambda form: _one(t for t in _opener(form) if re.fullmatch(_IN_WORDS, t.strip())),
     "{0!r} opens a call, and is in any sentence; use a longer text"),
    (lambda form: _one(t for t in _opener(form) if t in _closer(form)
                       if len(t) < 3 or form.opener.text != form.closer.text),
     "{0!r} both opens and closes"),
    (lambda form: _one(t for t in _closing(form) if t.startswith(SPACES)),
     ("white space behind CallObject() is passed over, so {0!r} is never read; put Space() before "
      "it, and begin it behind the white space")),
    (lambda form: form.prompted and bool(not form.opener or form.envelope),
     "a prompt cannot end with an opener that is none; prompted=True wants a Literal first"),
    (lambda form: _one(text for gap, text in _behind(form.words[1:]) if form.prompted
                       if (gap + text).startswith(_opener(form))),
     ("behind the opener comes the same text, {0!r}, so nothing says whether a prompt ended with "
     "it; begin the two differently, or leave prompted=True out")),
    (_odd_mark, ("the mark {0!r} could be part of a value, of a Literal, or of another mark beside "
     "it; use other signs")),
    (lambda form: form.python and bool(form.opener) and not (form.python.listed or form.closer),
     "calls that are on lines never end; use a Literal"),
    (lambda form: _one(t for t in _closer(form) if form.python
                       if re.match(r"[\w(.=*+\[\]{},\"'-]", t)),
     "the closer {0!r} could be part of the calls before it"),
)  # fmt: skip
_IN_WORDS = r"[\w.,;:!?'\"()/-]"
_REASONING: _Rules = (
    (lambda form: _one(m for m in form.reasoning if m.open == m.close or "" in (m.open, m.close)),
     "{0!r} cannot be distinguished; give two different texts"),
    (lambda form: _one(m for m in form.reasoning if _is_usual(m.open)),
     "{0!r} begin everywhere; what opens needs three characters"),
    (lambda form: _one(m for m in form.reasoning if {m.open, m.close} & {*_texts(form.words)}),
     "{0!r} are markers of the calls too"),
)  # fmt: skip
_BESIDE: _Rules = (
    (lambda form: bool(form.separator.strip()),
     "the separator {1.separator!r} would be content; it may be white space, or nothing"),
    (lambda form: _one(t for t in _around(form) if t in (*_opener(form), *_closer(form))),
     "{0!r} is around one call and around all of them"),
    (lambda form: _one(filter(_is_usual, _around(form))),
     "`around` has {0!r}, which is found everywhere; it needs three characters"),
    (lambda form: _one(filter(_is_usual, form.dropped)),
     "`dropped` has {0!r}, which is found everywhere; leave it out"),
    (lambda form: _one(t for t in form.dropped if t in (*_texts(form.words), *_around(form))),
     "`dropped` has {0!r}, which is a Literal of the calls; leave it out"),
)  # fmt: skip


def _written_header(form: Format) -> str:
    return form.envelope.call.text.replace("{name}", "a_tool") if form.envelope else ""


_ENVELOPE: _Rules = (
    (lambda form: all(route.channel != "call" for route in form.envelope.routes),
     "no route of its envelope leads to a call"),
    (lambda form: not all(_texts((form.envelope.opens, form.envelope.closes))),
     "a text that opens or closes a message is empty"),
    (lambda form: _one({*form.envelope.opens.spellings} & {*form.envelope.closes.spellings}),
     "{0!r} both opens and closes a message"),
    (lambda form: _one(route for route in form.envelope.routes if not route.body),
     "{0!r} has no `body`, so its header never ends"),
    (lambda form: _one(filter(None, (_bound_fault(r.header) for r in form.envelope.routes))),
     "{0}"),
    (lambda form: _one(r for r in form.envelope.routes if re.fullmatch(r.header, r.body)),
     "the header {0.header!r} would swallow {0.body!r}, which ends it"),
    (lambda form: None if form.envelope.call.text or re.fullmatch(form.envelope.call.header, "")
     else form.envelope.call,
     ("the Route with the header {0.header!r} has no `text`, which is how that header is written; "
     "add it, as in text='to={{name}}', with {{name}} where the name goes")),
    (lambda form: None if re.fullmatch(form.envelope.call.header, _written_header(form))
     else _written_header(form),
     "the header {1.envelope.call.header!r} does not read what it writes: {0!r}"),
    (lambda form: form.addressed and _opener(form)[:1] != (form.envelope.call.body,),
     "the name is in the header, so the first word has to be {1.envelope.call.body!r}"),
    (lambda form: form.addressed and "{name}" not in form.envelope.call.text,
     "the name is in the header, but {1.envelope.call.text!r} does not say where: {{name}}"),
)  # fmt: skip


_JSON = (
    "the closer {1!r} could be part of the JSON before it; begin it with another character, as "
    "in '</call>' or '[[/call]]'"
)
_NEXT = (
    ("SCP", r"[ \t\r\n]",
     ("{0} would swallow the beginning of {1!r}; it passes over white space, so begin the other "
      "without, or put Space() between them")),
    ("C", r"[{}\],\"';]", _JSON),
    ("A", r"[{}\],\"']", _JSON),
    ("O", r"[{ \t\r\n]",
     "{0} would swallow the beginning of {1!r}, for it is read first; begin the two differently"),
    ("T", "[A-Za-z]",
     "{0} would swallow the beginning of {1!r}; put a Literal that begins with no letter between"),
)  # fmt: skip
"""The codes of words, what may not follow them, and the sentence about it."""


def _next_fault(words: Sequence[Word], after: Sequence[Word]) -> str | None:
    """Return which word would read the beginning of what follows it, in a block or behind it."""
    for at, word in enumerate(words):
        rest = (*words[at + 1 :], *after)
        if isinstance(word, Elements) and (fault := _elements_fault(word, rest[0])):
            return fault
        if isinstance(word, Maybe | Many):
            inside = (word, *rest) if isinstance(word, Many) else rest
            if fault := _next_fault(word.words, inside) or _missing_fault(word, rest):
                return fault
        for gap, text in _behind(rest):
            for codes, begins, sentence in _NEXT:
                if _encoded((word,))[0] in codes and re.match(begins, text):
                    return sentence.format(shown(word), text)
            if isinstance(word, Name | Key | Markup) and _takes(word, gap + text):
                return (
                    f"{shown(word)} would swallow the beginning of {text!r}; leave its first "
                    "character out of the pattern, or put another Literal between them"
                )
    return None


def _missing_fault(word: Maybe | Many, rest: Sequence[Word]) -> str | None:
    """Return why nothing would show whether words that may be missing are there, if so."""
    own, spaced = (*_texts(word.words[:1]),), starts_with_space(word)
    skipped = SPACES if isinstance(word, Many) and not spaced else ()
    for gap, text in _behind(rest):
        if text.startswith((*own, *skipped)) or (spaced and (gap + text).startswith(own)):
            return (
                f"{shown(word)} would swallow the beginning of {text!r}, for it is read first; "
                "begin the two differently"
            )
    pattern = _one(other for other in rest if not isinstance(other, Space))
    if not (isinstance(word, Maybe) and isinstance(pattern, Name | Key | Markup)):
        return None
    both = _one(text for text in own if _reads_on(f"(?:{pattern.pattern})?", "", text))
    return both and (
        f"{shown(word)} begins with {both!r}, and so may {shown(pattern)} behind it; leave that "
        "out of the pattern, or begin with another text"
    )


def _takes(word: Name | Key | Markup, text: str) -> bool:
    """Return whether a word would read the beginning of the text that follows it."""
    written = word.text if isinstance(word, Markup) else _fitting(word.pattern)[0]
    after, behind = (word.after, word.after_text) if isinstance(word, Name) else ("", "")
    return _reads_on(f"(?>{word.pattern})(?>{after})", written + behind, text)


def _reads_on(pattern: str, written: str, text: str) -> bool:
    found = re.match(pattern, written + text)
    return found is None or found.end() != len(written)


def _behind(words: Sequence[Word]) -> Iterator[tuple[str, str]]:
    """Yield the texts that may come first, each with the white space written before it."""
    gap = ""
    for word in words:
        if isinstance(word, Maybe | Many):
            yield from ((gap, text) for text in _texts(word.words[:1]))
        elif isinstance(word, Space):
            gap += word.text
        else:
            texts = [word.text] if isinstance(word, Markup) else _texts((word,))
            texts += "{" * isinstance(word, CallObject | Arguments)
            texts += "[" * isinstance(word, CallObject)
            yield from ((gap, text) for text in texts if text)
            if texts != [""] and not (isinstance(word, Arguments) and word.optional):
                return


def _elements_fault(word: Elements, after: Word) -> str | None:
    ends = re.compile(re.escape(word.prefix) + r"</[A-Za-z_][\w.:-]{0,126}>")
    if isinstance(after, Literal) and all(map(ends.match, after.spellings)):
        return None
    return (
        f"{shown(after)} follows {shown(word)}, which ends only at a Literal with its prefix and a "
        f"closing tag, as in Literal({word.prefix + '</call>'!r})"
    )


def _unread_fault(form: Format, write: _Write) -> str | None:
    """Return which text of the format is not read back as the calls that it is written for.

    Each spelling is written, and what may be missing is written and not.
    """
    alone = replace(form, also=(), reasoning=(), checked=False)
    flat = [word for word in _flat(form.words) if isinstance(word, Name | Key)]
    fitting = {type(word): _fitting(word.pattern) for word in flat}
    name, keys = fitting.get(Name, ["a_tool"])[0], fitting.get(Key, ["a", "b"])
    two = (ToolCall(name, {}), ToolCall(name, dict(zip(keys, ("x", 1), strict=False))))
    level: Level = "standard" if form.call and form.call.bare_keys else "strict"
    for words in (form.words, *_variants(form.words)):
        for calls in (two[:1], two[1:], two):
            text = write(calls, replace(alone, words=words, checked=False))
            found = alone.parse(text, level=level)
            read = [(call.name, call.arguments) for call in found.calls]
            lost = read != [(call.name, call.arguments) for call in calls]
            if lost or found.diagnoses or found.content.strip():
                why = found.diagnoses[0].message if found.diagnoses else f"{read!r:.200}"
                return (
                    f"what it writes is not what it reads: {text!r:.200} is read as {why}; begin "
                    "each word with something that the word before it cannot read"
                )
    return None


def _variants(words: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    """Yield rows that are read too: another spelling, or what may be missing there or not."""
    for at, word in enumerate(words):
        others: list[Word] = []
        if isinstance(word, Literal):
            others = [Literal(text) for text in word.also]
        elif isinstance(word, Many):
            others = [replace(word, words=inner) for inner in _variants(word.words)]
        elif isinstance(word, Maybe):
            others = [replace(word, words=row, written=True) for row in _variants(word.words)]
            others.append(replace(word, written=not word.written))
        yield from ((*words[:at], other, *words[at + 1 :]) for other in others)
