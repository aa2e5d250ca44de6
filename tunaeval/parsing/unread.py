"""Tools that a text names as calls name them, where no call was read: an attempt, or a mention.

Asked of a whole text that was read, where tools are given: a model that meant to call must not look
like one that chose not to. An *attempt* is a line, an item of a list, or what is in a fence or in
ticks, that is calls and nothing else; where another format reads it, the diagnosis `reads-as` has
that format's name. What is part of a sentence, a definition or a program is a `mention`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from tunaeval.limits import CALL_AHEAD, KEPT, LOST_TRIES, NAMED_TRIES, SHOWN_NAME
from tunaeval.types import Tools

from .collect import Collector
from .finder import Finder, everything
from .units import Unescaped, read_unit

_OPENS = re.compile(
    r"""["'`*\\\s:,]{0,12}+(?:\d{1,4}(?=\{))?(?:\w{1,24}["'\\]{1,3}\s?:[\s"'\\]{0,6})?"""
    r"""(?:(?<=```)\w{1,12}\s{1,4})?([({])"""
)
"""From a name to the bracket of its arguments: quotes, an index, the key of the arguments, or a
code fence may be between.
"""
_LEADS = re.compile(r"""\s*+(?:[-*+>]\s++|\d{1,3}[.)]\s++)?[\s\[({<"'`|]*+\Z""")
"""From the start of a line to a call in it: a list's mark, brackets, quotes."""

_TAG = re.compile(r"<(?:([A-Za-z][\w.-]{0,40}+):[ ]?)?\Z")
"""What is before the name in a tag: a namespace, perhaps."""

_ENDS_TAG = re.compile(r"\s{0,8}/>")

_SKIPS = re.compile(r"""[^"'\\(){}\[\]]++""")
_TRAILS = re.compile(r"""[\s\])}"'`,;.|]*+""")
_NEXT = re.compile(r"""[\s\])}"'`,;\[({]*+[^\W\d][\w.-]*+["'`\\\s:,]{0,12}+([({])""")
_QUOTES = ("'", '"', "`")
_CLOSES = {"(": ")", "{": "}", "[": "]"}


def report_unread(collector: Collector, finder: Finder, text: str, tools: Tools | None) -> None:
    """Report what a text without calls names as calls are; see the module's first words.

    What else reads it is asked at level "standard", so that all levels have the same diagnosis.
    """
    if not tools or collector.calls or collector.attempts:
        return
    if any(note.code == "too-many-markers" for note in collector.diagnoses):
        return  # what is said of it already is that it was not read to its end
    view = Unescaped(text[: collector.answered])
    if not any(name in view.text for name in tools):
        return
    reads = None if finder is everything() else _other(text, finder, tools)
    if reads is not None:
        name, start, stop = reads
        _report_attempt(collector, text, start, stop, name)
        return
    said = bool(collector.diagnoses)
    mention = None
    content = [(a, b) for kind, a, b in collector.pieces if kind == "content"]
    for start, stop in _named(view.text, tools):
        at = view.place(start)
        if not any(a <= at < b for a, b in content):
            continue
        attempt = _attempt(view.text, start, stop)
        if attempt is None:
            mention = mention or (at, view.place(stop))
            continue
        place = view.place(attempt[0]), view.place(attempt[1])
        if not collector.has_diagnosis(*place):
            form = _unit_format(view.text[slice(*attempt)], tools)
            _report_attempt(collector, text, *place, form)
            return
    if mention and not said:
        name = text[slice(*mention)][:SHOWN_NAME]
        message = f"{name!r} is named here as in a call, and is not called"
        collector.diagnose("mention", message, *mention)


def _report_attempt(
    collector: Collector, text: str, start: int, stop: int, format_name: str | None
) -> None:
    shown = text[start:stop].strip()[:SHOWN_NAME]
    if format_name is None:
        collector.diagnose("invalid-json", f"{shown!r} names a tool, and is no call", start, stop)
    else:
        collector.diagnose("reads-as", f"{shown!r} is read by {format_name!r}", start, stop)
    collector.attempt(start)


def _other(text: str, finder: Finder, tools: Tools) -> tuple[str, int, int] | None:
    """The format by which `auto` reads the first call of a text, and the place of that call.

    None if that is one which was read already, at a level that allowed less.
    """
    from .reader import Pass  # noqa: PLC0415 - the reader calls this, and is called for a second reading

    found = Pass(everything(), tools, "standard", text).collected(len(text))
    if not found.calls:
        return None
    first = found.calls[0]
    if any(form.name == first.format for form in (*finder.formats, *finder.wholes)):
        return None
    return (first.format or "", *(first.span or (0, len(text))))


def _named(text: str, tools: Tools) -> Iterator[tuple[int, int]]:
    """Yield where a bracket is behind the name of a tool, or a tag around it, in order."""
    found = []
    for name in filter(None, tools):
        at = text.find(name)
        for _ in range(NAMED_TRIES):
            if at < 0:
                break
            stop = at + len(name)
            opens = _opens(text, at, stop)
            tag = text[stop : stop + 1] in (">", " ", "\n", "/") and _tag_before(text, at)
            if (opens or tag) and not _goes_on(text, at, stop):
                found.append((at, stop))
            at = text.find(name, stop)
    return iter(sorted(found)[:LOST_TRIES])


def _opens(text: str, start: int, stop: int) -> re.Match[str] | None:
    """Match up to the bracket behind a name; as an item, the name has to be quoted.

    What a tool's definition has behind its name are no arguments.
    """
    found = _OPENS.match(text, stop)
    if found and "," in found[0] and "properties" in text[found.end() : found.end() + KEPT]:
        return None
    if found and text[start - 1 : start] not in _QUOTES and ("," in found[0] or _is_key(found)):
        return None if "," in found[0] or found[1] == "(" else found
    return found


def _is_key(opens: re.Match[str]) -> bool:
    """Whether a colon is behind the name, as behind a key: without quotes it is no attempt."""
    return ":" in opens[0]


def _goes_on(text: str, start: int, stop: int) -> bool:
    """Whether the name is part of a longer one."""
    before, behind = text[max(0, start - 1) : start], text[stop : stop + 1]
    return before.isalnum() or before == "_" or behind.isalnum() or behind == "_"


def _attempt(text: str, start: int, stop: int) -> tuple[int, int] | None:
    """The stretch around a name that is calls and nothing else; None if there is more to it."""
    begins = text.rfind("\n", max(0, start - CALL_AHEAD), start) + 1
    begins = max(begins, text.rfind("```", max(0, start - CALL_AHEAD), start) + 3, 0)
    tag = _tag_before(text, start)
    if not _LEADS.match(text[begins : tag.start() if tag else start]):
        return None
    if tag:
        return _element(text, tag, stop)
    opens = _opens(text, start, stop)
    if opens and _is_key(opens) and text[start - 1 : start] not in _QUOTES:
        return None
    at = opens.start(1) if opens else -1
    most = min(len(text), start + CALL_AHEAD)
    while 0 <= at < most:
        end = _close(text, at, most)
        if end < 0:
            return (start, most) if most == len(text) else None
        more = _NEXT.match(text, end, most)
        if more is None:
            trails = _TRAILS.match(text, end)
            last = trails.end() if trails else end
            alone = last == len(text) or "\n" in text[end:last] or text.startswith("```", end)
            return (start, end) if alone else None
        at = more.start(1)
    return None


def _tag_before(text: str, start: int) -> re.Match[str] | None:
    """Match the beginning of the tag whose name starts at an index."""
    return _TAG.search(text, max(0, start - SHOWN_NAME), start)


def _element(text: str, tag: re.Match[str], stop: int) -> tuple[int, int] | None:
    """A tag that is named after a tool, up to its closer; that may have the namespace alone."""
    alone = _ENDS_TAG.match(text, stop)
    if alone:
        return tag.start(), alone.end()
    names = [text[tag.start() + 1 : stop], *filter(None, tag.groups())]
    found = [
        (end, closer)
        for closer in (f"</{name}>" for name in names)
        if (end := text.find(closer, stop, stop + CALL_AHEAD)) >= 0
    ]
    if not found:
        return None
    end, closer = min(found)
    return tag.start(), end + len(closer)


def _close(text: str, at: int, most: int) -> int:
    """Behind the bracket that closes the one at an index; -1 if none does so before `most`."""
    closers = [_CLOSES[text[at]]]
    at += 1
    while at < most:
        char = text[at]
        if char in "\"'":
            end = text.find(char, at + 1, most)
            while end > 0 and text[end - 1] == "\\":
                end = text.find(char, end + 1, most)
            at = end if end > 0 else at
        elif char in _CLOSES:
            closers.append(_CLOSES[char])
        elif char in ")}]":
            if char != closers.pop():
                return -1
            if not closers:
                return at + 1
        at += 1
        plain = _SKIPS.match(text, at, most)
        at = plain.end() if plain else at
    return -1


def _unit_format(text: str, tools: Tools) -> str | None:
    """The format that reads a text as all of a reply."""
    found = read_unit(everything().units, text, 0, tools, "standard")
    return found[0].calls[0].format if found and found[0].calls else None
