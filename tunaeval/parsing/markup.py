"""A format's own markup inside a value, whole or nearly so: the sign of a tag that was lost.

Where a closer or the next argument's opener is damaged, its text becomes part of the value before
it. What is certain is split again (`pieces_of`); everything else stays as it is and has the
diagnosis `swallowed-markup`. Of two tags side by side mostly one is whole or nearly so, and the
rest of a damaged tag is around an intact half of it. So a value is searched for the halves of the
format's tags, which is fast, and only around these the rest is compared. HTML, XML and code are no
tags of the format, and values like others. So is what is in quotes of the format's own.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from string import ascii_letters, digits
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from tunaeval import limits
from tunaeval.grammar import Literal, Many, Maybe, Value, Word
from tunaeval.grammar.format import Format
from tunaeval.types.calls import JsonObject, JsonValue, Repair, Span

from .finder import row
from .repair.schema import member
from .repair.values import Note

if TYPE_CHECKING:
    from .tagged import Closing


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


class Marks:
    """The tags of a format that has bare values; `first` is the character that all begin with.

    A tag that is whole or nearly so is a sign in itself. The tags around a value may be miswritten,
    too: in capitals, with other signs, shortened, or without the prefix that all tags of the format
    share. Such a text may as well be a tag of other markup, where closers have openers. So only one
    without its partner is a sign: a closer in front of another tag or at the value's end, or an
    opener with all that belongs to it. Where a stretch of text is lost, a closer may go on as an
    opener: `</paramrameter=key>`.
    """

    def __init__(self, form: Format, many: Many) -> None:
        at = next(at for at, word in enumerate(many.words) if isinstance(word, Value))
        value, closer = many.words[at : at + 2]
        self._quotes = value.quotes if isinstance(value, Value) else ("", "")
        closed_by = closer.text if isinstance(closer, Literal) else ""
        self.first = first = closed_by[:1]
        parts = (part for text in _texts(form.words) for part in text.split(first)[1:])
        self._halves = halves_of(
            first + part for part in parts if len(part) + 1 >= limits.SHORTEST_TAG
        )
        self._source, self._seeds, self._keyed = _miswritten(form, many.words[:at], closed_by)
        self._miswritten: re.Pattern[str] | None = None

    def inside(self, text: str, *, closed: bool = True) -> bool:
        """Whether the text holds one of the tags, or nearly; `closed`: its own closer was there."""
        if self.first not in text:
            return False
        opener, end = self._quotes
        if opener and text.startswith(opener):
            return text.find(end, len(opener)) != len(text) - len(end)
        return has_nearly(text, self._halves) or self._is_miswritten(text, closed=closed)

    def _is_miswritten(self, text: str, *, closed: bool) -> bool:
        """Return whether a miswritten tag has no partner; if not `closed`, any opener has none."""
        lowered = text.lower()
        if not any(seed in lowered for seed in self._seeds):
            return False
        if self._miswritten is None:  # compiled when a text has one that is near
            self._miswritten = re.compile(self._source, re.IGNORECASE)
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


class Piece(NamedTuple):
    """The text of an argument, its name as it is written, and what its attribute says."""

    key: str
    kind: str | None
    text: str


def pieces_of(
    first: Piece, closing: Closing, known: Container[str], schema: object, *, closed: bool
) -> list[Piece]:
    """Return the argument, and those behind it whose openers it swallowed.

    That is certain where the tool declares all of them, none was read before (`known`), and no
    closer is in between. `closed`: the closer of the last one was there; the others have none.
    """
    text, sibling = first.text, closing.sibling
    found = [*sibling.finditer(text)] if sibling else []
    closed_before = any(closer in text for closer in closing.closers)
    if closed_before or not _are_declared([match[1] for match in found], first.key, known, schema):
        found = []
    heads = [first[:2], *((m[1], m[2] if m.re.groups > 1 else None) for m in found)]
    starts = [0, *(match.end() for match in found)]
    stops = [*(match.start() for match in found), len(text)]
    texts = [text[start:stop] for start, stop in zip(starts, stops, strict=True)]
    for at in range(len(texts) - closed):
        texts[at] = texts[at].removesuffix(closing.gap)
    return [Piece(*head, text) for head, text in zip(heads, texts, strict=True)]


def _are_declared(keys: Sequence[str], first: str, known: Container[str], schema: object) -> bool:
    """Whether the tool declares all of them, and each is there once."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return (
        isinstance(properties, Mapping)
        and len({first, *keys}) == len(keys) + 1
        and all(key in properties and key not in known for key in keys)
    )


def never_closed(pieces: Sequence[Piece], start: int) -> Repair:
    """Return the repair of values whose closer is missing; the first begins at an offset."""
    keys = ", ".join(repr(piece.key[:60]) for piece in pieces[: max(1, len(pieces) - 1)][:6])
    return Repair("unclosed", f"the closing tag of {keys} is missing", Span(start, start + 1))


_REMAINS = re.compile(r"(?:(?:<|&lt;)/?+[^\s<>/&]{0,20}+(?:>|&gt;)?+|/[^\s<>/&]{1,20}+>)\s*+\Z")
"""What may be left of a closer at the end of a value."""


def swallowed(pieces: Sequence[Piece], closing: Closing, *, closed: bool) -> Iterator[Note]:
    """Yield the diagnoses of values that still hold markup; only the last may be `closed`."""
    for piece in pieces:
        whole = closed and piece is pieces[-1]
        cut = not whole and _REMAINS.search(piece.text, max(0, len(piece.text) - limits.WIDEST_GAP))
        if cut or closing.marks.inside(piece.text, closed=whole):
            yield note_of(piece.key)


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
