"""Text that gave no call: whether something in it was meant to be one.

While a text is read, `quoting.Unread` judges openers that no call follows. `audit` goes over the
content once more when all of it was read and tools are known: a name with arguments behind it may
have lost its opener, and where there was no call at all, a name that is written as in a call is an
attempt, or a mention of the tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from heapq import merge
from itertools import islice, pairwise

from tunaeval import limits
from tunaeval.grammar import Literal, Markup, Maybe, Name, PythonCalls, Space
from tunaeval.grammar.format import Format
from tunaeval.types.calls import ARGUMENTS_KEYS, NAME_KEYS, Tools

from .collect import Collector
from .finder import Finder, everything
from .markup import edits_of, nearly_begins, within
from .scanner import in_ticks, read_unit, scanner_of, unescaped


def audit(collector: Collector, finder: Finder, text: str, tools: Tools | None) -> None:
    """Report what the content of a text says of the tools, when all of the text was read."""
    if tools:
        _report_lost(collector, finder, text, tools)
        if not (collector.calls or collector.attempts):
            _report_named(collector, finder, text, tools)


def _places(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield where a name is a word of its own: its start and its end."""
    at = text.find(name)
    while at >= 0:
        stop = at + len(name)
        around = text[max(0, at - 1) : at], text[stop : stop + 1]
        if not any(char.isalnum() or char == "_" for char in around):
            yield at, stop
        at = text.find(name, stop)


_DEFINED = "properties"
"""What is behind a tool's name in its definition, which has a schema in place of arguments."""


_KEY_BEFORE = re.compile(r"\s*+\W{0,3}(\w{0,20}+)[^\w{}]{0,6}\Z").match
_KEY_BEHIND = re.compile(r"[^\w{}()]{0,8}(\w{0,20}+)[^\w{}()]{0,6}\{").match
"""From an object's bracket to a value, and from that to the next object: nothing but one key."""

_BETWEEN, _QUOTING = " \t\r\n[", "\"':"
"""What may be between an opener and a name: white space, a list's bracket; what ends some."""

_SIGN = re.compile(r"[^\w\s]").search
_ASSIGNED = re.compile(r"""["']?+[ \t]*+[:=>]""").match
_NOTHING = re.compile(r"[^\w{}()]*+\w*+[^\w{}()]*+(?:\{[ \t\r\n]*+\}|\([ \t\r\n]*+\))").match
_KEY = re.compile(r"""["'][\w-]++["'][ \t]*+:|\w[ \t]*+=""").search


def _ends_like_call(tail: str) -> bool:
    """Whether a bracket closes near the end, and no word of letters alone is behind it."""
    last = max(map(tail.rfind, "}])>"))
    return last >= 0 and not any(map(str.isalpha, tail[last + 1 :].split()))


def _report_lost(collector: Collector, finder: Finder, text: str, tools: Tools) -> None:
    """Report each stretch of content that ends in a call, unless a diagnosis is in it already."""
    tries = iter(range(limits.LOST_TRIES))
    for kind, start, end in collector.pieces:
        if kind == "content" and _ends_like_call(text[max(start, end - limits.LOST_ENDING) : end]):
            found = _lost_in(text[start:end], finder, tools, tries)
            if found is not None and not collector.has_diagnosis(start - 1, end + 1):
                at, stop = start + found[0], start + found[1]
                name = text[at:stop][: limits.SHOWN_NAME]
                message = f"{name!r} has arguments, but nothing begins the call"
                collector.refuse("missing-opener", message, at, stop)


def _lost_in(
    content: str, finder: Finder, tools: Tools, tries: Iterator[int]
) -> tuple[int, int] | None:
    """Return the place of the first name in the content whose call has lost its opener.

    `tries` bounds how many names with arguments are looked at in all of a text.
    """
    for at, end in merge(*(_places(content, name) for name in filter(None, tools))):
        before, ahead = content[max(0, at - limits.KEPT) : at], content[end : end + limits.KEPT]
        if not _has_arguments(ahead, tools[content[at:end]].parameters):
            continue
        if next(tries, None) is None:
            break
        lost = _between_keys(before, ahead) or _behind_opener(before, finder)
        if lost and not in_ticks(before):
            return at, end
    return None


def _has_arguments(ahead: str, parameters: Mapping[str, object]) -> bool:
    """Whether one of the parameters follows with a sign that assigns, or no argument at all."""
    declared = parameters.get("properties")
    if _NOTHING(ahead):
        return True
    if not isinstance(declared, Mapping) or not declared:
        return not declared and _KEY(ahead) is not None
    places = ((ahead.find(key), len(key)) for key in declared)
    return any(at >= 0 and _ASSIGNED(ahead, at + size) for at, size in places)


def _between_keys(before: str, ahead: str) -> bool:
    """Whether the keys of a call are around a name, or one of them and what is left of another."""
    first = _KEY_BEFORE(before, before.rfind("{") + 1) if "{" in before else None
    second = _KEY_BEHIND(ahead)
    if first is None or second is None or _DEFINED in ahead:
        return False
    name, arguments = first[1], second[1]
    if name in NAME_KEYS:
        return _is_nearly(arguments, ARGUMENTS_KEYS, 2)
    return arguments in ARGUMENTS_KEYS and _is_nearly(name, NAME_KEYS, 1)


def _is_nearly(word: str, keys: Iterable[str], edits: int) -> bool:
    """Return whether a word is part of a key, or differs from one by at most `edits` letters."""
    return any(word in key or within(key, word, edits) for key in keys)


def _behind_opener(before: str, finder: Finder) -> bool:
    """Whether what is before names is nearly there; what begins with a word begins its line."""
    texts = before.rstrip(_BETWEEN), before.rstrip(_BETWEEN + _QUOTING)
    for opener, parts in _before_names(finder):
        edits, text = edits_of(opener), texts[opener[-1] not in _QUOTING]
        last = text[-len(opener) - edits :]
        if any(part in last for part in parts) and _SIGN(last):
            if opener[0].isalpha():
                last = text.rpartition("\n")[2].lstrip()
            near = abs(len(last) - len(opener)) <= edits
            if near and nearly_begins(last[::-1], opener[::-1], edits):
                return True
    return False


@lru_cache(maxsize=64)
def _before_names(finder: Finder) -> list[tuple[str, list[str]]]:
    """Return the fixed texts that are right before names of tools, each with its parts.

    There are more than twice as many parts as a text may have edits, so that one part is whole.
    """
    found = []
    for text in sorted({*map(_before_name, finder.formats)}):
        count = 2 * edits_of(text) + 1
        cuts = [len(text) * at // count for at in range(count + 1)]
        if len(text) >= limits.SHORTEST_OPENER:
            found.append((text, [text[start:end] for start, end in pairwise(cuts)]))
    return found


def _before_name(form: Format) -> str:
    """Return the fixed text before the name, with what that begins with, or before Python calls."""
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
"""From a name to the bracket of its arguments: quotes, an index, the key of the arguments, or a
code fence may be between.
"""
_LEADS = re.compile(r"""\s*+(?:[-*+>]\s++|\d{1,3}[.)]\s++)?[\s\[({<"'`|“‘]*+\Z""")
"""From the start of a line to a call in it: a list's mark, brackets, quotes."""

_TAG = re.compile(r"<(?:([A-Za-z][\w.-]{0,40}+):[ ]?)?\Z")
"""What is before the name in a tag: a namespace, perhaps."""

_ENDS_TAG = re.compile(r"\s{0,8}/>")
_TOKENS = re.compile(r""""(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'|[(){}\[\]]""", re.DOTALL)
_TRAILS = re.compile(r"""[\s\])}"'`,;.|”’]*+""")
_NEXT = re.compile(r"""[\s\])}"'`,;\[({]*+[^\W\d][\w.-]*+["'`\\\s:,]{0,12}+([({])""")
_QUOTES = ("'", '"', "`")
_CLOSES = {"(": ")", "{": "}", "[": "]"}


def _report_named(collector: Collector, finder: Finder, text: str, tools: Tools) -> None:
    """Report the first tool that a text without calls names as in a call.

    It is an attempt where a line, an item of a list, a fence or ticks hold calls and nothing else;
    where another format reads them, the diagnosis `reads-as` has its name. In a sentence, a
    definition or a program it is a mention. Other formats read at level "standard", so that the
    diagnosis is the same at all levels.
    """
    if any(note.code == "too-many-markers" for note in collector.diagnoses):
        return  # the diagnosis says already that the text was not read to its end
    view, place = unescaped(text[: collector.answered])
    if not any(name in view for name in tools):
        return
    if finder is not everything() and (other := _other(text, finder, tools)):
        _report_attempt(collector, text, *other)
        return
    mention, noted = None, bool(collector.diagnoses)
    content = [(a, b) for kind, a, b in collector.pieces if kind == "content"]
    for start, stop in _named(view, tools):
        at = place(start)
        if not any(a <= at < b for a, b in content):
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
    """Return the format by which `auto` reads the first call of a text, and the call's place.

    None if the text's own formats read that call, so that only the level refused it.
    """
    calls = scanner_of(everything(), tools, "standard", text).collected(len(text)).calls
    formats = [form.name for form in (*finder.formats, *finder.wholes)]
    if not calls or calls[0].format in formats:
        return None
    return (calls[0].format or "", *(calls[0].span or (0, len(text))))


def _named(text: str, tools: Tools) -> Iterator[tuple[int, int]]:
    """Yield where a bracket is behind the name of a tool, or a tag around it, in order."""
    each = (islice(_places(text, name), limits.NAMED_TRIES) for name in filter(None, tools))
    places = (
        (start, stop)
        for start, stop in merge(*each)
        if (text[stop : stop + 1] in (">", " ", "\n", "/") and _tag_before(text, start))
        or _opens(text, start, stop)
    )
    return islice(places, limits.LOST_TRIES)


def _opens(text: str, start: int, stop: int, *, alone: bool = False) -> re.Match[str] | None:
    """Match up to the bracket behind a name.

    Behind a comma, as an item, the name has to be quoted; in front of a colon, as a key, it has to
    be quoted or in front of an object, and if it is to be an attempt (`alone`), quoted.
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
    """Return the stretch around a name that is calls and nothing else, if there is one."""
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
    """Match the beginning of the tag whose name starts at an index."""
    return _TAG.search(text, max(0, start - limits.SHOWN_NAME), start)


def _element(text: str, tag: re.Match[str], stop: int) -> tuple[int, int] | None:
    """A tag that is named after a tool, up to its closer; that may have the namespace alone."""
    alone = _ENDS_TAG.match(text, stop)
    if alone:
        return tag.start(), alone.end()
    closers = [f"</{name}>" for name in (text[tag.start() + 1 : stop], *tag.groups()) if name]
    places = ((text.find(each, stop, stop + limits.CALL_AHEAD), len(each)) for each in closers)
    found = [at + size for at, size in places if at >= 0]
    return (tag.start(), min(found)) if found else None


def _close(text: str, at: int, most: int) -> int:
    """Return the index behind the bracket that closes the one at `at`, or -1 if none does."""
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
