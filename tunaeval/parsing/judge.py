"""Decides whether a decoded object is a call, and converts bare text to an argument's value.

A decision depends on aliases of keys, wrappers, encoded arguments, tools, schemas and the level.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from tunaeval.errors import UsageError
from tunaeval.grammar import CallObject, Value
from tunaeval.grammar.format import Format
from tunaeval.limits import KEPT_OBJECTS
from tunaeval.types.calls import (
    ARGUMENTS_KEYS,
    NAME_KEYS,
    JsonObject,
    JsonValue,
    Repair,
    Span,
    ToolCall,
    Tools,
)
from tunaeval.types.makers import cheap
from tunaeval.types.messages import OTHER_ROLES
from tunaeval.types.parsing import LEVELS, UNKNOWN_TOOL, Level

from .repair.machine import JsonReader, read_json
from .repair.schema import (
    ANY,
    UNBENT,
    admitted,
    fit,
    fits,
    kind_of,
    member,
    misplaced,
    of_text,
    undeclared,
    unwrapped,
)
from .repair.values import (
    QUOTES,
    REPAIRS,
    Note,
    Read,
    Unreadable,
    begins_soundly,
    decode_at,
    repair_of,
    scan,
)
from .window import Window

_ENVELOPE_KEYS = frozenset({"id", "type", "index", "tool_call_id", "call_id"})
_CALL_KEYS = {*NAME_KEYS, *ARGUMENTS_KEYS, *_ENVELOPE_KEYS, "description"}
_QUOTE_SIGNS = frozenset(QUOTES)
new_call = cheap(ToolCall)
_RANK = {level: rank for rank, level in enumerate(LEVELS)}


class JudgedCall(NamedTuple):
    """A call and notes on it; or no call, the reasons (`notes`), and whether it was an attempt."""

    call: ToolCall | None
    notes: tuple[Note, ...] = ()
    attempt: bool = True
    truncated: bool = False


def judge(
    read: Read,
    *,
    word: CallObject,
    form: Format,
    span: Span,
    tools: Tools | None,
    level: Level,
    frame: tuple[Repair, ...] = (),
    keyed: bool = True,
) -> JudgedCall:
    """Decide if the value read at `span` is a call. `frame`: repairs of the text around it.

    `keyed`: the one key of an object may be the tool.
    """
    value = read.value
    if not isinstance(value, dict):
        found = Note("invalid-json", f"a call is an object, not {_kind(value)}")
        return JudgedCall(None, (found,), form.marked)
    if value.get("role") in OTHER_ROLES or value.get("type") in _RESULTS:
        return JudgedCall(None, (), False)
    name: JsonValue = value.get(word.name)
    arguments: JsonValue = value.get(word.arguments)
    if len(value) == 2 and not (read.repairs or read.notes or read.truncated or frame):
        call = sound_call(name, arguments, form.name, span, tools)
        if call is not None:
            return JudgedCall(call)
    id_ = value.get("id", value.get("tool_call_id"))
    value, keys, renamed = _renamed(value, word, tools if keyed else None, span)
    name = value.get(keys[0] or "")
    attempt, fault = _call_fault(value, keys, read, tools, marked=form.marked)
    inner, wrong = Read(None), None
    goes_on = not fault or fault.code == UNKNOWN_TOOL  # whose arguments may be broken, too
    described = isinstance(value.get("description"), str) and "description" not in keys
    if goes_on or (described and attempt and keys[1] is None and isinstance(name, str)):
        inner, wrong = _arguments(value.get(keys[1] or ""), span)
        schema = tools[name].parameters if tools is not None and name in tools else None
        if wrong is None and _is_definition(inner.value, schema, described=described):
            message = f"the definition of {name!r:.60} was repeated, not called"
            cut, attempt = read.truncated or inner.truncated, form.marked or schema is not None
            return JudgedCall(None, (Note("schema-echo", message),), attempt, cut)
    cut = read.truncated or inner.truncated
    repairs = (*frame, *read.repairs, *renamed, *inner.repairs)
    wrong = wrong or (forbidden_at(repairs, level) if goes_on else None)
    if fault or wrong:
        return JudgedCall(None, tuple(filter(None, (fault, wrong))), attempt, cut)
    notes, arguments = (*read.notes, *inner.notes), inner.value
    beside = _beside(value, keys) if len(value) > 2 else {}
    for key in misplaced(name, arguments, beside, tools) if beside else ():
        message = f"{key[:60]!r} is beside the arguments of {name!r}, and does not count"
        notes += (Note("misplaced-argument", message),)
    if tools is not None and not fits(name, arguments, tools):
        arguments, fitting, more = _fitted(name, arguments, tools, span, level)
        repairs, notes = (*repairs, *fitting), (*notes, *more)
    id_ = id_ if isinstance(id_, str) else None
    return JudgedCall(new_call(name, arguments, id_, form.name, span, repairs), notes, True, cut)


_RESULTS = ("tool_result", "function_call_output")
"""The types of results, in objects that are messages: no calls."""


def sound_call(
    name: JsonValue, arguments: JsonValue, format_name: str, span: Span, tools: Tools | None
) -> ToolCall | None:
    """Return the call with this name and arguments; None if anything needs a closer look."""
    if type(name) is not str or not name.strip() or type(arguments) is not dict:
        return None
    # Arguments with the key "properties", or with types, may be a repeated schema.
    if "properties" in arguments or (tools is not None and not fits(name, arguments, tools)):
        return None
    for one in arguments.values():
        if type(one) is dict and "type" in one:
            return None
    return new_call(name, arguments, None, format_name, span)


def _fitted(
    name: str, arguments: JsonObject, tools: Tools, span: Span, level: Level
) -> tuple[JsonObject, Sequence[Repair], list[Note]]:
    """Return the arguments converted to the tool's schema, the repairs, and notes on misfits."""
    wrapped: tuple[Repair, ...] = ()
    schema = tools[name].parameters
    if level != "strict" and (inner := unwrapped(arguments, schema)) is not None:
        message = f"the arguments were wrapped in {next(iter(arguments))[:60]!r}"
        wrapped = (repair_of("wrapped-arguments", message, span),)
        arguments = inner
    fitted = fit(arguments, schema, span=span, level=level)
    notes = [*fitted.notes]
    notes += [
        Note("undeclared-argument", f"{key[:60]!r} is no argument of {name!r}")
        for key in undeclared(arguments, schema)
    ]
    if level == "strict" or not isinstance(fitted.value, dict):
        notes += [Note("wrong-type", repair.message) for repair in fitted.repairs]
        return arguments, wrapped, notes
    return fitted.value, (*wrapped, *fitted.repairs), notes


def unreadable(read: Unreadable, word: CallObject, *, marked: bool) -> JudgedCall:
    """Return the verdict on an unreadable object.

    It is an attempt if `marked`, or if a key for a name and one for arguments could be read.
    """
    names, arguments = (*NAME_KEYS, word.name), (*ARGUMENTS_KEYS, word.arguments)
    has_both = all(any(f'"{key}":' in read.so_far for key in own) for own in (names, arguments))
    return JudgedCall(None, (Note(read.code, read.message),), marked or has_both, read.cut)


def may_have_ended_early(value: JsonValue) -> bool:
    """Whether an extra closing bracket after a call may have been meant for the end of the call.

    Then an earlier bracket closed too much, as in `{"name": "x", "arguments": {"a": {}}, "b": 1}}`.
    Signs of that are a key that calls do not have, and two closing brackets before a comma.
    """
    if not (isinstance(value, dict) and value.keys() <= _CALL_KEYS):
        return True
    structure = _STRING.sub("", json.dumps(value, separators=(",", ":")))
    return re.search(r"[]}]{2},", structure) is not None


_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"')


_Keys: TypeAlias = tuple[str | None, str | None]
"""The keys that an object has for the name and for the arguments; None if it has no such key."""


def _names_tool(value: JsonObject, tools: Tools | None) -> bool:
    """Whether the one key of an object is a tool, and its value has arguments that fit the tool."""
    ((name, inner),) = value.items()
    known = tools is not None and name in tools and isinstance(inner, dict) and inner
    return bool(known) and fits(name, inner, tools)  # type: ignore[arg-type]  # they are known


def _renamed(
    value: JsonObject, word: CallObject, tools: Tools | None, span: Span
) -> tuple[JsonObject, _Keys, list[Repair]]:
    """Return the inner object with name and arguments, the keys that these have, and repairs."""
    repairs: list[Repair] = []
    if len(value) == 1 and (word.keyed or _names_tool(value, tools)):
        ((name, arguments),) = value.items()
        if not word.keyed:
            repairs.append(repair_of("key-alias", f"{name!r:.60} is a key, not a name", span))
        value = {word.name: name, word.arguments: arguments}
    inner = value.get("function")
    if isinstance(inner, dict) and "name" in inner:
        repairs.append(repair_of("wrapped-call", "the call is inside 'function'", span))
        value = inner
    if word.name in value and word.arguments in value:
        return value, (word.name, word.arguments), repairs
    name_key = _key(value, word.name, NAME_KEYS, span, repairs)
    keys = name_key, _key(value, word.arguments, ARGUMENTS_KEYS, span, repairs)
    return value, keys, [] if word.any_keys else repairs


def _key(
    value: JsonObject, own: str, aliases: tuple[str, ...], span: Span, repairs: list[Repair]
) -> str | None:
    """Return the first key in `value` out of `own` and the aliases; an alias adds a repair."""
    found = next((key for key in (own, *aliases) if key in value), None)
    if found not in (own, None):
        repairs.append(repair_of("key-alias", f"{found!r} stands for {own!r}", span))
    return found


def _beside(value: JsonObject, keys: _Keys) -> JsonObject:
    """Return the members of a call object that are neither name, arguments nor an id or type."""
    return {key: of for key, of in value.items() if key not in keys and key not in _ENVELOPE_KEYS}


def _call_fault(
    value: JsonObject, keys: _Keys, read: Read, tools: Tools | None, *, marked: bool
) -> tuple[bool, Note | None]:
    """Return whether the object is an attempt, and why it is no call (before reading arguments)."""
    name, has_arguments = value.get(keys[0] or ""), keys[1] is not None
    known = tools is not None and isinstance(name, str) and name in tools
    if (tool := _tool_before_cut(name, read, tools)) is not None:
        return True, Note("truncated", f"the text ends inside a call of {tool!r}")
    if keys[0] is None or not (has_arguments or marked or known):
        return marked, Note("missing-name", "a call without a name")
    if not isinstance(name, str) or not name.strip():
        found = "an empty one" if isinstance(name, str) else _kind(name)
        return True, Note("invalid-name", f"a name is a text, not {found}")
    quoted = not _QUOTE_SIGNS.isdisjoint(name)
    if quoted and any(repair.code == "inner-quote" for repair in read.repairs):
        code = "truncated" if read.truncated else "invalid-name"
        return True, Note(code, f"{name[:60]!r} is no name; a quote may be missing")
    if tools is not None and not known:
        names = ", ".join(list(tools)[:12]) or "no tools at all"
        return True, Note(UNKNOWN_TOOL, f"{name[:60]!r} is none of: {names}")
    return True, None if has_arguments else _missing(name, _beside(value, keys), read)


def _tool_before_cut(name: JsonValue, read: Read, tools: Tools | None) -> str | None:
    """Return the tool that a name begins with if the text ended so early that the tool's name and
    the key after it were read as one text, else None.
    """
    if tools is None or not (read.truncated and isinstance(name, str)):
        return None
    starts = (name.partition(sign)[0] for sign in _QUOTE_SIGNS if sign in name)
    return next((start for start in starts if start in tools), None)


def _missing(name: str, beside: JsonObject, read: Read) -> Note | None:
    """Return why a call without a key for arguments is refused; None if it needs no arguments."""
    if read.truncated or any(repair.code == "missing-closer" for repair in read.repairs):
        code = "truncated" if read.truncated else "invalid-arguments"
        return Note(code, f"the arguments of {name!r} are missing")
    if not beside:
        return None
    others = ", ".join(repr(key[:40]) for key in list(beside)[:6])
    return Note("missing-arguments", f"{name!r} has no arguments key, but {others}")


def _arguments(value: JsonValue, span: Span) -> tuple[Read, Note | None]:
    """Return the arguments as an object, decoded if they are a string, or why they are none.

    None, an empty list and a blank string mean that there are no arguments.
    """
    read = Read(value)
    if isinstance(value, str) and value.strip():
        inner = read_json(value)
        if isinstance(inner, Unreadable):
            return read, Note("invalid-arguments", f"arguments given as text: {inner.message}")
        encoded = repair_of("encoded-arguments", "the arguments were JSON inside a string", span)
        others = (repair_of(each.code, each.message, span, each.level) for each in inner.repairs)
        read, value = inner._replace(repairs=(encoded, *others)), inner.value
    if isinstance(value, dict):
        return read, None
    if value is None or value == [] or (isinstance(value, str) and not value.strip()):
        return read._replace(value={}), None
    return read, Note("invalid-arguments", f"arguments are an object, not {_kind(value)}")


def _is_definition(
    arguments: JsonObject, schema: Mapping[str, JsonValue] | None, *, described: bool
) -> bool:
    """Whether a tool's definition was repeated: a schema is in the place of the arguments.

    Each argument is then an object with its type and description, or, if a description is beside
    the name (`described`), one with a type. A tool may declare such an object as its argument.
    `schema` is that of the tool; None if no tool is known.
    """
    inner, declared = arguments.get("properties"), (schema or {}).get("properties") or {}
    if isinstance(inner, dict) and all(isinstance(one, dict) for one in inner.values()):
        # An unknown tool may have an argument of this name.
        return (schema is not None or "type" in arguments) and "properties" not in declared
    schemas = [key for key, one in arguments.items() if isinstance(one, dict) and _has_type(one)]
    if not schemas:
        return described and not arguments
    types = [admitted(member(schema, key, schema), schema) for key in schemas]
    if any("object" in admits and admits != ANY for admits in types):
        return False
    if described:
        return True
    whole = [key for key in schemas if isinstance(arguments[key].get("description"), str)]
    return 0 < len(whole) == len(arguments)


def _has_type(value: JsonObject) -> bool:
    """Whether an object says which type a value has."""
    kind = value.get("type")
    return isinstance(kind, str) and kind.lower() in HINTS


def forbidden_at(repairs: Iterable[Repair], level: Level) -> Note | None:
    """Return why `level` refuses a call with these repairs; None if it allows all repairs."""
    allowed = _RANK[level]
    for each in repairs:
        if _RANK[each.level] > allowed:  # type: ignore[index]  # a Repair's level is one of LEVELS
            reason = f"{each.code}: {each.message} (read at level {each.level!r})"
            own = "invalid-json" if each.code in REPAIRS else "mended"
            return Note(_REFUSED_AS.get(each.code, own), reason)
    return None


_REFUSED_AS = {
    "truncated": "truncated",
    "unclosed": "unclosed",
    "positional-arguments": "positional-arguments",
    "encoded-arguments": "invalid-arguments",
}
"""The code of the diagnosis, by that of the repair which is refused, where it is a code of its own.

Any other repair of a value is refused as "invalid-json", and one of a name or a frame as "mended".
"""


def _kind(value: object) -> str:
    names = {dict: "an object", list: "an array", str: "a text", bool: "true or false"}
    return "nothing" if value is None else names.get(type(value), "a number")


Objects: TypeAlias = dict[tuple[int, tuple[str, ...]], tuple[Read | Unreadable, int]]
"""A cache of the results and ends of objects, by their offset and the stops."""


def object_at(
    text: str, at: int, base: int, stops: tuple[str, ...], known: Objects | None
) -> tuple[Read | Unreadable, int]:
    """Read the object at index `at` of a complete text; return it and the index of its end.

    `base` is the offset of the text's first character in the whole text, and `known` a cache. Valid
    JSON is decoded at once, as no stop can change its end; other objects are read with repairs.
    """
    key = base + at, stops
    if known is not None and (before := known.get(key)):
        return before[0], before[1] - base
    sound = decode_at(text, at) if begins_soundly(text, at) else None
    if sound is not None:
        read: Read | Unreadable = Read(sound[0], (), sound[2])
        end = sound[1]
    else:
        window = Window(text, at, base, final=True)
        found = JsonReader(window, stops).advance()
        if found is None:
            raise AssertionError(f"a reader asked for more than all of {text[at : at + 60]!r}")
        read, end = found, window.pos
    if known is not None and len(known) < KEPT_OBJECTS:
        known[key] = read, base + end
    return read, end


_ENTITIES = {
    "&quot;": '"', "&#34;": '"', "&apos;": "'", "&#39;": "'", "&lt;": "<", "&gt;": ">",
    "&amp;": "&",
}  # fmt: skip
"""The character of each entity; `&amp;` is last, so that `&amp;lt;` becomes `&lt;`, not `<`."""

_PYTHON = {"None": "null", "True": "true", "False": "false"}


_SPELLINGS = {
    "text": "true", "json": "false", "string": "string str", "null": "null",
    "integer": "integer int", "number": "number float", "boolean": "boolean bool",
    "array": "array list tuple", "object": "object dict",
}  # fmt: skip
HINTS = {word: kind for kind, words in _SPELLINGS.items() for word in words.split()}
"""What each name of a type means, and whether a value is a string, as models write them."""


def typed(text: str, wanted: frozenset[str], kind: str | None) -> Read:
    """Return the value that the bare `text` of an argument means, with its repairs and notes.

    `wanted` are the types that its schema admits. `kind` is "text" or "json" if the format says
    which it is, or a type that counts where the schema has none. If the schema admits strings,
    `text` stays a string, unless it spells a value of another type that is admitted: 7,
    true, null, [1]. Without a schema, `text` is the JSON value that it spells, or else a string.
    Whether the value fits is decided with the whole call.
    """
    if kind == "text":
        return Read(text)
    wanted = ANY if kind == "json" else wanted
    wanted = frozenset({kind}) if wanted == ANY and kind in ANY else wanted
    if wanted == ANY:
        return _as_it_looks(text)
    if "string" in wanted:
        if len(wanted) == 1 or text != text.strip():
            return Read(text)
        looks = _as_it_looks(_PYTHON.get(text, text))
        return looks if kind_of(looks.value) in wanted else Read(text)
    for word in ("null", "boolean", "number", "integer"):
        if word in wanted and (value := of_text(text, word)) is not UNBENT:
            return Read(value)
    bare = text.strip()
    if "array" in wanted:
        bare = f"[{bare[1:-1]}]" if bare[:1] + bare[-1:] == "()" else bare
    if not wanted.isdisjoint(("array", "object")) and bare[:1] in ("{", "["):
        inner = read_json(bare)
        if isinstance(inner, Read):
            return inner
    return _as_it_looks(text)


def stays_text(schema: object, kind: str | None, root: object) -> bool:
    """Whether `typed` returns every text unchanged, as a string."""
    return kind == "text" or (kind is None and admitted(schema, root) == {"string"})


def _as_it_looks(text: str) -> Read:
    bare = text.strip()
    if not bare or bare[0] == '"':
        return Read(text)
    sound = scan(bare, 0)
    if not isinstance(sound, tuple) or sound[1] != len(bare):
        return Read(text)
    return Read(sound[0], (), sound[2])


def trimmed(text: str, word: Value) -> str:
    """Return a value's text without the white space and quotes that `word` allows around it."""
    if word.trim == "space":
        text = text.strip()
    elif word.trim != "no":
        end = line_end(text)
        inner = text.removeprefix(end).removesuffix(end)
        if word.trim == "newline" or len(text) - len(inner) == 2 * len(end):
            text = inner
    opener, closer = word.quotes
    if opener and text.startswith(opener) and text.endswith(closer):
        text = text[len(opener) : -len(closer)]
    return text


def line_end(text: str) -> str:
    """Return the newline that a value begins with, CRLF or LF; LF if it begins with none."""
    return "\r\n" if text.startswith("\r\n") else "\n"


def unescaped(key: str) -> str:
    """Replace the entities in a key; `&` and `"` are always written as entities, others may be."""
    for entity, char in _ENTITIES.items():
        key = key.replace(entity, char)
    return key


def escaped(key: str) -> str:
    """Replace `&` and `"` in a key by entities."""
    return key.replace("&", "&amp;").replace('"', "&quot;")


def as_json(value: JsonValue, what: str) -> str:
    """Return a value as JSON; raise `UsageError`, which names `what`, if that is impossible."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the value of {what!r} cannot be written as JSON: {error}") from None
