"""Pair expected calls with the actual ones, argument by argument, by the run's own rules."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tunaeval.errors import TunaevalError
from tunaeval.files.records import decode, encode
from tunaeval.matching.calls import match
from tunaeval.types.calls import JsonObject, JsonValue, ToolCall, Tools
from tunaeval.types.runs import CallRecord, Expectation, ExpectedCall

from .secrets import COVER, hidden, hidden_shortened

SAME, DIFFERS, MISSING, EXTRA, UNASKED = "same", "differs", "missing", "extra", "unasked"


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument as expected and as received, None where it is absent.

    `state` is "same", "differs", "missing", "extra" (a fault), or "unasked": present, but not
    judged. `words` say what is wrong.
    """

    name: str
    wanted: str | None
    got: str | None
    state: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Pair:
    """An expected call and the received call nearest to it; either may be None."""

    wanted: str | None
    got: str | None
    state: str
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True, slots=True)
class Rules:
    """The profile and tools by which a run compares calls."""

    profile: str
    tools: Tools


def side_by_side(
    expected: Expectation, got: Sequence[CallRecord], rules: Rules
) -> tuple[Pair, ...]:
    """Return each expected call with its partner, then the calls without one."""
    wanted = list(expected.calls or ())
    names = [ExpectedCall.model_construct(name=name, arguments={}) for name in expected.tools or ()]
    calls = [ToolCall(call.name, call.arguments, call.id, call.format) for call in got]
    partner = _partners(wanted or names, calls)
    pairs = [
        _pair(one, None if at is None else calls[at], rules, named_only=not wanted)
        for one, at in zip(wanted or names, partner, strict=True)
    ]
    open_to_others = not (wanted or names) and not expected.none
    left = (call for index, call in enumerate(calls) if index not in partner)
    state = UNASKED if open_to_others or expected.match in _WITH_OTHERS else EXTRA
    return (*pairs, *(Pair(None, call.name, state, tuple(_all_of(call))) for call in left))


_WITH_OTHERS = ("in_order", "superset")


def _partners(wanted: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> list[int | None]:
    """Return each expected call's partner: one of the same name if possible, else one left over."""
    free = dict.fromkeys(range(len(calls)))
    found: list[int | None] = []
    for one in wanted:
        same = [index for index in free if calls[index].name == one.name]
        equal = [index for index in same if calls[index].arguments == one.arguments]
        chosen = next(iter(equal or same), None)
        found.append(chosen)
        if chosen is not None:
            del free[chosen]
    left = iter(list(free))
    return [next(left, None) if index is None else index for index in found]


def _pair(wanted: ExpectedCall, got: ToolCall | None, rules: Rules, *, named_only: bool) -> Pair:
    if got is None:
        rows = tuple(
            Argument(name, words_of(value), None, MISSING)
            for name, value in wanted.arguments.items()
        )
        return Pair(wanted.name, None, MISSING, rows)
    if wanted.name != got.name:
        rows = tuple(_unjudged(wanted.arguments, got.arguments))
        return Pair(wanted.name, got.name, DIFFERS, rows)
    if named_only:
        return Pair(wanted.name, got.name, SAME, tuple(_all_of(got)))
    faults = _faults(wanted, got, rules)
    rows = tuple(_judged(wanted.arguments, got.arguments, faults))
    return Pair(wanted.name, got.name, SAME if not faults else DIFFERS, rows)


def _faults(wanted: ExpectedCall, got: ToolCall, rules: Rules) -> dict[str, str]:
    """Return a message for each faulty argument; the key "" has a fault of the whole call."""
    alone = Expectation.model_construct(calls=(wanted,))
    try:
        verdict = match(alone, [got], profile=rules.profile, tools=rules.tools)
    except TunaevalError as error:  # an old run may have what this version refuses
        return {"": str(error)}
    found: dict[str, str] = {}
    for failure in verdict.failures:
        _, _, rest = failure.path.partition("arguments.")
        known = [name for name in (*wanted.arguments, *got.arguments) if _reaches(rest, name)]
        found.setdefault(max(known, key=len, default=""), failure.message)
    return found


def _reaches(path: str, name: str) -> bool:
    return path == name or path.startswith((f"{name}.", f"{name}["))


def _judged(wanted: JsonObject, got: JsonObject, faults: dict[str, str]) -> Iterator[Argument]:
    for name in dict.fromkeys((*wanted, *got)):
        words, state = faults.get(name, ""), SAME
        if name not in got:
            state = MISSING if words else SAME
        elif name not in wanted:
            state = EXTRA if words else UNASKED
        elif words:
            state = DIFFERS
        shown = _shown(wanted, name), _shown(got, name)
        is_secret = any(COVER in value for value in shown if value)
        yield Argument(name, *shown, state, hidden_shortened(words) if is_secret else words)
    if "" in faults:
        yield Argument("", None, None, DIFFERS, faults[""])


def _unjudged(wanted: JsonObject, got: JsonObject) -> Iterator[Argument]:
    """Yield the arguments of calls to different tools, which are shown without a judgement."""
    for name in dict.fromkeys((*wanted, *got)):
        yield Argument(name, _shown(wanted, name), _shown(got, name), UNASKED)


def _all_of(call: ToolCall) -> Iterator[Argument]:
    for name, value in call.arguments.items():
        yield Argument(name, None, words_of(value), UNASKED)


def _shown(arguments: JsonObject, name: str) -> str | None:
    return words_of(arguments[name]) if name in arguments else None


def words_of(value: JsonValue) -> str:
    """Return a value as readable JSON, encoded as in a run's files where JSON has no such value."""
    return hidden(json.dumps(decode(encode({"": value}))[""], ensure_ascii=False))
