"""What is behind a word, and whether the word would read the beginning of it as its own.

A block is read word by word, and what a word has read is never given back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .patterns import one_character, passed
from .words import (
    SPACES,
    Arguments,
    Attribute,
    CallObject,
    Elements,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Space,
    Value,
    Word,
    starts_with_space,
)


def following_fault(words: Sequence[Word], after: Sequence[Word] = ()) -> str | None:
    """Why one of the words would swallow what follows it, if so."""
    for index, word in enumerate(words):
        if isinstance(word, Literal | Value | Elements):
            continue  # these read what they are, or up to what is behind them
        rest = (*words[index + 1 :], *after)
        behind = [(gap, text) for gap, text in beginnings(rest) if text]
        inside = (word, *rest) if isinstance(word, Many) else rest
        if isinstance(word, Many | Maybe) and (fault := following_fault(word.words, inside)):
            return fault
        found = next((text for gap, text in behind if _swallows(word, gap, text)), None)
        if found is not None:
            return f"{shown(word)} would swallow the beginning of {found!r}; {_advice(word)}"
        if isinstance(word, CallObject | Arguments) and not _optional(word):
            faults = (_json_fault(text, word) for _, text in behind)
            if fault := next(filter(None, faults), None):
                return fault
        if isinstance(word, Maybe) and (fault := _maybe_fault(word, rest)):
            return fault
    return None


def beginnings(words: Sequence[Word]) -> Iterator[tuple[str, str]]:
    """What the words may begin with, and the white space that is written in front of it.

    Of a pattern it is one character that it matches.
    """
    gap = ""
    for word in words:
        gap += word.text if isinstance(word, Space) else ""
        yield from ((gap, text) for text in _beginning(word))
        if not isinstance(word, Space | Maybe | Many) and not _optional(word):
            return


def shown(word: object) -> str:
    """A word as an author would know it again."""
    text = next((getattr(word, name) for name in ("text", "pattern") if hasattr(word, name)), "")
    name = type(word).__name__
    if isinstance(word, Many | Maybe | CallObject | PythonCalls | Attribute):
        return f"{name}(...)" if isinstance(word, Many | Maybe) else f"{name}()"
    return f"{name}({text!r})" if text else f"{name}()"


def _optional(word: Word) -> bool:
    """Whether nothing may be in the word's place when it is written."""
    return (isinstance(word, Markup) and not word.text) or (
        isinstance(word, Arguments) and word.optional
    )


def _beginning(word: Word) -> tuple[str, ...]:
    match word:
        case Literal():
            return word.spellings
        case Markup():
            return (word.text,)
        case Maybe() | Many():
            return _beginning(word.words[0])
        case Name() | Key():
            before = word.before if isinstance(word, Name) else ""
            return (before or one_character(word.pattern) or "",)
        case Attribute():
            return (*word.text, *word.json)
        case Elements():
            return (word.prefix,)
    return _FIRST.get(type(word), ())


_FIRST: dict[type, tuple[str, ...]] = {
    Arguments: ("{",),
    CallObject: ("{", "["),
    PythonCalls: ("[", "f("),
    Value: ("a", "A", "0"),
}
"""What words without a text begin with."""


def _swallows(word: Word, gap: str, text: str) -> bool:
    """Whether the word would read the beginning of `text`, which follows it and the gap."""
    match word:
        case Space() | CallObject() | PythonCalls():
            return text.startswith(SPACES)
        case Many() | Maybe():
            own = _beginning(word)
            skips = isinstance(word, Many) and not starts_with_space(word)
            return text.startswith((*own, *SPACES) if skips else own) or (
                starts_with_space(word) and (gap + text).startswith(own)
            )
        case Arguments(optional=True):
            return text.startswith(("{", *SPACES))
        case Attribute():
            return passed("[A-Za-z]{0,16}", gap + text) > 0
        case Markup():
            return passed(word.pattern, word.text + gap + text) > len(word.text)
        case Key():
            return passed(word.pattern, (one_character(word.pattern) or "") + gap + text) > 1
        case Name():
            return _name_swallows(word, gap + text)
    return False


def _name_swallows(word: Name, text: str) -> bool:
    written = (one_character(word.pattern) or "") + word.after_text
    if not word.after:
        return passed(word.pattern, written + text) > len(written)
    return passed(word.pattern, written + text) != 1 or passed(
        word.after, word.after_text + text
    ) != len(word.after_text)


def _advice(word: Word) -> str:
    match word:
        case Space() | CallObject() | PythonCalls():
            what = "leave it out" if isinstance(word, Space) else "put Space() there instead"
            return f"it passes over white space, so {what}, or begin the other without"
        case Many():
            return "it asks for one more argument first; begin the two differently"
        case Maybe() | Arguments():
            return "it is asked first; begin the two differently"
        case Attribute():
            return "put a Literal that begins with no letter between them"
    return "leave its first character out of the pattern, or put another Literal between them"


def _maybe_fault(word: Maybe, rest: Sequence[Word]) -> str | None:
    """Whether a pattern behind it could begin as it does."""
    for text in _beginning(word):
        pattern = next((w for w in rest if not isinstance(w, Space)), None)
        if isinstance(pattern, Name | Key | Markup) and passed(pattern.pattern, text):
            return (
                f"{shown(word)} begins with {text!r}, and so may {shown(pattern)} behind it; "
                "leave that out of the pattern, or begin with another text"
            )
    return None


def _json_fault(text: str, word: CallObject | Arguments) -> str | None:
    """Why a text behind JSON could be part of it, or of the next object."""
    separators = ";" if isinstance(word, CallObject) else ""
    if text[0] not in f"{{}}],\"'{separators}":
        return None
    return (
        f"the closer {text!r} could be part of the JSON before it; begin it with another "
        "character, as in '</call>' or '[[/call]]'"
    )
