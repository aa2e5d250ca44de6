"""Where something begins that a set of formats cares about, found in one pass over the text.

All openers, closers and reasoning markers of a set become one pattern, each branch of which starts
with a fixed character; a bare object is looked at only when a bounded probe fits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING

from tunaeval.formats import AUTO
from tunaeval.grammar import ANY_NAME, ANY_SPACE, Format, Literal
from tunaeval.limits import KEPT_BEGINNING, KEPT_BEGINNINGS, NEAR_SPACE, SHORTEST_CUT, WORTH_A_LOOK

from .end_tokens import END_TOKENS
from .fast import FENCE
from .later_turns import TURNS
from .prompted import Prompted, prompted_of
from .tokens import Token

if TYPE_CHECKING:
    from tunaeval.types import Tools
    from tunaeval.window import Window

    from .units import Unit

_WORDS = re.compile(r"[\w ]*+")

_LONGEST_NAME = 128
_TAG_NAME = re.compile(rf"[^\W\d][\w.:-]{{0,{_LONGEST_NAME - 1}}}+")
"""A tool that an element may be named after."""

_PARTS = {ANY_SPACE: (NEAR_SPACE, 24), ANY_NAME: (r"[^\W\d][\w.:-]{0,127}+", 128)}
"""The parts of a probe that are no fixed text: a pattern, and how much it matches at most."""


class Finder:
    """The compiled search of one set of formats. What only a few texts ask for is made then."""

    def __init__(self, formats: tuple[Format, ...], *, wants_tools: bool = False) -> None:
        self.wants_tools = wants_tools
        """Whether calls that nothing marks are read only where tools are given."""
        self.formats = tuple(form for form in formats if not (form.whole or form.by_tool))
        self.by_tool = tuple(form for form in formats if form.by_tool)
        """The formats whose openers are the names of tools; see `with_tools`."""
        self.wholes = tuple(form for form in formats if form.whole)
        """The formats whose calls are all of a reply, or of a code fence; nothing marks them."""
        self.tokens = _tokens(self.formats, self.by_tool)
        if self.wholes:
            self.tokens.setdefault(FENCE, Token("fence", FENCE))
        for text in TURNS:
            self.tokens.setdefault(text, Token("turn", text))
        for text in END_TOKENS:
            self.tokens.setdefault(text, Token("end_of_text", text))
        self._rows: tuple[tuple[tuple[str, ...], Format], ...] = tuple(
            (row, form)
            for form in self.formats
            for word in (form.call or form.python,)
            for row in (word.opens if word else ())
        )

    def with_tools(self, tools: Tools | None, text: str | None = None) -> Finder:
        """The finder that also finds elements named after tools, of those that are in the text.

        Without a text, which is one that arrives, of all of them.
        """
        if not (self.by_tool and tools) or (text is not None and "<" not in text):
            return self
        names = tools if text is None else _in_tags(tools, text)
        named = filter(_TAG_NAME.fullmatch, names)
        made = [form.of_tool(name) for name in named for form in self.by_tool]
        fresh = tuple(form for form in made if form.opener and form.opener.text not in self.tokens)
        if not fresh:
            return self
        return finder_of((*self.formats, *self.wholes, *fresh), wants_tools=self.wants_tools)

    @cached_property
    def search(self) -> re.Pattern[str]:
        """Where something begins; compiled when a text is met that is more than one block."""
        return _search(self._before_calls, self._rows)

    @cached_property
    def search_on(self) -> re.Pattern[str]:
        """Where something begins behind a call: a later turn, too."""
        return _search(self.tokens, self._rows)

    def search_of(self, text: str) -> re.Pattern[str]:
        """The search that finds the same as `search` in this text, perhaps faster.

        Where letters begin nothing that is looked for, prose is passed over twice as fast.
        """
        words = self._words
        if not words or len(text) < WORTH_A_LOOK or any(word in text for word in words):
            return self.search
        return self._wordless

    @cached_property
    def _before_calls(self) -> tuple[str, ...]:
        """The texts that mean something even before the first call."""
        return tuple(text for text, token in self.tokens.items() if token.kind != "turn")

    @cached_property
    def begin(self) -> re.Pattern[str]:
        """The characters that something may begin with."""
        beginnings = [*((text,) for text in self.tokens), *(row for row, _ in self._rows)]
        firsts = {
            _PARTS[row[0]][0] if row[0] in _PARTS else re.escape(row[0][0]) for row in beginnings
        }
        return re.compile("|".join(sorted(firsts)) or "(?!)")

    @cached_property
    def _words(self) -> tuple[str, ...]:
        return tuple(text for text in self._before_calls if text[:1].isalpha())

    @cached_property
    def _wordless(self) -> re.Pattern[str]:
        return _search((text for text in self._before_calls if not text[:1].isalpha()), self._rows)

    @cached_property
    def prompted(self) -> Prompted | None:
        """How texts begin where the prompt ends with the opener of the first format."""
        return prompted_of(self.formats[0]) if self.formats else None

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """How units begin that are calls of one of `wholes` alone."""
        from .units import unit_of  # noqa: PLC0415 - imports the readers of blocks

        return tuple(map(unit_of, self.wholes))

    @cached_property
    def cut_ends(self) -> frozenset[str]:
        """The last `SHORTEST_CUT` characters of all that `cut` may find."""
        return frozenset(text[-SHORTEST_CUT:] for text in _cut_openers(self.formats))

    @cached_property
    def regions(self) -> dict[str, set[str]]:
        """What may begin around all calls, each with what may end there.

        Without markers of their own there may be anything else, too: a program.
        """
        found: dict[str, set[str]] = {}
        for form in self.formats:
            for text in form.around[0].spellings if form.marked and form.around else ():
                found.setdefault(text, set()).update(form.around[1].spellings)  # type: ignore[index]  # it has one
        return found

    @cached_property
    def announcing(self) -> re.Pattern[str]:
        """What begins a call, or stands around calls, even where nothing else tells of them."""
        texts = {
            text
            for form in self.formats
            if form.marked and form.opener and not form.addressed
            for word in (form.opener, *(form.around or ())[:1])
            for text in word.spellings
        }
        return _search(filter(None, texts), ())

    @cached_property
    def _met(self) -> dict[str, Token]:
        """Short beginnings of bare objects that were met, with their tokens."""
        return {}

    @cached_property
    def _bare(self) -> tuple[tuple[re.Pattern[str], Token], ...]:
        made = ((re.compile(_probe(row)), form) for row, form in self._rows)
        return tuple((probe, Token("bare", formats=(form,))) for probe, form in made)

    @cached_property
    def _partial(self) -> re.Pattern[str]:
        rows = [row for row, _ in self._rows]
        return re.compile(rf"(?:{'|'.join(map(_prefixes, rows)) or '(?!)'})\Z")

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        """Every beginning of a fixed text that is not the whole of it."""
        return frozenset(text[:size] for text in self.tokens for size in range(1, len(text)))

    @cached_property
    def _first_signs(self) -> re.Pattern[str]:
        signs = "".join({text[0] for text in self._beginnings})
        return re.compile(f"[{re.escape(signs)}]" if signs else r"(?!)")

    @cached_property
    def _longest_text(self) -> int:
        return max(map(len, self.tokens), default=0)

    @cached_property
    def _longest(self) -> int:
        return max([*map(len, self.tokens), *(_length(row) for row, _ in self._rows)], default=0)

    @cached_property
    def _cut(self) -> re.Pattern[str]:
        cuts = sorted(map(re.escape, _cut_openers(self.formats)), key=len, reverse=True)
        return re.compile(rf"(?:{'|'.join(cuts)})\Z" if cuts else r"(?!)")

    def token(self, hit: re.Match[str]) -> Token:
        """What was hit."""
        found = hit.group()
        known = self.tokens.get(found) or self._met.get(found)
        if known is None:
            text, start = hit.string, hit.start()
            known = next(token for probe, token in self._bare if probe.match(text, start))
            if len(found) <= KEPT_BEGINNING and len(self._met) < KEPT_BEGINNINGS:
                self._met[found] = known
        return known

    def begins(self, text: str, form: Format) -> bool:
        """Whether this opener is that format's first of all, and no other token begins with it."""
        known = self.tokens.get(text)
        if known is None:
            return False
        longer = any(other.startswith(text) and other != text for other in self.tokens)
        return known.formats[:1] == (form,) and not longer

    def next_in(self, window: Window, *, called: bool = False) -> tuple[re.Match[str] | None, int]:
        """The next token of a text that may go on, and where it begins; `called`: behind a call.

        Where there is none that is certain, from where on one may begin when more comes.
        """
        text, start = window.text, window.pos
        hit = (self.search_on if called else self.search).search(text, start)
        if hit is None:
            return None, self._first_partial(text, start)
        if hit.start() < len(text) - self._longest:
            return hit, hit.start()
        held = self.held(window)
        return (None, held) if held <= hit.start() else (hit, hit.start())

    def held(self, window: Window) -> int:
        """From where on the window's text may become a token when more comes; its end if nowhere.

        The answer holds until more text arrives or the position is behind it, and a short piece
        may have many markers, so it is looked for once and kept in the window.
        """
        text, start = window.text, window.pos
        size, at = window.held
        if size != window.base + len(text) or at < window.base + start:
            at = window.base + self._first_partial(text, start)
            window.held = window.base + len(text), at
        return at - window.base

    def _first_partial(self, text: str, start: int) -> int:
        """The first place from `start` on whose rest begins a token; the text's end if none."""
        first = end = len(text)
        for hit in self._first_signs.finditer(text, max(start, end - self._longest_text + 1)):
            if text[hit.start() :] in self._beginnings:
                first = hit.start()
                break
        partial = self._partial.search(text, max(start, end - self._longest))
        return min(first, partial.start()) if partial else first

    def cut(self, text: str) -> str:
        """The beginning of an announcing opener that `text` ends in; "" if there is none."""
        found = self._cut.search(text)
        return found.group() if found else ""

    def cut_around(self, said: str) -> str:
        """What was said since calls were announced, if it is less of an opener than `cut` finds."""
        said = said.strip()
        begins = 0 < len(said) < SHORTEST_CUT and any(
            text.startswith(said)
            for form in self.formats
            for text in (form.opener.spellings if form.opener and form.around else ())
        )
        return said if begins else ""


@lru_cache(maxsize=256)
def finder_of(formats: tuple[Format, ...], *, wants_tools: bool = False) -> Finder:
    """The finder of these formats; made once."""
    return Finder(formats, wants_tools=wants_tools)


@cache
def everything() -> Finder:
    """The finder of `auto`: all formats that are read side by side."""
    return finder_of(AUTO, wants_tools=True)


def _in_tags(tools: Iterable[str], text: str) -> list[str]:
    """The tools that a text may have a tag of, or ends in one."""
    found = [name for name in tools if f"{name}>" in text]
    last = text.rfind("<")
    cut = text[last : last + _LONGEST_NAME + 2]
    if len(cut) >= SHORTEST_CUT and ">" not in cut:
        found += [name for name in tools if f"<{name}>".startswith(cut)]
    return found


def _search(
    texts: Iterable[str], rows: Iterable[tuple[tuple[str, ...], Format]]
) -> re.Pattern[str]:
    branches = [*_trie(texts), *dict.fromkeys(_probe(row) for row, _ in rows)]
    return re.compile("|".join(branches) or r"(?!)")


def closers_of(formats: tuple[Format, ...]) -> list[str]:
    """The texts that end a block of one of the formats."""
    return [text for form in formats if form.closer for text in form.closer.spellings]


def _cut_openers(formats: tuple[Format, ...]) -> set[str]:
    """What is left of an opener when the text ends in it; words alone are only words."""
    return {
        text[:length]
        for form in formats
        if form.opener and form.marked
        for word in (form.opener, *(form.around or ())[:1])
        for text in (*word.spellings, *_opens(form))
        for length in range(SHORTEST_CUT, len(text))
        if not _WORDS.fullmatch(text, 0, length)
    }


def _tokens(formats: tuple[Format, ...], by_tool: tuple[Format, ...] = ()) -> dict[str, Token]:
    """Every fixed text and what it means; an opener before a closer before what stands around."""
    tokens: dict[str, Token] = {}
    for reasoning in (one for form in (*formats, *by_tool) for one in form.reasoning):
        opener, closer = reasoning.open, reasoning.close
        tokens.setdefault(opener, Token("reasoning", opener, reasoning=reasoning))
        tokens.setdefault(closer, Token("end_reasoning", closer, reasoning=reasoning))
    for form in formats:
        for text in _opens(form):
            message = tokens.get(text, Token("message", text))
            addressed = message.addressed or form.addressed
            tokens[text] = replace(message, formats=(*message.formats, form), addressed=addressed)
    around = {text for form in formats for text in _around(form)}
    around.discard("")  # markers that are read, and not written
    first = {text for form in formats if form.around for text in form.around[0].spellings}
    for form in formats:
        for text in _openers(form):
            fresh = Token("open", text, around=text in around, announces=text in first)
            known = tokens.get(text, fresh)
            tokens[text] = replace(known, formats=(*known.formats, form))
    for form in formats:
        for fresh in _closers(form, around):
            known = tokens.setdefault(fresh.text, fresh)
            if known is not fresh and known.kind == "close":
                tokens[fresh.text] = replace(known, formats=(*known.formats, *fresh.formats))
    for text in around:
        tokens.setdefault(text, Token("around", text, announces=text in first))
    return tokens


def _closers(form: Format, around: set[str]) -> Iterable[Token]:
    """What ends calls, and what ends messages, of which the first of several ends a call."""
    for text in form.closer.spellings if form.closer else ():
        yield Token("close", text, (form,), around=text in around)
    closes = form.envelope.closes if form.envelope else Literal("")
    for text in filter(None, closes.spellings):
        of_calls = (form,) if closes.also and text == closes.text else ()
        yield Token("end", text, of_calls)


def _openers(form: Format) -> tuple[str, ...]:
    """What may begin a block by itself; a block behind a header that has its name may not."""
    return form.opener.spellings if form.opener and not form.addressed else ()


def _opens(form: Format) -> tuple[str, ...]:
    """What the messages of a format begin with, if it has any."""
    return form.envelope.opens.spellings if form.envelope else ()


def _around(form: Format) -> Iterable[str]:
    """The texts of a format that are markup wherever they stand."""
    yield from form.dropped
    yield from (text for word in form.around or () for text in word.spellings)
    yield from (route.body for route in form.envelope.routes) if form.envelope else ()


def _trie(texts: Iterable[str]) -> list[str]:
    """Branches that match the longest of `texts`, each beginning with a fixed character."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        if text:
            groups.setdefault(text[0], []).append(text[1:])
    branches = []
    for first, rests in sorted(groups.items()):
        inner = _trie(rests)
        if not inner:
            branches.append(re.escape(first))
        elif "" in rests:
            branches.append(f"{re.escape(first)}(?:{'|'.join(inner)})?")
        elif len(inner) == 1:
            branches.append(re.escape(first) + inner[0])
        else:
            branches.append(f"{re.escape(first)}(?:{'|'.join(inner)})")
    return branches


def _probe(row: tuple[str, ...]) -> str:
    return "".join(_PARTS[part][0] if part in _PARTS else re.escape(part) for part in row)


def _prefixes(row: tuple[str, ...]) -> str:
    """A pattern for every beginning of `row` that is not the whole of it."""
    atoms = [
        atom
        for part in row
        for atom in ([_PARTS[part][0]] if part in _PARTS else [re.escape(char) for char in part])
    ]
    pattern = ""
    for atom in reversed(atoms[1:-1]):
        pattern = f"(?:{atom}{pattern})?+"
    return atoms[0] + pattern if len(atoms) > 1 else "(?!)"


def _length(row: tuple[str, ...]) -> int:
    return sum(_PARTS[part][1] if part in _PARTS else len(part) for part in row)
