"""From a value that was read to a call, or to the reasons why it is none.

Names and aliases, wrapped calls, encoded arguments, known tools, the schema, and the level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from tunaeval.grammar import CallObject, Format
from tunaeval.limits import KEPT_OBJECTS
from tunaeval.repair import (
    QUOTES,
    REPAIRS,
    JsonReader,
    Note,
    Read,
    Unreadable,
    begins_soundly,
    decode_at,
    fit,
    fits,
    misplaced,
    read_json,
    repair_of,
    undeclared,
    unwrapped,
)
from tunaeval.types import (
    ARGUMENTS_KEYS,
    LEVELS,
    NAME_KEYS,
    Diagnosis,
    JsonObject,
    JsonValue,
    Level,
    Repair,
    Span,
    ToolCall,
    Tools,
    cheap,
)
from tunaeval.window import Window

_ENVELOPE_KEYS = frozenset({"id", "type", "index", "tool_call_id", "call_id"})
_CALL_KEYS = {*NAME_KEYS, *ARGUMENTS_KEYS, *_ENVELOPE_KEYS, "description"}
_QUOTE_SIGNS = frozenset(QUOTES)
new_call = cheap(ToolCall)
_RANK = {level: rank for rank, level in enumerate(LEVELS)}


class Verdict(NamedTuple):
    """A call and what is odd about it; or no call, whether it was an attempt, and why."""

    call: ToolCall | None
    notes: tuple[Note, ...] = ()
    attempt: bool = True
    truncated: bool = False

    def diagnoses(self, span: Span) -> list[Diagnosis]:
        """What there is to say of an object at a span; nothing of what announced no call."""
        notes = self.notes if self.call or self.attempt else ()
        return [Diagnosis(code, message, span) for code, message in notes]


@dataclass(slots=True)
class _Claim:
    """What an object says of itself, by which keys, and what it took to read that."""

    value: JsonObject
    name_key: str | None
    arguments_key: str | None
    name: JsonValue
    arguments: JsonValue
    id: JsonValue
    truncated: bool
    repairs: list[Repair]
    notes: tuple[Note, ...] = ()

    @property
    def beside(self) -> JsonObject:
        """What is under keys that calls do not have."""
        known = {self.name_key, self.arguments_key, *_ENVELOPE_KEYS}
        return {key: value for key, value in self.value.items() if key not in known}


def judge(
    read: Read,
    *,
    word: CallObject,
    form: Format,
    span: Span,
    tools: Tools | None,
    level: Level,
    frame: tuple[Repair, ...] = (),
) -> Verdict:
    """Whether what was read at `span` is a call. `frame` are repairs of what is around it."""
    value = read.value
    if not isinstance(value, dict):
        found = Note("invalid-json", f"a call is an object, not {_kind(value)}")
        return Verdict(None, (found,), form.marked)
    if (
        len(value) == 2
        and word.name in value
        and not (read.repairs or read.notes or frame)
        and not read.truncated
    ):
        name, arguments = value[word.name], value.get(word.arguments)
        call = sound_call(name, arguments, form.name, span, tools)
        if call:
            return Verdict(call, (), True, False)
    claim = _claim(value, word, span, truncated=read.truncated)
    attempt, fault = _claim_fault(claim, read, tools, marked=form.marked)
    arguments = fault or _arguments(claim, tools, span)
    repairs = (*frame, *read.repairs, *claim.repairs)
    if repairs and not isinstance(arguments, Note):
        forbidden = first_forbidden(repairs, level)
        arguments = refusal(forbidden) if forbidden else arguments
    if isinstance(arguments, Note):
        return Verdict(None, (arguments,), attempt, claim.truncated)
    notes = (*read.notes, *claim.notes)
    if len(claim.value) > 2:
        notes += tuple(_misplaced(claim, arguments, tools))
    if tools is not None and not fits(claim.name, arguments, tools):
        arguments, fitting, more = _fitted(claim.name, arguments, tools, span, level)
        repairs, notes = (*repairs, *fitting), (*notes, *more)
    call = new_call(claim.name, arguments, _id(claim), form.name, span, repairs)
    return Verdict(call, notes, True, claim.truncated)


def sound_call(
    name: JsonValue,
    arguments: JsonValue,
    format_name: str,
    span: Span | None,
    tools: Tools | None,
    *,
    id_: str | None = None,
) -> ToolCall | None:
    """Return the call that `judge` would return without a word; None if anything is unusual.

    Arguments with a key "properties" may be the echo of a schema.
    """
    if type(name) is not str or not name or type(arguments) is not dict:
        return None
    if "properties" in arguments or (tools is not None and not fits(name, arguments, tools)):
        return None
    return new_call(name, arguments, id_, format_name, span)


def _fitted(
    name: str, arguments: JsonObject, tools: Tools, span: Span, level: Level
) -> tuple[JsonObject, Sequence[Repair], list[Note]]:
    """The arguments as the tool asks for them, what was repaired, and what does not fit."""
    wrapped: tuple[Repair, ...] = ()
    schema = tools[name].parameters
    if level != "strict" and (inner := unwrapped(arguments, schema)) is not None:
        message = f"the arguments were wrapped in {next(iter(arguments))[:60]!r}"
        wrapped = (repair_of("wrapped-arguments", message, span),)
        arguments = inner
    fitted = fit(arguments, schema, span=span, level=level)
    notes = [Note(f.code, f"{f.path}: {f.message}") for f in fitted.faults]
    notes += _undeclared(name, arguments, schema)
    if level == "strict" or not isinstance(fitted.value, dict):
        notes += [Note("wrong-type", repair.message) for repair in fitted.repairs]
        return arguments, wrapped, notes
    return fitted.value, (*wrapped, *fitted.repairs), notes


def _id(claim: _Claim) -> str | None:
    return claim.id if isinstance(claim.id, str) else None


def _undeclared(
    tool: str, arguments: JsonObject, schema: Mapping[str, JsonValue]
) -> Iterator[Note]:
    for name in undeclared(arguments, schema):
        yield Note("undeclared-argument", f"{name[:60]!r} is no argument of {tool!r}")


def _misplaced(claim: _Claim, arguments: JsonObject, tools: Tools | None) -> Iterator[Note]:
    for key in misplaced(claim.name, arguments, claim.beside, tools):
        message = f"{key[:60]!r} is beside the arguments of {claim.name!r}, and does not count"
        yield Note("misplaced-argument", message)


_NAMED = CallObject()


def judge_named(
    name: str | None,
    read: Read,
    *,
    form: Format,
    span: Span,
    tools: Tools | None,
    level: Level,
    frame: tuple[Repair, ...] = (),
) -> Verdict:
    """Judge arguments whose tool's name is outside of them, as `judge` does a whole object."""
    call: JsonObject = {_NAMED.name: name, _NAMED.arguments: read.value}
    named = read._replace(value=call)
    return judge(named, word=_NAMED, form=form, span=span, tools=tools, level=level, frame=frame)


def only_a_word(name: str | None) -> Verdict:
    """What may be any word between markers that several formats have, as no tools are known."""
    note = Note("missing-arguments", f"{name!r} has no arguments, and may be no tool")
    return Verdict(None, (note,))


def unreadable(read: Unreadable, form: Format) -> Verdict:
    """What there is to say of an object that could not be read."""
    attempt = form.marked or _looks_like_a_call(read.so_far, form.call)
    return Verdict(None, (Note(read.code, read.message),), attempt, read.cut)


def _looks_like_a_call(so_far: str, word: CallObject | None) -> bool:
    """Whether the sound part of an unreadable object had a name and an arguments key."""
    names, inputs = (
        ((*NAME_KEYS, word.name), (*ARGUMENTS_KEYS, word.arguments)) if word else ((), ())
    )
    return all(any(f'"{key}":' in so_far for key in keys) for keys in (names, inputs))


def may_have_ended_early(value: JsonValue) -> bool:
    """Whether a bracket too many behind a call may be one that ended a part of it too early.

    That shows by a key that calls do not have, or by a container that ends in a container and is
    not the last in its own: `{"name": "x", "arguments": {"a": {}}, "b": 1}}`.
    """
    if not (isinstance(value, dict) and value.keys() <= _CALL_KEYS):
        return True
    level: list[JsonValue] = [value]
    while level:
        rows = [list(outer.values()) if isinstance(outer, dict) else outer for outer in level]
        if any(_ends_in_container(item) for row in rows for item in row[:-1]):
            return True
        level = [item for row in rows for item in row if isinstance(item, dict | list)]
    return False


def _ends_in_container(value: JsonValue) -> bool:
    items = value.values() if isinstance(value, dict) else value
    return isinstance(value, dict | list) and isinstance(next(reversed(items), None), dict | list)


def _claim(value: JsonObject, word: CallObject, span: Span, *, truncated: bool) -> _Claim:
    repairs: list[Repair] = []
    if word.keyed and len(value) == 1:
        ((name, arguments),) = value.items()
        value = {word.name: name, word.arguments: arguments}
    id_ = value.get("id", value.get("tool_call_id"))
    inner = value.get("function")
    if isinstance(inner, dict) and "name" in inner:
        repairs.append(repair_of("wrapped-call", "the call is inside 'function'", span))
        value = inner
    name_key: str | None = word.name
    arguments_key: str | None = word.arguments
    if name_key not in value or arguments_key not in value:
        name_key = _key(value, word.name, NAME_KEYS, span, repairs)
        arguments_key = _key(value, word.arguments, ARGUMENTS_KEYS, span, repairs)
    return _Claim(
        value,
        name_key,
        arguments_key,
        value.get(name_key or ""),
        value.get(arguments_key or ""),
        id_,
        truncated,
        repairs,
    )


def _key(
    value: JsonObject, own: str, aliases: tuple[str, ...], span: Span, repairs: list[Repair]
) -> str | None:
    """The key that is there: the format's own, or an alias, which is a repair."""
    if own in value:
        return own
    for key in aliases:
        if key in value:
            repairs.append(repair_of("key-alias", f"{key!r} stands for {own!r}", span))
            return key
    return None


def _claim_fault(
    claim: _Claim, read: Read, tools: Tools | None, *, marked: bool
) -> tuple[bool, Note | None]:
    """Whether the claim is an attempt, and why it is no call before its arguments are read."""
    name = claim.name
    known = tools is not None and isinstance(name, str) and name in tools
    has_arguments = claim.arguments_key is not None
    if claim.name_key is None or not (has_arguments or marked or known):
        return marked, Note("missing-name", "a call without a name")
    if not isinstance(name, str) or not name:
        found = "an empty one" if name == "" else _kind(name)
        return True, Note("invalid-name", f"a name is a text, not {found}")
    quoted = not _QUOTE_SIGNS.isdisjoint(name)
    if quoted and any(repair.code == "inner-quote" for repair in read.repairs):
        code = "truncated" if read.truncated else "invalid-name"
        return True, Note(code, f"{name[:60]!r} is no name; a quote may be missing")
    if tools is not None and not known:
        names = ", ".join(list(tools)[:12]) or "no tools at all"
        return True, Note("unknown-tool", f"{name[:60]!r} is none of: {names}")
    if has_arguments:
        return True, None
    if _lost(read):
        return True, Note(_lost(read), f"the arguments of {name!r} are missing")
    if beside := claim.beside:
        keys = ", ".join(repr(key[:40]) for key in list(beside)[:6])
        return True, Note("missing-arguments", f"{name!r} has no arguments key, but {keys}")
    return True, None


def _lost(read: Read) -> str:
    """Whether something was cut off the object, as the code of that; "" if it is whole."""
    if read.truncated:
        return "truncated"
    cut = any(repair.code == "missing-closer" for repair in read.repairs)
    return "invalid-arguments" if cut else ""


def _arguments(claim: _Claim, tools: Tools | None, span: Span) -> JsonObject | Note:
    """The arguments as an object. Null and empty mean none; broken never does."""
    value = claim.arguments
    if isinstance(value, str) and value.strip():
        inner = read_json(value)
        if isinstance(inner, Unreadable):
            return Note("invalid-arguments", f"arguments given as text: {inner.message}")
        message = "the arguments were JSON inside a string"
        claim.repairs.append(repair_of("encoded-arguments", message, span))
        claim.repairs += [repair_of(r.code, r.message, span, r.level) for r in inner.repairs]
        claim.notes = inner.notes
        claim.truncated = claim.truncated or inner.truncated
        value = inner.value
    if isinstance(value, dict):
        if _is_schema(value, claim.name, tools):
            return Note("schema-echo", f"the definition of {claim.name!r} was repeated, not called")
        return value
    if value is None or value == [] or (isinstance(value, str) and not value.strip()):
        return {}
    return Note("invalid-arguments", f"arguments are an object, not {_kind(value)}")


def _is_schema(arguments: JsonObject, name: str, tools: Tools | None) -> bool:
    """Whether a tool's schema was written where its arguments belong, in any dialect of types."""
    if not isinstance(arguments.get("properties"), dict):
        return False
    if tools is None and "type" not in arguments:
        return False  # a tool that nobody described may have an argument of this name
    properties = tools[name].parameters.get("properties", {}) if tools is not None else {}
    return "properties" not in properties


def first_forbidden(repairs: Iterable[Repair], level: Level) -> Repair | None:
    """The first repair that this level does not allow; None if it allows all of them."""
    allowed = _RANK[level]
    return next((each for each in repairs if _RANK[each.level] > allowed), None)  # type: ignore[index]  # a Repair's level is one of LEVELS


def refusal(repair: Repair) -> Note:
    """Why a call is refused whose repair the level does not allow."""
    reason = f"{repair.code}: {repair.message} (read at level {repair.level!r})"
    if repair.code in REPAIRS or repair.code in _REFUSED_AS:
        return Note(_REFUSED_AS.get(repair.code, "invalid-json"), reason)
    return Note("mended", reason)


_REFUSED_AS = {
    "truncated": "truncated",
    "unclosed": "unclosed",
    "positional-arguments": "positional-arguments",
    "encoded-arguments": "invalid-arguments",
}


def _kind(value: object) -> str:
    names = {dict: "an object", list: "an array", str: "a text", bool: "true or false"}
    return "nothing" if value is None else names.get(type(value), "a number")


Objects: TypeAlias = dict[tuple[int, tuple[str, ...]], tuple[Read | Unreadable, int]]
"""By the offset of an object and the texts that may end it: what was read there, and its end."""


def object_at(
    text: str, at: int, base: int, stops: tuple[str, ...], known: Objects | None
) -> tuple[Read | Unreadable, int]:
    """Read the object at index `at` of a text that is all there; return it and its end.

    `base` is the offset of the text's first character in the whole. Sound JSON is decoded, as
    nothing around it can change where it ends; anything else is read with repairs.
    """
    key = base + at, stops
    if known is not None and (before := known.get(key)):
        return before[0], before[1] - base
    sound = decode_at(text, at) if begins_soundly(text, at) else None
    if sound is not None:
        read: Read | Unreadable = Read(sound[0], (), sound[2])
        end = sound[1]
    else:
        window = Window(text, final=True)
        window.pos, window.base = at, base
        found = JsonReader(window, stops).advance()
        if found is None:
            raise AssertionError(f"a reader asked for more than all of {text[at : at + 60]!r}")
        read, end = found, window.pos
    if known is not None and len(known) < KEPT_OBJECTS:
        known[key] = read, base + end
    return read, end
