"""Checks that written calls are read back as the same calls, and says what was lost.

Only the reader decides what a format can express: no rule is repeated for writing. The patterns of
a format's words are only used to explain why something was read differently.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise, zip_longest
from typing import Any

import orjson

from tunaeval.errors import FormatError, UsageError
from tunaeval.grammar import (
    Elements,
    Key,
    Literal,
    Many,
    Maybe,
    Name,
    Space,
    Word,
    flat,
    literal_texts,
)
from tunaeval.grammar.check import fitting, shown
from tunaeval.grammar.format import Format
from tunaeval.showing import brief
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools, ToolSpec
from tunaeval.types.parsing import Diagnosis, ParseResult

from .collect import arguments_text
from .judge import as_json, escaped, typed
from .reader import reader_of
from .repair.schema import ANY
from .repair.values import not_json
from .write import render_calls

_HARMLESS = frozenset({
    "duplicate-key", "lone-surrogate", "nul", "wrong-type", "missing-argument", "unknown-argument",
    "undeclared-argument", "misplaced-argument", "swallowed-markup",
    "not-allowed", "unresolved-ref", "quoted", "stray-closer", "trailing-ellipsis",
    "unclosed-fence", "unclosed-reasoning",
})  # fmt: skip
"""Diagnoses of valid calls and of text that was never a call; others mean that a call was lost."""


def written_calls(calls: Sequence[ToolCall], form: Format) -> str:
    """Return text that is read back as these calls, perhaps only with the schemas of their tools.

    Raises `UsageError` with the name or the argument that the format cannot express.
    """
    refuse_odd_calls(calls, f"format {form.name!r}")
    text = render_calls(calls, form)
    if calls and (why := _fault(text, calls, form)):
        raise UsageError(f"format {form.name!r} cannot write {_culprit(calls, form, why)}")
    return text


def refuse_odd_calls(calls: Sequence[ToolCall], writer: str) -> None:
    """Raise `UsageError` for a call that nothing can write; `writer` is what cannot write it."""
    for call in calls:
        if why := _shape_fault(call):
            raise UsageError(f"{writer} cannot write {why}")


def _shape_fault(call: ToolCall) -> str | None:
    """Return why no format can write this call (its name, arguments, a key, depth), or None."""
    name, arguments = call.name, call.arguments
    if not isinstance(name, str):
        return f"the name {brief(name)}: a tool's name is a text, not {type(name).__name__}"
    if re.search("[\ud800-\udfff]", name):
        return f"the name {brief(name)}: a lone surrogate is no character; leave it out"
    if not isinstance(arguments, dict):
        kind = type(arguments).__name__
        return f"the arguments of {brief(name)}: they are {kind}, not a dict; none at all are {{}}"
    for key in arguments:
        if not isinstance(key, str):
            what = f"the argument {key!r:.60} of {brief(name)}"
            return f"{what}: its name is {type(key).__name__}, not a text; write {str(key)!r:.60}"
    for key, value in arguments.items():
        # Writing a value deeper than readers allow could exhaust the stack.
        if isinstance(value, dict | list) and (fault := not_json(value)):
            return f"the argument {key!r} of {name!r}: its value is no JSON: {fault}"
    return None


def lost_call(diagnoses: Sequence[Diagnosis]) -> str | None:
    """Return the first diagnosis of text that was meant as a call but not read; None if none."""
    found = (f"{one.code}: {one.message}" for one in diagnoses if one.code not in _HARMLESS)
    return next(found, None)


def misread(
    back: ParseResult, meant: Sequence[ToolCall], *, ordered: bool = False, by_schema: bool = False
) -> str | None:
    """Return how the calls of `back` differ from the calls `meant`; None if they do not.

    `ordered`: the order of arguments counts, too. `by_schema`: a string may be read as the number,
    list or other value that it spells, as happens without a schema that asks for a string.
    """
    if lost := lost_call(back.diagnoses):
        return f"it would be read with {lost}"
    for wanted, read in zip_longest(meant, back.calls):
        if not (wanted and read and _same(wanted, read, ordered=ordered, by_schema=by_schema)):
            return f"{_shown(wanted):.200} is read as {_shown(read):.200}"
    return None


def _same(meant: ToolCall, read: ToolCall, *, ordered: bool, by_schema: bool) -> bool:
    if meant.name != read.name:
        return False
    wanted, found = meant.arguments, read.arguments
    if by_schema and wanted.keys() == found.keys():
        wanted = {
            key: typed(value, ANY, None).value
            if isinstance(value, str) and value != found[key]
            else value
            for key, value in wanted.items()
        }
    as_text = arguments_text if ordered else _canonical
    return as_text(wanted) == as_text(found)


def _canonical(value: JsonValue) -> str:
    """Return the value as JSON with sorted keys."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    except orjson.JSONEncodeError:
        return json.dumps(json.loads(json.dumps(value)), sort_keys=True)


def _shown(call: ToolCall | None) -> str:
    return f"{call.name}({arguments_text(call.arguments)})" if call else "no call"


def _fault(text: str, calls: Sequence[ToolCall], form: Format) -> str | None:
    """Return why `text` is not read back as exactly these calls; None if it is."""
    back = reader_of(form).parse(text, tools=_tools_of(calls, {}) if form.by_tool else None)
    why = misread(back, calls)
    if why and _has_bare_values(form):
        why = misread(back, calls, by_schema=True) or _typed_fault(calls, form)
    if why is None and back.content.strip():
        return f"{back.content.strip()!r:.200} is read as content"
    # An unclosed call is ended by the text after it, which may be missing elsewhere.
    repairs = [repair for call in back.calls for repair in call.repairs]
    unclosed = (repair.message for repair in repairs if repair.code == "unclosed")
    return why or next((f"it would be read with the repair unclosed: {m}" for m in unclosed), None)


def _tools_of(calls: Sequence[ToolCall], text: JsonObject) -> Tools:
    """Return tools that declare the calls' arguments; strings have `text` as their schema."""
    keys: dict[str, JsonObject] = {}
    for call in calls:
        declared = {k: text if isinstance(v, str) else {} for k, v in call.arguments.items()}
        keys.setdefault(call.name, {}).update(declared)
    return Tools(ToolSpec(name, parameters={"properties": one}) for name, one in keys.items())


def _typed_fault(calls: Sequence[ToolCall], form: Format) -> str | None:
    """Return why a call is misread even if a schema says which values are strings, or None."""
    for call in calls:
        tools = _tools_of([call], {"type": "string"})
        back = reader_of(form).parse(render_calls([call], form), tools=tools)
        if why := misread(back, [call]):
            return why
    return None


def _culprit(calls: Sequence[ToolCall], form: Format, why: str) -> str:
    """Return what cannot be written, and why: the first name or argument that fails on its own."""
    for call in calls:
        alone = _alone(call, form)
        if alone is None:
            continue
        if bare := _alone(replace(call, arguments={}), form):
            return f"the name {call.name!r}: {_pattern_fault(Name, call.name, form) or bare}"
        for key, value in call.arguments.items():
            if one := _alone(replace(call, arguments={key: value}), form):
                reason = _pattern_fault(Key, key, form) or _markup_fault(key, value, form) or one
                return f"the argument {key!r} of {call.name!r}: {reason}"
        return f"all arguments of {call.name!r} in one call: {alone}"
    return f"these {len(calls)} calls in one text: {why}"


def _alone(call: ToolCall, form: Format) -> str | None:
    return _fault(render_calls([call], form), [call], form)


def _pattern_fault(kind: type[Name | Key], text: str, form: Format) -> str | None:
    """Return which pattern of the format a name or a key does not match; None if all do."""
    what = "an argument's name" if kind is Key else "a name"
    for word in flat(form.words):
        if isinstance(word, Name | Key) and isinstance(word, kind):
            written = escaped(text) if isinstance(word, Key) and word.escaped else text
            if not re.fullmatch(word.pattern, written):
                return f"{what} fits the pattern {word.pattern!r} there"
    return None


def _markup_fault(key: str, value: JsonValue, form: Format) -> str | None:
    """Return which markup of a format with bare values a value contains; None if it has none."""
    if not _has_bare_values(form):
        return None
    text = value if isinstance(value, str) else as_json(value, key)
    prefixes = (word.prefix for word in form.words if isinstance(word, Elements))
    marks = (*literal_texts(form.words), *prefixes)
    inside = next((mark for mark in marks if len(mark) > 1 and mark in text), None)
    return f"its value contains {inside!r}, which is the format's own markup" if inside else None


def _has_bare_values(form: Format) -> bool:
    """Whether the format writes values as bare text, so that only a schema says their types."""
    return any(isinstance(word, Many | Elements) for word in form.words)


def refuse_unread(*forms: Format) -> None:
    """Raise FormatError for a format that does not read its own calls; each is tried once."""
    for form in forms:
        if not form.trusted and (fault := unread_fault(form)):
            raise FormatError(f"format {form.name!r}: {fault}")


@lru_cache(maxsize=256)
def unread_fault(form: Format) -> str | None:
    """Return how calls written in the format are misread; None if all are read back unchanged.

    Each spelling is tried, and each `Maybe` with and without its words.
    """
    alone = replace(form, also=(), reasoning=(), checked=False)
    patterns = {type(word): getattr(word, "pattern", "") for word in flat(form.words)}
    name = fitting(patterns.get(Name, r"\w"))[0]
    arguments = dict(zip(fitting(patterns.get(Key, r"\w")), ("x", 1), strict=False))
    two = (ToolCall(name, {}), ToolCall(name, arguments))
    declared: JsonObject = {"properties": {key: {} for key in arguments}}
    tools = Tools([ToolSpec(name, parameters=declared)]) if form.by_tool else None
    level: Any = "standard" if form.call and form.call.bare_keys else "strict"
    for row in (form.words, *_variants(form.words)):
        for calls in (two[:1], two[1:], two):
            text = render_calls(calls, replace(alone, words=row, checked=False))
            prompt = form.opener.text if form.prompted and form.opener else ""
            for written in {text, text.removeprefix(prompt)}:
                found = reader_of(alone).parse(written, tools=tools, level=level)
                read = [(call.name, call.arguments) for call in found.calls]
                lost = read != [(call.name, call.arguments) for call in calls]
                lost |= any(one.code == "unclosed" for call in found.calls for one in call.repairs)
                if lost or found.diagnoses or found.content.strip():
                    why = found.diagnoses[0].message if found.diagnoses else f"{read!r:.200}"
                    advice = "begin each word with something that the word before it cannot read"
                    advice = next(_swallowing(flat(row)), advice)
                    why = f"{written!r:.200} is read as {why}; {advice}"
                    return f"what it writes is not what it reads: {why}"
    return None


def _variants(row: tuple[Word, ...]) -> Iterator[tuple[Word, ...]]:
    """Yield each variant of a row of words: one other spelling, or one `Maybe` in or out."""
    for at, word in enumerate(row):
        others: list[Word] = []
        if isinstance(word, Literal):
            others = [Literal(text) for text in word.also]
        elif isinstance(word, Many):
            others = [replace(word, words=inner) for inner in _variants(word.words)]
        elif isinstance(word, Maybe):
            others = [replace(word, words=inner, written=True) for inner in _variants(word.words)]
            others.append(replace(word, written=not word.written))
        yield from ((*row[:at], other, *row[at + 1 :]) for other in others)


def _swallowing(row: Iterable[Word]) -> Iterator[str]:
    """Yield which word's pattern matches the next word's beginning, with advice."""
    for word, after in pairwise(row):
        pattern = r"\s*" if isinstance(word, Space) else getattr(word, "pattern", None)
        text = getattr(after, "text", "")
        if isinstance(word, Elements) and not (word.prefix and text.startswith(word.prefix)):
            found = "⟨elements⟩ needs a prefix before each tag, with which the next text begins"
            yield f"{found}, as in ⟨elements prefix=!⟩!</do>; without a prefix write a Parser"
        starts = ("", *fitting(pattern)[:1]) if pattern and isinstance(text, str) and text else ()
        if any(re.fullmatch(pattern or "", start + text[0]) for start in starts):
            found = f"{shown(word)} with the pattern {pattern!r} would swallow the beginning of"
            yield f"{found} {text!r}; leave its first character out of the pattern"
