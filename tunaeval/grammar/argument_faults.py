"""Why a name, and the arguments behind it, could not be read; asked when a format is built."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .following import shown
from .patterns import one_character
from .words import (
    Arguments,
    Attribute,
    CallObject,
    Elements,
    Key,
    Literal,
    Many,
    Maybe,
    Name,
    PythonCalls,
    Space,
    Value,
    Word,
)

_CLOSING_TAG = r"</[A-Za-z_][\w.:-]{0,126}>"
_OF_ONE_ARGUMENT = Key | Value | Attribute
_OF_A_CALL = CallObject | PythonCalls | Name | Arguments | Many | Elements


def place_fault(words: Sequence[Word]) -> str | None:
    """Why a word is where it cannot be read: inside of `Maybe` or `Many`, or outside."""
    for word in words:
        if isinstance(word, _OF_ONE_ARGUMENT):
            return f"{shown(word)} is outside of Many(), which describes the words of one argument"
        if isinstance(word, Maybe) and (fault := _maybe_fault(word, in_many=False)):
            return fault
        if isinstance(word, Many) and (fault := _many_fault(word)):
            return fault
    return None


def arguments_fault(words: Sequence[Word], *, addressed: bool) -> str | None:
    """Why a format with a name has no arguments, or in two places; `addressed`: the name is in
    a message's header.
    """
    bodies = [word for word in words if isinstance(word, Many | Elements) or _is_body(word)]
    if not bodies:
        return (
            "it has a name and no arguments; give it Arguments(), Many() or Elements(), outside of "
            "Maybe() and not optional"
        )
    written = [word for word in words if isinstance(word, Maybe) and word.written]
    if any(isinstance(inner, Arguments) for word in written for inner in word.words):
        bodies.append(Arguments())
    if len(bodies) > 1:
        return (
            f"it has {shown(bodies[0])} and {shown(bodies[1])}, so the arguments would be written "
            "twice; keep one, or make Arguments(optional=True) of what is only read"
        )
    names = [at for at, word in enumerate(words) if isinstance(word, Name)]
    if not addressed and names[0] > words.index(bodies[0]):
        return (
            f"{shown(bodies[0])} is before Name(), and the tool says what types its arguments "
            "have; put Name() first"
        )
    return _ends_fault(words)


def _is_body(word: Word) -> bool:
    return isinstance(word, Arguments) and not word.optional


def _ends_fault(words: Sequence[Word]) -> str | None:
    """Why elements would not know where they end."""
    for word, after in zip(words, (*words[1:], None), strict=True):
        if not isinstance(word, Elements):
            continue
        if not word.prefix:
            return "Elements() has an empty prefix, so a tag is no more than a text"
        ends = re.compile(re.escape(word.prefix) + _CLOSING_TAG)
        if not (isinstance(after, Literal) and all(map(ends.match, after.spellings))):
            found = f"{shown(after)} follows" if after else "nothing follows"
            return (
                f"{found} {shown(word)}, which ends only at a Literal with its prefix and a "
                f"closing tag, as in Literal({word.prefix + '</call>'!r})"
            )
    return None


def _value_fault(word: Word, after: Word | None) -> str | None:
    """Why one of two words is a value that would not know where it begins or ends, if so."""
    if isinstance(after, Value) and after.trim == "newlines" and isinstance(word, Space):
        return f"{shown(word)} would take one of the newlines that Value() trims; leave it out"
    if not isinstance(word, Value):
        return None
    if not isinstance(after, Literal):
        found = f"{shown(after)} follows Value()" if after else "nothing follows Value()"
        return f"{found}, so a value never knows where it ends; put a Literal behind it"
    if word.trim != "no" and any(text.isspace() for text in after.spellings):
        return (
            f"{shown(after)} follows Value({word.trim!r}), which has white space of its own "
            "around the value; put a Literal with a letter or a sign behind it"
        )
    return None


def _maybe_fault(maybe: Maybe, *, in_many: bool) -> str | None:
    if fault := _first_fault(maybe):
        return fault
    for word in maybe.words:
        barred = Key | Value if in_many else _OF_A_CALL | _OF_ONE_ARGUMENT
        if isinstance(word, barred) and not (isinstance(word, Arguments) and not in_many):
            return (
                f"{shown(word)} is inside of Maybe(), so it could be missing; put it outside, "
                "and only the fixed text around it into Maybe()"
            )
        if isinstance(word, Maybe) and (fault := _maybe_fault(word, in_many=in_many)):
            return fault
        if in_many and isinstance(word, _OF_A_CALL):
            return f"{shown(word)} is inside of Many(), which describes one argument"
    return None


def _many_fault(many: Many) -> str | None:
    if fault := _first_fault(many):
        return fault
    kinds: list[type] = []
    for word, after in zip(many.words, (*many.words[1:], None), strict=True):
        if isinstance(word, _OF_A_CALL):
            return f"{shown(word)} is inside of Many(), which describes one argument"
        if isinstance(word, Maybe):
            if fault := _maybe_fault(word, in_many=True):
                return fault
            kinds += [Attribute for inner in word.words if isinstance(inner, Attribute)]
        if isinstance(word, _OF_ONE_ARGUMENT):
            kinds.append(type(word))
        if fault := _value_fault(word, after):
            return fault
    if kinds.count(Key) != 1 or kinds.count(Value) != 1:
        return (
            f"Many() has {kinds.count(Key)} Key() and {kinds.count(Value)} Value(); it describes "
            "the words of one argument, so it needs one of each"
        )
    order = [kind for kind in kinds if kind is not Attribute]
    if order != [Key, Value] or kinds[0] is not Key or kinds[-1] is not Value:
        return "Many() has them in another order than Key(), perhaps an Attribute, Value()"
    return next(filter(None, map(_attribute_fault, many.words)), None)


def _first_fault(word: Many | Maybe) -> str | None:
    """Why nothing would tell whether the words are there."""
    name = type(word).__name__
    if not word.words:
        return f"{name}(()) has no words; leave it out, or put some in"
    if isinstance(word.words[0], Literal):
        return None
    return (
        f"{name}() begins with {shown(word.words[0])}, so nothing shows whether it is there; "
        "begin it with a Literal"
    )


def _attribute_fault(word: Word) -> str | None:
    """Why an attribute would not say what it is there to say."""
    if isinstance(word, Maybe):
        return next(filter(None, map(_attribute_fault, word.words)), None)
    if not isinstance(word, Attribute):
        return None
    if not word.text or not word.json:
        return f"{word!r} needs words for both, texts and JSON"
    for text in (*word.text, *word.json):
        if not (text.isascii() and text.isalpha() and len(text) <= 16):
            return f"Attribute() has {text!r}; up to 16 letters from A to Z are read there"
    if both := {*word.text} & {*word.json}:
        return f"Attribute() has {both.pop()!r} for texts and for JSON"
    return None


def name_fault(word: Name | Key) -> str | None:
    """Why no usual name could be written there."""
    if one_character(word.pattern) is None:
        return f"{shown(word)} matches no name of one character; let its pattern begin with one"
    return None
