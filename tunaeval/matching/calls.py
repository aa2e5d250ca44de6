"""Expected calls against those got, in every mode, by the best assignment there is.

Modes, for expected calls and for expected tool names alike:

    exactly     these calls, in this order, and no other
    in_order    these calls in this order; others may stand before, between and after
    any_order   these calls in any order, and no other
    superset    these calls in any order; others may stand beside them
    subset      every call made is one of these, each used once, and at least one was made

`none`, `forbid` and `max_calls` hold beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from pydantic import ValidationError

from tunaeval.errors import UnknownNameError, UsageError
from tunaeval.types import ToolCall, Tools
from tunaeval.types.runs import Expectation

from .values import PROFILES, Failure, Profile, argument_failures, matcher_faults

Pairs: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the calls are those expected, and why.

    `pairs` says which expected call was met by which call made, as two indices.
    """

    ok: bool
    reason: str
    pairs: Pairs = ()
    failures: tuple[Failure, ...] = ()


@dataclass(frozen=True, slots=True)
class _Wish:
    """One expected call; `arguments` is None where only the name counts."""

    name: str
    arguments: Mapping[str, Any] | None


def match(
    expect: Expectation | Mapping[str, Any],
    calls: Sequence[ToolCall],
    *,
    profile: str = "strict",
    tools: Tools | None = None,
) -> Verdict:
    """Whether `calls` are what `expect` wants. Never raises on any calls.

    `tools` gives the schemas (defaults, number types) and the arguments that are paths.
    An unknown profile or an impossible expectation raises `UsageError`.
    """
    rule = PROFILES.get(profile)
    if rule is None:
        raise UnknownNameError("match profile", profile, PROFILES)
    if not isinstance(expect, Expectation):
        expect = _expectation(expect)
    pairs: Pairs = ()
    failures = [*_limit_failures(expect, calls)]
    wishes = _wishes(expect)
    if wishes:
        fits = _Fit(wishes, calls, tools or _NO_TOOLS, rule)
        pairs = _ASSIGNMENTS[expect.match](fits)
        if not _complete(expect.match, pairs, len(wishes), len(calls)):
            failures += _explained(fits, pairs, expect.match)
    if failures:
        return Verdict(False, _reason(failures), pairs, tuple(failures))
    return Verdict(True, _success(expect, pairs), pairs)


def check_expectation(expect: Expectation) -> None:
    """Raise ValueError when nothing could meet the expectation, or it says nothing."""
    for fault in (*_contradictions(expect), *_argument_faults(expect)):
        raise ValueError(fault)


def _contradictions(expect: Expectation) -> Iterator[str]:
    calls, tools, most = expect.calls, expect.tools, expect.max_calls
    given = [value for value in (calls, tools, expect.forbid or None, most) if value is not None]
    if expect.none and given:
        yield "none: true wants no call at all; nothing else can stand beside it"
    if not (expect.none or given):
        yield "nothing is expected; give calls, tools, none, forbid or max_calls"
    if calls is not None and tools is not None:
        yield "calls and tools exclude each other: tools is for names alone"
    if calls == () or tools == ():
        yield "an empty list of calls or tools; to want no call write none: true"
    if most is not None and most < 1:
        yield f"max_calls is {most}, wanted at least 1; to want no call write none: true"
    clash = sorted({wish.name for wish in _wishes(expect)} & set(expect.forbid))
    if clash:
        yield f"{', '.join(map(repr, clash))}: both expected and forbidden"


def _argument_faults(expect: Expectation) -> Iterator[str]:
    for index, call in enumerate(expect.calls or ()):
        where = f"calls[{index}].arguments"
        for name, value in call.arguments.items():
            yield from matcher_faults(value, f"{where}.{name}")
            if name.startswith("$"):
                yield f"{where}: {name!r} is no argument; a matcher stands in a value's place"


class _Fit:
    """Which call meets which wish, worked out once for each pair that is asked for."""

    __slots__ = ("_known", "calls", "rule", "tools", "wishes")

    def __init__(
        self, wishes: Sequence[_Wish], calls: Sequence[ToolCall], tools: Tools, rule: Profile
    ) -> None:
        self.wishes = wishes
        self.calls = calls
        self.tools = tools
        self.rule = rule
        self._known: dict[tuple[int, int], bool] = {}

    def __call__(self, wish: int, call: int) -> bool:
        key = (wish, call)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = next(self.failures(wish, call), None) is None
        return known

    def failures(self, wish: int, call: int) -> Iterator[Failure]:
        wanted, got = self.wishes[wish], self.calls[call]
        if wanted.name != got.name:
            yield Failure("wrong-tool", f"wanted {wanted.name!r}, got {got.name!r}", "name")
        elif wanted.arguments is not None:
            yield from argument_failures(
                wanted.arguments, got.arguments, spec=self.tools.get(got.name), profile=self.rule
            )


def _in_step(fit: _Fit) -> Pairs:
    both = range(min(len(fit.wishes), len(fit.calls)))
    return tuple((index, index) for index in both if fit(index, index))


def _in_order(fit: _Fit) -> Pairs:
    """The earliest call that fits is always a best choice."""
    pairs: list[tuple[int, int]] = []
    call = 0
    for wish in range(len(fit.wishes)):
        while call < len(fit.calls) and not fit(wish, call):
            call += 1
        if call == len(fit.calls):
            break
        pairs.append((wish, call))
        call += 1
    return tuple(pairs)


def _assigned(fit: _Fit) -> Pairs:
    """A maximum matching by augmenting paths (Kuhn), so no order of equal calls is luckier."""
    taken: dict[int, int] = {}

    def place(wish: int, tried: set[int]) -> bool:
        for call in range(len(fit.calls)):
            if call in tried or not fit(wish, call):
                continue
            tried.add(call)
            if call not in taken or place(taken[call], tried):
                taken[call] = wish
                return True
        return False

    for wish in range(len(fit.wishes)):
        place(wish, set())
    return tuple(sorted((wish, call) for call, wish in taken.items()))


_ASSIGNMENTS: Mapping[str, Callable[[_Fit], Pairs]] = {
    "exactly": _in_step,
    "in_order": _in_order,
    "any_order": _assigned,
    "superset": _assigned,
    "subset": _assigned,
}
_NO_OTHERS = frozenset({"exactly", "any_order", "subset"})
_NO_TOOLS = Tools()


def _complete(mode: str, pairs: Pairs, wishes: int, calls: int) -> bool:
    every_wish = len(pairs) == wishes or (mode == "subset" and calls > 0)
    every_call = len(pairs) == calls or mode not in _NO_OTHERS
    return every_wish and every_call


def _wishes(expect: Expectation) -> list[_Wish]:
    if expect.calls is not None:
        return [_Wish(call.name, call.arguments) for call in expect.calls]
    return [_Wish(name, None) for name in expect.tools or ()]


def _limit_failures(expect: Expectation, calls: Sequence[ToolCall]) -> Iterator[Failure]:
    if expect.none and calls:
        names = ", ".join(repr(call.name) for call in calls[:3])
        yield Failure("unexpected-call", f"wanted no call, got {names}", "calls[0]")
    if expect.max_calls is not None and len(calls) > expect.max_calls:
        message = f"wanted at most {expect.max_calls} calls, got {len(calls)}"
        yield Failure("too-many-calls", message, f"calls[{expect.max_calls}]")
    for index, call in enumerate(calls if expect.forbid else ()):
        if call.name in expect.forbid:
            yield Failure("forbidden-tool", f"{call.name!r} is forbidden", f"calls[{index}].name")


def _explained(fit: _Fit, pairs: Pairs, mode: str) -> Iterator[Failure]:
    """Why wishes and calls stayed alone, each beside the one it comes nearest to."""
    met = {wish for wish, _ in pairs}
    used = {call for _, call in pairs}
    spare = [call for call in range(len(fit.calls)) if call not in used]
    if mode != "subset" or not fit.calls:
        for wish, wanted in enumerate(fit.wishes):
            if wish in met:
                continue
            near = _nearest(fit, wish, spare, mode)
            if near is None:
                yield Failure("missing-call", f"no call of {wanted.name!r}", f"expected[{wish}]")
                continue
            spare.remove(near)
            for failure in fit.failures(wish, near):
                yield Failure(failure.code, failure.message, f"calls[{near}].{failure.path}")
            if fit(wish, near):
                yield Failure("wrong-order", f"{wanted.name!r} comes too early", f"calls[{near}]")
    if mode in _NO_OTHERS:
        for call in spare:
            name = fit.calls[call].name
            yield Failure("extra-call", f"nobody asked for the call of {name!r}", f"calls[{call}]")


def _nearest(fit: _Fit, wish: int, spare: Sequence[int], mode: str) -> int | None:
    if mode == "exactly":
        return wish if wish in spare else None
    same = [call for call in spare if fit.calls[call].name == fit.wishes[wish].name]
    if same:
        return min(same, key=lambda call: sum(1 for _ in fit.failures(wish, call)))
    alone = len(fit.wishes) == len(fit.calls) == 1
    return spare[0] if spare and alone else None


def _reason(failures: Sequence[Failure]) -> str:
    more = f"; and {len(failures) - 3} more" if len(failures) > 3 else ""
    return "; ".join(failure.message for failure in failures[:3]) + more


def _success(expect: Expectation, pairs: Pairs) -> str:
    if expect.none:
        return "no call, as wanted"
    if len(pairs) == 1:
        return "the expected call was made"
    return f"{len(pairs)} expected calls were made" if pairs else "within the limits"


def _expectation(data: Mapping[str, Any]) -> Expectation:
    try:
        expect = Expectation.model_validate(dict(data))
        check_expectation(expect)
    except ValidationError as error:
        faults = (f"{'.'.join(map(str, at['loc']))}: {at['msg']}" for at in error.errors())
        raise UsageError(f"this expectation cannot be used: {'; '.join(faults)}") from error
    except ValueError as error:
        raise UsageError(f"this expectation cannot be used: {error}") from error
    return expect
