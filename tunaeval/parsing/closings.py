"""Where a block ends: which of the same texts is the closer of a bare value, patterns made from the
grammar for that, and what is reported where a closer is missing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from tunaeval.grammar import (
    Attribute,
    Elements,
    Format,
    Key,
    Literal,
    Many,
    Space,
    Value,
    Word,
    starts_with_space,
)
from tunaeval.limits import (
    KEPT_CLOSINGS,
    QUOTED_AHEAD,
    SHORTEST_OPENER,
    VALUE_AHEAD,
    WIDE_SPACE,
    WIDEST_GAP,
    WORDS_AHEAD,
)
from tunaeval.repair import Unreadable
from tunaeval.window import Window

from .block import stands
from .collect import LiveText
from .markup import Marks
from .patterns import SPACE, any_of, chain, row, start_of


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


class Plain(NamedTuple):
    """How an argument is read at once whose value holds nothing that markup begins with.

    `match` finds all of it, up to the next one. Its groups are the key, the attribute if the format
    has one, and the value's text. Whatever it finds would be found word by word.
    """

    match: Callable[[str, int], re.Match[str] | None]
    key: Key
    attribute: Attribute | None
    value: Value


def plain_of(form: Format, many: Many, after: tuple[Word, ...]) -> Plain | None:
    """How arguments of `form` are read at once; None if one of their words has no pattern."""
    key = id(form), id(many), len(after)
    if key not in _plain:
        if len(_plain) >= KEPT_CLOSINGS:
            _plain.clear()
        _plain[key] = (form, many, _made_plain(form, many, after))
    return _plain[key][2]


_plain: dict[tuple[int, int, int], tuple[Format, Many, Plain | None]] = {}


def _made_plain(form: Format, many: Many, after: tuple[Word, ...]) -> Plain | None:
    words, at = many.words, _value_at(many)
    first, value, closer, rest = words[0], words[at], words[at + 1], words[at + 2 :]
    head, tail = row(words[:at]), row(rest, space=WIDE_SPACE)
    inner = [each for word in words[:at] for each in getattr(word, "words", (word,))]
    attribute = next((word for word in inner if isinstance(word, Attribute)), None)
    key = next(word for word in words if isinstance(word, Key))
    if head is None or tail is None or starts_with_space(many):
        return None
    assert isinstance(first, Literal)  # noqa: S101 - a format without it is refused when built
    assert isinstance(value, Value)  # noqa: S101 - as above
    assert isinstance(closer, Literal)  # noqa: S101 - as above
    closing = closing_of(form, value, (*words[at + 1 :], many, *after))
    marks = (first, closer, form.closer or closer)
    begins = "".join(sorted({text[0] for word in marks for text in word.spellings}))
    quoted = f"(?!{re.escape(value.quotes[0])})" if value.quotes[0] else ""
    text = f"{quoted}([^{re.escape(begins)}]*+)(?={closing.follow.pattern})"
    made = re.compile(f"{SPACE}{head}{text}{any_of(closer)}{tail}")
    groups = 2 + (attribute is not None)
    return Plain(made.match, key, attribute, value) if made.groups == groups else None


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
    sibling = _sibling(many)
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
        re.compile(sibling) if sibling else None,
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
    """Return the pattern of what may follow a call and is no text: another call, or a closer.

    Where fixed text follows a call's opener, another call may begin with that text alone.
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
    return row(many.words[: _value_at(many)])


def _value_at(many: Many) -> int:
    return next((at for at, word in enumerate(many.words) if isinstance(word, Value)), 0)


def _spelled(word: Literal) -> str:
    return f"(?:{'|'.join(map(re.escape, word.spellings))})"


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


# --- reading a bare value -------------------------------------------------------------------------


class Bare(NamedTuple):
    """A value's text. If it was not closed, the end of its call follows; `stray` is what is between
    that and a closer of its own, if there was one.
    """

    text: str
    closed: bool = True
    stray: str = ""


def bare_text(
    window: Window, closing: Closing, key: str, live: LiveText | None
) -> Generator[None, None, Bare | Unreadable]:
    """The text of the argument `key`, up to the closer that fits or to its call's end."""
    pieces: list[str] = []
    own: str | None = None
    opener = closing.quotes[0]
    quoted = bool(opener) and (yield from stands(window, (opener,)))
    held = closing.longest - 1
    while True:
        hit = closing.first.search(window.text, window.pos)
        if hit is None or not (window.final or hit.start() + held < len(window.text)):
            end = len(window.text) - (0 if window.final else held)
            end, waits, ends = max(window.pos, end), True, None
        else:
            ends = _ends(window, closing, hit, trusted=own is not None)
            if ends and quoted:
                ends = _behind_quotes(window, closing, hit.start()) and ends
            elif ends is False and own is None and not quoted and hit.group() in closing.closers:
                own = hit.group()
            waits = ends is None
            end = hit.start() + (not (ends or waits))  # the two closers may overlap
        pieces.append(window.text[window.pos : end])
        window.pos = end
        if live:
            live.grow(pieces[-1])
        if ends == "call":
            return _cut(_before(window, "".join(pieces), closing.before_restart), own)
        if ends:
            return Bare("".join(pieces))
        if waits and window.final:
            return _at_end(window, "".join(pieces), closing, key)
        if waits:
            yield


def _cut(found: Bare, own: str | None) -> Bare:
    """Return the value up to the first closer of its own, if there was one."""
    text, _, stray = found.text.partition(own) if own else (found.text, "", "")
    return found._replace(text=text, stray=stray)


def _ends(
    window: Window, closing: Closing, hit: re.Match[str], *, trusted: bool
) -> bool | str | None:
    """Whether the value ends at this closer of its own; "call" where its call does instead.

    None if more could tell. `trusted`: a closer of its own was before, in front of text that may be
    the value's or not.
    """
    text, at = window.text, hit.start()
    ahead = at + VALUE_AHEAD
    if closing.follow.match(text, at, ahead) or (window.final and closing.at_end.match(text, at)):
        return True
    own = hit.group() in closing.closers
    if not own and (trusted or closing.restart.match(text, at, ahead)):
        return "call"
    return None if not window.final and len(text) <= ahead else False


def _behind_quotes(window: Window, closing: Closing, at: int) -> bool | None:
    """Whether the quotes that the value begins with do not end behind this; None to wait for more.

    They end before others begin, and not far away.
    """
    opener, end = closing.quotes
    if window.text[max(0, at - WIDEST_GAP) : at].rstrip().endswith(end):
        return True
    ahead = window.text[at : at + QUOTED_AHEAD]
    stop, other = ahead.find(end), ahead.find(opener)
    if stop >= 0 or other >= 0:
        return stop < 0 or 0 <= other < stop
    return None if not window.final and len(ahead) < QUOTED_AHEAD else True


def _at_end(window: Window, text: str, closing: Closing, key: str) -> Bare | Unreadable:
    """A value that the whole text ends in."""
    if closing.lost.search(text, max(0, len(text) - VALUE_AHEAD)):
        return _before(window, text, closing.lost)
    if closing.over.search(text):
        return Unreadable("invalid-arguments", f"{key[:60]!r} is never closed")
    return Unreadable("truncated", "the text ends inside an argument", cut=True)


def _before(window: Window, text: str, end: re.Pattern[str]) -> Bare:
    """The value without the end of its call, which is read again."""
    found = end.search(text, max(0, len(text) - VALUE_AHEAD))
    size = len(text) - found.start() if found else 0
    window.pos -= size
    return Bare(text[: len(text) - size], closed=False)
