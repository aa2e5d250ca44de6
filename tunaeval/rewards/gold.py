"""The calls that a row of a data set wants of a model (the "gold"), given in any of these shapes:

    None, []                                                no call
    {"name": "f", "arguments": {...}}, or a list of these   flat; xLAM's `answers` are such a list
    {"function": {"name": "f", "arguments": "{...}"}}       OpenAI's tool_calls, and a message of it
    {"role": "assistant", "content": "..."}                 a message whose text is read, strictly
    {"calls": [...], "match": "exactly"}, {"none": true}    an expectation of tunaeval
    ToolCall, or a list of these; a result of `tunaeval.parse`

Each shape may also be given as JSON text, and so may the arguments in it. A gold that no reply can
meet is refused, and so is what may be a mistake: a call without arguments that has an unknown key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, NamedTuple, TypeAlias

import orjson

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.matching.matchers import matcher_faults
from tunaeval.parsing.api import parse
from tunaeval.parsing.repair.machine import read_json
from tunaeval.parsing.repair.schema import admitted
from tunaeval.parsing.repair.values import Note, Read, Unreadable
from tunaeval.showing import brief
from tunaeval.tools.specs import ToolLike, to_tools
from tunaeval.types.calls import ARGUMENTS_KEYS, NAME_KEYS, JsonObject, JsonValue, ToolCall, Tools
from tunaeval.types.exchange import text_of
from tunaeval.types.parsing import ParseResult
from tunaeval.types.wanted import refusal, wanted_name
from tunaeval.wire.chat import foreign_calls

GoldMatch: TypeAlias = Literal["any_order", "exactly", "in_order", "superset"]

MATCHES: tuple[GoldMatch, ...] = ("any_order", "exactly", "in_order", "superset")

AnyTools: TypeAlias = Tools | Sequence[ToolLike] | str | None


class Wanted(NamedTuple):
    """A call that the gold wants; `canonical` is its arguments as JSON with sorted keys, or None if
    orjson cannot write them.
    """

    name: str
    arguments: JsonObject
    canonical: bytes | None

    def is_met_by(self, call: ToolCall) -> bool:
        """Whether the call is exactly this one; False also if a fast test cannot decide."""
        if call.name != self.name or self.canonical is None or call.arguments != self.arguments:
            return False
        return _canonical(call.arguments) == self.canonical


@dataclass(frozen=True, slots=True)
class Gold:
    """The calls that are wanted of a completion, compiled once for many completions.

    A gold is hashable by `key`, the same in every process. `match` is "any_order" (these calls
    and no other), "exactly" (in this order), "in_order", or "superset" (both allow other calls).

    Examples:
        >>> Gold.of('[{"name": "ls", "arguments": {"path": "."}}]').calls[0].name
        'ls'
        >>> Gold.of("[]").wants_none
        True
    """

    key: bytes
    """Distinguishes this gold from others."""
    calls: tuple[Wanted, ...] = field(compare=False)
    tools: Tools | None = field(compare=False, repr=False)
    literal: bool = field(compare=False)
    match: GoldMatch = field(compare=False)

    @classmethod
    def of(
        cls,
        gold: object,
        tools: AnyTools = None,
        *,
        literal: bool = True,
        match: GoldMatch = "any_order",
    ) -> Gold:
        """Compile the gold of a row in a data set; a `Gold` is returned unchanged.

        Completions are read with `tools`, whose schemas also show which nulls Arrow has added to
        the gold: nulls that the schema forbids or does not declare are dropped. With `literal` an
        object with a `$` key is data; without, it is a matcher (`{"$any_of": [...]}`). The gold's
        own `match` counts before that of the caller. Raises `UsageError` for an invalid gold, with
        its place, and `ToolsError` for the tools.
        """
        if isinstance(gold, Gold):
            return gold
        value, known = _decoded(gold, "gold"), tools_of(tools)
        if isinstance(value, Mapping) and "calls" in value:
            match = value.get("match") or match
        wanted_name(match, "match", MATCHES)
        calls = tuple(_wanted(*call, known, literal=literal) for call in _calls(value, known))
        return cls(_key(calls, known, literal, match), calls, known, literal, match)

    def with_tools(self, tools: AnyTools) -> Gold:
        """Return a gold with the same calls and these tools; itself if they are None or the same.

        Raises `ToolsError` for tools that cannot be understood.
        """
        known = tools_of(tools)
        if known is None or known is self.tools:
            return self
        key = _key(self.calls, known, self.literal, self.match)
        return replace(self, key=key, tools=known)

    @property
    def wants_none(self) -> bool:
        """Whether no call is wanted."""
        return not self.calls

    @property
    def size(self) -> int:
        """1, plus one for each call and each argument: S in ToolRL's formula."""
        return 1 + len(self.calls) + sum(len(wanted.arguments) for wanted in self.calls)

    def is_met_by(self, calls: Sequence[ToolCall]) -> bool:
        """Whether the calls are exactly these, in order; False if a fast test cannot decide."""
        if len(calls) != len(self.calls):
            return False
        for call, wanted in zip(calls, self.calls, strict=True):  # noqa: SIM110 - as below
            if not wanted.is_met_by(call):
                return False
        return True


def tools_of(tools: AnyTools) -> Tools | None:
    """Return the tools of a row: a list, its JSON text, or None. Equal texts are read once."""
    if tools is None or type(tools) is Tools:
        return tools
    if isinstance(tools, str):
        return _tools_of_text(tools)
    text = _canonical(tools)
    return to_tools(tools) if text is None else _tools_of_text(text.decode())


@lru_cache(maxsize=512)
def _tools_of_text(text: str) -> Tools | None:
    if text.strip() in {"", "null", "[]"}:
        return None
    return to_tools(text)


def _key(calls: Sequence[Wanted], tools: Tools | None, literal: bool, match: GoldMatch) -> bytes:
    key = (calls, [spec.as_bare() for spec in (tools or {}).values()], literal, match)
    try:
        return _canonical(key) or repr(key).encode("utf-8", "backslashreplace")
    except RecursionError as error:
        raise UsageError("the gold or its tools are nested too deeply to be compared") from error


def _canonical(value: object) -> bytes | None:
    """Return JSON with sorted keys, in which True, 1 and 1.0 differ, or None if orjson refuses."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError):  # a lone surrogate, an integer beyond 64 bits, another object
        return None


# --- the shapes ----------------------------------------------------------------------------------


_WANTED = 'calls such as [{"name": "ls", "arguments": {}}], their JSON (decode bytes), [] for none'


def _decoded(value: object, where: str, wanted: str = _WANTED) -> Any:
    """Return the value of JSON text, even if it was encoded twice; keep all other values."""
    for _ in range(2):
        if isinstance(value, str):
            read = read_json(value)
            if isinstance(read, Unreadable):
                read = Read(None, notes=(Note(read.code, read.message),))
            for note in read.repairs + read.notes:
                if note.code not in {"nul", "lone-surrogate"}:
                    fault = f"which is no sound JSON ({note.message.partition(';')[0]})"
                    raise UsageError(f"{where} is {brief(value)}, {fault}; wanted {wanted}")
            value = read.value
    return value


def _calls(gold: Any, tools: Tools | None) -> Iterator[tuple[str, JsonValue, str]]:
    """Yield the name, the arguments and the place ("gold[0]") of each call in a gold."""
    if isinstance(gold, Mapping):
        gold = _listed_calls(gold, tools)
    if isinstance(gold, ParseResult):
        for note in gold.diagnoses:
            if note.is_attempt:
                raise UsageError(f"gold has a call in its text that cannot be read: {note.message}")
        gold = gold.calls
    elif isinstance(gold, ToolCall) or gold is None:
        gold = [gold] if gold else []
    if isinstance(gold, str | bytes | bytearray) or not isinstance(gold, Sequence):
        if not (hasattr(gold, "tolist") and hasattr(gold, "__len__")):
            raise refusal("gold", gold, _WANTED)
        gold = list(gold)
    for index, item in enumerate(gold):
        yield _gold_call(_decoded(item, f"gold[{index}]"), f"gold[{index}]")


def _listed_calls(gold: Mapping[str, Any], tools: Tools | None) -> Any:
    if gold.get("none") is True and len(gold) == 1:
        return []
    for key in ("calls", "tool_calls", "answers"):
        inner = _decoded(gold.get(key), f"gold.{key}")
        if isinstance(inner, list | tuple) and (inner or "role" not in gold):
            return inner
    content = gold.get("content")
    if "role" in gold and not (gold.get("function_call") or foreign_calls(content)):
        return parse(text_of(content), tools=tools, level="strict")
    return [gold.get("function_call") or gold]


def _gold_call(item: Any, where: str) -> tuple[str, JsonValue, str]:
    if isinstance(item, ToolCall):
        return item.name, item.arguments, where
    outer = item if isinstance(item, Mapping) else _fields(item)
    inner = outer.get("function")
    source = inner if isinstance(inner, Mapping) else _fields(inner) or outer
    name = next((source[key] for key in NAME_KEYS if isinstance(source.get(key), str)), None)
    if not name:
        raise UsageError(f"{where} is {brief(item)}, which has no name; wanted {_WANTED}")
    fields = {**outer, **source}
    given = [fields[key] for key in ARGUMENTS_KEYS if key in fields]
    for key in fields if not given else ():
        if fields[key] is not None and key not in MARKS and key not in NAME_KEYS:
            fault = UnknownNameError("key for them", key, ARGUMENTS_KEYS)
            raise UsageError(f"{where} has no arguments: {fault}")
    return name, given[0] if given else None, where


MARKS = frozenset({"id", "call_id", "tool_call_id", "type", "index", "format"})  # beside a call


def _fields(thing: object) -> Mapping[str, Any]:
    """Return the fields of a call that is an object of an API's client, and no mapping."""
    keys = ("function", "name", "arguments")
    return {key: getattr(thing, key) for key in keys if hasattr(thing, key)}


# --- one call ------------------------------------------------------------------------------------


def _wanted(
    name: str, arguments: JsonValue, where: str, tools: Tools | None, *, literal: bool
) -> Wanted:
    place, wanted = f"{where}.arguments", "an object, or JSON text of it"
    found = _decoded(None if arguments == "" else arguments, place, wanted)
    if found is None or found == []:
        found = {}
    if not isinstance(found, Mapping):
        raise refusal(place, found, wanted)
    try:
        found = json.loads(json.dumps(dict(found), allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        fault = f"which no call can have ({error})"
        raise UsageError(f"{place} is {brief(found)}, {fault}; wanted {wanted}") from error
    spec = tools.get(name) if tools is not None else None
    kept: JsonObject = found if spec is None else _kept(found, spec.parameters, spec.parameters)
    if not literal:
        for fault in matcher_faults(kept, place):
            raise UsageError(fault)
    return Wanted(name, kept, _canonical(kept) if literal else None)


def _kept(value: Mapping[str, JsonValue], schema: Any, root: object) -> JsonObject:
    """Return arguments without the nulls that the schema forbids, at any depth."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not properties:
        return dict(value)
    made: JsonObject = {}
    for key, inner in value.items():
        declared = properties.get(key)
        if inner is None and (key not in properties or not _admits_null(declared, root)):
            continue
        made[key] = _inside(inner, declared, root)
    return made


def _inside(value: JsonValue, schema: Any, root: object) -> JsonValue:
    if isinstance(value, Mapping):
        return _kept(value, schema, root)
    if isinstance(value, list) and isinstance(schema, Mapping):
        return [_inside(item, schema.get("items"), root) for item in value]
    return value


def _admits_null(schema: Any, root: object) -> bool:
    nullable = isinstance(schema, Mapping) and schema.get("nullable") is True
    return nullable or "null" in admitted(schema, root)
