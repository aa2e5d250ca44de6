"""Why a row of words could never be read; asked when a format is built."""

from __future__ import annotations

import re

from .envelope import Envelope
from .patterns import pattern_fault
from .routing_faults import envelope_fault
from .words import (
    ANY_SPACE,
    Arguments,
    CallObject,
    Elements,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    Reasoning,
    Space,
    Value,
    Word,
)

NAME = re.compile(r"[a-z0-9]+(?:[-._][a-z0-9]+)*")
"""What a format may be called: kebab-case."""


def fault_of(
    name: str,
    words: tuple[Word, ...],
    reasoning: tuple[Reasoning, ...],
    envelope: Envelope | None = None,
) -> str | None:
    """Why a format could never be read, if so."""
    flat = _flat(words)
    call = next((word for word in words if isinstance(word, CallObject)), None)
    if not NAME.fullmatch(name):
        return "a name is lower-case letters and digits, joined by '-', '.' or '_'"
    if fault := envelope_fault(words, envelope):
        return fault
    objects = sum(isinstance(word, CallObject) for word in flat)
    names = sum(isinstance(word, Name) for word in flat)
    names += not objects and envelope is not None and envelope.names
    if objects + names != 1:
        return f"it needs one CallObject() or one Name(), and has {objects} and {names}"
    if any(not text for word in flat if isinstance(word, Literal) for text in word.spellings):
        return "a Literal is empty, so it would be found everywhere"
    return (
        _frame_fault(words, call)
        or _markup_fault(flat)
        or (_arguments_fault(words) if names else _object_fault(words, call))
        or _reasoning_fault(flat, reasoning)
    )


def _object_fault(words: tuple[Word, ...], call: CallObject | None) -> str | None:
    """Why a call object could not be found, or could not be written and read back."""
    if call is None:
        return None
    for row in call.opens:
        text = "".join(part for part in row if part != ANY_SPACE)
        if not row or row[0] == ANY_SPACE or text[:1] not in ("{", "["):
            return f"`opens` has the row {row!r}; a call begins with '{{' or '['"
    for key in (call.name, call.arguments):
        if not (re.fullmatch(r"\w+", key) if call.bare_keys else re.fullmatch(r'[^"\\\n]+', key)):
            return f"the key {key!r} cannot be written as it is"
    if call.name == call.arguments:
        return f"the name and the arguments have one key, {call.name!r}"
    before = words[: words.index(call)]
    for word in before:
        if not isinstance(word, Markup):
            continue
        swallowed = re.match(word.pattern, '{"')
        if swallowed and swallowed.end():
            return f"Markup({word.pattern!r}) would swallow the beginning of the call"
    return None


def _reasoning_fault(words: tuple[Word, ...], reasoning: tuple[Reasoning, ...]) -> str | None:
    own = [word for word in words if isinstance(word, Literal)]
    texts = {text for word in own for text in word.spellings}
    for markers in reasoning:
        if not markers.open or not markers.close or markers.open == markers.close:
            return f"{markers!r} cannot be told apart; give two different texts"
        if texts & {markers.open, markers.close}:
            return f"{markers!r} are markers of the calls too"
    return None


def _flat(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """All words, those inside `Maybe` and `Many` too."""
    inner = (_flat(word.words) if isinstance(word, Maybe | Many) else (word,) for word in words)
    return tuple(word for some in inner for word in some)


def _frame_fault(words: tuple[Word, ...], call: CallObject | None) -> str | None:
    first, last = words[0], words[-1]
    if isinstance(first, CallObject):
        if not first.opens:
            return "it begins with CallObject(), which then has to say what it `opens` with"
        return (
            f"{words[1]!r} follows a bare CallObject(), which ends by itself" if words[1:] else None
        )
    if not isinstance(first, Literal):
        return f"{first!r} stands first, so the format would begin everywhere; use a Literal"
    if call and call.opens:
        return "`opens` is for a CallObject() without an opening Literal"
    if not isinstance(last, Literal | CallObject | Arguments):
        return f"it ends with {last!r}, so a block never knows where it ends; use a Literal"
    json_last = not any(isinstance(word, Many | Elements) for word in words)
    for text in last.spellings if isinstance(last, Literal) else ():
        if (json_last and text[0] in "{}[],\"'") or text[0].isspace():
            return f"the closer {text!r} could be part of the JSON before it"
        if text in first.spellings and len(text) < 3:
            return f"{text!r} both opens and closes"
    return None


def _arguments_fault(words: tuple[Word, ...]) -> str | None:
    if not any(isinstance(word, Arguments | Many | Elements) for word in words):
        return "it has a name and no arguments; give it Arguments(), Many() or Elements()"
    return _tagged_fault(words)


def _tagged_fault(words: tuple[Word, ...]) -> str | None:
    for word, after in zip(words, (*words[1:], None), strict=True):
        if isinstance(word, Maybe | Many):
            if not isinstance(word.words[0], Literal):
                return f"{word!r} begins with {word.words[0]!r}; nothing tells whether it is there"
            inner = _tagged_fault(word.words)
            if inner:
                return inner
        if isinstance(word, Value) and not isinstance(after, Literal):
            return f"{after!r} follows Value(), so a value never knows where it ends; use a Literal"
        if isinstance(word, Elements) and not (
            word.prefix and isinstance(after, Literal) and after.text.startswith(word.prefix)
        ):
            return f"{after!r} follows {word!r}, which ends only at a Literal with its prefix"
    return None


def _markup_fault(words: tuple[Word, ...]) -> str | None:
    for word in words:
        if isinstance(word, Space) and word.text.strip():
            return f"{word!r} writes more than white space"
        pattern = word.pattern if isinstance(word, Markup | Name | Key) else ""
        if fault := pattern_fault(pattern):
            return fault
        if isinstance(word, Markup) and not re.fullmatch(word.pattern, word.text):
            return f"Markup({word.pattern!r}) does not read what it writes: {word.text!r}"
    return None
