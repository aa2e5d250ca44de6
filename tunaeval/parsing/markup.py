"""Where a bare value ends, and what of its format's own markup it swallowed.

The same characters that close a value may be a part of it, so what follows decides. Where a closer
or the next argument's opener is damaged, its text becomes part of the value before it. What is
certain is split again (`Closing.split`); everything else stays as it is and has the
diagnosis `swallowed-markup`. Of two tags side by side mostly one is whole or nearly so, and the
rest of a damaged tag is around an intact half of it. So a value is searched for the halves of the
format's tags, which is fast, and only around these the rest is compared. HTML, XML and code are no
tags of the format, and values like others. So is what is in quotes of the format's own.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from string import ascii_letters, digits
from typing import TypeAlias

from tunaeval import limits
from tunaeval.grammar import (
    Attribute,
    Key,
    Literal,
    Many,
    Maybe,
    Space,
    Value,
    Word,
    starts_with_space,
)
from tunaeval.grammar.format import Format
from tunaeval.limits import WIDE_SPACE
from tunaeval.types.calls import JsonObject, JsonValue

from .block import literal, peek
from .collect import LiveText
from .finder import SPACE, any_of, chain, row, start_of
from .repair.schema import member
from .repair.values import Note, Unreadable
from .window import Reading, Window


def note_of(key: str) -> Note:
    """Return the diagnosis of an argument that swallowed markup."""
    return Note(
        "swallowed-markup", f"{key[: limits.SHOWN_NAME]!r} contains markup, perhaps a lost tag"
    )


def within(wanted: str, text: str, edits: int) -> bool:
    """Whether the text begins with `wanted` after at most so many edits.

    An edit drops, adds or changes a character, or swaps it with the next. The last character, a
    bracket or the like, may not be dropped or changed.
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
    """Return how many first characters two texts share."""
    size = min(len(one), len(other))
    return next((at for at in range(size) if one[at] != other[at]), size)


def nearly_begins(text: str, mark: str, edits: int) -> bool:
    """Whether the text begins with `mark` after so many edits, even of its last character."""
    return within(mark, text, edits) or within(mark[:-1], text, edits - 1)


def edits_of(tag: str) -> int:
    """Return how many edits a tag of this length may have."""
    return 1 if len(tag) < limits.LONG_TAG else 2


Half: TypeAlias = tuple[str, str, str]
"""Half of a tag, between what is before it and what is behind it."""


def halves_of(tags: Iterable[str]) -> tuple[Half, ...]:
    """Split each tag into its halves; its first three quarters may be enough to know it."""
    found: list[Half] = []
    for tag in dict.fromkeys(tags):
        middle, most = len(tag) // 2, len(tag) * 3 // 4
        if most >= limits.SURE_START and not tag[1].isalpha():
            found.append(("", tag[:most], ""))
        found += [("", tag[:middle], tag[middle:]), (tag[:middle], tag[middle:], "")]
    return tuple(found)


def has_nearly(text: str, halves: Iterable[Half]) -> bool:
    """Whether a text has half of a tag and, around it, the other half or nearly that."""
    return any(half[1] in text and _is_whole(text, half) for half in halves)


def _is_whole(text: str, half: Half) -> bool:
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
"""An argument: its name as it is written, what its attribute says, and its text."""

Bare: TypeAlias = tuple[str, bool, str]
"""A value's text, and whether it was closed. If not, the end of its call follows, and the third is
what is between that and a closer of its own, if there was one.
"""


_REMAINS = re.compile(r"(?:(?:<|&lt;)/?+[^\s<>/&]{0,20}+(?:>|&gt;)?+|/[^\s<>/&]{1,20}+>)\s*+\Z")
"""What may be left of a closer at the end of a value."""


class Closing:
    """How the bare values of a format end, each at one of its closers if what follows that fits.

    Where the end of the call comes first, and behind it what may come behind a call, the closer
    was forgotten. `_sibling` is what is in front of the value of another argument, `_gap` what is
    written behind a closer; where that is missing, it is at the end of the value.

    The tags of the format begin with the character `_first`. One in a value that is whole or nearly
    so is a sign of a lost tag in itself. The tags around a value may be miswritten, too: in
    capitals, with other signs, shortened, or without the prefix that all tags of the format share.
    Such a text may as well be a tag of other markup, where closers have openers. So only one
    without its partner is a sign: a closer in front of another tag or at the value's end, or an
    opener with all that belongs to it. Where a stretch of text is lost, a closer may go on as an
    opener: `</paramrameter=key>`.
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
            # The call may end without one of its closers, or with the first few alone.
            fewer = ["".join(spelled[missing:]) for missing in range(1, len(spelled))]
            fewer += ["".join(spelled[:at]) + _onward(form) for at in range(len(spelled))]
            incomplete = "|".join(fewer) or "(?!)"
            # Two closers in a row are no part of a value, whatever follows them.
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
        self._closer = re.compile("|".join(map(re.escape, sorted(texts, key=len, reverse=True))))
        self._held = max(map(len, texts)) - 1
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
        """What matches an argument whose value holds nothing that markup begins with, to its end.

        Its groups are the key, the attribute if the format has one, and the value's text. Whatever
        it matches would be read alike word by word. None if one of the words has no pattern.
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
        return pattern if pattern.groups == groups else None  # a word's own pattern has groups

    def text_at(
        self, window: Window, key: str, live: LiveText | None
    ) -> Reading[Bare | Unreadable]:
        """Return the text of the argument `key`, up to a closer that fits or to its call's end."""
        pieces: list[str] = []
        own: str | None = None
        opener = self.value.quotes[0]
        quoted = bool(opener) and (yield from peek(window, literal(window, (opener,))))
        while True:
            hit = self._closer.search(window.text, window.pos)
            if hit is None or not (window.final or hit.start() + self._held < len(window.text)):
                end = len(window.text) - (0 if window.final else self._held)
                end, ends = max(window.pos, end), None
            else:
                ends = self._ends(window, hit, trusted=own is not None, quoted=quoted)
                end = hit.start() + (ends is False)  # the two closers may overlap
                if ends is False and own is None and not quoted and hit.group() in self._closers:
                    own = hit.group()
            pieces.append(window.text[window.pos : end])
            window.pos = end
            if live:
                live.grow(pieces[-1])
            if ends == "call":
                return self._before(window, "".join(pieces), own)
            if ends:
                return "".join(pieces), True, ""
            if ends is None and window.final:
                if self._over.search("".join(pieces)):
                    return Unreadable("invalid-arguments", f"{key[:60]!r} is never closed")
                return Unreadable("truncated", "the text ends inside an argument", cut=True)
            if ends is None:
                yield

    def _before(self, window: Window, text: str, own: str | None) -> Bare:
        """Return the value up to its `own` closer, and go back before the end of its call."""
        found = self._before_restart.search(text, max(0, len(text) - limits.VALUE_AHEAD))
        size = len(text) - found.start() if found else 0
        window.pos -= size
        text = text[: len(text) - size]
        text, _, stray = text.partition(own) if own else (text, "", "")
        return text, False, stray

    def _ends(
        self, window: Window, hit: re.Match[str], *, trusted: bool, quoted: bool
    ) -> bool | str | None:
        """Whether the value ends at this closer of its own; "call" where its call does instead.

        None if more could tell. `trusted`: a closer of its own was before, in front of text that
        may be the value's or not. `quoted`: the value begins with quotes.
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
        """Return whether the value's quotes end before an index, or not soon; None to wait."""
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
        """Return the argument, and those behind it whose openers it swallowed.

        That is certain where the tool declares all of them, none was read before (`known`), and no
        closer is in between. `closed`: the closer of the last one was there; the others have none.
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
            texts[at] = texts[at].removesuffix(self._gap)
        return [(*head, text) for head, text in zip(heads, texts, strict=True)]

    def swallowed(self, pieces: Sequence[Piece], *, closed: bool) -> Iterator[Note]:
        """Yield the diagnoses of values that still hold markup; only the last may be `closed`."""
        for at, (key, _, text) in enumerate(pieces, 1):
            whole = closed and at == len(pieces)
            least = max(0, len(text) - limits.WIDEST_GAP)
            cut = not whole and _REMAINS.search(text, least)
            if cut or self.has_tags(text, closed=whole):
                yield note_of(key)

    def has_tags(self, text: str, *, closed: bool = True) -> bool:
        """Whether the text holds one of the tags, or nearly; `closed`: its own closer was there."""
        if self._first not in text:
            return False
        opener, end = self.value.quotes
        if opener and text.startswith(opener):
            return text.find(end, len(opener)) != len(text) - len(end)
        return has_nearly(text, self._halves) or self._is_miswritten(text, closed=closed)

    @cached_property
    def _miswritten(self) -> re.Pattern[str]:
        """What matches miswritten tags, made when a text has one that is near."""
        return re.compile(self._source, re.IGNORECASE)

    def _is_miswritten(self, text: str, *, closed: bool) -> bool:
        """Return whether a miswritten tag has no partner; if not `closed`, any opener has none."""
        lowered = text.lower()
        if not any(seed in lowered for seed in self._seeds):
            return False
        openers: list[bool] = []
        for found in self._miswritten.finditer(text):
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
        """Whether an opener has its key, inside or in a tag before it, or is a line of its own."""
        before = found.string[max(0, found.start() - limits.WIDEST_GAP) : found.start()]
        if found["whole"] is not None:
            return self._keyed or before.rstrip()[-1:] == ">"
        return found["line"] is not None and before[-1:] == "\n"


def _are_declared(keys: Sequence[str], first: str, known: Container[str], schema: object) -> bool:
    """Whether the tool declares all of them, and each is there once."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return (
        isinstance(properties, Mapping)
        and len({first, *keys}) == len(keys) + 1
        and all(key in properties and key not in known for key in keys)
    )


@lru_cache(maxsize=limits.KEPT_CLOSINGS)
def closing_of(form: Format) -> Closing:
    """Return how values of a format end that has arguments one by one."""
    at, many = next((at, word) for at, word in enumerate(form.words) if isinstance(word, Many))
    return Closing(form, many, form.words[at + 1 :])


def _onward(form: Format) -> str:
    """Return the pattern of what may follow a call: another call, or what is around calls.

    The next call may lack its opener if the format has fixed text after the opener.
    """
    inner = next((word for word in form.words[1:] if not isinstance(word, Space)), None)
    opener = any_of(form.opener) if form.opener else ""
    optional = "?" if isinstance(inner, Literal) and opener else ""
    return f"(?:{opener}{optional}{start_of(form)}|{_ignored(form)})"


def _ignored(form: Format) -> str:
    """Return a pattern of the texts behind calls that mean nothing more."""
    words = [form.around[1]] if form.around else []
    words += [form.envelope.closes] if form.envelope else []
    texts = [text for word in words for text in word.spellings if text]
    return "|".join(map(re.escape, [*texts, *form.dropped])) or "(?!)"


def _texts(words: Iterable[Word]) -> Iterator[str]:
    for word in words:
        if isinstance(word, Literal):
            yield word.text
        elif isinstance(word, Maybe | Many):
            yield from _texts(word.words)


_RUNS = re.compile(r"([A-Za-z0-9]++)")
_SIGNS = r"[^a-z0-9/\n]{0,3}+"
_SEAM = r"[^\w\s<]{0,4}+\s{0,40}+"
_END = "(?![a-z0-9])"
_LINE = r"[^\w\s<]?[ \t]{0,40}+(?=\n|\Z)"
"""What follows the name of an opener that lost its key and is a line of its own."""

_NEVER = "(?!)"


def _miswritten(form: Format, before: Sequence[Word], closer: str) -> tuple[str, list[str], bool]:
    """Return the pattern of miswritten tags around a value, texts in small letters of which each
    of them has one, and whether an opener has its key inside; `before` is what is in front of it.

    Groups: `closer`, with `seam` in front of another tag or the end; `glued`, a closer that goes on
    as an opener; else it is an opener, `whole` with all that belongs to it, or a `line` of its own.
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
    if slash:  # without the prefix of its format, an opener with its key may be any other tag
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
    """Return the last tag with this name, and the pattern of what is behind it."""
    for at, word in reversed([*enumerate(before)]):
        if isinstance(word, Literal) and word.text[:1] == first and name in word.text:
            return word.text, row(before[at + 1 :])
    return "", None


def _parts(closer: str, form: Format) -> tuple[str, str, str]:
    """Return what is behind the slash of a closer: what all closers share is around the name."""
    name = _bare(closer[2:])
    others = [*{_bare(text[2:]) for text in _texts(form.words) if text[:2] == closer[:2]}]
    if len(others) < 2:
        return "", name, ""
    prefix = _shared(others)
    suffix = _shared([text[::-1] for text in others])[::-1]
    return prefix, name[len(prefix) : len(name) - len(suffix)], suffix


def _bare(text: str) -> str:
    """Return the text up to its last letter."""
    return text[: max((found.end() for found in _RUNS.finditer(text)), default=0)]


def _shared(texts: list[str]) -> str:
    """Return what all texts begin with, up to its last sign that is no letter."""
    first, last = min(texts), max(texts)
    return first[: _alike(first, last)].rstrip(ascii_letters + digits)


def _loose(text: str, *, shortened: bool = False) -> str:
    """Return a pattern of the letters with any signs between them, perhaps a `shortened` word."""
    runs = _RUNS.split(text)
    for at, run in enumerate(runs):
        if at % 2 == 0 and run:
            runs[at] = f"{_SIGNS}/{_SIGNS}" if "/" in run else _SIGNS
    if shortened and len(runs) > 1 and len(runs[-2]) >= limits.SHORTENED_NAME:
        runs[-2] = f"{runs[-2][: limits.SHORTENED_NAME]}[a-z]{{0,8}}+"
    return "".join(runs)


def with_marks(arguments: JsonObject, mark: str) -> Iterator[Note]:
    """Yield the diagnoses of arguments whose texts swallowed the marks that are around texts."""
    return (note_of(key) for key, value in arguments.items() if _holds_marks(value, mark))


def _holds_marks(value: JsonValue, mark: str) -> bool:
    """Return whether a text in a value has swallowed the marks, or nearly, of two texts that meet
    with a comma between them; one mark alone proves nothing.
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
"""What is between two texts of an object or a list; its group is the second one's key."""


def _joined(text: str, mark: str) -> bool:
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
    """Whether an element's text has swallowed others: tags without their prefix, or part of it.

    Without all of it a tag may be HTML. So it has to be the end of the element itself in front of
    another beginning, or the name of a member that the schema declares.
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
    """Return the prefix in halves, and the signs in it that are in no other texts."""
    signs = [run for run in re.findall(r"[^\w\s]+", prefix) if len(run) >= limits.SHORTEST_SIGNS]
    return halves_of([prefix.lower()]), signs
