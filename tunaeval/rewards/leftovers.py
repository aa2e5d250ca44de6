"""Find beginnings of calls that the parser did not read as calls, and so left in the content.

For the parser, `<tool_call>I cannot say.</tool_call>` is prose; for a reward it is an attempt. So
is a call that a broken call has swallowed, because its markup is still there.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tunaeval.grammar import Literal, Name
from tunaeval.grammar.format import Format
from tunaeval.grammar.formats import AUTO
from tunaeval.parsing.api import parser_for
from tunaeval.parsing.reader import Reader
from tunaeval.types.calls import (
    ARGUMENTS_KEYS,
    NAME_KEYS,
    JsonObject,
    JsonValue,
    Span,
    ToolCall,
    Tools,
)

_MAY_BE_ONE = re.compile("[<\\[\u273f]")  # matches openers that look like markup
_OF_A_TURN = frozenset({"<|message|>", "<|recipient|>"})
"""Markers that also open an answer in words."""

NEAR = 16
"""The most white space, in characters, between an opener and its call."""


class Try(NamedTuple):
    """The beginning of a call in a text; `named` if the name of a known tool follows."""

    start: int
    end: int
    named: bool


def tries_left(content: str, reader: str, tools: Tools | None, *, quotes: bool) -> list[Span]:
    """Return the spans in `content` that begin a call in any of the formats.

    In `content` the parser has found no calls. An opener suffices, except inside of a sentence; in
    a format without one, a tool's name has to follow the text that the format writes before names.
    In `code` or in a closed code fence an opener alone is only mentioned, and a call of no known
    tool; with `quotes`, a call of a tool is, too. A fence that stays open hides nothing.
    """
    if not (_MAY_BE_ONE.search(content) or _may_name_one(content, tools)):
        return []
    beginnings = _beginnings(reader)
    found = _unquoted(beginnings, content, tools, quotes=quotes)
    spans = [Span(one.start, one.end) for one in found]
    odd = [] if tools is None else [*_odd(content, tools, spans)]
    return sorted([*apart(content, spans, odd), *odd]) if odd else spans


def _odd(content: str, tools: Tools, others: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans of calls as people write them for other programs, apart from `others`.

    These are Python with arguments, an element, a command of curl, a name in a line of YAML, and a
    name followed by one of the tool's arguments; in inline code they are only spoken of.
    """
    known = sorted(others)
    at = ticks = last = 0  # where backticks of the line are counted to, how many; the last span
    for match in _spoken(tools).finditer(content):
        span = Span(*match.span())
        line = content.rfind("\n", at, span.start)
        ticks = content.count("`", max(line, at), span.start) + (ticks if line < 0 else 0)
        at, first = span.start, max(bisect_left(known, span) - 1, 0)
        apart_from = all(
            one.end <= span.start or span.end <= one.start for one in known[first : first + 2]
        )
        key, before = match["key"], ticks
        if key is not None:
            if key not in tools[match["tool"]].parameters.get("properties", {}):
                continue
            before += content.count("`", span.start, match.start("key"))
        if before % 2 == 0 and span.start >= last and apart_from:
            last = span.end
            yield span


def _spoken(tools: Tools) -> re.Pattern[str]:
    """Return the pattern of such calls, made once for each set of tools."""
    pattern: re.Pattern[str] | None = tools.prepared.get(_SPOKEN)
    if pattern is None:
        names = _any_of(filter(None, tools)) or "(?!)"
        value = rf"{_SPACE}(?:\w{{1,64}}{_SPACE}=[^=]|[\"'\u201c{{\[\d-])"
        pattern = tools.prepared[_SPOKEN] = re.compile(
            rf"(?<!\w)(?<!def )(?:(?:{names})\((?={value})"
            rf"|(?<!~~~)(?P<tool>{names})(?={_GIVEN}))|\[(?:{names})\("
            rf"|<(?:{names})[\s/>]|<\w{{1,32}}>{_SPACE}(?:{names}){_SPACE}</"
            rf"|^[ \t>*-]{{0,8}}\w{{1,32}}:\*{{0,2}}{_SPACE}[\"'`]?(?:{names})[\"'`]?[ \t]*$"
            rf"|\bcurl\b[^\n]{{0,200}}?\b(?:{names})\b",
            re.MULTILINE,
        )
    return pattern


_SPOKEN = " spoken"  # a key of `prepared` that is no tool's name
_GIVEN = (
    r"[^\w\n]{0,12}(?:(?:json|data|body|HTTP/1.1)\b[^\w\n]{0,12})?(?:\n{1,2}[^\w\n]{1,12}|(?<=\])\n)?"
    r"(?P<dash>-)?(?P<key>\w{1,64})[\"'`*]{0,3}(?(dash)[ =][\"'\w]|[ \t]{0,4}(?:(?P<colon>:)|[=-]?>"
    r"|=|\u2192)[ \t]{0,4}(?!(?i:str(?:ing)?|int(?:eger)?|float|number|bool(?:ean)?|list|array|dict"
    r"|object|any|optional|required|the|an?)\b)(?:[\"'\u201c{\[\d-]"
    r"|(?(colon)(?:\w{1,40}|[A-Z]\w*(?: [A-Z]\w*){1,3})[ \t]*(?:[])},;|\n]|\Z)|\w)))"
)
"""What follows a tool's name that is called in words: an argument (`key`) with a value, which is no
explanation of a signature.
"""


def most_tries(content: str, tools: Tools | None) -> int:
    """Return an upper bound of the number of spans that `tries_left` finds, but much faster."""
    if tools is None or "[" in content or "\u273f" in content:
        return len(content)
    openers = content.count("<") - content.count("</")
    names = [name for name in tools if name in content]
    is_one = openers == 1 and len(names) == 1 and "(" not in content
    if is_one and content.find("<") < content.find(names[0]):
        return content.count(names[0])
    return openers + sum(map(content.count, names))


def tries_inside(call: ToolCall, reader: str, tools: Tools | None) -> int:
    """Return how many other calls are in the texts of a call's arguments, swallowed by the call."""
    texts = [text for text in _texts(call.arguments) if _may_name_one(text, tools)]
    if not texts:
        return 0
    beginnings = _beginnings(reader)
    found = (_unquoted(beginnings, text, tools, quotes=True) for text in texts)
    return sum(one.named for each in found for one in each)


def apart(text: str, left: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """Return the spans in `left` that neither overlap nor directly precede one in `others`."""
    known = sorted(others)
    if not known:
        return [*left]
    at = 0
    found: list[Span] = []
    for span in left:
        while at < len(known) and known[at].end <= span.start:
            at += 1
        gap = known[at].start - span.end if at < len(known) else NEAR + 1
        near = gap <= NEAR and not text[span.end : span.end + max(gap, 0)].strip()
        if not near:
            found.append(span)
    return found


def _may_name_one(text: str, tools: Tools | None) -> bool:
    if tools is None:
        return ":" in text and "{" in text
    for name in tools:  # noqa: SIM110 - `any` with a generator takes twice as long
        if name in text:
            return True
    return False


def _texts(value: JsonObject | list[JsonValue]) -> list[str]:
    """Return all strings in a value, at any depth."""
    inner = value.values() if isinstance(value, dict) else value
    found: list[str] = []
    for one in inner:
        if type(one) is str:
            found.append(one)
        elif isinstance(one, dict | list):
            found += _texts(one)
    return found


# --- what calls begin with -----------------------------------------------------------------------


class Beginnings(NamedTuple):
    """A pattern for the beginnings of calls in some formats, and for marks of code around them.

    `python` are texts after which each line may be a call in Python syntax. `fenced` is true if an
    object in a code fence is a call.
    """

    pattern: re.Pattern[str]
    python: tuple[str, ...]
    fenced: bool


_NAME = r"\w[\w./-]{0,127}"
_SPACE = r"\s{0,4}"
_QUOTE = "[\"'\u201c\u201d]"
_MARKS = (r"(?P<fence>^[ \t>]*(?:`{3,}|~{3,}))", "(?P<ticks>`+)", r"(?P<line>\n)")


@lru_cache(maxsize=64)
def _beginnings(reader: str) -> Beginnings:
    """Return how calls begin in a reader's formats, and in all others that `auto` reads."""
    parser = parser_for(reader)
    formats = parser.formats if isinstance(parser, Reader) else (parser,)
    wire_formats = [fmt for fmt in (*formats, *AUTO) if isinstance(fmt, Format)]
    ways = [*_ways(wire_formats)]
    blocks = (fmt.opener.text for fmt in wire_formats if fmt.python is not None and fmt.opener)
    fenced = any(fmt.call and fmt.opener and fmt.opener.text == "```" for fmt in wire_formats)
    return Beginnings(re.compile("|".join([*_MARKS, *ways]), re.MULTILINE), tuple(blocks), fenced)


def _ways(formats: Sequence[Format]) -> Iterator[str]:
    openers = {fmt.opener.text for fmt in formats if fmt.opener and not fmt.by_tool} - _OF_A_TURN
    openers = {*filter(_MAY_BE_ONE.match, openers)}
    if openers:
        behind = rf"(?:(?={_SPACE}(?P<behind>{_NAME}))|)"
        yield rf"(?P<opener>(?P<mark>{_any_of(openers)}){behind})"
    leads = {lead for fmt in formats if not fmt.whole for lead in _leads(fmt)} - openers
    leads = {lead for lead in leads if not lead.isalpha()}  # a word alone is prose: "the function"
    if leads:
        yield rf"(?:{_any_of(leads)})(?:functions\.)?(?={_SPACE}[\"']?(?P<name>{_NAME}))"
    if any(fmt.python is not None for fmt in formats):
        yield rf"\[ ?(?P<listed>{_NAME})\("
        yield rf"(?:\),\s{{0,4}}|^[ \t]{{0,8}})(?P<next>{_NAME})\("
    words = [fmt.call for fmt in formats if fmt.call is not None]
    if words:
        names = _any_of({*NAME_KEYS, *(word.name for word in words)})
        inputs = _any_of({*ARGUMENTS_KEYS, *(word.arguments for word in words)})
        yield rf"\b(?:{names}){_QUOTE}?{_SPACE}:{_SPACE}{_QUOTE}(?P<key>{_NAME}){_QUOTE}"
        yield rf"\b(?P<input>{inputs}){_QUOTE}?{_SPACE}:"
    if any(word.keyed for word in words):
        yield rf"\{{(?={_SPACE}\"(?P<keyed>{_NAME})\"{_SPACE}:{_SPACE}\{{)"


def _leads(fmt: Format) -> Iterator[str]:
    """Yield the texts that a format writes right before the name of the tool in a call."""
    if fmt.addressed:
        yield "to="
    last = ""
    for word in fmt.words:
        if isinstance(word, Name):
            yield word.before or last
            return
        elif isinstance(word, Literal):
            last = word.text.rstrip("\"'")


def _any_of(texts: Iterable[str]) -> str:
    """Return a regular expression that matches any of the texts, and of several the longest."""
    groups: dict[str, list[str]] = {}
    for text in sorted(texts, key=len, reverse=True):
        groups.setdefault(text[0], []).append(re.escape(text[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in groups.items())


# --- which of them count -------------------------------------------------------------------------


def _unquoted(beginnings: Beginnings, text: str, tools: Tools | None, *, quotes: bool) -> list[Try]:
    """Return the beginnings of calls that are not only mentioned, as `tries_left` says."""
    outside: list[Try] = []
    inside: list[Try] = []
    doubtful: list[Try] = []
    in_fence = in_ticks = glued = False
    for kind, one in _events(beginnings, text, tools):
        size = one.end - one.start
        if kind == "fence":
            in_fence = not in_fence
            glued = glued or size >= 2 * _OF_A_FENCE
        elif kind == "ticks":
            glued = glued or size >= _OF_A_FENCE
            doubtful, in_ticks = [], in_ticks ^ (size % 2 == 1)  # `` opens and closes
        elif kind == "line":
            outside += doubtful
            doubtful, in_ticks = [], False
        elif kind == "opener" and not one.named and _is_mentioned(text, one.start, one.end):
            continue
        elif (
            kind == "next"
            or (in_fence and beginnings.fenced and _is_whole(kind, text, one))
            or (one.named and not quotes and (kind != "key" or _is_whole(kind, text, one)))
        ):
            outside.append(one)
        else:
            (inside if in_fence else doubtful if in_ticks else outside).append(one)
    if in_fence:
        outside += inside
    elif glued:
        outside += [one for one in inside if one.named]
    return sorted(outside + doubtful)


def _events(beginnings: Beginnings, text: str, tools: Tools | None) -> list[tuple[str, Try]]:
    """Return the marks of code and the beginnings of calls, each with its kind, in text order.

    A name after an opener belongs to the same call. Without tools, any name in a Python call list
    counts, and any name in an object that also has a key for arguments.
    """
    events: list[tuple[str, Try]] = []
    opened, objects = -1, list[Try]()
    in_python = any(block in text for block in beginnings.python)
    for match in beginnings.pattern.finditer(text):
        kind = match.lastgroup or ""
        one = Try(*match.span(), named=tools is not None)
        if kind in _OF_CODE:
            events.append((kind, one))
        elif kind == "opener":
            named = tools is not None and match["behind"] in tools
            opened = -1 if named else len(events)
            events.append((kind, Try(*match.span("mark"), named)))
        elif tools is None and kind == "input":
            events += [(kind, objects.pop(0))] if objects else []
        elif not _is_known(match, kind, tools, in_python=in_python):
            continue
        elif opened >= 0:
            events[opened] = ("opener", events[opened][1]._replace(named=True))
            opened = -1
        elif tools is None and kind == "key":
            objects.append(one._replace(named=True))
        else:
            in_python = in_python or kind == "listed"
            events.append((kind, one))
    return events


def _is_known(match: re.Match[str], kind: str, tools: Tools | None, *, in_python: bool) -> bool:
    """Whether the name that a pattern found is a tool's, or may be if no tools are given."""
    if tools is None:
        return kind == "key" or bool(kind == "listed" and _NAMED.match(match.string, match.end()))
    return match[kind] in tools and (kind != "next" or in_python)


def _is_mentioned(text: str, start: int, end: int) -> bool:
    """Whether an opener is a word within a sentence: words are before and behind it, or its tag."""
    tag = _TAG.match(text, start)
    end = max(tag.end() if tag else 0, end)
    before, behind = text[max(start - 3, 0) : start], text[end : end + 4]
    return bool(_WORD_BEFORE.search(before) and _WORD_BEHIND.match(behind))


_TAG = re.compile(r"<[^<>\n]{1,80}>")
_WORD_BEFORE = re.compile(r"[^\W_],? [\"'(]?\Z")
_WORD_BEHIND = re.compile(r"[\"')]?(?:,? [^\W\d_]|[.,;:!?]?\s*\Z)")
_NAMED = re.compile(rf"{_SPACE}(?:\)|\w{{1,64}}{_SPACE}=[^=])")  # no argument, or a named one


def _is_whole(kind: str, text: str, one: Try) -> bool:
    """Whether a name in a code fence is followed by arguments, so that it is a whole call."""
    return kind == "key" and bool(
        _INPUT.search(text[one.end : one.end + _AHEAD].partition("```")[0])
    )


_AHEAD = 512  # characters to search for a key for arguments
_INPUT = re.compile(rf"\b(?:{_any_of(ARGUMENTS_KEYS)}){_QUOTE}?{_SPACE}:")

_OF_A_FENCE = 3
"""The backticks of a fence; more of them, or some after other text, are two fences in one."""

_OF_CODE = frozenset({"fence", "ticks", "line"})  # kinds of marks that are no beginning of a call
