"""Content that ends in a call all the same: what begins it is damaged, or its object is.

Where no closer shows it (see `lost_openers`), the name of a tool does: behind what is nearly an
opener, or in an object between the keys of a call, one of which may be damaged. Asked when all of a
text was read, of content without another diagnosis.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import accumulate, pairwise

from tunaeval.grammar import Format, Literal, Markup, Maybe, Name, PythonCalls, Space
from tunaeval.limits import KEPT, LONG_TAG, LOST_ENDING, LOST_TRIES, SHORTEST_OPENER, SHOWN_NAME
from tunaeval.types import ARGUMENTS_KEYS, NAME_KEYS, Tools

from .collect import Collector
from .finder import Finder
from .markup import nearly_begins, within
from .quoting import in_ticks

_WORDS = re.compile(r"[\w.-]++")
_KEY_BEFORE = re.compile(r"\s*+\W{0,3}(\w{0,20}+)[^\w{}]{0,6}\Z").match
_KEY_BEHIND = re.compile(r"[^\w{}()]{0,8}(\w{0,20}+)[^\w{}()]{0,6}\{").match
"""From an object's bracket to a value, and from that to the next object: nothing but one key."""

_BETWEEN, _QUOTING = " \t\r\n[", "\"':"
"""What may be between an opener and a name: white space, a list's bracket; what ends some."""

_SIGN = re.compile(r"[^\w\s]").search
_ASSIGNED = re.compile(r"""["']?+[ \t]*+[:=>]""").match
_NOTHING = re.compile(r"[^\w{}()]*+\w*+[^\w{}()]*+(?:\{[ \t\r\n]*+\}|\([ \t\r\n]*+\))").match
_KEY = re.compile(r"""["'][\w-]++["'][ \t]*+:|\w[ \t]*+=""").search


def ends_like_call(text: str) -> bool:
    """Whether a bracket closes near the end, and no word of letters alone is behind it."""
    tail = text[-LOST_ENDING:]
    last = max(tail.rfind("}"), tail.rfind("]"), tail.rfind(")"), tail.rfind(">"))
    return last >= 0 and not any(map(str.isalpha, tail[last + 1 :].split()))


def report_lost_calls(collector: Collector, finder: Finder, text: str, tools: Tools | None) -> None:
    """Report each stretch of content that ends in a call, unless a diagnosis is in it already.

    `text` is the whole one, and all of it was read.
    """
    if tools is None or "content" not in collector.pieces.kinds:
        return
    tries = iter(range(LOST_TRIES))
    said = sorted(note.span for note in collector.diagnoses if note.span)
    ends = [*accumulate((span.end for span in said), max)]
    for kind, start, end in collector.pieces:
        if kind != "content" or not ends_like_call(text[max(start, end - LOST_ENDING) : end]):
            continue
        known = bisect_right(said, (end, len(text)))
        if not known or ends[known - 1] < start:
            found = _lost_in(text[start:end], finder, tools, tries)
            if found is not None:
                at, ends_at = start + found.start(), start + found.end()
                message = f"{found[0][:SHOWN_NAME]!r} has arguments, but nothing begins the call"
                collector.diagnose("missing-opener", message, at, ends_at)
                collector.attempt(at)


def _lost_in(
    content: str, finder: Finder, tools: Tools, tries: Iterator[int]
) -> re.Match[str] | None:
    """The name of the first call that content has lost; so many names are tried in all."""
    for found in _WORDS.finditer(content):
        name, (at, end) = found[0], found.span()
        if name not in tools:
            continue
        before, ahead = content[max(0, at - KEPT) : at], content[end : end + KEPT]
        if not _has_arguments(ahead, tools[name].parameters) or in_ticks(before):
            continue
        if next(tries, None) is None:
            return None
        if _between_keys(before, ahead) or _behind_opener(before, _before_names(finder)):
            return found
    return None


def _between_keys(before: str, ahead: str) -> bool:
    """Whether the keys of a call are around a name, or one of them and what is left of another."""
    first = _KEY_BEFORE(before, before.rfind("{") + 1) if "{" in before else None
    second = _KEY_BEHIND(ahead)
    if first is None or second is None or '"properties"' in ahead:
        return False
    name, arguments = first[1], second[1]
    if name in NAME_KEYS:
        return _is_nearly(arguments, ARGUMENTS_KEYS, 2)
    return arguments in ARGUMENTS_KEYS and _is_nearly(name, NAME_KEYS, 1)


def _is_nearly(word: str, keys: Iterable[str], edits: int) -> bool:
    """Whether a word is part of one of the keys, or is one but for so many letters."""
    return any(word in key or within(key, word, edits) for key in keys)


def _behind_opener(before: str, openers: Iterable[str]) -> bool:
    """Whether one of these is nearly there; one that begins with a word begins its line."""
    text, bare = before.rstrip(_BETWEEN), before.rstrip(_BETWEEN + _QUOTING)
    return any(_ends_nearly(text if opener[-1] in _QUOTING else bare, opener) for opener in openers)


def _ends_nearly(text: str, opener: str) -> bool:
    """Whether a text ends with an opener but for a character, or two of a long one."""
    edits = 1 if len(opener) < LONG_TAG else 2
    last = text[-len(opener) - edits :]
    if not any(part in last for part in _parts(opener, 2 * edits + 1)) or not _SIGN(last):
        return False
    if opener[0].isalpha():
        last = text.rpartition("\n")[2].lstrip()
    near = abs(len(last) - len(opener)) <= edits
    return near and nearly_begins(last[::-1], opener[::-1], edits)


@lru_cache(maxsize=512)
def _parts(opener: str, count: int) -> tuple[str, ...]:
    """An opener in so many parts: fewer than half as many edits leave one of them whole."""
    cuts = [len(opener) * at // count for at in range(count + 1)]
    return tuple(opener[start:end] for start, end in pairwise(cuts))


@lru_cache(maxsize=64)
def _before_names(finder: Finder) -> tuple[str, ...]:
    """The fixed texts that are right before the names of tools."""
    found = {_before_name(form) for form in finder.formats}
    return tuple(sorted(text for text in found if len(text) >= SHORTEST_OPENER))


def _before_name(form: Format) -> str:
    """The fixed text before the tool's name, or before Python calls, and what that begins with."""
    before = ""
    for word in form.words:
        if isinstance(word, Literal):
            before = word.text
        elif isinstance(word, Name | PythonCalls):
            return before + word.before if isinstance(word, Name) else before
        elif not isinstance(word, Space | Markup | Maybe):
            break
    return ""


def _has_arguments(ahead: str, parameters: Mapping[str, object]) -> bool:
    """Whether one of the parameters follows with a sign that assigns, or no argument at all."""
    declared = parameters.get("properties")
    if _NOTHING(ahead) or not isinstance(declared, Mapping) or not declared:
        return _NOTHING(ahead) is not None or (not declared and _KEY(ahead) is not None)
    return any(_is_assigned(ahead, key) for key in declared)


def _is_assigned(text: str, key: str) -> bool:
    """Whether a value belongs to this key where it is first met."""
    at = text.find(key)
    return at >= 0 and _ASSIGNED(text, at + len(key)) is not None
