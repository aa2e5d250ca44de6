"""Finds calls that failed, by the names of tools in content (text that is no call).

While a text is read, `_Unread` of the scanner judges openers that no call follows. After that, if
tools are known, `audit` searches the content again: a call may lack its opener before the name and
arguments, and in a text without any call, a name that is written as in a call is an attempt or a
mention.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from heapq import merge
from itertools import islice, pairwise
from typing import TypeAlias

from tunaeval import limits
from tunaeval.grammar import (
    Literal,
    Markup,
    Maybe,
    Name,
    PythonCalls,
    Space,
    literal_texts,
)
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import FORMATS
from tunaeval.types.calls import ARGUMENTS_KEYS, NAME_KEYS, Tools

from .collect import Collector
from .finder import Finder, everything, firsts_of, in_ticks, search_for
from .markup import edits_of, nearly_begins, within
from .scanner import scanner_of
from .unit import read_unit, unescaped


def audit(collector: Collector, finder: Finder, text: str, tools: Tools | None) -> str:
    """After all of `text` was read, report failed calls and mentions of tools in its content, and
    return the content.
    """
    content = collector.text_of("content", text)
    if not content and (collector.calls or collector.attempts):
        return content  # all of the text was read
    is_named = tools is not None and _names_with_arguments(content, tools)
    if tools:
        if is_named:
            _report_lost(collector, finder, text, tools)
        if not (collector.calls or collector.attempts):
            _report_named(collector, finder, text, tools)
        elif collector.calls and finder is not everything():
            _report_others(collector, finder, text, tools)
    if tools and is_named and not (collector.attempts or collector.diagnoses):
        _report_lost(collector, everything(), text, tools, anywhere=True)
    if not (collector.attempts or collector.diagnoses) and (
        not collector.calls or _HAS_SIGN(content) or any(map(text.__contains__, _ends_of_calls()))
    ):
        _report_remains(collector, text, tools or Tools())
    return content


def _names_with_arguments(content: str, tools: Tools) -> bool:
    """Whether something like arguments is behind a tool's name anywhere: else no call is lost."""
    for name in filter(content.__contains__, filter(None, tools)):
        at = content.find(name)
        while at >= 0:
            stop = at + len(name)
            if _has_arguments(content[stop : stop + limits.KEPT], tools[name].parameters):
                return True
            at = content.find(name, stop)
    return False


def _places(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end index of each place where a name is a word of its own."""
    at = text.find(name)
    while at >= 0:
        stop = at + len(name)
        around = text[max(0, at - 1) : at], text[stop : stop + 1]
        if not any(char.isalnum() or char == "_" for char in around):
            yield at, stop
        at = text.find(name, stop)


_DEFINED = "properties"
"""A word after a tool's name that shows a definition, which has a schema, and no call."""


_KEY_BEFORE = re.compile(r"\s*+\W{0,3}(\w{0,20}+)[^\w{}]{0,6}\Z").match
_KEY_BEHIND = re.compile(r"[^\w{}()]{0,8}(\w{0,20}+)[^\w{}()]{0,6}\{").match
"""The text from `{` to a name, and from the name to the next `{`, if it has only one key."""

_BETWEEN, _QUOTING = " \t\r\n[", "\"':"
"""Characters that may be between an opener and a name, and those that some openers end with."""

_SIGN = re.compile(r"[^\w\s]").search
_ASSIGNED = re.compile(r"""["']?+[ \t]*+(?:[:=>]|</)""").match
_NOTHING = re.compile(r"[^\w{}()]*+\w*+[^\w{}()]*+(?:\{[ \t\r\n]*+\}|\([ \t\r\n]*+\))").match
_KEY = re.compile(r"""["'][\w-]++["'][ \t]*+:|\w[ \t]*+=""").search


def _ends_like_call(tail: str) -> bool:
    """Whether the end of a text has a closing bracket and after it no word of only letters."""
    last = max(map(tail.rfind, "}])>"))
    return last >= 0 and not any(map(str.isalpha, tail[last + 1 :].split()))


def _report_lost(
    collector: Collector,
    finder: Finder,
    text: str,
    tools: Tools,
    *,
    anywhere: bool = False,
) -> None:
    """Report each piece of content that ends like a call whose opener is missing; with `anywhere`,
    also one that ends otherwise.

    A piece in which there is a diagnosis already is skipped.
    """
    tries = iter(range(limits.LOST_TRIES))
    for start, end in collector.spans("content"):
        if anywhere or _ends_like_call(text[max(start, end - limits.LOST_ENDING) : end]):
            noted = partial(collector.has_diagnosis, start - 1, end + 1)
            found = _lost_in(text[start:end], finder, tools, tries, noted)
            if found is not None:
                at, stop = start + found[0], start + found[1]
                name = text[at:stop][: limits.SHOWN_NAME]
                message = f"{name!r} has arguments, but nothing begins the call"
                collector.refuse("missing-opener", message, at, stop)


def _lost_in(
    content: str, finder: Finder, tools: Tools, tries: Iterator[int], noted: Callable[[], bool]
) -> tuple[int, int] | None:
    """Return the start and end, in `content`, of the first tool name whose call lacks its opener.

    `tries` limits how many names with arguments are examined in the whole text; `noted` says
    whether there is a diagnosis of the content already.
    """
    names = [name for name in tools if name and name in content]
    for at, end in merge(*(_places(content, name) for name in names)) if names else ():
        before, ahead = content[max(0, at - limits.KEPT) : at], content[end : end + limits.KEPT]
        if not _has_arguments(ahead, tools[content[at:end]].parameters):
            continue
        if next(tries, None) is None or noted():
            break
        lost = _between_keys(before, ahead) or _behind_opener(before, finder)
        if lost and not in_ticks(before):
            return at, end
    return None


def _has_arguments(ahead: str, parameters: Mapping[str, object]) -> bool:
    """Whether `ahead`, the text after a name, assigns a parameter or has empty brackets."""
    declared = parameters.get("properties")
    if _NOTHING(ahead):
        return True
    return _assigns(ahead, parameters) or (not declared and _KEY(ahead) is not None)


def _assigns(ahead: str, parameters: Mapping[str, object]) -> bool:
    """Whether a text assigns one of the parameters."""
    declared = parameters.get("properties")
    if not isinstance(declared, Mapping):
        return False
    known = [key for key in declared if key and key in ahead]
    return any(_ASSIGNED(ahead, ahead.find(key) + len(key)) for key in known)


def _between_keys(before: str, ahead: str) -> bool:
    """Whether a name is between a call's keys, "name" and "arguments"; one may be damaged."""
    first = _KEY_BEFORE(before, before.rfind("{") + 1) if "{" in before else None
    second = _KEY_BEHIND(ahead)
    if first is None or second is None or _DEFINED in ahead:
        return False
    name, arguments = first[1], second[1]
    if name in NAME_KEYS:
        return _is_nearly(arguments, ARGUMENTS_KEYS, 2)
    return arguments in ARGUMENTS_KEYS and _is_nearly(name, NAME_KEYS, 1)


def _is_nearly(word: str, keys: Iterable[str], edits: int) -> bool:
    """Whether a word is part of one of the keys, or becomes one by at most `edits` edits."""
    return any(word in key or within(key, word, edits) for key in keys)


def _behind_opener(before: str, finder: Finder) -> bool:
    """Whether a damaged opener of a format is right before a name, at the end of `before`.

    An opener that begins with a letter has to be at the start of its line.
    """
    texts = before.rstrip(_BETWEEN), before.rstrip(_BETWEEN + _QUOTING)
    for opener, edits, has_part in _before_names(finder) if _SIGN(texts[0]) else ():
        text = texts[opener[-1] not in _QUOTING]
        last = text[-len(opener) - edits :]
        if has_part(last) and _SIGN(last):
            if opener[0].isalpha():
                last = text.rpartition("\n")[2].lstrip()
            near = abs(len(last) - len(opener)) <= edits
            if near and nearly_begins(last[::-1], opener[::-1], edits):
                return True
    return False


@lru_cache(maxsize=64)
def _before_names(finder: Finder) -> list[tuple[str, int, Callable[[str], object]]]:
    """Return the openers that the formats have right before a name, each with the edits allowed in
    it and what finds one of its parts.

    With more than twice as many parts as edits, one part of a damaged opener is intact.
    """
    found = list[tuple[str, int, Callable[[str], object]]]()
    for text in sorted({*map(_before_name, finder.formats)}):
        count = 2 * edits_of(text) + 1
        cuts = [len(text) * at // count for at in range(count + 1)]
        parts = "|".join(re.escape(text[start:end]) for start, end in pairwise(cuts))
        if len(text) >= limits.SHORTEST_OPENER:
            found.append((text, edits_of(text), re.compile(parts).search))
    return found


def _before_name(form: Format) -> str:
    """Return the fixed text right before a format's tool name or its Python calls; "" if none."""
    before = ""
    for word in form.words:
        if isinstance(word, Literal):
            before = word.text
        elif isinstance(word, Name | PythonCalls):
            return before + word.before if isinstance(word, Name) else before
        elif not isinstance(word, Space | Markup | Maybe):
            break
    return ""


_OPENS = re.compile(
    r"""["'`*\\\s:,]{0,12}+(?:\d{1,4}(?=\{))?(?:\w{1,24}["'\\]{1,3}\s?:[\s"'\\]{0,6})?"""
    r"""(?:(?<=```)\w{1,12}\s{1,4})?([({])"""
)
"""The text from after a name to the bracket of its arguments: quotes, an index, the key of the
arguments, or a code fence may be between.
"""
_LEADS = re.compile(r"""\s*+(?:[-*+>]\s++|\d{1,3}[.)]\s++)?[\s\[({<"'`|“‘]*+\Z""")
"""The text that may precede a call in its line: a list marker, brackets, quotes."""

_TAG = re.compile(r"<(?:([A-Za-z][\w.-]{0,40}+):[ ]?)?\Z")
"""The beginning of a tag before the name: `<`, perhaps with a namespace."""

_ENDS_TAG = re.compile(r"\s{0,8}/>")
_TOKENS = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[(){}\[\]]""", re.DOTALL)
_TRAILS = re.compile(r"""[\s\])}"'`,;.|”’]*+""")
_NEXT = re.compile(r"""[\s\])}"'`,;\[({]*+[^\W\d][\w.-]*+["'`\\\s:,]{0,12}+([({])""")
_QUOTES = ("'", '"', "`")
_CLOSES = {"(": ")", "{": "}", "[": "]"}


def _report_named(collector: Collector, finder: Finder, text: str, tools: Tools) -> None:
    """In a text without calls, report the first tool name that is written as in a call.

    The name is an attempt if its line, list item, code fence or backticks contain calls and nothing
    else; if another format reads these, the diagnosis is `reads-as` and has the format's name. In
    a sentence, a definition or a program, the name is a mention. Other formats read at level
    "standard", so that the diagnosis is the same at all levels.
    """
    if any(note.code == "too-many-markers" for note in collector.diagnoses):
        return  # this diagnosis already says that the text was not read to its end
    view, place = unescaped(text[: collector.answered])
    if not any(name in view for name in tools):
        return
    if finder.formats != everything().formats and (other := _other(text, finder, tools)):
        _report_attempt(collector, text, *other)
        return
    mention, noted = None, bool(collector.diagnoses)
    for start, stop in _named(view, tools):
        at = place(start)
        if not any(a <= at < b for a, b in collector.spans("content")):
            continue
        attempt = _attempt(view, start, stop)
        if attempt is None:
            mention = mention or (at, place(stop))
            continue
        span = place(attempt[0]), place(attempt[1])
        if not collector.has_diagnosis(*span):
            unit = read_unit(everything().wholes, view[slice(*attempt)], 0, tools, "standard")
            form = unit[0].calls[0].format if unit and unit[0].calls else None
            _report_attempt(collector, text, form, *span)
            return
    if mention and not noted:
        name = text[slice(*mention)][: limits.SHOWN_NAME]
        message = f"{name!r} is named here as in a call, and is not called"
        collector.diagnose("mention", message, *mention)


def _report_attempt(
    collector: Collector, text: str, format_name: str | None, start: int, stop: int
) -> None:
    shown = text[start:stop].strip()[: limits.SHOWN_NAME]
    if format_name is None:
        collector.refuse("invalid-json", f"{shown!r} names a tool, and is no call", start, stop)
    else:
        collector.refuse("reads-as", f"{shown!r} is read by {format_name!r}", start, stop)


def _other(text: str, finder: Finder, tools: Tools) -> tuple[str, int, int] | None:
    """Return the format with which `auto` reads the first call of a text, and the call's span.

    None if there is no call, or if its format is in `finder`, so that only the level refused it.
    """
    calls = scanner_of(everything(), tools, "standard", text).collected(len(text)).calls
    formats = [form.name for form in (*finder.formats, *finder.wholes)]
    if not calls or calls[0].format in formats:
        return None
    return (calls[0].format or "", *(calls[0].span or (0, len(text))))


def _report_others(collector: Collector, finder: Finder, text: str, tools: Tools) -> None:
    """Report the calls of other formats in what is left of a text in which calls were read."""
    own = {form.name for form in (*finder.formats, *finder.wholes)}
    if any(everything().search_on.search(text, a, b) for a, b in collector.spans("content")):
        calls = scanner_of(everything(), tools, "standard", text).collected(len(text)).calls
        for call in calls:
            start, end = call.span or (0, 0)
            left = collector.spans("content") if call.format not in own else ()
            around = [(a, b) for a, b in left if a <= start and end <= b]
            if around and not collector.has_diagnosis(around[0][0] - 1, around[0][1] + 1):
                _report_attempt(collector, text, call.format, start, end)


@cache
def _ends_of_calls() -> tuple[str, ...]:
    """The texts that end a message to a tool and no other message."""
    ends = (form.envelope.closes.spellings for form in FORMATS.values() if form.envelope)
    return tuple({texts[0] for texts in ends if len(texts) > 1})


@cache
def _inner_texts() -> re.Pattern[str]:
    """Match what formats write inside of calls, apart from openers and plain elements."""
    forms = FORMATS.values()
    openers = {text for form in forms for text in firsts_of(form)}
    found = {
        text.strip() for form in forms for text in literal_texts(form.words) if text not in openers
    } | {*_ends_of_calls()}
    signs = [text for text in found if len(text) >= limits.SHORTEST_OPENER and _is_distinct(text)]
    return search_for(signs)


def _is_distinct(text: str) -> bool:
    """Whether a fixed text is no word, and no plain element, which any text may have."""
    return not _ELEMENT(text) and any(sign in text for sign in _SIGNS)


_SIGNS = "<[｜|"
_HAS_SIGN = re.compile(f"[{re.escape(_SIGNS)}]").search

_ELEMENT = re.compile(r"</?+[\w-]++>").fullmatch


def _report_remains(collector: Collector, text: str, tools: Tools) -> None:
    """In a text that is silent so far, report the first trace of a call.

    A trace is what a format writes inside of a call, or a tool's name before one of its parameters.
    In code nothing is reported. The former, at the beginning of a line, is an attempt if a tool or
    a parameter is named near it; all else is a mention, which is left out beside calls.
    """
    places = _inner(text, _unread(collector, text), tools)
    if not collector.calls:
        named = [name for name in tools if len(name) >= limits.SHORTEST_NAME and name in text]
        places = merge(
            places, *(_loosely_named(text, _unread(collector, text), name, tools) for name in named)
        )
    for start, end, sure in islice(places, limits.LOST_TRIES):
        line = text[max(0, text.rfind("\n", 0, start) + 1) : start]
        if in_ticks(line) or _in_closed_fence(text, start):
            continue
        what = text[start:end][: limits.SHOWN_NAME]
        if sure and not line.strip():
            message = f"{what!r} belongs to a call, and nothing begins the call"
            collector.refuse("missing-opener", message, start, end)
            return
        if not collector.calls:
            message = f"{what!r} is named here as in a call, and nothing is called"
            collector.diagnose("mention", message, start, end)
            return


_Place: TypeAlias = tuple[int, int, bool]
"""The start and end of a trace, and whether it is surely part of a call."""

_Spans: TypeAlias = Iterable[tuple[int, int]]


def _unread(collector: Collector, text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of content, and of marks that end a call of which only content was read."""
    before = ""
    for kind, start, end in collector.pieces:
        ends = kind == "markup" and before == "content"
        if kind == "content" or (ends and text.startswith(_ends_of_calls(), start)):
            yield start, end
        before = kind


def _loosely_named(text: str, left: _Spans, name: str, tools: Tools) -> Iterator[_Place]:
    """Yield where a tool's name, also inside of a word, is before brackets with one of its
    parameters on its line or the next.
    """
    for begin, end in left:
        at = text.find(name, begin, end)
        for _ in range(limits.LOST_TRIES):
            if at < 0:
                break
            stop = at + len(name)
            lines = _FENCE_LINE.sub("", text[stop : stop + limits.KEPT]).split("\n", 2)
            behind = "\n".join(lines[:2])
            bracket = _BRACKET.search(behind)
            given = behind[bracket.end() :] if bracket and _DEFINED not in behind else ""
            if _assigns(given, tools[name].parameters):
                yield at, stop, False
            at = text.find(name, stop, end)


_BRACKET, _FENCE_LINE = re.compile(r"[{(\[]|<\w"), re.compile(r"\n```\w{0,24}(?=\n)")


def _inner(text: str, left: _Spans, tools: Tools) -> Iterator[_Place]:
    """Yield formats' inner texts, and whether a tool or a parameter is named near each."""
    for begin, end in left:
        if _HAS_SIGN(text, begin, end) is None:
            continue
        for found in _inner_texts().finditer(text, begin, end):
            near = text[max(0, found.start() - limits.KEPT) : found.end() + limits.KEPT]
            yield *found.span(), any(word in near for word in _words_of(tools))


def _words_of(tools: Tools) -> Iterator[str]:
    """Yield the names of tools and of their parameters."""
    for name, spec in tools.items():
        yield from filter(None, (name, *(spec.parameters.get("properties") or ())))


def _in_closed_fence(text: str, at: int) -> bool:
    return text.count("```", 0, at) % 2 == 1 and "```" in text[at:]


def _named(text: str, tools: Tools) -> Iterator[tuple[int, int]]:
    """Yield the span of each tool name that has a bracket after it or is in a tag, in order."""
    each = (islice(_places(text, name), limits.NAMED_TRIES) for name in filter(None, tools))
    places = (
        (start, stop)
        for start, stop in merge(*each)
        if (text[stop : stop + 1] in (">", " ", "\n", "/") and _tag_before(text, start))
        or _opens(text, start, stop)
    )
    return islice(places, limits.LOST_TRIES)


def _opens(text: str, start: int, stop: int, *, alone: bool = False) -> re.Match[str] | None:
    """Match from the end of a name (`stop`) to the bracket of its arguments; None if there is none.

    A name before a comma, as an item, has to be in quotes. A name before a colon, as a key, has to
    be in quotes or before `{`; with `alone`, for an attempt at a call, always in quotes.
    """
    found = _OPENS.match(text, stop)
    if found is None:
        return None
    if "," in found[0] and _DEFINED in text[found.end() : found.end() + limits.KEPT]:
        return None
    if text[start - 1 : start] in _QUOTES:
        return found
    is_key = ":" in found[0]
    return None if "," in found[0] or (is_key and (alone or found[1] == "(")) else found


def _attempt(text: str, start: int, stop: int) -> tuple[int, int] | None:
    """Return the span of calls, from a name at `start` on; None if their line has other text."""
    low = max(0, start - limits.CALL_AHEAD)
    line, fence = text.rfind("\n", low, start), text.rfind("```", low, start)
    begins = max(line + 1, fence + 3 if fence >= 0 else 0)
    tag = _tag_before(text, start)
    if not _LEADS.match(text[begins : tag.start() if tag else start]):
        return None
    if tag:
        return _element(text, tag, stop)
    opens, most = _opens(text, start, stop, alone=True), min(len(text), start + limits.CALL_AHEAD)
    while opens and opens.start(1) < most:
        end = _close(text, opens.start(1), most)
        if end < 0:
            return (start, most) if most == len(text) else None
        opens = _NEXT.match(text, end, most)
        if opens is None:
            last = _TRAILS.match(text, end).end()  # type: ignore[union-attr]  # it may be empty
            alone = last == len(text) or "\n" in text[end:last] or text.startswith("```", end)
            return (start, end) if alone else None
    return None


def _tag_before(text: str, start: int) -> re.Match[str] | None:
    """Match `<`, perhaps with a namespace, right before the name at index `start`; else None."""
    return _TAG.search(text, max(0, start - limits.SHOWN_NAME), start)


def _element(text: str, tag: re.Match[str], stop: int) -> tuple[int, int] | None:
    """Return the span of an element named after a tool, to the closing tag of name or namespace."""
    alone = _ENDS_TAG.match(text, stop)
    if alone:
        return tag.start(), alone.end()
    closers = [f"</{name}>" for name in (text[tag.start() + 1 : stop], *tag.groups()) if name]
    places = ((text.find(each, stop, stop + limits.CALL_AHEAD), len(each)) for each in closers)
    found = [at + size for at, size in places if at >= 0]
    return (tag.start(), min(found)) if found else None


def _close(text: str, at: int, most: int) -> int:
    """Return the index after the bracket that closes the one at `at`; -1 if none does by `most`."""
    closers: list[str] = []
    for found in _TOKENS.finditer(text, at, most):
        if found[0] in _CLOSES:
            closers.append(_CLOSES[found[0]])
        elif found[0] in ")}]":
            if found[0] != closers.pop():
                return -1
            if not closers:
                return found.end()
    return -1
