"""Decides where a bare value ends, and whether it swallowed markup of its own format.

A value may contain the text of its closer, so the text after a closer decides whether it ends the
value. A whole call of the format in a value, as in a here-document, is text up to that call's end.
If a closer or the next argument's opener is damaged, it becomes part of the value before it.
`Closing.split` separates arguments again where that is certain; other values with such markup are
unchanged and have the diagnosis `swallowed-markup`. Of two adjacent tags, mostly one is intact or
nearly so, and a damaged tag mostly has an intact half. So a value is first searched for halves of
the format's tags, which is fast, and the rest of a tag is compared only around these. HTML, XML,
code, and text in the format's own quotes are ordinary values.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from tunaeval import limits
from tunaeval.grammar import (
    Attribute,
    Key,
    Literal,
    Many,
    Space,
    Value,
    Word,
    flat,
    spellings,
    starts_with_space,
)
from tunaeval.grammar.format import Format
from tunaeval.limits import WIDE_SPACE
from tunaeval.types.calls import JsonObject, JsonValue

from .block import literal, peek
from .collect import LiveText
from .finder import SPACE, after_opener, any_of, chain, row, start_of
from .repair.schema import member
from .repair.values import Note, Unreadable
from .window import Reading, Window


def note_of(key: str) -> Note:
    """Return a note that the value of argument `key` contains markup, perhaps of a lost tag."""
    return Note(
        "swallowed-markup", f"{key[: limits.SHOWN_NAME]!r} contains markup, perhaps a lost tag"
    )


def within(wanted: str, text: str, edits: int) -> bool:
    """Whether the text begins with `wanted` after at most `edits` edits.

    An edit drops, adds or changes a character, or swaps it with the next. The last character
    of `wanted`, a bracket or the like, may not be dropped or changed.
    """
    at = _alike(wanted, text)
    wanted, text = wanted[at:], text[at:]
    if not wanted:
        return True
    if not (edits and text):
        return False
    if within(wanted, text[1:], edits - 1):
        return True
    return len(wanted) > 1 and (
        within(wanted[1:], text[1:], edits - 1)
        or within(wanted[1:], text, edits - 1)
        or (wanted[:2] == text[1::-1] and within(wanted[2:], text[2:], edits - 1))
    )


def _alike(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    size = min(len(one), len(other))
    return next((at for at in range(size) if one[at] != other[at]), size)


def nearly_begins(text: str, mark: str, edits: int) -> bool:
    """Like `within`, but the last character of `mark` may be dropped or changed, too."""
    return within(mark, text, edits) or within(mark[:-1], text, edits - 1)


def edits_of(tag: str) -> int:
    """Return how many edits are allowed in a tag, which depends on its length."""
    return 1 if len(tag) < limits.LONG_TAG else 2


Half: TypeAlias = tuple[str, str, str]
"""The part of a tag before one of its halves, the half itself, and the part after it."""


def halves_of(tags: Iterable[str]) -> tuple[Half, ...]:
    """Return the halves of each tag and, of some, the first three quarters, which suffice alone."""
    found: list[Half] = []
    for tag in dict.fromkeys(tags):
        middle, most = len(tag) // 2, len(tag) * 3 // 4
        if most >= limits.SURE_START and not tag[1].isalpha():
            found.append(("", tag[:most], ""))
        found += [("", tag[:middle], tag[middle:]), (tag[:middle], tag[middle:], "")]
    return tuple(found)


def has_nearly(text: str, halves: Iterable[Half]) -> bool:
    """Whether a text has half of a tag and, next to it, nearly the other half."""
    return any(half[1] in text and _is_whole(text, half) for half in halves)


def _is_whole(text: str, half: Half) -> bool:
    """Whether the text has the half with the rest of its tag around it, up to a few edits."""
    before, seed, behind = half
    edits = edits_of(before + seed + behind)
    bracket = _BRACKET.match(before)[0]  # type: ignore[index]  # it may be empty
    at = text.find(seed)
    for _ in range(limits.COMPARED_HALVES):
        if at < 0:
            return False
        end = at + len(seed)
        back = text[max(0, at - len(before) - edits) : at]
        ahead = text[end : end + len(behind) + edits]
        near = bracket in back and within(behind, ahead, edits)
        if near and within(before[::-1], back[::-1], edits):
            return True
        at = text.find(seed, at + 1)
    return False


_BRACKET = re.compile(r"\W*+")


Piece: TypeAlias = tuple[str, str | None, str]
"""An argument: its key as written, the kind that its attribute gives, and its text."""

Bare: TypeAlias = tuple[str, bool, str]
"""A value's text, whether it was closed before its call's end, and the stray text between a closer
of the value and the call's end, if it was not.
"""


_REMAINS = re.compile(r"(?:(?:<|&lt;)/?+[^\s<>/&]{0,20}+(?:>|&gt;)?+|/[^\s<>/&]{1,20}+>)\s*+\Z")
"""Matches the possible remains of a damaged closer at the end of a value."""


@dataclass(slots=True)
class _Ending:
    """What has been seen so far of a value that has not ended.

    `own` is the first closer in it that did not end it, `inside` counts the calls that began in it
    and did not end; `quoted`: the value begins with the format's quotes.
    """

    own: str | None = None
    inside: int = 0
    quoted: bool = False


class Closing:
    """Finds the end of a value without quotes: a closer of the format, if fitting text follows it.

    If the end of the call comes first, and text that may follow a call comes after it, the model
    forgot the value's closer. `_sibling` matches the words before the value of another argument.
    `_gap` is the text that is written after a closer; if the closer is lost, it ends the value.

    The format's tags begin with the character `_first`. An intact or nearly intact tag in a value
    suggests a lost tag. The tags around a value may also be miswritten: in capitals, with other
    punctuation, shortened, or without the format's common prefix. Other markup in a value, such as
    HTML, has such tags in pairs. So only a tag without its partner ends the value: a closer before
    another tag or at the value's end, or a complete opener. If text is lost between a closer and an
    opener, they may have merged: `</paramrameter=key>`.
    """

    def __init__(self, form: Format, many: Many, behind: tuple[Word, ...]) -> None:
        at = next(at for at, word in enumerate(many.words) if isinstance(word, Value))
        head, (value, closer, *rest) = many.words[:at], many.words[at:]
        assert isinstance(value, Value)  # noqa: S101 - a format without it is refused when built
        assert isinstance(closer, Literal)  # noqa: S101 - as above
        inner = [each for word in head for each in getattr(word, "words", (word,))]
        self.key = next(word for word in head if isinstance(word, Key))
        self.attribute = next((word for word in inner if isinstance(word, Attribute)), None)
        self.value, self._closers = value, closer.spellings
        space = rest[0] if rest and value.trim == "no" else None
        self._gap = space.text if isinstance(space, Space) else ""
        sibling = row(head)
        self._sibling = re.compile(sibling) if sibling else None
        self._first = first = closer.text[:1]
        parts = (part for text in _texts(form.words) for part in text.split(first)[1:])
        self._halves = halves_of(
            first + part for part in parts if len(part) + 1 >= limits.SHORTEST_TAG
        )
        self._source, self._seeds, self._keyed = _miswritten(form, head, closer.text)

        ends = [word for word in behind if isinstance(word, Literal)]
        spelled, after = [f"{any_of(word)}{WIDE_SPACE}" for word in ends], (closer, *rest, many)
        follow = chain((*after, *behind), limits.WORDS_AHEAD, "")
        if not any(isinstance(word, Literal) for word in rest):
            own = f"{any_of(closer)}{WIDE_SPACE}"
            # The call may end without one of its closers, or with only the first few.
            fewer = ["".join(spelled[missing:]) for missing in range(1, len(spelled))]
            fewer += ["".join(spelled[:at]) + _onward(form) for at in range(len(spelled))]
            incomplete = "|".join(fewer) or "(?!)"
            # Two adjacent closers end the value whatever follows them.
            follow += f"|{own}{any_of(ends[0])}" if len(ends) > 1 else ""
            follow += f"|{own}(?:{incomplete})"
        self._follow = re.compile(follow)
        self._at_end = re.compile(chain((*after, *behind), limits.WORDS_AHEAD, r"\Z"))
        texts, restart = {*closer.spellings}, "(?!)"
        if ends:
            if form.opener and not texts.intersection(ends[-1].spellings):
                restart = f"{spelled[-1]}{_onward(form)}"
            texts.update(ends[-1].spellings)
        self._restart = re.compile(restart)
        self._call_ends = {text for word in ends[-1:] for text in word.spellings} - {*self._closers}
        self._openers = spellings(form.opener) if self._call_ends else ()
        inside = (*form.words[: form.words.index(many)], many.words[0])
        begun = chain(inside, 2 * limits.WORDS_AHEAD, "") if self._openers else "(?!)"
        ended = "|".join(map(re.escape, sorted(texts, key=len, reverse=True)))
        self._closer = re.compile(f"(?P<begun>{begun})|{ended}")
        self._held = max(map(len, (*texts, *self._openers))) - 1
        optional, last = "".join(f"(?:{end})?+" for end in spelled[:-1]), "".join(spelled[-1:])
        over = [any_of(form.around[1])] if form.around and form.around[1].text else []
        over += ["".join(spelled)] if ends else []
        self._before_restart = re.compile(rf"{optional}\Z")
        lost = rf"{last}(?:(?:{_ignored(form)}){WIDE_SPACE})*+\Z"
        self._lost = re.compile(lost if ends else "(?!)")
        self._over = re.compile("|".join(over) or "(?!)")
        self.plain = self._plain(many, (closer, form.closer or closer), rest)

    def _plain(
        self, many: Many, closers: tuple[Literal, ...], rest: list[Word]
    ) -> re.Pattern[str] | None:
        """Return a pattern of a whole argument whose value has no character that begins markup.

        Its groups are the key, the attribute if the format has one, and the value's text. Reading
        word by word would give the same. None if one of the words has no pattern.
        """
        first, tail = many.words[0], row(rest, space=WIDE_SPACE)
        if self._sibling is None or tail is None or starts_with_space(many):
            return None
        assert isinstance(first, Literal)  # noqa: S101 - a format without it is refused when built
        begins = {text[0] for word in (first, *closers) for text in word.spellings}
        opener = self.value.quotes[0]
        quoted = f"(?!{re.escape(opener)})" if opener else ""
        signs = re.escape("".join(sorted(begins)))
        text = f"{quoted}([^{signs}]*+)(?={self._follow.pattern}){any_of(closers[0])}{tail}"
        groups = 2 + (self.attribute is not None)
        pattern = re.compile(f"{SPACE}{self._sibling.pattern}{text}")
        return pattern if pattern.groups == groups else None  # words may add groups

    def text_at(
        self, window: Window, key: str, live: LiveText | None
    ) -> Reading[Bare | Unreadable]:
        """Return argument `key` up to its closer or its call's end; report its growth to `live`."""
        pieces, state = list[str](), _Ending()
        opener = self.value.quotes[0]
        state.quoted = bool(opener) and (yield from peek(window, literal(window, (opener,))))
        begun = window.pos
        while True:
            end, ends = self._next(window, state)
            if live:
                live.grow(window.text[window.pos : end])
            window.pos = end
            if ends is False:  # a piece for each closer would take 20 times the text
                continue
            pieces.append(window.text[begun:end])
            if ends == "call":
                return self._before(window, "".join(pieces), state.own)
            if ends:
                return "".join(pieces), True, ""
            if window.final:
                if self._over.search("".join(pieces)):
                    return Unreadable("invalid-arguments", f"{key[:60]!r} is never closed")
                return Unreadable("truncated", "the text ends inside an argument", cut=True)
            yield
            begun = window.pos

    def _next(self, window: Window, state: _Ending) -> tuple[int, bool | str | None]:
        """Return the index up to which the text is settled, and whether the value ends there."""
        hit = self._closer.search(window.text, window.pos)
        if hit and hit["begun"]:
            state.inside += not state.quoted
            return hit.end(), False
        if hit is None or not (window.final or hit.start() + self._held < len(window.text)):
            return self._certain(window), None
        if state.inside:
            state.inside -= hit.group() in self._call_ends
            return hit.end(), False
        ends = self._ends(window, hit, trusted=state.own is not None, quoted=state.quoted)
        if ends is False and not state.quoted and hit.group() in self._closers:
            state.own = state.own or hit.group()
        return hit.start() + (ends is False), ends  # the two closers may overlap

    def _certain(self, window: Window) -> int:
        """Return the index up to which the text is the value's, whatever arrives after it."""
        text, pos = window.text, window.pos
        if window.final:
            return len(text)
        near = max(pos, len(text) - limits.VALUE_AHEAD)
        begun = [at for opener in self._openers if (at := text.rfind(opener, near)) >= 0]
        return max(pos, min((len(text) - self._held, *begun)))

    def _before(self, window: Window, text: str, own: str | None) -> Bare:
        """Return a value that lacks its closer, and move the window back before its call's end."""
        found = self._before_restart.search(text, max(0, len(text) - limits.VALUE_AHEAD))
        size = len(text) - found.start() if found else 0
        window.pos -= size
        text = text[: len(text) - size]
        text, _, stray = text.partition(own) if own else (text, "", "")
        return text, False, stray

    def _ends(
        self, window: Window, hit: re.Match[str], *, trusted: bool, quoted: bool
    ) -> bool | str | None:
        """Whether the value ends at the closer `hit`; "call" if its call ends there instead.

        None if more text could tell. `trusted`: a closer of the value came before, but the text
        after it did not fit. `quoted`: the value begins with the format's quotes.
        """
        text, at = window.text, hit.start()
        ahead, ends = at + limits.VALUE_AHEAD, True if hit.group() in self._closers else "call"
        if self._follow.match(text, at, ahead) or (window.final and self._at_end.match(text, at)):
            ends = True
        elif window.final and self._lost.match(text, at):
            ends = "call"
        elif ends is True or not (trusted or self._restart.match(text, at, ahead)):
            return None if not window.final and len(text) <= ahead else False
        return self._behind_quotes(window, at) and ends if quoted else ends

    def _behind_quotes(self, window: Window, at: int) -> bool | None:
        """Whether index `at` is outside of the value's quotes: they end before it, or not soon
        after it. None if more text has to decide that.
        """
        opener, end = self.value.quotes
        if window.text[max(0, at - limits.WIDEST_GAP) : at].rstrip().endswith(end):
            return True
        ahead = window.text[at : at + limits.QUOTED_AHEAD]
        stop, other = ahead.find(end), ahead.find(opener)
        if stop >= 0 or other >= 0:
            return stop < 0 or 0 <= other < stop
        return None if not window.final and len(ahead) < limits.QUOTED_AHEAD else True

    def split(
        self, first: Piece, known: Container[str], schema: object, *, closed: bool
    ) -> list[Piece]:
        """Split an argument from later ones whose openers its text swallowed; return all.

        They are split only if the tool's schema declares all of them, none was read before
        (`known`), and the text has no closer. `closed`: the last one has its closer.
        """
        (key, kind, text), sibling = first, self._sibling
        found = [*sibling.finditer(text)] if sibling else []
        closed_before = any(closer in text for closer in self._closers)
        if closed_before or not _are_declared([m[1] for m in found], key, known, schema):
            found = []
        heads = [(key, kind), *((m[1], m[2] if m.re.groups > 1 else None) for m in found)]
        starts = [0, *(match.end() for match in found)]
        stops = [*(match.start() for match in found), len(text)]
        texts = [text[start:stop] for start, stop in zip(starts, stops, strict=True)]
        for at in range(len(texts) - closed):
            # A closer may be named after the argument: `<parameter name="path">a.md</path>`.
            own, kept = f"</{heads[at][0]}>", texts[at].rstrip()
            named = kept.endswith(own)
            texts[at] = kept.removesuffix(own) if named else texts[at].removesuffix(self._gap)
        return [(*head, text) for head, text in zip(heads, texts, strict=True)]

    def swallowed(self, pieces: Sequence[Piece], *, closed: bool) -> Iterator[Note]:
        """Yield diagnoses of values that contain markup; `closed`: the last one has its closer."""
        for at, (key, _, text) in enumerate(pieces, 1):
            whole = closed and at == len(pieces)
            least = max(0, len(text) - limits.WIDEST_GAP)
            cut = not whole and _REMAINS.search(text, least)
            if cut or self.has_tags(text, closed=whole):
                yield note_of(key)

    def has_tags(self, text: str, *, closed: bool = True) -> bool:
        """Whether a value contains a tag, perhaps damaged; `closed`: the value had its closer."""
        if self._first not in text:
            return False
        opener, end = self.value.quotes
        if opener and text.startswith(opener):
            return text.find(end, len(opener)) != len(text) - len(end)
        return has_nearly(text, self._halves) or self._is_miswritten(text, closed=closed)

    def _is_miswritten(self, text: str, *, closed: bool) -> bool:
        """Whether a text has a miswritten tag without a partner; `closed`: it had its closer."""
        lowered = text.lower()
        if not any(seed in lowered for seed in self._seeds):
            return False
        openers: list[bool] = []
        for found in _in_any_case(self._source).finditer(text):
            if found["glued"] is not None:
                return True
            if found["closer"] is None:
                openers.append(not closed or self._is_sure(found))
            elif openers:
                openers.pop()
            elif found["seam"] is not None:
                return True
        return any(openers)

    def _is_sure(self, found: re.Match[str]) -> bool:
        """Whether an opener is surely a tag of the format: the tag, or one before it, contains the
        argument's name, or the tag is a whole line.
        """
        before = found.string[max(0, found.start() - limits.WIDEST_GAP) : found.start()]
        if found["whole"] is not None:
            return self._keyed or before.rstrip()[-1:] == ">"
        return found["line"] is not None and before[-1:] == "\n"


def _are_declared(keys: Sequence[str], first: str, known: Container[str], schema: object) -> bool:
    """Whether the schema declares all `keys`, and none is repeated, `first`, or in `known`."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return (
        isinstance(properties, Mapping)
        and len({first, *keys}) == len(keys) + 1
        and all(key in properties and key not in known for key in keys)
    )


@lru_cache(maxsize=limits.KEPT_CLOSINGS)
def closing_of(form: Format) -> Closing:
    """Return the `Closing` of a format with a bare text for each argument, from a cache."""
    at, many = next((at, word) for at, word in enumerate(form.words) if isinstance(word, Many))
    return Closing(form, many, form.words[at + 1 :])


def _onward(form: Format) -> str:
    """Return a pattern of the text that may follow a call: another call or a closing marker.

    The next call may lack its opener if the format has fixed text after the opener.
    """
    opener = any_of(form.opener) if form.opener else ""
    optional = "?" if after_opener(form) and opener else ""
    return f"(?:{opener}{optional}{start_of(form)}|{_ignored(form)})"


def _ignored(form: Format) -> str:
    """Return a pattern of the texts that may follow calls and are only markup."""
    words = [form.around[1]] if form.around else []
    words += [form.envelope.closes] if form.envelope else []
    texts = [text for word in words for text in word.spellings if text]
    return "|".join(map(re.escape, [*texts, *form.dropped])) or "(?!)"


def _texts(words: Iterable[Word]) -> Iterator[str]:
    """Yield the texts of all literals in the words, nested ones included."""
    return (word.text for word in flat(words) if isinstance(word, Literal))


_RUNS = re.compile(r"([A-Za-z0-9]++)")
_SIGNS = r"[^a-z0-9/\n]{0,3}+"
_SEAM = r"[^\w\s<]{0,4}+\s{0,40}+"
_END = "(?![a-z0-9])"
_LINE = r"[^\w\s<]?[ \t]{0,40}+(?=\n|\Z)"
"""What follows the name of an opener without a key at the end of its line."""

_NEVER = "(?!)"
_ALPHANUMERIC = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


@lru_cache(maxsize=256)
def _in_any_case(source: str) -> re.Pattern[str]:
    """The pattern of miswritten tags, compiled only when a text may have one."""
    return re.compile(source, re.IGNORECASE)


def _miswritten(form: Format, before: Sequence[Word], closer: str) -> tuple[str, list[str], bool]:
    """Return a pattern of miswritten tags around a value, lower-case texts of which each such tag
    has at least one, and whether openers have the key inside. `before`: the words before the value.

    Groups: `closer`, and `seam` if another tag or the end follows it; `glued`, a closer that merged
    with an opener; for openers, `whole` if it is complete, or `line` if its line ends after it.
    """
    first, slash, seeds = re.escape(closer[:1]), closer[1:2] == "/", []
    prefix, name, suffix = _parts(closer, form) if slash else ("", _bare(closer[1:]), "")
    opener, args = _opener(before, closer[:1], name if slash else "")
    rest = opener[opener.find(name) + len(name) :].removeprefix(suffix)
    named, glued, own = _NEVER, _NEVER, _loose(prefix)
    core = max((run[: limits.SHORTENED_NAME] for run in _RUNS.findall(name)), key=len, default="")
    if len(core) >= limits.SHORTEST_NAME:
        seeds.append(core.lower())
        named = f"{_loose(name, shortened=True)}(?:{_loose(suffix)})?+{_END}"
    if slash and name and args:
        tail = name[-limits.SHORTEST_TAIL :] + rest
        seeds.append(tail.lower())
        glued = rf"/[^<>\s/]{{0,40}}?{re.escape(tail)}{args}"
    if slash:  # an opener with a key may be any tag, unless it has the format's prefix
        closes = f"{_SIGNS}/(?:{own})?+{_SIGNS}{named}"
        whole = _NEVER if args is None else f"(?(own)|(?!)){re.escape(rest)}{args}"
        opens = f"{named}(?:(?P<whole>{whole})|(?P<line>{_LINE}))?"
    else:
        closes, opens = named, f"{_loose(_bare(opener[1:]))}{_END}(?P<whole>)(?P<line>)"
    source = (
        rf"{first}(?:(?P<glued>{glued})|(?P<closer>{closes}(?P<seam>{_SEAM}(?={first}|\Z))?)"
        rf"|(?P<own>{own})?+{_SIGNS}{opens if opener else '(?P<whole>)(?P<line>)(?!)'})"
    )
    return source, seeds, not slash or args != ""


def _opener(before: Sequence[Word], first: str, name: str) -> tuple[str, str | None]:
    """Return the last tag with this name in `before`, and a pattern of the words after it."""
    for at, word in reversed([*enumerate(before)]):
        if isinstance(word, Literal) and word.text[:1] == first and name in word.text:
            return word.text, row(before[at + 1 :])
    return "", None


def _parts(closer: str, form: Format) -> tuple[str, str, str]:
    """Split a closer, after its slash, into a prefix that all closers share, its name, a suffix."""
    name = _bare(closer[2:])
    others = [*{_bare(text[2:]) for text in _texts(form.words) if text[:2] == closer[:2]}]
    if len(others) < 2:
        return "", name, ""
    prefix = _shared(others)
    suffix = _shared([text[::-1] for text in others])[::-1]
    return prefix, name[len(prefix) : len(name) - len(suffix)], suffix


def _bare(text: str) -> str:
    """Return the text up to its last letter or digit."""
    return text[: max((found.end() for found in _RUNS.finditer(text)), default=0)]


def _shared(texts: list[str]) -> str:
    """Return the common prefix of the texts without letters and digits at its end."""
    first, last = min(texts), max(texts)
    return first[: _alike(first, last)].rstrip(_ALPHANUMERIC)


def _loose(text: str, *, shortened: bool = False) -> str:
    """Return a pattern of a text with any punctuation, and maybe its last word `shortened`."""
    runs = _RUNS.split(text)
    for at, run in enumerate(runs):
        if at % 2 == 0 and run:
            runs[at] = f"{_SIGNS}/{_SIGNS}" if "/" in run else _SIGNS
    if shortened and len(runs) > 1 and len(runs[-2]) >= limits.SHORTENED_NAME:
        runs[-2] = f"{runs[-2][: limits.SHORTENED_NAME]}[a-z]{{0,8}}+"
    return "".join(runs)


def with_marks(arguments: JsonObject, mark: str) -> Iterator[Note]:
    """Return diagnoses of arguments that swallowed a `mark`, which formats write around strings."""
    return (note_of(key) for key, value in arguments.items() if _holds_marks(value, mark))


def _holds_marks(value: JsonValue, mark: str) -> bool:
    """Whether a string in a value swallowed the marks, perhaps damaged, between two strings that a
    comma separates. One mark alone proves nothing.
    """
    rest, sign = [value], mark[:1]
    while rest:
        value = rest.pop()
        if type(value) is str:
            if "," in value and (sign in value or mark[-1] in value) and _joined(value, mark):
                return True
        elif type(value) is list:
            rest += value
        elif type(value) is dict:
            rest += value.values()
    return False


_JOINT = re.compile(r"[\s\]}]{0,8},[\s\[{]{0,8}([\w.-]{1,64}\s{0,4}:[\s\[{]{0,8})?")
"""The text between two strings of an object or a list; the group is the second one's key."""


def _joined(text: str, mark: str) -> bool:
    """Whether a text has marks around a comma; before a key one of the two suffices."""
    text, mark, middle = text.lower(), mark.lower(), len(mark) // 2
    if mark[:middle] not in text and mark[middle:] not in text:
        return False
    edits, size = edits_of(mark), len(mark) + 2
    for found in _JOINT.finditer(text):
        before = text[max(0, found.start() - size) : found.start()]
        ends = nearly_begins(before[::-1], mark[::-1], edits)
        begins = nearly_begins(text[found.end() : found.end() + size], mark, edits)
        if (ends or begins) if found[1] else (ends and begins):
            return True
    return False


_ELEMENT = re.compile(r"<([A-Za-z_][\w.:-]{0,127})>")


def in_element(text: str, tag: str, prefix: str, schema: object, root: object) -> bool:
    """Whether the text of the element `tag` swallowed other elements, whose prefix is damaged.

    A tag without any of the prefix may be HTML. So it counts only if it closes the element itself
    without an opener before it, or if it is the first one and names a member that `schema` has.
    """
    halves, signs = _of_prefix(prefix)
    if any(sign in text for sign in signs) or has_nearly(text.lower(), halves):
        return True
    close = text.find(f"</{tag}>")
    if close >= 0 and text.find(f"<{tag}", 0, close) < 0:
        return True
    first = _ELEMENT.search(text)
    return first is not None and member(schema, first[1], root, or_item=True) is not None


@lru_cache(maxsize=64)
def _of_prefix(prefix: str) -> tuple[tuple[Half, ...], list[str]]:
    """Return the halves of a prefix, and its long runs of punctuation, which are distinctive."""
    signs = [run for run in re.findall(r"[^\w\s]+", prefix) if len(run) >= limits.SHORTEST_SIGNS]
    return halves_of([prefix.lower()]), signs
