"""`match` and `expect`: compare calls, in any usual shape, with those that are wanted.

A call in a shape that is not read would count as no call at all, so unknown shapes raise an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias

from tunaeval.errors import ExpectationError, UsageError
from tunaeval.parsing.api import parse_message
from tunaeval.parsing.message import lost_calls
from tunaeval.showing import brief, counted, short_call, visible
from tunaeval.tools.specs import ToolLike, to_tools
from tunaeval.tools.success import Success
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.messages import OTHER_ROLES
from tunaeval.types.parsing import Diagnosis, ParseResult, outcome_of
from tunaeval.types.runs import Expectation, ExpectedCall, MatchMode
from tunaeval.types.wanted import refusal

from .assignment import NO_OTHERS, Wish
from .calls import (
    Nearest,
    Verdict,
    check_wishes,
    match_wishes,
    nearest,
    without_calls,
)
from .calls import match as match_calls
from .expectations import read_forbidden

Calls: TypeAlias = ParseResult | ToolCall | Mapping[str, Any] | Sequence[ToolCall | Any] | object
"""A parse's result, calls, a server's `tool_calls` (dictionaries or objects), or a message."""

_WANTED = (
    "wanted a ParseResult, a list of ToolCalls, a list of OpenAI-style tool_calls, or a message "
    "(a dict or an object with content and tool_calls)"
)


def match(
    expect: Expectation | Mapping[str, Any],
    calls: Calls,
    *,
    profile: str | None = None,
    tools: Tools | Iterable[ToolLike] | None = None,
) -> Verdict:
    """Whether `calls` are what `expect` wants; the verdict is true if they are.

        assert tunaeval.match({"calls": [{"name": "ls"}]}, tunaeval.parse(text))
        assert tunaeval.match(expect, response.choices[0].message)

    Args:
        expect: An `Expectation`, or a dictionary that is read as one.
        calls: What `tunaeval.parse` returns, a list of `ToolCall`s, an OpenAI-style message, or its
            `tool_calls` (dictionaries or the SDK's objects). A message is read by `parse_message`;
            one whose call is malformed or cut off does not count as making no call.
        profile: The rules for comparing arguments; "strict" if None. The verdict has its name.
        tools: Their schemas give defaults, number types and arguments that are paths. To match
            often, pass `Tools`, and an `Expectation` that was read once.

    Never raises on what a model wrote. Raises UnknownNameError for an unknown profile,
    ExpectationError for an impossible expectation, ToolsError for tools that cannot be understood,
    and UsageError for what cannot be read as a model's reply, such as another role's message or
    another API's blocks.

    Examples:
        >>> calls = [tunaeval.ToolCall("ls", {"path": "."})]
        >>> bool(tunaeval.match({"calls": [{"name": "ls", "arguments": {"path": "."}}]}, calls))
        True
    """
    known = to_tools(tools)
    read = read_calls(calls, known)
    lost = _lost_in(calls, read, known)
    verdict = match_calls(expect, read.calls, profile=profile, tools=known, lost=lost)
    if not read.calls:
        verdict = without_calls(verdict, read.outcome)
    return verdict if verdict.ok else _explained(verdict, read.diagnoses)


def read_calls(calls: Calls, tools: Tools | None) -> ParseResult:
    """Return the calls as a ParseResult. Raises UsageError if they cannot be read as calls."""
    given = _given(calls)
    return given if isinstance(given, ParseResult) else parse_message(given, tools=tools)


def _lost_in(calls: Calls, read: ParseResult, tools: Tools | None) -> Sequence[ToolCall]:
    """Return the attempts at calls, in what `read` was read from, that cannot be read."""
    if (lost := getattr(calls, "lost", None)) is not None:  # an endpoint's
        return tuple(lost)
    if not read.diagnoses:
        return ()
    given = _given(calls)
    return lost_calls(given, parse_message(given, tools=tools), tools)


def _given(calls: Calls) -> object:
    """Return calls as a ParseResult, or as a message that is to be read."""
    match calls:
        case ParseResult():
            return calls
        case ToolCall():
            return _listed([calls])
        case None | str() | bytes():
            raise UsageError(
                f"calls is {brief(calls)}; {_WANTED}; a text is parsed first: "
                "tunaeval.match(expect, tunaeval.parse(text))"
            )
        case Mapping() if _is_call(calls):
            return {"tool_calls": [calls]}
        case Mapping():
            return _message(calls)
        case Iterable() if not (hasattr(calls, "role") or hasattr(calls, "content")):
            return _listed(list(calls), getattr(calls, "lost", ()))
    return _message(calls)


def _listed(items: list[Any], lost: Sequence[ToolCall] = ()) -> object:
    """Return a list of `ToolCall`s as a result, and a server's calls as a message."""
    if all(isinstance(item, ToolCall) for item in items):
        for index, item in enumerate(items):
            _check_call(item, f"calls[{index}]")
        return ParseResult(tuple(items), outcome=outcome_of(items, attempted=bool(lost)))
    for index, item in enumerate(items):
        if isinstance(item, ToolCall) or not (_is_call(item)):
            raise UsageError(f"calls[{index}] is {brief(item)}; {_WANTED}")
    return {"tool_calls": items}


def _check_call(call: ToolCall, where: str) -> None:
    """Raise UsageError for a call made in code whose arguments are still JSON text."""
    if not isinstance(call.name, str):
        raise refusal(f"{where}.name", call.name, "the name of a tool")
    if not isinstance(call.arguments, dict):
        raise refusal(
            f"{where}.arguments", call.arguments, "a dictionary (json.loads makes one of JSON text)"
        )


def _message(message: object) -> object:
    fields = message.keys() if isinstance(message, Mapping) else {*dir(message)}
    if not fields & _OF_A_MESSAGE:
        hints = (hint for key, hint in _WAYS.items() if key in fields)
        raise UsageError(f"calls is {brief(message)}; {next(hints, _WANTED)}")
    return wanted_reply(message)


_OF_A_MESSAGE = frozenset({"role", "content", "tool_calls", "function_call"})
_WAYS = {
    "choices": 'wanted the message in it: ["choices"][0]["message"], or .choices[0].message',
    "message": 'wanted the message in it: ["message"], or .message',
}
"""Hints on where the message is, by a field of the object that contains it."""


def _is_call(item: object) -> bool:
    """Whether this is one call as OpenAI's API writes it, or only its function."""
    if isinstance(item, Mapping):
        return "role" not in item and bool({"function", "name"} & item.keys())
    return hasattr(item, "function") or (hasattr(item, "name") and hasattr(item, "arguments"))


def _explained(verdict: Verdict, diagnoses: Sequence[Diagnosis]) -> Verdict:
    """Add the first diagnosis to the reason: why what looked like a call was not read as one."""
    if not diagnoses:
        return verdict
    first = diagnoses[0]
    return replace(verdict, reason=f"{verdict.reason} ({first.code}: {first.message})")


_CONTENT = ("content", "tool_calls", "function_call")
_BESIDE = frozenset({"role", "name", "id", "refusal", "reasoning", "reasoning_content"})
"""Fields that a message may have without content, as in a dump that leaves empty fields out."""

_TEXTS = frozenset({"text", "output_text", "input_text"})
_SILENT = frozenset(
    {
        "refusal", "thinking", "redacted_thinking", "reasoning", "image", "image_url",
        "input_image", "audio", "input_audio", "output_audio", "file", "document",
    }
)  # fmt: skip
"""Types of content parts that contain neither text nor a call."""
_CALLS_AS_READ = "give the calls as ToolCalls, or as OpenAI-style tool_calls"


def wanted_reply(message: object) -> object:
    """Return the message. Raise UsageError if it is no reply of a model in a readable shape."""
    role = _field(message, "role") or _field(message, "type")  # some frameworks have types only
    if isinstance(role, str) and role in OTHER_ROLES:
        raise UsageError(f"a {role} message makes no calls; wanted the message of a model")
    if not _has_content(message):
        raise UsageError(
            f"{brief(message)} has no content and no tool_calls; wanted an OpenAI-style message; "
            f"for a message of another API, {_CALLS_AS_READ}"
        )
    calls = _field(message, "tool_calls")
    if not isinstance(calls, list | tuple | None):
        raise UsageError(f"tool_calls is a {type(calls).__name__}; wanted a list of calls, or None")
    content = _field(message, "content")
    if not isinstance(content, str | list | tuple | None):
        raise UsageError(f"content is {brief(content)}; wanted text, a list of parts or None")
    if isinstance(content, list | tuple):
        for fault in _faults(content, {one for call in calls or () for one in _ids(call)}):
            raise UsageError(fault)
    return message


def _has_content(message: object) -> bool:
    if isinstance(message, Mapping):
        return any(key in message for key in _CONTENT) or message.keys() <= _BESIDE
    return any(hasattr(message, key) for key in _CONTENT)


def _faults(parts: Sequence[object], ids: set[str]) -> Iterator[str]:
    """Yield a message for each part that is not read; repeated calls of `tool_calls` are fine."""
    for index, part in enumerate(parts):
        kind = _field(part, "type")
        if isinstance(part, str) or (isinstance(kind, str) and kind in _SILENT):
            continue
        if not ids.isdisjoint(_ids(part)):
            continue
        if isinstance(kind, str) and kind not in _TEXTS:
            yield (
                f"content[{index}] is a {kind!r} part, which is not read; wanted text parts; for a "
                f"call of another API, {_CALLS_AS_READ}"
            )
        elif not _is_text(part):
            yield (
                f"content[{index}] is {brief(part)}; wanted a text, or a text part; for a "
                f"call of another API, {_CALLS_AS_READ}"
            )


def _is_text(part: object) -> bool:
    """Whether a part is text: by its type (others were refused before), or by its only field."""
    if isinstance(_field(part, "type"), str):
        return True
    alone = len(part) == 1 if isinstance(part, Mapping) else True
    return alone and isinstance(_field(part, "text"), str)


def _ids(call: object) -> list[str]:
    found = (_field(call, key) for key in ("id", "call_id"))
    return [one for one in found if isinstance(one, str)]


def _field(thing: object, key: str) -> object:
    return thing.get(key) if isinstance(thing, Mapping) else getattr(thing, key, None)


Wanted: TypeAlias = str | ToolCall | Mapping[str, Any]
"""A tool's name, a call, or `{"name": ..., "arguments": {...}}` whose arguments may be matchers."""


def expect(
    *names_or_calls: Wanted,
    match: MatchMode = "exactly",
    forbid: Sequence[Wanted] = (),
    succeeded: bool = False,
    profile: str | None = None,
    tools: Tools | Iterable[ToolLike] | None = None,
) -> Expected:
    """Return the calls that are wanted, to be compared by `==` with calls, a message, or an
    endpoint's `.calls`.

        assert model.calls == expect("read_file", ToolCall("bash", {"command": "pytest -q"}))
        assert message == expect()                              # no call
        assert model.calls == expect(forbid=["bash"])           # anything but that
        assert model.calls == expect("bash", succeeded=True)    # and its result is no failure

    Args:
        names_or_calls: A name wants a call of that tool with any arguments; a call wants its
            arguments, which may be matchers.
        match: As in an expectation: "exactly", "in_order", "any_order", "superset" or "subset".
        forbid: What must not be called, names or calls: a tool, also with a prefix
            (`functions.bash`, `mcp__shell__bash`) or in other letters' case, or with these and any
            other arguments. An attempt that cannot be read counts. An endpoint's calls fail if no
            request offered such a tool, because a misspelled name would forbid nothing.
        succeeded: Count only calls whose result, as a later request shows it, is no failure; a call
            without a result does not count. Other calls are left out, except from `forbid`. Only
            an endpoint's `.calls` have results.
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
    forbidden = read_forbidden(forbid)
    check_wishes(wishes, match, forbidden, profile, known)
    if not isinstance(succeeded, bool):
        raise refusal("succeeded", succeeded, "True or False")
    return Expected(wishes, match, forbidden, profile, known, succeeded=succeeded)


class Expected:
    """Wanted calls, made by `expect`. `explain` says why calls differ from them."""

    __hash__ = None  # type: ignore[assignment] # it equals calls that differ from each other

    def __init__(
        self,
        wishes: tuple[Wish, ...],
        match: MatchMode,
        forbid: tuple[str | ExpectedCall, ...],
        profile: str | None,
        tools: Tools | None,
        *,
        succeeded: bool = False,
    ) -> None:
        self.wishes, self.match, self.forbid = wishes, match, forbid
        self._profile, self._tools, self.succeeded = profile, tools, succeeded

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
        parts += ["succeeded=True"] if self.succeeded else []
        return f"expect({', '.join(parts)})"

    def verdict(self, calls: object) -> Verdict:
        """Return whether these calls are the wanted ones, with the reason if not."""
        read = self.read(calls)
        if (unasked := getattr(calls, "unasked", None)) is not None:
            return Verdict(False, unasked)
        judged = partial(
            match_wishes,
            mode=self.match,
            forbid=self.forbid,
            profile=self._profile,
            tools=self._tools,
            offered=getattr(calls, "offered", None),
            lost=_lost_in(calls, read, self._tools) if self.forbid else (),
        )
        if not self.succeeded:
            verdict = judged(self.wishes, read.calls)
            return verdict if read.calls else without_calls(verdict, read.outcome)
        attempts = judged((), read.calls) if self.forbid else None
        if attempts is not None and not attempts.ok:
            return attempts
        kept = [index for index, one in enumerate(_outcomes(calls)) if one is not None and one.ok]
        verdict = judged(self.wishes, [read.calls[index] for index in kept])
        return replace(verdict, pairs=tuple((wish, kept[call]) for wish, call in verdict.pairs))

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
        outcomes = enumerate(_outcomes(calls) if self.succeeded else ())
        lost = {index: _lost(one) for index, one in outcomes if one is None or not one.ok}
        turns = getattr(calls, "turns", None)
        turn_of = list(turns) if turns is not None and len(turns) == len(made) else None
        return [*map(visible, _Explained(self, verdict, made, turn_of, lost).lines())]


def _outcomes(calls: object) -> Sequence[Success | None]:
    """Return how the calls ended. Raise UsageError if nothing shows it."""
    outcomes: Sequence[Success | None] | None = getattr(calls, "outcomes", None)
    if outcomes is None:
        raise UsageError(
            f"succeeded=True is compared with {brief(calls)}, which has no results; wanted the "
            ".calls of an endpoint"
        )
    return outcomes


def _lost(outcome: Success | None) -> str:
    why = "it has no result" if outcome is None else f"it failed: {outcome.error}"
    return f"{why.partition(chr(10))[0]:.200}, so it does not count"


class _Explained:
    def __init__(
        self,
        expected: Expected,
        verdict: Verdict,
        made: Sequence[ToolCall],
        turns: Sequence[int] | None,
        lost: Mapping[int, str],
    ) -> None:
        self._expected, self._verdict, self._made, self._turns = expected, verdict, made, turns
        self._lost = lost
        self._forbidden = {one.path for one in verdict.failures if one.code == "forbidden-tool"}
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
        if near.call in self._lost or not near.failures:
            yield f"    {self._lost.get(near.call, 'it is the same, but in another place')}"
        (name, arguments), wrong = self._expected.wishes[wish], {}
        for failure in near.failures:
            argument = failure.path.removeprefix("arguments.")
            if argument == failure.path or name != got.name:
                yield f"    {failure.message}"
            wrong[argument] = failure.message
        if name == got.name and arguments is not None:
            for key in dict.fromkeys((*arguments, *got.arguments)):
                same = f"{key}={brief(got.arguments.get(key))}, as wanted"
                yield f"    {wrong.get(key, same)}"

    def _others(self, known: set[int]) -> Iterator[str]:
        for index, call in enumerate(self._made):
            if f"calls[{index}].name" in self._forbidden:
                yield f"! forbidden: {self._place(index)} {_call(call.name, call.arguments)}"
            elif index in self._lost and index not in known:
                yield f"  also: {self._place(index)} {_call(call.name, call.arguments)}"
                yield f"    {self._lost[index]}"
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
