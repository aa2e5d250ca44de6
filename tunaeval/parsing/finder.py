"""Finds the markers of a set of formats in one pass over a text.

All openers, closers and reasoning markers of a set become one pattern, each branch of which starts
with a fixed character; an object without markers is found by a bounded pattern of its beginning. A
hit is a `Token`, which may be the opener of several formats. The text after it, up to a bounded
distance, is matched with the next words of each format to choose one (for messages: with headers).

Patterns are possessive, so that they never backtrack into a word and no text makes them slow.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from itertools import chain as joined
from typing import Any, NamedTuple, TypeAlias
from typing import Literal as OneOf

from tunaeval import limits
from tunaeval.grammar import (
    ANY_NAME,
    ANY_SPACE,
    WITH_COLONS,
    Arguments,
    Attribute,
    CallObject,
    Channel,
    Elements,
    Key,
    Literal,
    Many,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Space,
    Word,
    combine,
    spellings,
    starts_with_space,
)
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import AUTO
from tunaeval.grammar.turns import BEGINNINGS, FAMILIES, PROMPTED, Turns
from tunaeval.limits import NEAR_SPACE, WIDE_SPACE
from tunaeval.types.calls import Tools

from .search import Either, Search
from .stripped import Frames, frames_of
from .window import Reading, Window

TokenKind: TypeAlias = OneOf[
    "open", "bare", "close", "close_tag", "spaced", "around", "reasoning", "end_reasoning",
    "message", "end", "fence", "turn", "own_turn", "turn_end", "dialogue", "end_of_text",
]  # fmt: skip

Match: TypeAlias = Callable[[str, int, int], "re.Match[str] | None"]
"""Matches a text from one index up to another: a compiled pattern's `match`."""

FENCE = "```"
"""The ticks around a Markdown code fence, which may contain calls or code."""

END_TOKENS = tuple(dict.fromkeys(text for family in FAMILIES for text in family.ends))
"""Tokens of chat templates with which a model ends its turn; most servers remove them."""

_END_TOKEN = "|".join(map(re.escape, END_TOKENS))
_BEGINNING = "|".join(map(re.escape, BEGINNINGS))
only_ends = re.compile(rf"(?:{_END_TOKEN}|{_BEGINNING}|\s)*+").fullmatch
"""Match a text without a word: end tokens, those that begin a conversation, and white space."""
_ENDS = re.compile(rf"(?:(?:{_END_TOKEN})\s{{0,40}}+){{1,8}}+")
ends_turn = re.compile(rf"(?:{_END_TOKEN})\s{{0,8}}+\Z").search
_LAST_ENDS = re.compile(rf"(?:(?:{_END_TOKEN})\s*+){{1,8}}\Z")


def ends_text(window: Window) -> int | None:
    """Return the length of the rest if it has only end tokens, else 0; None until that is known."""
    found = _ENDS.match(window.text, window.pos)
    end = found.end() if found else window.pos
    rest = window.text[end : end + max(map(len, END_TOKENS))]
    if not rest and window.final:
        return end - window.pos
    waits = not window.final and any(token.startswith(rest) for token in END_TOKENS)
    return None if waits else 0


def before_end_tokens(text: str) -> int:
    """Return the index where up to eight end tokens at the end begin, or else the text's length."""
    found = _LAST_ENDS.search(text) if text.rstrip().endswith(END_TOKENS) else None
    return found.start() if found else len(text)


LINES = (
    "### Instruction", "### Input", "### User", "### Human", "### Question", "### Response",
    "### Assistant", "User:", "Human:", "Assistant:", "Question:", "Output:", "Observation:", '"""',
    "'''",
)  # fmt: skip
"""Texts that begin a later turn if they begin a line and come after a call.

A heading for an answer is included, as the model has answered already. So are triple quotes: the
model continues with a program in which its answer is a string.
"""

_LINE = rf"(?m:^)[ \t]*+(?:{'|'.join(map(re.escape, LINES))})"

SPACE = r"[ \t\r\n]*+"
ATTRIBUTE = r"[^\"'<>\r\n]{0,40}+"


def row(words: Iterable[Word], *, space: str = SPACE) -> str | None:
    """Return a regular expression of the words in sequence; None if one of them has none.

    It has a group for each name, key and attribute, in the order of the words.
    """
    parts = [_word(word, space) for word in words]
    return None if None in parts else "".join(map(str, parts))


def any_of(word: Literal) -> str:
    """Return a regular expression of a literal's spellings, of which the longest come first."""
    longest_first = sorted(word.spellings, key=len, reverse=True)
    return f"(?>{'|'.join(map(re.escape, longest_first))})"


_DATA = re.compile(r'[][{}", ]++\Z').match


def twice(opener: Literal | None) -> tuple[str, ...]:
    """Return the spellings of an opener that models may write twice; () if it could be data."""
    return () if opener is None or _DATA(opener.text) else opener.spellings


def _word(word: Word, space: str) -> str | None:
    """Return a regular expression of one word, for `row`; None if there is none."""
    match word:
        case Literal():
            # The Space before the literal would match the literal's white space, too.
            return None if word.text[0].isspace() else any_of(word)
        case Space():
            return space
        case Markup():
            return f"(?>(?:{word.pattern})?)"
        case Name():
            before = f"(?:{re.escape(word.before)})?+" if word.before else ""
            after = f"(?>(?:{word.after})?)" if word.after else ""
            return f"{before}((?>{word.pattern})){after}"
        case Key():
            return f"((?>{word.regex}))"
        case Attribute():
            return f"({ATTRIBUTE})"
        case Maybe():
            inner = row(word.words, space=space)  # None: recovering readers read them
            first = row(word.words[:1])
            return first and f"(?>{inner}|(?!{first}))" if inner else first and f"(?!{first})"
    return None


_ARRAY = rf"(?:\{{|\[{NEAR_SPACE}[^\w\s])"
"""An object, or an array of anything that cannot be a list of Python calls."""
_OBJECT = rf"{NEAR_SPACE}\{{"
_LONGEST_NAME = 128
_NAME = rf"[^\W\d][\w.:-]{{0,{_LONGEST_NAME - 1}}}+"
"""A tool's name that an element may have as its tag, or that begins a call in a list."""

_START_OF_LIST, _CALL = rf"(?:\[{NEAR_SPACE})?", rf"{_NAME}{NEAR_SPACE}\("


def start_of(form: Format, end: str = "") -> str:
    """Return a pattern of what follows a format's opener; see `chain`."""
    return chain(form.words[1:], limits.WORDS_AHEAD, end)


def chain(words: tuple[Word, ...], literals: int, end: str) -> str:
    r"""Return a pattern that matches the first words, at most `literals` fixed texts among them.

    If `end` is `\Z`, the pattern also matches texts that end within these words.
    """
    if not literals or not words:
        return ""
    word, rest = words[0], words[1:]
    match word:
        case Space():
            return WIDE_SPACE + chain(rest, literals, end)
        case Literal():
            texts = "|".join(map(re.escape, word.spellings))
            cuts = _cuts(word.spellings, end) or "(?!)"
            return f"(?:(?:{texts}){chain(rest, literals - 1, end)}|{cuts})"
        case Many(words=(Literal() as first, *_)) | Maybe(words=(Literal() as first, *_)):
            space = WIDE_SPACE if isinstance(word, Many) and not starts_with_space(word) else ""
            return space + _perhaps(first.spellings, chain(rest, literals, end), end)
        case Elements():
            return WIDE_SPACE + _perhaps((f"{word.prefix}<",), chain(rest, literals, end), end)
        case Name() | Markup() | Key():
            before = _optional(word.before, end) if isinstance(word, Name) else ""
            behind = f"(?:{word.after})?" if isinstance(word, Name) else ""
            cut = f"|{before}{end}" if end else ""
            pattern = word.regex if isinstance(word, Key) else word.pattern
            return f"(?:{before}(?:{pattern}){behind}{chain(rest, literals, end)}{cut})"
        case CallObject():
            array = word.array and not word.any_keys
            start = _ARRAY if array else rf"(?:\{{|\[{NEAR_SPACE}\{{)"
        case Arguments(optional=True):
            start = rf"(?:{_OBJECT}|{chain(rest, literals, end)})"
        case _:
            is_list = isinstance(word, PythonCalls)
            start = rf"{_START_OF_LIST}[^\W\d]" if is_list else _OBJECT
    return rf"(?:{start}|\[?{NEAR_SPACE}{end})" if end else start


def _perhaps(texts: tuple[str, ...], rest: str, end: str) -> str:
    """Return a pattern of one of the texts, or its beginning if `end` follows, or of `rest`."""
    cuts = f"|{_cuts(texts, end)}" if end else ""
    return f"(?:{'|'.join(map(re.escape, texts))}{cuts}|{rest})"


def _cuts(texts: tuple[str, ...], end: str) -> str:
    """Return a pattern of the beginnings of texts before `end`; "" if `end` is empty."""
    return "|".join(_beginnings(map(re.escape, text)) + end for text in texts if end)


def _optional(text: str, end: str) -> str:
    """Return a pattern of an optional text; with an `end`, also of its beginnings."""
    return _beginnings(map(re.escape, f"{text}.")) if end else f"(?:{re.escape(text)})?"


def _beginnings(atoms: Iterable[str]) -> str:
    """Return a pattern of every proper prefix of a text, including the empty one.

    `atoms` are patterns of the text's characters.
    """
    pattern = ""
    for atom in reversed([*atoms][:-1]):
        pattern = f"(?:{atom}{pattern})?+"
    return pattern


@dataclass(eq=False)
class Token:
    """A text with a meaning in some formats, such as an opener or a closer.

    `around`: in some format, the text also encloses the whole list of calls. `announces`: the
    text comes before the first of all calls. `closer` ends the reasoning that the text begins, or
    what another has said. If the text is a `tag`, it may enclose any body: the last `combined` of
    the formats are made so. `turns` are the families in which the text begins a turn; `within`: it
    begins one only within another's; `is_rest`: it is a header without its head.
    """

    kind: TokenKind
    text: str = ""
    formats: tuple[Format, ...] = ()
    around: bool = False
    announces: bool = False
    closer: str = ""
    tag: combine.Tag | None = None
    combined: int = 0
    turns: tuple[Turns, ...] = ()
    within: bool = False
    is_rest: bool = False

    @cached_property
    def header(self) -> Match:
        """What matches the header of a turn that this token begins, or, as a group, only a part of
        it at a text's end.
        """
        if self.closer or not self.turns:
            return re.compile(re.escape(self.text)).match
        rows = [row for one in self.turns for row in one.rows(self.text, is_rest=self.is_rest)]
        whole = (row + re.escape(tail) for row, tail in rows)
        parts = ((row, _beginnings(map(re.escape, tail))) for row, tail in rows if tail)
        cut = (rf"{row}(?:{part}|<\|?\w{{0,16}}\|?)\Z" for row, part in parts)
        return re.compile(f"{'|'.join(whole)}|({'|'.join(cut) or '(?!)'})").match

    @cached_property
    def turn_ends(self) -> re.Pattern[str]:
        """The pattern of what ends a turn of another: its closer, or a header of the model's."""
        found = dict.fromkeys([re.escape(self.closer)] if self.closer else ())
        for one in self.turns:
            behind = "|".join(f"(?<={re.escape(end)})" for end in one.closed)
            for text in one.model:
                own = (row + re.escape(tail) for row, tail in one.rows(text))
                found |= dict.fromkeys(f"(?:{behind}){row}" for row in own)
        return re.compile("|".join(found) or "(?!)")

    @cached_property
    def follows(self) -> tuple[Match, ...]:
        """For each format, what matches the text that must follow this token as its opener."""
        starts = (
            _start_in_tag(form, self.formats) if self.combined or form.tool else start_of(form)
            for form in self.formats
        )
        return tuple(re.compile(start).match for start in starts)

    @cached_property
    def is_sure(self) -> bool:
        """Whether it is of one format, whatever follows: neither around calls nor a body's tag."""
        return len(self.formats) == 1 and not (self.combined or self.around)

    def fitting(self, text: str, at: int) -> int:
        """Return the index of the first format that the text at index `at` fits, or -1."""
        if self.is_sure:
            return 0
        for index, follows in enumerate(self.follows):
            if follows(text, at, at + limits.OPENER_AHEAD):
                return index
        return -1

    @property
    def own(self) -> tuple[Format, ...]:
        """The formats that have this text themselves."""
        return self.formats[: len(self.formats) - self.combined]

    @cached_property
    def begun(self) -> tuple[Match, ...]:
        """For each format, what matches an incomplete text that `follows` may match later."""
        return tuple(re.compile(start_of(form, r"\Z")).match for form in self.formats)

    @cached_property
    def headers(self) -> tuple[tuple[Header, ...], ...]:
        """For each format, the kinds of messages that may begin with this token."""
        return tuple(map(_headers_of, self.formats))

    def nearest(self, text: str, at: int) -> Format:
        """Return the format to read a broken block with: one with a name next, if `text` has a
        name at index `at`, after the opener; else the first one.
        """
        named = (form for form in self.own if words_behind(form)[:1] == [Name])
        return (next(named, None) if _NAME_NEAR(text, at) else None) or self.formats[0]

    def may_be_word(self, form: Format) -> bool:
        """Whether this opener is ambiguous and ends in `=`, so that any word may be the name."""
        ends = len(self.formats) > 1 and form.opener and form.opener.text.endswith("=")
        return bool(ends) and isinstance(form.words[1], Name)


def _start_in_tag(form: Format, among: tuple[Format, ...]) -> str:
    """Return a pattern of what follows a tag that begins a body of one format `among` several.

    A list is left to those that have lists, and a word alone begins none of the bodies.
    """
    if form.call and not form.call.array and any(f.call and f.call.any_keys for f in among):
        return _OBJECT
    if form.python:
        return rf"{WIDE_SPACE}{_START_OF_LIST}{_CALL}"
    many = next((word for word in form.words if isinstance(word, Many)), None)
    own = combine.BODIES.get(form.name, form) is form
    if many and (form.tool or (stands_alone(form) and not own)):
        name = "" if form.tool else f"{Name(WITH_COLONS).pattern}{WIDE_SPACE}"
        first = any_of(many.words[0]) if isinstance(many.words[0], Literal) else ""
        return f"{WIDE_SPACE}{name}{first}"
    return start_of(form)


def after_opener(form: Format) -> Literal | None:
    """Return the fixed text that follows a format's opener, or None if another word does."""
    word = next((word for word in form.words[1:] if not isinstance(word, Space)), None)
    return word if isinstance(word, Literal) else None


def words_behind(form: Format) -> list[type[Word]]:
    """Return the types of a format's words after the first, without `Space` and `Maybe`."""
    return [type(word) for word in form.words[1:] if not isinstance(word, Space | Maybe)]


def stands_alone(form: Format) -> bool:
    """Whether a block of a format may have a name and nothing else between its markers."""
    return form.opener is not None and words_behind(form) == [Name, Many, Literal]


_NAME_NEAR = re.compile(rf"{NEAR_SPACE}\w").match


def format_at(window: Window, token: Token) -> Reading[Format | None]:
    """Return the first format whose next words follow the token at the window's position.

    The reader waits while more text could still fit a format before the chosen one.
    """
    while True:
        text, at = window.text, window.pos + len(token.text)
        index = token.fitting(text, at)
        if (
            window.final
            or token.is_sure
            or len(text) > at + limits.OPENER_AHEAD
            or (index >= 0 and not any(begun(text, at, len(text)) for begun in token.begun[:index]))
        ):
            return token.formats[index] if index >= 0 else None
        yield


class Header(NamedTuple):
    """A kind of message of a format.

    `opens_call`: the body begins with the opener of a call's block. `match` matches the header,
    with the tool's name as the group `name` if it has one, and the fixed text at the start of the
    body; `follows` matches what must follow that text.
    """

    form: Format
    channel: Channel
    opens_call: bool
    match: Match
    follows: Match


def header_at(window: Window, token: Token) -> Reading[tuple[Header, re.Match[str]] | None]:
    """Return the kind of header that begins here with this token, and its match; None if none."""
    while True:
        text, start = window.text, window.pos
        end = start + len(token.text) + limits.HEADER_AHEAD
        fitting = []
        for kinds in token.headers:
            for kind in kinds:
                if hit := kind.match(text, start, end):
                    fitting.append((kind, hit))
                    break
        proven = fitting
        if len(fitting) != 1:
            proven = [(kind, hit) for kind, hit in fitting if kind.follows(text, hit.end(), end)]
        if proven or window.final or len(text) > end:
            return next(iter(proven or fitting), None)
        yield


def _headers_of(form: Format) -> tuple[Header, ...]:
    """Return the kinds of messages of a format, one for each route of its envelope."""
    opener = form.opener.text if form.opener else None
    opens = re.escape(form.envelope.opens.text) if form.envelope else ""
    made = []
    for route in form.envelope.routes if form.envelope else ():
        opens_call = route.channel == "call" and route.body == opener
        follows = ""  # what follows a call's header distinguishes formats with the same headers
        if opens_call:
            follows = start_of(form)
        elif route.channel == "call" and opener:
            follows = rf"{NEAR_SPACE}(?:{'|'.join(map(re.escape, firsts_of(form)))})"
        header = f"(?:{opens})?{route.header}{re.escape(route.body)}"
        matches = re.compile(header).match, re.compile(follows).match
        made.append(Header(form, route.channel, opens_call, *matches))
    return tuple(made)


_WORDS = re.compile(r"[\w ]*+")

_PARTS = {ANY_SPACE: (NEAR_SPACE, 24), ANY_NAME: (_NAME, _LONGEST_NAME)}
"""Parts of a `_Row` that are no fixed text, with a pattern and the most characters it matches."""

_Row: TypeAlias = tuple[str, ...]
"""The start of an object without markers, as a row of fixed texts and keys of `_PARTS`."""


class Finder:
    """The compiled search of one set of formats. Patterns that few texts need are made lazily."""

    def __init__(
        self,
        formats: tuple[Format, ...],
        *,
        wants_tools: bool = False,
        more: tuple[Turns, ...] = (),
        base: Finder | None = None,
    ) -> None:
        self.wants_tools = wants_tools
        """Whether calls without markers are read only if tools are given."""
        self.formats = tuple(form for form in formats if not (form.whole or form.by_tool))
        self.by_tool = tuple(form for form in formats if form.by_tool)
        """The formats whose openers are the names of tools; see `with_tools`."""
        self.wholes = tuple(form for form in formats if form.whole)
        """The formats of units: their calls are all of a reply or a code fence, without markers."""
        self.tokens = _tokens(self.formats, self.by_tool)
        if self.wholes:
            self.tokens.setdefault(FENCE, Token("fence", FENCE))
        self._more = more
        self._known: dict[tuple[Turns, ...], Finder] = {(): self}
        known = {id(form.turns): form.turns for form in formats}
        self.turns = tuple(dict.fromkeys(joined(*known.values(), more)))
        """The families of templates whose turns are known."""
        messages = tuple(text for text, token in self.tokens.items() if token.kind == "message")
        for text, token in _turn_tokens(self.turns).items():
            if token.kind != "own_turn" or not text.startswith(messages):
                self.tokens.setdefault(text, token)
        for text in LINES:
            self.tokens.setdefault(text, Token("dialogue", text))
        for text in END_TOKENS:
            self.tokens.setdefault(text, Token("end_of_text", text))
        self.bodies = [form for form in formats if combine.BODIES.get(form.name) is form]
        """The formats whose calls may be in any tag."""
        self.tags: dict[str, Token] = {}
        """The tags that may begin a message, too."""
        self._add_tags()
        calls = ((form, form.call or form.python) for form in self.formats)
        self._rows: tuple[tuple[_Row, Format], ...] = tuple(
            (row, form) for form, word in calls if word for row in word.opens
        )
        self.bare: dict[str, Token] = {}
        """The tokens of objects without markers, by the pattern of their beginning."""
        if self.bodies or self._tagged:
            self.bare[combine.SPACED] = Token("spaced")
        for form in dict.fromkeys(form for _, form in self._rows):
            rows = ([*_atoms(row)] for row, each in self._rows if each is form)
            starts: dict[str, list[str]] = {}
            for first, *rest in rows:
                starts.setdefault(first, []).append("".join(rest))
            for first, rests in starts.items():
                pattern = f"{first}(?:{'|'.join(rests)})"
                self.bare.setdefault(pattern, Token("bare", formats=(form,)))
        self._base = base if base and [*base.bare] == [*self.bare] else None
        """The finder of all formats but those of tools' tags, whose patterns are compiled once."""
        self._own = [text for text in self.tokens if base and text not in base.tokens]

    def _add_tags(self) -> None:
        """Add the tags that mean a call, if any of the formats reads calls inside of them."""
        for tag in combine.TAGS.values():
            token = self.tokens.get(tag.opener)
            lacks = token is not None and any(form.closer is None for form in token.formats)
            if not (self.bodies or self._tagged or lacks):
                continue
            made = [
                combine.inside(body, tag)
                for body in self.bodies
                if body.opener is None or body.opener.text != tag.opener
            ]
            token = self.tokens.setdefault(tag.opener, Token("open", tag.opener))
            if token.kind == "message":
                token = self.tags[tag.opener] = Token("open", tag.opener)
            if token.kind == "open":
                token.formats += (*made,)
                token.tag, token.combined = tag, len(made)
            for text in tag.closers:
                self.tokens.setdefault(text, Token("close_tag", text))

    @cached_property
    def _tagged(self) -> list[str]:
        """The openers of single calls that are tags, around which other tags may be."""
        openers = (text for form in self.formats if form.marked for text in spellings(form.opener))
        return [text for text in openers if text.startswith("<") and text[1].isalpha()]

    @cached_property
    def in_tag(self) -> Match:
        """Matches what may follow a tag around calls: more tags, and an opener or a body."""
        tags, openers = map("|".join, (map(re.escape, combine.TAGS), map(re.escape, self._tagged)))
        space = rf"<(?:{combine.SPACE_OF_NAMES}:)"
        openers += rf"|{space}invoke name="
        one = rf"(?:{tags}|{space}\w{{4,14}}+>){WIDE_SPACE}"
        body = rf"[\[{{]|<name>|{_NAME}{WIDE_SPACE}[{{(]" if self.bodies else "(?!)"
        return re.compile(
            rf"{WIDE_SPACE}(?:(?:{one}){{0,3}}(?:{openers})|(?:{one}){{1,3}}(?:{body}))"
        ).match

    @cached_property
    def frames(self) -> Frames:
        """The frames of the formats without their special tokens."""
        return self._base.frames if self._base else frames_of(self.formats)

    @cached_property
    def dialects(self) -> tuple[Format, ...]:
        """The formats of objects that begin as those of an earlier format, and have other keys."""
        first = dict(reversed(self._rows))
        later = (form for row, form in self._rows if first[row] is not form and form.call)
        return tuple(dict.fromkeys(later))

    def with_tools(self, tools: Tools | None, text: str | None = None) -> Finder:
        """Return a finder that also finds elements that are named after tools.

        With a `text`, only tools of which it may have a tag are included. Without one, the text is
        a stream, and all tools are.
        """
        if tools is None or not self.by_tool or (text is not None and "<" not in text):
            return self
        names, tags = [*tools], tags_of(tools)
        if text is not None:  # tools whose tag is in the text, or cut off at its end
            last = text.rfind("<")
            cut = text[last : last + _LONGEST_NAME + 2]
            names = [name for name, tag in tags.items() if tag in text]
            if len(cut) >= limits.SHORTEST_CUT and ">" not in cut:
                names += [name for name in tags if f"<{name}>".startswith(cut)]
            if not names:
                return self
        return _with_tags(self, tuple(name for name in names if name in tags))

    def tagged(self, names: tuple[str, ...]) -> Finder:
        """Return a finder that also finds the elements that are named after these tools."""
        made = [form.of_tool(name) for name in names for form in self.by_tool]
        fresh = [form for form in made if form.opener and form.opener.text not in self.tokens]
        forms = (*self.formats, *self.wholes, *fresh)
        if not fresh:
            return self
        return Finder(forms, wants_tools=self.wants_tools, more=self._more, base=self)

    def knowing(self, more: tuple[Turns, ...]) -> Finder:
        """Return a finder that also knows the turns of these families."""
        if more not in self._known:
            forms, more_turns = (*self.formats, *self.wholes, *self.by_tool), (*self._more, *more)
            self._known[more] = finder_of(forms, wants_tools=self.wants_tools, more=more_turns)
        return self._known[more]

    @cached_property
    def search(self) -> Search:
        """The pattern of tokens before the first call: none of a dialogue in words."""
        if self._base:
            return Either(self._base.search, search_for(self._own))
        return search_for(self._before_calls, self.bare)

    @cached_property
    def search_on(self) -> Search:
        """The pattern of tokens after a call, those of a dialogue in words included."""
        if self._base:
            return Either(self._base.search_on, search_for(self._own))
        return search_for(self.tokens, self.bare)

    def search_of(self, text: str) -> Search:
        """Return a pattern that finds the same in this text as `search`, but faster if possible.

        In a long text without the tokens that begin with a letter, these need not be looked for.
        """
        if len(text) < limits.WORTH_A_LOOK:
            return self.search
        words, wordless = self.wordless
        return self.search if not words or any(word in text for word in words) else wordless

    @cached_property
    def _before_calls(self) -> tuple[str, ...]:
        """The texts of tokens that are searched before the first call: all but a dialogue's."""
        return tuple(text for text, token in self.tokens.items() if token.kind != "dialogue")

    @cached_property
    def others(self) -> re.Pattern[str]:
        """The pattern of texts that begin a turn of another."""
        if self._base:
            return self._base.others
        return search_for((text for text, one in self.tokens.items() if one.kind == "turn"), ())

    @cached_property
    def later(self) -> re.Pattern[str]:
        """The pattern of texts that begin a turn of another, or a dialogue in words."""
        return self._base.later if self._base else re.compile(f"{self.others.pattern}|{_LINE}")

    def begun(self, text: str, *, final: bool) -> tuple[Token, int, int] | bool | None:
        """Return the turn that a text begins in the header of, and where role and header end.

        False if the text begins otherwise; None if more text could tell.
        """
        whole, part, roles = self.rests
        if (found := whole.match(text)) is None:
            return None if not final and part.match(text) else False
        token = roles[found[1]]
        header = token.header(text, found.start(1), found.end() + limits.HEADER_AHEAD)
        if header is None or (final and header.lastindex):
            return False
        return None if header.lastindex else (token, found.end(), header.end())

    @cached_property
    def rests(self) -> tuple[re.Pattern[str], re.Pattern[str], dict[str, Token]]:
        """Patterns of a role of a header at a text's beginning, its beginnings; turns by role."""
        if self._base:
            return self._base.rests
        roles = dict[str, Token]()
        for family in self.turns:
            for role, is_own in family.rests:
                kind: TokenKind = "own_turn" if is_own else "turn"
                roles.setdefault(role, Token(kind, role, is_rest=True)).turns += (family,)
        before = rf"(?:\s|{_BEGINNING}){{0,24}}+"
        cuts = "|".join(_trie(_cut((*roles, *BEGINNINGS))))
        whole = re.compile(f"{before}({'|'.join(_trie(roles)) or '(?!)'})")
        return whole, re.compile(rf"{before}(?:{cuts})?\Z"), roles

    @cached_property
    def wordless(self) -> tuple[tuple[str, ...], Search]:
        """The texts of `_before_calls` that begin with a letter, and a search for all others."""
        if self._base:
            words, others = self._base.wordless
            return words, Either(others, search_for(self._own))
        words = tuple(text for text in self._before_calls if text[:1].isalpha())
        return words, search_for((t for t in self._before_calls if t not in words), self.bare)

    def prompted(self, text: str, *, final: bool) -> Token | str | None:
        r"""Return what a text begins with if the prompt ended with the first format's opener.

        The template of Functionary 3.2 writes `>>>`. A reply then begins with `name\n{...}`, for
        which an opener token without text is returned, or with `all\n` before words to the user,
        which is returned, as it is markup. For all other texts, including those that begin with
        the opener or a marker around calls, "" is returned; None if more text could tell.
        """
        if self._prompt is None:
            return ""
        token, dropped, openers = self._prompt
        fixed = (*dropped, *openers)
        if not final and any(len(each) > len(text) and each.startswith(text) for each in fixed):
            return None
        if not text.startswith(openers):
            markup = next((each for each in dropped if text.startswith(each)), "")
            if markup or token.follows[0](text, 0, limits.OPENER_AHEAD):
                return markup or token
        waits = not final and len(text) < limits.OPENER_AHEAD
        return None if waits and token.begun[0](text, 0, len(text)) else ""

    @cached_property
    def _prompt(self) -> tuple[Token, tuple[str, ...], tuple[str, ...]] | None:
        """What `prompted` needs; None if the first format is not opened by the prompt."""
        form = next(iter(self.formats), None)
        if form is None or form.opener is None or not form.prompted:
            return None
        opener = form.opener.text
        dropped = (text.removeprefix(opener) for text in form.dropped if text.startswith(opener))
        return Token("open", "", (form,)), (*filter(None, dropped),), firsts_of(form)

    def begins_unit(
        self, window: Window, at: int, tools: Tools | None, *, fenced: bool
    ) -> bool | None:
        """Whether a text of calls alone may begin at index `at`; None if more text may decide."""
        text, end = window.text, len(window.text)
        for head, part in self._units:
            found = head.match(text, at, end)
            if found is None:
                if not window.final and part.match(text, at, end):
                    return None
                continue
            name = found.groupdict().get("name")
            if name is not None and tools is not None and name.replace(ESCAPED, "_") not in tools:
                continue
            if fenced or not _is_plain_list(text, at):
                return True
            if not window.final and end - at < limits.UNIT_AHEAD:
                return None
        return False

    def begins_plainly(self, text: str, at: int, tools: Tools | None) -> bool:
        """Whether a whole text surely has, at this index, none of what is read there alone: the
        rest of a header, or of a block that the prompt opens; a unit; a call without its tokens.
        """
        if tools is None or self._prompt is not None or self._odd_start(text, at):
            return False
        is_list = text.startswith("[", at) and _is_plain_list(text, at)
        if not is_list and self._unit_start(text, at):
            return False
        return "" not in self.frames or not text.startswith((*filter(None, tools),), at)

    @cached_property
    def _odd_start(self) -> Callable[[str, int], Any]:
        """What matches the beginning of any of these but a unit, or white space before it."""
        return re.compile("|".join((r"\s", self.rests[0].pattern, *_trie(self.frames)))).match

    @cached_property
    def _unit_start(self) -> Callable[[str, int], Any]:
        """What matches the beginning of a unit, or of a plain list of calls."""
        heads = (head.pattern.replace("?P<name>", "?:") for head, _ in self._units)
        return re.compile("|".join(heads) or "(?!)").match

    @cached_property
    def _units(self) -> list[tuple[re.Pattern[str], re.Pattern[str]]]:
        return [*map(unit_starts, self.wholes)]

    @cached_property
    def regions(self) -> dict[str, set[str]]:
        """Map each opening marker around all calls to the texts that may close it."""
        found: dict[str, set[str]] = {}
        for form in self.formats:
            for text in form.around[0].spellings if form.marked and form.around else ():
                found.setdefault(text, set()).update(form.around[1].spellings)  # type: ignore[index]  # it has one
        return found

    @cached_property
    def announcing(self) -> re.Pattern[str]:
        """The pattern of texts that begin a call, or all calls, without a message's header."""
        announced = (form for form in self.formats if form.marked and not form.addressed)
        return search_for((text for form in announced for text in firsts_of(form)), ())

    def token(self, hit: re.Match[str]) -> Token:
        """Return the token that a match of one of the searches has found."""
        if hit.lastindex:
            return [*self.bare.values()][hit.lastindex - 1]
        return self.tokens[hit.group()]

    def shorter(self, token: Token) -> Token | None:
        """Return the longest token that a token's text begins with, except itself."""
        ends = range(len(token.text) - 1, 0, -1)
        return next(filter(None, (self.tokens.get(token.text[:end]) for end in ends)), None)

    def begins(self, text: str, form: Format) -> bool:
        """Whether `text` is a token whose first format is `form`, and begins no longer token."""
        known = self.tokens.get(text)
        longer = any(other.startswith(text) and other != text for other in self.tokens)
        return known is not None and known.formats[:1] == (form,) and not longer

    def next_in(self, window: Window, search: Search) -> tuple[re.Match[str] | None, int]:
        """Return the next hit that more text cannot change, and its index in the window's text; if
        there is none, None and the index where one may begin when more text arrives.
        """
        text = window.text
        hit = search.search(text, window.pos)
        if window.final:
            return hit, len(text) if hit is None else hit.start()
        held = self.held(window)
        return (None, held) if hit is None or held <= hit.start() else (hit, hit.start())

    def held(self, window: Window) -> int:
        """Return the first index from which the text may become a token when more arrives, or its
        end; cached in the window, as a short text may have many markers.
        """
        end = window.base + len(window.text)
        searched, at = window.held
        if searched != end or at < window.offset:
            first = max(window.pos, len(window.text) - self._longest)
            found = self.partial.search(window.text, first)
            at = window.base + found.start() if found else end
            window.held = end, at
        return at - window.base

    @cached_property
    def partial(self) -> Search:
        """Matches, at a text's end, an incomplete token."""
        if self._base:
            return Either(self._base.partial, _at_end(_trie(_cut(self._own))))
        rows = ([*_atoms(row)] for row, _ in self._rows)
        cuts = (first + _beginnings(rest) for first, *rest in rows if rest)
        spaced = (combine.SPACED_CUT,) if combine.SPACED in self.bare else ()
        return _at_end((*_trie(_cut(self.tokens)), *spaced, *cuts))

    @cached_property
    def _longest(self) -> int:
        """The greatest length of a token's fixed text or of a row."""
        rows = ([_PARTS[p][1] if p in _PARTS else len(p) for p in row] for row, _ in self._rows)
        return max([_LONGEST_SPACED, *map(len, self.tokens), *map(sum, rows)])

    def cut(self, text: str) -> str:
        """Return the incomplete opener that `text` ends in; "" if there is none.

        One without a character other than letters, digits and spaces counts as prose.
        """
        if len(text) < limits.SHORTEST_CUT or _WORDS.fullmatch(text):
            return ""
        found = self._cuts.search(text, max(0, len(text) - limits.MAX_FIXED))
        return "" if found is None or _WORDS.fullmatch(found[0]) else found[0]

    @cached_property
    def _cuts(self) -> re.Pattern[str]:
        """Matches, at a text's end, an incomplete opener that is long enough to count."""
        forms = (form for form in self.formats if form.opener and form.marked)
        openers = (text for form in forms for text in (*firsts_of(form), *_opens(form)))
        return _at_end(_trie(_cut(openers, limits.SHORTEST_CUT)))

    def cut_around(self, text: str) -> str:
        """Return `text`, stripped, if it is an opener's start too short for `cut`; else ""."""
        text = text.strip()
        begins = 0 < len(text) < limits.SHORTEST_CUT and any(
            opener.startswith(text)
            for form in self.formats
            for opener in (spellings(form.opener) if form.around else ())
        )
        return text if begins else ""


def tags_of(tools: Tools) -> dict[str, str]:
    """Return the names of tools that an element may have as its tag, each with the tag's end."""
    found: dict[str, str] | None = tools.prepared.get(_TAGS)
    if found is None:
        names = filter(re.compile(_NAME).fullmatch, tools)
        found = tools.prepared[_TAGS] = {name: f"{name}>" for name in names}
    return found


@lru_cache(maxsize=256)
def _with_tags(finder: Finder, names: tuple[str, ...]) -> Finder:
    return finder.tagged(names)


_TAGS = " tags"  # a key of `prepared` that is no tool's name

_LONGEST_SPACED = 48
"""The greatest length of a tag in a namespace."""


@lru_cache(maxsize=256)
def spaced_token(finder: Finder, text: str) -> Token:
    """Return the token of a tag in a namespace, or of its closer."""
    space, _, name = text.removeprefix("<").partition(":")
    if space.startswith("/"):
        return Token("close_tag", text)
    if name.endswith("="):
        forms = [form for form in finder.formats if f"<{name}" in spellings(form.opener)]
        forms = [combine.in_space(form, space) for form in forms[:1]]
        tag = combine.Tag(text, (), space == combine.CLAUDE)
        return Token("open", text, (*forms,), tag=tag)
    tag = combine.tag_of(text, f"{space}:{name[:-1]}", known=space == combine.CLAUDE)
    tag = replace(tag, closers=(*tag.closers, f"</{name}"))
    made = (*(combine.inside(body, tag) for body in finder.bodies),)
    return Token("open", text, made, tag=tag, combined=len(made))


ESCAPED = "\\_"
"""An underscore as models that write Markdown escape it."""

_UNIT_NAME = r"[^\W\d](?:[\w.:/-]|\\_){0,200}+"
_QUOTED = r"""[\s\[\]'"`]{0,64}+"""
MESSAGE_MEMBER = (
    r"""["'](?:role|content|refusal|reasoning_content|id|type)["']\s{0,24}+:\s{0,24}+"""
    r"""(?:null|None|["'][^"'\\]{0,200}+["'])\s{0,24}+"""
)
"""A member that an assistant's message has beside its calls, where a model writes all of it."""
_LIST = re.compile(rf"\s{{0,64}}+\[\s{{0,64}}+{_UNIT_NAME}\s{{0,24}}+\(")
"""A plain list of calls, which is left to the formats of lists unless fenced or escaped."""


def _is_plain_list(text: str, at: int) -> bool:
    return bool(_LIST.match(text, at)) and ESCAPED not in text[at : at + limits.UNIT_AHEAD]


@lru_cache(maxsize=64)
def unit_starts(form: Format) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return patterns of the start of a text that is calls alone, and of an incomplete start.

    A group `name` of the first, if there is one, must be the name of a known tool.
    """
    if form.python:
        head = rf"""{_QUOTED}{_UNIT_NAME}['"`]?\s{{0,24}}+\("""
        part = rf"""{_QUOTED}(?:{_UNIT_NAME}(?:\\|['"`]?\s{{0,24}}+))?\Z"""
    elif form.call:
        keys, others = (
            "|".join(map(re.escape, form.call.inside)),
            rf"(?:{MESSAGE_MEMBER},\s{{0,64}}+)",
        )
        begins = rf"\s{{0,64}}+\{{\s{{0,64}}+{others}{{0,4}}+"
        head = rf"""{begins}["'](?:{keys})["']\s{{0,24}}+:\s{{0,64}}+(?=[\[{{])"""
        text = r"""(?:["'][^"'\\]{0,200}+["']?|\w{1,4}+)"""
        key = rf"""["']\w{{0,24}}+["']?\s{{0,24}}+:?\s{{0,64}}+(?:{text}\s{{0,24}}+)?"""
        part = rf"(?:{begins}(?:{key})?|\s{{0,64}}+)\Z"
    else:
        before = next((word.before for word in form.words if isinstance(word, Name)), "")
        line = r"\s{1,8}+" if before else r"[ \t]{0,8}\r?\n"
        head = rf"\s{{0,64}}+{before}(?P<name>{_UNIT_NAME}){line}\s{{0,24}}+(?=\{{)"
        cut = _beginnings(map(re.escape, before + "."))
        part = rf"\s{{0,64}}+{cut}(?:{_UNIT_NAME}(?:\\|\s{{0,32}}+))?\Z"
    return re.compile(head), re.compile(part)


@lru_cache(maxsize=256)
def finder_of(
    formats: tuple[Format, ...], *, wants_tools: bool = False, more: tuple[Turns, ...] = ()
) -> Finder:
    """Return the finder of these formats, from a cache; it knows the turns of `more`, too."""
    return Finder(formats, wants_tools=wants_tools, more=more)


@cache
def everything() -> Finder:
    """Return the finder of `auto`: of all formats that can be read together."""
    return finder_of(AUTO, wants_tools=True, more=())  # the key of the cache, as a reader asks


def closers_of(formats: tuple[Format, ...]) -> list[str]:
    """Return the texts that end a block of one of the formats."""
    return [text for form in formats for text in spellings(form.closer)]


def firsts_of(form: Format) -> tuple[str, ...]:
    """Return the texts that may begin a call: its openers, and the openers around all calls."""
    around = form.around[0].spellings if form.opener and form.around else ()
    return (*spellings(form.opener), *around)


_TICK = re.compile(r"(?<!`)``?(?!`)")


def in_ticks(line: str, *, behind: bool = False, unknown: bool = False) -> bool:
    """Whether inline code is open at the end of the last line in `line`.

    `unknown` if its start is missing, because `line` has no line end and is `behind` other text or
    so long that no more was kept.
    """
    start = line.rfind("\n")
    if start < 0 and (behind or len(line) >= limits.KEPT):
        return unknown
    return len(_TICK.findall(line, start + 1)) % 2 == 1


def _tokens(formats: tuple[Format, ...], by_tool: tuple[Format, ...]) -> dict[str, Token]:
    """Map each fixed text to its token: as an opener, else a closer, else a marker around calls."""
    tokens = _reasoning_tokens((*formats, *by_tool))
    for kind, text, forms in _meanings(formats):
        known = tokens.get(text)
        if known is None:
            tokens[text] = Token(kind, text, forms)
        elif known.kind == "close" or kind in ("message", "open"):
            known.formats += forms
    first = {text for form in formats if form.around for text in form.around[0].spellings}
    for text in {text for form in formats for text in _around(form) if text}:
        token = tokens.setdefault(text, Token("around", text))
        token.around = token.kind in ("open", "close")
        token.announces = token.kind in ("open", "around") and text in first
    return tokens


@lru_cache(maxsize=64)
def _turn_tokens(families: tuple[Turns, ...]) -> dict[str, Token]:
    """Map each fixed text that begins a turn, or ends one of another, to its token."""
    tokens: dict[str, Token] = {}
    for family in families:
        for text in family.headers:
            tokens.setdefault(text, Token("turn", text)).turns += (family,)
        for text in family.model:
            tokens.setdefault(text, Token("own_turn", text)).turns += (family,)
        for text, closer in family.pairs:
            turns, within = families if family.within else (family,), family.within
            tokens[text] = Token("turn", text, closer=closer, turns=turns, within=within)
            if family != PROMPTED:
                tokens.setdefault(closer, Token("turn_end", closer))
    return tokens


def _meanings(formats: Iterable[Format]) -> Iterator[tuple[TokenKind, str, tuple[Format, ...]]]:
    """Yield the fixed texts of formats and what they mean; of two meanings, the first counts."""
    yield from (("message", text, (form,)) for form in formats for text in _opens(form))
    for form in formats:  # a block whose name is in a header never begins without it
        for text in () if form.addressed else spellings(form.opener):
            yield "open", text, (form,)
    for form in formats:
        yield from (("close", text, (form,)) for text in spellings(form.closer))
        closes = spellings(form.envelope.closes if form.envelope else None)
        for text in filter(None, closes):
            ends_call = len(closes) > 1 and text == closes[0]
            yield "end", text, (form,) if ends_call else ()


def _reasoning_tokens(formats: Iterable[Format]) -> dict[str, Token]:
    tokens: dict[str, Token] = {}
    for markers in (one for form in formats for one in form.reasoning):
        opener, closer = markers.open, markers.close
        tokens.setdefault(opener, Token("reasoning", opener, closer=closer))
        tokens.setdefault(closer, Token("end_reasoning", closer))
    return tokens


def _opens(form: Format) -> tuple[str, ...]:
    """Return the texts that begin the messages of a format, if it has messages."""
    return form.envelope.opens.spellings if form.envelope else ()


def _around(form: Format) -> Iterator[str]:
    """Yield the texts of a format that are markup wherever they occur; some may be empty."""
    yield from form.dropped
    yield from (text for word in form.around or () for text in word.spellings)
    yield from (route.body for route in form.envelope.routes) if form.envelope else ()


def search_for(texts: Iterable[str], bare: Iterable[str] = ()) -> re.Pattern[str]:
    """Return a pattern that finds any of the texts, or else an object that begins like a pattern.

    An empty group at the end of each pattern says which of them has matched.
    """
    branches = [*_trie(texts), *(f"{beginning}()" for beginning in bare)]
    return re.compile("|".join(branches) or r"(?!)")


def _at_end(branches: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern of the branches that matches at the end of a text only."""
    return re.compile(rf"(?:{'|'.join(branches) or '(?!)'})\Z")


def _cut(texts: Iterable[str], least: int = 1) -> set[str]:
    """Return the texts without one or more of their last characters, of length `least` or more."""
    return {text[:size] for text in texts for size in range(least, len(text))}


def _trie(texts: Iterable[str]) -> list[str]:
    """Return regex alternatives for the longest text that matches; each begins with a literal."""
    groups: dict[str, list[str]] = {}
    for text in texts:
        if text:
            groups.setdefault(text[0], []).append(text[1:])
    branches = []
    for first, rests in sorted(groups.items()):
        inner = _trie(rests)
        whole = "?" if inner and "" in rests else ""
        several = f"(?:{'|'.join(inner)}){whole}" if len(inner) > 1 or whole else "".join(inner)
        branches.append(re.escape(first) + several)
    return branches


def _atoms(row: _Row) -> Iterator[str]:
    """Yield a pattern for each character of a row's fixed texts and for each of its other parts."""
    for part in row:
        yield from [_PARTS[part][0]] if part in _PARTS else map(re.escape, part)
