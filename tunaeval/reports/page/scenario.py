"""One result in full: the prompt, each reply with its marks, and expected beside actual calls.

Expected calls are paired with the actual ones, argument by argument, by the run's own rules. Keys
and passwords are covered in all texts, which may be shown to others. A cover is as long as what it
covers, so that positions in a text stay the same.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from typing import TypeAlias

from tunaeval.errors import TunaevalError
from tunaeval.files.keys import with_keys_covered
from tunaeval.files.records import decode
from tunaeval.matching.calls import Verdict, match
from tunaeval.reports.replies import Replies
from tunaeval.types.calls import JsonObject, JsonValue, Span, ToolCall, Tools
from tunaeval.types.exchange import text_of
from tunaeval.types.json_text import encode
from tunaeval.types.parsing import ParseResult
from tunaeval.types.runs import (
    AttemptRecord,
    CallRecord,
    Expectation,
    ExpectedCall,
    Report,
    ScenarioResult,
    TaskRecord,
)
from tunaeval.types.tables import REACTIONS
from tunaeval.wire.chat import items_in as listed

WENT_WRONG = "where it went wrong first"
REASONING_KEYS = ("reasoning_content", "reasoning")
SHORT_CHARACTERS = 1_000
"""The most characters of a text on a page of long results, once its budget is spent."""
_USUAL_BYTES = 10_000
"""Up to this size results are shown in full, however many there are."""
_CUT = (
    f"a page of long results shows only {SHORT_CHARACTERS:,} characters of each text here; "
    "`tunaeval show RUN --scenario ID` shows all"
)
_OTHERWISE = "this version does not read the reply as the run did; the run's own words are here"


@dataclass(frozen=True, slots=True)
class AttemptView:
    """A reply: its text in pieces, the calls that the server parsed, and the marks in the text."""

    record: AttemptRecord
    pieces: tuple[MarkedPiece, ...]
    marks: tuple[Mark, ...]
    reasoning: str
    structured: tuple[str, ...]
    note: str = ""
    user: str = ""
    """The user's message right before this reply, in a later turn."""
    results: tuple[tuple[str, str], ...] = ()
    """The results of the reply's calls: the tool, and the text that the model received."""
    is_wrong: bool = False
    """Whether this is the first turn where an episode went wrong."""


@dataclass(frozen=True, slots=True)
class ScenarioView:
    """A result with everything that is shown of it; secrets are hidden in all texts."""

    result: ScenarioResult
    prompt: str
    reason: str
    attempts: tuple[AttemptView, ...]
    pairs: tuple[RunPair, ...]
    checks: tuple[str, ...] = ()
    """For an episode: a line for each check's result, each fault, and each reaction to faults."""


class Viewer:
    """Makes views of a run's results.

    The replies are read again, as results do not say where in a text a call is.

    With a `budget`, long results of so many bytes in total are read again, which takes time, and
    the texts of others are cut. Half of it is kept for results that did not pass.
    """

    def __init__(self, report: Report, budget: int | None = None) -> None:
        self._budget, self._kept = budget, (budget or 0) // 2
        self._profile = report.run.profile
        self._replies: Replies | None = None
        try:
            self._replies = Replies(report.run, report.directory)
            self._why = ""
        except TunaevalError as error:
            self._why = f"the reply cannot be read again: {error}"

    def look(self, result: ScenarioResult) -> ScenarioView:
        """Return the view of a result. Never raises for what a model wrote."""
        if self._budget is not None:
            size = len(encode(result.model_dump()))
            if size > _USUAL_BYTES:
                if self._budget - size < self._kept * result.ok:
                    return _shortened(result)
                self._budget -= size
        read, why = self._read(result)
        wrong = None if result.task is None else result.task.wrong_turn
        attempts = [
            _attempt(record, found, why, is_wrong=number == wrong)
            for number, (record, found) in enumerate(zip(result.attempts, read, strict=True), 1)
        ]
        tools = self._replies.tools(result.scenario) if self._replies else Tools()
        compare = partial(match, profile=self._profile, tools=tools)
        pairs = side_by_side(result.expected, result.got, compare)
        given = result.error or result.reason
        values = (
            value for pair in pairs for one in pair.arguments for value in (one.wanted, one.got)
        )
        cover = hidden_shortened if any(COVER in value for value in values if value) else hidden
        checks = () if result.task is None else tuple(map(hidden, _checks(result.task)))
        prompt = hidden(result.prompt)
        return ScenarioView(result, prompt, cover(given), tuple(attempts), pairs, checks)

    def _read(self, result: ScenarioResult) -> tuple[list[ParseResult | None], str]:
        nothing: list[ParseResult | None] = [None] * len(result.attempts)
        if self._replies is None:
            return nothing, self._why
        try:
            return [*self._replies.read(result)], ""
        except TunaevalError as error:  # raised by a plug-in's parser
            return nothing, f"the reply cannot be read again: {error}"


def _shortened(result: ScenarioResult) -> ScenarioView:
    """Return the view of a result beyond a page's budget: texts are cut, no call is shown."""

    def cut(text: str) -> str:
        return hidden(text[:SHORT_CHARACTERS])

    texts = [cut(text_of(one.message.get("content"))) for one in result.attempts]
    attempts = [
        AttemptView(one, (MarkedPiece(text),), (), "", (), _CUT)
        for one, text in zip(result.attempts, texts, strict=True)
    ]
    reason = cut(result.error or result.reason)
    return ScenarioView(result, cut(result.prompt), reason, tuple(attempts), ())


def _attempt(
    record: AttemptRecord, found: ParseResult | None, why: str, *, is_wrong: bool
) -> AttemptView:
    text = hidden(text_of(record.message.get("content")))
    pieces: tuple[MarkedPiece, ...] = (MarkedPiece(text),)
    marks, note = tuple(_recorded(record)), why or _OTHERWISE
    then = [(call.name, call.arguments) for call in record.calls]
    if found is not None and then == [(call.name, call.arguments) for call in found.calls]:
        marks = tuple(replace(mark, words=hidden(mark.words)) for mark in marks_of(found))
        pieces, note = pieces_of(text, marks), ""
    given = (record.message.get(key) for key in REASONING_KEYS)
    items = record.message.get("tool_calls") or record.message.get("function_call")
    return AttemptView(
        record=record,
        pieces=pieces,
        marks=marks,
        reasoning=hidden(next((text for text in given if isinstance(text, str)), "")),
        structured=tuple(hidden(words_of(one)) for one in listed(items)),
        note=note,
        user=hidden(record.user or ""),
        results=tuple((one.tool, hidden(one.content)) for one in record.results),
        is_wrong=is_wrong,
    )


def _checks(task: TaskRecord) -> Iterator[str]:
    for check in task.checks:
        word = "passed" if check.ok else "fails" if check.ok is False else "failed itself"
        at = "" if check.turn is None else f" (turn {check.turn})"
        yield f"{word}: {check.check}: {check.reason}{at}"
    for fault in task.faults:
        yield f"fault: {fault.fault}: " + (
            "hit no turn" if fault.turn is None else f"hit turn {fault.turn}"
        )
    for name, words in REACTIONS.items():
        did: bool | None = getattr(task, name)
        if did is not None:
            yield f"{words}: {'yes' if did else 'no'}"


def _recorded(record: AttemptRecord) -> Iterator[Mark]:
    """Yield marks for the calls, repairs and diagnoses of a record, which knows no spans."""
    found = [(CALL, call.format, call.name) for call in record.calls]
    found += [(REPAIR, code, "") for call in record.calls for code in call.repairs]
    for given in record.diagnoses:
        code, _, words = given.partition(": ")
        found.append((DIAGNOSIS, code, words))
    for number, (kind, code, words) in enumerate(found, 1):
        yield Mark(number, kind, code, hidden(words), None)


CALL, REPAIR, DIAGNOSIS = "call", "repair", "diagnosis"


@dataclass(frozen=True, slots=True)
class Mark:
    """A call, a repair or a diagnosis in a reply, referred to by `number` (from 1).

    `span` is None if it has no place in the text. Only repairs have a level.
    """

    number: int
    kind: str
    code: str
    words: str
    span: Span | None
    level: str = ""


@dataclass(frozen=True, slots=True)
class MarkedPiece:
    """Characters of the text with the same marks; `ends` are the numbers of marks that end here."""

    text: str
    kinds: frozenset[str] = frozenset()
    ends: tuple[int, ...] = ()


def marks_of(result: ParseResult) -> tuple[Mark, ...]:
    """Return everything that was found in a reply, in the order of the text."""
    found = [(CALL, call.format, call.name, call.span, "") for call in result.calls]
    found += [
        (REPAIR, repair.code, repair.message, repair.span, repair.level)
        for call in result.calls
        for repair in call.repairs
    ]
    found += [(DIAGNOSIS, one.code, one.message, one.span, "") for one in result.diagnoses]
    found.sort(key=lambda mark: (mark[3] is None, mark[3] or (0, 0)))
    return tuple(Mark(number, *mark) for number, mark in enumerate(found, 1))


def pieces_of(text: str, marks: Sequence[Mark]) -> tuple[MarkedPiece, ...]:
    """Cut all of `text` wherever a mark begins or ends, in linear time apart from sorting.

    A mark without characters (something is missing here) ends where it begins.
    """
    opened: dict[int, list[Mark]] = {0: [], len(text): []}
    closed: dict[int, list[Mark]] = {}
    for mark in marks:
        if mark.span is not None:
            start = min(max(mark.span.start, 0), len(text))
            opened.setdefault(start, []).append(mark)
            closed.setdefault(min(max(mark.span.end, start), len(text)), []).append(mark)
    pieces: list[MarkedPiece] = []
    depth: Counter[str] = Counter()
    cuts = sorted(opened.keys() | closed.keys())
    for cut, following in zip_longest(cuts, cuts[1:]):
        depth.subtract(mark.kind for mark in closed.get(cut, ()))
        depth.update(mark.kind for mark in opened.get(cut, ()))
        numbers = tuple(mark.number for mark in closed.get(cut, ()) if mark.kind != CALL)
        if numbers:
            before = pieces.pop() if pieces else MarkedPiece("")
            pieces.append(replace(before, ends=before.ends + numbers))
        if following is not None:
            pieces.append(MarkedPiece(text[cut:following], frozenset(+depth)))
    return tuple(pieces)


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
class RunPair:
    """An expected call and the received call nearest to it; either may be None."""

    wanted: str | None
    got: str | None
    state: str
    arguments: tuple[Argument, ...] = ()


Compare: TypeAlias = Callable[[Expectation, Sequence[ToolCall]], Verdict]
"""Compares calls by a run's profile and tools."""


def side_by_side(
    expected: Expectation, got: Sequence[CallRecord], compare: Compare
) -> tuple[RunPair, ...]:
    """Pair each expected call with a received one; the received calls without a partner follow."""
    wanted = list(expected.calls or ())
    names = [ExpectedCall.model_construct(name=name, arguments={}) for name in expected.tools or ()]
    calls = [ToolCall(call.name, call.arguments, call.id, call.format) for call in got]
    partner = _partners(wanted or names, calls)
    pairs = [
        _pair(one, None if at is None else calls[at], compare, named_only=not wanted)
        for one, at in zip(wanted or names, partner, strict=True)
    ]
    open_to_others = not (wanted or names) and not expected.none
    left = (call for index, call in enumerate(calls) if index not in partner)
    state = UNASKED if open_to_others or expected.match in _WITH_OTHERS else EXTRA
    return (*pairs, *(RunPair(None, call.name, state, tuple(_all_of(call))) for call in left))


_WITH_OTHERS = ("in_order", "superset")


def _partners(wanted: Sequence[ExpectedCall], calls: Sequence[ToolCall]) -> list[int | None]:
    """Return the index of each expected call's partner, of the same name if possible, or None."""
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


def _pair(
    wanted: ExpectedCall, got: ToolCall | None, compare: Compare, *, named_only: bool
) -> RunPair:
    is_same = got is not None and wanted.name == got.name
    if got is not None and is_same and not named_only:
        faults = _faults(wanted, got, compare)
        rows = tuple(_judged(wanted.arguments, got.arguments, faults))
        return RunPair(wanted.name, got.name, SAME if not faults else DIFFERS, rows)
    want, have = wanted.arguments, {} if got is None else got.arguments
    state = UNASKED if got is not None else MISSING  # calls of different tools are not judged
    names = dict.fromkeys((*want, *have))
    rows = tuple(Argument(one, _shown(want, one), _shown(have, one), state) for one in names)
    if got is None:
        return RunPair(wanted.name, None, MISSING, rows)
    return RunPair(wanted.name, got.name, SAME if is_same else DIFFERS, rows)


def _faults(wanted: ExpectedCall, got: ToolCall, compare: Compare) -> dict[str, str]:
    """Return a message for each faulty argument by its name; "" is for the whole call."""
    alone = Expectation.model_construct(calls=(wanted,))
    try:
        verdict = compare(alone, [got])
    except TunaevalError as error:  # an old run may have what this version refuses
        return {"": str(error)}
    found: dict[str, str] = {}
    for failure in verdict.failures:
        _, _, rest = failure.path.partition("arguments.")
        names = (*wanted.arguments, *got.arguments)
        known = [one for one in names if rest == one or rest.startswith((f"{one}.", f"{one}["))]
        found.setdefault(max(known, key=len, default=""), failure.message)
    return found


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


def _all_of(call: ToolCall) -> Iterator[Argument]:
    for name, value in call.arguments.items():
        yield Argument(name, None, words_of(value), UNASKED)


def _shown(arguments: JsonObject, name: str) -> str | None:
    return words_of(arguments[name]) if name in arguments else None


def words_of(value: JsonValue) -> str:
    """Return a value as readable JSON without secrets; NaN and the like as in a run's files."""
    return hidden(json.dumps(decode(encode({"": value}))[""], ensure_ascii=False))


COVER = "•"

_NAMED = re.compile(
    r"""
    (?:\b(?:bearer|basic)[ ]{1,4}
     | \b(?:api[_-]?key|access[_-]?token|auth[_-]?token|client[_-]?secret|password|passwd)
       ["']?[ ]{0,4}[=:][ ]{0,4}["']?)
    ([A-Za-z0-9_.~+/=-]{8,}+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Matches the value after a word such as "password" or "bearer"."""


def hidden(text: str) -> str:
    """Return the text with everything that looks like a secret covered, in linear time."""
    return _NAMED.sub(
        lambda found: found[0].removesuffix(found[1]) + COVER * len(found[1]),
        with_keys_covered(text, lambda key: COVER * len(key)),
    )


def hidden_shortened(text: str) -> str:
    """Cover secrets in a message that quotes values shortened in the middle.

    Half a key matches no known pattern, so every shortened value is covered.
    """
    return _WORD.sub(
        lambda word: COVER * len(word[0]) if "..." in word[0] else word[0], hidden(text)
    )


_WORD = re.compile(r"[^\s'\"]++")
