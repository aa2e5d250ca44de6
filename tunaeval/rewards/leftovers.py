"""What begins a call and gave none: the parser leaves it in what the model says, as words.

For a reader of texts `<tool_call>I cannot say.</tool_call>` is prose; for a reward it is a try. So
is a call that a broken one swallows: what it is written with is still there, and is found here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tunaeval.grammar import Literal, Name
from tunaeval.grammar.format import Format
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

_MAY_BE_ONE = re.compile("[<\\[\u273f]")
_OF_A_TURN = frozenset({"<|message|>", "<|recipient|>"})
"""These open an answer in words, too."""

_NEAR = 16
"""White space of so many characters may be between an opener and its call."""


class Try(NamedTuple):
    """Where a call begins; `named` if the name of a known tool is with it."""

    start: int
    end: int
    named: bool


def tries_left(content: str, reader: str, tools: Tools | None) -> list[Span]:
    """Where calls begin, as the reader's formats write them, in a text that has none any more.

    An opener is enough; where a format has none, it takes the name of a tool behind what the format
    writes before one. What is quoted, in `code` of a line or in a fence, is a mention of it; but
    not in a fence that is left open.
    """
    if not _may_hold_one(content, tools):
        return []
    said = _beginnings(reader)
    found = [] if said is None else _unquoted(said, content, tools)
    spans = [Span(one.start, one.end) for one in found]
    return spans if tools is None else sorted([*spans, *_odd(content, tools)])


def _odd(content: str, tools: Tools) -> Iterator[Span]:
    """Lists as Python writes them, of a tool whose name is no word: no format can say these."""
    for name in tools:
        if " " in name and name in content:
            for match in re.finditer(rf"\[{re.escape(name)}\(", content):
                yield Span(*match.span())


def most_tries(content: str, tools: Tools | None) -> int:
    """No fewer than `tries_left` finds; found without looking for each."""
    if tools is None or "[" in content or "\u273f" in content:
        return len(content)
    openers = content.count("<") - content.count("</")
    names = [name for name in tools if name in content]
    if openers == 1 and len(names) == 1 and content.find("<") < content.find(names[0]):
        return content.count(names[0])
    return openers + sum(map(content.count, names))


def tries_inside(call: ToolCall, reader: str, tools: Tools | None) -> int:
    """How many calls the arguments of a call have swallowed as text."""
    texts = [text for text in _texts(call.arguments) if _may_name_one(text, tools)]
    said = _beginnings(reader) if texts else None
    if said is None:
        return 0
    return sum(one.named for text in texts for one in _unquoted(said, text, tools))


def apart(text: str, left: Sequence[Span], others: Sequence[Span]) -> list[Span]:
    """Those of `left` that lie outside of calls and of what is known broken."""
    known = sorted(others)
    if not known:
        return [*left]
    at = 0
    found: list[Span] = []
    for span in left:
        while at < len(known) and known[at].end <= span.start:
            at += 1
        gap = known[at].start - span.end if at < len(known) else _NEAR + 1
        near = gap <= _NEAR and not text[span.end : span.end + max(gap, 0)].strip()
        if not near:
            found.append(span)
    return found


def _may_hold_one(text: str, tools: Tools | None) -> bool:
    """A cheap look before anything is sought."""
    if not text:
        return False
    return "<" in text or "[" in text or "\u273f" in text or _may_name_one(text, tools)


def _may_name_one(text: str, tools: Tools | None) -> bool:
    if tools is None:
        return ":" in text and "{" in text
    for name in tools:  # noqa: SIM110 - `any` with a generator takes twice as long
        if name in text:
            return True
    return False


def _texts(value: JsonObject | list[JsonValue]) -> list[str]:
    """The texts in a value, at any depth."""
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
    """What finds the beginnings of calls in some formats, and the marks of code around them.

    `python` are texts behind which each line may be a call in Python's spelling. `fenced`: an
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
def _beginnings(reader: str) -> Beginnings | None:
    """None for a reader that says nothing of what it reads."""
    parser = parser_for(reader)
    formats = parser.formats if isinstance(parser, Reader) else (parser,)
    forms = [form for form in formats if isinstance(form, Format)]
    ways = [*_ways(forms)]
    if not ways:
        return None
    blocks = (form.opener.text for form in forms if form.python is not None and form.opener)
    fenced = any(form.call and form.opener and form.opener.text == "```" for form in forms)
    return Beginnings(re.compile("|".join([*_MARKS, *ways]), re.MULTILINE), tuple(blocks), fenced)


def _ways(forms: Sequence[Format]) -> Iterator[str]:
    openers = {form.opener.text for form in forms if form.opener and not form.by_tool} - _OF_A_TURN
    openers = {*filter(_MAY_BE_ONE.match, openers)}
    if openers:
        behind = rf"(?:(?={_SPACE}(?P<behind>{_NAME}))|)"
        yield rf"(?P<opener>(?P<mark>{_any_of(openers)}){behind})"
    leads = {lead for form in forms if not form.whole for lead in _leads(form)} - openers
    if leads:
        yield rf"(?:{_any_of(leads)})(?:functions\.)?(?={_SPACE}[\"']?(?P<name>{_NAME}))"
    if any(form.python is not None for form in forms):
        yield rf"\[ ?(?P<listed>{_NAME})\("
        yield rf"(?:\),\s{{0,4}}|^[ \t]{{0,8}})(?P<next>{_NAME})\("
    words = [form.call for form in forms if form.call is not None]
    if words:
        names = _any_of({*NAME_KEYS, *(word.name for word in words)})
        inputs = _any_of({*ARGUMENTS_KEYS, *(word.arguments for word in words)})
        yield rf"\b(?:{names}){_QUOTE}?{_SPACE}:{_SPACE}{_QUOTE}(?P<key>{_NAME}){_QUOTE}"
        yield rf"\b(?P<input>{inputs}){_QUOTE}?{_SPACE}:"
    if any(word.keyed for word in words):
        yield rf"\{{(?={_SPACE}\"(?P<keyed>{_NAME})\"{_SPACE}:{_SPACE}\{{)"


def _leads(form: Format) -> Iterator[str]:
    """What a format writes right before a tool's name, where a call begins."""
    if form.addressed:
        yield "to="
    last = ""
    for word in form.words:
        if isinstance(word, Name):
            yield word.before or last
            return
        elif isinstance(word, Literal):
            last = word.text.rstrip("\"'")


def _any_of(texts: Iterable[str]) -> str:
    """One of these, the longest first; those of one first character are looked at together."""
    groups: dict[str, list[str]] = {}
    for text in sorted(texts, key=len, reverse=True):
        groups.setdefault(text[0], []).append(re.escape(text[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in groups.items())


# --- which of them count -------------------------------------------------------------------------


def _unquoted(said: Beginnings, text: str, tools: Tools | None) -> list[Try]:
    """Those outside of code; all of them, where the marks of fences do not go in pairs."""
    outside: list[Try] = []
    inside: list[Try] = []
    doubtful: list[Try] = []
    in_fence = in_ticks = glued = False
    for kind, one in _events(said, text, tools):
        size = one.end - one.start
        if kind == "fence":
            in_fence = not in_fence
            glued = glued or size >= 2 * _OF_A_FENCE
        elif kind == "ticks":
            glued = glued or size >= _OF_A_FENCE
            doubtful, in_ticks = [], in_ticks ^ (size % 2 == 1)
        elif kind == "line":
            outside += doubtful
            doubtful, in_ticks = [], False
        elif kind == "next" or (in_fence and said.fenced and _is_whole(kind, text, one)):
            outside.append(one)
        else:
            (inside if in_fence else doubtful if in_ticks else outside).append(one)
    if in_fence:
        outside += inside
    elif glued:
        outside += [one for one in inside if one.named]
    return sorted(outside + doubtful)


def _events(said: Beginnings, text: str, tools: Tools | None) -> list[tuple[str, Try]]:
    """Each mark of code and each beginning of a call, in order.

    A name behind an opener is of the same call. Where no tools are given, any name is one that is
    in a list as Python writes it, or in an object that has a key for arguments, too.
    """
    events: list[tuple[str, Try]] = []
    opened, objects = -1, list[Try]()
    in_python = any(block in text for block in said.python)
    for match in said.pattern.finditer(text):
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
    """Whether a name is that of a tool; without tools, whether it may be one."""
    if tools is None:
        return kind in {"key", "listed"}
    return match[kind] in tools and (kind != "next" or in_python)


def _is_whole(kind: str, text: str, one: Try) -> bool:
    """Whether this is the name in an object of a fence that has arguments, too."""
    return kind == "key" and bool(
        _INPUT.search(text[one.end : one.end + _AHEAD].partition("```")[0])
    )


_AHEAD = 512
_INPUT = re.compile(rf"\b(?:{_any_of(ARGUMENTS_KEYS)}){_QUOTE}?{_SPACE}:")

_OF_A_FENCE = 3
"""Backticks of a fence; after other text in a line, or as many again, two are glued together."""

_OF_CODE = frozenset({"fence", "ticks", "line"})
