"""What a set of formats looks for in a text, found in one pass over it.

All openers, closers and reasoning markers of a set become one pattern, each branch of which starts
with a fixed character; a bare object is looked at only when a bounded probe fits. A hit is a
`Token`, which may be the opener of several formats. Which one, the pattern of a format's next words
decides within a bounded distance, as the patterns of headers do for messages.

Patterns are possessive, so that no text makes them slow: what a word matched is never given back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from typing import Literal as OneOf
from typing import NamedTuple, TypeAlias

from tunaeval import limits
from tunaeval.grammar import (
    ANY_NAME,
    ANY_SPACE,
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
    Reasoning,
    Space,
    Word,
    spellings,
    starts_with_space,
)
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import AUTO
from tunaeval.limits import NEAR_SPACE, WIDE_SPACE
from tunaeval.types.calls import Tools

from .window import Reading, Window

TokenKind: TypeAlias = OneOf[
    "open", "bare", "close", "around", "reasoning", "end_reasoning", "message", "end",
    "fence", "turn", "end_of_text",
]  # fmt: skip

Match: TypeAlias = Callable[[str, int, int], "re.Match[str] | None"]
"""From a place in a text on, and only up to another: what is behind it may not have arrived."""

FENCE = "```"
"""Of Markdown: what is in it may be code."""

END_TOKENS = (
    "<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_turn|>",
    "<|END_OF_TURN_TOKEN|>", "<｜end▁of▁sentence｜>", "<end_of_turn>", "<eos>", "</s>",
)  # fmt: skip
"""Of chat templates: what a model ends its turn with, and servers mostly leave out."""

_END_TOKEN = "|".join(map(re.escape, END_TOKENS))
_ENDS = re.compile(rf"(?:(?:{_END_TOKEN})\s{{0,40}}+){{1,8}}+")
_LAST_ENDS = re.compile(rf"(?:(?:{_END_TOKEN})\s*+){{1,8}}\Z")


def ends_text(window: Window) -> int | None:
    """How many characters end the text from the token here on; 0: more follows; None to wait."""
    found = _ENDS.match(window.text, window.pos)
    end = found.end() if found else window.pos
    rest = window.text[end : end + max(map(len, END_TOKENS))]
    if not rest and window.final:
        return end - window.pos
    waits = not window.final and any(token.startswith(rest) for token in END_TOKENS)
    return None if waits else 0


def before_end_tokens(text: str) -> int:
    """Where the tokens begin that the text ends with, few of them; its length if there are none."""
    found = _LAST_ENDS.search(text)
    return found.start() if found else len(text)


LINES = (
    "### Instruction", "### Input", "### User", "### Human", "### Question", "### Response",
    "### Assistant", "User:", "Human:", "Assistant:", "Question:", "Output:", "Observation:", '"""',
    "'''",
)  # fmt: skip
"""They begin a later turn at the beginning of a line, as anybody writes a dialogue.

An answer of the model's own is one, too: it has answered already. So is the end of a string that
nothing began: the model goes on with a program that has the answer in a string.
"""

TOKENS = (
    "<|im_start|>user", "<|im_start|>tool", "<|start_header_id|>user", "<|start_header_id|>ipython",
    "<|start_header_id|>tool", "<|start|>user", "<|start|>functions.", "<|user|>",
    "<|observation|>", "<|USER|>", "<|User|>", "<｜User｜>", "<start_of_turn>user", "[INST]",
    "[TOOL_RESULTS]", "<tool_response>",
)  # fmt: skip
"""Of chat templates: what a user's or a tool's turn begins with."""

TURNS = frozenset((*LINES, *TOKENS))

_LINE = rf"(?m:^)[ \t]*+(?:{'|'.join(map(re.escape, LINES))})"
begins_turn = re.compile(rf"{_LINE}|{'|'.join(map(re.escape, TOKENS))}").search
"""Search the first later turn."""

SPACE = r"[ \t\r\n]*+"


def row(words: Iterable[Word], *, space: str = SPACE) -> str | None:
    """Return the words one after the other; None if one of them has no pattern.

    Groups, in this order where there are such words: a name, a key, an attribute.
    """
    parts = [_word(word, space) for word in words]
    return None if None in parts else "".join(map(str, parts))


def any_of(word: Literal) -> str:
    """Return a pattern of a literal's spellings, the longest first: one may begin with another."""
    longest_first = sorted(word.spellings, key=len, reverse=True)
    return f"(?>{'|'.join(map(re.escape, longest_first))})"


_DATA = re.compile(r'[][{}", ]++\Z').match


def twice(opener: Literal | None) -> tuple[str, ...]:
    """Return an opener's spellings, for where it is there again; none where it could be data."""
    return () if opener is None or _DATA(opener.text) else opener.spellings


def _word(word: Word, space: str) -> str | None:
    match word:
        case Literal():
            # White space in front of it would be taken by the Space before it.
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
            return f"((?>{word.pattern}))"
        case Attribute():
            return "([A-Za-z]{0,16}+)"
        case Maybe():
            inner = row(word.words, space=space)  # none: they are left to recovering readers
            first = row(word.words[:1])
            return first and f"(?>{inner}|(?!{first}))" if inner else first and f"(?!{first})"
    return None


_ARRAY = rf"(?:\{{|\[{NEAR_SPACE}[^\w\s])"
"""An object, or an array of anything that cannot be a list of Python calls."""
_OBJECT = rf"{NEAR_SPACE}\{{"
_START_OF_LIST = rf"(?:\[{NEAR_SPACE})?[^\W\d]"


def start_of(form: Format, end: str = "") -> str:
    """Return a pattern of what is behind a format's opener, as `chain` does."""
    return chain(form.words[1:], limits.WORDS_AHEAD, end)


def chain(words: tuple[Word, ...], literals: int, end: str) -> str:
    r"""Return a pattern of the first words; with `\Z` as `end`, also of texts that end in them."""
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
            return f"(?:{before}(?:{word.pattern}){behind}{chain(rest, literals, end)}{cut})"
        case CallObject():
            start = _ARRAY if word.array else rf"(?:\{{|\[{NEAR_SPACE}\{{)"
        case Arguments(optional=True):
            start = rf"(?:{_OBJECT}|{chain(rest, literals, end)})"
        case _:
            start = _START_OF_LIST if isinstance(word, PythonCalls) else _OBJECT
    return rf"(?:{start}|\[?{NEAR_SPACE}{end})" if end else start


def _perhaps(texts: tuple[str, ...], rest: str, end: str) -> str:
    """Return a pattern of one of the texts, or the beginning of it at the end, or of the rest."""
    cuts = f"|{_cuts(texts, end)}" if end else ""
    return f"(?:{'|'.join(map(re.escape, texts))}{cuts}|{rest})"


def _cuts(texts: tuple[str, ...], end: str) -> str:
    """Return a pattern of the beginnings of texts, where a text may end in them."""
    return "|".join(_beginnings(map(re.escape, text)) + end for text in texts if end)


def _optional(text: str, end: str) -> str:
    """Return a pattern of a text that may be missing, or in which the text may end."""
    return _beginnings(map(re.escape, f"{text}.")) if end else f"(?:{re.escape(text)})?"


def _beginnings(atoms: Iterable[str]) -> str:
    """Return a pattern for every beginning of a text but the whole of it, the empty one too.

    `atoms` are patterns of its characters.
    """
    pattern = ""
    for atom in reversed([*atoms][:-1]):
        pattern = f"(?:{atom}{pattern})?+"
    return pattern


@dataclass(eq=False)
class Token:
    """A text that means something: an opener or a closer, of what `kind` says.

    `around` says that an opener or a closer is also around all calls of some format, `announces`
    that it is before the first of them.
    """

    kind: TokenKind
    text: str = ""
    formats: tuple[Format, ...] = ()
    around: bool = False
    announces: bool = False
    reasoning: Reasoning | None = None

    @cached_property
    def follows(self) -> tuple[Match, ...]:
        """What has to follow this token if it is the opener of each format, in order."""
        bare = self.kind == "bare"
        return tuple(re.compile("" if bare else start_of(form)).match for form in self.formats)

    @cached_property
    def begun(self) -> tuple[Match, ...]:
        """What `follows` of each format may become, in a text that goes on."""
        return tuple(re.compile(start_of(form, r"\Z")).match for form in self.formats)

    @cached_property
    def headers(self) -> tuple[tuple[Header, ...], ...]:
        """The kinds of messages that may begin with this token, for each format."""
        return tuple(map(_headers_of, self.formats))

    def nearest(self, text: str, at: int) -> Format:
        """Return what a broken or cut-off block at an index is read as, where no format follows."""
        named = (form for form in self.formats if words_behind(form)[:1] == [Name])
        return (next(named, None) if _NAME_NEAR(text, at) else None) or self.formats[0]

    def may_be_word(self, form: Format) -> bool:
        """Whether any word may stand for a name behind it, as other formats begin with it, too."""
        ends = len(self.formats) > 1 and form.opener and form.opener.text.endswith("=")
        return bool(ends) and isinstance(form.words[1], Name)


def words_behind(form: Format) -> list[type[Word]]:
    """Return the kinds of a format's words behind the first, but for white space and options."""
    return [type(word) for word in form.words[1:] if not isinstance(word, Space | Maybe)]


def stands_alone(form: Format) -> bool:
    """Whether a name may stand between a format's markers without anything else."""
    return form.opener is not None and words_behind(form) == [Name, Many, Literal]


_NAME_NEAR = re.compile(rf"{NEAR_SPACE}\w").match


def format_at(window: Window, token: Token) -> Reading[Format | None]:
    """Return the first format whose next words follow the token here.

    A single format is taken without a look. More text could tell of another one if what follows may
    become what a format before the chosen one asks for.
    """
    forms = token.formats
    if len(forms) == 1 and not token.around:
        return forms[0]
    while True:
        text, at = window.text, window.pos + len(token.text)
        end = at + limits.OPENER_AHEAD
        fitting = (index for index, match in enumerate(token.follows) if match(text, at, end))
        index = next(fitting, -1)
        if (
            window.final
            or len(text) > end
            or (index >= 0 and not any(begun(text, at, len(text)) for begun in token.begun[:index]))
        ):
            return forms[index] if index >= 0 else None
        yield


class Header(NamedTuple):
    """A kind of message of a format, and the header of one that was read.

    `opens_call`: what the body begins with is the opener of a call's block. `match` matches the
    header with the text that its body begins with, `follows` what has to follow that. `name` is the
    tool's, if it is in there, `length` that of what was matched.
    """

    form: Format
    channel: Channel
    opens_call: bool
    match: Match
    follows: Match
    name: str | None = None
    length: int = 0


def header_at(window: Window, token: Token) -> Reading[Header | None]:
    """Return the header that begins with this token here, if any."""
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
            for kind, hit in proven or fitting:
                name = hit.groupdict().get("name")
                return Header(*kind[:5], name, hit.end() - start)
            return None
        yield


def _headers_of(form: Format) -> tuple[Header, ...]:
    """Return the kinds of messages of a format, one for each route."""
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

_LONGEST_NAME = 128
_NAME = rf"[^\W\d][\w.:-]{{0,{_LONGEST_NAME - 1}}}+"
"""A tool that an element may be named after, or that a call in a list begins with."""

_PARTS = {ANY_SPACE: (NEAR_SPACE, 24), ANY_NAME: (_NAME, _LONGEST_NAME)}
"""The parts of a probe that are no fixed text: a pattern, and how much it matches at most."""

_Row: TypeAlias = tuple[str, ...]
"""What a bare object begins with: fixed texts, and the keys of `_PARTS`."""


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
        calls = ((form, form.call or form.python) for form in self.formats)
        self._rows: tuple[tuple[_Row, Format], ...] = tuple(
            (row, form) for form, word in calls if word for row in word.opens
        )
        self._met: dict[str, Token] = {}
        """Short beginnings of bare objects that were met, with their tokens."""

    def with_tools(self, tools: Tools | None, text: str | None = None) -> Finder:
        """Return a finder that also finds elements named after tools: of those in the text, if any.

        Without a text it is one that arrives, so the elements of all tools are looked for.
        """
        if not (self.by_tool and tools) or (text is not None and "<" not in text):
            return self
        names = [*tools]
        if text is not None:  # those that it may have a tag of, or ends in one
            last = text.rfind("<")
            cut = text[last : last + _LONGEST_NAME + 2]
            is_cut = len(cut) >= limits.SHORTEST_CUT and ">" not in cut
            names = [name for name in tools if f"{name}>" in text]
            names += [name for name in tools if is_cut and f"<{name}>".startswith(cut)]
        named = filter(re.compile(_NAME).fullmatch, names)
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
        """Return a search that finds in this text what `search` does: twice as fast in most prose,
        as it looks for nothing that begins with a letter.
        """
        words, wordless = self._wordless
        if not words or len(text) < limits.WORTH_A_LOOK or any(word in text for word in words):
            return self.search
        return wordless

    @cached_property
    def _before_calls(self) -> tuple[str, ...]:
        """The texts that mean something even before the first call."""
        return tuple(text for text, token in self.tokens.items() if token.kind != "turn")

    @cached_property
    def _wordless(self) -> tuple[tuple[str, ...], re.Pattern[str]]:
        """The texts that begin with a letter, and a search for all others."""
        words = tuple(text for text in self._before_calls if text[:1].isalpha())
        return words, _search((t for t in self._before_calls if t not in words), self._rows)

    def prompted(self, text: str, *, final: bool) -> Token | str | None:
        r"""Return what a text begins with whose prompt ended with the opener of the first format.

        So it is with Functionary 3.2, whose template writes `>>>`: a reply begins `name\n{...}`,
        which an opener of no characters stands for, or `all\n` and words to the user, which is
        markup. "" is for any other text; also for one that has the opener all the same, or what is
        around calls. None: more text could tell.
        """
        if self._prompt is None:
            return ""
        token, dropped, openers, begins, may_begin = self._prompt
        fixed = (*dropped, *openers)
        if not final and any(len(each) > len(text) and each.startswith(text) for each in fixed):
            return None
        if not text.startswith(openers):
            markup = next((each for each in dropped if text.startswith(each)), "")
            if markup or begins(text, 0, limits.OPENER_AHEAD):
                return markup or token
        waits = not final and len(text) < limits.OPENER_AHEAD and may_begin(text, 0, len(text))
        return None if waits else ""

    @cached_property
    def _prompt(self) -> tuple[Token, tuple[str, ...], tuple[str, ...], Match, Match] | None:
        form = next(iter(self.formats), None)
        if form is None or form.opener is None or not form.prompted:
            return None
        opener = form.opener.text
        dropped = (text.removeprefix(opener) for text in form.dropped if text.startswith(opener))
        begins, may_begin = re.compile(start_of(form)), re.compile(start_of(form, r"\Z"))
        token = Token("open", "", (form,))
        return token, (*filter(None, dropped),), firsts_of(form), begins.match, may_begin.match

    @cached_property
    def _units(self) -> tuple[tuple[Match, Match], ...]:
        """What matches how the units of `wholes` begin; see `unit_starts`."""
        return tuple(map(unit_starts, self.wholes))

    def begins_unit(
        self, window: Window, at: int, tools: Tools | None, *, fenced: bool
    ) -> bool | None:
        """Whether a unit may begin at an index of the window's text; None if more text could tell.

        A unit is a whole reply, or what is in a code fence, that is calls of one of `wholes` alone.
        """
        text, end = window.text, len(window.text)
        for matches, may_begin in self._units:
            found = matches(text, at, end)
            if found is None:
                if not window.final and may_begin(text, at, end):
                    return None
                continue
            name = found.groupdict().get("name")
            if name is not None and tools is not None and name.replace(ESCAPED, "_") not in tools:
                continue
            if fenced or not _LIST.match(text, at) or ESCAPED in text[at : at + limits.UNIT_AHEAD]:
                return True
            if not window.final and end - at < limits.UNIT_AHEAD:
                return None
        return False

    @cached_property
    def regions(self) -> dict[str, set[str]]:
        """Map what opens a stretch around marked calls to the texts that may close it."""
        found: dict[str, set[str]] = {}
        for form in self.formats:
            for text in form.around[0].spellings if form.marked and form.around else ():
                found.setdefault(text, set()).update(form.around[1].spellings)  # type: ignore[index]  # it has one
        return found

    @cached_property
    def announcing(self) -> re.Pattern[str]:
        """What begins a call, or stands around calls, even where nothing else announces them."""
        announced = (form for form in self.formats if form.marked and not form.addressed)
        return _search((text for form in announced for text in firsts_of(form)), ())

    def token(self, hit: re.Match[str]) -> Token:
        """Return the token that was hit."""
        found = hit.group()
        known = self.tokens.get(found) or self._met.get(found)
        if known is None:
            text, start = hit.string, hit.start()
            known = next(token for probe, token in self._bare if probe.match(text, start))
            if len(found) <= limits.KEPT_BEGINNING and len(self._met) < limits.KEPT_BEGINNINGS:
                self._met[found] = known
        return known

    @cached_property
    def _bare(self) -> tuple[tuple[re.Pattern[str], Token], ...]:
        made = ((re.compile("".join(_atoms(row))), form) for row, form in self._rows)
        return tuple((probe, Token("bare", formats=(form,))) for probe, form in made)

    def begins(self, text: str, form: Format) -> bool:
        """Whether this opener is that format's first of all, and no other token begins with it."""
        known = self.tokens.get(text)
        longer = any(other.startswith(text) and other != text for other in self.tokens)
        return known is not None and known.formats[:1] == (form,) and not longer

    def next_in(self, window: Window, search: re.Pattern[str]) -> tuple[re.Match[str] | None, int]:
        """Return the next token that is certain, and where it begins; if there is none, where one
        may begin when more text comes.
        """
        text = window.text
        hit = search.search(text, window.pos)
        if window.final:
            return hit, len(text) if hit is None else hit.start()
        if hit is not None and hit.start() < len(text) - self._longest[1]:
            return hit, hit.start()
        held = self._first_partial(text, window.pos) if hit is None else self.held(window)
        return (None, held) if hit is None or held <= hit.start() else (hit, hit.start())

    def held(self, window: Window) -> int:
        """Return from where on the text may become a token when more comes; its end if nowhere.

        It is kept in the window until more text comes, as a short piece may have many markers.
        """
        text, start = window.text, window.pos
        size, at = window.held
        if size != window.base + len(text) or at < window.base + start:
            at = window.base + self._first_partial(text, start)
            window.held = window.base + len(text), at
        return at - window.base

    def _first_partial(self, text: str, start: int) -> int:
        """Return the first index from `start` on whose rest begins a token, or the text's end."""
        longest_text, longest = self._longest
        end = len(text)
        signs = self._first_signs.finditer(text, max(start, end - longest_text + 1))
        fixed = (hit.start() for hit in signs if text[hit.start() :] in self._beginnings)
        first = next(fixed, end)
        partial = self._partial.search(text, max(start, end - longest))
        return min(first, partial.start()) if partial else first

    @cached_property
    def _partial(self) -> re.Pattern[str]:
        """What matches, at the end, any beginning of a bare object that is not all of it."""
        rows = ([*_atoms(row)] for row, _ in self._rows)
        cuts = "|".join(first + _beginnings(rest) for first, *rest in rows if rest)
        return re.compile(rf"(?:{cuts or '(?!)'})\Z")

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        """Every beginning of a fixed text that is not the whole of it."""
        return frozenset(text[:size] for text in self.tokens for size in range(1, len(text)))

    @cached_property
    def _first_signs(self) -> re.Pattern[str]:
        signs = "".join({text[0] for text in self._beginnings})
        return re.compile(f"[{re.escape(signs)}]" if signs else r"(?!)")

    @cached_property
    def _longest(self) -> tuple[int, int]:
        """The lengths of the longest fixed text, and of the longest beginning of all."""
        texts = max(map(len, self.tokens), default=0)
        rows = ([_PARTS[p][1] if p in _PARTS else len(p) for p in row] for row, _ in self._rows)
        return texts, max([texts, *map(sum, rows)])

    def cut(self, text: str) -> str:
        """The beginning of an announcing opener that `text` ends in; "" if there is none."""
        openers = self._cuts.get(text[-limits.SHORTEST_CUT :], ())
        return next((opener for opener in openers if text.endswith(opener)), "")

    @cached_property
    def _cuts(self) -> dict[str, list[str]]:
        """What is left of openers when a text ends in them, the longest first, by its end.

        Words alone are only words.
        """
        found: dict[str, list[str]] = {}
        firsts = {
            text[:length]
            for form in self.formats
            if form.opener and form.marked
            for text in (*firsts_of(form), *_opens(form))
            for length in range(limits.SHORTEST_CUT, len(text))
            if not _WORDS.fullmatch(text, 0, length)
        }
        for text in sorted(firsts, key=len, reverse=True):
            found.setdefault(text[-limits.SHORTEST_CUT :], []).append(text)
        return found

    def cut_around(self, text: str) -> str:
        """Return what is behind the announcement of calls, if it is less than `cut` finds."""
        text = text.strip()
        begins = 0 < len(text) < limits.SHORTEST_CUT and any(
            opener.startswith(text)
            for form in self.formats
            for opener in (spellings(form.opener) if form.around else ())
        )
        return text if begins else ""


ESCAPED = "\\_"
"""An underscore as models escape it that write Markdown."""

_UNIT_NAME = r"[^\W\d](?:[\w.:/-]|\\_){0,200}+"
_QUOTED = r"""[\s\[\]'"`]{0,64}+"""
_LIST = re.compile(rf"\s{{0,64}}+\[\s{{0,64}}+{_UNIT_NAME}\s{{0,24}}+\(")
"""A plain list of calls, which other formats read."""


@lru_cache(maxsize=64)
def unit_starts(form: Format) -> tuple[Match, Match]:
    """Return what matches the start of a unit of a format, and a text that ends too early to tell.

    The first has a group `name` where that has to be the name of a known tool.
    """
    if form.python:
        head = rf"""{_QUOTED}{_UNIT_NAME}['"`]?\s{{0,24}}+\("""
        part = rf"""{_QUOTED}(?:{_UNIT_NAME}(?:\\|['"`]?\s{{0,24}}+))?\Z"""
    elif form.call:
        keys = "|".join(map(re.escape, form.call.inside))
        head = rf"""\s{{0,64}}+\{{\s{{0,64}}+["'](?:{keys})["']\s{{0,24}}+:\s{{0,64}}+(?=[\[{{])"""
        most = max(map(len, form.call.inside))
        key = rf"""["']\w{{0,{most}}}+["']?\s{{0,24}}+:?\s{{0,64}}+"""
        part = rf"\s{{0,64}}+(?:\{{\s{{0,64}}+(?:{key})?)?\Z"
    else:
        head = rf"\s{{0,64}}+(?P<name>{_UNIT_NAME})[ \t]{{0,8}}\r?\n\s{{0,24}}+(?=\{{)"
        part = rf"\s{{0,64}}+(?:{_UNIT_NAME}(?:\\|\s{{0,32}}+))?\Z"
    return re.compile(head).match, re.compile(part).match


@lru_cache(maxsize=256)
def finder_of(formats: tuple[Format, ...], *, wants_tools: bool = False) -> Finder:
    """Return the finder of these formats, which is made once."""
    return Finder(formats, wants_tools=wants_tools)


@cache
def everything() -> Finder:
    """Return the finder of `auto`: all formats that are read side by side."""
    return finder_of(AUTO, wants_tools=True)


def closers_of(formats: tuple[Format, ...]) -> list[str]:
    """Return the texts that end a block of one of the formats."""
    return [text for form in formats for text in spellings(form.closer)]


def firsts_of(form: Format) -> tuple[str, ...]:
    """Return the texts that a call begins with: what opens it, and what is around all calls."""
    around = form.around[0].spellings if form.opener and form.around else ()
    return (*spellings(form.opener), *around)


IN_OBJECT = re.compile(r"""["']\s*+[:,}\]]|[{,]\s*+\w++\s*+:""")
IN_CALL = re.compile(r"""\w\(\s*+(?:\w++\s*+=|["')])|,\s*+\w++\s*+=""")
_Ending: TypeAlias = tuple[tuple[str, ...], re.Pattern[str]]
"""What calls of a format end with before their closer, and what is somewhere before that."""


@lru_cache(maxsize=512)
def ending_of(form: Format) -> _Ending:
    """Return how a call of this format ends: what is right before its closer, and what is in it."""
    words = [word for word in form.words if not isinstance(word, Space) and word != form.closer]
    last, inside = words[-1], IN_OBJECT
    if row := next((word for word in words if isinstance(word, Many)), None):
        fixed = [word for word in row.words if isinstance(word, Literal)]
        inside = re.compile(re.escape(fixed[0].text))
        last = fixed[-1] if last is row else last
    match last:
        case Literal():
            return tuple(filter(None, map(str.rstrip, last.spellings))), inside
        case CallObject() | Arguments():
            return ("}", "]"), IN_OBJECT
        case PythonCalls():
            return (")", "]"), IN_CALL
        case Elements():
            return (">",), re.compile(r"<\w")
    return (), inside


def _tokens(formats: tuple[Format, ...], by_tool: tuple[Format, ...]) -> dict[str, Token]:
    """Map each fixed text to what it means: first an opener, then a closer, then what is around."""
    tokens = _reasoning_tokens((*formats, *by_tool))
    around = {text for form in formats for text in _around(form) if text}
    first = {text for form in formats if form.around for text in form.around[0].spellings}

    def add(kind: TokenKind, text: str, *forms: Format, only: str = "") -> None:
        """Add a token; where one of the same text is known, add the formats to that one.

        With `only`, formats are added to a known token of that kind alone.
        """
        is_around, announces = text in around, kind == "open" and text in first
        is_around = is_around and kind in ("open", "close")
        fresh = Token(kind, text, forms, around=is_around, announces=announces)
        known = tokens.setdefault(text, fresh)
        if known is not fresh and only in ("", known.kind):
            tokens[text] = replace(known, formats=(*known.formats, *forms))

    for text, owner in ((text, form) for form in formats for text in _opens(form)):
        add("message", text, owner)
    for form in formats:  # a block behind a header that has its name does not begin by itself
        for text in () if form.addressed else spellings(form.opener):
            add("open", text, form)
    for form in formats:
        for text in spellings(form.closer):
            add("close", text, form, only="close")
        closes = spellings(form.envelope.closes if form.envelope else None)
        for text in filter(None, closes):
            ends_call = len(closes) > 1 and text == closes[0]
            add("end", text, *((form,) if ends_call else ()), only="close")
    return {text: Token("around", text, announces=text in first) for text in around} | tokens


def _reasoning_tokens(formats: Iterable[Format]) -> dict[str, Token]:
    tokens: dict[str, Token] = {}
    for markers in (one for form in formats for one in form.reasoning):
        opener, closer = markers.open, markers.close
        tokens.setdefault(opener, Token("reasoning", opener, reasoning=markers))
        tokens.setdefault(closer, Token("end_reasoning", closer, reasoning=markers))
    return tokens


def _opens(form: Format) -> tuple[str, ...]:
    """Return what the messages of a format begin with, if it has any."""
    return form.envelope.opens.spellings if form.envelope else ()


def _around(form: Format) -> Iterator[str]:
    """The texts of a format that are markup wherever they stand; "" is read, and not written."""
    yield from form.dropped
    yield from (text for word in form.around or () for text in word.spellings)
    yield from (route.body for route in form.envelope.routes) if form.envelope else ()


def _search(texts: Iterable[str], rows: Iterable[tuple[_Row, Format]]) -> re.Pattern[str]:
    branches = [*_trie(texts), *dict.fromkeys("".join(_atoms(row)) for row, _ in rows)]
    return re.compile("|".join(branches) or r"(?!)")


def _trie(texts: Iterable[str]) -> list[str]:
    """Return branches that match the longest of `texts`, each with a fixed first character."""
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
    """Yield a pattern for each character of a row, and for each part that is no fixed text."""
    for part in row:
        yield from [_PARTS[part][0]] if part in _PARTS else map(re.escape, part)
