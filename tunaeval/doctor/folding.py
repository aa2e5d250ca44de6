"""Assemble the call fragments of a stream: by index, as most clients do, and by id.

A server is right if both give the same calls, each with one index, one id and one name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tunaeval.showing import counted
from tunaeval.types.calls import JsonObject, JsonValue

from .values import ApiCall

Fault = tuple[str, str]


class _Growing:
    """A call under assembly."""

    def __init__(self) -> None:
        self.name: JsonValue = None
        self.id: JsonValue = None
        self.type: JsonValue = None
        self.texts: list[str] = []
        self.value: JsonValue = None

    def take(self, fragment: JsonObject) -> None:
        function = fragment.get("function")
        function = function if isinstance(function, dict) else {}
        self.id = self.id or fragment.get("id")
        self.type = self.type or fragment.get("type")
        self.name = self.name or function.get("name")
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            self.texts.append(arguments)
        elif arguments is not None:
            self.value = arguments

    def whole(self) -> ApiCall:
        text = "".join(self.texts)
        arguments = self.value if self.value is not None and not text else text
        return ApiCall(self.name, arguments, self.id, self.type)


def fold(deltas: Sequence[JsonObject]) -> tuple[tuple[ApiCall, ...], tuple[Fault, ...]]:
    """Return the calls of a stream's deltas, and what is wrong with their fragments.

    Where index and id disagree, the calls are those by id, or by index if two calls share an id:
    the fault is then reported once, for the fragments, and not again for each value.
    """
    fragments = [fragment for delta in deltas for fragment in fragments_of(delta)]
    by_index, by_id = _by_index(fragments), _by_id(fragments)
    faults = [*_faults(fragments)]
    if [_plain(call) for call in by_index] == [_plain(call) for call in by_id]:
        return tuple(by_index), tuple(faults)
    if any(code.startswith("index") for code, _ in faults):
        return tuple(by_id), tuple(faults)
    if any(code == "id-shared" for code, _ in faults):
        return tuple(by_index), tuple(faults)
    words = "by index the calls are others than by id"
    if len(by_index) != len(by_id):
        words = f"the stream has {counted(len(by_index), 'call')} by index, {len(by_id)} by id"
    return tuple(by_id), (*faults, ("index-and-id", words))


def fragments_of(delta: JsonObject) -> Iterator[JsonObject]:
    listed = delta.get("tool_calls")
    for fragment in listed if isinstance(listed, list) else ():
        if isinstance(fragment, dict):
            yield fragment


def _plain(call: ApiCall) -> tuple[JsonValue, JsonValue]:
    return call.name, call.arguments


def _by_index(fragments: Sequence[JsonObject]) -> list[ApiCall]:
    calls: dict[object, _Growing] = {}
    for fragment in fragments:
        index = fragment.get("index")
        key = index if isinstance(index, int) else 0
        calls.setdefault(key, _Growing()).take(fragment)
    return [call.whole() for call in calls.values()]


def _by_id(fragments: Sequence[JsonObject]) -> list[ApiCall]:
    """Assemble calls by id: a new id with a name starts one, or a name alone if no ids are sent."""
    calls: list[_Growing] = []
    known: dict[object, _Growing] = {}
    have_ids = any(fragment.get("id") for fragment in fragments)
    for fragment in fragments:
        id_, name = fragment.get("id"), _name(fragment)
        call = known.get(id_) if isinstance(id_, str) and id_ else None
        begins = bool(name) and (bool(id_) if have_ids else not _goes_on(calls, fragment))
        if call is None and (begins or not calls):
            call = _Growing()
            calls.append(call)
        call = call or calls[-1]
        call.take(fragment)
        if isinstance(id_, str) and id_:
            known[id_] = call
    return [call.whole() for call in calls]


def _goes_on(calls: Sequence[_Growing], fragment: JsonObject) -> bool:
    """Whether a name repeats that of the unfinished call before, in a stream without ids."""
    return bool(calls) and calls[-1].name == _name(fragment) and calls[-1].whole().object is None


def _has_null(fragment: JsonObject) -> bool:
    function = fragment.get("function")
    named = isinstance(function, dict) and "name" in function and function["name"] is None
    return named or ("id" in fragment and fragment["id"] is None)


def _name(fragment: JsonObject) -> JsonValue:
    function = fragment.get("function")
    return function.get("name") if isinstance(function, dict) else None


def _faults(fragments: Sequence[JsonObject]) -> Iterator[Fault]:
    """Yield what is wrong with indices, ids and names, each kind once."""
    reported: set[str] = set()
    names: dict[object, JsonValue] = {}
    ids: dict[object, JsonValue] = {}
    for fragment in fragments:
        for code, words in (*_type_fault(fragment), *_faults_of(fragment, names, ids)):
            if code not in reported:
                reported.add(code)
                yield code, words
    for index in names:
        if not ids.get(index) and "id-missing" not in reported:
            reported.add("id-missing")
            yield "id-missing", f"call {index} never gets an id"


def _type_fault(fragment: JsonObject) -> Iterator[Fault]:
    if fragment.get("type") not in (None, "", "function"):
        yield "type-other", f"a call's type is {fragment['type']!r}"


def _faults_of(
    fragment: JsonObject, names: dict[object, JsonValue], ids: dict[object, JsonValue]
) -> Iterator[Fault]:
    index, id_, name = fragment.get("index"), fragment.get("id"), _name(fragment)
    if not isinstance(index, int) or isinstance(index, bool):
        yield "index-missing", f"a fragment's index is {index!r}"
        return
    if name and index in names:
        if id_ and ids.get(index) not in (None, id_):
            yield "index-shared", f"index {index} is that of two calls, {ids[index]!r} and {id_!r}"
        else:
            yield "name-again", f"the name {name!r} comes again at index {index}"
    elif name and id_ and any(known == id_ for at, known in ids.items() if at != index):
        yield "id-shared", f"two calls have one id: {id_!r} comes again at index {index}"
    elif id_ and index in ids and index in names:
        yield "id-again", f"an id comes again at index {index}: {ids[index]!r}, then {id_!r}"
    elif index in names and "" in (id_, name):
        yield "id-empty", f"a later fragment at index {index} has an empty id or name"
    elif index in names and _has_null(fragment):
        yield "id-null", f"a later fragment at index {index} has an id or name that is null"
    if id_ and index not in ids:
        ids[index] = id_
    if name and index not in names:
        names[index] = name
