"""`expect`: the calls that a test wants, to be compared by `==`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from tunaeval.errors import ExpectationError
from tunaeval.matching.assignment import NO_OTHERS, Wish
from tunaeval.matching.calls import (
    Nearest,
    Verdict,
    check_wishes,
    match_wishes,
    nearest,
    without_calls,
)
from tunaeval.showing import brief, counted, short_call, shown, visible
from tunaeval.tools.specs import ToolLike, to_tools
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.parsing import ParseResult
from tunaeval.types.runs import MatchMode

from .verdicts import read_calls

Wanted: TypeAlias = str | ToolCall | Mapping[str, Any]
"""A tool's name, a call, or `{"name": ..., "arguments": {...}}` whose arguments may be matchers."""


def expect(
    *names_or_calls: Wanted,
    match: MatchMode = "exactly",
    forbid: Sequence[str] = (),
    profile: str | None = None,
    tools: Tools | Iterable[ToolLike] | None = None,
) -> Expected:
    """Return the calls that are wanted, to be compared by `==` with calls, a message, or an
    endpoint's `.calls`.

        assert model.calls == expect("read_file", ToolCall("bash", {"command": "pytest -q"}))
        assert message == expect()                              # no call
        assert model.calls == expect(forbid=["bash"])           # anything but that

    Args:
        names_or_calls: A name wants a call of that tool with any arguments; a call wants its
            arguments, which may be matchers.
        match: As in an expectation: "exactly", "in_order", "any_order", "superset" or "subset".
        forbid: Names of tools that must not be called.
        profile: As in `tunaeval.match`.
        tools: As in `tunaeval.match`.

    Raises ExpectationError for an impossible expectation, UnknownNameError for an unknown profile.
    The comparison raises UsageError for a value that cannot be read as calls.

    Examples:
        >>> calls = [tunaeval.ToolCall("read_file", {"path": "a.py"})]
        >>> assert calls == tunaeval.expect("read_file")
        >>> assert calls != tunaeval.expect(forbid=["read_file"])
    """
    wishes = tuple(_wish(one, index) for index, one in enumerate(names_or_calls))
    known = to_tools(tools)
    check_wishes(wishes, match, forbid, profile, known)
    return Expected(wishes, match, tuple(forbid), profile, known)


class Expected:
    """Wanted calls, made by `expect`. `explain` says why calls differ from them."""

    __hash__ = None  # type: ignore[assignment] # it equals calls that differ from each other

    def __init__(
        self,
        wishes: tuple[Wish, ...],
        match: MatchMode,
        forbid: tuple[str, ...],
        profile: str | None,
        tools: Tools | None,
    ) -> None:
        self.wishes, self.match, self.forbid = wishes, match, forbid
        self._profile, self._tools = profile, tools

    def __eq__(self, calls: object) -> bool:
        return self is calls or self.verdict(calls).ok

    @property
    def is_whole(self) -> bool:
        """Whether calls other than the wanted ones are an error."""
        return self.match in NO_OTHERS if self.wishes else not self.forbid

    def __repr__(self) -> str:
        parts = [_shown_wish(wish) for wish in self.wishes]
        parts += [f"match={self.match!r}"] if self.match != "exactly" else []
        parts += [f"forbid={list(self.forbid)!r}"] if self.forbid else []
        return f"expect({', '.join(parts)})"

    def verdict(self, calls: object) -> Verdict:
        """Return whether these calls are the wanted ones, with the reason if not."""
        read = self.read(calls)
        judged = partial(match_wishes, profile=self._profile, tools=self._tools)
        verdict = judged(self.wishes, read.calls, mode=self.match, forbid=self.forbid)
        return verdict if read.calls else without_calls(verdict, read.outcome)

    def read(self, calls: object) -> ParseResult:
        """Return the value as a ParseResult. Raise UsageError if it cannot be read as calls."""
        return read_calls(calls, self._tools)

    def nearest(self, made: Sequence[ToolCall], verdict: Verdict) -> dict[int, Nearest]:
        """Return, by the index of each wanted call that was not made, the most similar call."""
        return nearest(self.wishes, made, verdict.pairs, profile=self._profile, tools=self._tools)

    def explain(self, calls: object) -> list[str]:
        """Return what is wrong, as lines: each wanted call beside the most similar call that was
        made, with its turn and its differing arguments.
        """
        verdict = self.verdict(calls)
        if verdict.ok:
            return [verdict.reason]
        made = self.read(calls).calls
        turns = getattr(calls, "turns", None)
        turn_of = list(turns) if turns is not None and len(turns) == len(made) else None
        return [*map(visible, _Explained(self, verdict, made, turn_of).lines())]


class _Explained:
    def __init__(
        self,
        expected: Expected,
        verdict: Verdict,
        made: Sequence[ToolCall],
        turns: Sequence[int] | None,
    ) -> None:
        self._expected, self._verdict, self._made, self._turns = expected, verdict, made, turns
        self._near = expected.nearest(made, verdict)

    def lines(self) -> Iterator[str]:
        count = len(self._made)
        order = "" if self._expected.match == "exactly" else f" ({self._expected.match})"
        calls = f"{counted(count, 'call')} {'was' if count == 1 else 'were'} made"
        yield f"{calls}, and not those expected{order}: {self._verdict.reason}"
        met = dict(self._verdict.pairs)
        for wish, (name, arguments) in enumerate(self._expected.wishes):
            yield f"{' ' if wish in met else '-'} expected {_call(name, arguments)}"
            if wish in met:
                yield f"    made: {self._place(met[wish])}"
            elif wish in self._near:
                yield from self._unlike(wish, self._near[wish])
            else:
                yield "    no call comes near it"
        yield from self._others({*met.values(), *(one.call for one in self._near.values())})

    def _unlike(self, wish: int, near: Nearest) -> Iterator[str]:
        got = self._made[near.call]
        yield f"    nearest: {self._place(near.call)} {_call(got.name, got.arguments)}"
        if not near.failures:
            yield "    it is the same, but in another place"
        (name, arguments), wrong = self._expected.wishes[wish], {}
        for failure in near.failures:
            argument = failure.path.removeprefix("arguments.")
            if argument == failure.path or name != got.name:
                yield f"    {failure.message}"
            wrong[argument] = failure.message
        if name == got.name and arguments is not None:
            for key in dict.fromkeys((*arguments, *got.arguments)):
                same = f"{key}={shown(got.arguments.get(key))}, as wanted"
                yield f"    {wrong.get(key, same)}"

    def _others(self, known: set[int]) -> Iterator[str]:
        for index, call in enumerate(self._made):
            if call.name in self._expected.forbid:
                yield f"! forbidden: {self._place(index)} {_call(call.name, call.arguments)}"
            elif index not in known:
                word = "+ extra" if self._expected.is_whole else "  also"
                yield f"{word}: {self._place(index)} {_call(call.name, call.arguments)}"

    def _place(self, call: int) -> str:
        return f"calls[{call}]" + (f" at turn {self._turns[call]}" if self._turns else "")


def _wish(one: object, index: int) -> Wish:
    match one:
        case str() if one:
            return one, None
        case ToolCall():
            return one.name, one.arguments
        case {"name": str(name), **rest} if rest.keys() <= {"arguments"}:
            arguments = rest.get("arguments")
            if arguments is None or isinstance(arguments, Mapping):
                return name, arguments
    raise ExpectationError(
        f"expect(): item {index} is {brief(one)}; wanted the name of a tool, a ToolCall, or "
        '{"name": ..., "arguments": {...}}'
    )


def _call(name: str, arguments: Mapping[str, Any] | None) -> str:
    if arguments is None:
        return f"{name}(...)"
    return short_call(name, arguments)


def _shown_wish(wish: Wish) -> str:
    name, arguments = wish
    return repr(name) if arguments is None else f"ToolCall({name!r}, {dict(arguments)!r})"
