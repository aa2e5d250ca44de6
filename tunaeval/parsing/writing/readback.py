"""Whether a text is read back as the calls that it was written for, and why not.

`render` asks it of all that it writes, `convert` of whole replies. What a format can say is thus
decided by the reader alone: no rule of it is stated a second time for writing. Only once something
was read differently are the words' patterns asked, for the reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest

import orjson

from tunaeval.errors import UsageError
from tunaeval.grammar import Elements, Format, Key, Literal, Many, Maybe, Name, Word
from tunaeval.repair import not_json
from tunaeval.showing import brief
from tunaeval.types import (
    Diagnosis,
    JsonObject,
    JsonValue,
    ParseResult,
    ToolCall,
    Tools,
    ToolSpec,
)

from ..reader import reader_of
from ..streaming.live import arguments_text
from ..typing import as_json, escaped, typed
from .calls import render_calls

_HARMLESS = frozenset({
    "duplicate-key", "lone-surrogate", "nul", "wrong-type", "missing-argument", "unknown-argument",
    "undeclared-argument", "misplaced-argument", "swallowed-markup",
    "not-allowed", "unresolved-ref", "quoted", "stray-closer", "trailing-ellipsis",
    "unclosed-fence", "unclosed-reasoning",
})  # fmt: skip
"""Diagnoses of calls that count, and of words that are no calls; the others tell of a lost call."""


def written_calls(calls: Sequence[ToolCall], form: Format) -> str:
    """The calls as text that is read back as them, up to the types that only a schema tells.

    Raises `UsageError` with the argument, or the name, that the format cannot say.
    """
    for call in calls:
        if why := _shape_fault(call) or _depth_fault(call):
            raise UsageError(f"format {form.name!r} cannot write {why}")
    text = render_calls(calls, form)
    if calls and (why := _fault(text, calls, form)):
        raise UsageError(f"format {form.name!r} cannot write {_culprit(calls, form, why)}")
    return text


def _shape_fault(call: ToolCall) -> str | None:
    """Why the call is none that any text could say, if so: its name, its arguments, a key."""
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
    return None


def _depth_fault(call: ToolCall) -> str | None:
    """Deeper than anything that is read: writing it could take all of the stack."""
    for key, value in call.arguments.items():
        if isinstance(value, dict | list) and (fault := not_json(value)):
            return f"the argument {key!r} of {call.name!r}: its value is no JSON: {fault}"
    return None


def lost_call(diagnoses: Sequence[Diagnosis]) -> str | None:
    """The first sign that something which wanted to be a call was not read as one."""
    for found in diagnoses:
        if found.code not in _HARMLESS:
            return f"{found.code}: {found.message}"
    return None


def misread(
    back: ParseResult,
    meant: Sequence[ToolCall],
    *,
    ordered: bool = False,
    by_schema: bool = False,
) -> str | None:
    """Why `back` holds other calls than were meant, if so.

    `ordered`: the order of arguments counts, too. `by_schema`: a text may be read as the number,
    list or the like that it looks like, as it would be where no schema says that it is a text.
    """
    if lost := lost_call(back.diagnoses):
        return f"it would be read with {lost}"
    for wanted, read in zip_longest(meant, back.calls):
        if (
            wanted is None
            or read is None
            or not _same(wanted, read, ordered=ordered, by_schema=by_schema)
        ):
            return f"{_said(wanted):.200} is read as {_said(read):.200}"
    return None


def _same(meant: ToolCall, read: ToolCall, *, ordered: bool, by_schema: bool) -> bool:
    if meant.name != read.name:
        return False
    wanted, found = meant.arguments, read.arguments
    if by_schema and wanted.keys() == found.keys():
        wanted = {key: _as_read(value, found[key]) for key, value in wanted.items()}
    if ordered:
        return arguments_text(wanted) == arguments_text(found)
    return _canonical(wanted) == _canonical(found)


def _canonical(value: JsonValue) -> str | bytes:
    """The value as JSON text, whatever the order of keys."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return json.dumps(json.loads(json.dumps(value)), sort_keys=True)


def _as_read(value: JsonValue, read: JsonValue) -> JsonValue:
    """A text as it is read where nothing says that it is one."""
    return value if not isinstance(value, str) or value == read else typed(value, None, None).value


def _said(call: ToolCall | None) -> str:
    return f"{call.name}({arguments_text(call.arguments)})" if call else "no call"


# --- why -----------------------------------------------------------------------------------------


def _fault(text: str, calls: Sequence[ToolCall], form: Format) -> str | None:
    """Why the text is not read back as the calls alone, if so."""
    back = reader_of(form).parse(text, tools=_declared(calls) if form.by_tool else None)
    why = misread(back, calls)
    if why and any(isinstance(word, Many | Elements) for word in form.words):
        why = misread(back, calls, by_schema=True) or _typed_fault(calls, form)
    if why is None and back.content.strip():
        return f"{back.content.strip()!r:.200} is read as content"
    return why or next(filter(None, map(_unclosed, back.calls)), None)


def _declared(calls: Sequence[ToolCall]) -> Tools:
    """Tools that declare the arguments of these calls, and not of what types they are."""
    keys: dict[str, JsonObject] = {}
    for call in calls:
        keys.setdefault(call.name, {}).update({key: {} for key in call.arguments})
    return Tools(ToolSpec(name, parameters={"properties": one}) for name, one in keys.items())


def _unclosed(call: ToolCall) -> str | None:
    """Why a call is read only because what is behind it shows its end; that may be missing."""
    found = next((repair for repair in call.repairs if repair.code == "unclosed"), None)
    return f"it would be read with the repair unclosed: {found.message}" if found else None


def _typed_fault(calls: Sequence[ToolCall], form: Format) -> str | None:
    """Why one of the calls is read as another where a schema says which values are texts."""
    for call in calls:
        declared: JsonObject = {
            key: {"type": "string"} if isinstance(value, str) else {}
            for key, value in call.arguments.items()
        }
        tools = Tools([ToolSpec(call.name, parameters={"properties": declared})])
        back = reader_of(form).parse(render_calls([call], form), tools=tools)
        if why := misread(back, [call]):
            return why
    return None


def _culprit(calls: Sequence[ToolCall], form: Format, why: str) -> str:
    """What cannot be written, and why: the first name or argument that fails alone."""
    for call in calls:
        alone = _alone(call, form)
        if alone is None:
            continue
        if bare := _alone(replace(call, arguments={}), form):
            return f"the name {call.name!r}: {_name_reason(call.name, form) or bare}"
        for key, value in call.arguments.items():
            if one := _alone(replace(call, arguments={key: value}), form):
                reason = _argument_reason(key, value, form) or one
                return f"the argument {key!r} of {call.name!r}: {reason}"
        return f"all arguments of {call.name!r} in one call: {alone}"
    return f"these {len(calls)} calls in one text: {why}"


def _alone(call: ToolCall, form: Format) -> str | None:
    return _fault(render_calls([call], form), [call], form)


def _name_reason(name: str, form: Format) -> str | None:
    for word in _flat(form.words):
        if isinstance(word, Name) and not re.fullmatch(word.pattern, name):
            return f"a name fits the pattern {word.pattern!r} there"
    return None


def _argument_reason(key: str, value: JsonValue, form: Format) -> str | None:
    """A pattern that the key does not fit, or markup that the value holds."""
    words = [*_flat(form.words)]
    for word in words:
        if isinstance(word, Key) and not re.fullmatch(
            word.pattern, escaped(key) if word.escaped else key
        ):
            return f"an argument's name fits the pattern {word.pattern!r} there"
    text = value if isinstance(value, str) else as_json(value, key)
    marks = [text for word in words if isinstance(word, Literal) for text in word.spellings]
    marks += [word.prefix for word in words if isinstance(word, Elements)]
    inside = next((mark for mark in marks if len(mark) > 1 and mark in text), None)
    bare = any(isinstance(word, Many | Elements) for word in form.words)
    return (
        f"its value contains {inside!r}, which is the format's own markup"
        if inside and bare
        else None
    )


def _flat(words: Sequence[Word]) -> Iterator[Word]:
    for word in words:
        if isinstance(word, Maybe | Many):
            yield from _flat(word.words)
        else:
            yield word
