"""Where a block ends: which of the same texts is the closer of a bare value, patterns made from the
grammar for that, and what is reported where a closer is missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tunaeval.grammar import Elements, Format, Literal, Many, Space, Value, Word
from tunaeval.limits import KEPT_CLOSINGS, SHORTEST_OPENER, WIDE_SPACE, WORDS_AHEAD

from .chains import chain, start_of
from .markup import Marks
from .patterns import row


@dataclass(frozen=True, slots=True)
class Closing:
    """How a bare value ends: at one of `closers`, if `follow` (in the text) or `at_end` fits there.

    `restart`, if it comes first, is the end of the call and what may come behind it, which shows
    that the closer was forgotten. `before_restart` is what of the call's end is before that, at the
    end of the value's text; `lost` all of it, where the whole text ends behind it; `over` the same
    anywhere, or the end of what is around calls. `marks` are the format's tags.
    """

    closers: tuple[str, ...]
    follow: re.Pattern[str]
    at_end: re.Pattern[str]
    restart: re.Pattern[str]
    first: re.Pattern[str]
    """Any of `closers`, or what `restart` begins with, whichever is first."""
    longest: int
    """The length of the longest of those."""
    before_restart: re.Pattern[str]
    lost: re.Pattern[str]
    over: re.Pattern[str]
    sibling: re.Pattern[str] | None
    """What is in front of the value of another argument; its groups are a key and an attribute."""
    gap: str
    """What is written behind a closer; where that is missing, it is at the end of the value."""
    quotes: tuple[str, str]
    """What may be around a value, and then is all of it."""
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
    onward, restart, texts = _onward(form), "(?!)", {*closer.spellings}
    if last and form.opener and not texts.intersection(last.spellings):
        restart = f"{_spelled(last)}{WIDE_SPACE}{onward}"
        texts.update(last.spellings)
    gap = rest[0].text if rest and isinstance(rest[0], Space) else ""
    ends = [f"{_spelled(word)}{WIDE_SPACE}" for word in tail]
    follow = chain(after, WORDS_AHEAD, "")
    if not any(isinstance(word, Literal) for word in rest):
        if len(tail) > 1:  # two closers in a row are no part of a value, whatever follows them
            follow += f"|{_spelled(closer)}{WIDE_SPACE}{_spelled(tail[0])}"
        incomplete = "|".join(_incomplete(ends, onward)) or "(?!)"
        follow += f"|{_spelled(closer)}{WIDE_SPACE}(?:{incomplete})"
    around = _spelled(form.around[1]) if form.around and form.around[1].text else ""
    optional, behind = "".join(f"(?:{end})?+" for end in ends[:-1]), _ignored(form)
    return Closing(
        closer.spellings,
        re.compile(follow),
        re.compile(chain(after, WORDS_AHEAD, r"\Z")),
        re.compile(restart),
        re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True)))),
        max(map(len, texts)),
        re.compile(rf"{optional}\Z"),
        re.compile(rf"{optional}{ends[-1]}(?:(?:{behind}){WIDE_SPACE})*+\Z" if last else "(?!)"),
        re.compile("|".join(filter(None, ("".join(ends) if last else "", around))) or "(?!)"),
        re.compile(sibling) if (sibling := _sibling(many)) else None,
        gap if isinstance(value, Value) and value.trim == "no" else "",
        value.quotes if isinstance(value, Value) else ("", ""),
        Marks(form, many),
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


_IN_OBJECT = re.compile(r"""[][{}:,"'\w+-]""").match


def stops_of(form: Format, after: tuple[Word, ...]) -> tuple[str, ...]:
    """The fixed text behind a JSON object, which closes what was left open in it.

    One that begins as something in an object does is none: inside of one it could be that.
    Where nothing is behind it, the next call's opener is, if it is more than a sign.
    """
    ends = form.envelope.closes if form.envelope else None
    found = next((word for word in after if isinstance(word, Literal)), ends)
    if not found and form.opener and len(form.opener.text) >= SHORTEST_OPENER:
        return form.opener.spellings
    if not found or not found.text.strip() or any(map(_IN_OBJECT, found.spellings)):
        return ()
    return found.spellings


def shows_end(words: tuple[Word, ...], index: int) -> bool:
    """Whether this is the first fixed text behind arguments one by one: only it shows their end."""
    many = max(i for i, word in enumerate(words) if isinstance(word, Many | Elements))
    return not any(isinstance(word, Literal) for word in words[many + 1 : index])
