"""What a row of words looks like from its beginning: patterns made from the grammar.

They tell formats apart that begin alike, and the closer of a value from the same text inside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tunaeval.grammar import (
    Arguments,
    CallObject,
    Elements,
    Format,
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
from tunaeval.limits import KEPT_CLOSINGS, NEAR_SPACE, WIDE_SPACE, WORDS_AHEAD

from .marks import Marks
from .patterns import row

_ARRAY = rf"(?:\{{|\[{NEAR_SPACE}[^\w\s])"
"""An object, or an array of anything that cannot be a list of Python calls."""
_OBJECT = rf"{NEAR_SPACE}\{{"


def start_of(form: Format) -> str:
    """What has to stand behind a format's opener, as a pattern."""
    return _chain(form.words[1:], WORDS_AHEAD, "")


@dataclass(frozen=True, slots=True)
class Closing:
    """How a bare value ends: at `closer`, if `follow` (in the text) or `at_end` fits there.

    `restart`, if it comes first, is the end of the call and what may come behind it, which shows
    that the closer was forgotten; `call_closer` is the text it begins with. `before_restart` is
    what of the call's end is before that, at the end of the value's text; `lost` all of it, where
    the whole text ends behind it; `over` the same anywhere. `marks` are the format's tags.
    """

    closer: str
    call_closer: str
    follow: re.Pattern[str]
    at_end: re.Pattern[str]
    restart: re.Pattern[str]
    first: re.Pattern[str]
    """Either text, whichever stands first."""
    before_restart: re.Pattern[str]
    lost: re.Pattern[str]
    over: re.Pattern[str]
    sibling: re.Pattern[str] | None
    """What is in front of the value of another argument; its groups are a key and an attribute."""
    gap: str
    """What is written behind a closer; where that is missing, it is at the end of the value."""
    marks: Marks = field(compare=False)


_closings: dict[tuple[int, int, int], tuple[Format, Word, Closing]] = {}
"""Each with what its key is made of, so that no other object has that identity."""


def closing_of(form: Format, word: Word, after: tuple[Word, ...]) -> Closing:
    """How a value of `form` ends that is in front of `after`; kept, up to a number.

    By identity: to hash a whole format costs more than to read a short value.
    """
    key = id(form), id(word), len(after)
    known = _closings.get(key)
    if known is None:
        if len(_closings) >= KEPT_CLOSINGS:
            _closings.clear()  # at once: formats made by the hundred are used for one text each
        _closings[key] = known = (form, word, _closing(form, word, after))
    return known[2]


def _closing(form: Format, value: Word, after: tuple[Word, ...]) -> Closing:
    closer, last = after[0], form.closer
    assert isinstance(closer, Literal)  # noqa: S101 - a format without it is refused when built
    many, rest, tail = _around_value(after)
    onward, restart, texts = _onward(form), "(?!)", [closer.text]
    if last and form.opener and last.text != closer.text:
        restart = f"{_spelled(last)}{WIDE_SPACE}{onward}"
        texts.append(last.text)
    gap = rest[0].text if rest and isinstance(rest[0], Space) else ""
    ends = [f"{_spelled(word)}{WIDE_SPACE}" for word in tail]
    follow = _chain(after, WORDS_AHEAD, "")
    if not any(isinstance(word, Literal) for word in rest):
        incomplete = "|".join(_incomplete(ends, onward)) or "(?!)"
        follow += f"|{_spelled(closer)}{WIDE_SPACE}(?:{incomplete})"
    optional, behind = "".join(f"(?:{end})?+" for end in ends[:-1]), _ignored(form)
    return Closing(
        closer.text,
        texts[-1],
        re.compile(follow),
        re.compile(_chain(after, WORDS_AHEAD, r"\Z")),
        re.compile(restart),
        re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True)))),
        re.compile(rf"{optional}\Z"),
        re.compile(rf"{optional}{ends[-1]}(?:(?:{behind}){WIDE_SPACE})*+\Z" if last else "(?!)"),
        re.compile("".join(ends) if last else "(?!)"),
        re.compile(sibling) if (sibling := _sibling(many)) else None,
        gap if isinstance(value, Value) and value.trim == "no" else "",
        Marks(form, closer.text),
    )


def _around_value(
    after: tuple[Word, ...],
) -> tuple[Many, tuple[Word, ...], list[Literal]]:
    """The row of arguments that a value is one of, what ends its own, and what ends the call."""
    at, many = next((i, word) for i, word in enumerate(after) if isinstance(word, Many))
    return many, after[1:at], [word for word in after[at + 1 :] if isinstance(word, Literal)]


def _incomplete(ends: list[str], onward: str) -> Iterator[str]:
    """The end of a call where one of its closers is missing, or all behind one of them are."""
    for missing in range(1, len(ends)):
        yield "".join(ends[missing:])
    for written in range(len(ends)):
        yield "".join(ends[:written]) + onward


def _onward(form: Format) -> str:
    """What may come behind a call and is no text: another one, or what is around them all.

    Another one that begins with fixed text inside its opener may do without that.
    """
    inner = next((word for word in form.words[1:] if not isinstance(word, Space)), None)
    opener = f"(?:{_spelled(form.opener)})" if form.opener else ""
    optional = "?" if isinstance(inner, Literal) and opener else ""
    return f"(?:{opener}{optional}{start_of(form)}|{_ignored(form)})"


def _ignored(form: Format) -> str:
    """The texts behind calls that say nothing more."""
    words = [form.around[1]] if form.around else []
    words += [form.envelope.closes] if form.envelope else []
    texts = [text for word in words for text in word.spellings if text]
    return "|".join(map(re.escape, [*texts, *form.dropped])) or "(?!)"


def _sibling(many: Many) -> str | None:
    at = next((i for i, word in enumerate(many.words) if isinstance(word, Value)), 0)
    return row(many.words[:at])


def _spelled(word: Literal) -> str:
    return f"(?:{'|'.join(map(re.escape, word.spellings))})"


def missing_closer(text: str, at: int, closer: Literal) -> tuple[str, int]:
    """What is said where a closer is missing behind calls, and where the block ends then.

    The beginning of the closer in which the text ends belongs to the block.
    """
    rest = text[at : at + max(map(len, closer.spellings))]
    where = "other text follows" if rest else "the text ends"
    cut = any(spelling.startswith(rest) for spelling in closer.spellings)
    return f"{where} before {closer.text!r}", at + len(rest) if cut else at


def stops_of(form: Format, after: tuple[Word, ...]) -> tuple[str, ...]:
    """The fixed text behind a JSON object, which closes what was left open in it.

    One that begins with a bracket is none: inside of an object it could be one of that.
    """
    ends = form.envelope.closes if form.envelope else None
    found = next((word for word in after if isinstance(word, Literal)), ends)
    if not found or not found.text.strip() or any(text[0] in "[]}" for text in found.spellings):
        return ()
    return found.spellings


def shows_end(words: tuple[Word, ...], index: int) -> bool:
    """Whether this is the first fixed text behind arguments one by one: only it shows their end."""
    many = max(i for i, word in enumerate(words) if isinstance(word, Many | Elements))
    return not any(isinstance(word, Literal) for word in words[many + 1 : index])


def _chain(words: tuple[Word, ...], literals: int, end: str) -> str:
    """The first words as a pattern; `end` is what may stand instead of any fixed text."""
    if not literals or not words:
        return ""
    word, rest = words[0], words[1:]
    match word:
        case Space():
            return WIDE_SPACE + _chain(rest, literals, end)
        case Literal():
            texts = "|".join(map(re.escape, word.spellings))
            cuts = "|".join(_beginnings(text) + end for text in word.spellings) if end else "(?!)"
            return f"(?:(?:{texts}){_chain(rest, literals - 1, end)}|{cuts})"
        case Many() | Maybe():
            first = _first(word).spellings
            again = "|".join(
                [*map(re.escape, first), *(_beginnings(t) + end for t in first if end)]
            )
            space = WIDE_SPACE if isinstance(word, Many) and not starts_with_space(word) else ""
            return f"{space}(?:(?:{again})|{_chain(rest, literals, end)})"
        case Name() | Markup() | Key():
            before = f"(?:{re.escape(word.before)})?" if isinstance(word, Name) else ""
            behind = f"(?:{word.after})?" if isinstance(word, Name) and word.after else ""
            return f"{before}(?:{word.pattern}){behind}{_chain(rest, literals, end)}"
        case CallObject():
            return _ARRAY if word.array else rf"(?:\{{|\[{NEAR_SPACE}\{{)"
        case PythonCalls():
            return rf"(?:\[{NEAR_SPACE})?[^\W\d]"
        case Arguments(optional=True):
            return rf"(?:{_OBJECT}|{_chain(rest, literals, end)})"
    return _OBJECT


def _beginnings(text: str) -> str:
    """A pattern for every beginning of a text, the empty one too."""
    pattern = ""
    for char in reversed(text[:-1]):
        pattern = f"(?:{re.escape(char)}{pattern})?+"
    return pattern


def _first(word: Many | Maybe) -> Literal:
    first = word.words[0]
    assert isinstance(first, Literal)  # noqa: S101 - a format without it is refused when built
    return first
