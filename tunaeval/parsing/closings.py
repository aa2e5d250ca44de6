"""Where a bare value ends: which of the same texts is its closer, and what is lost where it lacks.

The patterns for that are made from a format's words, once for each format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

from tunaeval.grammar import (
    Attribute,
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
    VALUE_AHEAD,
    WIDE_SPACE,
    WIDEST_GAP,
    WORDS_AHEAD,
)
from tunaeval.repair import Unreadable
from tunaeval.window import Reading, Window

from .block import literal, peek
from .live import LiveText
from .markup import Marks
from .patterns import SPACE, Match, any_of, chain, matcher, row, start_of

Bare: TypeAlias = tuple[str, bool, str]
"""A value's text, and whether it was closed. If not, the end of its call follows, and the third is
what is between that and a closer of its own, if there was one.
"""


class Closing:
    """How the bare values of a format end, each at one of `closers` if what follows that fits.

    Where the end of the call comes first, and behind it what may come behind a call, the closer
    was forgotten. `sibling` is what is in front of the value of another argument, `gap` what is
    written behind a closer; where that is missing, it is at the end of the value.
    """

    def __init__(self, form: Format, many: Many, behind: tuple[Word, ...]) -> None:
        at = next(at for at, word in enumerate(many.words) if isinstance(word, Value))
        head, (value, closer, *rest) = many.words[:at], many.words[at:]
        assert isinstance(value, Value)  # noqa: S101 - a format without it is refused when built
        assert isinstance(closer, Literal)  # noqa: S101 - as above
        inner = [each for word in head for each in getattr(word, "words", (word,))]
        self.key = next(word for word in head if isinstance(word, Key))
        self.attribute = next((word for word in inner if isinstance(word, Attribute)), None)
        self.value, self.closers, self.marks = value, closer.spellings, Marks(form, many)
        space = rest[0] if rest and value.trim == "no" else None
        self.gap = space.text if isinstance(space, Space) else ""
        sibling = row(head)
        self.sibling = re.compile(sibling) if sibling else None

        ends = [word for word in behind if isinstance(word, Literal)]
        spelled, after = [f"{any_of(word)}{WIDE_SPACE}" for word in ends], (closer, *rest, many)
        follow = chain((*after, *behind), WORDS_AHEAD, "")
        if not any(isinstance(word, Literal) for word in rest):
            own = f"{any_of(closer)}{WIDE_SPACE}"
            incomplete = "|".join(_incomplete(spelled, _onward(form))) or "(?!)"
            # Two closers in a row are no part of a value, whatever follows them.
            follow += f"|{own}{any_of(ends[0])}" if len(ends) > 1 else ""
            follow += f"|{own}(?:{incomplete})"
        self._follow = re.compile(follow)
        self._at_end = re.compile(chain((*after, *behind), WORDS_AHEAD, r"\Z"))
        texts, restart = {*closer.spellings}, "(?!)"
        if ends and form.opener and not texts.intersection(ends[-1].spellings):
            restart = f"{spelled[-1]}{_onward(form)}"
            texts.update(ends[-1].spellings)
        self._restart = re.compile(restart)
        self._first = re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True))))
        self._held = max(map(len, texts)) - 1
        optional, last = "".join(f"(?:{end})?+" for end in spelled[:-1]), "".join(spelled[-1:])
        over = [any_of(form.around[1])] if form.around and form.around[1].text else []
        over += ["".join(spelled)] if ends else []
        self._before_restart = re.compile(rf"{optional}\Z")
        lost = rf"{optional}{last}(?:(?:{_ignored(form)}){WIDE_SPACE})*+\Z"
        self._lost = re.compile(lost if ends else "(?!)")
        self._over = re.compile("|".join(over) or "(?!)")
        self.plain = self._plain(many, (closer, form.closer or closer), rest)

    def _plain(self, many: Many, closers: tuple[Literal, ...], rest: list[Word]) -> Match | None:
        """What matches an argument whose value holds nothing that markup begins with, to its end.

        Its groups are the key, the attribute if the format has one, and the value's text. Whatever
        it matches would be read alike word by word. None if one of the words has no pattern.
        """
        first, tail = many.words[0], row(rest, space=WIDE_SPACE)
        if self.sibling is None or tail is None or starts_with_space(many):
            return None
        assert isinstance(first, Literal)  # noqa: S101 - a format without it is refused when built
        begins = {text[0] for word in (first, *closers) for text in word.spellings}
        opener = self.value.quotes[0]
        quoted = f"(?!{re.escape(opener)})" if opener else ""
        signs = re.escape("".join(sorted(begins)))
        text = f"{quoted}([^{signs}]*+)(?={self._follow.pattern}){any_of(closers[0])}{tail}"
        groups = 2 + (self.attribute is not None)
        return matcher(f"{SPACE}{self.sibling.pattern}{text}", groups)

    # --- reading ---------------------------------------------------------------------------------

    def text_at(
        self, window: Window, key: str, live: LiveText | None
    ) -> Reading[Bare | Unreadable]:
        """The text of the argument `key`, up to the closer that fits or to its call's end."""
        pieces: list[str] = []
        own: str | None = None
        opener = self.value.quotes[0]
        quoted = bool(opener) and (yield from peek(window, literal(window, (opener,))))
        while True:
            hit = self._first.search(window.text, window.pos)
            if hit is None or not (window.final or hit.start() + self._held < len(window.text)):
                end = len(window.text) - (0 if window.final else self._held)
                end, ends = max(window.pos, end), None
            else:
                ends = self._ends(window, hit, trusted=own is not None, quoted=quoted)
                end = hit.start() + (ends is False)  # the two closers may overlap
                if ends is False and own is None and not quoted and hit.group() in self.closers:
                    own = hit.group()
            pieces.append(window.text[window.pos : end])
            window.pos = end
            if live:
                live.grow(pieces[-1])
            if ends == "call":
                return _before(window, "".join(pieces), self._before_restart, own)
            if ends:
                return "".join(pieces), True, ""
            if ends is None and window.final:
                return self._unclosed(window, "".join(pieces), key)
            if ends is None:
                yield

    def _ends(
        self, window: Window, hit: re.Match[str], *, trusted: bool, quoted: bool
    ) -> bool | str | None:
        """Whether the value ends at this closer of its own; "call" where its call does instead.

        None if more could tell. `trusted`: a closer of its own was before, in front of text that
        may be the value's or not. `quoted`: the value begins with quotes.
        """
        text, at = window.text, hit.start()
        ahead, ends = at + VALUE_AHEAD, True if hit.group() in self.closers else "call"
        if self._follow.match(text, at, ahead) or (window.final and self._at_end.match(text, at)):
            ends = True
        elif ends is True or not (trusted or self._restart.match(text, at, ahead)):
            return None if not window.final and len(text) <= ahead else False
        return self._behind_quotes(window, at) and ends if quoted else ends

    def _behind_quotes(self, window: Window, at: int) -> bool | None:
        """Whether the quotes that the value begins with do not end behind this; None to wait.

        They end before others begin, and not far away.
        """
        opener, end = self.value.quotes
        if window.text[max(0, at - WIDEST_GAP) : at].rstrip().endswith(end):
            return True
        ahead = window.text[at : at + QUOTED_AHEAD]
        stop, other = ahead.find(end), ahead.find(opener)
        if stop >= 0 or other >= 0:
            return stop < 0 or 0 <= other < stop
        return None if not window.final and len(ahead) < QUOTED_AHEAD else True

    def _unclosed(self, window: Window, text: str, key: str) -> Bare | Unreadable:
        """A value that the whole text ends in."""
        if self._lost.search(text, max(0, len(text) - VALUE_AHEAD)):
            return _before(window, text, self._lost)
        if self._over.search(text):
            return Unreadable("invalid-arguments", f"{key[:60]!r} is never closed")
        return Unreadable("truncated", "the text ends inside an argument", cut=True)


def _before(window: Window, text: str, end: re.Pattern[str], own: str | None = None) -> Bare:
    """The value without the end of its call, which is read again; up to a closer of its `own`."""
    found = end.search(text, max(0, len(text) - VALUE_AHEAD))
    size = len(text) - found.start() if found else 0
    window.pos -= size
    text = text[: len(text) - size]
    text, _, stray = text.partition(own) if own else (text, "", "")
    return text, False, stray


@lru_cache(maxsize=KEPT_CLOSINGS)
def closing_of(form: Format) -> Closing:
    """How values of a format end that has arguments one by one."""
    at, many = next((at, word) for at, word in enumerate(form.words) if isinstance(word, Many))
    return Closing(form, many, form.words[at + 1 :])


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
    opener = any_of(form.opener) if form.opener else ""
    optional = "?" if isinstance(inner, Literal) and opener else ""
    return f"(?:{opener}{optional}{start_of(form)}|{_ignored(form)})"


def _ignored(form: Format) -> str:
    """The texts behind calls that say nothing more."""
    words = [form.around[1]] if form.around else []
    words += [form.envelope.closes] if form.envelope else []
    texts = [text for word in words for text in word.spellings if text]
    return "|".join(map(re.escape, [*texts, *form.dropped])) or "(?!)"
