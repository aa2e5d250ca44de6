"""Checks of data set rows: each finding has a code, a place and a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, islice

import orjson

from tunaeval.matching.bfcl import gold_arguments, plain_arguments
from tunaeval.parsing.repair.schema import fit, fits, undeclared
from tunaeval.rewards.gold import Gold, Wanted
from tunaeval.rewards.scored import reward
from tunaeval.showing import brief, counted
from tunaeval.types.calls import JsonObject, ToolCall, Tools
from tunaeval.types.messages import Message
from tunaeval.types.parsing import Diagnosis
from tunaeval.types.runs import Suite

from .adapters.fields import get, has
from .rows import LOSSES, NAMES, Fault, Row

FINDINGS: Mapping[str, str] = NAMES["findings"]
"""Every code of a finding with its meaning."""

HARMLESS = LOSSES.keys() | NAMES["diagnoses"]["harmless"]
"""Codes of notes that do not mean that a call was lost."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault of a row; `message` is the index of the faulty message, if there is one."""

    code: str
    reason: str
    message: int | None = None


@dataclass(slots=True)
class Checker:
    """Checks rows in order. Digests of all rows are kept for duplicates: about 100 bytes a row."""

    questions: frozenset[str] = frozenset()
    _seen: dict[bytes, int] = field(default_factory=dict)

    @classmethod
    def against(cls, suites: Iterable[Suite]) -> Checker:
        """Return a checker that also looks for the questions of these suites."""
        return cls(frozenset(plain(one.prompt) for suite in suites for one in suite.scenarios))

    def check(self, row: Row | Fault) -> tuple[Finding, ...]:
        """Return all findings in the row."""
        if isinstance(row, Fault):
            return (Finding("unreadable-row", row.reason),)
        found = [*_calls(row), *_answers(row), *_rejected(row), *_gold(row)]
        first = self._seen.setdefault(_digest(row), row.number)
        if first != row.number:
            found.append(Finding("duplicate-row", f"the same as row {first}"))
        for index, message in enumerate(row.messages):
            if message.role == "user" and plain(message.content) in self.questions:
                why = f"{brief(message.content)} is asked by a suite"
                found.append(Finding("contaminated", why, index))
        return tuple(found)


def plain(text: str) -> str:
    """Return the question without differences in case and white space."""
    return " ".join(text.split()).casefold()


@dataclass(slots=True)
class Report:
    """The totals of a data set: rows, rows with findings, and the number of rows for each code."""

    rows: int = 0
    faulty: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    """The first few rows with each code: their number and the reason."""

    def add(self, row: Row | Fault, findings: Sequence[Finding], most: int = 3) -> None:
        """Count one row, and keep the first `most` rows with each code as examples."""
        self.rows += 1
        self.faulty += bool(findings)
        self.shapes[row.shape if isinstance(row, Row) else "unreadable"] += 1
        self.counts.update({finding.code for finding in findings})
        for finding in findings:
            shown = self.examples.setdefault(finding.code, [])
            if len(shown) < most:
                shown.append((row.number, finding.reason))


def check_rows(rows: Iterable[Row | Fault], *, suites: Iterable[Suite] = ()) -> Report:
    """Check a data set and return the counts of its findings.

    Examples:
        >>> from tunaeval.data import read_rows
        >>> check_rows(read_rows([{"a": 1}])).counts["unreadable-row"]
        1
    """
    checker, report = Checker.against(suites), Report()
    for row in rows:
        report.add(row, checker.check(row))
    return report


def _calls(row: Row) -> Iterator[Finding]:
    for index, message in enumerate(row.messages):
        for call in message.tool_calls if message.role == "assistant" else ():
            yield from _call_findings(row, call, index)
    for index, note in _broken(row):
        calls = row.messages[index].tool_calls
        if note.code == "unknown-tool":
            yield Finding("unknown-tool", note.message, index)
        code = "broken-beside-good" if calls else "broken-call"
        if note.code != "unknown-tool" or calls:
            yield Finding(code, f"{note.code}: {note.message}", index)


def _broken(row: Row) -> Iterator[tuple[int, Diagnosis]]:
    """Yield the notes of attempts at a call that gave none."""
    for index, note in row.notes:
        spans = [call.span for call in row.messages[index].tool_calls]
        if note.code not in HARMLESS and not (note.span and note.span in spans):
            yield index, note


def _rejected(row: Row) -> Iterator[Finding]:
    """Yield what is wrong with a rejected reply. A wrong call is what it is for."""
    worse = row.rejected
    if isinstance(worse, Fault):
        yield Finding("faulty-rejected", f"it cannot be read: {worse.reason}")
    elif worse is not None:
        for _, note in _broken(worse):
            if note.code != "unknown-tool":
                yield Finding("faulty-rejected", f"{note.code}: {note.message}")
        if _contents(worse.messages) == _contents(row.messages[row.prompt :]):
            yield Finding("faulty-rejected", "it equals the chosen reply")


def _gold(row: Row) -> Iterator[Finding]:
    """Yield what is wrong with a gold: it is tried as a reply of its own against its tools."""
    gold = row.gold
    if isinstance(gold, Fault):
        yield Finding("unreadable-gold", gold.reason)
        return
    if gold is None:
        return
    for wanted in gold.calls:
        ways = [wanted.arguments] if gold.literal else islice(_ways(wanted, row.tools), _MOST_WAYS)
        tried = (_call_findings(row, ToolCall(wanted.name, arguments), None) for arguments in ways)
        yield from dict.fromkeys(chain.from_iterable(tried))
    if gold.literal and gold.calls:
        calls = [{"name": one.name, "arguments": one.arguments} for one in gold.calls]
        earned = reward({"role": "assistant", "tool_calls": calls}, gold)
        if earned.value < 1:
            why = earned.failures[-1].message if earned.failures else "its calls cannot be read"
            yield Finding("unpayable-gold", f"its own calls earn {earned.value:.2f}: {why}")


_MOST_WAYS = 200
"""How many alternatives of a call are judged, as each takes the time of the call; BFCL has 24."""


def _ways(wanted: Wanted, tools: Tools | None) -> Iterator[JsonObject]:
    """Yield the arguments with each of BFCL's alternatives. A null is left out if it is the default
    of its argument, as an empty text is.
    """
    spec = tools.get(wanted.name) if tools else None
    known = get(spec and spec.parameters, "properties")
    gold = dict(gold_arguments(wanted.arguments))
    for key, options in gold.items():
        schema = get(known, key)
        if has(schema, "default") and get(schema, "default") is None:
            gold[key] = [one for one in options if one is not None]
    return plain_arguments(gold)


def _call_findings(row: Row, call: ToolCall, index: int | None) -> Iterator[Finding]:
    if call.repairs:
        codes = ", ".join(sorted({repair.code for repair in call.repairs}))
        yield Finding("repaired-call", f"{call.name}: {codes}", index)
    if row.tools is None:
        return
    if call.name not in row.tools:
        names = ", ".join([*row.tools][:8])
        yield Finding("unknown-tool", f"{brief(call.name)} is none of: {names}", index)
    elif not fits(call.name, call.arguments, row.tools):
        fitted = fit(call.arguments, row.tools[call.name].parameters)
        messages = [note.message for at, note in row.notes if at == index]
        messages += [*(note.message for note in fitted.notes)]
        messages += [*(repair.message for repair in fitted.repairs)]
        messages += [
            f"{brief(key)} is not declared"
            for key in undeclared(call.arguments, row.tools[call.name].parameters)
        ]
        why = messages[0] if messages else "its arguments do not fit the schema"
        yield Finding("misfit", f"{call.name}: {why}", index)


def _answers(row: Row) -> Iterator[Finding]:
    """Yield a finding for calls without a result, unless they are in the last message, and for
    results without a call, unless calls before them could not be read: then they may be theirs.
    """
    messages, odd, at = row.messages, {index for index, _ in row.notes}, 0
    while at < len(messages):
        calls = messages[at].tool_calls
        first = at if messages[at].is_result else at + 1
        end = first
        while end < len(messages) and messages[end].is_result:
            end += 1
        results = messages[first:end]
        open_, stray = _unpaired(calls, results, goes_on=end < len(messages))
        if open_ and first < len(messages):
            yield Finding("unanswered-call", f"{counted(open_, 'call')} without a result", at)
        for index in () if at in odd else stray:
            yield Finding("stray-result", "a result of no call before it", first + index)
        at = max(end, at + 1)


def _unpaired(
    calls: Sequence[ToolCall], results: Sequence[Message], *, goes_on: bool
) -> tuple[int, Sequence[int]]:
    """Return the number of calls without a result, and the indices of results without a call; they
    are matched by ids if all have one, else by their number.
    """
    if calls and all(call.id for call in calls) and all(one.tool_call_id for one in results):
        waiting = Counter(call.id for call in calls)
        stray = []
        for index, result in enumerate(results):
            if not waiting[result.tool_call_id]:
                stray.append(index)
            waiting[result.tool_call_id] -= waiting[result.tool_call_id] > 0
        return waiting.total(), stray
    # In ToolACE and APIGen, one result without an id may answer several calls with a list.
    alone = results[0] if len(results) == 1 and results[0].tool_call_id is None else None
    if alone is not None and calls and goes_on and alone.content.lstrip()[:1] in {"[", "{"}:
        return 0, ()
    return max(len(calls) - len(results), 0), range(len(calls), len(results))


def _contents(messages: Sequence[Message]) -> list[object]:
    return [
        [one.role, one.content, [[call.name, call.arguments] for call in one.tool_calls]]
        for one in messages
    ]


def _digest(row: Row) -> bytes:
    worse = row.rejected.messages if isinstance(row.rejected, Row) else ()
    gold = row.gold.key.decode("utf-8", "replace") if isinstance(row.gold, Gold) else None
    parts = [_contents(row.messages), _contents(worse), gold, sorted(row.tools or ())]
    try:
        text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a lone surrogate, or an integer beyond 64 bits
        text = repr(parts).encode("utf-8", "surrogatepass")
    return blake2b(text, digest_size=16).digest()
