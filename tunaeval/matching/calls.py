"""Matching of calls against an expectation, in every mode, by the best assignment.

Modes, for expected calls and for expected tool names alike:

    exactly     these calls, in this order, and no other
    in_order    these calls in this order; others may be before, between and after
    any_order   these calls in any order, and no other
    superset    these calls in any order; others may be beside them
    subset      every call made is one of these, each used once, and at least one call was made

`none`, `forbid`, `min_calls` and `max_calls` apply in addition. For an expected call that was not
made, `nearest` has the call that is most like it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, get_args
from unicodedata import normalize

from tunaeval.errors import ExpectationError, UnknownNameError, UsageError
from tunaeval.showing import counted, shows
from tunaeval.types.calls import ToolCall, Tools
from tunaeval.types.runs import Expectation, ExpectedCall, MatchMode
from tunaeval.types.wanted import wanted_name

from .assignment import NO_OTHERS, Fit, Pairs, Wish
from .bfcl import CheckerCrash
from .expectations import check_expectation, read_expectation
from .profiles import DEFAULT_PROFILE, Profile, profile_of
from .values import Failure


@shows
@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """Whether calls meet an expectation, and why; its truth value is `ok`.

    `pairs` are indices of expected calls, each with the index of the call that met it; `profile`
    names the rules of the comparison.

    Examples:
        >>> verdict = tunaeval.match({"calls": [{"name": "ls"}]}, [tunaeval.ToolCall("cat", {})])
        >>> verdict.ok, verdict.reason
        (False, "wanted 'ls', got 'cat'")
    """

    ok: bool
    reason: str
    pairs: Pairs = ()
    failures: tuple[Failure, ...] = ()
    profile: str = DEFAULT_PROFILE

    def __bool__(self) -> bool:
        return self.ok

    def _in_short(self) -> str:
        return f"Verdict: {'passed' if self.ok else 'failed'} ({self.profile}): {self.reason}"

    def _in_rows(self) -> Iterator[tuple[str, ...]]:
        return ((one.code, one.path, one.message) for one in self.failures)


def match(
    expect: Expectation | Mapping[str, Any],
    calls: Sequence[ToolCall],
    *,
    profile: str | None = None,
    tools: Tools | None = None,
    lost: Sequence[ToolCall] = (),
) -> Verdict:
    """Return whether `calls` are what `expect` wants. Never raises for any calls.

    `tools` have the schemas (defaults, number types) and the arguments that are paths. `profile`
    is `DEFAULT_PROFILE` if it is None. `lost` are attempts at calls that cannot be read, which
    count for what is forbidden.
    Raises `UnknownNameError` for an unknown profile, `ExpectationError` for a bad expectation.
    """
    rule = profile_of(profile)
    if not isinstance(expect, Expectation):
        expect = read_expectation(expect)
    _check_tools(rule, tools, has_calls=bool(expect.calls))
    try:
        return _verdict(expect, calls, tools or _NO_TOOLS, rule, lost=lost)
    except Exception as error:
        # Calls cannot cause this, but an expectation that was built by hand without checks can.
        try:
            check_expectation(expect)
        except ValueError as fault:
            raise ExpectationError(f"this expectation cannot be used: {fault}") from error
        raise


def match_wishes(
    wishes: Sequence[Wish],
    calls: Sequence[ToolCall],
    *,
    mode: MatchMode = "exactly",
    forbid: Sequence[Forbidden] = (),
    profile: str | None = None,
    tools: Tools | None = None,
    offered: Sequence[str] | None = None,
    lost: Sequence[ToolCall] = (),
) -> Verdict:
    """Like `match`, for expected calls as (name, arguments) pairs. Without any, and with nothing
    forbidden, no call is wanted. Check wishes from outside with `check_wishes` first.

    `offered` are the names of the tools that the model had, or None if they are not known. If what
    is forbidden was not offered, the match fails, since it would hold for any calls.
    """
    none = not wishes and not forbid
    expect = Expectation.model_construct(none=none, match=mode, forbid=tuple(forbid))
    rule, tools = profile_of(profile), tools or _NO_TOOLS
    return _verdict(expect, calls, tools, rule, given=wishes, offered=offered, lost=lost)


Forbidden: TypeAlias = str | ExpectedCall
_HOSTS, _SERVER = ("functions.", "default_api.", "tools."), "mcp__"


def is_same_tool(name: str, called: str, known: Container[str] = ()) -> bool:
    """Whether `called` and `name` are names of the same tool.

    Not compared are the prefix of a host or of an MCP server (`functions.bash`, `default_api.bash`,
    `mcp__shell__bash`), upper and lower case, spaces around the name, and invisible characters. Two
    names that are both `known` are two tools.
    """
    if name == called:
        return True
    return _bare(name) == _bare(called) and not (name in known and called in known)


def _bare(name: str) -> str:
    seen = name if name.isascii() else normalize("NFKC", name)
    seen = "".join(one for one in seen if one.isprintable()).strip().casefold()
    for host in _HOSTS:
        seen = seen.removeprefix(host)
    if seen.startswith(_SERVER):
        return seen.removeprefix(_SERVER).partition("__")[2] or seen
    return seen


def is_forbidden(
    call: ToolCall, forbidden: Forbidden, known: Collection[str], tools: Tools | None
) -> bool:
    """Whether a call is forbidden, by its tool's name or with these and any other arguments.

    What cannot be read counts: lost arguments may be any, as may the name of a structured call; the
    tool of an attempt in a text is the first of `known` names in it.
    """
    name = _name_of(forbidden)
    if call.name or call.source == "structured":
        is_of = not call.name or is_same_tool(name, call.name, known)
    else:
        is_of = _first(call.invalid or "", {name, *known}) == _bare(name)
    is_lost = not call.name or call.invalid is not None
    if not is_of or is_lost or isinstance(forbidden, str):
        return is_of
    expect = Expectation.model_construct(calls=(forbidden,), match="superset")
    return match(expect, [replace(call, name=name)], profile="tunacode", tools=tools).ok


def _name_of(forbidden: Forbidden) -> str:
    return forbidden if isinstance(forbidden, str) else forbidden.name


def _first(text: str, names: Iterable[str]) -> str | None:
    """Return the name that is a word of the text before all others, or None."""
    words = ((rf"(?:(?<!\w)|(?<=__)){re.escape(name)}(?!\w)", name) for name in map(_bare, names))
    found = ((re.search(word, text.casefold()), name) for word, name in words)
    return min(((at.start(), name) for at, name in found if at), default=(0, None))[1]


def check_wishes(
    wishes: Sequence[Wish],
    mode: str,
    forbid: Sequence[Forbidden],
    profile: str | None,
    tools: Tools | None,
) -> None:
    """Raise UsageError (mostly its subclass ExpectationError) if no calls could meet the wishes."""
    wanted_name(mode, "match mode", get_args(MatchMode))
    has_calls = any(arguments is not None for _, arguments in wishes)
    _check_tools(profile_of(profile), tools, has_calls=has_calls)
    for failure in () if tools is None else _never_offered(forbid, list(tools)):
        raise ExpectationError(failure.message)
    for name, arguments in wishes:
        if name in forbid:  # as a name: a call of it may be wanted with other arguments
            raise ExpectationError(
                f"the tool {name!r} is both expected and forbidden; remove one of the two"
            )
        if arguments is not None:
            try:
                call = ExpectedCall(name=name, arguments=dict(arguments))
                check_expectation(Expectation(calls=(call,)))
            except ValueError as error:
                raise ExpectationError(
                    f"the expected call of {name!r} cannot be used: {error}"
                ) from error


def _check_tools(rule: Profile, tools: Tools | None, *, has_calls: bool) -> None:
    if rule.needs_tools and has_calls and tools is None:
        raise UsageError(
            f"the profile {rule.name!r} takes types and required arguments from the tools; "
            "give tools"
        )


def _verdict(
    expect: Expectation,
    calls: Sequence[ToolCall],
    tools: Tools,
    rule: Profile,
    *,
    given: Sequence[Wish] = (),
    offered: Sequence[str] | None = None,
    lost: Sequence[ToolCall] = (),
) -> Verdict:
    failures, known = [*_limit_failures(expect, calls)], tools if offered is None else offered
    for index, call in enumerate((*calls, *lost) if expect.forbid else ()):
        hit = next((one for one in expect.forbid if is_forbidden(call, one, known, tools)), None)
        if hit is not None and index < len(calls):
            place = f"calls[{index}].name"
            failures.append(Failure("forbidden-tool", f"{call.name!r} is forbidden", place))
        elif hit is not None:
            words = f"{_name_of(hit)!r} is forbidden, and was tried in a call that cannot be read"
            failures.append(Failure("forbidden-tool", words))
    failures += () if offered is None else _never_offered(expect.forbid, offered)
    pairs: Pairs = ()
    wishes = given or _wishes(expect, rule)
    if wishes:
        fit = Fit(wishes, calls, tools, rule.compare)
        try:
            pairs = rule.assignments[expect.match](fit)
        except CheckerCrash as crash:
            failures.append(Failure("checker-crash", str(crash)))
        else:
            if not _complete(expect.match, pairs, len(wishes), len(calls)):
                failures += _explained(fit, pairs, expect.match)
    if failures:
        return Verdict(False, _reason(failures), pairs, tuple(failures), rule.name)
    return Verdict(True, _success(expect, pairs), pairs, (), rule.name)


def without_calls(verdict: Verdict, outcome: str) -> Verdict:
    """Return the verdict on a reply without calls, given what `match` says and the reply's outcome.
    A malformed or truncated call is no abstention: it fails even where no call is wanted.
    """
    why = _NO_ABSTENTION.get(outcome)
    if why is None or any(one.code == "forbidden-tool" for one in verdict.failures):
        return verdict
    return replace(verdict, ok=False, reason=why, pairs=())


_NO_ABSTENTION = {
    "malformed": "a call was tried and is malformed",
    "truncated": "the reply was cut off before a call was complete",
    "unbegun": "the reply was cut off before a call began",
}

_NO_TOOLS = Tools()


def _complete(mode: str, pairs: Pairs, wishes: int, calls: int) -> bool:
    every_wish = len(pairs) == wishes or (mode == "subset" and calls > 0)
    every_call = len(pairs) == calls or mode not in NO_OTHERS
    return every_wish and every_call


def _wishes(expect: Expectation, rule: Profile) -> list[Wish]:
    if expect.calls is not None and rule.prepare is not None:
        return [(call.name, rule.prepare(call.arguments)) for call in expect.calls]
    if expect.calls is not None:
        return [(call.name, call.arguments) for call in expect.calls]
    return [(name, None) for name in expect.tools or ()]


def _never_offered(forbid: Sequence[Forbidden], offered: Sequence[str]) -> Iterator[Failure]:
    for name in map(_name_of, forbid):
        if not any(is_same_tool(name, one) for one in offered):
            unknown = UnknownNameError("tool that was offered", name, offered)
            yield Failure("never-offered", f"forbidden is {name!r}, but {unknown}")


def _limit_failures(expect: Expectation, calls: Sequence[ToolCall]) -> Iterator[Failure]:
    least, most = expect.min_calls, expect.max_calls
    if expect.none and calls:
        names = ", ".join(repr(call.name) for call in calls[:3])
        yield Failure("unexpected-call", f"wanted no call, got {names}", "calls[0]")
    named = sum(bool(call.name.strip()) for call in calls)
    if least is not None and named < least:
        yield Failure("too-few-calls", f"wanted at least {counted(least, 'call')}, got {named}")
    if most is not None and len(calls) > most:
        message = f"wanted at most {counted(most, 'call')}, got {len(calls)}"
        yield Failure("too-many-calls", message, f"calls[{most}]")


def _explained(fit: Fit, pairs: Pairs, mode: str) -> Iterator[Failure]:
    """Yield why wishes and calls are unpaired, comparing each wish to its nearest spare call."""
    met = {wish for wish, _ in pairs}
    used = {call for _, call in pairs}
    spare = [call for call in range(len(fit.calls)) if call not in used]
    if mode != "subset" or not fit.calls:
        for wish, (wanted, _) in enumerate(fit.wishes):
            if wish in met:
                continue
            near = _nearest(fit, wish, spare, mode)
            if near is None:
                yield Failure("missing-call", f"no call of {wanted!r}", f"expected[{wish}]")
                continue
            spare.remove(near)
            place = f"calls[{near}]"
            yield from [
                Failure(one.code, one.message, f"{place}.{one.path}")
                for one in fit.failures(wish, near)
            ] or [Failure("wrong-order", f"{wanted!r} comes too early", place)]
    if mode in NO_OTHERS:
        for call in spare:
            name = fit.calls[call].name
            yield Failure("extra-call", f"the call of {name!r} was not expected", f"calls[{call}]")


def _nearest(fit: Fit, wish: int, spare: Sequence[int], mode: str) -> int | None:
    if mode == "exactly":
        return wish if wish in spare else None
    same = [call for call in spare if fit.calls[call].name == fit.wishes[wish][0]]
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


@dataclass(frozen=True, slots=True)
class Nearest:
    """The call nearest to an unmet wish; if it has no failures, only its position is wrong."""

    call: int
    failures: tuple[Failure, ...]


def nearest(
    wishes: Sequence[Wish],
    calls: Sequence[ToolCall],
    pairs: Pairs,
    *,
    profile: str | None = None,
    tools: Tools | None = None,
) -> dict[int, Nearest]:
    """Return the nearest unpaired call for each unpaired wish, by the wish's index. Calls of the
    same tool come before others, then those with the fewest failures, then the nearest index.
    """
    fit = Fit(wishes, calls, tools or Tools(), profile_of(profile).compare)
    met, used = {wish for wish, _ in pairs}, {call for _, call in pairs}
    alone = [wish for wish in range(len(wishes)) if wish not in met]
    spare = [call for call in range(len(calls)) if call not in used]
    # Wishes with a fitting call choose first, so that no other wish takes it.
    alone.sort(key=lambda wish: not any(fit(wish, call) for call in spare))
    found: dict[int, Nearest] = {}
    for wish in alone:
        ranked = [(_rank(fit, wish, call), call) for call in spare]
        if ranked:
            call = min(ranked)[1]
            spare.remove(call)
            found[wish] = Nearest(call, tuple(fit.failures(wish, call)))
    return found


def _rank(fit: Fit, wish: int, call: int) -> tuple[bool, int, int]:
    is_other = fit.wishes[wish][0] != fit.calls[call].name
    return is_other, sum(1 for _ in fit.failures(wish, call)), abs(wish - call)
