"""Arguments one by one, with their keys in markup and their values as bare text.

A value ends at its first closer if what the grammar allows next is behind it, which `bare` asks
too; here all of that is one pattern, which also reads the next key. If it does not match there, a
later closer may end the value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from tunaeval.grammar import Attribute, Format, Key, Literal, Many, Maybe, Name, Value, Word
from tunaeval.limits import ARGUMENTS_AT_ONCE, WIDE_SPACE
from tunaeval.repair import signature_of
from tunaeval.types import JsonObject, ToolCall, Tools

from ..marks import Marks
from ..patterns import SPACE, Match, matcher, row
from ..typing import trimmed, undoubled, unescaped
from .made import call_of
from .promise import UNSURE, BlockReader
from .sound import holds
from .values import ODD, value_of

Found: TypeAlias = Sequence["str | None"]
"""The name, and of each argument the key, the attribute if there may be one, and the text."""

Maker: TypeAlias = Callable[[Found, tuple[int, int], Tools | None], ToolCall | None]
"""Makes a call at a span; None if anything is odd about it."""


class Pairs(NamedTuple):
    """How such calls are read. `plain` is the pattern of one behind its opener, whose values hold
    nothing that a tag begins with; `groups` are so many as `make` takes.
    """

    plain: str
    groups: int
    make: Maker
    read: BlockReader


def pairs_of(
    form: Format, before: Sequence[Word], many: Many, after: Sequence[Word]
) -> Pairs | None:
    """How the calls of a format are read whose name and arguments are these words."""
    steps = _steps(form, before, many, after)
    if steps is None:
        return None
    make, groups = _maker(form, steps, before), steps.groups
    marks = Marks(form, many, steps.closer)
    plain = matcher(steps.plain, groups)
    if plain is None:
        return None

    def read(text: str, start: int, body: int, tools: Tools | None, calls: list[ToolCall]) -> int:
        here = plain(text, body)
        if here is not None:
            found: Found = here.groups()
            end = here.end()
        else:
            found, end = _walked(steps, marks, text, body)
        call = make(found, (start, end), tools) if end >= 0 else None
        if call is None:
            return UNSURE
        calls.append(call)
        return end

    return Pairs(steps.plain, groups, make, read)


def _maker(form: Format, steps: _Steps, before: Sequence[Word]) -> Maker:
    word, attribute, escaped = steps.words
    meant, format_name, each = meaning(before), form.name, 3 if attribute else 2
    trims = word.trim != "no" or bool(word.quotes[0])
    kinds = _kinds(attribute) if attribute else {}

    def make(found: Found, where: tuple[int, int], tools: Tools | None) -> ToolCall | None:
        name, said = meant(found[0] or "", tools), None
        signature = None if tools is None else signature_of(name, tools)
        if signature is None and tools is not None:
            return None
        arguments: JsonObject = {}
        for at in range(1, len(found), each):
            key, text = found[at], found[at + each - 1]
            if key is None or text is None:
                break
            if kinds:
                said = kinds.get(found[at + 1])
            if escaped and "&" in key:
                key = unescaped(key)
            if trims:
                text = trimmed(text, word)
            value = value_of(text, key, signature, said)
            if value is ODD or key in arguments or not key:
                return None
            arguments[key] = value
        if not holds(arguments, name, tools):
            return None
        return call_of(name, arguments, format_name, where, None)

    return make


def _walked(steps: _Steps, marks: Marks, text: str, body: int) -> tuple[Found, int]:
    """What is found step by step, and the end of the call; `UNSURE` where it has none.

    For values that hold what a tag begins with; none of them may be a tag that was damaged, nor
    the end of a call, behind which another may begin, nor what another argument begins with.
    """
    here, closer, others = steps.head(text, body), steps.closer, steps.others
    if here is None:
        return (), UNSURE
    name, *next_ = here.groups()
    found = [name]
    while next_[0] is not None:
        at = here.end()
        end = text.find(closer, at)
        value = text[at:end]
        begun = (text.find(other, at, end + len(other) - 1) >= 0 for other in others)
        if end < 0 or any(begun) or marks.inside(value):
            return (), UNSURE
        found += (*next_, value)
        here = steps.step(text, end)
        if here is None:
            return (), UNSURE
        next_ = [*here.groups()]
    return found, here.end()


def meaning(words: Sequence[Word]) -> Callable[[str, Tools | None], str]:
    """What a name that is written means."""
    doubled = any(isinstance(word, Name) and word.doubled for word in words)
    return undoubled if doubled else _as_written


def _as_written(name: str, _: Tools | None) -> str:
    return name


class _Steps(NamedTuple):
    """From the opener to the first value, and from each value's closer to the next, or the end.

    For `plain` and `groups` see `Pairs`. No value here holds one of the `others`. `words` are the
    value's, the attribute, and whether keys are written with entities.
    """

    plain: str
    groups: int
    head: Match
    step: Match
    closer: str
    others: tuple[str, ...]
    words: tuple[Value, Attribute | None, bool]


def _steps(
    form: Format, before: Sequence[Word], many: Many, after: Sequence[Word]
) -> _Steps | None:
    words = many.words
    places = [i for i, word in enumerate(words) if isinstance(word, Value)]
    keys = [word for word in words[: min(places, default=0)] if isinstance(word, Key)]
    if len(places) != 1 or len(keys) != 1:
        return None
    at = places[0]
    again, value, closer = words[0], words[at], words[at + 1]
    attribute = _attribute(words[:at])
    first, item, rest = row(words[:1]), row(words[:at]), row(words[at + 2 :], space=WIDE_SPACE)
    head, tail = row(before), row(after, space=WIDE_SPACE)
    whole = None not in (first, item, rest, head, tail)
    if not (whole and isinstance(value, Value) and isinstance(closer, Literal)):
        return None
    assert isinstance(again, Literal)  # noqa: S101 - a format without it is refused when built
    onward, closes = f"(?:{item}|(?!{first}){tail})", f"{re.escape(closer.text)}{rest}{WIDE_SPACE}"
    groups = 1 + (attribute is not None)
    start = matcher(f"{head}{SPACE}{onward}", groups + 1)
    step = matcher(f"{closes}{onward}", groups)
    marks = (closer, form.closer or closer, again)
    begins = {text[0] for word in marks for text in word.spellings}
    text, items = f"([^{re.escape(''.join(sorted(begins)))}]*+)", f"(?!{first})"
    for _ in range(ARGUMENTS_AT_ONCE):
        items = f"(?:{item}{text}{closes}{items}|(?!{first}))"
    if start is None or step is None:
        return None
    kept, count = (value, attribute, keys[0].escaped), 1 + ARGUMENTS_AT_ONCE * (groups + 1)
    others = (*again.spellings, *closer.also, *(form.closer or closer).spellings)
    return _Steps(f"{head}{SPACE}{items}{tail}", count, start, step, closer.text, others, kept)


def _attribute(words: Sequence[Word]) -> Attribute | None:
    """The attribute among the words, which may be missing in a text."""
    inner = [each for word in words for each in (word.words if isinstance(word, Maybe) else [word])]
    return next((word for word in inner if isinstance(word, Attribute)), None)


def _kinds(word: Attribute) -> dict[str | None, str]:
    """What each of the attribute's words says."""
    return {**dict.fromkeys(word.json, "json"), **dict.fromkeys(word.text, "text")}
